/*
 * state: what a running system said of its memory, as text that somebody kept
 *
 * A *dump* is the text of one such file (/proc/vmstat, memory.stat, arcstats, ...) at one time; its
 * kinds are a shelf (state/dump.h). Dumps come from files, any number in each, in any order, and are
 * recognised by what they hold; or from the running system (state/system.h). An *entry* is a figure
 * of a dump with the line that it stands on, so that whatever is concluded can show what it rests on.
 * Dumps of the same thing at different times are a *series*: its first and its last are compared.
 *
 * Everything is kept until state_destroy(): some 200 bytes an entry, a few hundred entries a dump.
 */
#ifndef REFAULT_STATE_STATE_H
#define REFAULT_STATE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

enum dump_id {
#define DUMP(name, NAME) DUMP_##NAME,
#include "state/dump/dumps.def"
#undef DUMP
	DUMP_ID_COUNT,
};

/* A file is not longer than this, and a line of it has no more fields. */
#define STATE_FILE_BYTES_MAX (UINT64_C(16) << 20)
enum { ROW_FIELDS_MAX = 64, ENTRY_VALUES_MAX = 16 };

/* What is not limited ("max"), where a limit stands. */
#define VALUE_UNLIMITED UINT64_MAX

/* A figure, or a row of them, under one name. */
struct entry {
	const char *name;
	/* bytes where the dump says kB or bytes, else as it stands there; DUMP.c says which is which */
	uint64_t values[ENTRY_VALUES_MAX];
	uint32_t value_count;
	const char *file; /* as the user gave it */
	uint64_t line;    /* 1-based */
	const char *text; /* the line, trimmed */
};

/* Where a dump's time comes from: times of different clocks are not compared. */
enum state_clock {
	CLOCK_NONE,
	CLOCK_RELATIVE, /* "t=30", "sleep 30" */
	CLOCK_DAY,      /* "10:11:12" */
	CLOCK_DATE,     /* a date and a time, seconds since 1970 */
	CLOCK_OURS,     /* read by us, from the running system */
};

struct dump {
	enum dump_id id;
	const char *name;   /* which of its kind: "memory.max", "memory" of pressure; else "" */
	const char *cgroup; /* its path, "" if nobody says; NULL: of the system */
	const char *label;  /* the heading that it came under; "": none */
	const char *file;
	uint64_t first_line, last_line;
	enum state_clock clock;
	uint64_t time_ns;
	ARRAY(struct entry) entries;

	/* While it is read. */
	bool is_certain;    /* a row of it can be of no other kind */
	bool is_named;      /* a heading of its own says what it is */
	uint64_t own[4];    /* the kind's, between its rows */
	uint64_t row_count; /* that were read, entries or not */
	const char *own_text;
};

/* How two dumps of a series stand to each other. */
enum series_order {
	SERIES_ONE,     /* there is only one */
	SERIES_AS_READ, /* in the order in which they came */
	SERIES_TURNED,  /* counters say that they came in reverse order */
	SERIES_RESET,   /* counters went back: the machine started again in between */
};

struct series {
	enum dump_id id;
	const char *name, *cgroup;
	const struct dump *first, *last; /* in time; the same when there is one */
	size_t dump_count;
	enum series_order order;
	bool has_interval;
	uint64_t interval_ns;
};

struct state_options {
	bool lenient;         /* leave out rows that cannot be read, and count them */
	uint64_t page_bytes;  /* 0: find out */
	uint64_t interval_ns; /* between two dumps of a kind; 0: as their headings say */
	const char *cgroup;   /* of files that do not say whose they are; NULL: nobody says */
};

struct state {
	struct state_options options;
	struct arena arena;
	ARRAY(struct dump *) dumps;  /* as read */
	ARRAY(struct series) series; /* the system's, then each cgroup's */
	ARRAY(const char *) cgroups;
	ARRAY(size_t) cgroup_series; /* by cgroup: its first series; and where the last one's end */
	ARRAY(const char *) notes;   /* what was assumed, a sentence each, without a full stop */
	uint64_t skipped;            /* rows that `lenient` left out */
	uint64_t passed_over;        /* lines between dumps that are neither rows nor headings */
	uint64_t page_bytes;
	const char *page_bytes_from;                /* why that; a few words */
	const struct entry *page_bytes_evidence[2]; /* NULL: none */
};

struct state *state_create(const struct state_options *options);
void state_destroy(struct state *state);

/*
 * Read a file, plain or compressed; "-" is standard input. Fails (ERROR_INPUT) if it holds no dump,
 * on a row that cannot be read unless `lenient`, and then too if too many of a dump's rows cannot.
 */
bool state_read(struct state *state, const char *path, struct error *error);

/* Read a text that was a file's. `clock` NONE: its headings say when. */
bool state_read_text(struct state *state, const char *name, const char *text, size_t bytes,
		     enum state_clock clock, uint64_t time_ns, struct error *error);

/* All is read: find the pairs and the page size. Fails if what was read contradicts itself. */
bool state_finish(struct state *state, struct error *error);

/* The dumps of that kind; NULL: none. `cgroup` NULL: the system's; `name` NULL: any. */
const struct series *state_series(const struct state *state, enum dump_id id, const char *cgroup,
				  const char *name);

/* The entry of this name; NULL: none. `dump` may be NULL. */
const struct entry *dump_entry(const struct dump *dump, const char *name);

/* "vmstat", for sources and JSON; and "/proc/vmstat", for people. */
const char *dump_name(enum dump_id id);
const char *dump_title(enum dump_id id);

/* A sentence for `notes`. */
void state_note(struct state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text in the arena. */
const char *state_text(struct state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
