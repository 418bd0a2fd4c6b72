#include "report/trace_summary.h"

#include <string.h>

#include "base/histogram.h"
#include "base/size.h"
#include "op/path.h"
#include "op/summary.h"
#include "op/trace.h"
#include "report/name.h"
#include "report/report.h"
#include "report/report_private.h"
#include "report/table.h"

/* Files in JSON: enough for a program to find its own; the text shows fewer. */
enum { FILES_LISTED_MAX = 1000, FILES_SHOWN = 10 };

/* ---- notes ---- */

/* Notes that have a count of 0 are for programs: there were none. */
static bool is_worth_a_word(const struct trace_note *note)
{
	return !note->is_counted || note->count;
}

json_t *trace_notes_json(const struct op_source *source)
{
	json_t *notes = json_array();
	const struct trace_note *note;

	for (size_t i = 0; (note = trace_note_at(source, i)); i++) {
		json_t *object = json_object();
		char text[TRACE_NOTE_BYTES];

		json_object_set_new(object, "key", json_text(note->key));
		json_object_set_new(object, "count",
				    note->is_counted ? json_number(note->count) : json_null());
		json_object_set_new(object, "line",
				    note->line ? json_number(note->line) : json_null());
		json_object_set_new(object, "warning", json_boolean(note->is_warning));
		json_object_set_new(object, "text", json_text(trace_note_format(text, note)));
		json_array_append_new(notes, object);
	}
	return notes;
}

size_t trace_warnings_print(FILE *out, const struct op_source *source, const char *prefix)
{
	const struct trace_note *note;
	char text[TRACE_NOTE_BYTES];
	size_t count = 0;

	for (size_t i = 0; (note = trace_note_at(source, i)); i++) {
		if (!note->is_warning || !is_worth_a_word(note))
			continue;
		fprintf(out, "%s%s\n", prefix, trace_note_format(text, note));
		count++;
	}
	return count;
}

/* What was counted by this name; null if the reader says nothing of it. */
static json_t *counted_json(const struct op_source *source, const char *key)
{
	const struct trace_note *note;

	for (size_t i = 0; (note = trace_note_at(source, i)); i++) {
		if (note->is_counted && strcmp(note->key, key) == 0)
			return json_number(note->count);
	}
	return json_null();
}

/* ---- JSON ---- */

static json_t *known_json(bool is_known, uint64_t value)
{
	return is_known ? json_number(value) : json_null();
}

static json_t *kinds_json(const struct trace_summary *summary)
{
	json_t *kinds = json_object();

	for (unsigned int i = 0; i < OP_KIND_COUNT; i++) {
		if (summary->kinds[i])
			json_object_set_new(kinds, op_kind_name((enum op_kind)i),
					    json_number(summary->kinds[i]));
	}
	return kinds;
}

static json_t *counts_json(const struct op_source *source)
{
	json_t *counts = json_object();
	const struct trace_note *note;

	for (size_t i = 0; (note = trace_note_at(source, i)); i++) {
		if (note->is_counted)
			json_object_set_new(counts, note->key, json_number(note->count));
	}
	return counts;
}

static json_t *response_json(const struct op_source *source, bool of_writes)
{
	const struct histogram *ns = trace_responses(source, of_writes);
	json_t *object;

	if (!ns)
		return json_null();
	object = json_object();
	json_object_set_new(object, "count", json_number(ns->count));
	json_object_set_new(object, "mean_ns", json_number(histogram_mean(ns)));
	json_object_set_new(object, "min_ns", json_number(ns->least));
	json_object_set_new(object, "p50_ns", json_number(histogram_quantile(ns, 500000)));
	json_object_set_new(object, "p99_ns", json_number(histogram_quantile(ns, 990000)));
	json_object_set_new(object, "max_ns", json_number(ns->most));
	return object;
}

static json_t *files_json(const struct trace_summary *summary, const struct op_source *source)
{
	json_t *files = json_array();

	for (size_t i = 0; i < summary->files.count && i < FILES_LISTED_MAX; i++) {
		const struct summary_file *file = &summary->files.at[i];
		json_t *object;

		if (file->is_directory)
			continue;
		object = json_object();
		json_object_set_new(object, "name",
				    json_text(path_text(source->paths, file->path)));
		if (file->first_path != file->path)
			json_object_set_new(object, "first_name",
					    json_text(path_text(source->paths, file->first_path)));
		json_object_set_new(object, "reads", json_number(file->read_count));
		json_object_set_new(object, "read_bytes", json_number(file->read_bytes));
		json_object_set_new(object, "distinct_read_bytes",
				    known_json(summary->knows_distinct, file->distinct_read_bytes));
		json_object_set_new(object, "writes", json_number(file->write_count));
		json_object_set_new(object, "write_bytes", json_number(file->write_bytes));
		json_object_set_new(object, "size_bytes", json_number(file->end_bytes));
		json_array_append_new(files, object);
	}
	return files;
}

static json_t *coverage_json(const struct op_source *source)
{
	uint64_t explained, inserted;

	return trace_coverage(source, &explained, &inserted)
		       ? json_real((double)explained / (double)inserted)
		       : json_null();
}

/* The time from the first row to the last; false: the trace has no times. */
static bool span_of(const struct trace_summary *summary, const struct op_source *source,
		    uint64_t *ns)
{
	if (trace_span(source, ns))
		return true;
	*ns = summary->last_ns - summary->first_ns;
	return summary->last_ns > 0;
}

static void side_set(json_t *json, const struct summary_side *side, bool knows, bool of_writes)
{
	const char *const keys[2][9] = {
		{"reads", "read_bytes", "distinct_read_bytes", "read_pages", "distinct_read_pages",
		 "direct_reads", "direct_read_bytes", "mapped_reads", "mapped_read_bytes"},
		{"writes", "write_bytes", "distinct_write_bytes", "write_pages",
		 "distinct_write_pages", "direct_writes", "direct_write_bytes", "mapped_writes",
		 "mapped_write_bytes"}};
	const char *const *key = keys[of_writes];

	json_object_set_new(json, key[0], json_number(side->count));
	json_object_set_new(json, key[1], json_number(side->bytes));
	json_object_set_new(json, key[2], known_json(knows, side->distinct_bytes));
	json_object_set_new(json, key[3], known_json(knows, side->pages));
	json_object_set_new(json, key[4], known_json(knows, side->distinct_pages));
	json_object_set_new(json, key[5], json_number(side->direct_count));
	json_object_set_new(json, key[6], json_number(side->direct_bytes));
	json_object_set_new(json, key[7], json_number(side->mapped_count));
	json_object_set_new(json, key[8], json_number(side->mapped_bytes));
}

json_t *trace_summary_json(const struct trace_summary *summary, const struct op_source *source)
{
	json_t *json = json_object();
	bool knows = summary->knows_distinct, has_span;
	uint64_t span_ns;

	has_span = span_of(summary, source, &span_ns);
	json_object_set_new(json, "name", json_text(source->name));
	json_object_set_new(json, "format", json_text(source->format));
	json_object_set_new(json, "rows", json_number(trace_rows(source)));
	json_object_set_new(json, "skipped_rows", json_number(trace_skipped(source)));
	json_object_set_new(json, "cut_off", json_boolean(trace_is_cut_off(source)));
	json_object_set_new(json, "ops", json_number(summary->op_count));
	json_object_set_new(json, "ops_by_kind", kinds_json(summary));
	side_set(json, &summary->read, knows, false);
	side_set(json, &summary->write, knows, true);
	json_object_set_new(json, "reread_bytes",
			    known_json(knows, summary->read.bytes - summary->read.distinct_bytes));
	json_object_set_new(json, "distinct_pages", known_json(knows, summary->distinct_pages));
	json_object_set_new(json, "cold_read_pages", known_json(knows, summary->cold_read_pages));
	json_object_set_new(json, "cold_partial_write_pages",
			    known_json(knows, summary->cold_partial_write_pages));
	json_object_set_new(json, "span_ns", known_json(has_span, span_ns));
	json_object_set_new(json, "threads",
			    known_json(summary->knows_threads, summary->thread_count));
	json_object_set_new(json, "processes", counted_json(source, "processes"));
	json_object_set_new(json, "failed_calls", counted_json(source, "failed_calls"));
	json_object_set_new(json, "eof_reads", counted_json(source, "eof_reads"));
	json_object_set_new(json, "lost_events", counted_json(source, "lost_events"));
	json_object_set_new(json, "coverage", coverage_json(source));
	json_object_set_new(json, "response",
			    json_pack("{s:o, s:o}", "read", response_json(source, false), "write",
				      response_json(source, true)));
	json_object_set_new(json, "file_count", json_number(summary->file_count));
	json_object_set_new(json, "directory_count", json_number(summary->directory_count));
	json_object_set_new(json, "files", files_json(summary, source));
	json_object_set_new(json, "counts", counts_json(source));
	json_object_set_new(json, "notes", trace_notes_json(source));
	return json;
}

/* ---- text ---- */

static void side_row(struct table *table, const char *name, const struct summary_side *side,
		     bool knows)
{
	table_text(table, name);
	table_count(table, side->count);
	table_size(table, side->bytes);
	if (knows) {
		table_size(table, side->distinct_bytes);
		table_size(table, side->bytes - side->distinct_bytes);
		table_count(table, side->distinct_pages);
	} else {
		for (int i = 0; i < 3; i++)
			table_unknown(table);
	}
}

static void sides_print(FILE *out, const struct trace_summary *summary, bool colour)
{
	static const struct {
		const char *name;
		enum table_align align;
	} columns[] = {{"", TABLE_LEFT},      {"requests", TABLE_RIGHT},
		       {"bytes", TABLE_UNIT}, {"distinct", TABLE_UNIT},
		       {"again", TABLE_UNIT}, {"distinct pages", TABLE_RIGHT}};
	struct table *table = table_create();

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		table_column(table, columns[i].name, columns[i].align, TABLE_KEEP);
	side_row(table, "reads", &summary->read, summary->knows_distinct);
	side_row(table, "writes", &summary->write, summary->knows_distinct);
	fputc('\n', out);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

static void coverage_print(FILE *out, const struct op_source *source)
{
	uint64_t explained, inserted;
	char share[SHARE_TEXT_BYTES], pages[2 * SIZE_TEXT_BYTES];

	if (trace_coverage(source, &explained, &inserted))
		fprintf(out,
			"  coverage: %s of the %s pages that came into the page cache meanwhile "
			"belong to these\n",
			share_format(share, explained, inserted), count_format(pages, inserted));
}

static void summary_files_print(FILE *out, const struct trace_summary *summary,
				const struct op_source *source, bool colour)
{
	struct table *table = table_create();
	char name[NAME_TEXT_BYTES], count[2 * SIZE_TEXT_BYTES];
	size_t shown = 0;

	table_column(table, "file", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "reads", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "bytes", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "writes", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "bytes", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "size", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = 0; i < summary->files.count && shown < FILES_SHOWN; i++) {
		const struct summary_file *file = &summary->files.at[i];

		if (file->is_directory)
			continue;
		shown++;
		table_text(table,
			   name_show(name, path_text(source->paths, file->path), NAME_COLUMNS_MAX));
		table_count(table, file->read_count);
		table_size(table, file->read_bytes);
		table_count(table, file->write_count);
		table_size(table, file->write_bytes);
		table_size(table, file->end_bytes);
	}
	if (shown) {
		report_heading(out, "files with the most bytes", colour);
		table_print(out, table, INDENT, colour);
	}
	if (shown < summary->file_count)
		fprintf(out, "%*sand %s more\n", INDENT, "",
			count_format(count, summary->file_count - shown));
	table_destroy(table);
}

/* "other operations   open 2, fsync 1" */
static void kinds_print(FILE *out, const struct trace_summary *summary)
{
	const char *before = "other operations: ";
	char count[2 * SIZE_TEXT_BYTES];

	for (unsigned int i = 0; i < OP_KIND_COUNT; i++) {
		if (!summary->kinds[i] || i == OP_READ || i == OP_WRITE || i == OP_EXISTS ||
		    i == OP_EXISTS_SPARSE)
			continue;
		fprintf(out, "%s%s%s %s", before[0] == 'o' ? "\n  " : "", before,
			op_kind_name((enum op_kind)i), count_format(count, summary->kinds[i]));
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

static void responses_print(FILE *out, const struct op_source *source)
{
	for (int of_writes = 0; of_writes < 2; of_writes++) {
		const struct histogram *ns = trace_responses(source, of_writes);
		char mean[SIZE_TEXT_BYTES], middle[SIZE_TEXT_BYTES], high[SIZE_TEXT_BYTES],
			most[SIZE_TEXT_BYTES];

		if (ns)
			fprintf(out, "  a %s took %s (median %s, 99 %% within %s, at most %s)\n",
				of_writes ? "write" : "read", time_format(mean, histogram_mean(ns)),
				time_format(middle, histogram_quantile(ns, 500000)),
				time_format(high, histogram_quantile(ns, 990000)),
				time_format(most, ns->most));
	}
}

static void summary_notes_print(FILE *out, const struct op_source *source)
{
	const struct trace_note *note;
	char text[TRACE_NOTE_BYTES];
	bool any = false;

	for (size_t i = 0; (note = trace_note_at(source, i)); i++) {
		if (!is_worth_a_word(note))
			continue;
		if (!any)
			fputc('\n', out);
		any = true;
		fprintf(out, "  %s: ", note->is_warning ? "warning" : "note");
		report_wrapped(out, trace_note_format(text, note), note->is_warning ? 11 : 8);
	}
}

void trace_summary_print(FILE *out, const struct trace_summary *summary,
			 const struct op_source *source, bool colour)
{
	char name[NAME_TEXT_BYTES], rows[2 * SIZE_TEXT_BYTES], files[2 * SIZE_TEXT_BYTES],
		threads[2 * SIZE_TEXT_BYTES], span[SIZE_TEXT_BYTES], pages[2 * SIZE_TEXT_BYTES],
		size[SIZE_TEXT_BYTES];
	uint64_t span_ns;

	fprintf(out, "%s   %s   %s row%s   %s file%s",
		name_show(name, source->name, NAME_COLUMNS_MAX), source->format,
		count_format(rows, trace_rows(source)), trace_rows(source) == 1 ? "" : "s",
		count_format(files, summary->file_count), summary->file_count == 1 ? "" : "s");
	if (summary->thread_count > 1)
		fprintf(out, "   %s threads", count_format(threads, summary->thread_count));
	if (span_of(summary, source, &span_ns))
		fprintf(out, "   %s", time_format(span, span_ns));
	fputc('\n', out);
	sides_print(out, summary, colour);
	if (summary->knows_distinct && summary->cold_read_pages)
		fprintf(out,
			"\n  an empty cache without bounds and without readahead would miss %s "
			"page%s "
			"(%s)\n",
			count_format(pages, summary->cold_read_pages),
			summary->cold_read_pages == 1 ? "" : "s",
			size_format(size, bytes_from_pages(summary->cold_read_pages)));
	if (summary->knows_distinct && summary->cold_partial_write_pages)
		fprintf(out, "  and read %s page%s that %s written only in part\n",
			count_format(pages, summary->cold_partial_write_pages),
			summary->cold_partial_write_pages == 1 ? "" : "s",
			summary->cold_partial_write_pages == 1 ? "is" : "are");
	responses_print(out, source);
	coverage_print(out, source);
	kinds_print(out, summary);
	summary_files_print(out, summary, source, colour);
	summary_notes_print(out, source);
}
