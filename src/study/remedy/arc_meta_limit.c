/*
 * arc_meta_limit: ZFS's zfs_arc_meta_limit_percent, all of the ARC
 *
 * Idea       Metadata over its limit has data evicted for it, and the VFS asked to drop inodes again and again;
 *            what is held by open files, watches or exports cannot go, so that is for nothing. Without a limit
 *            of its own metadata has what it uses.
 * Source     OpenZFS 2.1 module/zfs/arc.c, arc_evict_meta_balanced(); since 2.2 there is no such limit.
 *            Behaviour case C35
 * Constants  100 %; 75 is the default
 */
#include <string.h>

#include "cache/policy.h"
#include "study/remedy.h"

extern const struct remedy remedy_arc_meta_limit;

static void propose(struct remedy_proposals *proposals)
{
	const struct model_options *model = proposals->facts->model;
	struct remedy_try *attempt;

	if (strcmp(filesystem_name(model->filesystem), "zfs") != 0) {
		remedy_leave_out(proposals, "the file system is not ZFS");
		return;
	}
	if (strcmp(policy_name(model->policy.policy), "arc-classic") != 0) {
		remedy_leave_out(proposals, "ZFS since 2.2 has no limit for metadata");
		return;
	}
	if (model->arc_meta_percent == 100) {
		remedy_leave_out(proposals, "metadata may have all of the ARC already");
		return;
	}
	attempt = remedy_propose(proposals);
	attempt->model.arc_meta_percent = 100;
	attempt->title = "zfs_arc_meta_limit_percent 100";
	attempt->command = "echo 100 > /sys/module/zfs/parameters/zfs_arc_meta_limit_percent";
}

const struct remedy remedy_arc_meta_limit = {
	.id = "arc-meta-limit",
	.summary = "ZFS to 2.1: metadata may have all of the ARC",
	.since = "ZFS 0.7 to 2.1",
	.risk = "a walk over many files leaves less for data",
	.ease = 100,
	.propose = propose,
};
