/*
 * io: what one operation asks of the device, and in which order
 *
 * A list of requests in phases: those of a phase are under way together, the next phase begins when
 * all of this one that somebody waits for are done (a record is read before it is written, a commit
 * block follows its transaction, a flush follows both). Filled by operation.c and the file system,
 * carried out by simulation.c. Without one (traces whose time stamps are an order only) nobody keeps
 * time, and only bytes count.
 */
#ifndef REFAULT_MACHINE_MODEL_IO_H
#define REFAULT_MACHINE_MODEL_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* IO_AWAIT asks nothing of the device: what follows waits until mount.reached is `offset`. */
enum io_kind { IO_READ, IO_WRITE, IO_FLUSH, IO_AWAIT };

struct io {
	uint64_t offset; /* on the device, bytes */
	uint64_t bytes;  /* 0 for a flush */
	uint64_t index;  /* first page of `file` that it brings in */
	uint32_t file;   /* the cache's id: readers of these pages wait for it; 0: of none */
	uint8_t kind;    /* enum io_kind */
	bool is_metadata;
	bool is_background; /* the operation does not wait for it */
	bool begins_phase;
};

struct io_list {
	ARRAY(struct io) at;
	bool then; /* the next request begins a phase */
	/*
	 * Of operations that take turns (the commits of a log), those that come while others are
	 * under way begin when these are done, all at once.
	 */
	bool takes_turns;
	uint32_t depth;  /* of the kernel's threads: so many under way at once; 0: as write-back */
	uint64_t cpu_ns; /* processor time besides what any system call takes */
	uint64_t aside_ns; /* and what is spent while it waits for the device */
	uint64_t
		sleep_ns; /* held up by the file system (a throttled writer), not using a processor */
};

static inline void io_list_empty(struct io_list *list)
{
	list->at.count = 0;
	list->then = list->takes_turns = false;
	list->depth = 0;
	list->cpu_ns = list->aside_ns = list->sleep_ns = 0;
}

/* What follows waits until all before it is done. */
static inline void io_then(struct io_list *list)
{
	list->then = list->at.count > 0;
}

static inline struct io *io_add(struct io_list *list, enum io_kind kind, uint64_t offset,
				uint64_t bytes)
{
	struct io *io = array_push(&list->at);

	*io = (struct io){.offset = offset,
			  .bytes = bytes,
			  .kind = (uint8_t)kind,
			  .begins_phase = list->then};
	list->then = false;
	return io;
}

#endif
