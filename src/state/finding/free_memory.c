/*
 * free_memory: little is free, because the rest is cache, which is given back when it is needed
 *
 * Source     mm/show_mem.c (before 6.3 mm/page_alloc.c), si_mem_available(): free memory above the
 *            watermarks, page cache and reclaimable slab, of each of which half, at most the low
 *            watermarks, is taken to stay
 * Constants  FREE_LITTLE and AVAILABLE_PLENTY in percent of memory: ours
 * Differs    without MemAvailable (before Linux 3.14) what is free, the file lists and reclaimable slab
 *            are added: that is at most what can be had
 */
#include "state/finding.h"

#include "base/size.h"

enum { FREE_LITTLE = 10, AVAILABLE_PLENTY = 20 };

extern const struct finding_rule finding_free_memory;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity total = quantity_now(view, QUANTITY_total);
	struct quantity free = quantity_now(view, QUANTITY_free);
	struct quantity available = quantity_now(view, QUANTITY_available);
	struct quantity slab = quantity_now(view, QUANTITY_slab_reclaimable);
	struct quantity cache = quantity_file_cache(view);
	bool is_estimate = available.known;
	struct finding *finding;

	if (!total.known || !free.known || !cache.known)
		return;
	if (!is_estimate) {
		available = (struct quantity){.known = true, .unit = UNIT_BYTES, .scale = ""};
		available.value = free.value + cache.value + quantity_or_zero(&slab);
	}
	if (is_share_at_least(free.value, total.value, FREE_LITTLE) ||
	    !is_share_at_least(available.value, total.value, AVAILABLE_PLENTY))
		return;
	finding = finding_add(findings, &finding_free_memory, view, FINDING_EXPLANATION,
			      SEVERITY_NONE);
	finding_title(findings, finding,
		      "Memory is not short: %s is free, but %s%s of %s can be had at any time",
		      percent_text(findings, free.value, total.value), is_estimate ? "" : "up to ",
		      bytes_text(findings, available.value), bytes_text(findings, total.value));
	finding_text(
		findings, finding,
		"The page cache (%s) fills what nobody else uses. It is no leak, active or not: "
		"clean pages are dropped when a process needs memory.",
		bytes_text(findings, cache.value));
	finding_quantity(findings, finding, "total_bytes", &total);
	finding_quantity(findings, finding, "free_bytes", &free);
	if (is_estimate)
		finding_quantity(findings, finding, "available_bytes", &available);
	else
		finding_figure(findings, finding, "available_bytes_at_most",
			       (double)available.value, UNIT_BYTES,
			       "free + file lists + reclaimable slab");
	finding_quantity(findings, finding, "file_cache_bytes", &cache);
	finding_rule_is(
		findings, finding,
		"free below %d %% and available at least %d %% of memory (ours); MemAvailable: "
		"si_mem_available()",
		FREE_LITTLE, AVAILABLE_PLENTY);
}

const struct finding_rule finding_free_memory = {
	.id = "free-memory",
	.summary = "low free memory that is nothing but cache",
	.of_system = true,
	.judge = judge,
};
