/*
 * arc_swap: beside a large ARC the machine swaps
 *
 * Idea       The kernel weighs file pages against processes' memory, and the ARC is on neither scale. Where it
 *            is most of the cache there are hardly any file pages, so the pressure goes to processes' memory.
 *            The multi-generational LRU does that sooner than the two lists.
 * Source     mm/vmscan.c, get_scan_count(): few file pages, so anonymous ones are scanned; the ARC is asked by
 *            a shrinker, module/os/linux/zfs/arc_os.c, of which the lists know nothing
 * Constants  ARC_SHARE and FILE_SHARE in percent of memory, SWAP_USED of swap space: ours
 */
#include "state/finding.h"

#include "base/size.h"

enum { ARC_SHARE = 25, FILE_SHARE = 10, SWAP_USED = 5 };

extern const struct finding_rule finding_arc_swap;

static bool is_swapping(const struct view *view, struct quantity *out)
{
	struct quantity total = quantity_now(view, QUANTITY_swap_total);
	struct quantity free = quantity_now(view, QUANTITY_swap_free);

	*out = quantity_change(view, QUANTITY_swapped_out);
	if (out->known)
		return out->value > 0;
	return total.known && free.known && total.value > free.value &&
	       is_share_at_least(total.value - free.value, total.value, SWAP_USED);
}

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity size = quantity_now(view, QUANTITY_arc_size);
	struct quantity most = quantity_now(view, QUANTITY_arc_most);
	struct quantity total = quantity_now(view, QUANTITY_total);
	struct quantity swap_total = quantity_now(view, QUANTITY_swap_total);
	struct quantity swap_free = quantity_now(view, QUANTITY_swap_free);
	struct quantity cache = quantity_file_cache(view);
	struct quantity mglru = quantity_now(view, QUANTITY_mglru);
	struct quantity swappiness = quantity_now(view, QUANTITY_swappiness), out;
	struct finding *finding;

	if (!size.known || !total.known || !cache.known || !is_swapping(view, &out) ||
	    !is_share_at_least(size.value, total.value, ARC_SHARE) ||
	    is_share_at_least(cache.value, total.value, FILE_SHARE))
		return;
	finding = finding_add(findings, &finding_arc_swap, view, FINDING_PROBLEM, SEVERITY_HIGH);
	finding_title(findings, finding,
		      "The machine swaps beside an ARC of %s: the kernel sees only %s of file "
		      "pages to take "
		      "instead",
		      bytes_text(findings, size.value), bytes_text(findings, cache.value));
	finding_text(findings, finding,
		     "The ARC is on none of the lists that reclaim weighs against each other, so "
		     "it takes "
		     "processes' memory while the ARC shrinks only when its shrinker is asked.%s",
		     mglru.known && mglru.value ? " The multi-generational LRU, which is on here, "
						  "does so sooner than the two "
						  "lists."
		     : mglru.known              ? " The multi-generational LRU is off."
						: "");
	finding_quantity(findings, finding, "arc_bytes", &size);
	finding_quantity(findings, finding, "arc_most_bytes", &most);
	finding_quantity(findings, finding, "file_cache_bytes", &cache);
	finding_quantity(findings, finding, "total_bytes", &total);
	finding_quantity(findings, finding, "swapped_out_pages", &out);
	finding_quantity(findings, finding, "swap_total_bytes", &swap_total);
	finding_quantity(findings, finding, "swap_free_bytes", &swap_free);
	finding_quantity(findings, finding, "swappiness", &swappiness);
	finding_quantity(findings, finding, "mglru", &mglru);
	finding_rule_is(findings, finding,
			"an ARC of at least %d %% and file pages below %d %% of memory, and pages "
			"swapped out "
			"(one dump: %d %% of swap space used); ours",
			ARC_SHARE, FILE_SHARE, SWAP_USED);
	finding_remedy(findings, finding,
		       "vm.swappiness=1, a lower zfs_arc_max, and with MGLRU: echo n > "
		       "/sys/kernel/mm/lru_gen/enabled");
}

const struct finding_rule finding_arc_swap = {
	.id = "arc-swap",
	.summary = "swapping beside a large ARC",
	.of_system = true,
	.judge = judge,
};
