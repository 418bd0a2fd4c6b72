# If this fails, predictions are called good, or bad, without reason.
source test/tap.bash
source test/kernel/kernel.bash
[ "${REFAULT_FLAVOUR:-plain}" = plain ] || skip_all 'what is new in it is tried with the plain build'

exits 0 'the model is right about a loop' "$REFAULT" validate "$scratch/twice.csv" "${small[@]}"
says out 'read_bytes'
says out 'Within the tolerance of 5 %'
# What is used again and again stays beside a stream; first in, first out does not know of it.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,hot,0,8388608'
	echo '0,1,exists,stream,0,67108864'
	for ((at = 0; at < 67108864; at += 131072)); do
		echo "$((at + 1)),1,read,hot,$((at * 2 % 8388608)),131072"
		echo "$((at + 1)),1,read,hot,$(((at * 2 + 131072) % 8388608)),131072"
		echo "$((at + 1)),1,read,stream,$at,131072"
	done
	echo '67108865,1,mark,end,0,0'
} >"$scratch/hot.csv"
exits 1 'other rules are not those of this kernel' "$REFAULT" validate "$scratch/hot.csv" "${small[@]}" --policy fifo --tolerance 2
says out 'departs first, at operation'
says out 'NOT within the tolerance of 2 %'
exits 0 'a tolerance in parts of percent' "$REFAULT" validate "$scratch/twice.csv" "${small[@]}" --tolerance 2.5%
says out 'Within the tolerance of 2.5 %'
exits 2 'a tolerance that is no number' "$REFAULT" validate "$scratch/twice.csv" "${small[@]}" --tolerance little
says err '"little" is no number of percent'
exits 0 'JSON' "$REFAULT" validate "$scratch/twice.csv" "${small[@]}" --json
says out '"verdict"'
says out '"within": true'

# A text that needs to be told what is where, and has one row that makes no sense.
for i in $(seq 0 127); do echo "R;$((i * 65536));65536"; done >"$scratch/rows.txt"
exits 2 'a text without --columns' "$REFAULT" validate "$scratch/rows.txt" "${small[@]}"
says err '--columns says what is where'
exits 0 'a text with them' "$REFAULT" validate "$scratch/rows.txt" "${small[@]}" --columns op=1,offset=2,bytes=3
says out 'Within the tolerance of 5 %'
echo 'R;4096;many' >>"$scratch/rows.txt"
exits 2 'a wrong row' "$REFAULT" validate "$scratch/rows.txt" "${small[@]}" --columns op=1,offset=2,bytes=3
says err 'rows.txt:129:8'
exits 0 'left out if asked for' "$REFAULT" validate "$scratch/rows.txt" "${small[@]}" --format text --columns op=1,offset=2,bytes=3 --lenient
says err 'a row was left out'
exits 2 'a scenario is no text' "$REFAULT" validate hello --columns op=1,offset=2
says err '--columns is for a trace'
exits 2 'nor is a command' "$REFAULT" validate "${small[@]}" --format csv -- true
says err '--format is not for a COMMAND'

mkdir "$scratch/traces"
cp "$scratch/twice.csv" "$scratch/traces/a.csv"
cp "$scratch/twice.csv" "$scratch/traces/b.csv"
exits 0 'a folder of traces, on two file systems' "$REFAULT" validate "$scratch/traces" "${small[@]}" --filesystem ext4 --filesystem btrfs
says out '4 runs'
# Its hot set is on the edge of what fits: the kernel's own runs are some percent apart.
exits 0 'a scenario' "$REFAULT" validate hello --images "$scratch/images" --tolerance 30
# A file that is begun to be written back while it is written, by a thread that computes meanwhile. All fits: what reclaim meets would depend
# on how far write-back had come.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,old,0,8388608'
	echo '0,1,create,new,0,0'
	for ((i = 0; i < 64; i++)); do
		echo "$((i + 1)),1,write,new,$((i * 131072)),131072"
		echo "$((i + 1)),1,sync_file_range,new,$((i * 131072)),131072"
		echo "$((i + 1)),2,compute,,0,100000"
		echo "$((i + 1)),2,read,old,$((i * 131072)),131072"
	done
	echo '1000,1,mark,written,0,0'
	echo '1000,1,fdatasync,new,0,0'
	echo '1000,1,fadvise_dontneed,new,0,0'
	for ((i = 0; i < 64; i++)); do
		echo "$((i + 1001)),1,read,new,$((i * 131072)),131072"
	done
} >"$scratch/range.csv"
exits 0 'sync_file_range and compute' "$REFAULT" validate "$scratch/range.csv" "${small[@]}"
says out '2 marks'
# PostgreSQL: tables that do not fit, their warming, and its journal.
cat >"$scratch/pgbench.yaml" <<-'END'
	machine: {cgroup_limit: 100MiB, filesystem: ext4}
	jobs:
	  db: {workload: pgbench, scale: 5, clients: 4, shared_buffers: 16MiB, warm: cached, transactions: 1000}
END
exits 0 'a workload' "$REFAULT" validate "$scratch/pgbench.yaml" --images "$scratch/images" --image-size 1GiB
says out 'reread_bytes'
says out 'Within the tolerance of 5 %'
exits 0 'a workload in threads, by the clock of this machine' "$REFAULT" run "$scratch/pgbench.yaml" --set jobs.db.transactions= --set jobs.db.duration=1s \
	--on kernel --clock real --images "$scratch/images" --image-size 1GiB
says out 'db.wal'
exits 2 'a trace needs a limit' "$REFAULT" validate "$scratch/twice.csv"
says err '--cgroup-limit 256MiB'
exits 2 'no such scenario' "$REFAULT" validate helo
says err 'nearest: hello'
mkdir "$scratch/empty"
exits 2 'an empty folder' "$REFAULT" validate "$scratch/empty" --cgroup-limit 24MiB
says err 'has no traces and no scenarios'
exits 2 'a wrong row' "$REFAULT" validate <(printf 'time_ns,thread,op,path,offset,bytes\n0,1,exists,a,0,8192\n1,1,raed,a,0,4096\n') --cgroup-limit 24MiB
ok 'nothing is left over' [ -z "$(ls "$scratch/images")" ]
tap_done
