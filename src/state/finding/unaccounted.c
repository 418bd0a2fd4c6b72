/*
 * unaccounted: memory that no line of meminfo has
 *
 * Idea       Free, page cache, processes' memory, slab, tables, stacks, per-CPU memory and huge pages should
 *            be all. What is missing was taken page by page by something in the kernel: a driver, a
 *            hypervisor's balloon, or ZFS, whose ARC is in none of them.
 * Source     fs/proc/meminfo.c; module/os/linux/zfs/abd_os.c: the ARC's data are pages of its own
 * Constants  SHARE in percent of memory: ours
 */
#include "state/finding.h"

#include "base/size.h"

enum { SHARE = 15 };

extern const struct finding_rule finding_unaccounted;

static uint64_t known_parts(const struct view *view)
{
	static const enum quantity_id parts[] = {
		QUANTITY_free,        QUANTITY_buffers,      QUANTITY_cached, QUANTITY_anon,
		QUANTITY_page_tables, QUANTITY_kernel_stack, QUANTITY_percpu,
	};
	struct quantity slab = quantity_now(view, QUANTITY_slab);
	struct quantity huge = quantity_now(view, QUANTITY_huge_all);
	struct quantity pages = quantity_now(view, QUANTITY_huge_pages);
	struct quantity size = quantity_now(view, QUANTITY_huge_page_bytes);
	uint64_t sum = quantity_or_zero(&slab), product = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct quantity part = quantity_now(view, parts[i]);

		sum += quantity_or_zero(&part);
	}
	if (!__builtin_mul_overflow(quantity_or_zero(&pages), quantity_or_zero(&size), &product) &&
	    product > quantity_or_zero(&huge))
		return sum + product;
	return sum + quantity_or_zero(&huge);
}

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity total = quantity_now(view, QUANTITY_total);
	struct quantity free = quantity_now(view, QUANTITY_free);
	struct quantity cached = quantity_now(view, QUANTITY_cached);
	struct quantity anon = quantity_now(view, QUANTITY_anon);
	struct quantity slab = quantity_now(view, QUANTITY_slab);
	struct quantity arc = quantity_now(view, QUANTITY_arc_size);
	uint64_t parts = known_parts(view), missing;
	struct finding *finding;

	/* An excerpt of meminfo has gaps of its own. */
	if (!total.known || !free.known || !cached.known || !anon.known || !slab.known ||
	    parts >= total.value)
		return;
	missing = total.value - parts;
	if (!is_share_at_least(missing, total.value, SHARE))
		return;
	finding = finding_add(findings, &finding_unaccounted, view,
			      arc.known && arc.value >= missing / 2 ? FINDING_EXPLANATION
								    : FINDING_ELSEWHERE,
			      arc.known && arc.value >= missing / 2 ? SEVERITY_NONE : SEVERITY_LOW);
	if (arc.known && arc.value >= missing / 2)
		finding_title(
			findings, finding,
			"%s of memory stand on no line of meminfo, and ZFS's ARC has %s: it is a "
			"cache, and not counted as one",
			bytes_text(findings, missing), bytes_text(findings, arc.value));
	else
		finding_title(findings, finding, "%s (%s of memory) stand on no line of meminfo",
			      bytes_text(findings, missing),
			      percent_text(findings, missing, total.value));
	finding_text(
		findings, finding,
		"The page cache does not have it. Whoever takes single pages in the kernel does: "
		"drivers, a hypervisor's balloon, or ZFS's ARC.");
	finding_figure(
		findings, finding, "unaccounted_bytes", (double)missing, UNIT_BYTES,
		"MemTotal - free, buffers, cached, anon, slab, page tables, stacks, per-CPU, "
		"huge pages");
	finding_quantity(findings, finding, "total_bytes", &total);
	finding_quantity(findings, finding, "arc_bytes", &arc);
	finding_rests_on(finding, &free);
	finding_rests_on(finding, &cached);
	finding_rests_on(finding, &anon);
	finding_rests_on(finding, &slab);
	finding_rule_is(findings, finding, "at least %d %% of memory (ours)", SHARE);
	if (!arc.known)
		finding_remedy(findings, finding,
			       "if there is ZFS, add /proc/spl/kstat/zfs/arcstats to what is read");
}

const struct finding_rule finding_unaccounted = {
	.id = "unaccounted",
	.summary = "memory that stands on no line of meminfo",
	.of_system = true,
	.judge = judge,
};
