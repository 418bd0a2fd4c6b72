# If this fails, somebody who asks what their program does wrong gets no answer, or one that names the wrong line.
source test/tap.bash

{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,data,0,67108864'
	echo '1,1,fadvise_dontneed,data,0,0'
	echo '2,1,read,data,0,67108864'
	echo '3,1,fadvise_dontneed,data,0,0'
} >"$scratch/early.csv"
exits 0 'advice before the read' "$REFAULT" lint "$scratch/early.csv"
says out '1 habit that costs without need'
says out 'DONTNEED on data evicted 0 of 16,384 pages: it came before the read'
says out 'early.csv:3  operation 2: the advice'
says out 'early.csv:4  operation 3: the first read after it'
says out 'try: give the advice after the read'
exits 0 'as JSON' "$REFAULT" lint "$scratch/early.csv" --json
ok 'with everything' python3 - "$scratch/out" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
(lint,) = told["lints"]
assert lint["id"] == "dontneed-in-vain" and lint["path"] == "data" and lint["times"] == 1
assert lint["figures"]["range_pages"] == {"value": 16384, "unit": "pages"}
assert lint["places"][0] == {"operation": 2, "line": 3, "what": "the advice"}
assert told["machine"]["policy"] == "linux-6.18" and told["operations"] == 4
END
sed 3d "$scratch/early.csv" >"$scratch/right.csv"
exits 0 'a trace without a fault' "$REFAULT" lint "$scratch/right.csv"
says out 'No habits that cost without need'
exits 0 'a scenario' "$REFAULT" lint cases/c51-overwrite-in-pieces
says out 'read them first: 4,096 pages (16 MiB)'
says out 'by writer'
exits 0 'with a setting changed' "$REFAULT" lint cases/c51-overwrite-in-pieces --set machine.filesystem=xfs --json
exits 0 'a trace in a small memory' "$REFAULT" lint "$scratch/right.csv" --cgroup-limit 16MiB --policy linux-6.12 --filesystem xfs --streams thread --stream '^data=heap'
exits 0 'from standard input' bash -c '"$1" lint - <"$2"' bash "$REFAULT" "$scratch/early.csv"

exits 2 'no input' "$REFAULT" lint
exits 2 'a memory for a scenario' "$REFAULT" lint cases/c51-overwrite-in-pieces --memory 1GiB
says err 'is for a trace'
exits 2 'a setting for a trace' "$REFAULT" lint "$scratch/early.csv" --set a=b
exits 2 'two memories' "$REFAULT" lint "$scratch/early.csv" --memory 1GiB --cgroup-limit 1GiB
exits 2 'streams that are none' "$REFAULT" lint "$scratch/early.csv" --streams colour
exits 2 'a trace that is not there' "$REFAULT" lint "$scratch/none.csv"
echo 'x,1,read,data,0,1' >>"$scratch/early.csv"
exits 2 'a wrong row' "$REFAULT" lint "$scratch/early.csv"
says err 'early.csv:6'
{
	cat "$scratch/early.csv"
	for ((i = 10; i < 210; i++)); do echo "$i,1,stat,data,0,0"; done
} >"$scratch/long.csv"
exits 0 'left out if asked for' "$REFAULT" lint "$scratch/long.csv" --lenient
says out '1 row could not be read and was left out (--lenient)'

# Every lint is in the manual.
for id in $(sed -n 's/^\t\.id = "\(.*\)",$/\1/p' src/study/lint/*.c); do
	grep -qF "\`$id\`" docs/lint.md || echo "$id"
done >"$scratch/missing"
tap "$([ -s "$scratch/missing" ] && echo 1 || echo 0)" 'every lint is documented'
sed 's/^/# /' "$scratch/missing"
tap_done
