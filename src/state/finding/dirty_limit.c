/*
 * dirty_limit: so much may be dirty that writing it takes long
 *
 * Idea       The limits are shares of available memory. On a large machine with a slow device that is
 *            minutes of writing, and who calls fsync() or meets the limit waits for it all at once.
 * Source     mm/page-writeback.c, domain_dirty_limits(); vm.dirty_ratio 20 and vm.dirty_background_ratio 10
 * Constants  DRAIN_SECONDS: dirty_expire_interval's default, after which a page should be on its way; so a
 *            limit that takes longer to write defeats it. WRITTEN_PER_SECOND: 1 MiB/s, below which a device's
 *            speed is not seen. BACKLOG in percent of the limit: ours
 */
#include "state/finding.h"

#include "base/size.h"

enum { DRAIN_SECONDS = 30, BACKLOG = 10 };
#define WRITTEN_PER_SECOND MIB

extern const struct finding_rule finding_dirty_limit;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity limit = quantity_now(view, QUANTITY_dirty_threshold);
	struct quantity background = quantity_now(view, QUANTITY_dirty_background);
	struct quantity dirty = quantity_now(view, QUANTITY_dirty);
	struct quantity writeback = quantity_now(view, QUANTITY_writeback);
	struct quantity written = quantity_change(view, QUANTITY_written);
	uint64_t sum = quantity_or_zero(&dirty) + quantity_or_zero(&writeback);
	bool is_problem;
	struct finding *finding;
	double rate, seconds;

	/* The speed of a device shows only while it has something to write. */
	if (!limit.known || !dirty.known || !written.known || !written.has_interval ||
	    !is_rate_at_least(written.value, written.interval_ns, WRITTEN_PER_SECOND) ||
	    !is_share_at_least(sum, limit.value, BACKLOG))
		return;
	rate = per_second(written.value, written.interval_ns);
	seconds = (double)limit.value / rate;
	if (seconds < DRAIN_SECONDS)
		return;
	is_problem = background.known ? sum >= background.value
				      : is_share_at_least(sum, limit.value, 50);
	finding = finding_add(findings, &finding_dirty_limit, view,
			      is_problem ? FINDING_PROBLEM : FINDING_EXPLANATION,
			      is_problem ? SEVERITY_MEDIUM : SEVERITY_NONE);
	finding_title(
		findings, finding, "The dirty limit is %s, which takes %.0f s to write at %s/s",
		bytes_text(findings, limit.value), seconds, bytes_text(findings, (uint64_t)rate));
	finding_text(findings, finding,
		     "Whoever meets the limit, or calls fsync() behind such a heap, waits that "
		     "long. Limits "
		     "in bytes make stops short and frequent; the throughput stays.");
	finding_quantity(findings, finding, "dirty_limit_bytes", &limit);
	finding_quantity(findings, finding, "dirty_background_bytes", &background);
	finding_quantity(findings, finding, "dirty_bytes", &dirty);
	finding_quantity(findings, finding, "writeback_bytes", &writeback);
	finding_quantity(findings, finding, "written_bytes", &written);
	finding_figure(findings, finding, "drain_seconds_of_the_limit", seconds, UNIT_COUNT,
		       "limit over what is written a second");
	finding_rule_is(
		findings, finding,
		"the limit takes at least %d s to write (vm.dirty_expire_centisecs' default); a "
		"problem when more than the background threshold is dirty",
		DRAIN_SECONDS);
	finding_remedy(findings, finding,
		       "vm.dirty_background_bytes=%.0f and vm.dirty_bytes=%.0f: one second of "
		       "writing, and "
		       "four",
		       rate, 4 * rate);
}

const struct finding_rule finding_dirty_limit = {
	.id = "dirty-limit",
	.summary = "a dirty limit that takes long to write",
	.of_system = true,
	.judge = judge,
};
