/*
 * If this fails, ZFS reads, writes or flushes other things than it would: what recycling costs on it
 * is then predicted wrongly.
 *
 * A mount is built by hand and its functions are called as operation.c calls them; what they ask of
 * the device is counted by kind. Then the same through the model, with a device.
 */
#include "machine/model/fs/zfs_private.h"

#include "base/random.h"
#include "machine/model/device.h"
#include "machine/model/fs/shelf.h"
#include "model_test.h"

enum { K = 1024 };

struct lab {
	struct cache *cache;
	struct tree tree;
	struct cache_plan plan;
	struct filesystem_mount mount;
	struct io_list io;
	struct policy_options policy;
	uint64_t opens;
};

struct asked {
	uint64_t reads, read_bytes, metadata_reads, metadata_read_bytes;
	uint64_t writes, write_bytes, metadata_write_bytes, flushes, phases;
	uint64_t awaits, awaited; /* groups */
};

static struct lab *lab_create_as(const char *policy, uint64_t memory_bytes, uint64_t record_bytes,
				 uint64_t device_bytes)
{
	struct lab *lab = memory_alloc(1, sizeof(*lab));
	struct error error;
	struct cache_config config = {
		.policy = &lab->policy,
		.filesystem = &filesystem_zfs.core,
		.memory_bytes = memory_bytes,
		.readahead_pages = 32,
		.completes_at_once = true,
	};

	if (!policy_options_parse(&lab->policy, policy, &error))
		fail_msg("%s", error.message);
	lab->cache = cache_create(&config, &error);
	if (!lab->cache)
		fail_msg("%s", error.message);
	tree_init(&lab->tree, lab->cache);
	lab->mount = (struct filesystem_mount){
		.cache = lab->cache,
		.tree = &lab->tree,
		.plan = &lab->plan,
		.io = &lab->io,
		.options = {.device_bytes = device_bytes, .record_bytes = record_bytes},
	};
	return lab;
}

static struct lab *lab_create(uint64_t memory_bytes, uint64_t record_bytes, uint64_t device_bytes)
{
	return lab_create_as("arc-2.2", memory_bytes, record_bytes, device_bytes);
}

static struct filesystem_state *fs_of(struct lab *lab)
{
	return lab->mount.state;
}

static void lab_mount(struct lab *lab)
{
	filesystem_zfs.mount(&lab->mount);
	assert_null(lab->mount.failure);
	assert_false(lab->mount.is_out_of_space);
}

static void lab_destroy(struct lab *lab)
{
	arc_check(fs_of(lab)->arc);
	if (fs_of(lab)->space)
		zfs_space_check(fs_of(lab)->space);
	filesystem_zfs.unmount(&lab->mount);
	tree_deinit(&lab->tree);
	cache_check(lab->cache);
	cache_destroy(lab->cache);
	array_deinit(&lab->io.at);
	memory_free(lab);
}

static uint32_t path(struct lab *lab, const char *text)
{
	static uint32_t ids;

	return tree_resolve(&lab->tree, ++ids % 100000, text);
}

static uint32_t exists(struct lab *lab, const char *text, uint64_t bytes)
{
	uint32_t node = path(lab, text), parent = lab->tree.nodes.at[node].parent;

	if (!tree_exists(&lab->tree, parent))
		tree_link_cold(&lab->tree, parent, 0, true, false);
	tree_link_cold(&lab->tree, node, bytes, false, false);
	return node;
}

static struct asked take(struct lab *lab)
{
	struct asked asked = {0};

	for (size_t i = 0; i < lab->io.at.count; i++) {
		const struct io *io = &lab->io.at.at[i];

		asked.phases += i == 0 || io->begins_phase;
		if (io->kind == IO_FLUSH) {
			asked.flushes++;
			continue;
		}
		if (io->kind == IO_AWAIT) {
			asked.awaits++;
			asked.awaited = io->offset;
			continue;
		}
		assert_true(io->bytes > 0 && io->bytes % 4096 == 0);
		assert_true(io->offset + io->bytes <= lab->mount.options.device_bytes);
		if (io->kind == IO_READ) {
			asked.reads += !io->is_metadata;
			asked.read_bytes += io->is_metadata ? 0 : io->bytes;
			asked.metadata_reads += io->is_metadata;
			asked.metadata_read_bytes += io->is_metadata ? io->bytes : 0;
		} else {
			asked.writes++;
			asked.write_bytes += io->bytes;
			asked.metadata_write_bytes += io->is_metadata ? io->bytes : 0;
		}
	}
	io_list_empty(&lab->io);
	return asked;
}

static uint32_t create(struct lab *lab, const char *text)
{
	uint32_t node = path(lab, text);

	(void)tree_add_file(&lab->tree, node, 0, false, false);
	filesystem_zfs.create(&lab->mount, node);
	(void)take(lab); /* the directory's block may have been read */
	return node;
}

static struct asked write_at(struct lab *lab, uint32_t node, uint64_t offset, uint64_t bytes)
{
	filesystem_zfs.write(&lab->mount, node, offset, bytes);
	return take(lab);
}

static struct asked read_at(struct lab *lab, uint32_t node, uint64_t offset, uint64_t bytes)
{
	filesystem_zfs.read(&lab->mount, node, offset, bytes);
	return take(lab);
}

static struct asked sync_node(struct lab *lab, uint32_t node)
{
	filesystem_zfs.sync(&lab->mount, node, true);
	return take(lab);
}

static struct asked write_sync(struct lab *lab, uint32_t node, uint64_t offset, uint64_t bytes)
{
	struct asked write = write_at(lab, node, offset, bytes), sync = sync_node(lab, node);

	write.writes += sync.writes;
	write.write_bytes += sync.write_bytes;
	write.flushes += sync.flushes;
	return write;
}

/* The kernel's threads' turn, some time later. */
static struct asked background(struct lab *lab, uint64_t later_ms)
{
	lab->mount.now_ns += later_ms * NS_PER_MS;
	lab->mount.is_background = true;
	filesystem_zfs.background(&lab->mount);
	lab->mount.is_background = false;
	return take(lab);
}

/* The open group is synced, and its end known. */
static struct asked group(struct lab *lab)
{
	struct asked asked = background(lab, 5000);

	(void)background(lab, 100);
	return asked;
}

/* ---- synchronous writes: a journal's segment of 16 MiB ---- */

static void a_commit_of_8_kib_is_a_log_block_of_12(void **state)
{
	static const uint32_t records[] = {8 * K, 128 * K};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct lab *lab = lab_create(GIB, records[i], 8 * GIB);
		uint32_t node;
		struct asked asked;

		lab_mount(lab);
		node = create(lab, "new");
		/* Appended: nothing is read, whatever the record's size. */
		for (uint64_t block = 0; block < 40; block++) {
			asked = write_sync(lab, node, block * 8 * K, 8 * K);
			assert_int_equal(asked.reads + asked.metadata_reads, 0);
			if (block == 0)
				continue; /* the name is logged, too */
			assert_int_equal(asked.write_bytes, 12 * K);
			assert_int_equal(asked.writes, 1);
			assert_int_equal(asked.flushes, 1);
		}
		/* Nothing new: nothing to do. */
		asked = sync_node(lab, node);
		assert_int_equal(asked.writes + asked.flushes, 0);
		lab_destroy(lab);
	}
}

static void sizes_of_commits(void **state)
{
	/* Written; of log blocks and of data. 192 bytes a record of the log and 192 a block. */
	static const uint64_t sizes[][2] = {
		{1, 4},       {2 * K, 4},       {8 * K, 12},       {16 * K, 20},
		{24 * K, 28}, {32 * K - 8, 36}, {32 * K, 4 + 128}, {128 * K, 4 + 128}};

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct lab *lab = lab_create(GIB, 128 * K, 8 * GIB);
		uint32_t node;
		struct asked asked;

		lab_mount(lab);
		node = create(lab, "new");
		(void)write_sync(lab, node, 0, 256 * K);
		/* A log block is made for what the last ones were: this one has room for all. */
		fs_of(lab)->log.next.units = 32;
		asked = write_sync(lab, node, 0, sizes[i][0]);
		assert_int_equal(asked.write_bytes, sizes[i][1] * K);
		assert_int_equal(asked.flushes, 1);
		lab_destroy(lab);
	}
}

static void what_the_log_wrote_in_place_the_group_does_not_write_again(void **state)
{
	struct lab *lab = lab_create(GIB, 128 * K, 8 * GIB);
	uint32_t node;
	uint64_t data;

	(void)state;
	lab_mount(lab);
	node = create(lab, "new");
	(void)write_sync(lab, node, 0, 512 * K);
	data = fs_of(lab)->figures.data_bytes;
	(void)group(lab);
	assert_int_equal(fs_of(lab)->figures.data_bytes, data);
	/* Unless it was changed since. */
	(void)write_sync(lab, node, 0, 512 * K);
	(void)write_at(lab, node, 128 * K, 1);
	(void)group(lab);
	assert_int_equal(fs_of(lab)->figures.data_bytes - data, 128 * K);
	lab_destroy(lab);
}

static void a_hot_recycled_segment_reads_nothing(void **state)
{
	static const uint32_t records[] = {8 * K, 128 * K};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct lab *lab = lab_create(GIB, records[i], 8 * GIB);
		uint32_t node;
		struct asked asked;

		lab_mount(lab);
		node = create(lab, "segment");
		(void)write_sync(lab, node, 0, 16 * MIB);
		(void)group(lab);
		for (uint64_t block = 0; block < 2048; block++) {
			asked = write_sync(lab, node, block * 8 * K, 8 * K);
			assert_int_equal(asked.reads + asked.metadata_reads, 0);
			assert_int_equal(asked.write_bytes, 12 * K);
		}
		lab_destroy(lab);
	}
}

/* Overwrite all of a segment that is on the device and not in memory. */
static struct asked recycle_cold(uint32_t record_bytes, uint64_t write_bytes,
				 struct zfs_figures *figures)
{
	struct lab *lab = lab_create(GIB, record_bytes, 8 * GIB);
	uint32_t node = exists(lab, "wal/segment", 16 * MIB);
	struct asked sum = {0}, asked;

	lab_mount(lab);
	filesystem_zfs.lookup(&lab->mount, node);
	filesystem_zfs.inode_read(&lab->mount, node);
	asked = take(lab);
	assert_int_equal(asked.metadata_reads, 2); /* the directory's block, the dnode's */
	assert_int_equal(fs_of(lab)->figures.dnode_reads, 1);
	assert_int_equal(fs_of(lab)->figures.directory_reads, 1);
	for (uint64_t at = 0; at + write_bytes <= 16 * MIB; at += write_bytes) {
		asked = write_sync(lab, node, at, write_bytes);
		sum.reads += asked.reads;
		sum.read_bytes += asked.read_bytes;
		sum.metadata_reads += asked.metadata_reads;
		sum.metadata_read_bytes += asked.metadata_read_bytes;
	}
	*figures = fs_of(lab)->figures;
	lab_destroy(lab);
	return sum;
}

static void a_cold_recycled_segment_reads_its_pointers(void **state)
{
	struct zfs_figures figures;
	struct asked asked = recycle_cold(8 * K, 8 * K, &figures);

	(void)state;
	/* recordsize 8 KiB: two level-1 blocks (and the one above them); no records. */
	assert_int_equal(asked.reads, 0);
	assert_int_equal(figures.old_record_reads, 0);
	assert_int_equal(figures.indirect_reads_in_writes, 3);
	assert_int_equal(asked.metadata_reads, 3);
	assert_int_equal(asked.metadata_read_bytes, 2 * 40 * K + 4 * K);

	/* 128 KiB: one of them, and every record, whole, at the first 8 KiB of it. */
	asked = recycle_cold(128 * K, 8 * K, &figures);
	assert_int_equal(figures.indirect_reads_in_writes, 1);
	assert_int_equal(asked.metadata_read_bytes, 8 * K); /* 128 pointers, 5 KiB */
	assert_int_equal(asked.reads, 128);
	assert_int_equal(asked.read_bytes, 16 * MIB);
	assert_int_equal(figures.old_record_reads, 128);

	/* Whole records: none. */
	asked = recycle_cold(128 * K, 128 * K, &figures);
	assert_int_equal(asked.reads, 0);
	assert_int_equal(asked.metadata_reads, 1);
}

static void a_receiver_that_writes_any_length_reads_at_8_kib_too(void **state)
{
	struct zfs_figures figures;
	struct asked asked = recycle_cold(8 * K, 5000, &figures);

	(void)state;
	/* Each record is covered in part by the first write that touches it, and then is there. */
	assert_int_equal(asked.reads, 2048);
	assert_int_equal(asked.read_bytes, 16 * MIB);
	assert_int_equal(figures.indirect_reads_in_writes, 3);
	asked = recycle_cold(128 * K, 5000, &figures);
	assert_int_equal(asked.reads, 128);
}

static void holes_are_not_read(void **state)
{
	struct lab *lab = lab_create(GIB, 128 * K, 8 * GIB);
	uint32_t node;
	struct asked asked;

	(void)state;
	lab_mount(lab);
	node = create(lab, "sparse");
	(void)write_at(lab, node, 16 * MIB - 1, 1);
	(void)group(lab);
	asked = read_at(lab, node, 0, 8 * MIB);
	assert_int_equal(asked.reads + asked.metadata_reads, 0);
	asked = write_at(lab, node, 5000, 100);
	assert_int_equal(asked.reads + asked.metadata_reads, 0);
	lab_destroy(lab);
}

static void a_small_file_is_one_record_that_grows(void **state)
{
	struct lab *lab = lab_create(GIB, 128 * K, 8 * GIB);
	uint32_t node;
	struct zfs_file *file;

	(void)state;
	lab_mount(lab);
	node = create(lab, "small");
	(void)write_at(lab, node, 0, 3000);
	file = &fs_of(lab)->files.at[lab->tree.nodes.at[node].file];
	assert_int_equal(file->record_bytes, 3072);
	(void)group(lab);
	assert_int_equal(file->first_units, 1);
	(void)write_at(lab, node, 3000, 60000);
	assert_int_equal(file->record_bytes, 63488);
	assert_int_equal(file->record_count, 1);
	(void)group(lab);
	assert_int_equal(file->first_units, 16);
	(void)write_at(lab, node, 63000, 100000);
	assert_int_equal(file->record_bytes, 128 * K);
	assert_int_equal(file->record_count, 2);
	(void)group(lab);
	assert_int_equal(file->first_units, 32);
	(void)read_at(lab, node, 0, 163000);
	lab_destroy(lab);
}

/* ---- reading ---- */

static void a_cold_read_goes_down_the_tree(void **state)
{
	struct lab *lab = lab_create(GIB, 8 * K, 8 * GIB);
	uint32_t node = exists(lab, "heap", GIB);
	struct asked asked;

	(void)state;
	lab_mount(lab);
	asked = read_at(lab, node, 500 * MIB, 8 * K);
	assert_int_equal(asked.metadata_reads, 2);
	assert_int_equal(asked.metadata_read_bytes, 40 * K + 8 * K); /* level 2 has 128 pointers */
	assert_int_equal(asked.reads, 1);
	assert_int_equal(asked.read_bytes, 8 * K);
	assert_int_equal(asked.phases, 3);                     /* one after the other */
	asked = read_at(lab, node, 500 * MIB + 64 * K, 8 * K); /* next to it */
	assert_int_equal(asked.metadata_reads, 0);
	assert_int_equal(asked.reads, 1);
	asked = read_at(lab, node, 500 * MIB, 8 * K);
	assert_int_equal(asked.reads, 0);
	/* The record is whole: at 128 KiB one read brings 128. */
	lab_destroy(lab);
	lab = lab_create(GIB, 128 * K, 8 * GIB);
	node = exists(lab, "heap", GIB);
	lab_mount(lab);
	asked = read_at(lab, node, 500 * MIB, 8 * K);
	assert_int_equal(asked.read_bytes, 128 * K);
	lab_destroy(lab);
}

/* A record has 32 pages; who asked for two has missed two. */
static void a_read_misses_the_pages_that_it_asks_for(void **state)
{
	struct lab *lab = lab_create(GIB, 128 * K, 8 * GIB);
	uint32_t node = exists(lab, "heap", GIB);
	struct counters counters;

	(void)state;
	lab_mount(lab);
	(void)read_at(lab, node, 500 * MIB, 8 * K);
	cache_counters(lab->cache, 0, &counters);
	assert_int_equal(counters.page_accesses, 2);
	assert_int_equal(counters.page_misses, 2);
	(void)read_at(lab, node, 500 * MIB + 64 * K, 8 * K);
	/* Over the end of a record, from the middle of a page: one of the three pages is there. */
	(void)read_at(lab, node, 500 * MIB + 124 * K + 512, 8 * K);
	cache_counters(lab->cache, 0, &counters);
	assert_int_equal(counters.page_accesses, 7);
	assert_int_equal(counters.page_misses, 4);
	lab_destroy(lab);
}

static void who_reads_in_order_is_read_ahead_of(void **state)
{
	struct lab *lab = lab_create(GIB, 128 * K, 8 * GIB);
	uint32_t node = exists(lab, "table", 256 * MIB);
	uint64_t awaited = 0;
	struct asked asked;

	(void)state;
	lab_mount(lab);
	asked = read_at(lab, node, 0, 128 * K);
	assert_int_equal(asked.reads, 1);
	filesystem_zfs.read(&lab->mount, node, 128 * K, 128 * K);
	for (size_t i = 0; i < lab->io.at.count; i++)
		awaited += !lab->io.at.at[i].is_background;
	assert_int_equal(awaited, 1);
	asked = take(lab);
	assert_int_equal(asked.read_bytes, 4 * MIB + 128 * K);
	asked = read_at(lab, node, 256 * K, 128 * K);
	assert_int_equal(asked.read_bytes, 4 * MIB + 128 * K); /* twice as far */
	/* Elsewhere: no more than is asked for. */
	asked = read_at(lab, node, 200 * MIB, 128 * K);
	assert_int_equal(asked.reads, 1);
	lab_destroy(lab);
}

static void metadata_is_a_64th_of_data_at_8_kib(void **state)
{
	struct lab *lab = lab_create(GIB, 8 * K, 8 * GIB);
	uint32_t node = exists(lab, "heap", GIB);
	const struct zfs_file *file;
	uint64_t level_1 = 0, compressed = 0;

	(void)state;
	lab_mount(lab);
	file = &fs_of(lab)->files.at[lab->tree.nodes.at[node].file];
	level_1 = (uint64_t)file->indirect_count[0] * ZFS_INDIRECT_BYTES;
	for (uint32_t i = 0; i < file->indirect_count[0]; i++)
		compressed += file->indirect[0][i].units * ZFS_UNIT_BYTES;
	assert_int_equal(level_1 * 64, GIB);        /* 1.56 % */
	assert_int_equal(compressed, 128 * 40 * K); /* of which the ARC keeps 40 of 128 bytes */
	/* In memory it is what is read. */
	for (uint64_t at = 0; at < GIB; at += 8 * MIB)
		(void)read_at(lab, node, at, 8 * K);
	assert_int_equal(fs_of(lab)->figures.indirect_reads, 128 + 1);
	lab_destroy(lab);
}

/* ---- transaction groups ---- */

static void a_group_writes_records_once_and_their_pointers_twice(void **state)
{
	struct lab *lab = lab_create(GIB, 8 * K, 8 * GIB);
	uint32_t node = exists(lab, "heap", GIB);
	struct asked asked;
	uint64_t expected, pool;

	(void)state;
	lab_mount(lab);
	/* A group of next to nothing: what the pool itself takes. */
	(void)write_at(lab, node, 0, 8 * K);
	asked = group(lab);
	assert_int_equal(asked.flushes, 2);
	expected = 8 * K + 2 * 40 * K + 2 * 8 * K + 2 * 8 * K; /* level 1, level 2, dnode block */
	pool = asked.write_bytes - expected;
	assert_in_range(pool, 100 * K, 250 * K);
	/* 100 records, ten each under ten level-1 blocks, each written three times. */
	for (int round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 100; i++)
			(void)write_at(lab, node, i / 10 * 8 * MIB + i % 10 * 80 * K, 8 * K);
	asked = group(lab);
	expected = 100 * 8 * K + 10 * 2 * 40 * K + 2 * 8 * K + 2 * 8 * K;
	assert_int_equal(asked.write_bytes - asked.metadata_write_bytes, 100 * 8 * K);
	assert_int_equal(asked.write_bytes, expected + pool);
	assert_int_equal(asked.flushes, 2);
	/* Data, records of metadata with it, two levels, the pool's, flush, uberblocks, flush. */
	assert_true(asked.phases >= 6);
	/* Nothing more to do. */
	asked = group(lab);
	assert_int_equal(asked.writes + asked.flushes, 0);
	lab_destroy(lab);
}

static void a_group_lasts_5_s_or_a_fifth_of_what_may_be_dirty(void **state)
{
	struct lab *lab = lab_create(GIB, 128 * K, 8 * GIB);
	uint32_t node;
	struct asked asked;

	(void)state;
	lab_mount(lab);
	node = create(lab, "data");
	assert_int_equal(fs_of(lab)->dirty_max, GIB / 10);
	(void)write_at(lab, node, 0, 20 * MIB);
	assert_int_equal(background(lab, 4900).writes, 0);
	assert_true(background(lab, 100).writes > 0);
	(void)background(lab, 100);
	(void)write_at(lab, node, 0, 21 * MIB); /* of 102.4 */
	asked = background(lab, 100);
	assert_true(asked.write_bytes > 21 * MIB);
	lab_destroy(lab);
}

static void writers_are_held_up_near_the_limit(void **state)
{
	struct lab *lab = lab_create(GIB, 128 * K, 8 * GIB);
	uint64_t least = GIB / 10 * 60 / 100, before = 0;
	uint32_t node;

	(void)state;
	lab_mount(lab);
	node = create(lab, "data");
	for (uint64_t at = 0; at < GIB / 10; at += MIB) {
		uint64_t dirty = fs_of(lab)->dirty_open_bytes;

		filesystem_zfs.write(&lab->mount, node, at, MIB);
		if (dirty <= least)
			assert_int_equal(lab->io.sleep_ns, 0);
		else
			assert_true(lab->io.sleep_ns > 0);
		before = lab->io.sleep_ns;
		(void)take(lab);
	}
	assert_true(before > 10 * NS_PER_MS);
	lab_destroy(lab);
}

static void what_is_dirty_again_while_it_is_written_stays_dirty(void **state)
{
	struct lab *lab = lab_create(GIB, 8 * K, 8 * GIB);
	uint32_t node = exists(lab, "heap", 64 * MIB);
	uint64_t key;

	(void)state;
	lab_mount(lab);
	key = zfs_key(ZFS_KEY_RECORD, lab->tree.nodes.at[node].file, 0);
	(void)write_at(lab, node, 0, 16 * K);
	assert_true(background(lab, 5000).writes > 0);
	(void)write_at(lab, node, 0, 8 * K);
	(void)background(lab, 100);
	assert_true(arc_is_dirty(fs_of(lab)->arc, key));
	assert_false(arc_is_dirty(fs_of(lab)->arc, key + 1));
	assert_true(arc_has(fs_of(lab)->arc, key + 1));
	assert_true(background(lab, 5000).writes > 0);
	(void)background(lab, 100);
	assert_false(arc_is_dirty(fs_of(lab)->arc, key));
	lab_destroy(lab);
}

static void a_file_is_freed_in_the_background(void **state)
{
	struct lab *lab = lab_create(GIB, 8 * K, 8 * GIB);
	uint32_t node = exists(lab, "wal/old", 16 * MIB);
	struct asked asked;
	uint64_t free, usable;

	(void)state;
	lab_mount(lab);
	free = zfs_space_free_bytes(fs_of(lab)->space);
	usable = filesystem_zfs.free_bytes(&lab->mount);
	assert_true(usable < free - 200 * MIB); /* slop: a 32nd of 8 GiB */
	filesystem_zfs.remove(&lab->mount, node);
	asked = take(lab);
	assert_int_equal(asked.reads, 0);
	assert_true(asked.metadata_reads <= 1); /* the directory's block; no pointers yet */
	tree_remove_file(&lab->tree, node);
	asked = background(lab, 100);
	assert_int_equal(asked.metadata_reads - (asked.metadata_reads > 3), 3);
	assert_int_equal(fs_of(lab)->figures.indirect_reads_to_free, 3);
	assert_true(zfs_space_free_bytes(fs_of(lab)->space) >= free + 16 * MIB);
	/* The name went to the log, with whatever is committed next. */
	node = create(lab, "other");
	asked = write_sync(lab, node, 0, 8 * K);
	assert_true(asked.write_bytes == 12 * K || asked.write_bytes == 16 * K);
	lab_destroy(lab);
}

static void recycled_space_is_used_again_and_nothing_is_lost(void **state)
{
	struct lab *lab = lab_create(256 * MIB, 8 * K, 512 * MIB);
	uint32_t node = exists(lab, "heap", 128 * MIB);
	struct random random;
	uint64_t free;

	(void)state;
	lab_mount(lab);
	random_init(&random, 1, 0);
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 500; i++)
			(void)write_sync(lab, node, random_below(&random, 16384) * 8 * K, 8 * K);
		(void)group(lab);
		assert_false(lab->mount.is_out_of_space);
		zfs_space_check(fs_of(lab)->space);
		arc_check(fs_of(lab)->arc);
		if (round == 30)
			free = zfs_space_free_bytes(fs_of(lab)->space);
	}
	assert_in_range(zfs_space_free_bytes(fs_of(lab)->space), free - 2 * MIB, free + 2 * MIB);
	lab_destroy(lab);
}

/* ---- versions ---- */

static const char *const policies[] = {"arc-classic", "arc-2.2"};

/* A segment as PostgreSQL makes it: 16 MiB of zeros, and a sync. */
static void a_new_segment_is_written_twice_by_the_log_of_2018(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct lab *lab = lab_create_as(policies[version], GIB, 8 * K, 8 * GIB);
		uint64_t data;
		uint32_t node;
		struct asked asked;

		lab_mount(lab);
		node = create(lab, "segment");
		for (uint64_t at = 0; at < 16 * MIB; at += 256 * K)
			(void)write_at(lab, node, at, 256 * K);
		asked = sync_node(lab, node);
		assert_int_equal(asked.flushes, 1);
		data = fs_of(lab)->figures.data_bytes;
		(void)group(lab);
		data = fs_of(lab)->figures.data_bytes - data;
		if (version == 0) {
			/* 15 records of 8 KiB and 192 bytes in each block of 128 KiB, copied. */
			assert_in_range(asked.writes, 137, 142);
			assert_in_range(asked.write_bytes, 2048 * 8384,
					2048 * 8384 + 142 * UINT64_C(4096));
			assert_int_equal(data, 16 * MIB);
		} else {
			/* To their place, and 192 bytes each in the log. */
			assert_in_range(asked.write_bytes, 16 * MIB + 2048 * 192,
					16 * MIB + 2048 * 192 + 40 * K);
			assert_int_equal(data, 0);
		}
		lab_destroy(lab);
	}
}

/* Each a write of its own: of what is larger than 32 KiB 2.2 logs where it is. */
static void blocks_write(struct lab *lab, uint32_t node, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		(void)write_at(lab, node, UINT64_C(8192) * i, 8192);
}

static void a_log_block_is_as_large_as_the_last_sixteen_had_to_be(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct lab *lab = lab_create_as(policies[version], GIB, 8 * K, 8 * GIB);
		uint32_t node, large = version == 0 ? 32 : 17; /* 128 KiB; 68 KiB */

		lab_mount(lab);
		node = create(lab, "segment");
		for (int i = 0; i < 20; i++)
			(void)write_sync(lab, node, 0, 8 * K);
		assert_int_equal(fs_of(lab)->log.next.units, 3);
		blocks_write(lab, node, 6);
		(void)sync_node(lab, node);
		for (int i = 0; i < 15; i++) {
			assert_int_equal(fs_of(lab)->log.next.units, large);
			assert_int_equal(write_sync(lab, node, 0, 8 * K).write_bytes, 12 * K);
		}
		assert_true(fs_of(lab)->log.next.units >= 9);
		for (int i = 0; i < 8; i++)
			(void)write_sync(lab, node, 0, 8 * K);
		assert_int_equal(fs_of(lab)->log.next.units, 3);
		lab_destroy(lab);
	}
}

/* No free run is longer than so many units from now on, but one in `each` (0: none) by one. */
static void fragment(struct lab *lab, uint32_t units, uint32_t each)
{
	struct zfs_space_ask ask = {.units = units + 1, .use = ZFS_SPACE_LOG};
	struct zfs_extent pieces[ZFS_PIECES_MAX];

	for (uint32_t i = 1; zfs_space_allocate(fs_of(lab)->space, &ask, pieces); i++)
		zfs_space_free(fs_of(lab)->space, pieces[0].at,
			       each && i % each == 0 ? units + 1 : units);
	for (int i = 0; i < 4; i++)
		zfs_space_txg_end(fs_of(lab)->space, lab->mount.now_ns);
}

/* Background work until nothing is left to do. */
static uint32_t settle(struct lab *lab)
{
	uint32_t parts = 0;

	do {
		(void)background(lab, 1);
		parts++;
	} while (lab->mount.goes_on);
	return parts;
}

static void a_commit_without_a_block_waits_for_groups(void **state)
{
	(void)state;
	for (int version = 0; version < 2; version++) {
		struct lab *lab = lab_create_as(policies[version], GIB, 8 * K, 512 * MIB);
		uint64_t txg;
		uint32_t node;
		struct asked asked;

		lab_mount(lab);
		node = create(lab, "segment");
		blocks_write(lab, node, 8);
		(void)sync_node(lab, node);
		(void)settle(lab);
		fragment(lab, 15, 0);
		txg = fs_of(lab)->txg;
		/* Its own block is there, the next one has no place: the open group, and two more. */
		blocks_write(lab, node, 5);
		asked = sync_node(lab, node);
		assert_int_equal(asked.awaits, 1);
		assert_int_equal(asked.awaited, txg + 2);
		assert_true(asked.writes >= 1);
		assert_int_equal(fs_of(lab)->log.next.units, 0);
		assert_int_equal(fs_of(lab)->figures.waits_for_groups, 1);
		/* That is done at once. */
		assert_true(lab->mount.reached < txg);
		(void)settle(lab);
		assert_true(lab->mount.reached >= txg + 2);
		/* A chain that begins waits for its first block; and breaks off again. */
		fragment(lab, 15, 0); /* the block of 128 KiB that was in use is free again */
		txg = fs_of(lab)->txg;
		(void)write_at(lab, node, 0, 8 * K);
		asked = sync_node(lab, node);
		assert_int_equal(asked.awaits, 2);
		assert_int_equal(asked.awaited, txg + 3);
		(void)settle(lab);
		/* Until what is asked for is short. */
		for (int i = 0; i < 40 && fs_of(lab)->log.next.units == 0; i++) {
			(void)write_at(lab, node, 0, 2 * K);
			(void)sync_node(lab, node);
			(void)settle(lab);
		}
		assert_true(fs_of(lab)->log.next.units > 0);
		(void)write_at(lab, node, 0, 2 * K);
		assert_int_equal(sync_node(lab, node).awaits, 0);
		lab_destroy(lab);
	}
}

static void a_group_lasts_as_long_as_its_blocks_are_looked_for(void **state)
{
	struct lab *lab = lab_create_as("arc-classic", GIB, 128 * K, 2 * GIB);
	uint32_t node, parts = 0;
	uint64_t waited;

	(void)state;
	lab_mount(lab);
	lab->mount.options.processors = 16;
	node = create(lab, "data");
	(void)write_at(lab, node, 0, 128 * K);
	(void)settle(lab);
	/* Runs of 124 KiB, and few of 128: each record looks at many of those before it. */
	fragment(lab, 31, 50);
	(void)write_at(lab, node, 0, 32 * MIB);
	lab->mount.now_ns += 5 * NS_PER_SECOND;
	lab->mount.is_background = true;
	filesystem_zfs.background(&lab->mount);
	lab->mount.is_background = false;
	/* It holds the lock for that time, and commits queue for it behind twelve threads. */
	waited = lab->io.sleep_ns;
	assert_true(waited > 0);
	assert_int_equal(fs_of(lab)->locked_until_ns, lab->mount.now_ns + waited);
	(void)take(lab);
	(void)write_at(lab, node, 0, 8 * K);
	filesystem_zfs.sync(&lab->mount, node, true);
	assert_true(lab->io.sleep_ns > 0);
	assert_true(lab->io.sleep_ns <=
		    fs_of(lab)->figures.log_blocks * 12 * fs_of(lab)->lock_hold_ns);
	assert_true(lab->io.takes_turns);
	(void)take(lab);
	parts = settle(lab);
	assert_true(parts >= 1);
	assert_int_equal(fs_of(lab)->stage, ZFS_IDLE);
	/* Afterwards nobody is in front. */
	lab->mount.now_ns += NS_PER_SECOND;
	(void)write_at(lab, node, 0, 8 * K);
	filesystem_zfs.sync(&lab->mount, node, true);
	assert_int_equal(lab->io.sleep_ns, 0);
	(void)take(lab);
	lab_destroy(lab);
}

static void maps_are_written_three_times_and_read_when_they_are_needed(void **state)
{
	struct lab *lab = lab_create_as("arc-classic", GIB, 8 * K, 8 * GIB);
	struct filesystem_state *fs;
	uint32_t node = exists(lab, "heap", GIB);
	struct asked asked;
	uint64_t map_bytes;

	(void)state;
	lab_mount(lab);
	fs = fs_of(lab);
	assert_non_null(fs->maps);
	(void)write_at(lab, node, 0, 8 * K);
	asked = group(lab);
	assert_int_equal(asked.flushes, 2);
	map_bytes = fs->figures.map_bytes;
	assert_true(map_bytes > 0 && map_bytes % (3 * 4096) == 0);
	assert_true(map_bytes <= 8 * 2 * 3 * 4096);
	/* Records all over a gibibyte: every metaslab that one was freed in has its map written. */
	for (uint64_t at = 0; at < GIB; at += 16 * MIB)
		(void)write_at(lab, node, at, 8 * K);
	(void)group(lab);
	assert_true(fs->figures.map_bytes - map_bytes >= GIB / (64 * MIB) * 3 * 4096);
	/* One that is not in the ARC is read, block by block. */
	for (uint32_t block = 0; block < fs->maps[0].count; block++)
		arc_forget(fs->arc, zfs_key(ZFS_KEY_MAP, 0, block));
	assert_true(fs->maps[0].count > 0);
	zfs_map_load(&lab->mount, 0);
	asked = take(lab);
	assert_int_equal(asked.metadata_reads, fs->maps[0].count);
	assert_int_equal(asked.metadata_read_bytes, fs->maps[0].count * 4096);
	zfs_map_load(&lab->mount, 0);
	assert_int_equal(take(lab).metadata_reads, 0);
	lab_destroy(lab);
}

/* ---- who and when ---- */

static void an_unlinked_file_stays_while_somebody_has_it_open(void **state)
{
	struct lab *lab = lab_create(GIB, 8 * K, 8 * GIB);
	uint32_t node = exists(lab, "old", 16 * MIB), handle;
	uint64_t free;

	(void)state;
	lab_mount(lab);
	cache_name_get(lab->cache, lab->tree.nodes.at[node].name);
	cache_open_pay(lab->cache);
	handle = cache_open(lab->cache, lab->tree.nodes.at[node].file);
	cache_name_put(lab->cache, lab->tree.nodes.at[node].name);
	free = zfs_space_free_bytes(fs_of(lab)->space);
	filesystem_zfs.remove(&lab->mount, node);
	cache_name_unlink(lab->cache, lab->tree.nodes.at[node].name);
	tree_remove_file(&lab->tree, node);
	(void)group(lab);
	assert_true(zfs_space_free_bytes(fs_of(lab)->space) < free + MIB);
	cache_close(lab->cache, handle);
	(void)group(lab);
	assert_true(zfs_space_free_bytes(fs_of(lab)->space) > free + 15 * MIB);
	lab_destroy(lab);
}

static void a_group_writes_on_the_account_of_those_who_wrote(void **state)
{
	struct lab *lab = lab_create(GIB, 8 * K, 8 * GIB);
	struct counters one, other, all;
	uint32_t a, b;

	(void)state;
	lab_mount(lab);
	a = create(lab, "a");
	b = create(lab, "b");
	cache_stream(lab->cache, 1);
	(void)write_at(lab, a, 0, MIB);
	cache_stream(lab->cache, 2);
	(void)write_at(lab, b, 0, 3 * MIB);
	(void)group(lab);
	cache_counters(lab->cache, 1, &one);
	cache_counters(lab->cache, 2, &other);
	cache_counters(lab->cache, 0, &all);
	assert_int_equal(one.write_bytes, MIB);
	assert_int_equal(other.write_bytes, 3 * MIB);
	assert_true(all.write_bytes > 4 * MIB);
	lab_destroy(lab);
}

/* ---- through the model, with a device ---- */

static struct result run_on(const char *text, const char *policy, const char *device,
			    uint64_t record_bytes)
{
	struct error error = {0};
	struct device_profile *profile = device ? device_profile_load(device, &error) : NULL;
	struct op_memory *memory = op_memory_parse(text);
	struct model_options options = {
		.filesystem = filesystem_find("zfs"),
		.memory_bytes = GIB,
		.seed = 1,
		.device = profile,
		.device_bytes = device ? 8 * GIB : 0,
		.processors = 4,
		.record_bytes = record_bytes,
		.streams = stream_map_create(STREAM_BY_CLASS),
	};
	struct result result;

	if (device && !profile)
		fail_msg("%s", error.message);
	assert_true(policy_options_parse(&options.policy, policy, &error));
	if (!model_run(&options, &memory->source, &result, &error))
		fail_msg("%s", error.message);
	op_source_destroy(&memory->source);
	stream_map_destroy(options.streams);
	device_profile_free(profile);
	return result;
}

static double figure(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->figure_count; i++)
		if (strcmp(result->figures[i].name, name) == 0)
			return result->figures[i].value;
	fail_msg("no figure %s", name);
	return 0;
}

static void the_model_runs_it_with_and_without_time(void **state)
{
	static const char text[] = "exists heap 0 268435456\n"
				   "exists wal 0 16777216\n"
				   "read heap 0 8192\n"
				   "read heap 134217728 8192\n"
				   "read heap 0 8192\n"
				   "write wal 0 8192\n"
				   "fdatasync wal\n"
				   "create new\n"
				   "write new 0 1048576\n"
				   "fsync new\n"
				   "rename new>newer\n"
				   "+6\n"
				   "write wal 8192 8192\n"
				   "fdatasync wal\n"
				   "mmap_read heap 8388608 8192\n"
				   "unlink newer\n"
				   "+12\n"
				   "read heap 65536 8192\n";
	struct result timeless = run_on(text, "linux-6.18", NULL, 8192), timed;

	(void)state;
	/* Four cold reads of 8 KiB (one of them mapped), and metadata. */
	assert_true(timeless.totals.read_bytes >= 4 * 8 * K);
	assert_true(timeless.totals.read_bytes < 1024 * K);
	assert_true(timeless.totals.page_accesses >= 8);
	timed = run_on(text, "arc-classic", "optane-900p", 8192);
	assert_true(timed.device.flushes >= 3);
	assert_true(timed.device.write_bytes >= MIB + 2 * 12 * K);
	assert_true(timed.device.read_bytes >= 4 * 8 * K);
	/* What decides between the explanations is told. */
	/* The mapping is read around, 128 KiB. */
	assert_true(figure(&timed, "zfs_record_reads") == 3 + 16);
	assert_true(figure(&timed, "zfs_indirect_reads_in_writes") == 2); /* of wal, both levels */
	assert_true(figure(&timed, "zfs_indirect_reads_to_free") == 0);   /* new: in memory */
	assert_true(figure(&timed, "zfs_commits") == 3);
	assert_true(figure(&timed, "zfs_txgs") >= 1);
	assert_true(figure(&timed, "arc_mru_target_bytes") > 0);
	result_deinit(&timeless);
	result_deinit(&timed);
}

static void a_recordsize_is_a_power_of_two(void **state)
{
	struct lab *lab = lab_create(GIB, 12 * K, 8 * GIB);

	(void)state;
	filesystem_zfs.mount(&lab->mount);
	assert_non_null(strstr(lab->mount.failure, "power of two"));
	lab_destroy(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_commit_of_8_kib_is_a_log_block_of_12),
		cmocka_unit_test(sizes_of_commits),
		cmocka_unit_test(what_the_log_wrote_in_place_the_group_does_not_write_again),
		cmocka_unit_test(a_hot_recycled_segment_reads_nothing),
		cmocka_unit_test(a_cold_recycled_segment_reads_its_pointers),
		cmocka_unit_test(a_receiver_that_writes_any_length_reads_at_8_kib_too),
		cmocka_unit_test(holes_are_not_read),
		cmocka_unit_test(a_small_file_is_one_record_that_grows),
		cmocka_unit_test(a_cold_read_goes_down_the_tree),
		cmocka_unit_test(a_read_misses_the_pages_that_it_asks_for),
		cmocka_unit_test(who_reads_in_order_is_read_ahead_of),
		cmocka_unit_test(metadata_is_a_64th_of_data_at_8_kib),
		cmocka_unit_test(a_group_writes_records_once_and_their_pointers_twice),
		cmocka_unit_test(a_group_lasts_5_s_or_a_fifth_of_what_may_be_dirty),
		cmocka_unit_test(writers_are_held_up_near_the_limit),
		cmocka_unit_test(what_is_dirty_again_while_it_is_written_stays_dirty),
		cmocka_unit_test(a_file_is_freed_in_the_background),
		cmocka_unit_test(recycled_space_is_used_again_and_nothing_is_lost),
		cmocka_unit_test(a_new_segment_is_written_twice_by_the_log_of_2018),
		cmocka_unit_test(a_log_block_is_as_large_as_the_last_sixteen_had_to_be),
		cmocka_unit_test(a_commit_without_a_block_waits_for_groups),
		cmocka_unit_test(a_group_lasts_as_long_as_its_blocks_are_looked_for),
		cmocka_unit_test(maps_are_written_three_times_and_read_when_they_are_needed),
		cmocka_unit_test(an_unlinked_file_stays_while_somebody_has_it_open),
		cmocka_unit_test(a_group_writes_on_the_account_of_those_who_wrote),
		cmocka_unit_test(the_model_runs_it_with_and_without_time),
		cmocka_unit_test(a_recordsize_is_a_power_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
