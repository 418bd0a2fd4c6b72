/*
 * dump: the shelf of what systems say of their memory
 *
 * A kind of dump is one file in state/dump/ with one constant `struct dump_kind dump_kind_NAME`, and
 * one line in state/dump/dumps.def. state/dump/pressure.c is the smallest whole example. A kind looks
 * at one row at a time: is it one of mine, and what does it say? What lies between dumps, where one
 * ends and whose it is, is state/reader.c's business.
 */
#ifndef REFAULT_STATE_DUMP_H
#define REFAULT_STATE_DUMP_H

#include "state/row.h"

enum row_match {
	ROW_NO,
	ROW_PERHAPS, /* could go on a dump that has begun */
	ROW_LIKELY,  /* could begin one, if no other kind is surer */
	ROW_YES,     /* no other kind has such a row */
	ROW_BEGINS,  /* and with it a new dump begins */
};

struct dump_kind {
	enum dump_id id;
	const char *name;  /* "vmstat" */
	const char *title; /* "/proc/vmstat" */

	/*
	 * The names of files that hold such dumps, ended by NULL; what stands before and behind them
	 * in a path is of no matter. A name that is all there is to tell the kind by (memory.max holds
	 * a number and nothing else) gets into row->called.
	 */
	const char *const *files;

	/* Of a row with at least one field. `open`: the dump before it, if that is of this kind, or NULL. */
	enum row_match (*match)(const struct row *row, const struct dump *open);

	/* Does it look like a row of this kind that something happened to? Asked inside a dump only. */
	bool (*resembles)(const struct row *row);

	/* Read a row that matched: dump_add() what it says. */
	bool (*read)(struct state *state, struct dump *dump, const struct row *row,
		     struct error *error);

	/*
	 * Which of its kind a dump is, from what its file is called (dump->name); NULL: there is but one.
	 * Constant texts.
	 */
	const char *(*which)(const char *called);
};

/* The registry (state/dump/registry.c). */
const struct dump_kind *dump_kind(enum dump_id id);

/* A new entry, its name copied, without values. A name there already is an error of the kind. */
struct entry *dump_add(struct state *state, struct dump *dump, const struct row *row,
		       const char *name, size_t name_bytes);

/* One with one value. */
void dump_add_value(struct state *state, struct dump *dump, const struct row *row,
		    const struct field *name, uint64_t value);

/* ---- rows of "name number", which several kinds have ---- */

/* Is it such a row, all of it? */
bool pair_is(const struct row *row);
/* Would it be, but for its number? */
bool pair_resembles(const struct row *row);
/* Read one: a value as it stands there. */
bool pair_read(struct state *state, struct dump *dump, const struct row *row, struct error *error);
/* Counters of events that /proc/vmstat and a memory cgroup's memory.stat both have (mm/vmstat.c, mm/memcontrol.c). */
extern const char *const pair_events[];
/* Is the row's first field among the words, or does it begin like one that ends in '*'? */
bool word_is_among(const struct field *field, const char *const *words);

#endif
