/* How old pages were when they were evicted: since they came in, and since they were last asked for. */
#include "base/size.h"
#include "measure/explanation.h"
#include "measure/result.h"
#include "report/name.h"
#include "report/section.h"

enum { BARS_MAX = 40 };

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const json_t *ages_of(const struct page *page)
{
	const struct stored *run;

	return json_object_get(page_explanation(page, &run), "eviction_ages");
}

static bool has(const struct page *page)
{
	return number(ages_of(page), "evicted_pages") > 0;
}

/* Pages older than `from` and at most `to`: buckets are narrow. */
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

static const char *age_text(const struct page *page, uint64_t age, bool by_time)
{
	char text[2 * SIZE_TEXT_BYTES];

	return by_time ? page_text(page, "%s", time_format(text, age))
		       : page_text(page, "%s ops", count_format(text, age));
}

static void draw(const struct page *page, struct sheet *sheet, const char *name, const char *title,
		 const json_t *ages, uint64_t least, bool by_time)
{
	double values[BARS_MAX];
	const char *labels[BARS_MAX];
	uint64_t most = number(ages, "most"), from = 0, to = by_time ? NS_PER_US : 1;
	const json_t *buckets = json_object_get(ages, "buckets");
	struct bar_chart chart = {
		.name = name,
		.title = title,
		.bar_label = "age, at most",
		.value_label = "evicted",
		.unit = AXIS_BYTES,
		.labels = labels,
		.values = values,
		.mark = SIZE_MAX,
	};

	if (!number(ages, "pages"))
		return;
	/* Begin where there is something: a microsecond is far from an hour. */
	for (; to < least; from = to)
		to = explained_age_next(to);
	for (; chart.count < BARS_MAX && (from < most || from == 0);
	     from = to, to = explained_age_next(to)) {
		values[chart.count] = (double)bytes_from_pages(between(buckets, from, to));
		labels[chart.count++] = age_text(page, to, by_time);
	}
	chart.summary =
		page_text(page,
			  "Half of what was evicted was younger than %s, nine in ten younger "
			  "than %s.",
			  age_text(page, number(ages, "p50"), by_time),
			  age_text(page, number(ages, "p90"), by_time));
	sheet_bars(sheet, &chart);
}

static uint64_t least_of(const json_t *ages)
{
	const json_t *first = json_array_get(json_object_get(ages, "buckets"), 0);

	return (uint64_t)json_integer_value(json_array_get(first, 0));
}

static void write(const struct page *page, struct sheet *sheet)
{
	const json_t *ages = ages_of(page);
	bool by_time = json_is_true(json_object_get(ages, "by_time"));
	const json_t *arrived = json_object_get(ages, by_time ? "arrived_ns" : "arrived_ops");
	const json_t *used = json_object_get(ages, by_time ? "used_ns" : "used_ops");
	uint64_t least = least_of(arrived);

	/* The same bars in both pictures. */
	if (number(used, "pages") && least_of(used) < least)
		least = least_of(used);
	fputs("<div class=\"charts\">\n", sheet->html);
	draw(page, sheet, "age-arrived", "Age at eviction: since it came in", arrived, least,
	     by_time);
	draw(page, sheet, "age-used", "Age at eviction: since it was last asked for", used, least,
	     by_time);
	fputs("</div>\n", sheet->html);
}

const struct section section_eviction_age = {
	.name = "age",
	.title = "How old pages were when they were evicted",
	.has = has,
	.otherwise = "give what `refault explain TRACE --json` prints as a RUN.",
	.write = write,
};
