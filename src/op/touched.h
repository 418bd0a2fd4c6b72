/*
 * touched: which bytes of which files were read and written so far, exactly
 *
 * For a trace's summary: distinct bytes, bytes read again, pages. A byte counts once however often
 * it is touched, whatever the requests' sizes. 75 bytes or twice that
 * for each 64 KiB that were touched at all; besides, 192 to 384 for each sector of 512 bytes of which
 * only a part was.
 */
#ifndef REFAULT_OP_TOUCHED_H
#define REFAULT_OP_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

struct touched; /* opaque */

struct touched *touched_create(void);
void touched_destroy(struct touched *touched);

/* What a request added. */
struct touch {
	uint64_t new_bytes;       /* not read before, by a read; not written before, by a write */
	uint64_t pages;           /* it touches, of 4 KiB */
	uint64_t new_pages;       /* not touched in this way before */
	uint64_t untouched_pages; /* neither read nor written before */
	uint64_t partial_pages;   /* of those untouched: covered only in part */
};

/*
 * Bytes `offset` .. `offset + bytes - 1` of a file (any number) are read or written. False: it has
 * become too much to keep (2 GiB of memory); nothing more will be known.
 */
bool touched_add(struct touched *touched, uint32_t file, uint64_t offset, uint64_t bytes,
		 bool is_write, struct touch *touch);

#endif
