/* When they pushed out what was read again later. */
#include "base/size.h"
#include "report/section.h"

enum { EVICTORS_MAX = 16 };

static const json_t *over_time(const struct page *page)
{
	const struct stored *run;

	return json_object_get(page_explanation(page, &run), "over_time");
}

static bool has(const struct page *page)
{
	return json_object_size(json_object_get(over_time(page), "evictors")) > 0;
}

static struct heat_row row_of(const struct page *page, const char *name, const json_t *pages,
			      double *most)
{
	size_t count = json_array_size(pages);
	double *values = page_alloc(page, count, sizeof(*values));

	for (size_t i = 0; i < count; i++) {
		values[i] = (double)bytes_from_pages(
			(uint64_t)json_integer_value(json_array_get(pages, i)));
		*most = values[i] > *most ? values[i] : *most;
	}
	return (struct heat_row){.name = name, .values = values, .count = count};
}

static void write(const struct page *page, struct sheet *sheet)
{
	const json_t *time = over_time(page);
	json_t *evictors = json_object_get(time, "evictors"), *evictor;
	struct heat_row *rows = page_alloc(page, EVICTORS_MAX + 1, sizeof(*rows));
	char each[2 * SIZE_TEXT_BYTES];
	const char *name;
	struct heat_chart chart = {
		.name = "evictors",
		.title = "When it was pushed out, and when it came back",
		.unit = AXIS_BYTES,
		.rows = rows,
	};

	json_object_foreach(evictors, name, evictor)
	{
		if (chart.row_count < EVICTORS_MAX)
			rows[chart.row_count++] = row_of(
				page, name, json_object_get(evictor, "evicted_pages"), &chart.most);
	}
	rows[chart.row_count++] =
		row_of(page, "read again", json_object_get(time, "reread_pages"), &chart.most);
	chart.summary =
		page_text(page, "By %s, over the run from left to right, %s operations a field.",
			  rows[0].name,
			  count_format(each, (uint64_t)json_integer_value(
						     json_object_get(time, "operations_each"))));
	fputs("<div class=\"charts\">\n", sheet->html);
	sheet_heat(sheet, &chart);
	fputs("</div>\n", sheet->html);
}

const struct section section_evictors = {
	.name = "evictors", .title = "When it was evicted", .has = has, .write = write};
