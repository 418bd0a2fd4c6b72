/*
 * cgroup_limit: a cgroup at its limit: full of cache, which is harmless, or reading for ever
 *
 * Idea       Cache grows until the limit is met, so being there says nothing. What says something is whether
 *            what is evicted is read again: then file pages have less room than they need, and as reclaim
 *            always finds some to evict, nobody is killed and it goes on.
 * Source     mm/memcontrol.c, try_charge_memcg() reclaims at memory.max; memory.events, max. A charge is made in
 *            batches of 64 pages a processor, so usage stays a little below
 * Constants  AT_LIMIT in percent: ours. REFAULTS_PER_SECOND as in file_thrash.c. Without a pair: as much
 *            refaulted since the group began as its limit is large (ours)
 */
#include "state/finding.h"

#include "base/size.h"

enum { AT_LIMIT = 95, REFAULTS_PER_SECOND = 100 };

extern const struct finding_rule finding_cgroup_limit;

struct group {
	struct quantity limit, usage, events, events_change, refaults, refaults_change, anon, cache,
		slab, kills;
	uint64_t room; /* for file pages: the limit less what cannot be dropped */
	bool knows_room, is_at_limit;
};

static struct group group_of(const struct view *view)
{
	struct group group = {
		.limit = quantity_memory(view),
		.usage = quantity_now(view, QUANTITY_usage),
		.events = quantity_now(view, QUANTITY_events_max),
		.events_change = quantity_change(view, QUANTITY_events_max),
		.refaults = quantity_now(view, QUANTITY_refaults_file),
		.refaults_change = quantity_change(view, QUANTITY_refaults_file),
		.anon = quantity_now(view, QUANTITY_anon),
		.cache = quantity_file_cache(view),
		.slab = quantity_now(view, QUANTITY_slab_reclaimable),
		.kills = quantity_now(view, QUANTITY_oom_kills),
	};
	uint64_t droppable = quantity_or_zero(&group.cache) + quantity_or_zero(&group.slab);

	group.is_at_limit = (group.usage.known && group.limit.known &&
			     is_share_at_least(group.usage.value, group.limit.value, AT_LIMIT)) ||
			    (group.events_change.known && group.events_change.value);
	group.knows_room = group.limit.known && group.usage.known && group.cache.known;
	if (group.knows_room) {
		uint64_t held = group.usage.value > droppable ? group.usage.value - droppable : 0;

		group.room = group.limit.value > held ? group.limit.value - held : 0;
	}
	return group;
}

/* 1: it reads again and again; 0: it does not; -1: nobody knows. */
static int reads_again(const struct view *view, const struct group *group)
{
	const struct quantity *change = &group->refaults_change;

	if (change->known && change->has_interval)
		return is_rate_at_least(change->value, change->interval_ns, REFAULTS_PER_SECOND);
	if (change->known)
		return group->cache.known &&
		       is_share_at_least(pages_bytes(view, change->value), group->cache.value,
					 10) &&
		       change->value > 0;
	if (!group->refaults.known)
		return -1;
	if (group->refaults.value == 0)
		return 0;
	return pages_bytes(view, group->refaults.value) >= quantity_or_zero(&group->limit) ? 1 : -1;
}

static void figures(struct findings *findings, struct finding *finding, const struct view *view,
		    const struct group *group)
{
	const struct quantity *refaults =
		group->refaults_change.known ? &group->refaults_change : &group->refaults;

	finding_quantity(findings, finding, "limit_bytes", &group->limit);
	finding_quantity(findings, finding, "usage_bytes", &group->usage);
	finding_quantity(findings, finding, "anon_bytes", &group->anon);
	finding_quantity(findings, finding, "file_cache_bytes", &group->cache);
	if (group->knows_room)
		finding_figure(findings, finding, "room_for_file_pages_bytes", (double)group->room,
			       UNIT_BYTES, "limit - (usage - file lists - reclaimable slab)");
	if (refaults->known) {
		finding_quantity(findings, finding,
				 group->refaults_change.known ? "file_refaults_pages"
							      : "file_refaults_pages_since_start",
				 refaults);
		finding_figure(findings, finding, "file_refaults_bytes",
			       (double)pages_bytes(view, refaults->value), UNIT_BYTES,
			       "refaulted pages * page size");
		if (refaults->has_interval)
			finding_figure(findings, finding, "file_refaults_bytes_per_second",
				       per_second(pages_bytes(view, refaults->value),
						  refaults->interval_ns),
				       UNIT_BYTES_PER_SECOND, "over the interval");
	}
	finding_quantity(findings, finding, "times_at_limit",
			 group->events_change.known ? &group->events_change : &group->events);
	finding_quantity(findings, finding, "oom_kills", &group->kills);
}

static void add_thrashing(struct findings *findings, const struct view *view,
			  const struct group *group)
{
	const struct quantity *refaults =
		group->refaults_change.known ? &group->refaults_change : &group->refaults;
	struct finding *finding =
		finding_add(findings, &finding_cgroup_limit, view, FINDING_PROBLEM,
			    group->refaults_change.known ? SEVERITY_HIGH : SEVERITY_MEDIUM);

	finding_title(findings, finding,
		      "The cgroup is at its limit and reads the same pages again: %s%s",
		      bytes_text(findings, pages_bytes(view, refaults->value)),
		      group->refaults_change.known ? within_text(findings, refaults)
						   : " since it began");
	if (group->knows_room)
		finding_text(findings, finding,
			     "Of %s, processes' memory and what else cannot be dropped leave room "
			     "for %s of "
			     "file pages; what is used again and again is more.",
			     bytes_text(findings, group->limit.value),
			     bytes_text(findings, group->room));
	finding_text(
		findings, finding,
		"Reclaim always finds a page to evict, so %s, and it goes on at the speed of the "
		"device; others who use it suffer as well.",
		group->kills.known && group->kills.value == 0 ? "nobody is killed"
							      : "it need not end in a kill");
	finding_text(findings, finding, "How much is missing, the dumps do not show.");
	figures(findings, finding, view, group);
	finding_rule_is(
		findings, finding,
		"usage at least %d %% of the limit, or met between the dumps, and %d refaults/s "
		"(one dump: as much refaulted as the limit)",
		AT_LIMIT, REFAULTS_PER_SECOND);
	finding_remedy(
		findings, finding,
		"a higher memory.max, or less anonymous memory; memory.high below it makes it "
		"slower, "
		"not better. `refault record --cgroup PATH`, then `refault lint`, tells how much");
}

static void judge(struct findings *findings, const struct view *view)
{
	struct group group = group_of(view);
	struct finding *finding;
	int again;

	if (!group.is_at_limit)
		return;
	again = reads_again(view, &group);
	if (again > 0) {
		add_thrashing(findings, view, &group);
		return;
	}
	finding = finding_add(findings, &finding_cgroup_limit, view,
			      again < 0 ? FINDING_CANNOT_TELL : FINDING_EXPLANATION, SEVERITY_NONE);
	if (again == 0) {
		finding_title(
			findings, finding,
			"The cgroup is at its limit because cache fills it: what is evicted is not "
			"read again");
		finding_text(findings, finding,
			     "File pages stay until somebody needs their memory, so usage "
			     "comes to the limit sooner or later. That costs nothing.");
	} else {
		finding_title(
			findings, finding,
			"Whether the cgroup, which is at its limit, reads what it evicts again");
		finding_remedy(findings, finding,
			       "memory.stat twice, some seconds apart: "
			       "workingset_refault_file");
	}
	figures(findings, finding, view, &group);
	finding_rule_is(findings, finding,
			"usage at least %d %% of the limit, or met between the dumps", AT_LIMIT);
}

const struct finding_rule finding_cgroup_limit = {
	.id = "cgroup-limit",
	.summary = "a cgroup at its limit, harmlessly or reading for ever",
	.of_cgroups = true,
	.judge = judge,
};
