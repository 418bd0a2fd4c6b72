/*
 * How long operations took: each share of them, from the median to the slowest
 *
 * The axis is nines: half way from 99 % to 99.9 % there are as many of the slowest left as the middle of a
 * logarithm says.
 */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "measure/result.h"
#include "report/section.h"

enum { STEPS = 8, NINES = 6, KINDS_MAX = 6, MILLION = 1000000 };

static uint64_t count_of(const struct page *page, const char *name)
{
	uint64_t count = 0;

	for (size_t i = 0; i < page_drawn(page); i++) {
		const struct result_latency *latency =
			result_latency_find(&page->runs[i].result, name);

		count += latency ? latency->ns.count : 0;
	}
	return count;
}

static bool has(const struct page *page)
{
	for (size_t i = 0; i < page_drawn(page); i++)
		for (size_t k = 0; k < page->runs[i].result.latency_count; k++)
			if (page->runs[i].result.latencies[k].ns.count)
				return true;
	return false;
}

/* Of one operation in so many; ends with the slowest there is. */
static void series_add(const struct page *page, struct line_chart *chart,
		       struct line_series *series, const struct histogram *ns, const char *name)
{
	/* 10^(-k/8), in millionths. */
	static const uint32_t tails[STEPS] = {1000000, 749894, 562341, 421697,
					      316228,  237137, 177828, 133352};
	size_t count = 0;
	double *x = page_alloc(page, STEPS * NINES + 1, sizeof(*x));
	double *y = page_alloc(page, STEPS * NINES + 1, sizeof(*y));
	uint32_t power = 1;

	for (uint32_t nines = 0; nines < NINES; nines++, power *= 10) {
		for (uint32_t step = 0; step < STEPS; step++) {
			uint32_t tail = tails[step] / power;

			/* Fewer than one operation: that is the slowest already. */
			if ((double)tail / MILLION * (double)ns->count < 1)
				goto out;
			x[count] = nines + (double)step / STEPS;
			y[count++] = (double)histogram_quantile(ns, MILLION - tail);
		}
	}
out:
	x[count] = count ? x[count - 1] + 1.0 / STEPS : 0;
	y[count++] = (double)ns->most;
	series[chart->series_count++] =
		(struct line_series){.name = name, .x = x, .y = y, .count = count};
}

static const char *summary_add(const struct page *page, const char *text,
			       const struct histogram *ns, const char *name)
{
	char half[SIZE_TEXT_BYTES], most[SIZE_TEXT_BYTES];

	return page_text(page, "%s %s %s and %s;", text ? text : "Median and p99:", name,
			 time_format(half, histogram_quantile(ns, 500000)),
			 time_format(most, histogram_quantile(ns, 990000)));
}

/* With a full stop at the end. */
static const char *summary_end(const struct page *page, const char *text)
{
	return page_text(page, "%.*s.", (int)strlen(text) - 1, text);
}

static struct line_chart chart_of(const char *name, const char *title, struct line_series *series)
{
	return (struct line_chart){
		.name = name,
		.title = title,
		.x_label = "share of the operations",
		.y_label = "took at most",
		.x_unit = AXIS_NINES,
		.y_unit = AXIS_NS,
		.y_is_log = true,
		.series = series,
	};
}

/* The kinds with the most operations, as they come; those that are no ops (transactions) are kinds as well. */
static size_t kinds_of(const struct page *page, const char *names[KINDS_MAX])
{
	size_t shown = 0;

	for (size_t i = 0; i < page_drawn(page); i++) {
		const struct result *result = &page->runs[i].result;

		for (size_t k = 0; k < result->latency_count && shown < KINDS_MAX; k++) {
			const char *name = result->latencies[k].name;
			size_t same = 0, above = 0;

			while (same < shown && strcmp(names[same], name) != 0)
				same++;
			for (size_t other = 0; other < result->latency_count; other++)
				above += count_of(page, result->latencies[other].name) >
					 count_of(page, name);
			if (same == shown && above < KINDS_MAX && count_of(page, name))
				names[shown++] = name;
		}
	}
	return shown;
}

static void write_one(const struct page *page, struct sheet *sheet)
{
	const char *names[KINDS_MAX];
	size_t kinds = kinds_of(page, names);
	struct line_series series[KINDS_MAX];
	struct line_chart chart = chart_of("latency", "How long operations took", series);

	for (size_t i = 0; i < kinds; i++) {
		const struct histogram *ns =
			&result_latency_find(&page->runs[0].result, names[i])->ns;

		series_add(page, &chart, series, ns, names[i]);
		chart.summary = summary_add(page, chart.summary, ns, names[i]);
	}
	chart.summary = summary_end(page, chart.summary);
	sheet_lines(sheet, &chart);
}

static void write_all(const struct page *page, struct sheet *sheet)
{
	const char *names[KINDS_MAX];
	size_t kinds = kinds_of(page, names);

	for (size_t k = 0; k < kinds; k++) {
		struct line_series series[PAGE_RUNS_DRAWN];
		struct line_chart chart =
			chart_of(page_text(page, "latency-%zu", k + 1),
				 page_text(page, "How long it took: %s", names[k]), series);

		for (size_t i = 0; i < page_drawn(page); i++) {
			const struct result_latency *latency =
				result_latency_find(&page->runs[i].result, names[k]);

			if (!latency || !latency->ns.count)
				continue;
			series_add(page, &chart, series, &latency->ns, page->names[i]);
			chart.summary =
				summary_add(page, chart.summary, &latency->ns, page->names[i]);
		}
		if (chart.series_count == 0)
			continue;
		chart.summary = summary_end(page, chart.summary);
		sheet_lines(sheet, &chart);
	}
}

static void write(const struct page *page, struct sheet *sheet)
{
	fputs("<div class=\"charts\">\n", sheet->html);
	if (page->count == 1)
		write_one(page, sheet);
	else
		write_all(page, sheet);
	fputs("</div>\n", sheet->html);
}

const struct section section_latency = {
	.name = "latency",
	.title = "Latency",
	.has = has,
	.otherwise = "latencies are kept with a device: --device, or a scenario's own.",
	.write = write,
};
