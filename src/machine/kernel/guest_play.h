/*
 * guest_play: refault inside a guest
 *
 * The kernel machine of a static build of refault, booted with the kernel that is asked for, on a
 * disk of its own:
 *
 *     refault replay /refault/TRACE WORDS... --on kernel --block-device /dev/vda --no-store --json
 */
#ifndef REFAULT_MACHINE_KERNEL_GUEST_PLAY_H
#define REFAULT_MACHINE_KERNEL_GUEST_PLAY_H

#include "machine/kernel/guest.h"

/* All texts are the caller's. */
struct guest_play {
	struct guest_kernel kernel;
	const char *subcommand;   /* "replay" or "run" */
	const char *input;        /* the trace or scenario, a file of the host */
	const char *const *words; /* what else the command is told, ended by NULL; NULL: nothing */
	const char *filesystem;   /* "ext4", "xfs" or "btrfs": its module and its mkfs come along */
	enum guest_acceleration acceleration;
	uint64_t memory_bytes; /* of the guest; 0: 1 GiB */
	/* 0: 6 GiB, as the reference measurements had. Only what is not zero takes room. */
	uint64_t disk_bytes;
	uint64_t timeout_ns; /* 0: ten minutes */
};

/*
 * Play it. The outcome's output is the JSON that the command printed, its errors are for people:
 * its exit code says which of them counts. Fails like guest_run(), and when the static build or
 * mkfs is missing. Free with guest_outcome_deinit(), after a failure too.
 */
bool guest_play(const struct guest_play *play, struct guest_outcome *outcome, struct error *error);

/*
 * The path of refault-static, in `arena`: beside the program that runs, or where it is installed.
 * Fails (ERROR_FAILED) if it is in neither place.
 */
bool guest_player_find(const char **path, struct arena *arena, struct error *error);

#endif
