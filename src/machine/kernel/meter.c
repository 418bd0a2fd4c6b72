#include "machine/kernel/meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/kernel/player.h"
#include "machine/kernel/probe.h"
#include "machine/kernel/text_file.h"

#define BIT(name) (UINT64_C(1) << COUNTER_##name)

/* How often somebody has dropped all caches since the machine began. */
static uint64_t drops(void)
{
	char *text = text_file_read("/proc/vmstat");
	uint64_t pages = 0, slab = 0;

	if (text) {
		(void)text_field(text, "drop_pagecache", &pages);
		(void)text_field(text, "drop_slab", &slab);
	}
	memory_free(text);
	return pages + slab;
}

void meter_io(const struct meter *meter, uint64_t *read_bytes, uint64_t *write_bytes)
{
	char text[512];
	ssize_t got = pread(meter->io_fd, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	*read_bytes = *write_bytes = 0;
	(void)text_field(text, "read_bytes", read_bytes);
	(void)text_field(text, "write_bytes", write_bytes);
	*read_bytes -= meter->read_bytes_base;
	*write_bytes -= meter->write_bytes_base;
}

bool meter_start(struct meter *meter, const struct cgroup *cgroup, const struct player *player,
		 struct probe *probe, uint64_t pinned_bytes, struct error *error)
{
	char path[64];
	uint64_t read_bytes, write_bytes;

	*meter = (struct meter){
		.cgroup = cgroup, .player = player, .probe = probe, .pinned_bytes = pinned_bytes};
	if (probe) {
		meter->counts = memory_alloc(1, sizeof(*meter->counts));
		meter->counts->streams =
			memory_alloc(PROBE_STREAMS_MAX, sizeof(*meter->counts->streams));
	}
	snprintf(path, sizeof(path), "/proc/%d/io", (int)player_pid(player));
	meter->io_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (meter->io_fd < 0)
		return error_system(error, "this kernel does not count what a process reads: %s",
				    path);
	meter_io(meter, &read_bytes, &write_bytes);
	meter->read_bytes_base = read_bytes;
	meter->write_bytes_base = write_bytes;
	meter->drops_base = drops();
	return true;
}

void meter_stop(struct meter *meter)
{
	if (meter->io_fd > 0)
		close(meter->io_fd);
	meter->io_fd = -1;
	if (meter->counts)
		memory_free(meter->counts->streams);
	memory_free(meter->counts);
	meter->counts = NULL;
}

/* Put a value where it is known. */
static void fill(struct meter *meter, struct counters *counters, enum counter_id id, uint64_t value,
		 uint64_t divisor)
{
	if (value == CGROUP_UNKNOWN)
		return;
	meter->known |= UINT64_C(1) << id;
	*counter_at(counters, id) = value / divisor;
}

static void levels_read(struct meter *meter, bool sums, struct counters *counters)
{
	struct cgroup_stat stat;

	cgroup_read(meter->cgroup, sums, &stat);
	fill(meter, counters, COUNTER_refaults, stat.refaults, 1);
	fill(meter, counters, COUNTER_refault_activations, stat.refault_activations, 1);
	fill(meter, counters, COUNTER_active_file_pages, stat.active_file, PAGE_BYTES);
	fill(meter, counters, COUNTER_inactive_file_pages, stat.inactive_file, PAGE_BYTES);
	if (stat.dirty != CGROUP_UNKNOWN && stat.writeback != CGROUP_UNKNOWN)
		fill(meter, counters, COUNTER_dirty_pages, stat.dirty + stat.writeback, PAGE_BYTES);
	fill(meter, counters, COUNTER_slab_bytes, stat.kernel_bytes, 1);
}

/* The probe's counters, as everybody names them. */
static void probe_fill(struct counters *counters, const struct probe_counters *from)
{
	counters->reread_bytes = bytes_from_pages(from->reread_pages + from->metadata_reread_pages);
	counters->page_misses = from->page_misses;
	counters->readahead_pages = from->readahead_pages;
	counters->refault_activations = from->refault_activations;
	counters->activations = probe_activations(from);
	counters->deactivations = from->deactivations;
	counters->evictions = from->evictions + from->metadata_evictions;
	counters->dentries_allocated = from->dentries_allocated;
	counters->dentries_evicted = from->dentries_evicted;
	counters->inodes_allocated = from->inodes_allocated;
	counters->inodes_evicted = from->inodes_evicted;
	counters->inodes_reallocated = from->inodes_reallocated;
}

/* What the block layer counts is the device's, not a stream's. */
#define OF_THE_DEVICE (BIT(read_bytes) | BIT(write_bytes))

static void tracepoints_read(struct meter *meter, struct counters *counters)
{
	struct probe_counts *counts = meter->counts;
	struct error error;

	if (!meter->probe || !probe_read(meter->probe, counts, &error))
		return;
	probe_fill(counters, &counts->totals);
	counters->write_bytes = counts->device.data_written_bytes;
	meter->known |= counts->known & ~BIT(read_bytes);
	meter->streams_known |= counts->known & ~OF_THE_DEVICE;
}

void meter_sample(struct meter *meter, struct counters *counters)
{
	uint64_t write_bytes;

	*counters = (struct counters){0};
	meter_io(meter, &counters->read_bytes, &write_bytes);
	levels_read(meter, true, counters);
}

void meter_read(struct meter *meter, bool sums, struct counters *counters)
{
	uint64_t read_bytes, write_bytes;

	*counters = (struct counters){0};
	meter_io(meter, &read_bytes, &write_bytes);
	tracepoints_read(meter, counters);
	counters->read_bytes = read_bytes;
	counters->page_accesses = 0;
	for (uint32_t stream = 0; stream <= STREAM_COUNT_MAX; stream++)
		counters->page_accesses += player_pages(meter->player, stream);
	counters->pinned_bytes = meter->pinned_bytes;
	meter->known |= BIT(read_bytes) | BIT(page_accesses) | BIT(pinned_bytes);
	meter->streams_known |= BIT(page_accesses);
	levels_read(meter, sums, counters);
}

void meter_stream(const struct meter *meter, uint32_t stream, struct counters *counters)
{
	*counters = (struct counters){.page_accesses = player_pages(meter->player, stream)};
	if (meter->counts)
		probe_fill(counters, &meter->counts->streams[stream]);
}

uint64_t meter_blame(const struct meter *meter, uint32_t victim, uint32_t evictor)
{
	return probe_blame(meter->probe)[victim * PROBE_STREAMS_MAX + evictor];
}

/* ---- cachestat(2), Linux 6.5: mm/filemap.c ---- */

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

struct file_range {
	uint64_t offset, bytes; /* bytes 0: to the end */
};

struct file_pages {
	uint64_t cached, dirty, writeback, evicted, recently_evicted; /* pages */
};

/* Of all files that one walk has seen; the walk's function has no argument of its own. */
static struct walk_sum {
	const struct probe *probe; /* NULL: none */
	size_t root_bytes;         /* of the paths: the root's own */
	struct file_pages sum;
	ARRAY(struct result_file) files;
	uint64_t file_count;
	bool no_cachestat, no_files;
} walked;

enum { WALKED_FILES_MAX = 200000 };

static void walk_cachestat(const char *path)
{
	struct file_range range = {0};
	struct file_pages stat;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOATIME);

	if (fd < 0 || syscall(SYS_cachestat, fd, &range, &stat, 0) != 0) {
		walked.no_cachestat = true;
	} else {
		walked.sum.cached += stat.cached;
		walked.sum.dirty += stat.dirty;
		walked.sum.writeback += stat.writeback;
		walked.sum.evicted += stat.evicted;
		walked.sum.recently_evicted += stat.recently_evicted;
	}
	if (fd >= 0)
		close(fd);
}

static int walk_file(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	struct probe_file_pages pages = {0};

	(void)walk;
	if (kind != FTW_F)
		return 0;
	if (++walked.file_count > WALKED_FILES_MAX) {
		walked.no_cachestat = walked.no_files = true;
		return 1;
	}
	if (status->st_size > 0 && !walked.no_cachestat)
		walk_cachestat(path);
	if (!walked.probe || !probe_file(walked.probe, status->st_ino, &pages))
		walked.no_files = true;
	if (pages.inserted + pages.deleted > 0)
		*array_push(&walked.files) = (struct result_file){
			.path = text_copy(path + walked.root_bytes + 1),
			.inserted_pages = pages.inserted,
			.deleted_pages = pages.deleted,
		};
	return 0;
}

static int by_inserted_pages(const void *a, const void *b)
{
	const struct result_file *left = a, *right = b;

	if (left->inserted_pages != right->inserted_pages)
		return left->inserted_pages < right->inserted_pages ? 1 : -1;
	return strcmp(left->path, right->path);
}

/* The result takes them over. */
static void files_finish(struct result_kernel *in)
{
	size_t count = walked.files.count;

	in->knows_files = !walked.no_files;
	if (count > 0)
		qsort(walked.files.at, count, sizeof(*walked.files.at), by_inserted_pages);
	in->files = walked.files.at;
	in->file_count = walked.no_files ? 0 : count < RESULT_FILES_MAX ? count : RESULT_FILES_MAX;
	for (size_t i = in->file_count; i < count; i++)
		memory_free(in->files[i].path);
}

void meter_besides(const struct meter *meter, const char *root, struct result_kernel *in)
{
	*in = (struct result_kernel){0};
	if (meter->counts) {
		const struct probe_counters *totals = &meter->counts->totals;
		const struct probe_device *device = &meter->counts->device;

		in->knows_calls = meter->counts->known & BIT(evictions);
		in->reclaim_calls = totals->reclaim_calls;
		in->reclaim_freed_pages = totals->reclaim_freed_pages;
		in->shrinker_calls = totals->shrinker_calls;
		in->shrinker_freed = totals->shrinker_freed;
		in->knows_device = meter->counts->known & BIT(read_bytes);
		in->data_read_bytes = device->data_read_bytes;
		in->metadata_read_bytes = device->metadata_read_bytes;
		in->data_written_bytes = device->data_written_bytes;
		in->metadata_written_bytes = device->metadata_written_bytes;
	}
	walked = (struct walk_sum){.probe = meter->probe, .root_bytes = strlen(root)};
	if (nftw(root, walk_file, 32, FTW_PHYS | FTW_MOUNT) != 0)
		walked.no_cachestat = walked.no_files = true;
	in->knows_cachestat = !walked.no_cachestat;
	in->cached_pages = walked.sum.cached;
	in->dirty_pages = walked.sum.dirty;
	in->writeback_pages = walked.sum.writeback;
	in->evicted_pages = walked.sum.evicted;
	in->recently_evicted_pages = walked.sum.recently_evicted;
	files_finish(in);
}

void meter_drops_expected(struct meter *meter)
{
	meter->drops_base = drops();
}

bool meter_is_disturbed(const struct meter *meter)
{
	return drops() != meter->drops_base;
}

/* Schemes that page out what looks idle, whatever its cgroup does (linux-caching.md 10). */
static size_t damon_count(void)
{
	static const char folder[] = "/sys/kernel/mm/damon/admin/kdamonds";
	DIR *all = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	while (all && (entry = readdir(all)) != NULL) {
		char path[512], *state;

		snprintf(path, sizeof(path), "%s/%s/state", folder, entry->d_name);
		state = entry->d_name[0] == '.' ? NULL : text_file_read(path);
		count += state && strncmp(state, "on", 2) == 0;
		memory_free(state);
	}
	if (all)
		closedir(all);
	return count;
}

static void disturbances_note(const struct probe_disturbance *seen, bool drops_pages,
			      struct result *result)
{
	if (seen->inserted_pages)
		result_note(result,
			    "a stranger (%.16s) read or wrote %llu pages of its files meanwhile",
			    seen->inserted_by, (unsigned long long)seen->inserted_pages);
	if (seen->evicted_pages)
		result_note(result,
			    "%llu pages were evicted by %.16s, not by the cgroup's own limit: the "
			    "machine itself is short of memory, or reclaims what is idle",
			    (unsigned long long)seen->evicted_pages, seen->evicted_by);
	if (seen->dropped_pages && !drops_pages)
		result_note(result, "%llu pages were dropped by %.16s",
			    (unsigned long long)seen->dropped_pages, seen->dropped_by);
}

void meter_notes(const struct meter *meter, bool drops_pages, struct result *result)
{
	size_t schemes = damon_count();

	if (meter->counts)
		disturbances_note(&meter->counts->disturbance, drops_pages, result);
	if (schemes)
		result_note(result,
			    "this machine reclaims by itself: %zu DAMON scheme%s may page out what "
			    "has been idle for a while",
			    schemes, schemes == 1 ? "" : "s");
}
