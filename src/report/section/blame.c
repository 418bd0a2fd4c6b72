/* Who evicted whom: the blame matrix as a heat map, one for each run. */
#include <stdlib.h>

#include "base/size.h"
#include "measure/result.h"
#include "report/name.h"
#include "report/report_private.h"
#include "report/section.h"

enum { SHOWN_MAX = 16, MAPS_MAX = 4 };

static uint64_t pages_of(const struct result *result, size_t victim, size_t evictor)
{
	return result->blame[victim * result->stream_count + evictor];
}

/* What a stream has to do with it, on either side. */
static uint64_t weight_of(const struct result *result, size_t stream)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < result->stream_count; i++)
		sum += pages_of(result, stream, i) + pages_of(result, i, stream);
	return sum;
}

static bool has_blame(const struct result *result)
{
	for (size_t i = 0; result->blame && i < result->stream_count; i++)
		if (weight_of(result, i))
			return true;
	return false;
}

static bool has(const struct page *page)
{
	for (size_t i = 0; i < page->count; i++)
		if (has_blame(&page->runs[i].result))
			return true;
	return false;
}

/* The streams with the most to do with it, as they come. The count of those that have any. */
static size_t shown_streams(const struct result *result, size_t shown[SHOWN_MAX], size_t *count)
{
	size_t all = 0;

	*count = 0;
	for (size_t s = 0; s < result->stream_count; s++) {
		uint64_t weight = weight_of(result, s);
		size_t above = 0;

		all += weight > 0;
		for (size_t k = 0; k < result->stream_count; k++) {
			uint64_t other = weight_of(result, k);

			above += other > weight || (other == weight && k < s);
		}
		if (weight && above < SHOWN_MAX)
			shown[(*count)++] = s;
	}
	return all;
}

/* "38,739 pages of heap were read again; wal had pushed out 81 % of them." */
static const char *summary_of(const struct page *page, const struct result *result)
{
	size_t victim = 0, evictor = 0;
	uint64_t sum = 0, worst = 0;
	char victim_name[NAME_TEXT_BYTES], evictor_name[NAME_TEXT_BYTES], size[SIZE_TEXT_BYTES],
		share[SHARE_TEXT_BYTES];

	for (size_t v = 0; v < result->stream_count; v++) {
		uint64_t row = 0;

		for (size_t e = 0; e < result->stream_count; e++)
			row += pages_of(result, v, e);
		if (row <= worst)
			continue;
		worst = row;
		victim = v;
	}
	for (size_t e = 0; e < result->stream_count; e++) {
		sum += pages_of(result, victim, e);
		if (pages_of(result, victim, e) > pages_of(result, victim, evictor))
			evictor = e;
	}
	return page_text(page, "%s reads %s again; %s of it had been pushed out by %s.",
			 name_show(victim_name, result->streams[victim].name, NAME_COLUMNS_MAX),
			 size_format(size, bytes_from_pages(sum)),
			 share_format(share, pages_of(result, victim, evictor), sum),
			 victim == evictor ? "itself"
					   : name_show(evictor_name, result->streams[evictor].name,
						       NAME_COLUMNS_MAX));
}

/* One scale for all maps, so that they can be held against each other. */
static double most_of(const struct page *page)
{
	uint64_t most = 0;

	for (size_t i = 0; i < page->count; i++) {
		const struct result *result = &page->runs[i].result;
		size_t fields = result->blame ? result->stream_count * result->stream_count : 0;

		for (size_t k = 0; k < fields; k++)
			most = result->blame[k] > most ? result->blame[k] : most;
	}
	return (double)bytes_from_pages(most);
}

static void map_draw(const struct page *page, struct sheet *sheet, size_t run)
{
	const struct result *result = &page->runs[run].result;
	size_t shown[SHOWN_MAX], count, all = shown_streams(result, shown, &count);
	struct heat_row *rows = page_alloc(page, count, sizeof(*rows));
	const char **columns = page_alloc(page, count, sizeof(*columns));
	struct heat_chart chart = {
		.name = page_text(page, "blame-%zu", run + 1),
		.title = page->count > 1 ? page_text(page, "Who evicted whom: %s", page->names[run])
					 : "Who evicted whom",
		.summary = summary_of(page, result),
		.row_label = "read again by",
		.column_label = "evicted by",
		.caption = "Rows are whose pages were read again, columns whose allocations had "
			   "pushed them out.",
		.unit = AXIS_BYTES,
		.columns = columns,
		.rows = rows,
		.row_count = count,
		.most = most_of(page),
	};

	if (all > count)
		chart.caption = page_text(page, "%s The %zu of %zu streams with the most of it.",
					  chart.caption, count, all);
	for (size_t v = 0; v < count; v++) {
		double *values = page_alloc(page, count, sizeof(*values));

		for (size_t e = 0; e < count; e++)
			values[e] = (double)bytes_from_pages(pages_of(result, shown[v], shown[e]));
		columns[v] = result->streams[shown[v]].name;
		rows[v] = (struct heat_row){
			.name = result->streams[shown[v]].name, .values = values, .count = count};
	}
	sheet_heat(sheet, &chart);
}

static void write(const struct page *page, struct sheet *sheet)
{
	size_t drawn = 0, left = 0;

	fputs("<div class=\"charts\">\n", sheet->html);
	for (size_t i = 0; i < page->count; i++) {
		if (!has_blame(&page->runs[i].result))
			continue;
		if (drawn == MAPS_MAX) {
			left++;
			continue;
		}
		map_draw(page, sheet, i);
		drawn++;
	}
	fputs("</div>\n", sheet->html);
	if (left)
		fprintf(sheet->html, "<p>And %zu runs more, which are in the data.</p>\n", left);
}

const struct section section_blame = {
	.name = "blame",
	.title = "Who evicted whom",
	.has = has,
	.otherwise =
		"nothing was read again after it had been evicted, or the machine does not know "
		"who did it.",
	.write = write,
};
