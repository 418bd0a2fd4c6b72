/* Misses and what is read again over memory. */
#include <math.h>

#include "measure/result.h"
#include "report/curve.h"
#include "report/section.h"

static bool has(const struct page *page)
{
	struct curves curves;
	bool any;

	curves_make(&curves, page);
	any = curves.count > 0;
	curves_deinit(&curves);
	return any;
}

enum what { WHAT_MISSES, WHAT_AGAIN };

static void curve_draw(const struct page *page, struct sheet *sheet, const struct curves *curves,
		       enum what what)
{
	struct line_series *series = page_alloc(page, curves->count, sizeof(*series));
	struct line_mark *marks = page_alloc(page, curves->count, sizeof(*marks));
	struct line_chart chart = {
		.name = what == WHAT_MISSES ? "curve-misses" : "curve-again",
		.title = what == WHAT_MISSES ? "Misses over memory" : "Read again over memory",
		.x_label = curves->is_bare ? "pages of memory" : "memory",
		.y_label = what == WHAT_MISSES ? "of all page accesses" : "read again",
		.summary = curves_knees(curves, page),
		.x_unit = curves->is_bare ? AXIS_COUNT : AXIS_BYTES,
		.y_unit = what == WHAT_MISSES ? AXIS_PERCENT : AXIS_BYTES,
		.has_points = true,
		.series = series,
		.marks = marks,
	};

	for (size_t i = 0; i < curves->count; i++) {
		const struct curve *curve = &curves->at[i];
		double *x = page_alloc(page, curve->count, sizeof(*x));
		double *y = page_alloc(page, curve->count, sizeof(*y));
		bool is_known = false;

		for (size_t k = 0; k < curve->count; k++) {
			const struct curve_point *point = &curve->points[k];

			x[k] = (double)point->memory;
			y[k] = what == WHAT_AGAIN    ? curve_again(point)
			       : point->misses_known ? 100 * point->misses / point->accesses
						     : NAN;
			is_known |= isfinite(y[k]);
		}
		if (!is_known)
			continue;
		/* Sizes that double are as far from each other as the last two. */
		chart.x_is_log |= x[curve->count - 1] >= 8 * x[0];
		series[chart.series_count++] = (struct line_series){
			.name = curve->name, .x = x, .y = y, .count = curve->count};
		if (isfinite(curve->knee))
			marks[chart.mark_count++] =
				(struct line_mark){.x = curve->knee, .text = "knee: 90 % gone"};
	}
	if (chart.series_count)
		sheet_lines(sheet, &chart);
}

static void write(const struct page *page, struct sheet *sheet)
{
	struct curves curves;

	curves_make(&curves, page);
	fputs("<div class=\"charts\">\n", sheet->html);
	curve_draw(page, sheet, &curves, WHAT_MISSES);
	curve_draw(page, sheet, &curves, WHAT_AGAIN);
	fputs("</div>\n", sheet->html);
	curves_deinit(&curves);
}

const struct section section_curve = {
	.name = "memory",
	.title = "How much memory would do",
	.has = has,
	.otherwise = "give runs that differ in --memory (or --cgroup-limit) only.",
	.write = write,
};
