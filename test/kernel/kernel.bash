# What tests on the real kernel share: source it after test/tap.bash. Skips where the kernel cannot be used.

[ "$(id -u)" = 0 ] || skip_all 'running on the kernel needs root'
[ -e /dev/loop-control ] || skip_all 'no loop devices here'
grep -qE ' - cgroup2? .*' /proc/self/mountinfo || skip_all 'no cgroups are mounted here'
command -v mkfs.ext4 >/dev/null || skip_all 'needs mkfs.ext4 (e2fsprogs)'

mkdir "$scratch/images"
small=(--cgroup-limit 24MiB --images "$scratch/images" --image-size 512MiB)

# Twice through a file that is larger than the memory, beside a small one that is read in between.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,data/big,0,33554432'
	echo '0,1,exists,data/hot,0,1048576'
	time=1000
	for pass in 1 2; do
		for ((at = 0; at < 33554432; at += 131072)); do
			echo "$((time += 1000)),1,read,data/big,$at,131072"
			echo "$((time += 1000)),1,read,data/hot,$((at / 128 % 1048576)),4096"
		done
		echo "$((time += 1000)),1,mark,pass$pass,0,0"
	done
} >"$scratch/twice.csv"

# What is left of runs that had their images here, or of the process $1.
leftovers() { # PID
	local loop
	for loop in /sys/block/loop*/loop/backing_file; do
		[ -e "$loop" ] && grep -F "$scratch/images" "$loop"
	done
	grep -F "refault-$1." /proc/self/mountinfo
	ls -d /run/refault/refault-"$1".* /sys/fs/cgroup/refault-"$1".* /sys/fs/cgroup/*/refault-"$1".* 2>/dev/null
	ls "$scratch/images"
	pgrep -P "$1" 2>/dev/null
}

# Within some seconds, nothing.
nothing_left() { # PID
	local i
	for ((i = 0; i < 100; i++)); do
		[ -z "$(leftovers "$1")" ] && return 0
		sleep 0.1
	done
	leftovers "$1"
	return 1
}
