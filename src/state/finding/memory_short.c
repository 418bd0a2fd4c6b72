/*
 * memory_short: memory is held by what is no cache
 *
 * Idea       When little can be had (MemAvailable), somebody holds the rest, and dropping caches will not
 *            bring it back. The largest holders are named.
 * Source     fs/proc/meminfo.c; si_mem_available() as in free_memory.c
 * Constants  AVAILABLE_LITTLE and AVAILABLE_LEAST in percent of memory: rules of thumb
 */
#include "state/finding.h"

#include "base/size.h"

enum { AVAILABLE_LITTLE = 10, AVAILABLE_LEAST = 5 };

extern const struct finding_rule finding_memory_short;

struct holder {
	const char *name;
	struct quantity quantity;
};

static void holder_offer(struct holder *most, const char *name, struct quantity quantity)
{
	if (quantity.known && quantity.value > most->quantity.value)
		*most = (struct holder){name, quantity};
}

static struct holder largest(const struct view *view)
{
	struct holder most = {.name = "nobody that these dumps show"};

	holder_offer(&most, "processes' own memory", quantity_now(view, QUANTITY_anon));
	holder_offer(&most, "shared memory and tmpfs", quantity_now(view, QUANTITY_shmem));
	holder_offer(&most, "kernel objects that cannot be reclaimed",
		     quantity_now(view, QUANTITY_slab_unreclaimable));
	holder_offer(&most, "page tables", quantity_now(view, QUANTITY_page_tables));
	holder_offer(&most, "huge pages set aside", quantity_now(view, QUANTITY_huge_all));
	holder_offer(&most, "ZFS's ARC", quantity_now(view, QUANTITY_arc_size));
	return most;
}

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity total = quantity_now(view, QUANTITY_total);
	struct quantity available = quantity_now(view, QUANTITY_available);
	struct holder most = largest(view);
	struct finding *finding;

	if (!total.known || !available.known ||
	    is_share_at_least(available.value, total.value, AVAILABLE_LITTLE))
		return;
	finding = finding_add(findings, &finding_memory_short, view, FINDING_ELSEWHERE,
			      is_share_at_least(available.value, total.value, AVAILABLE_LEAST)
				      ? SEVERITY_MEDIUM
				      : SEVERITY_HIGH);
	finding_title(
		findings, finding,
		"Memory is short, and it is not the cache that has it: %s of %s can still be had",
		bytes_text(findings, available.value), bytes_text(findings, total.value));
	finding_text(findings, finding, "The largest holder is %s%s%s%s.", most.name,
		     most.quantity.known ? " (" : "",
		     most.quantity.known ? bytes_text(findings, most.quantity.value) : "",
		     most.quantity.known ? ")" : "");
	finding_quantity(findings, finding, "available_bytes", &available);
	finding_quantity(findings, finding, "total_bytes", &total);
	finding_quantity(findings, finding, "largest_holder_bytes", &most.quantity);
	finding_figure(findings, finding, "available_share",
		       share_percent(available.value, total.value), UNIT_PERCENT,
		       "MemAvailable of MemTotal");
	finding_rule_is(findings, finding, "below %d %% (below %d %%: high), rules of thumb",
			AVAILABLE_LITTLE, AVAILABLE_LEAST);
	finding_remedy(findings, finding,
		       "dropping caches gives nothing back here; look at who holds "
		       "it");
}

const struct finding_rule finding_memory_short = {
	.id = "memory-short",
	.summary = "memory that is short, and held by what is no cache",
	.of_system = true,
	.judge = judge,
};
