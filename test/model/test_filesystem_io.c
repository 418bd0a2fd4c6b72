/*
 * If this fails, a file system asks the device for something else than Linux 6.18 did: the tables
 * below were measured on fresh file systems of 1 GiB on a loop device with a volatile cache and
 * without FUA, one operation after the other (bytes are exact, requests have those that are flushes
 * and nothing else among them).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/size.h"
#include "cache/policy_options.h"
#include "machine/model/filesystem.h"
#include "machine/model/model.h"

enum {
	REQUEST_KIB = 1280,
	NAMES_MAX = 4096,
	STEP_NS = 100 * 1000 * 1000,
	SECOND_SUPER = 64 << 20,
};

/* ---- a machine without a clock of its own: calls what operation.c calls, in its order ---- */

struct traffic {
	uint64_t reads, read_bytes, writes, write_bytes, flushes;
};

static struct rig {
	const struct filesystem *fs;
	struct cache *cache;
	struct tree tree;
	struct filesystem_mount mount;
	struct cache_plan plan;
	struct io_list io;
	char *names[NAMES_MAX];
	uint32_t handles[NAMES_MAX], name_count;
	uint64_t background_ns;
	uint64_t committed_ns; /* btrfs: when it last wrote its second super block */
	struct traffic total;
	uint64_t cpu_ns;
} r;

static uint32_t path_of(const char *name)
{
	for (uint32_t i = 0; i < r.name_count; i++)
		if (strcmp(r.names[i], name) == 0)
			return i;
	assert_true(r.name_count < NAMES_MAX);
	r.names[r.name_count] = strdup(name);
	return r.name_count++;
}

static uint32_t node_of(const char *name)
{
	uint32_t path = path_of(name);

	return tree_resolve(&r.tree, path, r.names[path]);
}

static void mount_begin(const char *fs, uint64_t device_bytes)
{
	struct policy_options options;
	struct error error;
	struct cache_config config;

	memset(&r, 0, sizeof(r));
	r.fs = filesystem_find(fs);
	assert_non_null(r.fs);
	assert_true(policy_options_parse(&options, "linux-6.18", &error));
	config = (struct cache_config){.policy = &options,
				       .filesystem = &r.fs->core,
				       .memory_bytes = 4 * GIB,
				       .readahead_pages = 32,
				       .device_io_pages = r.fs->device_io_pages,
				       .completes_at_once = true};
	r.cache = cache_create(&config, &error);
	assert_non_null(r.cache);
	tree_init(&r.tree, r.cache);
	r.mount = (struct filesystem_mount){.cache = r.cache,
					    .tree = &r.tree,
					    .plan = &r.plan,
					    .io = &r.io,
					    .options.device_bytes = device_bytes};
	cache_stream(r.cache, 1);
}

static void mount_end(void)
{
	r.fs->unmount(&r.mount);
	tree_deinit(&r.tree);
	cache_destroy(r.cache);
	array_deinit(&r.io.at);
	for (uint32_t i = 0; i < r.name_count; i++)
		free(r.names[i]);
}

/* The device did all that was asked. */
static void device(void)
{
	uint64_t flushes = 0;

	for (size_t i = 0; i < r.io.at.count; i++) {
		const struct io *io = &r.io.at.at[i];
		uint64_t requests = (io->bytes + REQUEST_KIB * KIB - 1) / (REQUEST_KIB * KIB);

		assert_true(io->offset + io->bytes <= r.mount.options.device_bytes);
		if (io->kind == IO_READ) {
			r.total.reads += requests;
			r.total.read_bytes += io->bytes;
		} else if (io->kind == IO_WRITE) {
			assert_true(io->bytes > 0);
			r.total.writes += requests;
			r.total.write_bytes += io->bytes;
			if (io->offset == SECOND_SUPER && io->bytes == 4 * KIB)
				r.committed_ns = r.mount.now_ns;
		} else {
			flushes++;
		}
	}
	/* A flush by itself is a request; one that goes with a journal's record is none. */
	r.total.flushes += flushes;
	r.total.writes += strncmp(r.fs->name, "btrfs", 5) == 0 ? flushes / 2 : flushes == 1;
	r.cpu_ns += r.io.cpu_ns;
	io_list_empty(&r.io);
}

static int by_place(const void *a, const void *b)
{
	const struct cache_run *one = a, *other = b;

	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->index < other->index ? -1 : one->index > other->index;
}

/* As plan.c: sorted, and those side by side together. */
static void writes_sort(void)
{
	uint32_t kept = 0;

	if (r.plan.write_count < 2)
		return;
	qsort(r.plan.write, r.plan.write_count, sizeof(r.plan.write[0]), by_place);
	for (uint32_t i = 1; i < r.plan.write_count; i++) {
		struct cache_run *last = &r.plan.write[kept];

		if (r.plan.write[i].file == last->file &&
		    r.plan.write[i].index == last->index + last->pages)
			last->pages += r.plan.write[i].pages;
		else
			r.plan.write[++kept] = r.plan.write[i];
	}
	r.plan.write_count = kept + 1;
}

static void carry_out(uint32_t node)
{
	writes_sort();
	for (uint32_t i = 0; i < r.plan.fetch_count; i++) {
		struct cache_run run = r.plan.fetch[i];

		if (node != TREE_NONE && r.fs->data_read && run.file == r.tree.nodes.at[node].file)
			r.fs->data_read(&r.mount, node, run.index * PAGE_BYTES,
					(uint64_t)run.pages * PAGE_BYTES);
	}
	for (uint32_t i = 0; i < r.plan.fetch_count; i++)
		r.fs->fetch(&r.mount, r.plan.fetch[i].file, r.plan.fetch[i].index,
			    r.plan.fetch[i].pages);
	for (uint32_t i = 0; i < r.plan.write_count; i++)
		r.fs->write_back(&r.mount, r.plan.write[i].file, r.plan.write[i].index,
				 r.plan.write[i].pages);
	r.plan.fetch_count = r.plan.write_count = 0;
}

static void done(void)
{
	carry_out(TREE_NONE);
	device();
	assert_false(r.mount.is_out_of_space);
}

/* Time goes on; the kernel's threads have their turn. */
static void pass(uint64_t ns)
{
	r.mount.now_ns += ns;
	cache_clock(r.cache, r.mount.now_ns, &r.plan);
	r.mount.is_background = true;
	carry_out(TREE_NONE);
	for (; r.fs->background && r.background_ns + STEP_NS <= r.mount.now_ns;
	     r.background_ns += STEP_NS)
		r.fs->background(&r.mount);
	r.mount.is_background = false;
	device();
}

static void hold(uint32_t node)
{
	struct tree_node *at = &r.tree.nodes.at[node];

	if (node == TREE_ROOT)
		return;
	if (!cache_name_cached(r.cache, at->name)) {
		hold(at->parent);
		r.fs->lookup(&r.mount, node);
		carry_out(TREE_NONE);
		if (at->file && !cache_inode_cached(r.cache, at->file))
			r.fs->inode_read(&r.mount, node);
		cache_name_get(r.cache, at->name);
		if (at->parent != TREE_ROOT)
			cache_name_put(r.cache, r.tree.nodes.at[at->parent].name);
	} else {
		cache_name_get(r.cache, at->name);
	}
}

static void exists(const char *name, uint64_t bytes, bool is_directory)
{
	tree_link_cold(&r.tree, node_of(name), bytes, is_directory, false);
}

static void make(const char *name)
{
	uint32_t node = node_of(name), file;

	hold(node);
	file = tree_add_file(&r.tree, node, 0, false, false);
	r.tree.nodes.at[node].is_made = true;
	cache_name_link(r.cache, r.tree.nodes.at[node].name, file);
	r.fs->create(&r.mount, node);
	cache_open_pay(r.cache);
	r.handles[path_of(name)] = cache_open(r.cache, file);
	done();
}

static void open_file(const char *name)
{
	uint32_t node = node_of(name);

	cache_open_pay(r.cache);
	hold(node);
	r.handles[path_of(name)] = cache_open(r.cache, r.tree.nodes.at[node].file);
	done();
}

static void write_file(const char *name, uint64_t offset, uint64_t bytes)
{
	uint32_t node = node_of(name), file = r.tree.nodes.at[node].file;
	uint64_t old = cache_file_size(r.cache, file), end = offset + bytes;

	while (!cache_write(r.cache, r.handles[path_of(name)], &offset, &bytes, &r.plan))
		carry_out(node);
	carry_out(node);
	if (end > old)
		r.fs->resized(&r.mount, node, old, end);
	done();
}

static void read_file(const char *name, uint64_t offset, uint64_t bytes)
{
	uint32_t node = node_of(name);

	while (!cache_read(r.cache, r.handles[path_of(name)], &offset, &bytes, &r.plan))
		carry_out(node);
	carry_out(node);
	done();
}

static void allocate(const char *name, uint64_t offset, uint64_t bytes)
{
	uint32_t node = node_of(name);

	cache_allocate(r.cache, r.tree.nodes.at[node].file, offset, bytes);
	if (r.fs->allocated)
		r.fs->allocated(&r.mount, node, offset, bytes);
	done();
}

static void truncate_file(const char *name, uint64_t bytes)
{
	uint32_t node = node_of(name), file = r.tree.nodes.at[node].file;
	uint64_t old = cache_file_size(r.cache, file);

	cache_truncate(r.cache, file, bytes);
	r.fs->resized(&r.mount, node, old, bytes);
	done();
}

static void sync_file(const char *name, bool data_only)
{
	uint32_t node = node_of(name);

	while (!cache_sync_file(r.cache, r.tree.nodes.at[node].file, &r.plan))
		carry_out(node);
	carry_out(node);
	r.fs->sync(&r.mount, node, data_only);
	done();
}

static void remove_file(const char *name)
{
	uint32_t node = node_of(name), path = path_of(name);

	hold(node);
	r.fs->remove(&r.mount, node);
	cache_name_unlink(r.cache, r.tree.nodes.at[node].name);
	tree_remove_file(&r.tree, node);
	cache_name_put(r.cache, r.tree.nodes.at[node].name);
	if (r.handles[path]) {
		cache_close(r.cache, r.handles[path]);
		cache_name_put(r.cache, r.tree.nodes.at[node].name);
	}
	r.handles[path] = 0;
	done();
}

static void rename_file(const char *from, const char *to)
{
	uint32_t nodes[2] = {node_of(from), node_of(to)};

	hold(nodes[0]);
	hold(nodes[1]);
	if (r.handles[path_of(from)]) {
		cache_name_get(r.cache, r.tree.nodes.at[nodes[1]].name);
		cache_name_put(r.cache, r.tree.nodes.at[nodes[0]].name);
	}
	cache_name_rename(r.cache, r.tree.nodes.at[nodes[0]].name, r.tree.nodes.at[nodes[1]].name);
	tree_move_file(&r.tree, nodes[0], nodes[1]);
	cache_name_put(r.cache, r.tree.nodes.at[nodes[0]].name);
	cache_name_put(r.cache, r.tree.nodes.at[nodes[1]].name);
	r.fs->renamed(&r.mount, nodes[0], nodes[1]);
	r.handles[path_of(to)] = r.handles[path_of(from)];
	r.handles[path_of(from)] = 0;
	done();
}

/* ---- what was measured ---- */

enum fill { FILL_ZERO, FILL_SPARSE, FILL_ALLOCATED };

#define SEGMENT   (16 * MIB)
#define DIRECTORY "wal"
#define TEMPORARY DIRECTORY "/xlogtemp.12345"

/* The name of a segment of the log. */
static const char *segment(char name[64], const char *what, int number)
{
	snprintf(name, 64, DIRECTORY "/%s%0*X", what, (int)(24 - strlen(what)), (unsigned)number);
	return name;
}

/* Create, fill, fsync, rename, fsync both. */
static void segment_create(const char *name, enum fill fill)
{
	make(TEMPORARY);
	if (fill == FILL_ZERO)
		for (uint64_t at = 0; at < SEGMENT; at += 256 * KIB)
			write_file(TEMPORARY, at, 256 * KIB);
	else if (fill == FILL_SPARSE)
		write_file(TEMPORARY, SEGMENT - 1, 1);
	else
		allocate(TEMPORARY, 0, SEGMENT);
	sync_file(TEMPORARY, false);
	rename_file(TEMPORARY, name);
	sync_file(name, false);
	sync_file(DIRECTORY, false);
}

static void segment_rename(const char *from, const char *to)
{
	rename_file(from, to);
	sync_file(to, false);
	sync_file(DIRECTORY, false);
}

static void segment_remove(const char *name)
{
	remove_file(name);
	sync_file(DIRECTORY, false);
}

static void segment_fill(const char *name, uint64_t bytes, int writes, bool same, double seconds)
{
	for (int i = 0; i < writes; i++) {
		write_file(name, same ? 0 : (uint64_t)i * bytes, bytes);
		sync_file(name, true);
		pass((uint64_t)(seconds * 1e9) / (uint64_t)writes);
	}
}

struct row {
	const char *what;
	double seconds;
	uint64_t requests, kib, flushes;
};

enum row_id {
	CREATE_ZERO,
	CREATE_SPARSE,
	CREATE_ALLOCATED,
	FILL8_ZERO,
	FILL8_SPARSE,
	FILL8_ALLOCATED,
	FILL8_RECYCLED,
	TAIL,
	FILL128_ZERO,
	FILL128_SPARSE,
	RENAME,
	UNLINK,
	CREATE_20,
	RENAME_20,
	UNLINK_20,
	ROWS
};

static void row_do(enum row_id row, double seconds)
{
	char name[64], to[64];

	switch (row) {
	case CREATE_ZERO:
		segment_create(segment(name, "zero", 0), FILL_ZERO);
		break;
	case CREATE_SPARSE:
		segment_create(segment(name, "sparse", 0), FILL_SPARSE);
		break;
	case CREATE_ALLOCATED:
		segment_create(segment(name, "falloc", 0), FILL_ALLOCATED);
		break;
	case FILL8_ZERO:
	case FILL8_RECYCLED:
		segment_fill(segment(name, "zero", 0), 8 * KIB, 512, false, seconds);
		return;
	case FILL8_SPARSE:
		segment_fill(segment(name, "sparse", 0), 8 * KIB, 512, false, seconds);
		return;
	case FILL8_ALLOCATED:
		segment_fill(segment(name, "falloc", 0), 8 * KIB, 512, false, seconds);
		return;
	case TAIL:
		segment_fill(segment(name, "zero", 0), 8 * KIB, 512, true, seconds);
		return;
	case FILL128_ZERO:
		segment_fill(segment(name, "zero", 0), 128 * KIB, 128, false, seconds);
		return;
	case FILL128_SPARSE:
		segment_create(segment(name, "sparse", 1), FILL_SPARSE);
		segment_fill(name, 128 * KIB, 128, false, seconds);
		return;
	case RENAME:
		segment_rename(segment(name, "falloc", 0), segment(to, "falloc", 1));
		break;
	case UNLINK:
		segment_remove(segment(name, "falloc", 1));
		break;
	case CREATE_20:
		for (int i = 0; i < 20; i++) {
			segment_create(segment(name, "", i), FILL_ZERO);
			pass((uint64_t)(seconds * 1e9) / 20);
		}
		return;
	case RENAME_20:
		for (int i = 0; i < 20; i++) {
			segment_rename(segment(name, "", i), segment(to, "", 100 + i));
			pass((uint64_t)(seconds * 1e9) / 20);
		}
		return;
	case UNLINK_20:
		for (int i = 0; i < 20; i++) {
			segment_remove(segment(name, "", 100 + i));
			pass((uint64_t)(seconds * 1e9) / 20);
		}
		return;
	case ROWS:
	default:
		return;
	}
	pass((uint64_t)(seconds * 1e9));
}

enum rest { REST_NONE, REST_XFS, REST_BTRFS };

/* Printed numbers are whole KiB; of requests and flushes, one more or less is the measurement's. */
static bool is_near(double model, double measured, double off, double slack)
{
	return fabs(model - measured) <= fmax(slack, off * measured);
}

/*
 * What may be off is a tenth. Two things that the kernel does every 30 s came when they came there: XFS's worker, not known when, here just before the last two rows; and
 * btrfs's commit, towards the end of the row with two flushes more than writes would have.
 */
static void rows_compare(const char *fs, const struct row rows[ROWS], int fillers, enum rest rest)
{
	int wrong = 0;

	mount_begin(fs, GIB);
	exists(DIRECTORY, 0, true);
	for (int i = 0; i < fillers; i++) {
		char name[64];

		exists(segment(name, "other", i), 4096, false);
	}
	r.fs->mount(&r.mount);
	open_file(DIRECTORY);
	memset(&r.total, 0, sizeof(r.total));
	for (enum row_id row = 0; row < ROWS; row++) {
		const struct row *want = &rows[row];
		double kib;
		bool ok;

		if (rest == REST_XFS && row >= RENAME_20)
			pass(31 * NS_PER_SECOND);
		if (rest == REST_BTRFS && row == FILL8_RECYCLED)
			pass(r.committed_ns + 28 * NS_PER_SECOND - r.mount.now_ns);
		memset(&r.total, 0, sizeof(r.total));
		r.cpu_ns = 0;
		row_do(row, want->seconds);
		kib = (double)r.total.write_bytes / 1024;
		ok = is_near(kib, (double)want->kib, 0.10, 0.6) &&
		     is_near((double)r.total.flushes, (double)want->flushes, 0.10, 0) &&
		     is_near((double)r.total.writes, (double)want->requests, 0.10, 2);
		print_message(
			"%s %-6s %-18s %9.1f KiB (%+5.1f %%)  %5d flushes (%+d)  %5d requests "
			"(%+5.1f %%)  read %d, %d us cpu\n",
			ok ? "  " : "!!", fs, want->what, kib,
			100 * (kib - (double)want->kib) / (double)want->kib, (int)r.total.flushes,
			(int)(r.total.flushes - want->flushes), (int)r.total.writes,
			100 * ((double)r.total.writes - (double)want->requests) /
				(double)want->requests,
			(int)r.total.reads, (int)(r.cpu_ns / 1000));
		wrong += !ok;
	}
	mount_end();
	assert_int_equal(wrong, 0);
}

static void ext4_asks_what_linux_asked(void **state)
{
	static const struct row rows[ROWS] = {
		{"create zero", 0.04, 18, 16432, 4},
		{"create sparse", 0.01, 5, 48, 4},
		{"create fallocated", 0.01, 4, 44, 4},
		{"8K zero", 0.77, 1024, 4096, 512},
		{"8K sparse", 2.50, 1541, 14356, 1024},
		{"8K fallocated", 3.53, 1540, 10252, 1026},
		{"8K recycled", 1.58, 1028, 4120, 515},
		{"8K tail", 0.96, 1024, 4096, 512},
		{"128K zero", 1.01, 256, 16384, 128},
		{"128K sparse", 1.55, 390, 18992, 260},
		{"rename", 0.02, 2, 16, 2},
		{"unlink", 0.01, 2, 32, 2},
		{"20 x create zero", 1.16, 366, 328744, 80},
		{"20 x rename", 0.19, 40, 396, 40},
		{"20 x unlink", 0.23, 43, 736, 40},
	};

	(void)state;
	/* As where it was measured, three inodes are left in the directory's block of them. */
	rows_compare("ext4", rows, 1, REST_NONE);
}

static void xfs_asks_what_linux_asked(void **state)
{
	static const struct row rows[ROWS] = {
		{"create zero", 0.04, 15, 16388, 4},
		{"create sparse", 0.01, 3, 8, 4},
		{"create fallocated", 0.01, 2, 4, 4},
		{"8K zero", 2.17, 1031, 4134, 518},
		{"8K sparse", 1.76, 1025, 4864, 1025},
		{"8K fallocated", 1.63, 1028, 4632, 1025},
		{"8K recycled", 2.16, 1024, 4096, 512},
		{"8K tail", 1.81, 1024, 4096, 512},
		{"128K zero", 0.43, 256, 16384, 128},
		{"128K sparse", 0.42, 261, 16585, 262},
		{"rename", 0.01, 1, 2, 2},
		{"unlink", 0.01, 1, 2, 2},
		{"20 x create zero", 0.58, 300, 327787, 80},
		{"20 x rename", 0.09, 20, 60, 40},
		{"20 x unlink", 0.01, 20, 42, 40},
	};

	(void)state;
	rows_compare("xfs", rows, 0, REST_XFS);
}

static void btrfs_asks_what_linux_asked(void **state)
{
	static const struct row rows[ROWS] = {
		{"create zero", 0.17, 61, 16816, 6},
		{"create sparse", 0.06, 19, 208, 6},
		{"create fallocated", 0.06, 18, 204, 6},
		{"8K zero", 3.03, 5436, 68544, 1024},
		{"8K sparse", 3.64, 5534, 70088, 1024},
		{"8K fallocated", 3.59, 5392, 67840, 1024},
		{"8K recycled", 2.15, 6123, 79496, 1026},
		{"8K tail", 1.44, 4012, 45760, 1024},
		{"128K zero", 1.07, 1440, 33792, 256},
		{"128K sparse", 1.28, 1469, 34160, 262},
		{"rename", 0.01, 18, 232, 4},
		{"unlink", 0.03, 8, 100, 2},
		{"20 x create zero", 1.83, 1125, 337080, 120},
		{"20 x rename", 0.05, 358, 4608, 80},
		{"20 x unlink", 0.12, 170, 2160, 40},
	};

	(void)state;
	rows_compare("btrfs", rows, 0, REST_BTRFS);
}

/* ---- a cold file is overwritten ---- */

struct cold {
	uint64_t step;
	uint64_t open_reads, open_kib, reads, read_kib, requests, kib;
	double slack_reads, off;
};

/* 16 MiB whose inode, map and data are not in memory; fdatasync after each 8 writes. */
static void cold_compare(const char *fs, const char *name, const struct cold rows[3])
{
	int wrong = 0;

	for (int i = 0; i < 3; i++) {
		const struct cold *want = &rows[i];
		struct traffic opened;
		uint64_t at, count = 0;
		double kib, read_kib;
		bool ok;

		mount_begin(fs, GIB);
		exists(DIRECTORY, 0, true);
		exists(name, SEGMENT, false);
		r.fs->mount(&r.mount);
		open_file(name);
		opened = r.total;
		memset(&r.total, 0, sizeof(r.total));
		for (at = 0; at + want->step <= SEGMENT; at += want->step) {
			write_file(name, at, want->step);
			if (++count % 8 == 0)
				sync_file(name, true);
		}
		sync_file(name, true);
		kib = (double)r.total.write_bytes / 1024;
		read_kib = (double)r.total.read_bytes / 1024;
		ok = opened.reads == want->open_reads &&
		     opened.read_bytes == want->open_kib * KIB &&
		     is_near((double)r.total.reads, (double)want->reads, 0.01, want->slack_reads) &&
		     is_near(read_kib, (double)want->read_kib, 0.01, 16 * want->slack_reads) &&
		     is_near(kib, (double)want->kib, want->off, 0) &&
		     is_near((double)r.total.writes, (double)want->requests, want->off, 1);
		print_message(
			"%s %-6s step %6d: open reads %d (%d KiB), then %d (%d KiB), writes %d "
			"(%.0f KiB, %+.1f %%)\n",
			ok ? "  " : "!!", fs, (int)want->step, (int)opened.reads,
			(int)(opened.read_bytes / 1024), (int)r.total.reads, (int)read_kib,
			(int)r.total.writes, kib,
			100 * (kib - (double)want->kib) / (double)want->kib);
		wrong += !ok;
		mount_end();
	}
	assert_int_equal(wrong, 0);
}

static void a_cold_file_is_overwritten(void **state)
{
	static const struct cold ext4[3] = {{8192, 2, 8, 0, 0, 513, 16384, 0, 0.01},
					    {5000, 2, 8, 3349, 13396, 840, 18036, 0, 0.01},
					    {131072, 2, 8, 0, 0, 33, 16384, 0, 0.01}},
				 xfs[3] = {{8192, 1, 16, 0, 0, 513, 16384, 0, 0.01},
					   {5000, 1, 16, 3349, 13396, 840, 18036, 0, 0.01},
					   {131072, 1, 16, 0, 0, 33, 16384, 0, 0.01}},
				 /*
				  * Which leaves mounting reads is not known.
				  */
		btrfs[3] = {{8192, 0, 0, 3, 48, 2061, 38084, 2, 0.10},
			    {5000, 0, 0, 3352, 13444, 4582, 72868, 2, 0.10},
			    {131072, 0, 0, 2, 32, 149, 17828, 2, 0.10}};

	(void)state;
	cold_compare("ext4", DIRECTORY "/segment", ext4);
	cold_compare("xfs", "segment", xfs);
	cold_compare("btrfs", "segment", btrfs);
}

/* ---- what is left, and what is not ---- */

static void fill_up(const char *fs)
{
	char name[64];
	uint64_t written = 0;
	int file = 0;

	mount_begin(fs, GIB);
	exists(DIRECTORY, 0, true);
	r.fs->mount(&r.mount);
	assert_true(r.fs->free_bytes(&r.mount) > 700 * MIB);
	for (; !r.mount.is_out_of_space && written < 2 * GIB; file++) {
		uint32_t node;

		make(segment(name, "", file));
		node = node_of(name);
		for (uint64_t at = 0; at < SEGMENT; at += MIB) {
			uint64_t offset = at, bytes = MIB;

			while (!cache_write(r.cache, r.handles[path_of(name)], &offset, &bytes,
					    &r.plan))
				carry_out(node);
			r.fs->resized(&r.mount, node, at, at + MIB);
		}
		while (!cache_sync_file(r.cache, r.tree.nodes.at[node].file, &r.plan))
			carry_out(node);
		carry_out(node);
		r.fs->sync(&r.mount, node, false);
		device();
		written += SEGMENT;
	}
	print_message("%s: full after %d MiB\n", fs, (int)(written / MIB));
	assert_true(r.mount.is_out_of_space);
	assert_true(written > 700 * MIB && written < 1100 * MIB);
	mount_end();
}

static void a_full_device_is_noticed(void **state)
{
	(void)state;
	fill_up("ext4");
	fill_up("xfs");
	fill_up("btrfs");
	fill_up("btrfs-nodatacow");
	fill_up("flat");
}

static void what_is_removed_is_free_again(void **state)
{
	static const char *const names[] = {"ext4", "xfs", "btrfs", "btrfs-nodatacow", "flat"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[64];
		uint64_t before;

		mount_begin(names[i], GIB);
		exists(DIRECTORY, 0, true);
		r.fs->mount(&r.mount);
		before = r.fs->free_bytes(&r.mount);
		for (int round = 0; round < 200; round++) {
			segment(name, "", round % 3);
			make(name);
			write_file(name, 0, 4 * MIB);
			sync_file(name, false);
			allocate(name, 4 * MIB, 4 * MIB);
			truncate_file(name, 5 * MIB);
			assert_true(r.fs->free_bytes(&r.mount) < before);
			remove_file(name);
			pass(NS_PER_SECOND);
		}
		pass(40 * NS_PER_SECOND);
		assert_true(r.fs->free_bytes(&r.mount) == before ||
			    strncmp(names[i], "btrfs", 5) == 0);
		mount_end();
	}
}

/* What was written is read from where it was written, wherever that is by now. */
static void places_stay_true(void **state)
{
	static const char *const names[] = {"ext4", "xfs", "btrfs", "btrfs-nodatacow", "flat"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t reads;

		mount_begin(names[i], GIB);
		exists("heap", 64 * MIB, false);
		r.fs->mount(&r.mount);
		open_file("heap");
		for (uint64_t block = 0; block < 1000; block++) {
			write_file("heap", block * 7919 % 8192 * 8192, 8192);
			if (block % 50 == 0)
				sync_file("heap", true);
			pass(50 * 1000 * 1000);
		}
		memset(&r.total, 0, sizeof(r.total));
		read_file("heap", UINT64_C(1000) * 7919 % 8192 * 8192, 4096);
		reads = r.total.read_bytes;
		assert_true(reads >= 4096);
		mount_end();
	}
}

/* In place and without checksums, an overwrite writes less: 80 KiB a transaction against 51. */
static void without_copy_on_write_less_is_written(void **state)
{
	uint64_t bytes[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		mount_begin(i ? "btrfs-nodatacow" : "btrfs", GIB);
		exists("wal", SEGMENT, false);
		r.fs->mount(&r.mount);
		open_file("wal");
		memset(&r.total, 0, sizeof(r.total));
		segment_fill("wal", 8192, 512, false, 1);
		bytes[i] = r.total.write_bytes;
		mount_end();
	}
	print_message("8 KiB and fdatasync: %d bytes, without copy on write %d\n",
		      (int)(bytes[0] / 512), (int)(bytes[1] / 512));
	/* The inode alone is logged: a leaf and the log's root, twice each, and a super block. */
	assert_int_equal(bytes[1], 512 * (8 + 68) * 1024);
	assert_true(bytes[0] > bytes[1] * 3 / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ext4_asks_what_linux_asked),
		cmocka_unit_test(xfs_asks_what_linux_asked),
		cmocka_unit_test(btrfs_asks_what_linux_asked),
		cmocka_unit_test(a_cold_file_is_overwritten),
		cmocka_unit_test(a_full_device_is_noticed),
		cmocka_unit_test(what_is_removed_is_free_again),
		cmocka_unit_test(places_stay_true),
		cmocka_unit_test(without_copy_on_write_less_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
