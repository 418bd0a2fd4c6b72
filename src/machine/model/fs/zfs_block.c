/*
 * zfs_block: blocks on the device: placed, written, read, freed; and what the allocator's work costs
 *
 * A block's address is its place in units; if no free run was long enough, that of a list of pieces:
 * the gang header that says where they are, and the parts.
 */
#include <assert.h>

#include "machine/model/fs/zfs_private.h"

/* Addresses of blocks that are in pieces. */
#define GANG (1u << 31)

/* Where the pool's own metadata is that is not modelled block by block: anywhere. */
#define MAPS_OFFSET ((uint64_t)ZFS_UNIT_BYTES << 10)

struct zfs_space_paid zfs_space_pay(struct filesystem_mount *mount)
{
	struct filesystem_state *fs = mount->state;
	struct zfs_space_work *paid = &fs->work_paid;
	const struct zfs_space_work *now;
	struct zfs_space_load load;
	struct zfs_space_paid held = {0};
	uint64_t ns, load_ns;

	if (!fs->space)
		return held;
	now = zfs_space_work(fs->space);
	ns = (now->allocations - paid->allocations) * ZFS_CPU_ALLOCATE_NS +
	     (now->searched - paid->searched) * ZFS_CPU_SEARCH_NS +
	     /* found by its size: a step in another tree, and one back */
	     (now->best_fits - paid->best_fits) * 2 * ZFS_CPU_SEARCH_NS;
	load_ns = (now->loaded - paid->loaded) * ZFS_CPU_LOAD_NS;
	mount_cpu(mount, ns + load_ns);
	fs->figures.allocation_cpu_ns += ns + load_ns;
	mount->allocation_ns += ns + load_ns;
	/* Whoever needs a metaslab waits for its map; what is brought in ahead nobody waits for. */
	held.place_ns = ns;
	held.load_ns = now->loads != paid->loads ? load_ns : 0;
	*paid = *now;
	while (zfs_space_load_next(fs->space, &load)) {
		if (!mount->io)
			continue;
		if (fs->maps)
			zfs_map_load(mount, load.metaslab);
		else if (!load.is_ahead)
			mount_read(mount, MAPS_OFFSET,
				   zfs_space_map_bytes(fs->space, load.metaslab) / ZFS_UNIT_BYTES *
						   ZFS_UNIT_BYTES +
					   ZFS_UNIT_BYTES);
	}
	return held;
}

static uint32_t address_of(struct filesystem_state *fs, const struct zfs_extent *pieces,
			   uint32_t count)
{
	if (count == 1)
		return pieces[0].at;
	*array_push(&fs->gangs) = (struct zfs_gang){(uint32_t)fs->pieces.count, count};
	for (uint32_t i = 0; i < count; i++)
		*array_push(&fs->pieces) = pieces[i];
	return GANG | (uint32_t)(fs->gangs.count - 1);
}

/* Its pieces, as they lie in `single` or in the list of all. */
static const struct zfs_extent *pieces_of(const struct filesystem_state *fs, uint32_t address,
					  uint32_t units, struct zfs_extent *single,
					  uint32_t *count)
{
	if (address & GANG) {
		struct zfs_gang gang = fs->gangs.at[address & ~GANG];

		*count = gang.count;
		return &fs->pieces.at[gang.first];
	}
	*single = (struct zfs_extent){address, units};
	*count = 1;
	return single;
}

static void io_ask(struct filesystem_mount *mount, enum io_kind kind, struct zfs_extent piece,
		   bool is_metadata)
{
	uint64_t offset = (uint64_t)piece.at * ZFS_UNIT_BYTES,
		 bytes = (uint64_t)piece.units * ZFS_UNIT_BYTES;

	if (is_metadata) {
		if (kind == IO_READ)
			mount_read(mount, offset, bytes);
		else
			mount_write(mount, offset, bytes);
		return;
	}
	if (kind == IO_READ)
		cache_read_outside(mount->cache, bytes);
	else
		cache_write_outside(mount->cache, bytes);
	if (mount->io)
		mount_data(mount, kind, offset, bytes);
}

bool zfs_block_place(struct filesystem_state *fs, uint32_t units, uint32_t *copies, uint32_t count)
{
	struct zfs_space_ask ask = {.units = units};

	for (uint32_t i = 0; i < count; i++) {
		struct zfs_extent pieces[ZFS_PIECES_MAX], single;
		uint32_t piece_count;

		if (!fs->space) {
			copies[i] = 1;
			continue;
		}
		piece_count = zfs_space_allocate(fs->space, &ask, pieces);
		if (piece_count == 0) {
			copies[i] = 0;
			return false;
		}
		copies[i] = address_of(fs, pieces, piece_count);
		if (i + 1 < count)
			ask.others[ask.other_count++] =
				pieces_of(fs, copies[i], units, &single, &piece_count)->at;
	}
	return true;
}

static void block_write(struct filesystem_mount *mount, uint32_t units, uint32_t address,
			bool is_metadata)
{
	struct zfs_extent single;
	uint32_t count;
	const struct zfs_extent *pieces = pieces_of(mount->state, address, units, &single, &count);

	mount_cpu(mount, ZFS_CPU_ZIO_NS * count +
				 (uint64_t)units * ZFS_UNIT_BYTES / ZFS_CPU_CHECKSUM_BYTES_PER_NS);
	for (uint32_t i = 0; i < count; i++)
		io_ask(mount, IO_WRITE, pieces[i], is_metadata);
}

void zfs_block_rewrite(struct filesystem_mount *mount, uint32_t units, uint32_t old_units,
		       uint32_t *copies, uint32_t count, bool is_metadata)
{
	struct filesystem_state *fs = mount->state;

	for (uint32_t i = 0; i < count; i++)
		if (copies[i])
			zfs_block_free(fs, copies[i], old_units);
	if (!zfs_block_place(fs, units, copies, count)) {
		mount->is_out_of_space = true;
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		block_write(mount, units, copies[i], is_metadata);
}

void zfs_block_read(struct filesystem_mount *mount, uint32_t address, uint32_t units,
		    bool is_metadata)
{
	struct zfs_extent single;
	uint32_t count;
	const struct zfs_extent *pieces = pieces_of(mount->state, address, units, &single, &count);

	mount_cpu(mount, ZFS_CPU_ZIO_NS * count +
				 (uint64_t)units * ZFS_UNIT_BYTES / ZFS_CPU_CHECKSUM_BYTES_PER_NS);
	for (uint32_t i = 0; i < count; i++) {
		io_ask(mount, IO_READ, pieces[i], is_metadata);
		/* Only the header says where the others are. */
		if (i == 0 && count > 1)
			mount_then(mount);
	}
}

void zfs_block_free(struct filesystem_state *fs, uint32_t address, uint32_t units)
{
	struct zfs_extent single;
	uint32_t count;
	const struct zfs_extent *pieces = pieces_of(fs, address, units, &single, &count);

	for (uint32_t i = 0; fs->space && i < count; i++)
		zfs_space_free(fs->space, pieces[i].at, pieces[i].units);
}
