#include "record/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "measure/top.h"
#include "record/mount_table.h"
#include "record/open_files.h"
#include "record/residency.h"
#include "record/watch.h"
#include "state/quantity.h"
#include "state/slab.h"
#include "state/system.h"

struct sampler {
	struct watch *watch; /* NULL: nothing is counted */
	struct mount_table *mounts;
	const char **files; /* canonical paths */
	size_t file_count;
	struct open_files open; /* when this began */
	char *cgroup;           /* its folder; NULL: none */
	char target[PATH_MAX + 64];
	char note[600];
	struct arena texts;
};

/* ---- opening ---- */

static bool files_find(struct sampler *sampler, const struct sampler_options *options,
		       struct error *error)
{
	char path[PATH_MAX];
	struct stat status;

	sampler->files = memory_alloc(options->file_count + 1, sizeof(*sampler->files));
	for (size_t i = 0; i < options->file_count; i++) {
		if (!realpath(options->files[i], path) || stat(path, &status) != 0)
			return error_input(error, "%.200s: %s", options->files[i], strerror(errno));
		if (!S_ISREG(status.st_mode))
			return error_input(error, "%.200s is no regular file", options->files[i]);
		sampler->files[sampler->file_count++] =
			arena_text(&sampler->texts, path, strlen(path));
	}
	return true;
}

static bool mount_find(struct sampler *sampler, const char *mount, struct watch_options *watch,
		       struct error *error)
{
	char path[PATH_MAX];
	const char *filesystem;

	if (!realpath(mount, path))
		return error_input(error, "--mount %.200s: %s", mount, strerror(errno));
	if (!mount_table_device(sampler->mounts, path, &watch->device))
		return error_input(error, "--mount %.200s: on no file system that is mounted here",
				   mount);
	filesystem = mount_table_filesystem(sampler->mounts, watch->device);
	if (!mount_table_is_recorded(sampler->mounts, path))
		return error_input(error,
				   "--mount %.200s: %s has its files in memory alone; expected a "
				   "file system that reads them from somewhere",
				   mount, filesystem ? filesystem : "its file system");
	watch->scope = WATCHED_DEVICE;
	snprintf(sampler->target, sizeof(sampler->target), "%s at %s",
		 filesystem ? filesystem : "file system", path);
	return true;
}

static bool cgroup_find(struct sampler *sampler, const char *cgroup, struct watch_options *watch,
			struct error *error)
{
	char folder[PATH_MAX + 64];

	if (strlen(cgroup) > 3000 || !system_cgroup_folder(cgroup, folder, sizeof(folder)))
		return error_input(
			error,
			"--cgroup %.200s: no memory cgroup; expected a path below /sys/fs/cgroup "
			"in which there is a memory.stat",
			cgroup);
	sampler->cgroup = arena_text(&sampler->texts, folder, strlen(folder));
	watch->scope = WATCHED_CGROUP;
	watch->cgroup = sampler->cgroup;
	snprintf(sampler->target, sizeof(sampler->target), "%s", cgroup);
	return true;
}

static void watch_begin(struct sampler *sampler, struct watch_options *options)
{
	struct error why;

	options->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	sampler->watch = watch_open(options, &why);
	if (!sampler->watch)
		snprintf(sampler->note, sizeof(sampler->note), "nothing is counted: %s",
			 why.message);
	else if (watch_missing(sampler->watch)[0])
		snprintf(sampler->note, sizeof(sampler->note),
			 "this kernel does not have the tracepoints %s",
			 watch_missing(sampler->watch));
}

struct sampler *sampler_open(const struct sampler_options *options, struct error *error)
{
	struct sampler *sampler = memory_alloc(1, sizeof(*sampler));
	struct watch_options watch = {.scope = WATCHED_MACHINE};

	sampler->mounts = mount_table_open(error);
	if (!sampler->mounts || !files_find(sampler, options, error) ||
	    (options->mount && !mount_find(sampler, options->mount, &watch, error)) ||
	    (options->cgroup && !cgroup_find(sampler, options->cgroup, &watch, error))) {
		sampler_close(sampler);
		return NULL;
	}
	watch_begin(sampler, &watch);
	open_files_find(&sampler->open, sampler->mounts,
			watch.scope == WATCHED_DEVICE ? &watch.device : NULL, sampler->cgroup);
	return sampler;
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	watch_close(sampler->watch);
	mount_table_close(sampler->mounts);
	memory_free(sampler->files);
	open_files_deinit(&sampler->open);
	arena_deinit(&sampler->texts);
	memory_free(sampler);
}

const char *sampler_target(const struct sampler *sampler)
{
	return sampler->target;
}

const char *sampler_note(const struct sampler *sampler)
{
	return sampler->note;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* ---- the counts, and what they are held against ---- */

/*
 * Statistics of the machine are kept by each CPU, and added up when they have changed by 125 pages
 * (mm/vmstat.c, calculate_normal_threshold()), or when root asks for it (vm.stat_refresh). Those of a
 * cgroup are added up when somebody reads them, unless they have changed by less than 64 pages a CPU
 * (mm/memcontrol.c, memcg_vmstats_needs_flush()), of which each CPU may hold back another 64
 * (memcg_rstat_updated()).
 */
static uint64_t statistics_refresh(bool is_cgroup)
{
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	char byte;
	int fd;
	bool is_fresh;

	if (is_cgroup)
		return 2 * 64 * cpus;
	fd = open("/proc/sys/vm/stat_refresh", O_RDONLY | O_CLOEXEC);
	is_fresh = fd >= 0 && read(fd, &byte, 1) >= 0;
	if (fd >= 0)
		close(fd);
	return is_fresh ? 0 : 125 * cpus;
}

/* The number in the line "NAME 4096"; false: there is none. */
static bool field_read(const char *text, const char *name, uint64_t *value)
{
	const size_t bytes = strlen(name);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
		if (strncmp(text, name, bytes) != 0 || text[bytes] != ' ')
			continue;
		*value = strtoull(text + bytes, NULL, 10);
		return true;
	}
	return false;
}

/*
 * What the kernel counts as file pages, less shared memory. A machine's "Cached" leaves out what it has
 * as "Buffers", and the swap cache (fs/proc/meminfo.c); a cgroup's has the swap cache in neither
 * (mm/swap_state.c, __add_to_swap_cache()), and the names of version 1 begin with total_ where those
 * below are added.
 */
static struct top_amount file_pages_read(const struct sampler *sampler, uint64_t page_bytes)
{
	char path[PATH_MAX + 80], text[16384];
	uint64_t cached = 0, buffers = 0, shared = 0;
	struct top_amount pages = {0};
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "%s", "/proc/meminfo");
	if (sampler->cgroup)
		snprintf(path, sizeof(path), "%s/memory.stat", sampler->cgroup);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pages;
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[bytes > 0 ? bytes : 0] = '\0';
	if (sampler->cgroup)
		pages.known =
			(field_read(text, "file", &cached) && field_read(text, "shmem", &shared)) ||
			(field_read(text, "total_cache", &cached) &&
			 field_read(text, "total_shmem", &shared));
	else
		pages.known = field_read(text, "Cached:", &cached) &&
			      field_read(text, "Buffers:", &buffers) &&
			      field_read(text, "Shmem:", &shared);
	cached += buffers;
	pages.value = cached > shared ? cached - shared : 0;
	pages.value = sampler->cgroup ? pages.value / page_bytes : pages.value * KIB / page_bytes;
	return pages;
}

/* So few pages that came or went meanwhile are no reason to read anew. */
enum { MOVED_FEW = 16, TRIES_MAX = 6 };

/*
 * The kernel's own count between two readings of ours: what happens in between may be in it or not. On
 * a busy machine much can, if we are not let run: so it is tried several times, and the best one kept.
 */
static bool counts_take(const struct sampler *sampler, struct top_sample *sample,
			struct error *error)
{
	uint64_t least = UINT64_MAX;

	sample->sees_reads = watch_sees_reads(sampler->watch);
	for (int i = 0; i < TRIES_MAX && least > MOVED_FEW; i++) {
		struct top_sample got = *sample;
		uint64_t moved;

		got.time_ns = now_ns();
		if (!watch_counts(sampler->watch, &got.first, &got.all_first, error))
			return false;
		got.statistics_slack_pages = statistics_refresh(sample->is_cgroup);
		got.file_pages = file_pages_read(sampler, sample->page_bytes);
		if (!watch_counts(sampler->watch, &got.then, &got.all_then, error))
			return false;
		moved = got.all_then.pages_in - got.all_first.pages_in + got.all_then.pages_out -
			got.all_first.pages_out;
		if (moved >= least)
			continue;
		least = moved;
		*sample = got;
	}
	sample->skipped = watch_skipped(sampler->watch);
	return true;
}

/* ---- levels ---- */

static struct top_amount amount_of(const struct view *view, enum quantity_id id)
{
	struct quantity quantity = quantity_now(view, id);

	/* Without a limit there is none to show; version 1 says so with a very large number. */
	if (id == QUANTITY_limit && quantity.value >= UINT64_C(1) << 62)
		return (struct top_amount){0};
	return (struct top_amount){.known = quantity.known, .value = quantity.value};
}

static void slabs_take(struct top_sample *sample, const struct state *state)
{
	const struct entry *caches[TOP_SLABS_MAX];
	size_t count = slab_largest(state, caches, TOP_SLABS_MAX);

	for (size_t i = 0; i < count; i++) {
		struct top_slab *slab = &sample->slabs[i];

		snprintf(slab->name, sizeof(slab->name), "%s", caches[i]->name);
		slab->bytes = slab_bytes(state, caches[i]);
		slab->objects = caches[i]->values[SLAB_ACTIVE];
	}
	sample->slab_count = count;
}

static bool levels_take(const struct sampler *sampler, struct top_sample *sample,
			struct error *error)
{
	const struct state_options options = {
		/* A kernel may have a row that nobody has seen yet. */
		.lenient = true,
		.page_bytes = sample->page_bytes,
	};
	struct state *state = state_create(&options);
	bool done =
		system_read_changing(state, sampler->cgroup, error) && state_finish(state, error);

	if (done) {
		const struct view view = {
			.state = state,
			.cgroup = sampler->cgroup && state->cgroups.count ? state->cgroups.at[0]
									  : NULL,
		};
#define TOP_LEVEL(name, called)                                                                    \
	sample->levels[TOP_LEVEL_##name] = amount_of(&view, QUANTITY_##name);
#define TOP_COUNTER(name, called)                                                                  \
	sample->counters[TOP_COUNTER_##name] = amount_of(&view, QUANTITY_##name);
#include "measure/top.def"
#undef TOP_LEVEL
#undef TOP_COUNTER
		if (!sampler->cgroup)
			slabs_take(sample, state);
	}
	state_destroy(state);
	return done;
}

/* ---- files ---- */

struct taking {
	const struct sampler *sampler;
	struct top_sample *sample;
};

static const char *path_of(struct taking *taking, const struct watched_id *id,
			   const struct watched_file *file)
{
	char path[PATH_MAX + WATCHED_NAMES_BYTES];
	uint32_t bytes = file->names_bytes;
	int length;

	if (bytes > WATCHED_NAMES_BYTES)
		bytes = 0;
	if (file->is_cut && bytes) {
		/* The names that are there, the last one at the end, below what is not known. */
		char inside[2 * WATCHED_NAMES_BYTES];
		size_t at = sizeof(inside) - 1;

		inside[at] = '\0';
		for (uint32_t i = 0; i < bytes;) {
			size_t one = strnlen(file->names + i, bytes - i);

			at -= one;
			memcpy(inside + at, file->names + i, one);
			inside[--at] = '/';
			i += (uint32_t)one + 1;
		}
		length = snprintf(path, sizeof(path), "[%u:%u]/...%s", id->device >> 20,
				  id->device & 0xfffff, inside + at);
	} else if (bytes) {
		length = (int)mount_table_path(taking->sampler->mounts, id->device, file->names,
					       bytes, path, sizeof(path));
	} else {
		length = snprintf(path, sizeof(path), "[%u:%u] inode %llu", id->device >> 20,
				  id->device & 0xfffff, (unsigned long long)id->ino);
	}
	return arena_text(&taking->sample->texts, path, (size_t)length);
}

static void file_take(void *context, const struct watched_id *id, const struct watched_file *file)
{
	struct taking *taking = context;

	*array_push(&taking->sample->files) = (struct top_file){
		.ino = id->ino,
		.device = id->device,
		.generation = id->generation,
		.path = path_of(taking, id, file),
		.is_counted = true,
		.accesses = file->accesses,
		.misses = file->misses,
		.inserted = file->inserted,
		.evicted = file->evicted,
		.dropped = file->dropped,
		.refaults = file->refaults,
		.rewritten = file->rewritten,
		.resident = {true, file->resident > 0 ? (uint64_t)file->resident : 0},
		.size = {true, file->size},
	};
}

static int identity_order(const void *a, const void *b)
{
	struct top_file one = *(const struct top_file *)a, other = *(const struct top_file *)b;

	one.generation = other.generation = 0;
	return top_file_order(&one, &other);
}

/* The file of this device and number, of the first so many, which are in order; NULL: none. */
static struct top_file *file_find(const struct top_sample *sample, size_t count, uint32_t device,
				  uint64_t ino)
{
	const struct top_file key = {.device = device, .ino = ino};

	return count ? bsearch(&key, sample->files.at, count, sizeof(key), identity_order) : NULL;
}

/* What was open at the start, as it was found, if nothing has happened to it since. */
static void open_take(const struct sampler *sampler, struct top_sample *sample, size_t counted)
{
	for (size_t i = 0; i < sampler->open.all.count; i++) {
		const struct open_file *file = &sampler->open.all.at[i];

		if (!file_find(sample, counted, file->device, file->ino))
			*array_push(&sample->files) = (struct top_file){
				.ino = file->ino,
				.device = file->device,
				.path = file->path,
				.is_counted = sample->is_counting,
				.resident = {true, file->pages},
				.size = {true, file->size},
			};
	}
}

/* The user's own. */
static void named_take(const struct sampler *sampler, struct top_sample *sample, size_t counted)
{
	for (size_t i = 0; i < sampler->file_count; i++) {
		struct top_file key = {.path = sampler->files[i],
				       .is_named = true,
				       .is_counted = sample->is_counting};
		struct top_file *found;
		struct stat status;

		if (stat(key.path, &status) != 0 ||
		    !mount_table_device(sampler->mounts, key.path, &key.device))
			continue;
		key.ino = status.st_ino;
		key.size = (struct top_amount){true, (uint64_t)status.st_size};
		found = file_find(sample, counted, key.device, key.ino);
		for (size_t at = counted; !found && at < sample->files.count; at++)
			if (identity_order(&sample->files.at[at], &key) == 0)
				found = &sample->files.at[at];
		if (found)
			found->is_named = true;
		else
			*array_push(&sample->files) = key;
	}
}

/* The map may hand one over twice. */
static void files_sort(struct top_sample *sample)
{
	size_t kept = 0;

	if (sample->files.count)
		qsort(sample->files.at, sample->files.count, sizeof(*sample->files.at),
		      top_file_order);
	for (size_t i = 0; i < sample->files.count; i++)
		if (!kept || top_file_order(&sample->files.at[kept - 1], &sample->files.at[i]) != 0)
			sample->files.at[kept++] = sample->files.at[i];
	sample->files.count = kept;
}

static bool files_take(const struct sampler *sampler, struct top_sample *sample,
		       struct error *error)
{
	struct taking taking = {sampler, sample};
	size_t counted;

	mount_table_refresh(sampler->mounts);
	if (sampler->watch && !watch_files(sampler->watch, file_take, &taking, error))
		return false;
	files_sort(sample);
	counted = sample->files.count;
	open_take(sampler, sample, counted);
	named_take(sampler, sample, counted);
	files_sort(sample);
	return true;
}

bool sampler_take(struct sampler *sampler, struct top_sample *sample, struct error *error)
{
	*sample = (struct top_sample){
		.time_ns = now_ns(),
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.is_counting = sampler->watch != NULL,
		.is_cgroup = sampler->cgroup != NULL,
	};
	if (sampler->watch && !counts_take(sampler, sample, error))
		return false;
	return levels_take(sampler, sample, error) && files_take(sampler, sample, error);
}

/* ---- what is in memory ---- */

void sampler_measure(const struct sampler *sampler, struct top_view *view, size_t rows,
		     uint64_t budget_ns)
{
	const uint64_t end_ns = now_ns() + budget_ns;

	for (size_t i = 0; i < view->files.count && i < rows && now_ns() < end_ns; i++) {
		struct top_view_file *file = &view->files.at[i];
		struct residency residency;

		if (!file->total.is_named && open_files_may_hang(mount_table_filesystem(
						     sampler->mounts, file->total.device)))
			continue;
		if (!residency_look(&residency, file->total.path, file->total.ino))
			continue;
		file->is_measured = true;
		file->total.resident = (struct top_amount){true, residency.pages};
		file->dirty = (struct top_amount){
			residency.is_whole, residency.dirty_pages + residency.writeback_pages};
		file->recently_evicted =
			(struct top_amount){residency.is_whole, residency.recently_evicted_pages};
	}
}
