# If this fails, a sweep says something else when it runs on more threads, on ranks or in shards, or what was done is lost when it is stopped.
source test/tap.bash

# As root, too; and where there is no ssh, which one machine does not need.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=/bin/true
{
	echo 'time_ns,thread,op,path,offset,bytes'
	printf '0,1,exists,heap,0,16777216\n0,1,exists,wal,0,4096000\n'
	for ((i = 0; i < 4000; i++)); do
		echo "$((i * 1000)),1,read,heap,$(((i * 7919 % 2500) ** 2 / 2500 * 4096)),4096"
		((i % 2)) || echo "$((i * 1000)),2,write,wal,$((i % 500 * 8192)),8192"
	done
} >"$scratch/t.csv"
grid=("$scratch/t.csv" --cgroup-limit 4MiB..16MiB:x2 --policy linux-6.18,lru,linux-4.5,activate_on_write=never --seed 1,2)

exits 0 'a grid' "$REFAULT" sweep "${grid[@]}"
cp "$scratch/out" "$scratch/whole"
says out 'read again'
says out 'linux-4.5,activate_on_write=never'
says out 'means of 2 seeds'
says out 'the best of its size'
says out 'Knee: 90 % of the re-reads are gone at'
exits 0 'all of it is kept' "$REFAULT" list runs --json
ok '18 runs' [ "$(grep -c '"id"' "$scratch/out")" = 18 ]
exits 0 'compare takes them' "$REFAULT" compare @-2 @last
exits 0 'report takes all of them' "$REFAULT" report @last+ -o "$scratch/kept.html"
ok 'and draws a curve of them' grep -q 'Read again over memory' "$scratch/kept.html"
exits 0 'show shows the sweep' "$REFAULT" show @last --group
ok 'as it was' cmp "$scratch/out" "$scratch/whole"
"$REFAULT" sweep "${grid[@]}" --no-store --json >"$scratch/whole.json"
"$REFAULT" sweep "${grid[@]}" --no-store --csv >"$scratch/whole.csv"
ok 'CSV: a line a cell' [ "$(wc -l <"$scratch/whole.csv")" = 19 ]
ok 'a cell is what replay says' bash -c '
	"$0" replay "$1" --cgroup-limit 4MiB --policy lru --seed 2 --no-store --json | grep -o "\"read_bytes\": [0-9]*" | head -n 1 >"$2/one"
	number=$(grep "^lru,,4194304,2," "$2/whole.csv" | cut -d , -f 6)
	grep -qx "\"read_bytes\": $number" "$2/one"' "$REFAULT" "$scratch/t.csv" "$scratch"
ok 'report takes its JSON' "$REFAULT" report "$scratch/whole.json" -o "$scratch/curve.html"
ok 'and draws a curve of it' grep -q 'Read again over memory' "$scratch/curve.html"

same() { # NAME: standard output is the whole answer
	tap "$(cmp -s - "$scratch/whole" && echo 0 || echo 1)" "$1"
}
"$REFAULT" sweep "${grid[@]}" --no-store --jobs 1 | same 'one thread says the same'
"$REFAULT" sweep "${grid[@]}" --no-store --jobs 7 | same 'seven threads, too'
"$REFAULT" sweep "${grid[@]}" --no-store --trace-memory 1KiB | same 'and a trace that is read anew for each cell'
"$REFAULT" sweep - "${grid[@]:1}" --no-store <"$scratch/t.csv" | sed 's/^standard input /x /' >"$scratch/piped"
ok 'and a trace from standard input' bash -c 'tail -n +2 "$0/whole" | cmp - <(tail -n +2 "$0/piped")' "$scratch"

# ---- shards ----
for i in 1 2 3; do
	"$REFAULT" sweep "${grid[@]}" --shard $i/3 -o "$scratch/part-$i" >/dev/null
done
"$REFAULT" merge "$scratch"/part-[123] --no-store | same 'three shards, merged'
"$REFAULT" merge "$scratch"/part-[123] --no-store --json | cmp -s - "$scratch/whole.json"
tap $? 'the same JSON'
exits 1 'a shard is missing' "$REFAULT" merge "$scratch"/part-[13] --no-store
says err '6 of 18 cells are in none of the files'
exits 0 'shards are merged step by step' "$REFAULT" merge "$scratch"/part-[13] -o "$scratch/two" --no-store
"$REFAULT" merge "$scratch/two" "$scratch/part-2" -o "$scratch/merged" --no-store | same 'with the same answer in the end'
"$REFAULT" sweep "${grid[@]}" --no-store -o "$scratch/all" >/dev/null
ok 'and the same file' cmp "$scratch/all" "$scratch/merged"
"$REFAULT" sweep "${grid[@]:0:3}" --no-store -o "$scratch/other" >/dev/null
exits 2 'another sweep is refused' "$REFAULT" merge "$scratch/part-1" "$scratch/other" --no-store
says err 'is of another sweep'
exits 2 'what is no such file, too' "$REFAULT" merge "$scratch/t.csv" --no-store

# ---- stopped ----
head -n 5 "$scratch/all" >"$scratch/some"
printf '{"cell":12,"outco' >>"$scratch/some"
"$REFAULT" sweep "${grid[@]}" --no-store -o "$scratch/some" --resume | same 'it goes on where it was killed'
ok 'to the same file' cmp "$scratch/all" "$scratch/some"
sed -i '2s/"reread_bytes":[0-9]*/"reread_bytes":1099511627776/' "$scratch/some"
exits 0 'what is done' "$REFAULT" sweep "${grid[@]}" --no-store -o "$scratch/some" --resume
says out 'GiB' # is not done again
exits 2 'what is there of another sweep is not gone on from' "$REFAULT" sweep "${grid[@]}" --no-store -o "$scratch/other" --resume

# A signal: what is done is kept in a file beside the store, and found again by the question.
for ((i = 0; i < 12; i++)); do tail -n +4 "$scratch/t.csv"; done | sed 's/^[0-9]*/0/' | cat <(head -n 3 "$scratch/t.csv") - >"$scratch/long.csv"
long=("$scratch/long.csv" --cgroup-limit 4MiB..16MiB:+2MiB --policy linux-6.18,lru --jobs 1)
"$REFAULT" sweep "${long[@]}" >"$scratch/interrupted" 2>"$scratch/err" &
child=$!
for ((i = 0; i < 200; i++)); do
	[ "$(cat "$XDG_DATA_HOME"/refault/sweeps/*.sweep 2>/dev/null | wc -l)" -lt 3 ] || break
	sleep 0.02
done
kill -TERM $child
wait $child 2>/dev/null
ok 'it dies by the signal' [ $? = 143 ]
says err 'the same command with --resume goes on'
ok 'and has said nothing else' [ ! -s "$scratch/interrupted" ]
before=$(cat "$XDG_DATA_HOME"/refault/sweeps/*.sweep | wc -l)
ok 'cells are kept' [ "$before" -ge 3 ]
exits 0 'it goes on' "$REFAULT" sweep "${long[@]}" --resume
ok 'and leaves nothing' [ -z "$(ls "$XDG_DATA_HOME/refault/sweeps")" ]

# ---- ranks ----
rank() { # RANK OF FILE [OPTION...]
	OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=$2 OMPI_COMM_WORLD_LOCAL_SIZE=$2 OMPI_MCA_ess_base_jobid=$3 \
		"$REFAULT" sweep "${grid[@]}" --jobs 1 --no-store "${@:4}"
}
for i in 1 2 3; do rank $i 4 a >"$scratch/rank-$i" 2>&1 & done
rank 0 4 a 2>"$scratch/rank-0" | same 'four processes that a launcher started say it once'
wait
ok 'and the others nothing' bash -c '[ -z "$(cat "$0"/rank-[0123])" ]' "$scratch"
rank 1 2 b --metric read_bytes --filesystem xfs >/dev/null 2>"$scratch/err" &
other=$!
rank 0 2 b | same 'who was asked something else is not taken in'
wait $other
ok 'and says so' [ $? = 2 ]
says err 'asked something else than rank 0'
exits 2 'standard input is not for ranks' env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$REFAULT" sweep - --memory 1GiB

# A launcher says no more under a sanitizer than above, and takes seconds.
if [ "${REFAULT_FLAVOUR:-plain}" != plain ]; then
	:
elif command -v mpirun >/dev/null; then
	for ranks in 2 4; do
		timeout 60 mpirun --oversubscribe -np $ranks "$REFAULT" sweep "${grid[@]}" --no-store --jobs 1 2>"$scratch/err" | same "mpirun, $ranks ranks"
	done
	# What a launcher does when a rank dies is its own business; what was done by then is there.
	timeout 60 mpirun --oversubscribe -np 3 bash -c '
		[ "$OMPI_COMM_WORLD_RANK" = 2 ] && { "${@:1}" & sleep 0.3; kill -9 $!; kill -9 $$; }
		exec "${@:1}"' - "$REFAULT" sweep "${long[@]}" --no-store -o "$scratch/lost" >/dev/null 2>&1
	exits 0 'after mpirun lost a rank it goes on' timeout 60 mpirun --oversubscribe -np 2 "$REFAULT" sweep "${long[@]}" --no-store -o "$scratch/lost" --resume
	"$REFAULT" sweep "${long[@]}" --no-store >"$scratch/long"
	ok 'to the same answer' cmp "$scratch/out" "$scratch/long"
else
	echo "ok $((++tap_count)) # SKIP needs mpirun (openmpi-bin)"
fi

# ---- plain caches and scenarios ----
exits 0 'plain caches' "$REFAULT" sweep "$scratch/t.csv" --bare --pages 500..4000:x2 --policy lru,fifo,arc,opt
says out 'Knee: 90 % of the re-reads are gone at'
exits 0 'a scenario' "$REFAULT" sweep hello --cgroup-limit 32MiB,96MiB --policy lru,linux-6.18 --json
says out '"kind": "scenario"'
exits 0 'keys of a scenario vary' "$REFAULT" sweep hello --vary machine.readahead=64KiB,128KiB --csv
says out 'machine.readahead=64KiB'

# ---- what goes wrong ----
exits 1 'a cell that fails takes no other with it' "$REFAULT" sweep "$scratch/t.csv" --cgroup-limit 64KiB,8MiB --policy lru
says out 'Failed: lru at 64 KiB'
says out 'failed'
exits 1 'a policy that only plain caches have, beside one that all have' "$REFAULT" sweep "$scratch/t.csv" --cgroup-limit 8MiB --policy opt,lru
sed 's/,read,heap,\([0-9]*\)/,read,heap,x\1/' "$scratch/t.csv" >"$scratch/broken.csv"
exits 2 'a wrong row is a wrong row' "$REFAULT" sweep "$scratch/broken.csv" --cgroup-limit 8MiB,16MiB
says err 'broken.csv:4:'
for i in 0 1; do
	OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_MCA_ess_base_jobid=c timeout 20 \
		"$REFAULT" sweep "$scratch/broken.csv" --cgroup-limit 8MiB,16MiB --jobs 1 --no-store >/dev/null 2>"$scratch/wrong-$i" &
done
wait
ok 'and of ranks one says so' grep -q 'broken.csv:4:' "$scratch/wrong-0"
ok 'while the other ends' [ ! -s "$scratch/wrong-1" ]
exits 2 'no size' "$REFAULT" sweep "$scratch/t.csv"
says err 'how much memory?'
exits 2 'a shard that is none' "$REFAULT" sweep "${grid[@]}" --shard 4/3 -o "$scratch/x"
exits 2 'a shard that goes nowhere' "$REFAULT" sweep "${grid[@]}" --shard 1/3
exits 2 'pages without --bare' "$REFAULT" sweep "$scratch/t.csv" --pages 10
exits 2 'no such policy' "$REFAULT" sweep "$scratch/t.csv" --memory 1GiB --policy lru,lruu
exits 2 'a scenario whose memory is a cgroup'"'s" "$REFAULT" sweep hello --memory 1GiB
says err 'say its sizes with --cgroup-limit'
tap_done
