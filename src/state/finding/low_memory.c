/*
 * low_memory: on 32-bit kernels, inodes and dentries must fit in the first part of memory
 *
 * Source     Documentation/mm/highmem.rst: kernel objects live in directly mapped memory, at most 896 MiB
 * Constants  FREE in percent of it: ours
 */
#include "state/finding.h"

enum { FREE = 5 };

extern const struct finding_rule finding_low_memory;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity total = quantity_now(view, QUANTITY_low_total);
	struct quantity free = quantity_now(view, QUANTITY_low_free);
	struct quantity high = quantity_now(view, QUANTITY_high_total);
	struct quantity slab = quantity_now(view, QUANTITY_slab);
	struct finding *finding;

	if (!total.known || !free.known || !high.known || high.value == 0 ||
	    is_share_at_least(free.value, total.value, FREE))
		return;
	finding =
		finding_add(findings, &finding_low_memory, view, FINDING_PROBLEM, SEVERITY_MEDIUM);
	finding_title(findings, finding,
		      "Low memory is used up: %s of %s are free, whatever high memory has",
		      bytes_text(findings, free.value), bytes_text(findings, total.value));
	finding_text(findings, finding,
		     "Dentries, inodes and all other kernel objects must be there, so "
		     "they are reclaimed while file pages have room in high memory.");
	finding_quantity(findings, finding, "low_free_bytes", &free);
	finding_quantity(findings, finding, "low_total_bytes", &total);
	finding_quantity(findings, finding, "slab_bytes", &slab);
	finding_rests_on(finding, &high);
	finding_rule_is(findings, finding, "below %d %% of low memory (ours)", FREE);
	finding_remedy(findings, finding, "a 64-bit kernel");
}

const struct finding_rule finding_low_memory = {
	.id = "low-memory",
	.summary = "low memory of a 32-bit kernel that is used up",
	.of_system = true,
	.judge = judge,
};
