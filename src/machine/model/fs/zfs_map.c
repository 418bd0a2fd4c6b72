/*
 * zfs_map: the space maps on the device
 *
 * Idea       Each metaslab has a map: a list of what was taken and given back, in the order in which
 *            it was. A group appends what it has changed, so that every metaslab of which it freed
 *            or took anything has its last block written anew, three times; and when a list has
 *            become twice as long as what is free now would need, it is written anew. To take
 *            anything from a metaslab its whole map must be read, if it is not in the ARC.
 * Source     zfsonlinux 0.7.9 module/zfs/metaslab.c: metaslab_sync(), metaslab_condense();
 *            module/zfs/space_map.c: space_map_write(), space_map_load() (reads all blocks at once);
 *            dmu.c: dmu_write_policy() (of the pool's own metadata there are three copies). Since
 *            2.0 the changes of all metaslabs go to one log (zfs_txg.c)
 * Differs    1. blocks of maps are not compressed (at ashift 12 they could not become smaller)
 *            2. what writing the maps changes in them comes with the next group's changes, not with
 *               a second pass of this one
 */
#include <string.h>

#include "machine/model/fs/zfs_private.h"

enum { COPIES = 3 };

void zfs_maps_create(struct filesystem_state *fs)
{
	if (fs->space && fs->version->space.map_block_bytes)
		fs->maps = memory_alloc(zfs_space_metaslab_count(fs->space), sizeof(*fs->maps));
}

void zfs_maps_destroy(struct filesystem_state *fs)
{
	for (uint32_t i = 0; fs->maps && i < zfs_space_metaslab_count(fs->space); i++)
		memory_free(fs->maps[i].at);
	memory_free(fs->maps);
}

static uint32_t blocks_of(uint64_t bytes)
{
	return (uint32_t)((bytes + ZFS_UNIT_BYTES - 1) / ZFS_UNIT_BYTES);
}

static void map_resize(struct filesystem_state *fs, uint32_t metaslab, uint32_t count)
{
	struct zfs_map *map = &fs->maps[metaslab];

	for (uint32_t block = count; block < map->count; block++) {
		for (int copy = 0; copy < COPIES; copy++)
			zfs_block_free(fs, map->at[block][copy], 1);
		arc_forget(fs->arc, zfs_key(ZFS_KEY_MAP, metaslab, block));
	}
	if (count > map->capacity) {
		map->capacity = count + count / 4 + 4;
		map->at = memory_resize(map->at, map->capacity, sizeof(*map->at));
	}
	if (count > map->count)
		memset(&map->at[map->count], 0, (count - map->count) * sizeof(*map->at));
	map->count = count;
}

void zfs_maps_begin(struct filesystem_state *fs)
{
	struct zfs_space_map change;

	while (zfs_space_map_next(fs->space, &change)) {
		struct zfs_map *map = &fs->maps[change.metaslab];

		map_resize(fs, change.metaslab, blocks_of(change.to_bytes));
		for (uint32_t block = 0; block < map->count; block++)
			(void)zfs_block_place(fs, 1, map->at[block], COPIES);
	}
}

static struct arc_buffer block_buffer(uint32_t metaslab, uint32_t block)
{
	return (struct arc_buffer){
		.key = zfs_key(ZFS_KEY_MAP, metaslab, block),
		.bytes = ZFS_UNIT_BYTES,
		.type = ARC_METADATA,
	};
}

static void map_write(struct filesystem_mount *mount, const struct zfs_space_map *change)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_map *map = &fs->maps[change->metaslab];
	uint32_t first = (uint32_t)(change->from_bytes / ZFS_UNIT_BYTES);
	uint32_t count = blocks_of(change->to_bytes);

	map_resize(fs, change->metaslab, count);
	for (uint32_t block = first; block < count; block++) {
		struct arc_buffer buffer = block_buffer(change->metaslab, block);

		zfs_block_rewrite(mount, 1, 1, map->at[block], COPIES, true);
		arc_make_buffer(fs->arc, &buffer, mount->now_ns);
		arc_clean(fs->arc, buffer.key);
	}
	if (count > 1)
		zfs_block_rewrite(mount, 1, 1, map->top, COPIES, true);
	fs->figures.map_bytes += (uint64_t)(count - first + (count > 1)) * COPIES * ZFS_UNIT_BYTES;
}

void zfs_maps_write(struct filesystem_mount *mount)
{
	struct zfs_space_map change;

	while (zfs_space_map_next(mount->state->space, &change))
		map_write(mount, &change);
}

void zfs_map_load(struct filesystem_mount *mount, uint32_t metaslab)
{
	struct filesystem_state *fs = mount->state;
	const struct zfs_map *map = &fs->maps[metaslab];
	uint64_t reads = 0;

	for (uint32_t block = 0; block < map->count; block++) {
		struct arc_buffer buffer = block_buffer(metaslab, block);

		if (!map->at[block][0] ||
		    arc_use_buffer(fs->arc, &buffer, ARC_USE_DEMAND, mount->now_ns))
			continue;
		zfs_block_read(mount, map->at[block][0], 1, true);
		reads++;
	}
	if (reads > 0)
		mount_then(mount);
	fs->figures.map_reads += reads;
}
