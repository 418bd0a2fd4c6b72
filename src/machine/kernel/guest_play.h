/*
 * guest_play: a run on the kernel, on another kernel
 *
 * The same program does there what kernel_run() does here: it is taken into the guest (guest.h),
 * with its input, and prints its result as JSON, which is read back.
 */
#ifndef REFAULT_MACHINE_KERNEL_GUEST_PLAY_H
#define REFAULT_MACHINE_KERNEL_GUEST_PLAY_H

#include "machine/kernel/guest.h"
#include "machine/kernel/kernel.h"

struct guest_play {
	struct guest_kernel kernel;
	/*
	 * "replay" or "run", the input's place in the guest, and what else the command needs to
	 * know; what `options` of guest_play_run() say is added. Ended by NULL.
	 */
	const char *const *words;
	const char *input; /* the file on this machine */
	const char *name;  /* what to call it in the result */
};

/* Where the input is found in the guest: its format is known by its contents. */
#define GUEST_INPUT "/work/input"

/*
 * Boot, run, and bring the result back. Not all options apply: where the file system is made, and
 * progress, are the guest's. False: as kernel_run(), or the guest could not be booted. Free with
 * result_deinit().
 */
bool guest_play_run(const struct guest_play *play, const struct kernel_options *options,
		    struct result *result, struct error *error);

#endif
