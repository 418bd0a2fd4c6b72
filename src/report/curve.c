#include "report/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result.h"
#include "report/page.h"
#include "report/report_private.h"
#include "report/runs.h"

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

static struct curve *curve_of(struct curves *curves, const struct page *page, size_t run)
{
	char *key = key_of(page, run);
	size_t i = 0;

	while (i < curves->count && strcmp(curves->at[i].key, key) != 0)
		i++;
	if (i < curves->count || i == CURVES_MAX) {
		free(key);
		return i == CURVES_MAX ? NULL : &curves->at[i];
	}
	curves->at[curves->count++] = (struct curve){
		.key = key,
		.name = page->runs[run].run.policy ? page->runs[run].run.policy
						   : run_setting(&page->runs[run].run),
		.points = page_alloc(page, page->count, sizeof(struct curve_point)),
		.knee = NAN,
	};
	return &curves->at[i];
}

static void point_add(struct curve *curve, uint64_t memory, const struct result *result)
{
	size_t at = 0;
	struct curve_point *point;

	while (at < curve->count && curve->points[at].memory < memory)
		at++;
	point = &curve->points[at];
	if (at == curve->count || point->memory != memory) {
		memmove(point + 1, point, (curve->count++ - at) * sizeof(*point));
		*point = (struct curve_point){
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
	curve->runs++;
}

double curve_again(const struct curve_point *point)
{
	return point->again_known ? point->again / (double)point->runs : NAN;
}

static void knee_find(struct curve *curve)
{
	double target = curve_again(&curve->points[0]) / 10;

	if (!(target > 0))
		return;
	for (size_t i = 1; i < curve->count; i++) {
		double before = curve_again(&curve->points[i - 1]),
		       here = curve_again(&curve->points[i]);
		double from = (double)curve->points[i - 1].memory;

		if (!(here <= target))
			continue;
		if (isfinite(before))
			curve->knee = from + ((double)curve->points[i].memory - from) *
						     (before - target) / (before - here);
		return;
	}
}

void curves_make(struct curves *curves, const struct page *page)
{
	size_t kept = 0;

	*curves = (struct curves){.is_bare = page->options[0].bare_pages != 0};
	for (size_t i = 0; i < page->count; i++) {
		struct curve *curve = memory_of(page, i) ? curve_of(curves, page, i) : NULL;

		if (curve)
			point_add(curve, memory_of(page, i), &page->runs[i].result);
	}
	for (size_t i = 0; i < curves->count; i++) {
		if (curves->at[i].count < 2) {
			free(curves->at[i].key);
			continue;
		}
		knee_find(&curves->at[i]);
		curves->at[kept++] = curves->at[i];
	}
	curves->count = kept;
}

void curves_deinit(struct curves *curves)
{
	for (size_t i = 0; i < curves->count; i++)
		free(curves->at[i].key);
}

/* "90 % of the re-reads are gone at 24.5 GiB (linux-6.18)." */
const char *curves_knees(const struct curves *curves, const struct page *page)
{
	const char *text = "";
	char memory[AXIS_TEXT_BYTES];

	for (size_t i = 0; i < curves->count; i++) {
		const struct curve *curve = &curves->at[i];

		if (isfinite(curve->knee))
			text = page_text(page, "%s%s90 %% of the re-reads are gone at %s (%s).",
					 text, *text ? " " : "",
					 axis_format(memory, curve->knee,
						     curves->is_bare ? AXIS_COUNT : AXIS_BYTES),
					 curve->name);
		else
			text = page_text(
				page, "%s%sNone of these sizes removes 90 %% of the re-reads (%s).",
				text, *text ? " " : "", curve->name);
	}
	return text;
}
