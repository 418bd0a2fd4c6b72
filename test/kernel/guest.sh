# If this fails, nobody can hold a patched kernel against the stock one.
source test/tap.bash

[ "${REFAULT_FLAVOUR:-plain}" = plain ] || skip_all 'a guest runs the plain static build'
[ "$(uname -m)" = x86_64 ] || skip_all 'guests are for x86-64'
command -v qemu-system-x86_64 >/dev/null || skip_all 'needs qemu-system-x86_64'
command -v mkfs.ext4 >/dev/null || PATH=$PATH:/usr/sbin:/sbin
command -v mkfs.ext4 >/dev/null || skip_all 'needs mkfs.ext4'
vmlinuz=$(script/fetch-guest-kernels 6.1 2>"$scratch/fetch") || skip_all "no kernel to boot: $(tail -n 1 "$scratch/fetch")"

# Twice through a file that is larger than the memory: a second time everything is read again.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,data/big,0,33554432'
	time=1000
	for pass in 1 2; do
		for ((at = 0; at < 33554432; at += 131072)); do
			echo "$((time += 1000)),1,read,data/big,$at,131072"
		done
		echo "$((time += 1000)),1,mark,pass$pass,0,0"
	done
} >"$scratch/twice.csv"

# As somebody who is not root, where that can be tried: a guest needs none.
validate=("$REFAULT" validate "$scratch/twice.csv" --cgroup-limit 24MiB --guest "$vmlinuz,mglru=off")
exits 0 'the model is right about Linux 6.1' "${validate[@]}"
says out 'Linux 6.1.'
says out 'against linux-6.1'
says out 'pass2'
says out '64.0 MiB'
says out 'Within the tolerance of 5 %'

# drop_caches acts on a whole machine, which a guest is.
{
	echo 'time_ns,thread,op,path,offset,bytes'
	echo '0,1,exists,hot,0,12582912'
	for ((i = 0; i < 2000; i++)); do echo "0,1,exists,tree/$i,0,0"; done
	time=1000
	for what in 1 2 3; do
		for ((at = 0; at < 12582912; at += 131072)); do echo "$((time += 1000)),1,read,hot,$at,131072"; done
		for ((i = 0; i < 2000; i++)); do echo "$((time += 1000)),1,stat,tree/$i,0,0"; done
		echo "$((time += 1000)),1,mark,before$what,0,0"
		echo "$((time += 1000)),1,drop_caches,,0,$what"
		echo "$((time += 1000)),1,mark,after$what,0,0"
	done
	for ((at = 0; at < 12582912; at += 131072)); do echo "$((time += 1000)),1,read,hot,$at,131072"; done
} >"$scratch/drop.csv"
exits 0 'and about drop_caches' "$REFAULT" validate "$scratch/drop.csv" --cgroup-limit 24MiB --guest "$vmlinuz,mglru=off"
says out 'Within the tolerance of 5 %'
ok 'whose traces it leaves out of its notes, since they are its own' [ "$(grep -c dropped "$scratch/out")" = 0 ]

exits 2 'what is wrong in the guest is wrong here' "$REFAULT" replay <(printf 'time_ns,thread,op,path,offset,bytes\n0,1,raed,a,0,4096\n') --on kernel --cgroup-limit 24MiB --guest "$vmlinuz"
exits 2 'no such kernel' "$REFAULT" replay "$scratch/twice.csv" --on kernel --cgroup-limit 24MiB --guest "$scratch/none"
says err "$scratch/none"
exits 2 'a guest needs a file' "$REFAULT" replay - --on kernel --cgroup-limit 24MiB --guest "$vmlinuz"
says err 'as a file'
tap_done
