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
#include "report/table.h"

enum { SPARK_COLUMNS = 50 };

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
static void counted(FILE *out, uint64_t count, const char *noun)
{
	char text[SIZE_TEXT_BYTES * 2];

	fprintf(out, "%s %s%s", count_format(text, count), noun, count == 1 ? "" : "s");
}

/* "wal.csv   120,000 ops, 3 streams, 2 files   cgroup limit 256 MiB   [policy linux-6.18   ]ext4" */
void report_headline(FILE *out, const struct result *result, const struct report_options *options,
		     bool with_policy)
{
	char name[NAME_TEXT_BYTES], size[SIZE_TEXT_BYTES];

	fprintf(out, "%s%s%s   ", options->colour ? "\033[1m" : "",
		name_show(name, result->input ? result->input : "", NAME_COLUMNS_MAX),
		options->colour ? "\033[0m" : "");
	counted(out, result->op_count, "op");
	fputs(", ", out);
	counted(out, result->stream_count, "stream");
	if (result->file_count) {
		fputs(", ", out);
		counted(out, result->file_count, "file");
	}
	if (options->bare_pages) {
		fputs("   a plain cache of ", out);
		counted(out, options->bare_pages, "page");
	} else {
		fprintf(out, "   %s %s", result->is_cgroup ? "cgroup limit" : "memory",
			size_format(size, result->memory_bytes));
	}
	if (with_policy)
		fprintf(out, "   policy %s", result->policy);
	if (result->filesystem)
		fprintf(out, "   %s", result->filesystem);
	fputc('\n', out);
	if (options->skipped_rows) {
		fprintf(out, "%*s", INDENT, "");
		counted(out, options->skipped_rows, "row");
		fprintf(out, " of the input could not be read and %s left out (--lenient)\n",
			options->skipped_rows == 1 ? "was" : "were");
	}
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

/* ---- marks ---- */

/* What the marks table shows, in order. Pages that are levels are shown as sizes, as people think of memory. */
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

static void marks_print(FILE *out, const struct result *result, bool colour)
{
	struct table *table;
	char label[NAME_TEXT_BYTES];
	size_t shown = result->mark_count;

	if (result->mark_count == 0)
		return;
	if (shown > MARKS_SHOWN_MAX)
		shown = MARKS_SHOWN_MAX;
	table = table_create();
	table_column(table, "at mark", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < MARK_COLUMN_COUNT; i++) {
		enum counter_id id = mark_columns[i].id;

		if (result_knows(result, id))
			table_column(table, mark_columns[i].heading, TABLE_UNIT, TABLE_HIDE_ZERO);
	}
	for (size_t i = 0; i < shown; i++)
		mark_row(table, name_show(label, result->marks[i].label, NAME_COLUMNS),
			 &result->marks[i].counters, result->known);
	if (result->marks[result->mark_count - 1].op_index + 1 < result->op_count)
		mark_row(table, "(end)", &result->totals, result->known);
	report_heading(out, "since the start, at each mark", colour);
	table_print(out, table, INDENT, colour);
	if (shown < result->mark_count)
		fprintf(out, "%*s%zu more marks: --json has them all\n", INDENT, "",
			result->mark_count - shown);
	table_destroy(table);
}

/* ---- memory over time ---- */

static uint64_t sample_bytes(const struct result_sample *sample, int line)
{
	switch (line) {
	case 0:
		return bytes_from_pages(sample->active_file_pages);
	case 1:
		return bytes_from_pages(sample->inactive_file_pages);
	case 2:
		return bytes_from_pages(sample->dirty_pages);
	default:
		return sample->slab_bytes;
	}
}

/* The mean of the samples that fall in one of `columns` equal parts of the run. */
static uint64_t part_bytes(const struct result *result, int line, size_t part, size_t columns)
{
	size_t first = part * result->sample_count / columns;
	size_t end = (part + 1) * result->sample_count / columns;
	uint64_t sum = 0;

	for (size_t i = first; i < end; i++)
		sum += sample_bytes(&result->samples[i], line) / (end - first);
	return sum;
}

static void samples_print(FILE *out, const struct result *result)
{
	static const char *const names[] = {"active", "inactive", "dirty", "slab"};
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t columns =
		result->sample_count < SPARK_COLUMNS ? result->sample_count : SPARK_COLUMNS;
	const char *title = "memory over time";
	uint64_t most = 0;

	if (columns < 2)
		return;
	/* One scale for all, so that the lines can be held against each other. */
	for (int line = 0; line < 4; line++) {
		for (size_t i = 0; i < columns; i++) {
			uint64_t bytes = part_bytes(result, line, i, columns);

			most = bytes > most ? bytes : most;
		}
	}
	if (most == 0)
		return;
	fputc('\n', out);
	for (int line = 0; line < 4; line++) {
		uint64_t largest = 0;
		char size[SIZE_TEXT_BYTES];

		for (size_t i = 0; i < result->sample_count; i++) {
			uint64_t bytes = sample_bytes(&result->samples[i], line);

			largest = bytes > largest ? bytes : largest;
		}
		if (largest == 0)
			continue;
		fprintf(out, "  %-18s %-9s ", title, names[line]);
		title = "";
		for (size_t i = 0; i < columns; i++) {
			unsigned __int128 level = part_bytes(result, line, i, columns);

			fputs(blocks[(size_t)((level * 7 + most / 2) / most)], out);
		}
		fprintf(out, " %10s\n",
			size_format(size, sample_bytes(&result->samples[result->sample_count - 1],
						       line)));
	}
}

void report_text(FILE *out, const struct result *result, const struct report_options *options)
{
	report_headline(out, result, options, true);
	if (options->bare_pages)
		answer_bare(out, result);
	else
		answer(out, result);
	marks_print(out, result, options->colour);
	streams_print(out, result, options->colour);
	if (!options->bare_pages) {
		blame_print(out, result, options->colour);
		samples_print(out, result);
	}
	fputc('\n', out);
	advice_print(out, result, options);
}
