/*
 * guest_machine: a run on the kernel, on another kernel
 *
 * The same program does there what kernel_run() does here: it is taken into a guest (guest_play.h)
 * with its input, and prints its result as JSON, which is read back.
 */
#ifndef REFAULT_MACHINE_KERNEL_GUEST_MACHINE_H
#define REFAULT_MACHINE_KERNEL_GUEST_MACHINE_H

#include "machine/kernel/guest.h"
#include "machine/kernel/kernel.h"

struct guest_machine {
	struct guest_kernel kernel;
	const char *subcommand; /* "replay" or "run" */
	const char *input;      /* the trace or scenario, a file */
	const char *name;       /* what to call it in the result */
	/*
	 * What else the command needs to know of its input, ended by NULL; what `options` of
	 * guest_machine_run() say is added.
	 */
	const char *const *words;
};

/*
 * Boot, run, and bring the result back. Not all options apply: where the file system is made, and
 * progress, are the guest's. False: as kernel_run(), or the guest could not be booted. Free with
 * result_deinit().
 */
bool guest_machine_run(const struct guest_machine *machine, const struct kernel_options *options,
		       struct result *result, struct error *error);

#endif
