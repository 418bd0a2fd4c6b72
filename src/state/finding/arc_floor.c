/*
 * arc_floor: the ARC has been pressed down to its smallest size
 *
 * Idea       When memory is short, the target goes down to c_min and no further. An ARC that is full at its
 *            floor and may not grow has lost to somebody else's need.
 * Source     module/zfs/arc.c, arc_reduce_target_size(); arc_no_grow, set while arc_available_memory() is
 *            below 0. Since ZFS 2.0 the ARC *begins* at c_min and grows as it fills: then it is not full
 * Constants  FULL in percent of the target: ours. c may lie above c_min by AT_FLOOR percent: ours.
 *            AVAILABLE_LITTLE as in memory_short.c
 */
#include "state/finding.h"

#include "base/size.h"

enum { FULL = 90, AT_FLOOR = 1, AVAILABLE_LITTLE = 10 };

extern const struct finding_rule finding_arc_floor;

/* Before 2.0 an ARC began at its largest size: at the floor, it has been pressed down there. */
static bool began_at_most(const struct view *view)
{
	const struct series *series = state_series(view->state, DUMP_ARCSTATS, NULL, NULL);

	return series && dump_entry(series->last, "arc_meta_min") &&
	       !dump_entry(series->last, "cached_only_in_progress");
}

static bool is_memory_short(const struct view *view)
{
	struct quantity total = quantity_now(view, QUANTITY_total);
	struct quantity available = quantity_now(view, QUANTITY_available);

	return total.known && available.known &&
	       !is_share_at_least(available.value, total.value, AVAILABLE_LITTLE);
}

static bool is_pressed(const struct view *view)
{
	struct quantity no_grow = quantity_now(view, QUANTITY_arc_no_grow);
	struct quantity available = quantity_now(view, QUANTITY_arc_available);
	struct quantity needed = quantity_now(view, QUANTITY_arc_needed);
	struct quantity throttled = quantity_change(view, QUANTITY_arc_throttled);

	return quantity_or_zero(&no_grow) || quantity_or_zero(&needed) ||
	       quantity_or_zero(&throttled) || (available.known && (int64_t)available.value <= 0) ||
	       is_memory_short(view) || began_at_most(view);
}

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity size = quantity_now(view, QUANTITY_arc_size);
	struct quantity target = quantity_now(view, QUANTITY_arc_target);
	struct quantity floor = quantity_now(view, QUANTITY_arc_floor);
	struct quantity most = quantity_now(view, QUANTITY_arc_most);
	struct quantity no_grow = quantity_now(view, QUANTITY_arc_no_grow);
	struct quantity available = quantity_now(view, QUANTITY_arc_available);
	struct quantity needed = quantity_now(view, QUANTITY_arc_needed);
	bool pressed;
	struct finding *finding;

	if (!size.known || !target.known || !floor.known || !most.known ||
	    is_share_at_least(floor.value, most.value, FULL) ||
	    !is_share_at_least(floor.value, target.value, 100 - AT_FLOOR) ||
	    !is_share_at_least(size.value, target.value, FULL))
		return;
	pressed = is_pressed(view);
	finding = finding_add(findings, &finding_arc_floor, view,
			      pressed ? FINDING_PROBLEM : FINDING_EXPLANATION,
			      pressed ? SEVERITY_HIGH : SEVERITY_NONE);
	finding_title(findings, finding, "The ARC is at its floor: %s, of %s it could have",
		      bytes_text(findings, target.value), bytes_text(findings, most.value));
	finding_text(findings, finding,
		     pressed ? "Memory is short, and it has given up all it may: somebody else "
			       "needs the "
			       "memory, or ZFS thinks so. The page cache's file pages are what it "
			       "competes "
			       "with."
			     : "Nothing says that it is kept there: it may be growing, or have "
			       "been pressed "
			       "down a while ago.");
	finding_quantity(findings, finding, "arc_bytes", &size);
	finding_quantity(findings, finding, "arc_target_bytes", &target);
	finding_quantity(findings, finding, "arc_floor_bytes", &floor);
	finding_quantity(findings, finding, "arc_most_bytes", &most);
	finding_quantity(findings, finding, "arc_no_grow", &no_grow);
	finding_quantity(findings, finding, "arc_need_free_bytes", &needed);
	if (available.known) {
		finding_figure(findings, finding, "arc_available_bytes",
			       (double)(int64_t)available.value, UNIT_BYTES,
			       "memory_available_bytes");
		finding_rests_on(finding, &available);
	}
	finding_rule_is(
		findings, finding,
		"c within %d %% of c_min, and at least %d %% full (ours); pressed: arc_no_grow, "
		"arc_need_free, memory_available_bytes of 0 or less, writers throttled, less than "
		"10 %% of memory available, or a ZFS before 2.0, whose ARC begins at c_max",
		AT_FLOOR, FULL);
	if (pressed)
		finding_remedy(findings, finding,
			       "see who took the memory (anon, and file pages of other file "
			       "systems); a higher "
			       "zfs_arc_min keeps more for the ARC");
}

const struct finding_rule finding_arc_floor = {
	.id = "arc-floor",
	.summary = "an ARC pressed down to its smallest size",
	.of_system = true,
	.judge = judge,
};
