/*
 * summary: what a trace asks for, counted before anything is simulated
 *
 * Files are followed: a rename is the same file, a name that is used again after an unlink another
 * one. Bytes are counted exactly (op/touched.h); what has become too much to keep is not known, and
 * not 0.
 */
#ifndef REFAULT_OP_SUMMARY_H
#define REFAULT_OP_SUMMARY_H

#include "base/array.h"
#include "op/op.h"
#include "op/source.h"

/* Reads, or writes: also through mappings and past the page cache. */
struct summary_side {
	uint64_t count, bytes;
	uint64_t direct_count, direct_bytes; /* of these: O_DIRECT */
	uint64_t mapped_count, mapped_bytes; /* of these: through a mapping */
	uint64_t distinct_bytes;             /* read (or written) at least once */
	uint64_t pages;                      /* touched, each request by itself */
	uint64_t distinct_pages;
};

struct summary_file {
	uint32_t path;       /* its last name */
	uint32_t first_path; /* its first one */
	uint32_t number;     /* in the order in which files are first named */
	bool is_directory;
	bool is_named; /* by an op of the trace; else only as what another one's path leads through */
	bool is_unlinked;
	uint64_t read_count, read_bytes, distinct_read_bytes;
	uint64_t write_count, write_bytes;
	uint64_t end_bytes; /* its size in the end, as far as its sizes, reads and writes tell */
};

struct touched;

struct trace_summary {
	uint64_t op_count, kinds[OP_KIND_COUNT];
	struct summary_side read, write;
	bool knows_distinct;     /* else all that is distinct, and what follows, is not known */
	uint64_t distinct_pages; /* read or written */
	/* Pages of buffered reads that nothing had read or written before: the misses of a cache
	 * that is empty, unlimited, and keeps what is written. */
	uint64_t cold_read_pages;
	/* Pages written only in part that nothing had read or written before: an empty cache must
	 * read those that were there. */
	uint64_t cold_partial_write_pages;
	uint64_t first_ns, last_ns; /* of ops; what was there before aside */
	uint32_t thread_count;
	bool knows_threads; /* some op's thread is not 0, which is also what no thread is */
	ARRAY(struct summary_file) files;
	uint64_t file_count, directory_count;

	/* The rest belongs to summary.c. */
	struct touched *touched;
	ARRAY(uint32_t) by_path; /* file + 1; 0: none yet */
	ARRAY(uint32_t) threads; /* sorted */
	uint32_t thread;         /* the last one */
};

/* All zero is an empty one. */
void trace_summary_init(struct trace_summary *summary);
void trace_summary_deinit(struct trace_summary *summary);

void trace_summary_add(struct trace_summary *summary, const struct op *ops, size_t count);

/* All ops were added: puts the files with the most bytes first. */
void trace_summary_finish(struct trace_summary *summary);

#endif
