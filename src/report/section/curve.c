/*
 * Misses and what is read again over memory, of runs that differ in nothing else but the seed
 *
 * The knee is where nine in ten of what is read again with the least memory of the runs are gone, on straight
 * lines between the runs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "measure/result.h"
#include "report/report_private.h"
#include "report/runs.h"
#include "report/section.h"

enum { GROUPS_MAX = SVG_SERIES };

/* A point: the mean over seeds. */
struct point {
	uint64_t memory;
	double again, misses, accesses;
	bool again_known, misses_known;
	size_t runs;
};

struct group {
	char *key;
	const char *name;
	struct point *points; /* by memory */
	size_t count;
	double knee; /* bytes; NAN: not within these runs */
};

struct groups {
	struct group at[GROUPS_MAX];
	size_t count;
	bool is_bare; /* plain caches: memory is pages */
};

/* Of a plain cache its pages. 0: not known. */
static uint64_t memory_of(const struct page *page, size_t run)
{
	return page->options[run].bare_pages ? page->options[run].bare_pages
					     : page->runs[run].run.memory_bytes;
}

/* All that has to be equal, as one text. Free with free(). */
static char *key_of(const struct page *page, size_t run)
{
	const struct stored *stored = &page->runs[run];
	json_t *machine = json_copy(json_object_get(stored->json, "machine")), *key;
	char *text;

	json_object_del(machine, "seed");
	json_object_del(machine, "memory_bytes");
	json_object_del(machine, "pages");
	key = json_pack("[o, s?, s?, s?, s?, b]", machine ? machine : json_null(),
			stored->run.digest, stored->run.input, stored->run.experiment,
			stored->run.version, page->options[run].bare_pages != 0);
	text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(key);
	return text ? text : strdup("");
}

static struct group *group_of(struct groups *groups, const struct page *page, size_t run)
{
	char *key = key_of(page, run);
	size_t i = 0;

	while (i < groups->count && strcmp(groups->at[i].key, key) != 0)
		i++;
	if (i < groups->count || i == GROUPS_MAX) {
		free(key);
		return i == GROUPS_MAX ? NULL : &groups->at[i];
	}
	groups->at[groups->count++] = (struct group){
		.key = key,
		.name = page->runs[run].run.policy ? page->runs[run].run.policy
						   : run_setting(&page->runs[run].run),
		.points = page_alloc(page, page->count, sizeof(struct point)),
		.knee = NAN,
	};
	return &groups->at[i];
}

static void point_add(struct group *group, uint64_t memory, const struct result *result)
{
	size_t at = 0;
	struct point *point;

	while (at < group->count && group->points[at].memory < memory)
		at++;
	point = &group->points[at];
	if (at == group->count || point->memory != memory) {
		memmove(point + 1, point, (group->count++ - at) * sizeof(*point));
		*point = (struct point){
			.memory = memory, .again_known = true, .misses_known = true};
	}
	point->again += (double)result->totals.reread_bytes;
	point->misses += (double)result->totals.page_misses;
	point->accesses += (double)result->totals.page_accesses;
	point->again_known &= result_knows(result, COUNTER_reread_bytes);
	point->misses_known &= result_knows(result, COUNTER_page_misses) &&
			       result_knows(result, COUNTER_page_accesses) &&
			       result->totals.page_accesses > 0;
	point->runs++;
}

static double again_of(const struct point *point)
{
	return point->again_known ? point->again / (double)point->runs : NAN;
}

static void knee_find(struct group *group)
{
	double target = again_of(&group->points[0]) / 10;

	if (!(target > 0))
		return;
	for (size_t i = 1; i < group->count; i++) {
		double before = again_of(&group->points[i - 1]), here = again_of(&group->points[i]);
		double from = (double)group->points[i - 1].memory;

		if (!(here <= target))
			continue;
		if (isfinite(before))
			group->knee = from + ((double)group->points[i].memory - from) *
						     (before - target) / (before - here);
		return;
	}
}

static void groups_make(struct groups *groups, const struct page *page)
{
	size_t kept = 0;

	*groups = (struct groups){.is_bare = page->options[0].bare_pages != 0};
	for (size_t i = 0; i < page->count; i++) {
		struct group *group = memory_of(page, i) ? group_of(groups, page, i) : NULL;

		if (group)
			point_add(group, memory_of(page, i), &page->runs[i].result);
	}
	for (size_t i = 0; i < groups->count; i++) {
		if (groups->at[i].count < 2) {
			free(groups->at[i].key);
			continue;
		}
		knee_find(&groups->at[i]);
		groups->at[kept++] = groups->at[i];
	}
	groups->count = kept;
}

static void groups_free(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		free(groups->at[i].key);
}

static bool has(const struct page *page)
{
	struct groups groups;
	bool any;

	groups_make(&groups, page);
	any = groups.count > 0;
	groups_free(&groups);
	return any;
}

/* "90 % of the re-reads are gone at 24.5 GiB (linux-6.18)." */
static const char *knees_text(const struct page *page, const struct groups *groups)
{
	const char *text = "";
	char memory[AXIS_TEXT_BYTES];

	for (size_t i = 0; i < groups->count; i++) {
		const struct group *group = &groups->at[i];

		if (isfinite(group->knee))
			text = page_text(page, "%s%s90 %% of the re-reads are gone at %s (%s).", text,
					 *text ? " " : "",
					 axis_format(memory, group->knee,
						     groups->is_bare ? AXIS_COUNT : AXIS_BYTES),
					 group->name);
		else
			text = page_text(page,
					 "%s%sNone of these sizes removes 90 %% of the re-reads (%s).",
					 text, *text ? " " : "", group->name);
	}
	return text;
}

enum what { WHAT_MISSES, WHAT_AGAIN };

static void curve_draw(const struct page *page, struct sheet *sheet, const struct groups *groups,
		       enum what what)
{
	struct line_series *series = page_alloc(page, groups->count, sizeof(*series));
	struct line_mark *marks = page_alloc(page, groups->count, sizeof(*marks));
	struct line_chart chart = {
		.name = what == WHAT_MISSES ? "curve-misses" : "curve-again",
		.title = what == WHAT_MISSES ? "Misses over memory" : "Read again over memory",
		.x_label = groups->is_bare ? "pages of memory" : "memory",
		.y_label = what == WHAT_MISSES ? "of all page accesses" : "read again",
		.summary = knees_text(page, groups),
		.x_unit = groups->is_bare ? AXIS_COUNT : AXIS_BYTES,
		.y_unit = what == WHAT_MISSES ? AXIS_PERCENT : AXIS_BYTES,
		.has_points = true,
		.series = series,
		.marks = marks,
	};

	for (size_t i = 0; i < groups->count; i++) {
		const struct group *group = &groups->at[i];
		double *x = page_alloc(page, group->count, sizeof(*x));
		double *y = page_alloc(page, group->count, sizeof(*y));
		bool is_known = false;

		for (size_t k = 0; k < group->count; k++) {
			const struct point *point = &group->points[k];

			x[k] = (double)point->memory;
			y[k] = what == WHAT_AGAIN ? again_of(point)
			       : point->misses_known ? 100 * point->misses / point->accesses
						     : NAN;
			is_known |= isfinite(y[k]);
		}
		if (!is_known)
			continue;
		/* Sizes that double are as far from each other as the last two. */
		chart.x_is_log |= x[group->count - 1] >= 8 * x[0];
		series[chart.series_count++] = (struct line_series){
			.name = group->name, .x = x, .y = y, .count = group->count};
		if (isfinite(group->knee))
			marks[chart.mark_count++] =
				(struct line_mark){.x = group->knee, .text = "knee: 90 % gone"};
	}
	if (chart.series_count)
		sheet_lines(sheet, &chart);
}

static void write(const struct page *page, struct sheet *sheet)
{
	struct groups groups;

	groups_make(&groups, page);
	fputs("<div class=\"charts\">\n", sheet->html);
	curve_draw(page, sheet, &groups, WHAT_MISSES);
	curve_draw(page, sheet, &groups, WHAT_AGAIN);
	fputs("</div>\n", sheet->html);
	groups_free(&groups);
}

const struct section section_curve = {
	.name = "memory",
	.title = "How much memory would do",
	.has = has,
	.otherwise = "give runs that differ in --memory (or --cgroup-limit) only.",
	.write = write,
};
