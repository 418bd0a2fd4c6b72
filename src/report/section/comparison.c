/* One table: of several runs side by side, of a single one each stream. */
#include <math.h>
#include <string.h>

#include "measure/compared.h"
#include "measure/result.h"
#include "report/markup.h"
#include "report/number.h"
#include "report/report_private.h"
#include "report/section.h"

enum { STREAMS_MAX = 40 };

static void cell(FILE *out, bool known, double value, enum value_unit unit)
{
	char text[NUMBER_TEXT_BYTES];

	fprintf(out, "<td>%s</td>", known ? number_format(text, value, unit) : "?");
}

/* ---- several runs ---- */

static void ratio_write(FILE *out, const struct compared_cell *at, size_t runs)
{
	static const char *const classes[] = {"", " class=\"better\"", " class=\"worse\""};
	double ratio = 1 + at->ratio.change;

	if (!at->ratio.is_known || !(at->ratio.base > 0)) {
		fputs("<td>-</td>", out);
		return;
	}
	fprintf(out, ratio < 1000 ? "<td%s>%.3f%s" : "<td%s>%.0f%s", classes[at->verdict], ratio,
		at->is_significant ? "<b>*</b>" : "");
	if (runs > 2 && !at->ratio.is_exact)
		fprintf(out, " <small>%.3f to %.3f</small>", 1 + at->ratio.low, 1 + at->ratio.high);
	fputs("</td>", out);
}

static void sides_row(FILE *out, const struct compared *compared, const struct compared_row *row)
{
	fputs("<tr><th scope=\"row\">", out);
	markup_text(out, row->stream ? row->stream : "machine");
	fputs("</th><th scope=\"row\">", out);
	markup_text(out, row->figure);
	fputs("</th>", out);
	for (size_t i = 0; i < compared->side_count; i++) {
		cell(out, row->cells[i].is_known, row->cells[i].mean, row->unit);
		if (i)
			ratio_write(out, &row->cells[i],
				    compared->sides[0].run_count + compared->sides[i].run_count);
	}
	fputs("</tr>\n", out);
}

static bool has_star(const struct compared *compared)
{
	for (size_t i = 0; i < compared->rows.count; i++)
		for (size_t k = 1; k < compared->side_count; k++)
			if (compared->rows.at[i].cells[k].is_significant)
				return true;
	return false;
}

static void sides_table(FILE *out, const struct compared *compared)
{
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Comparison\">"
	      "<table><caption>The runs side by side; ratios are to the first",
	      out);
	fputs(has_star(compared) ? ", * is a difference that is not chance" : "", out);
	fputs("</caption>\n<thead><tr><th scope=\"col\">of</th><th "
	      "scope=\"col\" class=\"left\">figure</th>",
	      out);
	for (size_t i = 0; i < compared->side_count; i++) {
		fputs("<th scope=\"col\">", out);
		markup_text(out, compared->sides[i].name);
		if (compared->sides[i].run_count > 1)
			fprintf(out, " <small>(mean of %zu)</small>", compared->sides[i].run_count);
		fputs(i ? "</th><th scope=\"col\">ratio</th>" : "</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < compared->rows.count; i++)
		sides_row(out, compared, &compared->rows.at[i]);
	fputs("</tbody></table></div>\n", out);
}

/* ---- a single run ---- */

static const struct {
	enum counter_id id;
	const char *heading;
} columns[] = {
	{COUNTER_page_accesses, "accesses"},
	{COUNTER_page_misses, "misses"},
	{COUNTER_read_bytes, "read"},
	{COUNTER_reread_bytes, "read again"},
	{COUNTER_refaults, "refaults"},
	{COUNTER_refault_activations, "activated by refault"},
	{COUNTER_evictions, "evictions"},
	{COUNTER_write_bytes, "written"},
	{COUNTER_inodes_reallocated, "inodes again"},
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* Is it known, and not 0 everywhere? */
static bool is_shown(const struct result *result, size_t column)
{
	return result_knows(result, columns[column].id) &&
	       counter_get(&result->totals, columns[column].id) > 0;
}

static void counters_row(FILE *out, const struct result *result, const char *name,
			 const struct counters *counters, uint64_t known)
{
	fputs("<tr><th scope=\"row\">", out);
	markup_text(out, name);
	fputs("</th>", out);
	for (size_t i = 0; i < COLUMNS; i++)
		if (is_shown(result, i))
			cell(out, known >> columns[i].id & 1,
			     (double)counter_get(counters, columns[i].id),
			     counter_unit(columns[i].id) == COUNTER_UNIT_BYTES ? VALUE_BYTES
									       : VALUE_COUNT);
	fputs("</tr>\n", out);
}

static void streams_table(FILE *out, const struct result *result)
{
	size_t *order = streams_order(result);
	size_t shown = result->stream_count < STREAMS_MAX ? result->stream_count : STREAMS_MAX;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Counters\">"
	      "<table><caption>What the machine and each stream did</caption>\n"
	      "<thead><tr><th scope=\"col\">of</th>",
	      out);
	for (size_t i = 0; i < COLUMNS; i++)
		if (is_shown(result, i))
			fprintf(out, "<th scope=\"col\">%s</th>", columns[i].heading);
	fputs("</tr></thead>\n<tbody>\n", out);
	counters_row(out, result, "all", &result->totals, result->known);
	for (size_t i = 0; i < shown; i++) {
		const struct result_stream *stream = &result->streams[order[i]];

		counters_row(out, result, stream->name, &stream->counters, stream->known);
	}
	fputs("</tbody></table></div>\n", out);
	if (shown < result->stream_count)
		fprintf(out, "<p>And %zu streams more, which are in the data.</p>\n",
			result->stream_count - shown);
	memory_free(order);
}

static void write(const struct page *page, struct sheet *sheet)
{
	if (page->compared)
		sides_table(sheet->html, page->compared);
	else
		streams_table(sheet->html, &page->runs[0].result);
}

const struct section section_comparison = {
	.name = "figures", .title = "The figures", .write = write};
