#include "report/explanation.h"

#include <inttypes.h>
#include <string.h>

#include "base/glyph.h"
#include "base/size.h"
#include "measure/explanation.h"
#include "measure/lint.h"
#include "report/lint.h"
#include "report/name.h"
#include "report/report.h"
#include "report/report_private.h"
#include "report/sparkline.h"
#include "report/table.h"

enum {
	VICTIMS_SHOWN = 10,
	EVICTORS_SHOWN = 8,
	LINTS_SHOWN = 8,
	SPARK_COLUMNS = 40,
	BAR = 30,
	AGE_BAR = 22
};

/* Nine in ten of it in so much of the file: nowhere in particular. */
enum { ALL_OVER_PERCENT = 75 };

#define OWN_BLOCKS "(the file system's own)"

/* ---- the answer ---- */

static void asked_print(FILE *out, const struct explanation_asked *asked)
{
	char name[NAME_TEXT_BYTES];

	if (asked->path)
		fprintf(out, "  of file %s", name_show(name, asked->path, NAME_COLUMNS_MAX));
	if (asked->stream)
		fprintf(out, "  by stream %s", name_show(name, asked->stream, NAME_COLUMNS_MAX));
	if (asked->at)
		fprintf(out, "  at %s", asked->at);
	if (asked->path || asked->stream || asked->at)
		fputc('\n', out);
}

static void answer_print(FILE *out, const struct explanation *story, const struct result *result,
			 const struct explanation_asked *asked)
{
	char again[SIZE_TEXT_BYTES], read[SIZE_TEXT_BYTES], ops[2 * SIZE_TEXT_BYTES],
		all[2 * SIZE_TEXT_BYTES];

	fputc('\n', out);
	asked_print(out, asked);
	if (story->pages == 0) {
		fprintf(out,
			"  Nothing%s was read again after it had been evicted: all %s that were "
			"read "
			"had to be.\n",
			asked->path || asked->stream || asked->at ? " that was asked for" : "",
			size_format(read, result->totals.read_bytes));
		return;
	}
	fprintf(out, "  %s of %s were read again, by %s of %s operations.\n",
		size_format(again, bytes_from_pages(story->pages)),
		size_format(read, result->totals.read_bytes), count_format(ops, story->ops),
		count_format(all, story->op_count));
}

/* ---- what came back ---- */

static const char *hot_part(char text[80], const struct explained_victim *victim)
{
	char from[SIZE_TEXT_BYTES], to[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
	uint64_t end = victim->hot_first + victim->hot_pages;

	if (victim->hot_pages * 100 >= victim->file_pages * ALL_OVER_PERCENT)
		return "all over it";
	snprintf(text, 80, "%s .. %s: %s", size_format(from, bytes_from_pages(victim->hot_first)),
		 size_format(to, bytes_from_pages(end)),
		 share_format(share, victim->hot_again, victim->pages));
	return text;
}

static const char *evictors_text(char text[120], const struct explained_victim *victim)
{
	char name[NAME_TEXT_BYTES], share[SHARE_TEXT_BYTES];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < victim->evictors.count && i < 2; i++)
		used += (size_t)snprintf(
			text + used, 120 - used, "%s%s %s", i ? "  " : "",
			name_show(name, victim->evictors.at[i].name, 12),
			share_format(share, victim->evictors.at[i].pages, victim->pages));
	return text;
}

static void victims_print(FILE *out, const struct explanation *story, bool colour)
{
	struct table *table = table_create();
	char name[NAME_TEXT_BYTES], text[120];

	table_column(table, "file", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "read by", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "again", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "most of it in", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "evicted by", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < story->victims.count && i < VICTIMS_SHOWN; i++) {
		const struct explained_victim *victim = &story->victims.at[i];

		table_text(table, name_show(name, victim->path ? victim->path : OWN_BLOCKS, 26));
		table_text(table, name_show(name, victim->stream, 14));
		table_size(table, bytes_from_pages(victim->pages));
		table_text(table, hot_part(text, victim));
		table_text(table, evictors_text(text, victim));
	}
	report_heading(out, "what came back", colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
	if (story->victims.count > VICTIMS_SHOWN)
		fprintf(out, "  ... and %zu more files (--json has all)\n",
			story->victims.count - VICTIMS_SHOWN);
}

/* Where in the file: of the worst few that have more than one part. */
static void places_print(FILE *out, const struct explanation *story, bool colour)
{
	char name[NAME_TEXT_BYTES], size[SIZE_TEXT_BYTES];
	bool is_first = true;

	for (size_t i = 0; i < story->victims.count && i < 3; i++) {
		const struct explained_victim *victim = &story->victims.at[i];
		size_t columns =
			victim->bucket_count < SPARK_COLUMNS ? victim->bucket_count : SPARK_COLUMNS;

		if (victim->bucket_count < 8)
			continue;
		if (is_first)
			report_heading(out, "where in the file", colour);
		is_first = false;
		fprintf(out, "  %-26s 0 ",
			name_show(name, victim->path ? victim->path : OWN_BLOCKS, 26));
		sparkline_print(out, victim->buckets, victim->bucket_count, columns, 0,
				sparkline_most(victim->buckets, victim->bucket_count, columns));
		fprintf(out, " %s\n", size_format(size, bytes_from_pages(victim->file_pages)));
	}
}

/* ---- who, and when ---- */

static void slices_print(FILE *out, const char *title, const uint64_t *slices, uint32_t count,
			 uint64_t most, uint64_t pages)
{
	char size[SIZE_TEXT_BYTES], name[NAME_TEXT_BYTES];
	size_t columns = count < SPARK_COLUMNS ? count : SPARK_COLUMNS;

	fprintf(out, "  %-26s ", name_show(name, title, 26));
	sparkline_print(out, slices, count, columns, 0, most);
	fprintf(out, "  %10s\n", size_format(size, bytes_from_pages(pages)));
}

/* The part in which most happened. */
static void busiest_print(FILE *out, const struct explanation *story,
			  const struct explained_evictor *evictor)
{
	char from[2 * SIZE_TEXT_BYTES], to[2 * SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES],
		name[NAME_TEXT_BYTES];
	uint32_t busiest = 0;
	uint64_t end;

	for (uint32_t i = 0; i < story->slice_count; i++)
		busiest = evictor->slices[i] > evictor->slices[busiest] ? i : busiest;
	end = (busiest + 1) * story->slice_ops;
	fprintf(out, "  Most by %s in operations %s to %s: %s.\n",
		name_show(name, evictor->stream, NAME_COLUMNS),
		count_format(from, busiest * story->slice_ops + 1),
		count_format(to, end < story->op_count ? end : story->op_count),
		share_format(share, evictor->slices[busiest], evictor->dated));
}

static void evictors_print(FILE *out, const struct explanation *story, bool colour)
{
	uint64_t most = 0;
	size_t columns = story->slice_count < SPARK_COLUMNS ? story->slice_count : SPARK_COLUMNS;
	bool is_dated = false;

	for (size_t i = 0; i < story->evictors.count; i++) {
		uint64_t here =
			sparkline_most(story->evictors.at[i].slices, story->slice_count, columns);

		most = here > most ? here : most;
		is_dated |= story->evictors.at[i].dated > 0;
	}
	report_heading(out, "who had pushed it out, and when (over the run's operations)", colour);
	for (size_t i = 0; i < story->evictors.count && i < EVICTORS_SHOWN; i++)
		slices_print(out, story->evictors.at[i].stream, story->evictors.at[i].slices,
			     story->slice_count, most, story->evictors.at[i].pages);
	slices_print(out, "read again", story->slices, story->slice_count,
		     sparkline_most(story->slices, story->slice_count, columns), story->pages);
	if (is_dated)
		busiest_print(out, story, &story->evictors.at[0]);
}

/* ---- how much more memory ---- */

/* Pages that came back with a distance of at most so many. */
static uint64_t within(const struct histogram *distances, uint64_t pages)
{
	uint64_t sum = 0;

	if (!distances->buckets)
		return 0;
	for (uint32_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (histogram_bucket_high(bucket) > pages)
			break;
		sum += distances->buckets[bucket];
	}
	return pages >= distances->most ? distances->count : sum;
}

static void bar_print(FILE *out, uint64_t part, uint64_t whole, uint64_t columns)
{
	uint64_t filled = whole ? (part * columns + whole / 2) / whole : 0;

	for (uint64_t i = 0; i < columns; i++)
		fputs(glyph(i < filled ? GLYPH_FULL : GLYPH_EMPTY), out);
}

static void distances_print(FILE *out, const struct explanation *story, const struct result *result,
			    bool colour)
{
	char size[SIZE_TEXT_BYTES], memory[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES], text[200];
	uint64_t before = 0, pages = 256;

	if (story->distances.count == 0)
		return;
	report_heading(out, "how much had aged out in between (refault distance)", colour);
	for (; before < story->distances.count && pages; pages *= 2) {
		uint64_t now = within(&story->distances, pages);

		if (now - before > story->distances.count / 200) {
			fprintf(out, "  up to %9s ", size_format(size, bytes_from_pages(pages)));
			bar_print(out, now - before, story->distances.count, BAR);
			fprintf(out, " %6s   in all %s\n",
				share_format(share, now - before, story->distances.count),
				share_format(memory, now, story->distances.count));
		}
		before = now;
	}
	snprintf(text, sizeof(text),
		 "With at most %s more than these %s nine in ten would have stayed; `refault "
		 "replay` with it shows how many do.",
		 size_format(size, bytes_from_pages(explanation_distance(story, 900000))),
		 size_format(memory, result->memory_bytes));
	fputs("  ", out);
	report_wrapped(out, text, INDENT);
	if (story->unknown)
		fprintf(out, "  Of %s nobody knows any more when they were evicted.\n",
			size_format(size, bytes_from_pages(story->unknown)));
}

/* ---- how old they were ---- */

/* "4.19 s", "1,024 ops" */
static const char *age_text(char text[2 * SIZE_TEXT_BYTES], uint64_t age, bool by_time)
{
	char count[2 * SIZE_TEXT_BYTES];

	if (by_time)
		return time_format(text, age);
	snprintf(text, 2 * SIZE_TEXT_BYTES, "%.20s ops", count_format(count, age));
	return text;
}

static void age_part_print(FILE *out, const struct histogram *ages, uint64_t from, uint64_t to)
{
	uint64_t part = within(ages, to) - (from ? within(ages, from) : 0);
	char share[SHARE_TEXT_BYTES];

	bar_print(out, part, ages->count, AGE_BAR);
	fprintf(out, " %6s", share_format(share, part, ages->count));
}

static void ages_print(FILE *out, const struct explained_ages *ages, bool colour)
{
	const struct histogram *arrived = ages->by_time ? &ages->arrived_ns : &ages->arrived_ops;
	const struct histogram *used = ages->by_time ? &ages->used_ns : &ages->used_ops;
	char text[2 * SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
	uint64_t most = arrived->most > used->most ? arrived->most : used->most, from = 0,
		 to = ages->by_time ? NS_PER_US : 1;

	if (!arrived->count)
		return;
	report_heading(out, "how old pages were when they were evicted", colour);
	fprintf(out, "  %17s %-*s          %s\n", "", AGE_BAR, "since they came in",
		"since last asked for");
	for (; from < most || from == 0; from = to, to = explained_age_next(to)) {
		uint64_t least = (arrived->count + used->count) / 400;
		uint64_t here = within(arrived, to) - (from ? within(arrived, from) : 0) +
				within(used, to) - (from ? within(used, from) : 0);

		if (here <= least)
			continue;
		fprintf(out, "  up to %11s ", age_text(text, to, ages->by_time));
		age_part_print(out, arrived, from, to);
		fputs("   ", out);
		age_part_print(out, used, from, to);
		fputc('\n', out);
	}
	if (ages->never_used)
		fprintf(out, "  %s of %s evicted pages were never asked for\n",
			share_format(share, ages->never_used, ages->pages),
			count_format(text, ages->pages));
}

/* ---- the rest ---- */

static void shrinkers_print(FILE *out, const struct result *result, bool colour)
{
	static const enum counter_id shown[] = {
		COUNTER_dentries_allocated, COUNTER_dentries_evicted,   COUNTER_inodes_allocated,
		COUNTER_inodes_evicted,     COUNTER_inodes_reallocated, COUNTER_slab_bytes};
	struct table *table;

	if (!result_knows(result, COUNTER_inodes_evicted) ||
	    (result->totals.inodes_evicted == 0 && result->totals.dentries_evicted == 0))
		return;
	table = table_create();
	table_column(table, "", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		char name[64];
		size_t at = 0;

		for (const char *from = counter_name(shown[i]); *from && at < 63; from++)
			name[at++] = *from == '_' ? ' ' : *from;
		name[at] = '\0';
		table_text(table, shown[i] == COUNTER_slab_bytes ? "slab in the end" : name);
		counter_cell(table, &result->totals, result->known, shown[i]);
	}
	report_heading(out, "what the shrinkers did", colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

static void lints_print(FILE *out, const struct lint_report *lints, bool colour)
{
	size_t shown = 0, left = 0;
	char text[400];

	for (size_t i = 0; i < lints->findings.count; i++) {
		const struct lint_finding *finding = lints->findings.at[i];

		/* All of the above is about that. */
		if (strcmp(finding->id, "read-again") == 0)
			continue;
		if (shown == LINTS_SHOWN) {
			left++;
			continue;
		}
		if (shown++ == 0)
			report_heading(out, "what was done without need (`refault lint` says more)",
				       colour);
		snprintf(text, sizeof(text), "%s%s%s: %s", finding->id,
			 finding->stream ? " by " : "", finding->stream ? finding->stream : "",
			 finding->title);
		fputs("  ", out);
		report_wrapped(out, text, 4);
	}
	if (left)
		fprintf(out, "  ... and %zu more\n", left);
}

static const char *place_text(char text[64], const struct explained_where *where)
{
	if (where->op == 0)
		return "?";
	if (where->line)
		snprintf(text, 64, "%" PRIu64 " (line %" PRIu64 ")", where->op, where->line);
	else
		snprintf(text, 64, "%" PRIu64, where->op);
	return text;
}

static void list_print(FILE *out, const struct explanation *story, bool colour)
{
	struct table *table = table_create();
	char text[64], time[SIZE_TEXT_BYTES], name[NAME_TEXT_BYTES];

	table_column(table, "operation", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "at", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "what", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "by", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "offset", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "again", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "evicted by", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "in operation", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < story->list.count; i++) {
		const struct explained_op *op = &story->list.at[i];
		char what[NAME_TEXT_BYTES + 40];

		table_text(table, place_text(text, &op->where));
		table_text(table, time_format(time, op->where.time_ns));
		snprintf(what, sizeof(what), "%s %s", op_kind_name(op->kind),
			 name_show(name, op->path ? op->path : OWN_BLOCKS, 14));
		table_text(table, what);
		table_text(table, name_show(name, op->stream, 10));
		table_size(table, bytes_from_pages(op->first_page));
		table_size(table, bytes_from_pages(op->pages));
		table_text(table, name_show(name, op->evictor, 10));
		table_text(table, place_text(text, &op->evicted));
	}
	report_heading(out, "each operation that read something again", colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

void explanation_text(FILE *out, const struct explanation *explanation,
		      const struct lint_report *lints, const struct result *result,
		      const struct explanation_asked *asked, const struct report_options *options)
{
	report_headline(out, result, options, true);
	answer_print(out, explanation, result, asked);
	if (explanation->pages) {
		victims_print(out, explanation, options->colour);
		places_print(out, explanation, options->colour);
		evictors_print(out, explanation, options->colour);
		distances_print(out, explanation, result, options->colour);
	}
	ages_print(out, &explanation->ages, options->colour);
	samples_print(out, result);
	shrinkers_print(out, result, options->colour);
	lints_print(out, lints, options->colour);
	if (asked->wants_list && explanation->list.count)
		list_print(out, explanation, options->colour);
}

/* ---- JSON ---- */

static json_t *where_json(const struct explained_where *where)
{
	if (where->op == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "operation", json_number(where->op), "line",
			 where->line ? json_number(where->line) : json_null(), "time_ns",
			 json_number(where->time_ns));
}

static json_t *numbers_json(const uint64_t *values, size_t count)
{
	json_t *json = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(json, json_number(values[i]));
	return json;
}

static json_t *victim_json(const struct explained_victim *victim)
{
	json_t *evictors = json_object();
	bool is_known = victim->unknown < victim->pages;

	for (size_t i = 0; i < victim->evictors.count; i++)
		json_object_set_new(evictors, victim->evictors.at[i].name,
				    json_number(victim->evictors.at[i].pages));
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:{s:o, s:o}, s:o, s:o, s:o, "
		"s:o, s:o, s:o}",
		"stream", json_text(victim->stream), "path", json_text(victim->path),
		"reread_pages", json_number(victim->pages), "operations", json_number(victim->ops),
		"file_pages", json_number(victim->file_pages), "hot", "first_page",
		json_number(victim->hot_first), "pages", json_number(victim->hot_pages),
		"reread_pages", json_number(victim->hot_again), "parts", "pages",
		json_number(victim->bucket_pages), "reread_pages",
		numbers_json(victim->buckets, victim->bucket_count), "evicted_by", evictors,
		"distance_p50_pages", is_known ? json_number(victim->distance_half) : json_null(),
		"distance_p90_pages", is_known ? json_number(victim->distance_most) : json_null(),
		"pages_of_unknown_distance", json_number(victim->unknown), "first",
		where_json(&victim->first), "last", where_json(&victim->last));
}

static json_t *list_json(const struct explanation *story)
{
	json_t *json = json_array();

	for (size_t i = 0; i < story->list.count; i++) {
		const struct explained_op *op = &story->list.at[i];

		json_array_append_new(
			json,
			json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "at",
				  where_json(&op->where), "op", op_kind_name(op->kind), "stream",
				  json_text(op->stream), "path", json_text(op->path), "first_page",
				  json_number(op->first_page), "reread_pages",
				  json_number(op->pages), "evicted_by", json_text(op->evictor),
				  "evicted_at", where_json(&op->evicted)));
	}
	return json;
}

static json_t *buckets_json(const struct histogram *histogram)
{
	json_t *buckets = json_array();

	for (uint32_t i = 0; histogram->buckets && i < HISTOGRAM_BUCKETS; i++) {
		if (histogram->buckets[i])
			json_array_append_new(
				buckets, json_pack("[o, o]", json_number(histogram_bucket_low(i)),
						   json_number(histogram->buckets[i])));
	}
	return buckets;
}

static json_t *age_json(const struct histogram *ages)
{
	if (!ages->count)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "pages", json_number(ages->count), "p50",
			 json_number(histogram_quantile(ages, 500000)), "p90",
			 json_number(histogram_quantile(ages, 900000)), "most",
			 json_number(ages->most), "buckets", buckets_json(ages));
}

static json_t *ages_json(const struct explained_ages *ages)
{
	return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "evicted_pages",
			 json_number(ages->pages), "never_used_pages",
			 json_number(ages->never_used), "by_time", ages->by_time, "arrived_ops",
			 age_json(&ages->arrived_ops), "arrived_ns", age_json(&ages->arrived_ns),
			 "used_ops", age_json(&ages->used_ops), "used_ns",
			 age_json(&ages->used_ns));
}

static json_t *distances_json(const struct explanation *story)
{
	json_t *json = json_object();

	json_object_set_new(json, "known_pages", json_number(story->distances.count));
	json_object_set_new(json, "unknown_pages", json_number(story->unknown));
	json_object_set_new(json, "p50_pages",
			    story->distances.count
				    ? json_number(explanation_distance(story, 500000))
				    : json_null());
	json_object_set_new(json, "p90_pages",
			    story->distances.count
				    ? json_number(explanation_distance(story, 900000))
				    : json_null());
	json_object_set_new(json, "most_pages",
			    story->distances.count ? json_number(story->distances.most)
						   : json_null());
	json_object_set_new(json, "buckets", buckets_json(&story->distances));
	return json;
}

static json_t *slices_json(const struct explanation *story)
{
	json_t *json = json_object(), *evictors = json_object();

	for (size_t i = 0; i < story->evictors.count; i++) {
		const struct explained_evictor *evictor = &story->evictors.at[i];

		json_object_set_new(evictors, evictor->stream,
				    json_pack("{s:o, s:o}", "pages", json_number(evictor->pages),
					      "evicted_pages",
					      numbers_json(evictor->slices, story->slice_count)));
	}
	json_object_set_new(json, "operations_each", json_number(story->slice_ops));
	json_object_set_new(json, "time_ns", numbers_json(story->slice_times, story->slice_count));
	json_object_set_new(json, "reread_pages", numbers_json(story->slices, story->slice_count));
	json_object_set_new(json, "evictors", evictors);
	return json;
}

json_t *explanation_json(const struct explanation *explanation, const struct lint_report *lints,
			 const struct result *result, const struct explanation_asked *asked,
			 const struct report_options *options)
{
	json_t *json = report_json(result, options), *story = json_object(),
	       *victims = json_array(), *found = lint_report_json(lints, result, options);

	for (size_t i = 0; i < explanation->victims.count; i++)
		json_array_append_new(victims, victim_json(&explanation->victims.at[i]));
	json_object_set_new(story, "asked",
			    json_pack("{s:o, s:o, s:o}", "path", json_text(asked->path), "stream",
				      json_text(asked->stream), "at", json_text(asked->at)));
	json_object_set_new(story, "operations", json_number(explanation->op_count));
	json_object_set_new(story, "operations_that_read_again", json_number(explanation->ops));
	json_object_set_new(story, "reread_pages", json_number(explanation->pages));
	json_object_set_new(story, "reread_pages_of_all", json_number(explanation->pages_all));
	json_object_set_new(story, "victims", victims);
	json_object_set_new(story, "distances", distances_json(explanation));
	json_object_set_new(story, "eviction_ages", ages_json(&explanation->ages));
	json_object_set_new(story, "over_time", slices_json(explanation));
	json_object_set(story, "lints", json_object_get(found, "lints"));
	if (asked->wants_list)
		json_object_set_new(story, "list", list_json(explanation));
	json_decref(found);
	json_object_set_new(json, "explanation", story);
	return json;
}
