/*
 * slab_holes: slabs that are mostly empty, and held by the objects that are left in them
 *
 * Idea       A slab goes back only when its last object does. After many objects have been freed here and
 *            there, slabs stay, each for a few.
 * Source     mm/slub.c, discard_slab(); Documentation/mm/slab.rst
 * Constants  USED in percent of the objects there is room for, SHARE of memory: ours
 */
#include "state/finding.h"

#include "base/size.h"
#include "state/slab.h"

enum { USED = 50, SHARE = 5 };

extern const struct finding_rule finding_slab_holes;

static uint64_t holes_bytes(const struct view *view, const struct entry *cache)
{
	uint64_t active = cache->values[SLAB_ACTIVE], objects = cache->values[SLAB_OBJECTS];

	if (objects == 0 || active > objects || is_share_at_least(active, objects, USED))
		return 0;
	return (uint64_t)((unsigned __int128)slab_bytes(view->state, cache) * (objects - active) /
			  objects);
}

static void judge(struct findings *findings, const struct view *view)
{
	const struct dump *dump = slab_dump(view->state);
	struct quantity memory = quantity_memory(view);
	const struct entry *worst = NULL;
	struct finding *finding;
	uint64_t sum = 0, most = 0;

	for (size_t i = 0; dump && i < dump->entries.count; i++) {
		uint64_t bytes = holes_bytes(view, &dump->entries.at[i]);

		sum += bytes;
		if (bytes > most) {
			most = bytes;
			worst = &dump->entries.at[i];
		}
	}
	if (!memory.known || !worst || !is_share_at_least(sum, memory.value, SHARE))
		return;
	finding = finding_add(findings, &finding_slab_holes, view, FINDING_ELSEWHERE,
			      SEVERITY_MEDIUM);
	finding_title(findings, finding, "%s are slabs that are mostly empty, %s of it %s's",
		      bytes_text(findings, sum), bytes_text(findings, most), worst->name);
	finding_text(findings, finding,
		     "%s of %s objects of %s are in use; a slab is given back only when all of its "
		     "objects are gone, so reclaim frees objects and hardly memory.",
		     count_text(findings, worst->values[SLAB_ACTIVE]),
		     count_text(findings, worst->values[SLAB_OBJECTS]), worst->name);
	finding_figure(findings, finding, "empty_bytes", (double)sum, UNIT_BYTES,
		       "slabs * (objects - active) / objects, of caches less than %d %% used",
		       USED);
	finding_rests_on_entry(finding, worst);
	finding_rule_is(findings, finding,
			"caches below %d %% in use, together at least %d %% of memory "
			"(ours)",
			USED, SHARE);
}

const struct finding_rule finding_slab_holes = {
	.id = "slab-holes",
	.summary = "slabs that are mostly empty",
	.of_system = true,
	.judge = judge,
};
