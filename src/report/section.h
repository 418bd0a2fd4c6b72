/*
 * section: a part of the report
 *
 * A section is one file in section/ and a line in sections.def, which is the order on the page. It looks at the
 * page's runs, and writes HTML and charts on the sheet. What a machine cannot know is left out, or "?".
 */
#ifndef REFAULT_REPORT_SECTION_H
#define REFAULT_REPORT_SECTION_H

#include "report/page.h"

struct section {
	const char *name;  /* of its place in the page, for links */
	const char *title; /* NULL: it writes its own heading */
	/* Is there something to say? NULL: always. */
	bool (*has)(const struct page *page);
	/* If there is not: how to have it, a sentence; NULL: nothing is said. */
	const char *otherwise;
	void (*write)(const struct page *page, struct sheet *sheet);
};

/* In their order; NULL after the last. */
const struct section *section_at(size_t index);

#endif
