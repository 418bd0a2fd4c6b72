/*
 * btrfs's room: chunks, and what is free in those for data
 *
 * Idea       The device is given out in chunks, for data or for metadata (twice): as long as there
 *            are some, a full kind gets one more, and that transaction cannot be logged. Chunks for
 *            data keep to extents of one size (up to 128 KiB, up to 8 MiB, larger), so that small ones
 *            do not break the room that large ones need; when no chunk is left, any will do.
 * Source     Linux 6.18 fs/btrfs/extent-tree.c find_free_extent(), block-group.c
 *            btrfs_calc_block_group_size_class(), volumes.c (sizes of chunks); mkfs.btrfs 6.2 (one
 *            chunk of 5 % for metadata, one of 8 MiB for data)
 * Constants  chunks: data a tenth of the device, 1 GiB at most; metadata a tenth, 256 MiB (1 GiB over
 *            50 GiB) at most, twice; a tenth is rounded up to 16 MiB (decide_stripe_size_regular();
 *            measured: 112 MiB of 1 GiB)
 */
#include "base/size.h"
#include "machine/model/fs/btrfs_private.h"

enum {
	DEFAULT_DEVICE_GIB = 1024,
	FIRST_CHUNK_BLOCKS = 2048,
	ROUND_BLOCKS = 16 * MIB / SPACE_BLOCK_BYTES,
	BLOCKS_PER_NODE = NODE_BYTES / SPACE_BLOCK_BYTES,
	SMALL_BLOCKS = 32,    /* up to that: small */
	MEDIUM_BLOCKS = 2048, /* up to that: medium */
};

uint64_t btrfs_node_offset(const struct filesystem_state *fs, uint64_t key)
{
	const struct btrfs_time *time = fs->time;

	return time->node_start * SPACE_BLOCK_BYTES +
	       (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % time->node_room * NODE_BYTES;
}

static uint64_t chunk_take(struct btrfs_time *time, uint64_t blocks)
{
	uint64_t block = time->unallocated_block;

	if (block + blocks > time->device_blocks)
		blocks = time->device_blocks - block;
	time->unallocated_block += blocks;
	return blocks;
}

static void data_chunk_add(struct btrfs_time *time, uint64_t blocks)
{
	struct btrfs_chunk *chunk = array_push(&time->chunks);

	*chunk = (struct btrfs_chunk){time->unallocated_block, chunk_take(time, blocks), SIZE_NONE};
	space_give(time->room[SIZE_NONE], chunk->block, chunk->blocks);
}

static uint64_t metadata_chunk_most(const struct btrfs_time *time)
{
	return (time->device_blocks <= 50 * GIB / SPACE_BLOCK_BYTES ? 256 * MIB : GIB) /
	       SPACE_BLOCK_BYTES;
}

bool btrfs_chunk_add(struct filesystem_mount *mount, bool is_metadata)
{
	struct btrfs_time *time = mount->state->time;
	uint64_t most = is_metadata ? metadata_chunk_most(time) : GIB / SPACE_BLOCK_BYTES,
		 blocks = (time->device_blocks / 10 + ROUND_BLOCKS - 1) / ROUND_BLOCKS *
			  ROUND_BLOCKS;

	if (time->device_blocks - time->unallocated_block < 2 * BLOCKS_PER_NODE)
		return false;
	if (blocks > most)
		blocks = most;
	time->must_commit = time->has_new_chunk = true;
	if (is_metadata)
		time->node_blocks_max += chunk_take(time, 2 * blocks) / 2 / BLOCKS_PER_NODE;
	else
		data_chunk_add(time, blocks);
	return true;
}

void btrfs_room_make(struct filesystem_mount *mount)
{
	struct btrfs_time *time = mount->state->time;
	uint64_t bytes = mount->options.device_bytes ? mount->options.device_bytes
						     : DEFAULT_DEVICE_GIB * GIB,
		 blocks, most;

	time->device_blocks = bytes / SPACE_BLOCK_BYTES;
	if (time->device_blocks > SPACE_BLOCKS_MAX - 1)
		time->device_blocks = SPACE_BLOCKS_MAX - 1;
	for (enum btrfs_size size = 0; size < SIZES; size++)
		time->room[size] = space_create();
	/* The first MiB is nobody's; then one of each chunk, those for metadata twice. */
	time->unallocated_block = MIB / SPACE_BLOCK_BYTES;
	data_chunk_add(time, FIRST_CHUNK_BLOCKS);
	(void)chunk_take(time, 2 * FIRST_CHUNK_BLOCKS);
	time->node_start = time->unallocated_block;
	blocks = time->device_blocks / 20;
	most = metadata_chunk_most(time);
	blocks = chunk_take(time, 2 * (blocks < most ? blocks : most));
	time->node_room = time->node_blocks_max = blocks / 2 / BLOCKS_PER_NODE;
}

void btrfs_room_destroy(struct btrfs_time *time)
{
	for (enum btrfs_size size = 0; size < SIZES; size++)
		space_destroy(time->room[size]);
	array_deinit(&time->chunks);
}

static struct btrfs_chunk *chunk_of(struct btrfs_time *time, uint64_t block)
{
	size_t low = 0, high = time->chunks.count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (time->chunks.at[middle].block <= block)
			low = middle;
		else
			high = middle;
	}
	return &time->chunks.at[low];
}

/* A chunk that nothing is in and that is large enough gets this size. False: there is none. */
static bool chunk_settle(struct btrfs_time *time, enum btrfs_size size, uint64_t blocks)
{
	for (size_t i = 0; i < time->chunks.count; i++) {
		struct btrfs_chunk *chunk = &time->chunks.at[i];
		uint64_t block;

		if (chunk->size != SIZE_NONE || chunk->blocks < blocks)
			continue;
		(void)space_take(time->room[SIZE_NONE], chunk->block, chunk->blocks, &block);
		chunk->size = size;
		space_give(time->room[size], chunk->block, chunk->blocks);
		return true;
	}
	return false;
}

uint64_t btrfs_room_take(struct filesystem_mount *mount, uint64_t goal, uint64_t blocks,
			 uint64_t *block)
{
	struct btrfs_time *time = mount->state->time;
	enum btrfs_size size = blocks <= SMALL_BLOCKS    ? SIZE_SMALL
			       : blocks <= MEDIUM_BLOCKS ? SIZE_MEDIUM
							 : SIZE_LARGE,
			best = size;

	while (space_longest(time->room[size]) < blocks && !chunk_settle(time, size, blocks) &&
	       btrfs_chunk_add(mount, false))
		;
	if (space_longest(time->room[size]) < blocks) {
		(void)chunk_settle(time, size, 0);
		for (enum btrfs_size other = 0; other < SIZE_NONE; other++)
			if (space_longest(time->room[other]) > space_longest(time->room[best]))
				best = other;
	}
	return space_take(time->room[best], goal, blocks, block);
}

void btrfs_room_give(struct btrfs_time *time, uint64_t block, uint64_t blocks)
{
	while (blocks > 0) {
		const struct btrfs_chunk *chunk = chunk_of(time, block);
		uint64_t left = chunk->block + chunk->blocks - block,
			 some = blocks < left ? blocks : left;

		space_give(time->room[chunk->size], block, some);
		block += some;
		blocks -= some;
	}
}

uint64_t btrfs_room_blocks(const struct btrfs_time *time)
{
	uint64_t blocks = 0;

	for (enum btrfs_size size = 0; size < SIZES; size++)
		blocks += space_free_blocks(time->room[size]);
	return blocks;
}

uint64_t btrfs_room_pieces(const struct btrfs_time *time)
{
	uint64_t pieces = 0;

	for (enum btrfs_size size = 0; size < SIZES; size++)
		pieces += space_free_pieces(time->room[size]);
	return pieces;
}
