# If this fails, bad input ends in a crash, a hang, a silent zero, or a message that does not say
# where and what.
#
# Everything here must end within 20 s with exit 2, one message, and nothing left behind.
source test/tap.bash

header='time_ns,thread,op,path,offset,bytes'
work=$scratch/work
mkdir "$work"

# bad NAME TEXT...: the trace $work/bad is refused, and all of the texts are said.
bad() {
	local name=$1 status text
	shift
	cp -r "$work" "$scratch/before"
	timeout -k 1 20 "$REFAULT" replay "$work/bad" --cgroup-limit 64MiB "${extra[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	for text in "$@"; do
		grep -qF -- "$text" "$scratch/err" || { status="$status, which does not say: $text"; break; }
	done
	[ -s "$scratch/out" ] && status="$status, with an answer all the same"
	diff -r "$work" "$scratch/before" >/dev/null || status="$status, and left something behind"
	rm -rf "$scratch/before"
	[ "$status" = 2 ]
	tap $? "$name"
	[ "$status" = 2 ] || { echo "# exit $status"; head -c 2000 "$scratch/err" | tr -d '\0' | sed 's/^/# /'; }
}
extra=()

csv() { # ROW...
	printf '%s\n' "$header" "$@" >"$work/bad"
}

# ---- rows ----

csv '0,1,exists,a,0,8192' '1,1,read,a,0'
bad 'too few fields' 'bad:3' '1,1,read,a,0'
csv '0,1,exists,a,0,8192' '1,1,read,a,0,1,2'
bad 'too many fields' 'bad:3'
csv '0,1,exists,a,0,8192' '1,1,read,a,-4096,4096'
bad 'a negative offset' 'bad:3:12' '-4096'
csv '0,1,exists,a,0,-1'
bad 'a negative size' 'bad:2:16'
csv '-5,1,exists,a,0,8192'
bad 'a negative time' 'bad:2:1'
csv '0,1,exists,a,0,99999999999999999999999999'
bad 'a size over 64 bits' 'bad:2:16'
csv '0,1,exists,a,0,8192' '1,1,read,a,9223372036854775807,9223372036854775807'
bad 'a range that ends beyond 2^63' 'bad:3'
csv '0,1,exists,a,0,9000000000000000000'
bad 'a file over a pebibyte' 'bad:2' '1 PiB'
csv '0,1,create,a,0,0' '1,1,write,a,4611686018427387904,8192'
bad 'a write over a pebibyte away' 'bad:3' '1 PiB'
csv '0,99999999999,exists,a,0,8192'
bad 'a thread over 32 bits' 'bad:2:3'
csv '0,1,exists,a,0,8192' '1,1,raed,a,0,4096'
bad 'an unknown op' 'bad:3:5' 'raed' 'read'
csv '0,1,exists,a,0,8192' '1,1,,a,0,4096'
bad 'no op' 'bad:3'
csv '0,1,exists,,0,8192'
bad 'no path' 'bad:2'
csv '0,1,exists,a,0,8192' '5,1,read,a,0,4096' '4,1,read,a,0,4096'
bad 'time that goes back' 'bad:4:1'
csv '0,1,exists,a,0,8192' '1,1,read,a,1e3,4096'
bad 'a number that is none' 'bad:3:12' '1e3'
csv '0,1,exists,a,0,8192' '1,1,read,a,0x10,4096'
bad 'hexadecimal' 'bad:3:12'
csv '0,1,exists,a,0,8192' '1,1,read,a,,4096'
bad 'an empty number' 'bad:3'
csv '0,1,exists,a,0,8192' '1,1,rename,a,0,0'
bad 'a rename to nowhere' 'bad:3'
csv '0,1,exists,"a,0,8192'
bad 'a quote that is not closed' 'bad:2'
csv '0,1,exists,"a"b,0,8192'
bad 'text after a closing quote' 'bad:2'
csv '0,1,exists,a,0,8192' '' '1,1,read,a,0'
bad 'a wrong row after an empty one' 'bad:4'

# ---- what rows mean ----

csv '0,1,exists,a,0,8192' '1,1,read,b,0,4096'
bad 'an op on a file that is not there' 'bad:3' 'read "b"' 'exists'
csv '0,1,exists,a,0,8192' '1,1,read,a,0,4096' '2,1,exists,b,0,4096'
bad 'exists after the start' 'bad:4' 'before the'
csv '0,1,exists,a,0,8192' '0,1,exists,a,0,8192'
bad 'exists twice' 'bad:3'
csv '0,1,create,d/a,0,0'
bad 'a file in a directory that is not there' 'bad:2' 'mkdir'
csv '0,1,exists,d/a,0,8192' '1,1,read,d,0,4096'
bad 'reading a directory' 'bad:3' 'directory'
csv '0,1,exists,a,0,8192' '1,1,close,a,0,0'
bad 'closing what is not open' 'bad:3' 'not open'
csv '0,1,exists,"a, ""b""",0,8192' '1,1,read,"a, ""c""",0,4096'
bad 'a path with commas and quotes' 'bad:3' 'a, "c"'

# ---- files ----

: >"$work/bad"
bad 'an empty file' 'bad'
printf '%s' "$header" | head -c 20 >"$work/bad"
bad 'a header that was cut off' 'bad'
printf 'hello, world\n' >"$work/bad"
bad 'a text that is no trace' 'bad'
head -c 100000 "$REFAULT" >"$work/bad"
bad 'a program' 'bad'
head -c 4096 /dev/zero >"$work/bad"
bad 'NUL bytes alone' 'bad'
printf '%s\n0,1,exists,a\0b,0,8192\n' "$header" >"$work/bad"
bad 'a NUL byte in a path' 'bad:2'
printf '%s\n0,1,exists,a,0,81\00092\n' "$header" >"$work/bad"
bad 'a NUL byte in a number' 'bad:2'
{ echo "$header"; printf '0,1,exists,'; head -c 100000 /dev/zero | tr '\0' a; echo ',0,1'; } >"$work/bad"
bad 'a path of 100,000 bytes' 'bad:2'
{ echo "$header"; head -c 20000000 /dev/zero | tr '\0' ,; } >"$work/bad"
bad 'a line of 20 million commas' 'bad:2'
rm "$work/bad"
bad 'no such file' 'bad'
mkdir "$work/bad"
bad 'a directory' 'bad' 'directory'
rmdir "$work/bad"
if [ "$(id -u)" != 0 ]; then
	csv '0,1,exists,a,0,8192'
	chmod 0 "$work/bad"
	bad 'a file that may not be read' 'bad' 'ermission'
	rm -f "$work/bad"
fi
mkfifo "$scratch/fifo"
exits 2 'an empty pipe' timeout -k 1 20 sh -c '"$0" replay "$1" --memory 64MiB & : >"$1"; wait $!' "$REFAULT" "$scratch/fifo"

# ---- compressed, and cut off ----

for ((i = 0; i < 20000; i++)); do echo "$i,1,read,a,$((i * 7919 % 4096 * 4096)),4096"; done >"$scratch/rows"
{ printf '%s\n0,1,exists,a,0,16777216\n' "$header"; cat "$scratch/rows"; } >"$scratch/good.csv"
for tool in gzip xz zstd; do
	command -v $tool >/dev/null || continue
	$tool -c "$scratch/good.csv" >"$scratch/good.$tool" 2>/dev/null
	bytes=$(stat -c %s "$scratch/good.$tool")
	for part in 3 10 50 95; do
		head -c $((bytes * part / 100)) "$scratch/good.$tool" >"$work/bad"
		bad "$tool, cut off at $part %" 'bad'
	done
	head -c $((bytes / 2)) "$scratch/good.$tool" >"$work/bad"
	head -c 5000 /dev/zero >>"$work/bad"
	bad "$tool that goes wrong" 'bad'
done
"$REFAULT" import "$scratch/good.csv" -o "$scratch/good.rft" >/dev/null
bytes=$(stat -c %s "$scratch/good.rft")
for part in 1 10 50 99; do
	head -c $((bytes * part / 100)) "$scratch/good.rft" >"$work/bad"
	bad "the native format, cut off at $part %" 'bad'
done
for ((at = 4; at < bytes; at += bytes / 12)); do
	cp "$scratch/good.rft" "$work/bad"
	printf '\x5a\xa5\x5a' | dd of="$work/bad" bs=1 seek=$at conv=notrunc status=none
	bad "the native format, three bytes wrong at $at" 'bad'
done
rm -f "$work/bad"

# ---- the machine ----

csv '0,1,exists,a,0,8192' '1,1,read,a,0,4096'
machine() { # NAME TEXT ARGUMENT...
	local name=$1 text=$2
	shift 2
	exits 2 "$name" timeout -k 1 20 "$REFAULT" replay "$work/bad" "$@"
	says err "$text"
}
machine 'memory smaller than one step' 'too small' --cgroup-limit 128KiB
machine 'memory smaller than one step, a machine' 'too small' --memory 1MiB
machine 'no memory at all' 'too small' --memory 0
machine 'all of it pinned' 'too small' --memory 1GiB --pinned 1GiB
machine 'more than all of it pinned' 'too small' --memory 1GiB --pinned 2TiB
machine 'a machine of an exabyte' '4 TiB' --memory 1000000TiB
machine 'memory over 64 bits' 'memory' --memory 99999999999TiB
machine 'a readahead window of a gibibyte' 'readahead' --memory 64MiB --readahead 1GiB
machine 'a readahead window that is negative' 'readahead' --memory 64MiB --readahead=-4KiB
machine 'a switch out of range' 'vfs_cache_pressure' --memory 64MiB --policy vfs_cache_pressure=100000
machine 'a switch that is no number' 'vfs_cache_pressure' --memory 64MiB --policy vfs_cache_pressure=lots
machine 'a switch that is no word of its list' 'always|partial|never' --memory 64MiB --policy activate_on_write=often
machine 'a very long policy' 'too long' --memory 64MiB --policy "$(printf 'a=%.0s' $(seq 4000))"
machine 'a record of an odd size' 'power of two from 4KiB' --memory 64MiB --filesystem zfs --recordsize 5000
machine 'records of what has none' 'add --filesystem zfs' --memory 64MiB --recordsize 8KiB
machine 'the size of no device' 'add --device NAME' --memory 64MiB --device-size 1GiB
machine 'a device of a kibibyte' 'at least 1GiB' --memory 64MiB --device gp3 --device-size 1KiB
machine 'no processors' 'from 1 to 4096' --memory 64MiB --device gp3 --processors 0
machine 'a device that is a folder' 'it is a directory' --memory 64MiB --device /
machine 'a plain cache of no pages' 'pages' --bare --pages 0
machine 'a plain cache of too many pages' 'pages' --bare --pages 2000000000
# Read-ahead larger than memory is odd, and works.
exits 0 'a window as large as memory' timeout -k 1 20 "$REFAULT" replay "$work/bad" --memory 8MiB --readahead 8MiB

# ---- time ----

csv '1,1,exists,a,0,8192' '2,1,compute,,0,9223372036854775807'
bad 'a compute of centuries' 'bad:3' 'it computes for more than 30 days'
csv '1,1,exists,a,0,8192' '2,1,read,a,0,4096' '9223372036854775807,1,read,a,4096,4096'
extra=(--device optane-900p)
bad 'a pause of centuries, with a device' 'bad:4' 'nothing happens for 106751 days before'
csv '1700000000000000000,1,exists,a,0,8192' '1700000000000000001,1,read,a,0,4096' '1700000001000000000,1,read,a,4096,4096'
exits 0 'the time stamps of a calendar, with a device' timeout -k 1 20 "$REFAULT" replay "$work/bad" --memory 64MiB "${extra[@]}"
extra=()

# ---- standard input ----

exits 2 'nothing on standard input' timeout -k 1 20 "$REFAULT" replay - --memory 64MiB
tap_done
