/*
 * The answer as a person reads it: the answer first, the evidence under it, the next command last.
 */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/result.h"
#include "report/advice.h"
#include "report/name.h"
#include "report/report.h"
#include "report/report_private.h"
#include "report/sparkline.h"
#include "report/table.h"

enum { SPARK_COLUMNS = 50, COUNTED_TEXT_BYTES = 80 };

bool result_knows(const struct result *result, enum counter_id id)
{
	return result->known >> id & 1;
}

void report_heading(FILE *out, const char *text, bool colour)
{
	fprintf(out, "\n%*s%s%s%s\n", INDENT, "", colour ? "\033[1m" : "", text,
		colour ? "\033[0m" : "");
}

/* "1 file", "2 files". */
static const char *counted(char text[COUNTED_TEXT_BYTES], uint64_t count, const char *noun)
{
	char number[SIZE_TEXT_BYTES * 2];

	snprintf(text, COUNTED_TEXT_BYTES, "%s %s%s", count_format(number, count), noun,
		 count == 1 ? "" : "s");
	return text;
}

/* "cgroup limit 256 MiB   policy linux-6.18   ext4" */
static void machine_write(char *text, size_t bytes, const struct result *result,
			  const struct report_options *options, bool with_policy)
{
	char size[SIZE_TEXT_BYTES], pages[COUNTED_TEXT_BYTES];
	size_t given;

	if (options->bare_pages)
		given = (size_t)snprintf(text, bytes, "a plain cache of %s",
					 counted(pages, options->bare_pages, "page"));
	else
		given = (size_t)snprintf(text, bytes, "%s %s",
					 result->is_cgroup ? "cgroup limit" : "memory",
					 size_format(size, result->memory_bytes));
	if (result->kernel)
		given += (size_t)snprintf(text + given, bytes - given,
					  "   Linux %.60s%s   %s statistics", result->kernel,
					  result->has_mglru ? " (MGLRU)" : "", result->statistics);
	else if (with_policy)
		given += (size_t)snprintf(text + given, bytes - given, "   policy %.900s",
					  result->policy);
	if (result->filesystem)
		snprintf(text + given, bytes - given, "   %.40s", result->filesystem);
}

void report_headline(FILE *out, const struct result *result, const struct report_options *options,
		     bool with_policy)
{
	char name[NAME_TEXT_BYTES], ops[COUNTED_TEXT_BYTES], streams[COUNTED_TEXT_BYTES];
	char files[COUNTED_TEXT_BYTES], rows[COUNTED_TEXT_BYTES], input[512], machine[1024];

	name_show(name, result->input ? result->input : "", NAME_COLUMNS_MAX);
	snprintf(input, sizeof(input), "   %s, %s%s%s", counted(ops, result->op_count, "op"),
		 counted(streams, result->stream_count, "stream"), result->file_count ? ", " : "",
		 result->file_count ? counted(files, result->file_count, "file") : "");
	machine_write(machine, sizeof(machine), result, options, with_policy);
	fprintf(out, "%s%s%s%s", options->colour ? "\033[1m" : "", name,
		options->colour ? "\033[0m" : "", input);
	if (text_columns(name) + text_columns(input) + 3 + text_columns(machine) > TABLE_WIDTH_MAX)
		fprintf(out, "\n%*s%s\n", INDENT, "", machine);
	else
		fprintf(out, "   %s\n", machine);
	if (options->skipped_rows)
		fprintf(out, "%*s%s of the input could not be read and %s left out (--lenient)\n",
			INDENT, "", counted(rows, options->skipped_rows, "row"),
			options->skipped_rows == 1 ? "was" : "were");
	if (options->is_cut_off)
		fprintf(out,
			"%*sthe input is cut off: this is about what could be read of it "
			"(--lenient)\n",
			INDENT, "");
}

/* ---- the answer in three lines ---- */

static const char *size_or_unknown(char text[SIZE_TEXT_BYTES], const struct result *result,
				   enum counter_id id)
{
	return result_knows(result, id) ? size_format(text, counter_get(&result->totals, id)) : "?";
}

static const char *count_or_unknown(char text[SIZE_TEXT_BYTES * 2], const struct result *result,
				    enum counter_id id)
{
	return result_knows(result, id) ? count_format(text, counter_get(&result->totals, id))
					: "?";
}

static void answer_bare(FILE *out, const struct result *result)
{
	const struct counters *totals = &result->totals;
	char share[SHARE_TEXT_BYTES], count[SIZE_TEXT_BYTES * 2];

	fprintf(out, "\n  %-16s  %12s\n", "look-ups", count_format(count, totals->page_accesses));
	fprintf(out, "  %-16s  %12s  (%s)\n", "misses", count_format(count, totals->page_misses),
		share_format(share, totals->page_misses, totals->page_accesses));
	fprintf(out, "  %-16s  %12s\n", "evictions",
		count_or_unknown(count, result, COUNTER_evictions));
}

static void answer(FILE *out, const struct result *result)
{
	const struct counters *totals = &result->totals;
	char size[SIZE_TEXT_BYTES], again[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
	char refaults[SIZE_TEXT_BYTES * 2], activated[SIZE_TEXT_BYTES * 2];
	bool shares_known = result_knows(result, COUNTER_read_bytes) &&
			    result_knows(result, COUNTER_reread_bytes);

	fprintf(out, "\n  %-16s  %10s   of which again  %s", "read from device",
		size_or_unknown(size, result, COUNTER_read_bytes),
		size_or_unknown(again, result, COUNTER_reread_bytes));
	if (shares_known && totals->reread_bytes)
		fprintf(out, "  (%s)",
			share_format(share, totals->reread_bytes, totals->read_bytes));
	fputc('\n', out);
	if (result_knows(result, COUNTER_page_misses) &&
	    result_knows(result, COUNTER_page_accesses))
		share_format(share, totals->page_misses, totals->page_accesses);
	else
		strcpy(share, "?");
	fprintf(out, "  %-16s  %10s   refaults  %s   activated by refault  %s\n", "page misses",
		share, count_or_unknown(refaults, result, COUNTER_refaults),
		count_or_unknown(activated, result, COUNTER_refault_activations));
	fprintf(out, "  %-16s  %10s\n", "written",
		size_or_unknown(size, result, COUNTER_write_bytes));
}

/* ---- how far several runs go apart ---- */

static void range_print(FILE *out, const struct result *result, bool colour)
{
	static const enum counter_id ids[] = {COUNTER_read_bytes, COUNTER_reread_bytes,
					      COUNTER_page_misses, COUNTER_refaults,
					      COUNTER_inodes_reallocated};
	struct table *table;
	char title[64];

	if (result->run_count < 2)
		return;
	table = table_create();
	snprintf(title, sizeof(title), "of %u runs, in the end", (unsigned int)result->run_count);
	table_column(table, "", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "least", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "middle", TABLE_UNIT, TABLE_KEEP);
	table_column(table, "most", TABLE_UNIT, TABLE_KEEP);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (!result_knows(result, ids[i]))
			continue;
		table_text(table, counter_name(ids[i]));
		counter_cell(table, &result->low, result->known, ids[i]);
		counter_cell(table, &result->totals, result->known, ids[i]);
		counter_cell(table, &result->high, result->known, ids[i]);
	}
	report_heading(out, title, colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

/* ---- marks ---- */

/*
 * What the marks table shows, in order. Pages that are levels are shown as sizes, as people think
 * of memory.
 */
static const struct {
	enum counter_id id;
	const char *heading;
} mark_columns[] = {
	{COUNTER_read_bytes, "read"},
	{COUNTER_reread_bytes, "again"},
	{COUNTER_write_bytes, "written"},
	{COUNTER_page_misses, "misses"},
	{COUNTER_refaults, "refaults"},
	{COUNTER_refault_activations, "by refault"},
	{COUNTER_activations, "activated"},
	{COUNTER_evictions, "evicted"},
	{COUNTER_active_file_pages, "active"},
	{COUNTER_inactive_file_pages, "inactive"},
	{COUNTER_dirty_pages, "dirty"},
	{COUNTER_slab_bytes, "slab"},
	{COUNTER_dentries_evicted, "dentries out"},
	{COUNTER_inodes_evicted, "inodes out"},
	{COUNTER_inodes_reallocated, "inodes again"},
};

enum { MARK_COLUMN_COUNT = sizeof(mark_columns) / sizeof(mark_columns[0]) };

void counter_cell(struct table *table, const struct counters *counters, uint64_t known,
		  enum counter_id id)
{
	uint64_t value = counter_get(counters, id);

	if (!(known >> id & 1))
		table_unknown(table);
	else if (counter_unit(id) == COUNTER_UNIT_BYTES)
		table_size(table, value);
	else if (counter_is_level(id))
		table_size(table, bytes_from_pages(value));
	else
		table_count(table, value);
}

static void mark_row(struct table *table, const char *label, const struct counters *counters,
		     uint64_t known)
{
	table_text(table, label);
	for (size_t i = 0; i < MARK_COLUMN_COUNT; i++) {
		if (known >> mark_columns[i].id & 1)
			counter_cell(table, counters, known, mark_columns[i].id);
	}
}

size_t marks_shown(const struct result *result)
{
	return result->mark_count < MARKS_SHOWN_MAX ? result->mark_count : MARKS_SHOWN_MAX;
}

size_t mark_shown_at(const struct result *result, size_t index)
{
	size_t shown = marks_shown(result);

	return shown < 2 ? index : index * (result->mark_count - 1) / (shown - 1);
}

void marks_left_out(FILE *out, const struct result *result)
{
	char text[COUNTED_TEXT_BYTES];

	if (marks_shown(result) < result->mark_count)
		fprintf(out, "%*s%zu of %s: --json has all\n", INDENT, "", marks_shown(result),
			counted(text, result->mark_count, "mark"));
}

static void marks_print(FILE *out, const struct result *result, bool colour)
{
	struct table *table;
	char label[NAME_TEXT_BYTES];
	size_t shown = marks_shown(result);

	if (result->mark_count == 0)
		return;
	table = table_create();
	table_column(table, "at mark", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < MARK_COLUMN_COUNT; i++) {
		enum counter_id id = mark_columns[i].id;

		if (result_knows(result, id))
			table_column(table, mark_columns[i].heading, TABLE_UNIT, TABLE_HIDE_ZERO);
	}
	for (size_t i = 0; i < shown; i++) {
		const struct result_mark *mark = &result->marks[mark_shown_at(result, i)];

		mark_row(table, name_show(label, mark->label, NAME_COLUMNS), &mark->counters,
			 result->known);
	}
	if (result->marks[result->mark_count - 1].op_index + 1 < result->op_count)
		mark_row(table, "(end)", &result->totals, result->known);
	report_heading(out, "since the start, at each mark", colour);
	table_print(out, table, INDENT, colour);
	marks_left_out(out, result);
	table_destroy(table);
}

/* ---- memory over time ---- */

enum { ACTIVE, INACTIVE, DIRTY, SLAB, LINE_COUNT };

static uint64_t sample_bytes(const struct result_sample *sample, int line)
{
	switch (line) {
	case ACTIVE:
		return bytes_from_pages(sample->active_file_pages);
	case INACTIVE:
		return bytes_from_pages(sample->inactive_file_pages);
	case DIRTY:
		return bytes_from_pages(sample->dirty_pages);
	default:
		return sample->slab_bytes;
	}
}

void samples_print(FILE *out, const struct result *result)
{
	static const char *const names[] = {"active", "inactive", "dirty", "slab"};
	size_t count = result->sample_count;
	size_t columns = count < SPARK_COLUMNS ? count : SPARK_COLUMNS;
	const char *title = "memory over time";
	uint64_t *values, most = 0;

	if (columns < 2)
		return;
	values = memory_alloc(LINE_COUNT * count, sizeof(*values));
	/* One scale for all, so that the lines can be held against each other. */
	for (int line = 0; line < LINE_COUNT; line++) {
		uint64_t *at = values + (size_t)line * count, highest;

		for (size_t i = 0; i < count; i++)
			at[i] = sample_bytes(&result->samples[i], line);
		highest = sparkline_most(at, count, columns);
		most = highest > most ? highest : most;
	}
	if (most)
		fputc('\n', out);
	for (int line = 0; most && line < LINE_COUNT; line++) {
		const uint64_t *at = values + (size_t)line * count;
		uint64_t largest = 0;
		char size[SIZE_TEXT_BYTES];

		for (size_t i = 0; i < count; i++)
			largest = at[i] > largest ? at[i] : largest;
		/*
		 * A line of the lowest block says nothing; slab is shown small, because it is asked
		 * for.
		 */
		if (largest == 0 || (line == DIRTY && largest < most / 100))
			continue;
		fprintf(out, "  %-18s %-9s ", title, names[line]);
		title = "";
		sparkline_print(out, at, count, columns, 0, most);
		fprintf(out, " %10s\n", size_format(size, at[count - 1]));
	}
	memory_free(values);
}

/* What the kernel counts besides. */
static void in_kernel_print(FILE *out, const struct result_kernel *in)
{
	char a[2 * SIZE_TEXT_BYTES], b[2 * SIZE_TEXT_BYTES], c[2 * SIZE_TEXT_BYTES],
		d[2 * SIZE_TEXT_BYTES];

	if (!in->knows_calls && !in->knows_device && !in->knows_cachestat)
		return;
	fputc('\n', out);
	if (in->knows_calls)
		fprintf(out, "  %-16s  %s calls freed %s pages; %s of shrinkers freed %s objects\n",
			"reclaim", count_format(a, in->reclaim_calls),
			count_format(b, in->reclaim_freed_pages),
			count_format(c, in->shrinker_calls), count_format(d, in->shrinker_freed));
	if (in->knows_device)
		fprintf(out, "  %-16s  data %s read, %s written; metadata %s read, %s written\n",
			"device", size_format(a, in->data_read_bytes),
			size_format(b, in->data_written_bytes),
			size_format(c, in->metadata_read_bytes),
			size_format(d, in->metadata_written_bytes));
	if (in->knows_cachestat)
		fprintf(out, "  %-16s  %s cached in the end; %s remembered, %s of them as recent\n",
			"cachestat", size_format(a, bytes_from_pages(in->cached_pages)),
			size_format(b, bytes_from_pages(in->evicted_pages)),
			size_format(c, bytes_from_pages(in->recently_evicted_pages)));
}

/* Pages in and out by file: those with the most. */
static void files_print(FILE *out, const struct result_kernel *in, bool colour)
{
	enum { FILES_SHOWN_MAX = 6 };
	struct table *table;
	char name[NAME_TEXT_BYTES];

	if (in->file_count < 2)
		return;
	table = table_create();
	table_column(table, "file", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "pages in", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "out", TABLE_RIGHT, TABLE_KEEP);
	for (size_t i = 0; i < in->file_count && i < FILES_SHOWN_MAX; i++) {
		table_text(table, name_show(name, in->files[i].path, NAME_COLUMNS_MAX));
		table_count(table, in->files[i].inserted_pages);
		table_count(table, in->files[i].deleted_pages);
	}
	report_heading(out, "files with the most pages", colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}

void note_print(FILE *out, const char *note)
{
	char text[1000];

	snprintf(text, sizeof(text), "note: %s.", note);
	fprintf(out, "%*s", INDENT, "");
	report_wrapped(out, text, INDENT + 6);
}

/* What must be known before the figures are believed. */
static void notes_print(FILE *out, const struct result *result)
{
	if (result->note_count)
		fputc('\n', out);
	for (size_t i = 0; i < result->note_count; i++)
		note_print(out, result->notes[i]);
}

void report_text(FILE *out, const struct result *result, const struct report_options *options)
{
	report_headline(out, result, options, true);
	if (options->bare_pages)
		answer_bare(out, result);
	else
		answer(out, result);
	time_answer_print(out, result);
	range_print(out, result, options->colour);
	marks_print(out, result, options->colour);
	streams_print(out, result, options->colour);
	if (!options->bare_pages) {
		blame_print(out, result, options->colour);
		time_print(out, result, options->colour);
		/* The same by operations, where no time is kept. */
		if (result->interval_count < 2)
			samples_print(out, result);
	}
	files_print(out, &result->in_kernel, options->colour);
	in_kernel_print(out, &result->in_kernel);
	notes_print(out, result);
	fputc('\n', out);
	advice_print(out, result, options);
}

enum { WRAP_COLUMNS = 98 };

void report_wrapped(FILE *out, const char *text, size_t column)
{
	size_t at = column;

	while (*text) {
		size_t bytes = strcspn(text, " \n");
		char word[256];

		if (bytes >= sizeof(word))
			bytes = sizeof(word) - 1;
		memcpy(word, text, bytes);
		word[bytes] = '\0';
		if (at > column && at + 1 + text_columns(word) > WRAP_COLUMNS) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		fprintf(out, "%s%s", at > column ? " " : "", word);
		at += text_columns(word) + (at > column);
		text += bytes;
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}
