/*
 * loop: file systems in files are cached twice
 *
 * Idea       What is read from a file system in an image is cached as its files, and again as the image, unless
 *            the loop device reads the image with direct I/O. The lower copy is charged to nobody who reads.
 * Source     drivers/block/loop.c, LOOP_SET_DIRECT_IO (Linux 4.4); losetup(8), DIO
 * Weakness   how much of each is cached is not shown; a small or rarely read image (a snap) costs little
 */
#include "state/finding.h"

extern const struct finding_rule finding_loop;

static void judge(struct findings *findings, const struct view *view)
{
	const struct series *series = state_series(view->state, DUMP_LOSETUP, NULL, NULL);
	const struct dump *dump = series ? series->last : NULL;
	size_t buffered = 0, direct = 0, unknown = 0;
	struct finding *finding;

	if (!dump)
		return;
	for (size_t i = 0; i < dump->entries.count; i++) {
		const struct entry *device = &dump->entries.at[i];

		buffered += device->value_count && device->values[0] == 0;
		direct += device->value_count && device->values[0];
		unknown += device->value_count == 0;
	}
	finding = finding_add(findings, &finding_loop, view,
			      buffered  ? FINDING_EXPLANATION
			      : unknown ? FINDING_CANNOT_TELL
					: FINDING_RULED_OUT,
			      SEVERITY_NONE);
	if (buffered)
		finding_title(findings, finding,
			      "%s loop devices read their files through the page cache: what is "
			      "read from "
			      "them is cached twice",
			      count_text(findings, buffered));
	else
		finding_title(findings, finding,
			      unknown ? "Whether loop devices cache twice: the list has no DIO"
				      : "Loop devices read their files directly: nothing is cached "
					"twice");
	if (buffered) {
		finding_text(findings, finding,
			     "Once as files, and once as the image below, which counts for "
			     "the host and not for the cgroup that reads.");
		finding_remedy(findings, finding, "losetup --direct-io=on DEVICE");
	} else if (unknown) {
		finding_remedy(findings, finding, "`losetup` instead of `losetup -a`");
	}
	finding_figure(findings, finding, "loop_devices_buffered", (double)buffered, UNIT_COUNT,
		       "DIO is 0");
	finding_figure(findings, finding, "loop_devices_direct", (double)direct, UNIT_COUNT,
		       "DIO is 1");
	for (size_t i = 0; i < dump->entries.count && i < 8; i++)
		finding_rests_on_entry(finding, &dump->entries.at[i]);
	finding_rule_is(findings, finding, "any; drivers/block/loop.c");
}

const struct finding_rule finding_loop = {
	.id = "loop",
	.summary = "file systems in files, cached twice",
	.of_system = true,
	.judge = judge,
};
