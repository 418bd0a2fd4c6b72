/*
 * guest: another kernel than the one underneath, for as long as one command takes
 *
 * guest_run() boots a kernel's image in QEMU, in a machine with one processor, an initramfs made
 * for the occasion (busybox, the modules that are needed, whatever files the command wants) and, if
 * asked for, an empty disk. There it runs the command, as root, in the folder /refault, with cgroup v2
 * mounted and its memory controller on, transparent huge pages off, readahead of 128 KiB, no swap;
 * and brings back what it printed and its exit code.
 *
 * KVM is used where it boots this kernel, emulation elsewhere: the counters are the same, the time
 * it takes is not.
 *
 * Nothing needs root on the host, and nothing is left behind, however this ends: disk, initramfs
 * and console are files without a name, and QEMU dies with the thread that started it.
 */
#ifndef REFAULT_MACHINE_KERNEL_GUEST_H
#define REFAULT_MACHINE_KERNEL_GUEST_H

#include <stdint.h>

#include "machine/kernel/guest_kernel.h"

enum guest_acceleration {
	GUEST_KVM_OR_EMULATION,
	GUEST_KVM,       /* fails where it does not work */
	GUEST_EMULATION, /* QEMU's TCG: about five seconds for a boot */
};

enum guest_file_kind {
	GUEST_FILE,    /* mode 0644 */
	GUEST_PROGRAM, /* mode 0755; with it come the libraries it loads, where the host has them */
};

/* What the guest finds in its memory: large files need a guest with more of it. */
struct guest_file {
	const char *host_path;
	const char *guest_path; /* absolute */
	enum guest_file_kind kind;
};

/* All texts and arrays are the caller's. */
struct guest_options {
	struct guest_kernel kernel;
	/* Names, ended by NULL, besides those of the disk: {"xfs", NULL}. NULL: none. */
	const char *const *wanted_modules;
	const char *const *command; /* its words, ended by NULL */
	const struct guest_file *files;
	size_t file_count;
	enum guest_acceleration acceleration;
	uint64_t memory_bytes; /* of the guest; 0: 1 GiB */
	/*
	 * Of the empty disk at GUEST_DISK, which takes only what is written to it, zeros not
	 * counted; 0: no disk.
	 */
	uint64_t disk_bytes;
	uint64_t timeout_ns; /* from boot to end; 0: ten minutes */
};

#define GUEST_DISK "/dev/vda"

struct guest_outcome {
	int exit_code; /* of the command, as a shell has it: 128 + N when signal N ended it */
	/* What it printed; behind each stands a NUL that does not count. */
	char *output;
	size_t output_bytes;
	char *errors;
	size_t errors_bytes;
	char release[128];                    /* of the kernel, as uname -r says */
	enum guest_acceleration acceleration; /* GUEST_KVM or GUEST_EMULATION */
	uint64_t elapsed_ns;                  /* from QEMU's start to its end */
};

/*
 * Boot, run the command, end. False if that could not be done: wrong arguments (ERROR_INPUT); QEMU
 * or a static busybox missing; the kernel panics, lacks what is needed, or does not end within the
 * time (ERROR_FAILED, with the last words of its console). That the command ran and failed is an
 * outcome. Free with guest_outcome_deinit(), after a failure too.
 */
bool guest_run(const struct guest_options *options, struct guest_outcome *outcome,
	       struct error *error);
void guest_outcome_deinit(struct guest_outcome *outcome);

#endif
