#!/bin/sh
#
# /init of a guest (guest.h): what the kernel starts once it is up. guest.c puts beside it:
#
#   /guest/modules   "needed PATH" or "optional PATH" a line, in the order in which to load them
#   /guest/mglru     y or n: switch the multi-generational LRU; not there: as the kernel has it
#   /guest/disk      an empty file: there is a disk for the command, /dev/vda
#   /guest/command   sets the positional parameters to the command's words
#
# What comes of it goes to the disk "refault-result": a line "refault-guest EXIT-CODE RELEASE OUTPUT-BYTES ERROR-BYTES", then the
# command's standard output, then its standard error. What keeps it from coming goes to the console, on a line of its own.

busybox=/bin/busybox
lru_gen=/sys/kernel/mm/lru_gen/enabled
export PATH=/usr/local/sbin:/usr/sbin:/sbin:/bin:/usr/bin HOME=/ LC_ALL=C.UTF-8

# QEMU was told to end where a machine would start anew: that needs no ACPI. What is on the command's disk need not be kept.
end() {
	$busybox reboot -n -f
}

# To the kernel's log, which is on the console before the next thing happens.
fail() {
	echo "<2>refault-guest failed: $*" >/dev/kmsg
	end
}

wait_for_disk() { # NAME SERIAL
	tries=50
	while [ ! -b "/dev/$1" ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "no disk $1: this kernel has no virtio_blk and virtio_pci, built in or among the modules"
		sleep 0.1
	done
	[ "$(cat "/sys/block/$1/serial")" = "$2" ] || fail "disk $1 is not $2"
	# What a stock kernel has, whatever the device says of itself.
	echo 128 >"/sys/block/$1/queue/read_ahead_kb"
}

load_modules() {
	while read -r need module; do
		insmod "$module" 2>/tmp/insmod && continue
		[ "$need" = optional ] || fail "cannot load ${module##*/}: $(cat /tmp/insmod)"
	done </guest/modules
}

set_mglru() { # y|n
	[ -e "$lru_gen" ] || {
		[ "$1" = n ] && return
		fail "mglru=on: this kernel is built without MGLRU (CONFIG_LRU_GEN)"
	}
	echo "$1" >"$lru_gen"
	# 0x0000 is off; the lowest bit is the main switch.
	is=$(($(cat "$lru_gen") & 1))
	[ "$is" = "$([ "$1" = y ] && echo 1 || echo 0)" ] || fail "mglru: the kernel refuses to switch it"
}

$busybox mount -t devtmpfs dev /dev || fail "this kernel has no devtmpfs (CONFIG_DEVTMPFS)"
$busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
ln -s /proc/self/fd /dev/fd
echo 1 >/proc/sys/kernel/panic_on_oops

mount -t cgroup2 cgroup /sys/fs/cgroup || fail "this kernel has no cgroup v2 (CONFIG_CGROUPS)"
grep -qw memory /sys/fs/cgroup/cgroup.controllers || fail "this kernel has no memory cgroups (CONFIG_MEMCG)"
for controller in memory io; do
	echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
done

load_modules
result=vda
if [ -e /guest/disk ]; then
	wait_for_disk vda refault-disk
	result=vdb
fi
wait_for_disk "$result" refault-result
[ ! -e /guest/mglru ] || set_mglru "$(cat /guest/mglru)"

. /guest/command
cd /refault || fail "no /refault"
"$@" >/tmp/output 2>/tmp/errors </dev/null
code=$?
{
	echo "refault-guest $code $(uname -r) $(wc -c </tmp/output) $(wc -c </tmp/errors)"
	cat /tmp/output /tmp/errors
} >"/dev/$result" && fsync "/dev/$result" || fail "cannot write what the command said: does the result disk hold it?"
end
