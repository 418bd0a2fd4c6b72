#!/bin/bash
#
# A Slurm of one node, for a moment, and a sweep in it: as ranks of srun, and as a job array whose shards are merged. docs/cluster.md walks
# through it. Needs root, slurm-wlm and munge (Debian); nothing of the machine's own Slurm is touched, and nothing is left running.
#
#     bench/slurm.sh                     four ranks, four shards
#     bench/slurm.sh KEEP                the folder with all configurations and logs stays

set -eu
cd "$(dirname "$0")/.."
program=$PWD/build/refault
[ -x "$program" ] || { echo "bench/slurm.sh: needs build/refault: make" >&2; exit 2; }
for need in munged slurmctld slurmd srun sbatch; do
	command -v $need >/dev/null || { echo "bench/slurm.sh: needs $need (apt-get install --no-install-recommends slurm-wlm munge)" >&2; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo 'bench/slurm.sh: needs root, which slurmd does' >&2; exit 77; }

folder=$(mktemp -d) daemons=()
stop() {
	for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done
	for daemon in "${daemons[@]}"; do wait "$daemon" 2>/dev/null || true; done
	[ "${1:-}" = KEEP ] && echo "kept: $folder" || rm -rf "$folder"
}
trap 'stop ${1:-}' EXIT
host=$(hostname -s)
port=$((20000 + RANDOM % 20000))
mkdir -p "$folder"/{state,spool,munge,home}
chmod 755 "$folder" "$folder/munge"

# ---- munge: who says who he is; a key and a socket of our own ----
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
chmod 400 "$folder/munge/key"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
	--seed-file="$folder/munge/seed" --log-file="$folder/munge/log" >"$folder/munged.out" 2>&1 &
daemons+=($!)

# ---- slurm: one controller, one node, one partition ----
cat >"$folder/slurm.conf" <<END
ClusterName=refault
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
END
export SLURM_CONF=$folder/slurm.conf
slurmctld -D >"$folder/ctld.out" 2>&1 &
daemons+=($!)
slurmd -D >"$folder/slurmd.out" 2>&1 &
daemons+=($!)
for ((i = 0; i < 100; i++)); do
	sinfo -h -o %T 2>/dev/null | grep -q idle && break
	sleep 0.2
done
sinfo || { tail -n 5 "$folder"/*.log "$folder"/*.out >&2; exit 1; }

# ---- a trace, and the answer of one process ----
"$program" import --format csv -o "$folder/trace.rft" - < <(
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,heap,0,67108864'
	awk 'BEGIN { for (i = 0; i < 200000; i++) { x = i * 7919 % 16384; print i ",1,read,heap," int(x * x / 16384) * 4096 ",4096" } }'
) >/dev/null
sweep=("$program" sweep "$folder/trace.rft" --cgroup-limit 8MiB..64MiB:x1.5 --policy linux-6.18,linux-4.5,lru --no-store --jobs 1)
export XDG_DATA_HOME=$folder/home
time "${sweep[@]}" >"$folder/alone"
same() { # WHAT FILE
	cmp "$folder/alone" "$2" && echo "$1: the same to the byte"
}

# ---- as ranks: srun tells each which one it is ----
echo '$ srun -n 4 --overcommit refault sweep ...'
time srun -n 4 --overcommit "${sweep[@]}" >"$folder/ranks"
same 'four ranks' "$folder/ranks"

# ---- a rank is lost: srun lets the others go on ----
cat >"$folder/lossy" <<'END'
#!/bin/bash
[ "$SLURM_PROCID" = 3 ] || exec "$@"
"$@" & sleep 0.3
kill -9 $!
wait
exit 1
END
chmod +x "$folder/lossy"
echo '$ srun -n 4 --kill-on-bad-exit=0 ..., and rank 3 is killed'
srun -n 4 --overcommit --kill-on-bad-exit=0 "$folder/lossy" "${sweep[@]}" >"$folder/lost" 2>"$folder/lost.err" || true
grep 'is lost' "$folder/lost.err" || true
same 'three of four ranks' "$folder/lost"

# ---- as a job array: each task a shard ----
cat >"$folder/array" <<END
#!/bin/bash
exec ${sweep[@]} --shard \$SLURM_ARRAY_TASK_ID/\$SLURM_ARRAY_TASK_COUNT -o $folder/part-\$SLURM_ARRAY_TASK_ID --resume
END
echo '$ sbatch --array=1-4 --wait ... --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT -o part-$SLURM_ARRAY_TASK_ID'
sbatch --array=1-4 --wait -o "$folder/array-%a.out" "$folder/array"
"$program" merge "$folder"/part-* --no-store >"$folder/merged"
same 'four shards, merged' "$folder/merged"
