/*
 * huge_pages: memory set aside for huge pages is no cache, used or not
 *
 * Source     mm/hugetlb.c, hugetlb_report_meminfo(): the pool is taken from memory when it is set up
 * Constants  SHARE and UNUSED in percent: rules of thumb
 */
#include "state/finding.h"

#include "base/size.h"

enum { SHARE = 10, UNUSED = 20 };

extern const struct finding_rule finding_huge_pages;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity pages = quantity_now(view, QUANTITY_huge_pages);
	struct quantity unused = quantity_now(view, QUANTITY_huge_pages_free);
	struct quantity size = quantity_now(view, QUANTITY_huge_page_bytes);
	struct quantity total = quantity_now(view, QUANTITY_total);
	uint64_t bytes, unused_bytes = 0;
	bool is_waste;
	struct finding *finding;

	if (!pages.known || !size.known || !total.known || pages.value == 0 ||
	    __builtin_mul_overflow(pages.value, size.value, &bytes) ||
	    !is_share_at_least(bytes, total.value, SHARE))
		return;
	if (unused.known && unused.value <= pages.value)
		unused_bytes = unused.value * size.value;
	is_waste = is_share_at_least(unused_bytes, bytes, UNUSED);
	finding = finding_add(findings, &finding_huge_pages, view,
			      is_waste ? FINDING_ELSEWHERE : FINDING_EXPLANATION,
			      is_waste ? SEVERITY_MEDIUM : SEVERITY_NONE);
	finding_title(findings, finding,
		      "%s (%s of memory) are set aside for huge pages, %s of it not used",
		      bytes_text(findings, bytes), percent_text(findings, bytes, total.value),
		      unused_bytes ? bytes_text(findings, unused_bytes) : "none");
	finding_text(
		findings, finding,
		"They are not counted as free, cannot be used as cache and are not reclaimed.");
	finding_quantity(findings, finding, "huge_pages", &pages);
	finding_quantity(findings, finding, "huge_pages_free", &unused);
	finding_quantity(findings, finding, "huge_page_bytes", &size);
	finding_figure(findings, finding, "huge_pages_bytes", (double)bytes, UNIT_BYTES,
		       "HugePages_Total * Hugepagesize");
	finding_quantity(findings, finding, "total_bytes", &total);
	finding_rule_is(findings, finding,
			"at least %d %% of memory; a waste if %d %% of them are free "
			"(rules of thumb)",
			SHARE, UNUSED);
	if (is_waste)
		finding_remedy(findings, finding, "lower vm.nr_hugepages to what is used");
}

const struct finding_rule finding_huge_pages = {
	.id = "huge-pages",
	.summary = "memory set aside for huge pages",
	.of_system = true,
	.judge = judge,
};
