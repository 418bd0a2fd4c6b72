/*
 * locked: memory that mlock() and ramfs keep from being reclaimed
 *
 * Source     mm/vmscan.c, the unevictable list; Documentation/mm/unevictable-lru.rst
 * Constants  SHARE in percent of memory: ours
 */
#include "state/finding.h"

enum { SHARE = 10 };

extern const struct finding_rule finding_locked;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity locked = quantity_now(view, QUANTITY_unevictable);
	struct quantity memory = quantity_memory(view);
	struct finding *finding;

	if (!locked.known || !memory.known || !is_share_at_least(locked.value, memory.value, SHARE))
		return;
	finding = finding_add(findings, &finding_locked, view, FINDING_EXPLANATION, SEVERITY_NONE);
	finding_title(findings, finding, "%s (%s of memory) are locked and cannot be reclaimed",
		      bytes_text(findings, locked.value),
		      percent_text(findings, locked.value, memory.value));
	finding_quantity(findings, finding, "unevictable_bytes", &locked);
	finding_rests_on(finding, &memory);
	finding_rule_is(findings, finding, "at least %d %% of memory (ours)", SHARE);
}

const struct finding_rule finding_locked = {
	.id = "locked",
	.summary = "memory that is locked",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
