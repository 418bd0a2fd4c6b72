/*
 * recordsize: ZFS's, up and down
 *
 * Idea       A write of part of a record reads the rest of it first, and a small read reads all of it.
 * Source     zfsprops(7); behaviour case C53
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "study/remedy.h"

extern const struct remedy remedy_recordsize;

static void propose(struct remedy_proposals *proposals)
{
	static const uint64_t sizes[] = {8 * KIB, 16 * KIB, 128 * KIB, MIB};
	const struct model_options *model = proposals->facts->model;
	uint64_t now = model->record_bytes ? model->record_bytes : 128 * KIB;

	if (strcmp(filesystem_name(model->filesystem), "zfs") != 0) {
		remedy_leave_out(proposals, "the file system is not ZFS");
		return;
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct remedy_try *attempt;
		const char *size = remedy_size(proposals->advice, sizes[i]);

		if (sizes[i] == now)
			continue;
		attempt = remedy_propose(proposals);
		attempt->model.record_bytes = sizes[i];
		attempt->title = remedy_text(proposals->advice, "recordsize %s", size);
		attempt->command = remedy_text(proposals->advice,
					       "zfs set recordsize=%" PRIu64
					       " DATASET  # and write the files anew",
					       sizes[i]);
	}
}

const struct remedy remedy_recordsize = {
	.id = "recordsize",
	.summary = "ZFS's recordsize, up and down",
	.since = "all of OpenZFS (1MiB: the pool feature large_blocks)",
	.risk = "files keep theirs until they are written anew; compression gets worse as it falls",
	.ease = 85,
	.propose = propose,
};
