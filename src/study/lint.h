/*
 * lint: the shelf of habits that cost without need
 *
 * A lint is one file in study/lint/ with one constant `struct lint lint_NAME`, and one line in
 * study/lint/lints.def. study/lint/missing_names.c is the smallest whole example. The model carries a
 * trace out (machine/model/watch.h), every lint looks at each op before and after it, and says at the
 * end what it has seen. A lint has a state of its own and does not know of others.
 */
#ifndef REFAULT_STUDY_LINT_H
#define REFAULT_STUDY_LINT_H

#include "machine/model/model.h"
#include "machine/model/watch.h"
#include "measure/lint.h"

struct lint_run {
	const struct model_options *options;
	struct lint_report *report;
	const struct op_source *source;
	char *const *stream_names; /* by stream; at the end */
	uint32_t stream_count;
};

struct lint {
	const char *id;      /* "dontneed-in-vain" */
	const char *summary; /* what it looks for, from lower case */
	size_t state_bytes;

	/* Any may be NULL but end(). `state` is zeroed before the first. */
	void (*before)(struct lint_run *run, void *state, const struct model_moment *moment);
	void (*fetched)(struct lint_run *run, void *state, const struct model_moment *moment,
			const struct cache_run *runs, size_t count);
	void (*after)(struct lint_run *run, void *state, const struct model_moment *moment);
	/* All ops are done: lint_add() what is to be said, and free what the state has. */
	void (*end)(struct lint_run *run, void *state);
};

/* The registry (study/lint/registry.c): NULL after the last. */
const struct lint *lint_at(size_t index);

/*
 * Run the source on the model with these options (their watch looks on, too), and fill the report, which
 * is to be freed with lint_report_deinit(); also the result, with result_deinit(). False: neither is
 * there, and the error says why.
 */
bool lint_source(const struct model_options *options, struct op_source *source,
		 struct lint_report *report, struct result *result, struct error *error);

/* ---- what lints say ---- */

struct lint_finding *lint_add(struct lint_run *run, const struct lint *lint, uint32_t path,
			      uint32_t stream);
void lint_title(struct lint_run *run, struct lint_finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a sentence. */
void lint_text(struct lint_run *run, struct lint_finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void lint_remedy(struct lint_run *run, struct lint_finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void lint_figure(struct lint_finding *finding, const char *name, double value, enum lint_unit unit);

/* Where something happened, remembered while ops go by. */
struct lint_where {
	uint64_t op, line; /* op 0: it did not */
};

struct lint_where lint_where_of(const struct model_moment *moment);
/* Leaves out what did not happen. */
void lint_place(struct lint_finding *finding, struct lint_where where, const char *what);

/* ---- figures in sentences: in the arena ---- */

const char *lint_text_of(struct lint_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

const char *lint_bytes(struct lint_run *run, uint64_t bytes);
const char *lint_count(struct lint_run *run, uint64_t count);
/* "1 page", "16,384 pages" */
const char *lint_pages(struct lint_run *run, uint64_t pages);
/* " (line 12)", " (operation 12)" */
const char *lint_at_place(struct lint_run *run, struct lint_where where);
/* A path, printable and not too long. */
const char *lint_path(struct lint_run *run, uint32_t path);
const char *lint_stream(struct lint_run *run, uint32_t stream);

/* ---- ranges of pages ---- */

struct lint_range {
	uint64_t first, end; /* pages; end is one past */
};

/* What a read, write or mapped access touches, as far as the file goes before it. */
struct lint_range lint_touched(const struct model_moment *moment);

/* Is it DONTNEED on a file that has pages? And which it is about, as the kernel counts them. */
bool lint_is_dontneed(const struct model_moment *moment);
struct lint_range lint_whole_pages(const struct model_moment *moment);

/* Does the op read bytes of a file, through read() or a mapping? */
bool lint_is_read(const struct model_moment *moment);

/* Does it write some, through the page cache? */
bool lint_is_write(const struct model_moment *moment);

#endif
