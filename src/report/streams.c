/*
 * Streams: what each asked for and read again, and who evicted whom.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/result.h"
#include "report/bar.h"
#include "report/name.h"
#include "report/report_private.h"
#include "report/table.h"

enum { EVICTORS_SHOWN_MAX = 3 };

static uint64_t blame_of(const struct result *result, size_t victim, size_t evictor)
{
	return result->blame[victim * result->stream_count + evictor];
}

static uint64_t blame_total(const struct result *result, size_t victim)
{
	uint64_t total = 0;

	for (size_t evictor = 0; evictor < result->stream_count; evictor++)
		total += blame_of(result, victim, evictor);
	return total;
}

/* "wal 81 %   heap 19 %": the largest shares. */
static void evicted_by(char *text, size_t bytes, const struct result *result, size_t victim)
{
	uint64_t total = blame_total(result, victim), below = UINT64_MAX;
	size_t last = SIZE_MAX, given = 0;

	text[0] = '\0';
	for (int shown = 0; shown < EVICTORS_SHOWN_MAX; shown++) {
		size_t best = SIZE_MAX;
		char name[NAME_TEXT_BYTES], share[SHARE_TEXT_BYTES];

		/*
		 * The largest that comes after the last one shown; equals in the order of the
		 * streams.
		 */
		for (size_t i = 0; i < result->stream_count; i++) {
			uint64_t pages = blame_of(result, victim, i);

			if (pages == 0 || pages > below || (pages == below && i <= last))
				continue;
			if (best == SIZE_MAX || pages > blame_of(result, victim, best))
				best = i;
		}
		if (best == SIZE_MAX)
			break;
		below = blame_of(result, victim, best);
		last = best;
		given +=
			(size_t)snprintf(text + given, bytes - given, "%s%s %s", shown ? "   " : "",
					 name_show(name, result->streams[best].name, 12),
					 share_format(share, below, total));
		if (given >= bytes)
			break;
	}
	if (!text[0])
		snprintf(text, bytes, "-");
}

/* Streams that matter first: read again, then read, then asked for. */
static int stream_compare(const void *a, const void *b, void *context)
{
	const struct result *result = context;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	const struct counters *x = &result->streams[left].counters;
	const struct counters *y = &result->streams[right].counters;

	if (x->reread_bytes != y->reread_bytes)
		return x->reread_bytes < y->reread_bytes ? 1 : -1;
	if (x->read_bytes != y->read_bytes)
		return x->read_bytes < y->read_bytes ? 1 : -1;
	if (x->page_accesses != y->page_accesses)
		return x->page_accesses < y->page_accesses ? 1 : -1;
	return left < right ? -1 : left > right;
}

size_t *streams_order(const struct result *result)
{
	size_t *order = memory_alloc(result->stream_count, sizeof(*order));

	for (size_t i = 0; i < result->stream_count; i++)
		order[i] = i;
	if (result->stream_count > STREAMS_SHOWN_MAX)
		qsort_r(order, result->stream_count, sizeof(*order), stream_compare,
			(void *)(uintptr_t)result);
	return order;
}

void stream_cell(struct table *table, const struct result_stream *stream, enum counter_id id)
{
	counter_cell(table, &stream->counters, stream->known, id);
}

static void stream_row(struct table *table, const struct result *result, size_t index)
{
	const struct result_stream *stream = &result->streams[index];
	const struct counters *counters = &stream->counters;
	char text[4 * NAME_TEXT_BYTES];

	table_text(table, name_show(text, stream->name, NAME_COLUMNS));
	stream_cell(table, stream, COUNTER_page_accesses);
	if (stream->known >> COUNTER_page_misses & 1)
		table_share(table, counters->page_misses, counters->page_accesses);
	else
		table_unknown(table);
	if (!result->filesystem)
		return;
	stream_cell(table, stream, COUNTER_read_bytes);
	stream_cell(table, stream, COUNTER_reread_bytes);
	stream_cell(table, stream, COUNTER_write_bytes);
	stream_cell(table, stream, COUNTER_inodes_reallocated);
	table_count(table, stream->passes);
	if (result->blame)
		evicted_by(text, sizeof(text), result, index);
	else
		snprintf(text, sizeof(text), "?");
	table_text(table, text);
}

void streams_print(FILE *out, const struct result *result, bool colour)
{
	struct table *table = table_create();
	size_t *order = streams_order(result);
	size_t shown = result->stream_count;

	if (shown > STREAMS_SHOWN_MAX)
		shown = STREAMS_SHOWN_MAX;
	table_column(table, "stream", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "accesses", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "misses", TABLE_UNIT, TABLE_KEEP);
	if (result->filesystem) {
		table_column(table, "read", TABLE_UNIT, TABLE_KEEP);
		table_column(table, "again", TABLE_UNIT, TABLE_KEEP);
		table_column(table, "written", TABLE_UNIT, TABLE_HIDE_ZERO);
		table_column(table, "inodes again", TABLE_RIGHT, TABLE_HIDE_ZERO);
		table_column(table, "passes", TABLE_RIGHT, TABLE_HIDE_ZERO);
		table_column(table, "evicted by", TABLE_LEFT, TABLE_KEEP);
	}
	for (size_t i = 0; i < shown; i++)
		stream_row(table, result, order[i]);
	if (shown) {
		fputc('\n', out);
		table_print(out, table, INDENT, colour);
	}
	if (shown < result->stream_count)
		fprintf(out, "%*s%zu more streams: --json has them all\n", INDENT, "",
			result->stream_count - shown);
	memory_free(order);
	table_destroy(table);
}

/* ---- who evicted whom ---- */

enum { BLAME_BAR_COLUMNS = 6 };

/* "28.3 MiB ██▍": the bar of the largest is BLAME_BAR_COLUMNS wide. */
static void blame_cell(struct table *table, uint64_t pages, uint64_t most)
{
	char size[SIZE_TEXT_BYTES], bar[BAR_TEXT_BYTES], text[SIZE_TEXT_BYTES + BAR_TEXT_BYTES + 1];

	size_format(size, bytes_from_pages(pages));
	snprintf(text, sizeof(text), "%s %s", size,
		 bar_format(bar, pages, most, BLAME_BAR_COLUMNS));
	table_text(table, pages ? text : "");
}

void blame_print(FILE *out, const struct result *result, bool colour)
{
	size_t count = result->stream_count, victims = 0;
	uint64_t most = 0;
	struct table *table;
	char name[NAME_TEXT_BYTES];

	if (!result->blame || count > STREAMS_SHOWN_MAX)
		return;
	for (size_t i = 0; i < count; i++)
		victims += blame_total(result, i) > 0;
	for (size_t i = 0; i < count * count; i++)
		most = result->blame[i] > most ? result->blame[i] : most;
	if (victims < 2)
		return; /* the streams table has said it */
	table = table_create();
	table_column(table, "read again", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; i < count; i++)
		table_column(table, name_show(name, result->streams[i].name, 12), TABLE_UNIT,
			     TABLE_HIDE_ZERO);
	for (size_t victim = 0; victim < count; victim++) {
		if (blame_total(result, victim) == 0)
			continue;
		table_text(table, name_show(name, result->streams[victim].name, NAME_COLUMNS));
		for (size_t evictor = 0; evictor < count; evictor++)
			blame_cell(table, blame_of(result, victim, evictor), most);
	}
	report_heading(out, "who evicted whom: read again, by the stream whose pages pushed it out",
		       colour);
	table_print(out, table, INDENT, colour);
	table_destroy(table);
}
