/*
 * filesystem: another one
 *
 * Idea       Which folios there are, what an inode takes, what a directory or a partial write reads.
 * Differs    ZFS is not tried: it keeps a cache of its own, under other policies. Nor is `flat`, which is
 *            none.
 */
#include <string.h>

#include "study/remedy.h"

extern const struct remedy remedy_filesystem;

static void propose(struct remedy_proposals *proposals)
{
	static const char *const names[] = {"ext4", "xfs", "btrfs"};
	const char *now = filesystem_name(proposals->facts->model->filesystem);

	if (strcmp(now, "zfs") == 0 || strcmp(now, "flat") == 0) {
		remedy_leave_out(proposals, "from this one there is no way to try another");
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct remedy_try *attempt;

		if (strcmp(names[i], now) == 0)
			continue;
		attempt = remedy_propose(proposals);
		attempt->model.filesystem = filesystem_find(names[i]);
		attempt->title = remedy_text(proposals->advice, "file system %s", names[i]);
		attempt->how =
			remedy_text(proposals->advice,
				    "mkfs.%s on a new volume, and copy everything", names[i]);
	}
}

const struct remedy remedy_filesystem = {
	.id = "filesystem",
	.summary = "another file system",
	.risk = "all else that changes with it",
	.ease = 40,
	.can_be_confirmed = true,
	.propose = propose,
};
