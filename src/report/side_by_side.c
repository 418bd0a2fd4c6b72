/*
 * The same input under several policies: a line each, then what they read at each mark and for each
 * stream.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "measure/result.h"
#include "report/advice.h"
#include "report/name.h"
#include "report/report.h"
#include "report/report_private.h"
#include "report/table.h"

static void policies_table(FILE *out, const struct result *results, size_t count,
			   const struct report_options *options)
{
	static const struct {
		enum counter_id id;
		const char *heading;
	} columns[] = {
		{COUNTER_read_bytes, "read"},
		{COUNTER_reread_bytes, "again"},
		{COUNTER_page_misses, "misses"},
		{COUNTER_refaults, "refaults"},
		{COUNTER_activations, "activated"},
		{COUNTER_write_bytes, "written"},
		{COUNTER_inodes_reallocated, "inodes again"},
		{COUNTER_active_file_pages, "active"},
		{COUNTER_slab_bytes, "slab"},
	};
	struct table *table = table_create();
	char name[NAME_TEXT_BYTES];

	table_column(table, "policy", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (result_knows(&results[0], columns[i].id))
			table_column(table, columns[i].heading, TABLE_UNIT, TABLE_HIDE_ZERO);
	}
	if (options->bare_pages)
		table_column(table, "of all", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = 0; i < count; i++) {
		const struct result *result = &results[i];

		table_text(table, name_show(name, result->policy, NAME_COLUMNS_MAX));
		for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
			if (result_knows(&results[0], columns[k].id))
				counter_cell(table, &result->totals, result->known, columns[k].id);
		}
		if (options->bare_pages)
			table_share(table, result->totals.page_misses,
				    result->totals.page_accesses);
	}
	fputc('\n', out);
	table_print(out, table, INDENT, options->colour);
	table_destroy(table);
}

/* One counter: a line each for marks or streams, a column a policy. */
static struct table *policies_across(const char *first, const struct result *results, size_t count)
{
	struct table *table = table_create();
	char name[NAME_TEXT_BYTES];

	table_column(table, first, TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < count; i++)
		table_column(table, name_show(name, results[i].policy, NAME_COLUMNS_MAX),
			     TABLE_UNIT, TABLE_KEEP);
	return table;
}

static void marks_across(FILE *out, const struct result *results, size_t count, enum counter_id id,
			 bool colour)
{
	struct table *table;
	size_t shown = marks_shown(&results[0]);
	char label[NAME_TEXT_BYTES];

	if (shown == 0)
		return;
	table = policies_across(id == COUNTER_read_bytes ? "read, at mark" : "misses, at mark",
				results, count);
	for (size_t m = 0; m < shown; m++) {
		size_t mark = mark_shown_at(&results[0], m);

		table_text(table, name_show(label, results[0].marks[mark].label, NAME_COLUMNS));
		for (size_t i = 0; i < count; i++)
			counter_cell(table, &results[i].marks[mark].counters, results[i].known, id);
	}
	fputc('\n', out);
	table_print(out, table, INDENT, colour);
	marks_left_out(out, &results[0]);
	table_destroy(table);
}

/* The stream of that name; results may differ in which streams did something. */
static const struct result_stream *stream_find(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->stream_count; i++) {
		if (strcmp(result->streams[i].name, name) == 0)
			return &result->streams[i];
	}
	return NULL;
}

static void streams_across(FILE *out, const struct result *results, size_t count,
			   enum counter_id id, bool colour)
{
	struct table *table;
	size_t *order, shown = results[0].stream_count;
	char name[NAME_TEXT_BYTES];

	if (shown < 2)
		return;
	order = streams_order(&results[0]);
	if (shown > STREAMS_SHOWN_MAX)
		shown = STREAMS_SHOWN_MAX;
	table = policies_across(id == COUNTER_reread_bytes ? "again, of stream"
							   : "misses, of stream",
				results, count);
	for (size_t s = 0; s < shown; s++) {
		const char *wanted = results[0].streams[order[s]].name;

		table_text(table, name_show(name, wanted, NAME_COLUMNS));
		for (size_t i = 0; i < count; i++) {
			const struct result_stream *stream = stream_find(&results[i], wanted);

			if (stream)
				stream_cell(table, stream, id);
			else
				table_text(table, "-");
		}
	}
	fputc('\n', out);
	table_print(out, table, INDENT, colour);
	if (shown < results[0].stream_count)
		fprintf(out, "%*s%zu more streams: --json has them all\n", INDENT, "",
			results[0].stream_count - shown);
	memory_free(order);
	table_destroy(table);
}

void report_side_by_side(FILE *out, const struct result *results, size_t count,
			 const struct report_options *options)
{
	bool bare = options->bare_pages != 0;

	report_headline(out, &results[0], options, false);
	policies_table(out, results, count, options);
	marks_across(out, results, count, bare ? COUNTER_page_misses : COUNTER_read_bytes,
		     options->colour);
	streams_across(out, results, count, bare ? COUNTER_page_misses : COUNTER_reread_bytes,
		       options->colour);
	fputc('\n', out);
	advice_side_by_side(out, results, count, options);
}
