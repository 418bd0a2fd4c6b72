/*
 * space: where files lie on a device, and what is free there
 *
 * For the file systems of the shelf that keep time. Free room is a tree of extents ordered by place,
 * each node knowing the longest below it: the first extent that is long enough is found in O(log n),
 * so room is given first fit, near a goal, and a device that was filled and emptied in pieces is a
 * device in pieces. A file is a table of chunks of 1 MiB: a chunk is a hole, one run, or, once it is
 * in pieces, a table of its blocks: page to block is O(1), 8 bytes a MiB, 1 KiB more where it is in
 * pieces. Blocks are 4 KiB, numbered from the device's start.
 */
#ifndef REFAULT_MACHINE_MODEL_SPACE_H
#define REFAULT_MACHINE_MODEL_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/model/io.h"

struct filesystem_mount;
struct space;

enum { SPACE_BLOCK_BYTES = 4096 };
/* One bit of a block's number says whether it is written. */
#define SPACE_BLOCKS_MAX (UINT64_C(1) << 31)

enum space_state { SPACE_HOLE, SPACE_WRITTEN, SPACE_UNWRITTEN };

/* A part of a file that lies in one piece, in one state. */
struct space_run {
	uint64_t page; /* of the file */
	uint64_t block;
	uint64_t pages;
	enum space_state state;
};

typedef void space_visit(void *context, const struct space_run *run);

/* Nothing is free and no file is known at first. */
struct space *space_create(void);
void space_destroy(struct space *space);

/* ---- room ---- */

/* These blocks are free from now on (none of them is). */
void space_give(struct space *space, uint64_t block, uint64_t blocks);
/*
 * At most `blocks` in one piece: the first piece of that length at or after `goal`, else the first
 * of all, else the longest that there is. Returns how many and fills *block; 0: nothing is free.
 */
uint64_t space_take(struct space *space, uint64_t goal, uint64_t blocks, uint64_t *block);
uint64_t space_free_blocks(const struct space *space);
uint64_t space_free_pieces(const struct space *space);
uint64_t space_longest(const struct space *space); /* free piece, blocks */

/* ---- files, by the cache's id ---- */

/* The run at `page`, at most `most` pages of it. */
struct space_run space_find(const struct space *space, uint32_t file, uint64_t page, uint64_t most);
/* Are these pages there in one piece, and written? Then nothing of what follows changes anything. */
bool space_is_written(const struct space *space, uint32_t file, uint64_t page, uint64_t pages);
/* These pages are there from now on; what they had before is the caller's to give back. */
void space_put(struct space *space, uint32_t file, const struct space_run *run);
/* How many runs the file has. */
uint64_t space_runs(const struct space *space, uint32_t file);
/* Pages up to the last that ever had a block. */
uint64_t space_pages(const struct space *space, uint32_t file);
/*
 * Give every hole of the range blocks, in pieces of at most `most`, next to what is before it in the
 * file or at `goal`; `visit` (or NULL) sees each. False: there is no more room.
 */
bool space_fill(struct space *space, uint32_t file, uint64_t page, uint64_t pages, uint64_t goal,
		uint64_t most, enum space_state state, space_visit *visit, void *context);
/* What was unwritten is written. False: nothing was. */
bool space_convert(struct space *space, uint32_t file, uint64_t page, uint64_t pages);
/* All from `page` on is hole; `visit` sees each run that was there, and gives it back or not. */
void space_cut(struct space *space, uint32_t file, uint64_t page, space_visit *visit,
	       void *context);

/*
 * Ask the device for the range, run by run, each request at most `most` pages: reads of what is
 * written, writes of all that has blocks.
 */
void space_transfer(const struct space *space, struct filesystem_mount *mount, enum io_kind kind,
		    uint32_t file, uint64_t page, uint64_t pages, uint64_t most);

/* Walk everything and assert what must hold. */
void space_check(const struct space *space);

#endif
