/*
 * file_thrash: file pages come back as fast as they are evicted
 *
 * Idea       The kernel leaves a shadow entry where it evicts a page, and counts a refault when the page
 *            is read again while the entry is there. If fewer pages were evicted in between (its refault
 *            distance) than the active list holds, with swap also anonymous memory, the page is activated
 *            at once: it could have stayed instead of one of those. So refaults are reads that a larger
 *            cache, or one with less else in it, would not have made; those activated compete with what
 *            is kept, and of the others only more memory decides.
 * Source     mm/workingset.c, workingset_refault(), workingset_test_recent(), of Linux 3.15 (one counter) to
 *            6.18
 * Constants  REFAULTS_PER_SECOND: what one disk of 7200 rpm reads at random in a second (a turn of 8.3 ms
 *            and half a seek), so that fewer are noticed by nobody; a rule of thumb. SHARE_OF_READS: ours,
 *            below it nine of ten reads were not of evicted pages
 * Weakness   a scan longer than memory, again and again: every page refaults, none is activated, and only
 *            memory for all of it helps
 */
#include "state/finding.h"

#include "base/size.h"

enum {
	REFAULTS_PER_SECOND = 100,
	SHARE_OF_READS = 10,
	MOST_OF_READS = 50,
	ACTIVATED_MANY = 50,
	BEYOND_READS = 110
};

extern const struct finding_rule finding_file_thrash;

struct thrash {
	struct quantity refaults, anon, activated, restored, read, faults, cache;
};

static struct thrash thrash_of(const struct view *view)
{
	return (struct thrash){
		.refaults = quantity_change(view, QUANTITY_refaults_file),
		.anon = quantity_change(view, QUANTITY_refaults_anon),
		.activated = quantity_change(view, QUANTITY_activated_file),
		.restored = quantity_change(view, QUANTITY_restored_file),
		.read = quantity_change(view, QUANTITY_read),
		.faults = quantity_change(view, QUANTITY_major_faults),
		.cache = quantity_file_cache(view),
	};
}

static bool is_thrashing(const struct view *view, const struct thrash *thrash)
{
	const struct quantity *refaults = &thrash->refaults;
	uint64_t bytes = pages_bytes(view, refaults->value);

	if (thrash->read.known && !is_share_at_least(bytes, thrash->read.value, SHARE_OF_READS))
		return false;
	if (refaults->has_interval)
		return is_rate_at_least(refaults->value, refaults->interval_ns,
					REFAULTS_PER_SECOND);
	/* Without a clock: a tenth of the file cache came back. */
	return refaults->value &&
	       is_share_at_least(bytes, thrash->cache.known ? thrash->cache.value : GIB, 10);
}

static void figures(struct findings *findings, struct finding *finding, const struct view *view,
		    const struct thrash *thrash)
{
	const struct quantity *refaults = &thrash->refaults;
	uint64_t bytes = pages_bytes(view, refaults->value);
	const char *page = bytes_text(findings, view->state->page_bytes);

	finding_quantity(findings, finding, "file_refaults_pages", refaults);
	finding_figure(findings, finding, "file_refaults_bytes", (double)bytes, UNIT_BYTES,
		       "%s pages of %s", count_text(findings, refaults->value), page);
	if (refaults->has_interval) {
		finding_figure(findings, finding, "file_refaults_per_second",
			       per_second(refaults->value, refaults->interval_ns), UNIT_PER_SECOND,
			       "pages over %s", time_text(findings, refaults->interval_ns));
		finding_figure(findings, finding, "file_refaults_bytes_per_second",
			       per_second(bytes, refaults->interval_ns), UNIT_BYTES_PER_SECOND,
			       "bytes over %s", time_text(findings, refaults->interval_ns));
	}
	if (thrash->activated.known && refaults->value) {
		finding_quantity(findings, finding, "activated_pages", &thrash->activated);
		finding_figure(findings, finding, "activated_share",
			       share_percent(thrash->activated.value, refaults->value),
			       UNIT_PERCENT, "activated of refaulted pages");
	}
	finding_quantity(findings, finding, "anon_refaults_pages", &thrash->anon);
	if (thrash->read.known) {
		finding_quantity(findings, finding, "read_bytes", &thrash->read);
		finding_figure(findings, finding, "refaulted_share_of_reads",
			       share_percent(bytes, thrash->read.value), UNIT_PERCENT,
			       "%s of %s bytes", count_text(findings, bytes),
			       count_text(findings, thrash->read.value));
	}
	if (thrash->faults.known && thrash->faults.value && refaults->value) {
		finding_quantity(findings, finding, "major_faults", &thrash->faults);
		finding_figure(findings, finding, "through_mappings_share",
			       share_percent(thrash->faults.value, refaults->value), UNIT_PERCENT,
			       "major faults of refaults, at one page each");
	}
	if (thrash->cache.known && thrash->cache.value) {
		finding_quantity(findings, finding, "file_cache_bytes", &thrash->cache);
		finding_figure(findings, finding, "times_the_file_cache",
			       (double)bytes / (double)thrash->cache.value, UNIT_TIMES,
			       "refaulted bytes over file cache");
	}
}

static void what_it_means(struct findings *findings, struct finding *finding,
			  const struct thrash *thrash)
{
	uint64_t again = thrash->refaults.value * findings->state->page_bytes;
	bool fits =
		thrash->activated.known &&
		is_share_at_least(thrash->activated.value, thrash->refaults.value, ACTIVATED_MANY);

	if (thrash->read.known && !is_share_at_least(again, thrash->read.value, BEYOND_READS))
		finding_text(findings, finding,
			     "%s of all bytes read from block devices were of pages that had been "
			     "evicted.",
			     percent_text(findings, again, thrash->read.value));
	if (thrash->activated.known)
		finding_text(
			findings, finding, "%s of the refaults were activated at once (%s): %s.",
			count_text(findings, thrash->activated.value),
			percent_text(findings, thrash->activated.value, thrash->refaults.value),
			fits ? "fewer pages went in between than the active list holds, so a "
			       "working "
			       "set is pushed out that competes with what is kept"
			     : "the others came back after more evictions than the active list "
			       "holds, as "
			       "in a scan or a loop over more than fits; how much more memory "
			       "would hold "
			       "them, that does not say");
	if (thrash->anon.known && thrash->anon.value == 0)
		finding_text(
			findings, finding,
			"No anonymous page came back: it is file pages that thrash, not swap.");
	else if (thrash->anon.known)
		finding_text(findings, finding, "%s anonymous pages came back from swap as well.",
			     count_text(findings, thrash->anon.value));
	if (thrash->faults.known && thrash->faults.value &&
	    thrash->faults.value <= thrash->refaults.value)
		finding_text(
			findings, finding,
			"Major faults are about %s of them, at a page each: at least so much came "
			"through mappings (programs, libraries, mapped files), and more where a "
			"fault "
			"reads around itself.",
			percent_text(findings, thrash->faults.value, thrash->refaults.value));
}

static void add_problem(struct findings *findings, const struct view *view,
			const struct thrash *thrash)
{
	uint64_t bytes = pages_bytes(view, thrash->refaults.value);
	bool is_most =
		thrash->read.known && is_share_at_least(bytes, thrash->read.value, MOST_OF_READS);
	struct finding *finding =
		finding_add(findings, &finding_file_thrash, view, FINDING_PROBLEM,
			    is_most || !thrash->read.known ? SEVERITY_HIGH : SEVERITY_MEDIUM);

	finding_title(findings, finding,
		      "File pages thrash: %s came back after their eviction%s, %s (%s)",
		      count_text(findings, thrash->refaults.value),
		      within_text(findings, &thrash->refaults), bytes_text(findings, bytes),
		      rate_text(findings, &thrash->refaults, bytes));
	what_it_means(findings, finding, thrash);
	figures(findings, finding, view, thrash);
	finding_rule_is(
		findings, finding,
		"at least %d refaults/s, about what a disk of 7200 rpm reads at random (rule of "
		"thumb; without a clock, a tenth of the file cache), and at least %d %% of what "
		"is read (ours); refaults: mm/workingset.c, workingset_refault()",
		REFAULTS_PER_SECOND, SHARE_OF_READS);
	finding_remedy(
		findings, finding,
		"find who pushes them out: `refault record --all -o live.rft --duration 30s`, "
		"then `refault replay live.rft` shows who evicts whom, and `refault lint` how much "
		"memory would hold them");
}

static void add_ruled_out(struct findings *findings, const struct view *view,
			  const struct thrash *thrash)
{
	struct finding *finding =
		finding_add(findings, &finding_file_thrash, view, FINDING_RULED_OUT, SEVERITY_NONE);

	if (thrash->refaults.value == 0)
		finding_title(findings, finding, "No evicted file page was read again%s",
			      within_text(findings, &thrash->refaults));
	else
		finding_title(findings, finding, "Few evicted file pages came back: %s%s (%s)",
			      count_text(findings, thrash->refaults.value),
			      within_text(findings, &thrash->refaults),
			      rate_text(findings, &thrash->refaults, 0));
	figures(findings, finding, view, thrash);
	finding_rule_is(findings, finding,
			"fewer than %d refaults/s, or than %d %% of what is read",
			REFAULTS_PER_SECOND, SHARE_OF_READS);
}

/* One dump alone: what there is since the machine, or the cgroup, began. */
static void add_since_boot(struct findings *findings, const struct view *view)
{
	struct quantity refaults = quantity_now(view, QUANTITY_refaults_file);
	struct quantity read = quantity_now(view, QUANTITY_read);
	struct finding *finding = finding_add(findings, &finding_file_thrash, view,
					      FINDING_CANNOT_TELL, SEVERITY_NONE);

	if (!refaults.known) {
		finding_title(findings, finding, "Whether evicted file pages are read again");
		finding_remedy(findings, finding,
			       view->cgroup
				       ? "the cgroup's memory.stat, twice, some seconds apart "
					 "(Linux 4.20 and later count refaults in it)"
				       : "/proc/vmstat, twice, some seconds apart (Linux 3.15 and "
					 "later count refaults in it)");
		return;
	}
	finding_title(findings, finding, "Whether evicted file pages are being read again now");
	finding_text(
		findings, finding,
		"Since the %s began, %s came back (%s%s%s%s), but one dump does not say when.",
		view->cgroup ? "cgroup" : "machine", count_text(findings, refaults.value),
		bytes_text(findings, pages_bytes(view, refaults.value)), read.known ? ", " : "",
		read.known ? percent_text(findings, pages_bytes(view, refaults.value), read.value)
			   : "",
		read.known ? " of all that was read" : "");
	finding_quantity(findings, finding, "file_refaults_pages_since_start", &refaults);
	finding_quantity(findings, finding, "read_bytes_since_start", &read);
	finding_remedy(findings, finding, "the same dump again, some seconds later");
}

static void judge(struct findings *findings, const struct view *view)
{
	struct thrash thrash = thrash_of(view);

	if (!view_is_linux(view))
		return;
	if (!thrash.refaults.known)
		add_since_boot(findings, view);
	else if (is_thrashing(view, &thrash))
		add_problem(findings, view, &thrash);
	else
		add_ruled_out(findings, view, &thrash);
}

const struct finding_rule finding_file_thrash = {
	.id = "file-thrash",
	.summary = "file pages that are read again after their eviction",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
