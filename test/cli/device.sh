# If this fails, devices cannot be listed or shown, or a measurement destroys what it was not asked to, or leaves something behind.
source test/tap.bash

exits 0 'list devices' "$REFAULT" list devices --names
for name in gp3 hdd-5400 hdd-7200 instant nvme-tlc optane-900p raid0-3x7200 sata-ssd; do
	says out "$name"
done
exits 0 'show one' "$REFAULT" device show gp3
says out 'iops: 3000'
says out 'random read of 4 KiB'
exits 0 'show one, for programs' "$REFAULT" device show gp3 --json
ok 'it is JSON, with figures' python3 -c '
import json, sys
shown = json.load(open(sys.argv[1]))
assert shown["kind"] == "volume"
assert 2990 <= shown["figures"]["reads"]["requests_per_s"] <= 3010' "$scratch/out"
exits 0 'what takes no time' "$REFAULT" device show instant --json
says out '"requests_per_s": null'
exits 2 'a device that is not there' "$REFAULT" device show gp2
says err 'nearest: gp3'
exits 2 'a verb that is not there' "$REFAULT" device shwo gp3
says err 'nearest: show'
exits 2 'show measures nothing' "$REFAULT" device show gp3 --write
exits 2 'nowhere to write' "$REFAULT" device measure "$scratch/x"
says err 'needs -o'
printf 'kind: flash\nchannels: two\n' >"$scratch/wrong.yaml"
exits 2 'a wrong profile' "$REFAULT" device show "$scratch/wrong.yaml"
says err 'wrong.yaml:2:11'
volume='kind: volume\nread_latency: 1ms\nwrite_latency: 1ms\nbandwidth: 1GB/s\n'
while IFS='|' read -r name place text profile; do
	printf "$profile" >"$scratch/wrong.yaml"
	exits 2 "a profile $name" "$REFAULT" device show "$scratch/wrong.yaml"
	says err "wrong.yaml:$place: $text"
done <<END
with nothing in it|1:1|empty: there is nothing in it|
that is a word|1:1|the profile must be a mapping|flash
that is no text|1:1|byte 0x01 is not text, so this is not YAML|\\001\\002
without a kind|1:1|the profile needs the key "kind"|channels: 1\\n
of no kind|1:7|there is no kind of device "flsh": nearest is "flash"|kind: flsh\\n
with an unknown key|2:1|the profile has no key "chanels" (nearest: "channels")|kind: flash\\nchanels: 8\\n
with a key twice|3:1|key "channels" is given twice, first on line 2|kind: flash\\nchannels: 8\\nchannels: 9\\n
without what it needs|1:1|the profile needs the key "iops"|$volume
with a share that is none|6:13|read_sigma "99" is out of range (0 .. 2)|${volume}iops: 100\\nread_sigma: 99
END
mkdir "$scratch/mine"
printf 'kind: instant\nsummary: mine alone\n' >"$scratch/mine/own.yaml"
exits 0 'profiles of one'\''s own' env REFAULT_DEVICES="$scratch/mine" "$REFAULT" list devices
says out 'mine alone'
exits 2 'a folder cannot be measured' "$REFAULT" device measure "$scratch" -o "$scratch/p.yaml"
says err 'neither a file nor a block device'
exits 2 'how long' "$REFAULT" device measure "$scratch/x" -o "$scratch/p.yaml" --runtime 1ms
says err '--runtime'
echo small >"$scratch/small"
exits 2 'too small' "$REFAULT" device measure "$scratch/small" -o "$scratch/p.yaml"
says err 'too small'
mkdir "$scratch/empty"
ln -s "$(command -v env)" "$scratch/empty/env"
# program_find() looks into the usual places, too: only where fio is in none of them can it be missing.
if [ ! -e /usr/bin/fio ] && [ ! -e /usr/local/bin/fio ]; then
	exits 1 'no fio' "$REFAULT" device measure "$scratch/x" -o "$scratch/p.yaml"
	says err 'Debian package fio'
	ok 'nothing is left' test ! -e "$scratch/x" -a ! -e "$scratch/p.yaml"
	echo '# skip measuring: needs fio'
	tap_done
	exit
fi

# Direct I/O is not to be had everywhere: on tmpfs of older kernels.
head -c 32M /dev/urandom >"$scratch/data"
if ! dd if="$scratch/data" of=/dev/null bs=1M count=1 iflag=direct 2>/dev/null; then
	echo "# skip measuring: no direct I/O in $scratch"
	tap_done
	exit
fi
exits 0 'measure a file that it makes' "$REFAULT" device measure "$scratch/x" -o "$scratch/p.yaml" --size 32MiB --runtime 200ms --json
ok 'the answer is JSON' python3 -c '
import json, sys
answer = json.load(open(sys.argv[1]))
assert answer["wrote"] is True and answer["size_bytes"] == 32 << 20
assert len(answer["measured"]) == 7
assert answer["figures"]["read"]["latency_ns_mean"] > 0' "$scratch/out"
ok 'the file is gone' test ! -e "$scratch/x"
exits 0 'its profile can be used' "$REFAULT" device show "$scratch/p.yaml" --json
says out '"kind": "'
if [ "${REFAULT_FLAVOUR:-plain}" != plain ]; then
	echo '# one measurement is enough for the sanitizers'
	tap_done
	exit
fi
before=$(sha256sum <"$scratch/data")
exits 0 'a file that is there is read' "$REFAULT" device measure "$scratch/data" -o "$scratch/q.yaml" --runtime 200ms
says out 'Nothing was written'
ok 'and is as it was' test "$before" = "$(sha256sum <"$scratch/data")"
exits 0 'with --write it is written' "$REFAULT" device measure "$scratch/data" -o "$scratch/q.yaml" --runtime 200ms --write
ok 'and is not as it was' test "$before" != "$(sha256sum <"$scratch/data")"
exits 1 'nowhere to put the profile' "$REFAULT" device measure "$scratch/data" -o "$scratch/nowhere/q.yaml" --runtime 200ms
says err 'cannot write'
ok 'nothing else is left' test "$(ls "$scratch" | grep -vcE '^(data|p.yaml|q.yaml|out|err|ok.out|ok.err|wrong.yaml|mine|small|empty)$')" = 0
tap_done
