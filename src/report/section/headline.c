/* The result in one sentence, in the words of the text report. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "measure/compared.h"
#include "measure/result.h"
#include "report/advice.h"
#include "report/curve.h"
#include "report/markup.h"
#include "report/name.h"
#include "report/number.h"
#include "report/report_private.h"
#include "report/section.h"

/* The figure that sides are told apart by: what is read again; of plain caches what misses. */
static const struct compared_row *row_of(const struct compared *compared, const char *figure)
{
	for (size_t i = 0; i < compared->rows.count; i++)
		if (!compared->rows.at[i].stream &&
		    strcmp(compared->rows.at[i].figure, figure) == 0)
			return &compared->rows.at[i];
	return NULL;
}

static bool is_known(const struct compared *compared, const struct compared_row *row)
{
	for (size_t i = 0; row && i < compared->side_count; i++)
		if (!row->cells[i].is_known)
			return false;
	return row != NULL;
}

static void compared_sentence(FILE *out, const struct compared *compared)
{
	const struct compared_row *again = row_of(compared, "reread_bytes"), *row = again;
	size_t best = 0, worst = 0;
	char text[NUMBER_TEXT_BYTES], share[SHARE_TEXT_BYTES];

	if (!is_known(compared, row))
		row = row_of(compared, "page_misses");
	if (!is_known(compared, row)) {
		fputs("What is read again is the same, or not known.", out);
		return;
	}
	for (size_t i = 0; i < compared->side_count; i++) {
		best = row->cells[i].mean < row->cells[best].mean ? i : best;
		worst = row->cells[i].mean > row->cells[worst].mean ? i : worst;
	}
	if (row->cells[best].mean >= row->cells[worst].mean)
		fprintf(out, "No difference in what %s.",
			row == again ? "is read again" : "misses");
	else
		fprintf(out, "Least %s: %s, %s, %s less than %s.",
			row == again ? "read again" : "misses", compared->sides[best].name,
			number_format(text, row->cells[best].mean, row->unit),
			share_format(share,
				     (uint64_t)(row->cells[worst].mean - row->cells[best].mean),
				     (uint64_t)row->cells[worst].mean),
			compared->sides[worst].name);
}

/* Of runs that differ in memory alone that is the result; else it is said besides. NULL: there is no knee. */
static const char *knee_of(const struct page *page, bool *is_all)
{
	struct curves curves;
	const char *text = NULL;

	curves_make(&curves, page);
	for (size_t i = 0; i < curves.count; i++)
		if (curves.at[i].knee > 0)
			text = curves_knees(&curves, page);
	*is_all = curves.count == 1 && curves.at[0].runs == page->count;
	curves_deinit(&curves);
	return text;
}

static void write(const struct page *page, struct sheet *sheet)
{
	const struct result *result = &page->runs[0].result;
	char *text = NULL, size[2 * SIZE_TEXT_BYTES];
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);
	bool is_all;
	const char *knee = knee_of(page, &is_all);

	if (!memory)
		abort();
	if (knee && is_all)
		fputs(knee, memory);
	else if (page->compared)
		compared_sentence(memory, page->compared);
	else
		advice_sentence(memory, result, &page->options[0]);
	fclose(memory);
	if (!*text) {
		free(text);
		text = strdup("What the machine read and kept.");
	}
	fputs("<h1>", sheet->html);
	markup_text(sheet->html, text);
	fputs("</h1>\n", sheet->html);
	if (knee && !is_all) {
		fputs("<p>", sheet->html);
		markup_text(sheet->html, knee);
		fputs("</p>\n", sheet->html);
	}
	fputs("<p class=\"under\">", sheet->html);
	markup_format(sheet->html, "%s: %s operations", result->input ? result->input : "?",
		      count_format(size, result->op_count));
	if (page->count > 1)
		fprintf(sheet->html, ", %zu runs", page->count);
	if (page->count > page_drawn(page))
		fprintf(sheet->html, " (the first %zu of them are drawn)", page_drawn(page));
	fputs("</p>\n", sheet->html);
	free(text);
}

const struct section section_headline = {.name = "headline", .write = write};
