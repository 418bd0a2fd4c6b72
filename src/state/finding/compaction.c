/*
 * compaction: processes wait for memory in one piece, not for memory
 *
 * Source     mm/page_alloc.c, __alloc_pages_direct_compact() counts COMPACTSTALL
 * Constants  STALLS_PER_SECOND: rule of thumb
 */
#include "state/finding.h"

enum { STALLS_PER_SECOND = 10 };

extern const struct finding_rule finding_compaction;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity stalls = quantity_change(view, QUANTITY_compaction_stalls);
	struct finding *finding;

	if (!stalls.known || !stalls.has_interval || stalls.value == 0 ||
	    !is_rate_at_least(stalls.value, stalls.interval_ns, STALLS_PER_SECOND))
		return;
	finding = finding_add(findings, &finding_compaction, view, FINDING_ELSEWHERE,
			      SEVERITY_MEDIUM);
	finding_title(findings, finding,
		      "Processes wait for memory in one piece: %s stalls for compaction%s (%s)",
		      count_text(findings, stalls.value), within_text(findings, &stalls),
		      rate_text(findings, &stalls, 0));
	finding_text(findings, finding,
		     "Huge pages and large kernel buffers need it. Memory may be free, "
		     "in pieces too small.");
	finding_quantity(findings, finding, "compaction_stalls", &stalls);
	finding_rule_is(findings, finding, "%d/s (rule of thumb)", STALLS_PER_SECOND);
	finding_remedy(findings, finding, "/sys/kernel/mm/transparent_hugepage/defrag=defer");
}

const struct finding_rule finding_compaction = {
	.id = "compaction",
	.summary = "waits for memory in one piece",
	.of_system = true,
	.judge = judge,
};
