/* How much had aged out between the eviction and the return: what more memory would have kept. */
#include "base/size.h"
#include "measure/result.h"
#include "report/name.h"
#include "report/section.h"

enum { BARS_MAX = 40, FIRST_PAGES = 256 };

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const json_t *distances_of(const struct page *page, const struct stored **run)
{
	return json_object_get(page_explanation(page, run), "distances");
}

static bool has(const struct page *page)
{
	const struct stored *run;

	return json_array_size(json_object_get(distances_of(page, &run), "buckets")) > 0;
}

/* Pages whose distance is above `from` and at most `to`: buckets are narrow. */
static uint64_t between(const json_t *buckets, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < json_array_size(buckets); i++) {
		const json_t *pair = json_array_get(buckets, i);
		uint64_t low = (uint64_t)json_integer_value(json_array_get(pair, 0));

		if ((low > from || from == 0) && low <= to)
			sum += (uint64_t)json_integer_value(json_array_get(pair, 1));
	}
	return sum;
}

static void write(const struct page *page, struct sheet *sheet)
{
	const struct stored *run;
	const json_t *distances = distances_of(page, &run);
	const json_t *buckets = json_object_get(distances, "buckets");
	uint64_t most = number(distances, "most_pages"), from = 0, to = FIRST_PAGES;
	uint64_t memory = pages_from_bytes_up(run->result.memory_bytes);
	double values[BARS_MAX];
	const char *labels[BARS_MAX];
	char size[SIZE_TEXT_BYTES], half[SIZE_TEXT_BYTES], nine[SIZE_TEXT_BYTES];
	struct bar_chart chart = {
		.name = "distance",
		.title = "Refault distance",
		.bar_label = "aged out in between, at most",
		.value_label = "read again",
		.unit = AXIS_BYTES,
		.labels = labels,
		.values = values,
		.mark = SIZE_MAX,
		.mark_text =
			page_text(page, "memory: %s", size_format(size, run->result.memory_bytes)),
	};

	for (; chart.count < BARS_MAX && (from < most || from == 0); from = to, to *= 2) {
		if (memory && memory <= to && chart.mark == SIZE_MAX)
			chart.mark = chart.count + (memory == to);
		values[chart.count] = (double)bytes_from_pages(between(buckets, from, to));
		labels[chart.count++] =
			page_text(page, "%s", size_format(size, bytes_from_pages(to)));
	}
	chart.summary =
		page_text(page,
			  "Of what was read again, half had less than %s age out in between, nine "
			  "in ten less "
			  "than %s: with so much more memory they would have stayed.",
			  size_format(half, bytes_from_pages(number(distances, "p50_pages"))),
			  size_format(nine, bytes_from_pages(number(distances, "p90_pages"))));
	if (number(distances, "unknown_pages"))
		chart.caption = page_text(
			page, "Of %s nobody knows any more when they were evicted.",
			size_format(size, bytes_from_pages(number(distances, "unknown_pages"))));
	fputs("<div class=\"charts\">\n", sheet->html);
	sheet_bars(sheet, &chart);
	fputs("</div>\n", sheet->html);
}

const struct section section_distance = {
	.name = "distance",
	.title = "How far off it was",
	.has = has,
	.otherwise = "give what `refault explain TRACE --json` prints as a RUN.",
	.write = write,
};
