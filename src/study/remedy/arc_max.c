/*
 * arc_max: ZFS's zfs_arc_max, down and up
 *
 * Idea       The ARC and the page cache share the memory; mapped files are in both.
 * Source     OpenZFS module/zfs/arc.c, arc_init(): half of the memory when nobody says
 * Constants  a quarter and three quarters of the memory
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "study/remedy.h"

#define LEAST_BYTES (64 * MIB)

extern const struct remedy remedy_arc_max;

static void propose(struct remedy_proposals *proposals)
{
	const struct model_options *model = proposals->facts->model;

	if (strcmp(filesystem_name(model->filesystem), "zfs") != 0) {
		remedy_leave_out(proposals, "the file system is not ZFS");
		return;
	}
	for (uint64_t quarters = 1; quarters <= 3; quarters += 2) {
		uint64_t bytes = model->memory_bytes / 4 * quarters / MIB * MIB;
		struct remedy_try *attempt;

		if (bytes < LEAST_BYTES || bytes == model->arc_max_bytes)
			continue;
		attempt = remedy_propose(proposals);
		attempt->model.arc_max_bytes = bytes;
		attempt->title = remedy_text(proposals->advice, "zfs_arc_max %s",
					     remedy_size(proposals->advice, bytes));
		attempt->command = remedy_text(
			proposals->advice,
			"echo %" PRIu64 " > /sys/module/zfs/parameters/zfs_arc_max", bytes);
	}
}

const struct remedy remedy_arc_max = {
	.id = "arc-max",
	.summary = "ZFS's zfs_arc_max, down and up",
	.since = "all of OpenZFS",
	.risk = "what the ARC has, processes and the page cache have not",
	.ease = 95,
	.propose = propose,
};
