/*
 * qemu: the process in which a guest lives
 *
 * A PC with one processor, a serial console and virtio disks, booted from files that are open
 * already. It dies with the thread that started it.
 */
#ifndef REFAULT_MACHINE_KERNEL_QEMU_H
#define REFAULT_MACHINE_KERNEL_QEMU_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* What it is given and what it leaves, by descriptor: the files need no names. */
enum qemu_file {
	QEMU_KERNEL, /* a bzImage */
	QEMU_INITRAMFS,
	QEMU_CONSOLE, /* what the kernel says, line by line */
	QEMU_LOG,     /* what QEMU itself says */
	QEMU_RESULT,  /* a disk, serial number "refault-result", the last one */
	QEMU_DISK,    /* a disk, serial number "refault-disk", the first one; -1: none */
	QEMU_FILE_COUNT,
};

struct qemu_options {
	const char *program;        /* the path of qemu-system-x86_64 */
	const char *kernel_words;   /* the kernel's command line, without its console */
	uint64_t memory_bytes;      /* a multiple of 1 MiB */
	bool with_kvm;              /* else in emulation */
	int files[QEMU_FILE_COUNT]; /* open descriptors; stay the caller's */
};

/*
 * Start it. *pid is the caller's to wait for, by qemu_has_ended() or qemu_kill(). It ends by itself
 * when the guest starts anew, which it also does when it panics.
 */
bool qemu_start(pid_t *pid, const struct qemu_options *options, struct error *error);

/* Has it ended? Waits for at most `milliseconds`. If so it is reaped, and *pid becomes 0. */
bool qemu_has_ended(pid_t *pid, int milliseconds);

/* End it and reap it; *pid becomes 0. Does nothing if it is. */
void qemu_kill(pid_t *pid);

#endif
