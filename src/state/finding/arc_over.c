/*
 * arc_over: the ARC is larger than it may be
 *
 * Idea       What it holds cannot be evicted: metadata that the VFS's inodes and dentries hold, or dirty data.
 *            Its limits are goals, not walls.
 * Source     module/zfs/arc.c, arc_is_overflowing(): the target plus 1/256 (zfs_arc_overflow_shift 8), at least
 *            a block of 16 MiB, is allowed; VFS inodes hold dnodes, these their buffers
 */
#include "state/finding.h"

#include "base/size.h"

enum { OVERFLOW_SHIFT = 8 };
#define OVERFLOW_LEAST (16 * MIB)

extern const struct finding_rule finding_arc_over;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity size = quantity_now(view, QUANTITY_arc_size);
	struct quantity most = quantity_now(view, QUANTITY_arc_most);
	struct quantity meta = quantity_now(view, QUANTITY_arc_meta);
	struct quantity dnodes = quantity_now(view, QUANTITY_arc_dnodes);
	uint64_t allowed = most.value >> OVERFLOW_SHIFT > OVERFLOW_LEAST
				   ? most.value >> OVERFLOW_SHIFT
				   : OVERFLOW_LEAST;
	struct finding *finding;

	if (!size.known || !most.known || size.value <= most.value ||
	    size.value - most.value <= allowed)
		return;
	finding = finding_add(findings, &finding_arc_over, view, FINDING_PROBLEM, SEVERITY_MEDIUM);
	finding_title(findings, finding,
		      "The ARC is over its limit: %s, %.1f times the %s it may have",
		      bytes_text(findings, size.value),
		      most.value ? (double)size.value / (double)most.value : 0,
		      bytes_text(findings, most.value));
	finding_text(findings, finding,
		     "It wants to shrink and cannot: inodes and dentries of the VFS hold dnodes "
		     "and their "
		     "buffers. Dropping those (they are reclaimable slab) lets it shrink.");
	finding_quantity(findings, finding, "arc_bytes", &size);
	finding_quantity(findings, finding, "arc_most_bytes", &most);
	finding_figure(findings, finding, "times_its_limit",
		       most.value ? (double)size.value / (double)most.value : 0, UNIT_TIMES,
		       "size over c_max");
	finding_quantity(findings, finding, "arc_metadata_bytes", &meta);
	finding_quantity(findings, finding, "arc_dnode_bytes", &dnodes);
	finding_rule_is(findings, finding,
			"size over c_max by more than 1/256 of it and 16 MiB: "
			"module/zfs/arc.c, arc_is_overflowing()");
	finding_remedy(findings, finding,
		       "see what walks many files (find, backup, indexing), and who "
		       "keeps them open");
}

const struct finding_rule finding_arc_over = {
	.id = "arc-over",
	.summary = "an ARC larger than it may be",
	.of_system = true,
	.judge = judge,
};
