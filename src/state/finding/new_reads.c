/*
 * new_reads: what is read has not been in memory before, so no cache would have kept it
 *
 * Idea       Bytes read less refaults are first reads, as far as the shadow entries go back: they are kept
 *            for as many pages as there is memory, so what comes back later than that counts as new.
 * Source     mm/workingset.c, count_shadow_nodes(): the nodes of shadow entries are limited to what
 *            memory could hold
 * Constants  READ_PER_SECOND: 1 MiB/s, below which nobody's disk is busy (rule of thumb); REFAULTED_FEW as
 *            in file_thrash.c
 */
#include "state/finding.h"

#include "base/size.h"

enum { REFAULTED_FEW = 10 };
#define READ_PER_SECOND MIB

extern const struct finding_rule finding_new_reads;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity read = quantity_change(view, QUANTITY_read);
	struct quantity refaults = quantity_change(view, QUANTITY_refaults_file);
	struct quantity dropped = quantity_change(view, QUANTITY_dropped_pagecache);
	struct quantity swapped_in = quantity_change(view, QUANTITY_swapped_in);
	uint64_t again = pages_bytes(view, refaults.value);
	struct finding *finding;

	/* What drop_caches threw out leaves no shadow. */
	if (quantity_or_zero(&dropped))
		return;

	/* pgpgin counts what came from swap, too. */
	if (read.known && swapped_in.known && pages_bytes(view, swapped_in.value) <= read.value)
		read.value -= pages_bytes(view, swapped_in.value);
	if (!read.known || !refaults.known || !read.has_interval ||
	    !is_rate_at_least(read.value, read.interval_ns, READ_PER_SECOND) ||
	    is_share_at_least(again, read.value, REFAULTED_FEW))
		return;
	finding = finding_add(findings, &finding_new_reads, view, FINDING_ELSEWHERE, SEVERITY_LOW);
	finding_title(findings, finding,
		      "What is read is new: %s%s (%s), of which %s had been in the cache before",
		      bytes_text(findings, read.value), within_text(findings, &read),
		      rate_text(findings, &read, read.value),
		      percent_text(findings, again, read.value));
	finding_text(
		findings, finding,
		"A cache keeps what is used again. These reads are of data that was not there, "
		"or so long ago that nobody remembers, or go around the cache (O_DIRECT): more "
		"cache does not spare them. Reading ahead, a faster device or reading less does.");
	finding_quantity(findings, finding, "read_bytes", &read);
	finding_quantity(findings, finding, "file_refaults_pages", &refaults);
	finding_figure(findings, finding, "refaulted_share_of_reads",
		       share_percent(again, read.value), UNIT_PERCENT, "%s of %s bytes",
		       count_text(findings, again), count_text(findings, read.value));
	finding_rule_is(findings, finding,
			"at least 1 MiB/s read (rule of thumb), of which refaults are below %d %%",
			REFAULTED_FEW);
}

const struct finding_rule finding_new_reads = {
	.id = "new-reads",
	.summary = "reads that no cache would have spared",
	.of_system = true,
	.judge = judge,
};
