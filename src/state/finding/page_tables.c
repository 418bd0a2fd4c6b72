/*
 * page_tables: many processes that map much memory need much memory for the tables
 *
 * Source     mm/memory.c: a table page maps 512 pages, in each process that touched them
 * Constants  SHARE in percent of memory: rule of thumb
 */
#include "state/finding.h"

enum { SHARE = 5 };

extern const struct finding_rule finding_page_tables;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity tables = quantity_now(view, QUANTITY_page_tables);
	struct quantity memory = quantity_memory(view);
	struct finding *finding;

	if (!tables.known || !memory.known || !is_share_at_least(tables.value, memory.value, SHARE))
		return;
	finding = finding_add(findings, &finding_page_tables, view, FINDING_ELSEWHERE,
			      SEVERITY_MEDIUM);
	finding_title(findings, finding, "%s (%s of memory) are page tables",
		      bytes_text(findings, tables.value),
		      percent_text(findings, tables.value, memory.value));
	finding_text(findings, finding,
		     "Each process that touches a large shared mapping has tables of "
		     "its own for it. They are not reclaimed.");
	finding_quantity(findings, finding, "page_tables_bytes", &tables);
	finding_rests_on(finding, &memory);
	finding_rule_is(findings, finding, "at least %d %% of memory (rule of thumb)", SHARE);
	finding_remedy(findings, finding, "huge pages for the shared mapping, or fewer processes");
}

const struct finding_rule finding_page_tables = {
	.id = "page-tables",
	.summary = "memory that page tables take",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
