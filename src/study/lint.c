#include "study/lint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/path.h"

/* ---- running ---- */

struct lints {
	struct lint_run run;
	void **states;                  /* by lint */
	const struct model_watch *also; /* whoever else looks on; may be NULL */
};

static void all_before(void *context, const struct model_moment *moment)
{
	struct lints *lints = context;
	const struct lint *lint;

	for (size_t i = 0; (lint = lint_at(i)); i++) {
		if (lint->before)
			lint->before(&lints->run, lints->states[i], moment);
	}
	if (lints->also && lints->also->before)
		lints->also->before(lints->also->context, moment);
}

static void all_fetched(void *context, const struct model_moment *moment,
			const struct cache_run *runs, size_t count)
{
	struct lints *lints = context;
	const struct lint *lint;

	for (size_t i = 0; (lint = lint_at(i)); i++) {
		if (lint->fetched)
			lint->fetched(&lints->run, lints->states[i], moment, runs, count);
	}
	if (lints->also && lints->also->fetched)
		lints->also->fetched(lints->also->context, moment, runs, count);
}

static void all_after(void *context, const struct model_moment *moment)
{
	struct lints *lints = context;
	const struct lint *lint;

	for (size_t i = 0; (lint = lint_at(i)); i++) {
		if (lint->after)
			lint->after(&lints->run, lints->states[i], moment);
	}
	if (lints->also && lints->also->after)
		lints->also->after(lints->also->context, moment);
}

/* What costs most first; of those that cost the same, what comes first in the trace. */
static bool is_before(const struct lint_finding *a, const struct lint_finding *b)
{
	uint64_t a_op = a->place_count ? a->places[0].op : 0;
	uint64_t b_op = b->place_count ? b->places[0].op : 0;

	return a->cost_bytes != b->cost_bytes ? a->cost_bytes > b->cost_bytes : a_op < b_op;
}

static void sort(struct lint_report *report)
{
	for (size_t i = 1; i < report->findings.count; i++) {
		struct lint_finding *finding = report->findings.at[i];
		size_t at = i;

		for (; at > 0 && is_before(finding, report->findings.at[at - 1]); at--)
			report->findings.at[at] = report->findings.at[at - 1];
		report->findings.at[at] = finding;
	}
}

static void streams_name(struct lints *lints)
{
	const struct stream_map *map = lints->run.options->streams;

	lints->run.stream_names = map ? stream_map_names(map) : lints->run.source->stream_names;
	lints->run.stream_count = map ? stream_map_count(map) : lints->run.source->stream_count;
}

bool lint_source(const struct model_options *options, struct op_source *source,
		 struct lint_report *report, struct result *result, struct error *error)
{
	struct model_options model = *options;
	struct lints lints = {.run = {.options = options, .report = report, .source = source},
			      .also = options->watch};
	const struct model_watch watch = {&lints, all_before, all_fetched, all_after};
	const struct lint *lint;
	size_t count = 0;
	bool done;

	*report = (struct lint_report){0};
	while (lint_at(count))
		count++;
	lints.states = memory_alloc(count, sizeof(*lints.states));
	for (size_t i = 0; (lint = lint_at(i)); i++)
		lints.states[i] = memory_alloc(1, lint->state_bytes);
	model.watch = &watch;
	done = model_run(&model, source, result, error);
	if (done)
		streams_name(&lints);
	for (size_t i = 0; (lint = lint_at(i)); i++) {
		lint->end(&lints.run, lints.states[i]);
		memory_free(lints.states[i]);
	}
	memory_free(lints.states);
	if (!done) {
		lint_report_deinit(report);
		return false;
	}
	report->op_count = result->op_count;
	report->read_bytes = result->totals.read_bytes;
	report->reread_bytes = result->totals.reread_bytes;
	sort(report);
	return true;
}

/* ---- what lints say ---- */

#define FORMATTED(text)                                                                            \
	char text[1200];                                                                           \
	va_list arguments;                                                                         \
                                                                                                   \
	va_start(arguments, format);                                                               \
	vsnprintf(text, sizeof(text), format, arguments);                                          \
	va_end(arguments)

static const char *keep(struct lint_run *run, const char *text)
{
	return arena_text(&run->report->arena, text, strlen(text));
}

struct lint_finding *lint_add(struct lint_run *run, const struct lint *lint, uint32_t path,
			      uint32_t stream)
{
	struct lint_finding *finding = arena_alloc(&run->report->arena, sizeof(*finding));

	*finding = (struct lint_finding){
		.id = lint->id,
		.path = path == UINT32_MAX ? NULL : keep(run, path_text(run->source->paths, path)),
		.stream = stream && stream < run->stream_count && run->stream_names[stream]
				  ? keep(run, run->stream_names[stream])
				  : NULL,
		.title = "",
		.text = "",
		.remedy = "",
	};
	*array_push(&run->report->findings) = finding;
	return finding;
}

void lint_title(struct lint_run *run, struct lint_finding *finding, const char *format, ...)
{
	FORMATTED(text);
	finding->title = keep(run, text);
}

void lint_text(struct lint_run *run, struct lint_finding *finding, const char *format, ...)
{
	char joined[3000];

	FORMATTED(text);
	snprintf(joined, sizeof(joined), "%s%s%s", finding->text, finding->text[0] ? " " : "",
		 text);
	finding->text = keep(run, joined);
}

void lint_remedy(struct lint_run *run, struct lint_finding *finding, const char *format, ...)
{
	FORMATTED(text);
	finding->remedy = keep(run, text);
}

const char *lint_text_of(struct lint_run *run, const char *format, ...)
{
	FORMATTED(text);
	return keep(run, text);
}

void lint_figure(struct lint_finding *finding, const char *name, double value, enum lint_unit unit)
{
	if (finding->figure_count < sizeof(finding->figures) / sizeof(finding->figures[0]))
		finding->figures[finding->figure_count++] = (struct lint_figure){name, value, unit};
}

struct lint_where lint_where_of(const struct model_moment *moment)
{
	return (struct lint_where){moment->number, moment->op->line};
}

void lint_place(struct lint_finding *finding, struct lint_where where, const char *what)
{
	if (where.op && finding->place_count < LINT_PLACES_MAX)
		finding->places[finding->place_count++] =
			(struct lint_place){where.op, where.line, what};
}

const char *lint_bytes(struct lint_run *run, uint64_t bytes)
{
	char text[SIZE_TEXT_BYTES];

	return keep(run, size_format(text, bytes));
}

const char *lint_count(struct lint_run *run, uint64_t count)
{
	char text[2 * SIZE_TEXT_BYTES];

	return keep(run, count_format(text, count));
}

const char *lint_pages(struct lint_run *run, uint64_t pages)
{
	char text[3 * SIZE_TEXT_BYTES];

	count_format(text, pages);
	strcat(text, pages == 1 ? " page" : " pages");
	return keep(run, text);
}

const char *lint_at_place(struct lint_run *run, struct lint_where where)
{
	char text[3 * SIZE_TEXT_BYTES] = "";

	if (where.line)
		snprintf(text, sizeof(text), " (line %llu)", (unsigned long long)where.line);
	else if (where.op)
		snprintf(text, sizeof(text), " (operation %llu)", (unsigned long long)where.op);
	return keep(run, text);
}

const char *lint_path(struct lint_run *run, uint32_t path)
{
	const char *text = path_text(run->source->paths, path);
	size_t bytes = strlen(text);
	char shown[100];

	if (bytes < 60)
		return text;
	snprintf(shown, sizeof(shown), "...%s", text + bytes - 56);
	return keep(run, shown);
}

const char *lint_stream(struct lint_run *run, uint32_t stream)
{
	return stream < run->stream_count && run->stream_names[stream] ? run->stream_names[stream]
								       : "somebody";
}

/* ---- ranges ---- */

bool lint_is_read(const struct model_moment *moment)
{
	unsigned int kind = moment->op->kind;

	return moment->file && (kind == OP_READ || kind == OP_READ_DONTCACHE ||
				kind == OP_MMAP_READ || kind == OP_MMAP_WRITE);
}

bool lint_is_write(const struct model_moment *moment)
{
	return moment->file &&
	       (moment->op->kind == OP_WRITE || moment->op->kind == OP_WRITE_DONTCACHE);
}

struct lint_range lint_touched(const struct model_moment *moment)
{
	uint64_t size = cache_file_size(moment->cache, moment->file);
	uint64_t end = moment->op->offset + moment->op->bytes;

	if (end > size)
		end = size;
	if (moment->op->offset >= end)
		return (struct lint_range){0};
	return (struct lint_range){moment->op->offset >> PAGE_SHIFT, pages_from_bytes_up(end)};
}

bool lint_is_dontneed(const struct model_moment *moment)
{
	return moment->op->kind == OP_FADVISE_DONTNEED && moment->file &&
	       cache_file_size(moment->cache, moment->file) > 0;
}

/* Source: Linux mm/fadvise.c, generic_fadvise(): whole pages, but the file's last counts as whole. */
struct lint_range lint_whole_pages(const struct model_moment *moment)
{
	uint64_t size = cache_file_size(moment->cache, moment->file);
	uint64_t offset = moment->op->offset;
	uint64_t end = moment->op->bytes ? offset + moment->op->bytes : UINT64_MAX;
	uint64_t first = pages_from_bytes_up(offset);
	uint64_t last = end >= size ? pages_from_bytes_up(size) : end >> PAGE_SHIFT;

	return first < last ? (struct lint_range){first, last} : (struct lint_range){0};
}
