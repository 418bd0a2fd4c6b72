# If this fails, a run that somebody disturbed is believed.
source test/tap.bash
source test/kernel/kernel.bash
[ "${REFAULT_FLAVOUR:-plain}" = plain ] || skip_all 'tried with the plain build'
unshare -m true 2>/dev/null || skip_all 'no mount namespaces here'

# Long enough that something can happen meanwhile: seconds, where 128 KiB take 100 us.
{
	cat "$scratch/twice.csv"
	for ((i = 0; i < 20000; i++)); do
		echo "9000000,1,read,data/big,$((i * 131072 % 33554432)),131072"
	done
} >"$scratch/long.csv"

# Start it in a mount namespace where some of the kernel's files are ours; WHAT is done once its player is at work, whose process is $player.
meanwhile() { # PREPARE WHAT OPTION...
	local prepare=$1 what=$2 i player=
	shift 2
	unshare -m sh -c "$prepare; exec \"\$@\"" sh "$REFAULT" replay "$scratch/long.csv" --on kernel "${small[@]}" "$@" >"$scratch/out" 2>"$scratch/err" &
	local run=$!
	for ((i = 0; i < 200; i++)); do
		player=$(pgrep -P $run refault-player) && grep -qs "refault-$run\." "/proc/$player/cgroup" && break
		sleep 0.05
	done
	sleep 0.2
	eval "$what"
	wait $run
	status=$?
}

# Dropping caches for real would disturb everybody here: the counter of it is ours instead.
sed 's/^drop_pagecache .*/drop_pagecache 3/' /proc/vmstat >"$scratch/vmstat"
meanwhile "mount --bind $scratch/vmstat /proc/vmstat" true
ok 'nobody dropped caches' [ "$status" = 0 ]
ok 'and nothing is said of it' sh -c "! grep -q 'dropped all caches' $scratch/out"
meanwhile "mount --bind $scratch/vmstat /proc/vmstat" 'sed "s/^drop_pagecache 3/drop_pagecache 4/" "$scratch/vmstat" >"$scratch/vmstat.new"; cat "$scratch/vmstat.new" >"$scratch/vmstat"'
ok 'caches dropped once: done in the end' [ "$status" = 0 ]
ok 'caches dropped once: repeated, and said' grep -q 'repeated 1 time, because somebody dropped all caches' "$scratch/out"

# A neighbour that reads the same files.
meanwhile true 'cat "/proc/$player/root"/data/big >"$scratch/copy"'
if grep -q 'without tracepoints' "$scratch/out"; then
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP no tracepoints here"
else
	ok 'a stranger is named' grep -q 'a stranger (cat) read or wrote' "$scratch/out"
fi

if [ -d /sys/kernel/mm/damon/admin ]; then
	meanwhile "mount -t tmpfs none /sys/kernel/mm/damon/admin && mkdir -p /sys/kernel/mm/damon/admin/kdamonds/0 && echo on >/sys/kernel/mm/damon/admin/kdamonds/0/state" true
	ok 'a DAMON scheme is named' grep -q '1 DAMON scheme may page out' "$scratch/out"
fi

# More files held open than the memory can have inodes for.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	for ((i = 0; i < 15000; i++)); do
		echo "$i,1,create,f$i,0,0"
	done
} >"$scratch/open.csv"
exits 1 'out of memory' "$REFAULT" replay "$scratch/open.csv" --on kernel --cgroup-limit 8MiB --images "$scratch/images" --image-size 512MiB
says err 'the kernel killed the process'
ok 'nothing is left of it' [ -z "$(ls "$scratch/images")" ]
tap_done
