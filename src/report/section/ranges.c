/* Where in files it was read again. */
#include "base/size.h"
#include "report/name.h"
#include "report/section.h"

enum { FILES_MAX = 24 };

static const json_t *victims_of(const struct page *page)
{
	const struct stored *run;

	return json_object_get(page_explanation(page, &run), "victims");
}

static bool has(const struct page *page)
{
	return json_array_size(victims_of(page)) > 0;
}

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static struct heat_row row_of(const struct page *page, const json_t *victim, double *most)
{
	const json_t *pages = json_object_get(json_object_get(victim, "parts"), "reread_pages");
	const char *path = json_string_value(json_object_get(victim, "path"));
	const char *stream = json_string_value(json_object_get(victim, "stream"));
	size_t count = json_array_size(pages);
	double *values = page_alloc(page, count, sizeof(*values));
	char size[SIZE_TEXT_BYTES], shown[NAME_TEXT_BYTES];

	for (size_t i = 0; i < count; i++) {
		values[i] = (double)bytes_from_pages(
			(uint64_t)json_integer_value(json_array_get(pages, i)));
		*most = values[i] > *most ? values[i] : *most;
	}
	return (struct heat_row){
		.name = path ? path
			     : page_text(page, "%s: own blocks",
					 name_show(shown, stream ? stream : "?", 6)),
		.end = page_text(page, "%s",
				 size_format(size, bytes_from_pages(number(victim, "file_pages")))),
		.values = values,
		.count = count,
	};
}

static void write(const struct page *page, struct sheet *sheet)
{
	const json_t *victims = victims_of(page), *first = json_array_get(victims, 0);
	size_t all = json_array_size(victims), count = all < FILES_MAX ? all : FILES_MAX;
	struct heat_row *rows = page_alloc(page, count, sizeof(*rows));
	const char *path = json_string_value(json_object_get(first, "path"));
	char size[SIZE_TEXT_BYTES];
	struct heat_chart chart = {
		.name = "ranges",
		.title = "Where in the file it was read again",
		.caption = "Each row is a file from its beginning to its end, in equal parts.",
		.unit = AXIS_BYTES,
		.rows = rows,
		.row_count = count,
	};

	for (size_t i = 0; i < count; i++)
		rows[i] = row_of(page, json_array_get(victims, i), &chart.most);
	chart.summary = page_text(
		page, "Most: %s, %s read again.", path ? path : "the file system's own blocks",
		size_format(size, bytes_from_pages(number(first, "reread_pages"))));
	if (all > count)
		chart.caption = page_text(page, "%s The %zu of %zu with the most.", chart.caption,
					  count, all);
	fputs("<div class=\"charts\">\n", sheet->html);
	sheet_heat(sheet, &chart);
	fputs("</div>\n", sheet->html);
}

const struct section section_ranges = {
	.name = "ranges",
	.title = "Where in the files",
	.has = has,
	.otherwise = "give what `refault explain TRACE --json` prints as a RUN.",
	.write = write,
};
