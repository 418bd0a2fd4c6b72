/*
 * What goes into the journal
 *
 * A record has a header of 24 bytes, 20 for each block that it changes (8 if the relation is the
 * one before), and data; it begins at a multiple of 8. Pages of 8 KiB begin with 24 bytes, a
 * segment's first with 40. The first change of a block after a checkpoint's redo point carries the
 * whole block but for its hole, and 5 bytes more. Sources: PostgreSQL 15, xlogrecord.h,
 * xlog_internal.h, xloginsert.c, XLogRecordAssemble(). Measured: 520 bytes a transaction without
 * images; what backend.c adds up comes to that within 1 %.
 *
 * Differs: the insertion locks are never waited for.
 */
#include "source/workload/pgbench/pgbench.h"

#include <string.h>

#include "base/memory.h"

enum { PAGE_HEADER = 24, SEGMENT_HEADER_MORE = 16, IMAGE_HEADER = 5 };

/* XLogBytePosToEndRecPtr(), step by step: so many bytes more, and the headers in between. */
static uint64_t lsn_add(uint64_t lsn, uint64_t bytes)
{
	uint64_t left = BLOCK_BYTES - lsn % BLOCK_BYTES;

	while (bytes >= left) {
		bytes -= left;
		lsn += left;
		/* The page's header; a record that fills a page to its end has one after it, too. */
		lsn += PAGE_HEADER;
		if ((lsn - PAGE_HEADER) % SEGMENT_BYTES == 0)
			lsn += SEGMENT_HEADER_MORE;
		left = BLOCK_BYTES - lsn % BLOCK_BYTES;
	}
	return lsn + bytes;
}

/* Is it in the journal whole since redo? From now on it is. */
static inline bool imaged_test_set(struct pgbench *pg, uint32_t block)
{
	struct wal *wal = &pg->wal;
	uint64_t bit = UINT64_C(1) << (block & 63), *word;
	bool was;

	if (block / 64 >= wal->imaged_words) {
		uint64_t words = block / 64 + block / 512 + 1024;

		wal->imaged = memory_resize(wal->imaged, words, sizeof(*wal->imaged));
		memset(wal->imaged + wal->imaged_words, 0,
		       (words - wal->imaged_words) * sizeof(*wal->imaged));
		wal->imaged_words = words;
	}
	word = &wal->imaged[block / 64];
	was = *word & bit;
	*word |= bit;
	return was;
}

uint64_t wal_record(struct pgbench *pg, uint32_t bytes, const struct wal_block *blocks,
		    size_t count)
{
	struct wal *wal = &pg->wal;
	uint64_t before = wal->inserted;

	for (size_t i = 0; i < count; i++) {
		uint32_t image = IMAGE_HEADER + blocks[i].used_bytes;

		if (imaged_test_set(pg, blocks[i].block) || blocks[i].is_new ||
		    !pg->options->full_page_writes)
			continue;
		bytes += image - blocks[i].data_bytes;
		pg->count.images++;
		pg->count.image_bytes += image;
	}
	pg->count.wal_bytes += bytes;
	pg->count.wal_records++;
	wal->inserted = lsn_add(before, (bytes + 7) & ~UINT32_C(7));
	/* XLogInsertRecord(): whoever crosses a page's end asks for it to be written. */
	if (wal->inserted / BLOCK_BYTES != before / BLOCK_BYTES)
		wal->asked = wal->inserted;
	for (size_t i = 0; i < count; i++)
		buffer_dirty(pg, blocks[i].block, wal->inserted);
	return wal->inserted;
}

void wal_redo_here(struct pgbench *pg)
{
	pg->wal.redo = pg->wal.inserted;
	memset(pg->wal.imaged, 0, pg->wal.imaged_words * sizeof(*pg->wal.imaged));
}

/* The server has just started: a checkpoint's record stands at the beginning of its first segment. */
void wal_init(struct pgbench *pg)
{
	struct wal *wal = &pg->wal;
	const struct pgbench_options *options = pg->options;

	segments_init(pg);
	wal->inserted = lsn_add(wal->base_segment * SEGMENT_BYTES + 40, 120);
	wal->written = wal->flushed = wal->redo = wal->asked = wal->inserted;
	wal->creating_since_ns = UINT64_MAX;
	wal->imaged_words = pg->relations[REL_HISTORY].first / 64 + 1024;
	wal->imaged = memory_alloc(wal->imaged_words, sizeof(*wal->imaged));
	memory_use_randomly(wal->imaged, wal->imaged_words * sizeof(*wal->imaged));
	/* XLOGChooseNumBuffers(): 1/32 of shared_buffers, 64 KiB to a segment. */
	wal->buffers_bytes = options->wal_buffers_bytes;
	if (!wal->buffers_bytes) {
		wal->buffers_bytes = options->shared_buffers_bytes / 32;
		if (wal->buffers_bytes > SEGMENT_BYTES)
			wal->buffers_bytes = SEGMENT_BYTES;
		if (wal->buffers_bytes < 8 * BLOCK_BYTES)
			wal->buffers_bytes = 8 * BLOCK_BYTES;
	}
	wal->buffers_bytes -= wal->buffers_bytes % BLOCK_BYTES;
}

void wal_deinit(struct pgbench *pg)
{
	array_deinit(&pg->wal.file_of);
	array_deinit(&pg->wal.files);
	memory_free(pg->wal.imaged);
}
