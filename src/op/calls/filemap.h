/*
 * filemap: a trace of what came into the page cache and left it
 *
 * mm_filemap_add_to_page_cache and mm_filemap_delete_from_page_cache tell of pages, by device and
 * inode; nobody says why they came. So an insertion stands for a read of that page, whoever read or
 * wrote it, and a file is called "dev 253:3 ino 0xa1c". What was cached before the trace and stayed is
 * not seen at all. From Linux 6.12 on mm_filemap_get_pages, mm_filemap_map_pages and mm_filemap_fault
 * tell of uses, whether the pages were there or not: where a trace has those, they are the ops, and
 * insertions are only counted.
 */
#ifndef REFAULT_OP_CALLS_FILEMAP_H
#define REFAULT_OP_CALLS_FILEMAP_H

#include "base/array.h"
#include "op/number_map.h"
#include "op/calls/syscall.h"

struct import;

enum filemap_kind {
	FILEMAP_ADDED,
	FILEMAP_DELETED,
	FILEMAP_USED,   /* mm_filemap_get_pages: a read asks for these pages */
	FILEMAP_MAPPED, /* mm_filemap_fault, mm_filemap_map_pages: memory is touched, or may be */
	FILEMAP_OTHER,
};

/* Why pages left, as far as a call chain or the task tells. */
enum filemap_cause { CAUSE_UNKNOWN, CAUSE_ADVICE, CAUSE_RECLAIM, CAUSE_DEATH, CAUSE_COUNT };

struct filemap {
	struct number_map pages; /* of file and page: a state */
	ARRAY(uint64_t) ends;    /* by path: as far as its pages reach */
	uint64_t inserted, inserted_pages, deleted, deleted_pages;
	uint64_t again;                   /* page insertions after a deletion in the trace */
	uint64_t distinct_again;          /* pages of them */
	uint64_t resident;                /* at the end, of those that were seen to come */
	uint64_t before;                  /* pages deleted that were not seen to come */
	uint64_t uses;                    /* events of that kind */
	uint64_t causes[CAUSE_COUNT];     /* pages deleted */
	uint64_t last_pages;              /* of the last deletion, whose cause may still be told */
	uint64_t last_device, last_inode; /* of the last event: major << 32 | minor */
	bool has_uses;                    /* found in the first reading */
};

/* FILEMAP_OTHER: not one of these events. `name` may begin with "filemap:". */
enum filemap_kind filemap_event(const struct syscall_text *name);

/*
 * One event. *op is filled in but for its time, thread and line; *is_op false: it is none. False: the
 * text cannot be read.
 */
bool filemap_read(struct filemap *filemap, struct import *import, enum filemap_kind kind,
		  const struct syscall_text *text, const struct syscall_text *task, struct op *op,
		  bool *is_op);

/* A function in the call chain of the last event, if that was a deletion. */
void filemap_called_by(struct filemap *filemap, const char *symbol, size_t bytes);

/* The files whose pages were seen were there before, as the first reading finds. */
void filemap_found(const struct filemap *filemap, struct import *import);

/* `with_calls`: system calls were the ops. */
void filemap_note(const struct filemap *filemap, struct import *import, bool with_calls);
void filemap_again(struct filemap *filemap);
void filemap_deinit(struct filemap *filemap);

#endif
