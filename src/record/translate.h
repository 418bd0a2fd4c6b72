/*
 * translate: events of the kernel half as ops
 *
 * Knows of each file what it is called, of each open file which it is, of each thread which program
 * runs in it, and has op/calls/calls.h make ops of what they do. All processes share one table of
 * descriptors there: ours, a number for each open file, since the kernel half tells which one a call
 * is about. Events come in the order in which they began (queue.h).
 */
#ifndef REFAULT_RECORD_TRANSLATE_H
#define REFAULT_RECORD_TRANSLATE_H

#include "op/calls/calls.h"
#include "op/op.h"
#include "op/stream.h"
#include "record/event.h"
#include "record/mount_table.h"

struct path_table;
struct translator; /* opaque */

struct translate_options {
	struct path_table *paths;   /* the ops' */
	struct stream_map *streams; /* the ops' streams are made here; its expressions go first */
	struct mount_table *mounts;
	uint64_t start_ns;  /* CLOCK_MONOTONIC; the ops' time 0 */
	bool tells_of_exec; /* the kernel half sees what exec reads; else it is put in */
	bool tells_of_sums; /* and when the kernel sums the statistics of the memory that is watched */
	/*
	 * Only files of this file system, as the kernel encodes its device; 0: of all. What lies on
	 * others is left out, names and all, and paths begin at its root.
	 */
	uint32_t device;
	const char *root; /* where it is mounted */
	void (*deliver)(void *context, const struct op *op);
	void *context;
};

struct translate_counts {
	uint64_t events, calls, faults, names, processes, threads;
	uint64_t late; /* began before one that was handed on already */
	uint64_t
		names_unknown; /* paths whose directory is not known, or that are too long: left out */
	uint64_t cached_pages; /* of files that existed: in memory when they were first touched */
	uint64_t files_cached; /* so many files */
	uint64_t left_out;     /* calls on files of other file systems */
};

struct translator *translator_create(const struct translate_options *options);
void translator_destroy(struct translator *translator);

void translate(struct translator *translator, const struct record_event *event);

struct calls *translator_calls(struct translator *translator);
void translator_counts(const struct translator *translator, struct translate_counts *counts);

/* For a summary: each program and what its threads read and wrote, in the order of first sight. */
struct translate_program {
	const char *command;
	uint64_t ops, read_bytes, written_bytes;
};
size_t translator_program_count(const struct translator *translator);
void translator_program(const struct translator *translator, size_t index,
			struct translate_program *program);

#endif
