# If this fails, the same operations give another answer when they come in another wrapping, or the answer lacks a part.
source test/tap.bash

# A heap that does not fit beside a journal: something of everything.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,heap,0,8388608'
	for ((i = 0; i < 4000; i++)); do
		echo "$((i * 1000)),1,read,heap,$((i * 7919 % 2048 * 4096)),4096"
		((i % 500)) || echo "$((i * 1000)),2,create,wal$((i / 500)),0,0"
		((i % 2)) || echo "$((i * 1000)),2,write,wal$((i / 500)),$((i % 500 * 8192)),8192"
	done
	echo '4000000,1,mark,half,0,0'
	for ((i = 0; i < 2000; i++)); do
		echo "$((4000000 + i * 1000)),1,read,heap,$((i * 6007 % 2048 * 4096)),4096"
	done
	echo '6000000,1,mark,"the end, at last",0,0'
} >"$scratch/t.csv"
replay() {
	local trace=$1
	shift
	"$REFAULT" replay "$trace" --cgroup-limit 8MiB "$@"
}
# Without its name, and without what its reader had to say: a native trace tells what it was made from.
told() { # TRACE
	replay "$1" --json 2>&1 | python3 -c '
import json, sys
told = json.load(sys.stdin)
told["input"]["name"] = told["input"]["notes"] = None
json.dump(told, sys.stdout, indent=2)'
}
same() { # NAME TRACE: as the plain CSV
	told "$2" >"$scratch/other"
	ok "$1" cmp "$scratch/plain" "$scratch/other"
}

told "$scratch/t.csv" >"$scratch/plain"
ok 'the plain CSV' grep -q '"totals"' "$scratch/plain"
for key in totals marks streams blame machine latency; do
	ok "JSON has $key" grep -q "^  \"$key\": " "$scratch/plain"
done
ok 'both marks, quoted as CSV quotes' grep -q '"label": "the end, at last"' "$scratch/plain"
ok 'both streams' sh -c 'grep -q "^    \"heap\": {" "$0" && grep -q "^    \"wal\": {" "$0"' "$scratch/plain"
ok 'something was read again' grep -qE '"reread_bytes": [1-9]' "$scratch/plain"

"$REFAULT" import "$scratch/t.csv" -o "$scratch/t.rft" >/dev/null
same 'the native format' "$scratch/t.rft"
for tool in gzip xz zstd; do
	command -v $tool >/dev/null || continue
	$tool -c "$scratch/t.csv" >"$scratch/t.$tool" 2>/dev/null
	same "CSV in $tool" "$scratch/t.$tool"
done
same 'standard input' - <"$scratch/t.csv"

exits 0 'several policies' replay "$scratch/t.csv" --policy linux-4.5 --policy lru --policy linux-4.5,activate_on_write=never
says out 'linux-4.5,activate_on_write=never'
exits 0 'several policies, JSON' replay "$scratch/t.csv" --policy linux-4.5 --policy lru --json
ok 'a list of runs' grep -q '^  "runs": \[' "$scratch/out"
ok 'no switches where a policy has none' grep -q '"switches": null' "$scratch/out"
for rule in class path thread; do
	exits 0 "--streams $rule" replay "$scratch/t.csv" --streams $rule
done
exits 0 '--stream' replay "$scratch/t.csv" --stream '^wal[0-3]$=old' --json
ok 'its name is there' grep -q '^    "old": {' "$scratch/out"

# What is tried next is the same experiment but for one thing: nothing that was given is lost.
exits 0 'the next command' replay "$scratch/t.csv" --filesystem xfs --stream '^wal=W al' --streams path --seed 4
says out "advise $scratch/t.csv --cgroup-limit"
unfold out
says out "--streams path --stream '^wal=W al' --seed 4 --filesystem xfs"

exits 0 'bare' "$REFAULT" replay "$scratch/t.csv" --bare --pages 2048 --policy lru --json
ok 'nothing that it cannot know' grep -q '"read_bytes": null' "$scratch/out"
ok 'look-ups: a page each' grep -q '"page_accesses": 10000' "$scratch/out"
exits 0 'bare, several policies' "$REFAULT" replay "$scratch/t.csv" --bare --pages 512 --policy lru --policy fifo --policy clock
tap_done
