/*
 * readahead: the device's window, up and down
 *
 * Idea       A large window turns a stream into few requests, and each read at random into a large one.
 * Source     read_ahead_kb, Documentation/ABI/stable/sysfs-block; a logical volume has its own (C15)
 * Constants  a page, a quarter, four and sixteen times what there is
 */
#include <inttypes.h>

#include "base/size.h"
#include "study/remedy.h"

extern const struct remedy remedy_readahead;

static void try_it(struct remedy_proposals *proposals, uint64_t bytes)
{
	struct advice *advice = proposals->advice;
	struct remedy_try *attempt = remedy_propose(proposals);

	attempt->model.readahead_bytes = bytes;
	attempt->title = remedy_text(advice, "readahead %s", remedy_size(advice, bytes));
	attempt->command =
		remedy_text(advice,
			    "echo %" PRIu64
			    " > /sys/block/DEVICE/queue/read_ahead_kb  # each volume has its own",
			    bytes == PAGE_BYTES ? 0 : bytes / KIB);
}

static void propose(struct remedy_proposals *proposals)
{
	uint64_t now = proposals->facts->model->readahead_bytes;

	now = now ? now : 128 * KIB;
	if (proposals->facts->read_bytes == 0) {
		remedy_leave_out(proposals, "nothing is read from the device");
		return;
	}
	if (now > PAGE_BYTES)
		try_it(proposals, PAGE_BYTES);
	if (now / 4 > PAGE_BYTES)
		try_it(proposals, now / 4 / PAGE_BYTES * PAGE_BYTES);
	if (now * 4 <= 64 * MIB)
		try_it(proposals, now * 4);
	if (now * 16 <= 16 * MIB)
		try_it(proposals, now * 16);
}

const struct remedy remedy_readahead = {
	.id = "readahead",
	.summary = "the device's readahead window, up and down",
	.risk = "it is every reader's of the device",
	.ease = 90,
	.touches = "readahead",
	.can_be_confirmed = true,
	.propose = propose,
};
