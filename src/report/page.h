/*
 * page: runs as a report that one would send to a mailing list
 *
 *     sheet_init(&sheet);
 *     page_init(&page, runs, count, compared, version);
 *     page_draw(&page, &sheet);            every section, and every chart
 *     page_write(out, &page, &sheet);      one HTML file that needs nothing else
 *     page_deinit(&page);
 *     sheet_deinit(&sheet);
 *
 * The sections are on a shelf (section.h). Same runs, same bytes: there is no clock in it.
 */
#ifndef REFAULT_REPORT_PAGE_H
#define REFAULT_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/report.h"
#include "report/sheet.h"
#include "store/store.h"

struct compared;

/* More lines in a picture nobody can tell apart. */
enum { PAGE_RUNS_DRAWN = SVG_SERIES };

struct page {
	const struct stored *runs; /* as they were named; at least one */
	size_t count;
	const struct compared *compared; /* NULL: there is nothing to compare */
	const char *version;             /* of the refault that draws it */

	/* by run: what tells it from the others, and how its sentence is made */
	const char **names;
	struct report_options *options;
	struct arena arena;
};

void page_init(struct page *page, const struct stored *runs, size_t count,
	       const struct compared *compared, const char *version);
void page_deinit(struct page *page);

void page_draw(const struct page *page, struct sheet *sheet);

/* After page_draw() and sheet_finish(). */
void page_write(FILE *out, const struct page *page, const struct sheet *sheet);

/* ---- for sections ---- */

/* How many runs are drawn. */
size_t page_drawn(const struct page *page);

/* What `refault explain --json` says of the first run that has it; NULL: none has. */
const json_t *page_explanation(const struct page *page, const struct stored **run);

/* A text that lives as long as the page. */
const char *page_text(const struct page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void *page_alloc(const struct page *page, size_t count, size_t bytes);

#endif
