#include "op/touched.h"

#include <assert.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include "base/size.h"

enum {
	SECTOR_SHIFT = 9,
	SECTOR_BYTES = 1 << SECTOR_SHIFT,
	SECTORS_A_PAGE = 8,
	CHUNK_PAGES = 16,
	CHUNK_SHIFT = PAGE_SHIFT + 4, /* 64 KiB */
	SLOTS_MIN = 1024,
	SLOTS_MAX = 1 << 25,
};

enum side { SIDE_READ, SIDE_WRITTEN, SIDE_COUNT };

/* 64 KiB of a file. */
struct chunk {
	uint64_t index;                         /* of the chunk in the file */
	uint32_t file_plus_1;                   /* 0: a free slot */
	uint16_t pages[SIDE_COUNT];             /* a bit a page: touched, at least in part */
	uint16_t parts[SIDE_COUNT];             /* a bit a page: it has sectors in `sectors` */
	uint8_t whole[SIDE_COUNT][CHUNK_PAGES]; /* a bit a sector: all of it */
};

/* A sector that was touched in part. */
struct sector {
	uint64_t index; /* of the sector in the file */
	uint32_t file_plus_1;
	uint64_t bytes[SIDE_COUNT][SECTOR_BYTES / 64]; /* a bit a byte */
};

/* Both tables: open addressing, no removal, at most three quarters full. */
struct touched {
	struct chunk *chunks;
	size_t chunk_mask, chunk_count;
	struct sector *sectors;
	size_t sector_mask, sector_count;
};

struct touched *touched_create(void)
{
	struct touched *touched = memory_alloc(1, sizeof(*touched));

	touched->chunks = memory_alloc(SLOTS_MIN, sizeof(*touched->chunks));
	touched->chunk_mask = SLOTS_MIN - 1;
	touched->sectors = memory_alloc(SLOTS_MIN, sizeof(*touched->sectors));
	touched->sector_mask = SLOTS_MIN - 1;
	return touched;
}

void touched_destroy(struct touched *touched)
{
	if (!touched)
		return;
	memory_free(touched->chunks);
	memory_free(touched->sectors);
	memory_free(touched);
}

static size_t place_of(uint32_t file_plus_1, uint64_t index)
{
	const uint64_t key[2] = {file_plus_1, index};

	return (size_t)XXH3_64bits(key, sizeof(key));
}

static struct chunk *chunk_slot(const struct touched *touched, uint32_t file_plus_1, uint64_t index)
{
	for (size_t at = place_of(file_plus_1, index);; at++) {
		struct chunk *chunk = &touched->chunks[at & touched->chunk_mask];

		if (!chunk->file_plus_1 ||
		    (chunk->file_plus_1 == file_plus_1 && chunk->index == index))
			return chunk;
	}
}

static struct sector *sector_slot(const struct touched *touched, uint32_t file_plus_1,
				  uint64_t index)
{
	for (size_t at = place_of(file_plus_1, index);; at++) {
		struct sector *sector = &touched->sectors[at & touched->sector_mask];

		if (!sector->file_plus_1 ||
		    (sector->file_plus_1 == file_plus_1 && sector->index == index))
			return sector;
	}
}

static void chunks_double(struct touched *touched)
{
	size_t count = touched->chunk_mask + 1;
	struct chunk *old = touched->chunks;

	touched->chunks = memory_alloc(2 * count, sizeof(*old));
	touched->chunk_mask = 2 * count - 1;
	for (size_t i = 0; i < count; i++) {
		if (old[i].file_plus_1)
			*chunk_slot(touched, old[i].file_plus_1, old[i].index) = old[i];
	}
	memory_free(old);
}

static void sectors_double(struct touched *touched)
{
	size_t count = touched->sector_mask + 1;
	struct sector *old = touched->sectors;

	touched->sectors = memory_alloc(2 * count, sizeof(*old));
	touched->sector_mask = 2 * count - 1;
	for (size_t i = 0; i < count; i++) {
		if (old[i].file_plus_1)
			*sector_slot(touched, old[i].file_plus_1, old[i].index) = old[i];
	}
	memory_free(old);
}

/* NULL: no room is left. */
static struct chunk *chunk_get(struct touched *touched, uint32_t file_plus_1, uint64_t index)
{
	struct chunk *chunk = chunk_slot(touched, file_plus_1, index);

	if (chunk->file_plus_1)
		return chunk;
	if ((touched->chunk_count + 1) * 4 > (touched->chunk_mask + 1) * 3) {
		if (touched->chunk_mask + 1 >= SLOTS_MAX)
			return NULL;
		chunks_double(touched);
		chunk = chunk_slot(touched, file_plus_1, index);
	}
	touched->chunk_count++;
	chunk->file_plus_1 = file_plus_1;
	chunk->index = index;
	return chunk;
}

static struct sector *sector_get(struct touched *touched, uint32_t file_plus_1, uint64_t index)
{
	struct sector *sector = sector_slot(touched, file_plus_1, index);

	if (sector->file_plus_1)
		return sector;
	if ((touched->sector_count + 1) * 4 > (touched->sector_mask + 1) * 3) {
		if (touched->sector_mask + 1 >= SLOTS_MAX / 4)
			return NULL;
		sectors_double(touched);
		sector = sector_slot(touched, file_plus_1, index);
	}
	touched->sector_count++;
	sector->file_plus_1 = file_plus_1;
	sector->index = index;
	return sector;
}

static unsigned int bits_of(const uint64_t *words)
{
	unsigned int count = 0;

	for (size_t i = 0; i < SECTOR_BYTES / 64; i++)
		count += (unsigned int)__builtin_popcountll(words[i]);
	return count;
}

/* Whole sectors of a page: those in `mask`. Returns how many bytes are new. */
static uint64_t sectors_add(struct touched *touched, struct chunk *chunk, unsigned int page,
			    unsigned int mask, enum side side)
{
	unsigned int fresh = mask & ~(unsigned int)chunk->whole[side][page];
	uint64_t bytes = (uint64_t)__builtin_popcount(fresh) * SECTOR_BYTES;

	chunk->whole[side][page] |= (uint8_t)fresh;
	if (!(chunk->parts[side] >> page & 1))
		return bytes;
	/* What was counted of them in parts is not new. */
	for (unsigned int i = 0; i < SECTORS_A_PAGE; i++) {
		uint64_t index = (chunk->index * CHUNK_PAGES + page) * SECTORS_A_PAGE + i;
		const struct sector *sector;

		if (!(fresh >> i & 1))
			continue;
		sector = sector_slot(touched, chunk->file_plus_1, index);
		if (sector->file_plus_1)
			bytes -= bits_of(sector->bytes[side]);
	}
	return bytes;
}

/* Bytes `from` .. `to` - 1 of one sector, not all of it. False: no room is left. */
static bool part_add(struct touched *touched, struct chunk *chunk, unsigned int page,
		     unsigned int number, unsigned int from, unsigned int to, enum side side,
		     uint64_t *new_bytes)
{
	uint64_t index = (chunk->index * CHUNK_PAGES + page) * SECTORS_A_PAGE + number;
	struct sector *sector;
	unsigned int before;

	if (chunk->whole[side][page] >> number & 1)
		return true;
	sector = sector_get(touched, chunk->file_plus_1, index);
	if (!sector)
		return false;
	chunk->parts[side] |= (uint16_t)(1u << page);
	before = bits_of(sector->bytes[side]);
	for (unsigned int i = from; i < to; i++)
		sector->bytes[side][i / 64] |= UINT64_C(1) << (i % 64);
	*new_bytes += bits_of(sector->bytes[side]) - before;
	if (bits_of(sector->bytes[side]) == SECTOR_BYTES)
		chunk->whole[side][page] |= (uint8_t)(1u << number);
	return true;
}

/* Bytes `from` .. `to` - 1 of one page. */
static bool page_add(struct touched *touched, struct chunk *chunk, unsigned int page,
		     unsigned int from, unsigned int to, enum side side, struct touch *touch)
{
	unsigned int first = from >> SECTOR_SHIFT, last = (to - 1) >> SECTOR_SHIFT, mask = 0;
	uint16_t bit = (uint16_t)(1u << page);

	touch->pages++;
	touch->new_pages += !(chunk->pages[side] & bit);
	if (!((chunk->pages[SIDE_READ] | chunk->pages[SIDE_WRITTEN]) & bit)) {
		touch->untouched_pages++;
		touch->partial_pages += to - from < PAGE_BYTES;
	}
	chunk->pages[side] |= bit;
	for (unsigned int i = first; i <= last; i++) {
		unsigned int start = i == first ? from & (SECTOR_BYTES - 1) : 0;
		unsigned int stop = i == last ? to - (i << SECTOR_SHIFT) : SECTOR_BYTES;

		if (start == 0 && stop == SECTOR_BYTES)
			mask |= 1u << i;
		else if (!part_add(touched, chunk, page, i, start, stop, side, &touch->new_bytes))
			return false;
	}
	touch->new_bytes += sectors_add(touched, chunk, page, mask, side);
	return true;
}

bool touched_add(struct touched *touched, uint32_t file, uint64_t offset, uint64_t bytes,
		 bool is_write, struct touch *touch)
{
	enum side side = is_write ? SIDE_WRITTEN : SIDE_READ;
	uint64_t end = offset + bytes;
	struct chunk *chunk = NULL;

	*touch = (struct touch){0};
	assert(file < UINT32_MAX && end >= offset);
	if (bytes >> CHUNK_SHIFT > SLOTS_MAX)
		return false;
	for (uint64_t at = offset; at < end;) {
		uint64_t page = at >> PAGE_SHIFT, next = (page + 1) << PAGE_SHIFT;
		uint64_t stop = next < end ? next : end;

		if (!chunk || chunk->index != at >> CHUNK_SHIFT)
			chunk = chunk_get(touched, file + 1, at >> CHUNK_SHIFT);
		if (!chunk || !page_add(touched, chunk, page % CHUNK_PAGES,
					(unsigned int)(at & (PAGE_BYTES - 1)),
					(unsigned int)(stop - (page << PAGE_SHIFT)), side, touch))
			return false;
		at = stop;
	}
	return true;
}
