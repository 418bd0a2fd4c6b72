/*
 * refault: the core under its public names
 *
 * One to one where the core's own interface fits others too. What this file adds is what the
 * program's model does for itself: it checks ids, remembers what names and handles mean, looks
 * directories up on the way to a name, and holds writers back (dirty_room_pages()).
 */
#include "refault.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/size.h"
#include "cache/cache.h"

enum { POLICY_TEXT_BYTES = 1024 };

struct name {
	uint32_t parent; /* 0: the root */
	uint32_t file;   /* 0: means nothing */
};

struct handle {
	uint32_t file; /* 0: closed */
	uint32_t name; /* held; 0: opened by the file's id */
};

struct refault_cache {
	struct cache *core;
	ARRAY(struct name) names;     /* by id; [0] unused */
	ARRAY(struct handle) handles; /* likewise */
	bool completes_at_once;
	uint64_t dirty_pages_max; /* dirty or being written */
	uint64_t writing_pages;   /* planned, not yet written; 0 with completes_at_once */
	char policy[POLICY_TEXT_BYTES];
};

/* What refault_plan_create() returns is the first field. */
struct plan {
	struct refault_plan shown;
	struct cache_plan core;
	struct refault_run fetch[CACHE_PLAN_RUNS], write[CACHE_PLAN_RUNS];
};

const char *refault_version(void)
{
	return REFAULT_VERSION;
}

/* ---- policies ---- */

const char *refault_policy_name(size_t index)
{
	const struct policy *policy = policy_of_pages_at(index);

	return policy ? policy_name(policy) : NULL;
}

const char *refault_policy_summary(size_t index)
{
	const struct policy *policy = policy_of_pages_at(index);

	return policy ? policy_summary(policy) : NULL;
}

const char *refault_switch_name(size_t index)
{
	return index < SWITCH_COUNT ? switch_name((enum switch_id)index) : NULL;
}

const char *refault_switch_values(size_t index)
{
	return index < SWITCH_COUNT ? switch_values((enum switch_id)index) : NULL;
}

const char *refault_switch_meaning(size_t index)
{
	return index < SWITCH_COUNT ? switch_meaning((enum switch_id)index) : NULL;
}

/* ---- structs that grow from version to version ---- */

/* Give a caller who knows `bytes` of a struct what we have of it; what we do not have is 0. */
static void struct_give(void *theirs, size_t bytes, const void *ours, size_t our_bytes)
{
	memset(theirs, 0, bytes);
	memcpy(theirs, ours, bytes < our_bytes ? bytes : our_bytes);
}

/*
 * Take a struct from a caller: what he does not know of yet keeps our default. False if he set
 * something that we do not know of, or if `bytes` cannot be: no version had less than
 * `least_bytes`, and none will have 4096.
 */
static bool struct_take(void *ours, size_t our_bytes, size_t least_bytes, const void *theirs,
			size_t bytes)
{
	if (bytes < least_bytes || bytes > 4096)
		return false;
	for (size_t i = our_bytes; i < bytes; i++)
		if (((const unsigned char *)theirs)[i] != 0)
			return false;
	memcpy(ours, theirs, bytes < our_bytes ? bytes : our_bytes);
	return true;
}

void refault_filesystem_init(struct refault_filesystem *filesystem, size_t bytes)
{
	struct refault_filesystem plain = {
		.size = bytes,
		.folios = REFAULT_FOLIOS_NEVER,
		.dentry_bytes = 200,
		.long_name_bytes = 104,
		.inline_name_bytes = 39,
		.inode_bytes = 1136,
		.node_bytes = 592,
	};

	struct_give(filesystem, bytes, &plain, sizeof(plain));
}

void refault_options_init(struct refault_options *options, size_t bytes)
{
	struct refault_options defaults = {
		.size = bytes,
		.readahead_bytes = 128 * KIB,
		.device_io_bytes = 1280 * KIB,
		.domain = REFAULT_MACHINE,
		.completion = REFAULT_BY_CALLER,
	};

	struct_give(options, bytes, &defaults, sizeof(defaults));
}

/* ---- create ---- */

static_assert((int)REFAULT_FOLIOS_NEVER == CACHE_FOLIOS_NEVER &&
		      (int)REFAULT_FOLIOS_EARLY == CACHE_FOLIOS_EARLY &&
		      (int)REFAULT_FOLIOS_LATE == CACHE_FOLIOS_LATE,
	      "the same words in both");
static_assert((int)REFAULT_FILE_SPARSE == CACHE_FILE_SPARSE &&
		      (int)REFAULT_FILE_DIRECTORY == CACHE_FILE_DIRECTORY,
	      "likewise");
static_assert((int)REFAULT_ADVICE_RANDOM == CACHE_ADVICE_RANDOM &&
		      (int)REFAULT_ADVICE_SEQUENTIAL == CACHE_ADVICE_SEQUENTIAL &&
		      (int)REFAULT_ADVICE_NOREUSE == CACHE_ADVICE_NOREUSE &&
		      (int)REFAULT_ADVICE_WILLNEED == CACHE_ADVICE_WILLNEED &&
		      (int)REFAULT_ADVICE_DONTNEED == CACHE_ADVICE_DONTNEED,
	      "likewise");

static bool filesystem_take(struct cache_filesystem *core, const struct refault_filesystem *theirs,
			    struct error *error)
{
	struct refault_filesystem fs;

	refault_filesystem_init(&fs, sizeof(fs));
	if (theirs && !struct_take(&fs, sizeof(fs), sizeof(fs), theirs, theirs->size))
		return error_input(error, "filesystem: made for another version of librefault, or "
					  "without refault_filesystem_init()");
	if ((unsigned)fs.folios > REFAULT_FOLIOS_LATE)
		return error_input(error,
				   "filesystem: folios is %d, which is none of enum refault_folios",
				   (int)fs.folios);
	*core = (struct cache_filesystem){
		.folios = (enum cache_folios)fs.folios,
		.marks_on_write = fs.marks_on_write,
		.partial_reads_all = fs.partial_reads_all,
		.reads_without_fs = fs.reads_without_fs,
		.writes_without_fs = fs.writes_without_fs,
		.inode_make_fs = fs.inode_make_fs,
		.inode_read_fs = fs.inode_read_fs,
		.evicted_inodes_linger = fs.evicted_inodes_linger,
		.dentry_bytes = fs.dentry_bytes,
		.long_name_bytes = fs.long_name_bytes,
		.inline_name_bytes = fs.inline_name_bytes,
		.inode_bytes = fs.inode_bytes,
		.inode_bytes_switched = fs.inode_bytes == 0,
		.buffer_bytes = fs.buffer_bytes,
		.node_bytes = fs.node_bytes,
	};
	return true;
}

static bool options_take(struct refault_options *options, const struct refault_options *theirs,
			 struct error *error)
{
	refault_options_init(options, sizeof(*options));
	if (!struct_take(options, sizeof(*options), sizeof(*options), theirs, theirs->size))
		return error_input(error, "options: made for another version of librefault, or "
					  "without refault_options_init()");
	if ((unsigned)options->domain > REFAULT_CGROUP)
		return error_input(error,
				   "options: domain is %d, which is none of enum refault_domain",
				   (int)options->domain);
	if ((unsigned)options->completion > REFAULT_AT_ONCE)
		return error_input(
			error,
			"options: completion is %d, which is none of enum refault_completion",
			(int)options->completion);
	return true;
}

/* Pages as the core counts them; what is too much for it stays too much. */
static uint32_t pages_clamped(uint64_t bytes)
{
	uint64_t pages = pages_from_bytes_down(bytes);

	return pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
}

static struct refault_cache *create(const struct refault_options *theirs, struct error *error)
{
	struct refault_options options;
	struct cache_filesystem filesystem;
	struct policy_options policy;
	struct refault_cache *cache;
	struct cache *core;

	if (!options_take(&options, theirs, error) ||
	    !filesystem_take(&filesystem, options.filesystem, error) ||
	    !policy_options_parse(&policy, options.policy ? options.policy : "", error))
		return NULL;
	core = cache_create(
		&(struct cache_config){
			.policy = &policy,
			.filesystem = &filesystem,
			.memory_bytes = options.memory_bytes,
			.is_cgroup = options.domain == REFAULT_CGROUP,
			.pinned_bytes = options.pinned_bytes,
			.readahead_pages = pages_clamped(options.readahead_bytes),
			.device_io_pages = pages_clamped(options.device_io_bytes),
			.completes_at_once = options.completion == REFAULT_AT_ONCE,
		},
		error);
	if (!core)
		return NULL;
	cache = memory_alloc(1, sizeof(*cache));
	cache->core = core;
	cache->completes_at_once = options.completion == REFAULT_AT_ONCE;
	cache->dirty_pages_max =
		pages_from_bytes_down(options.memory_bytes - options.pinned_bytes) / 2;
	(void)policy_options_format(cache->policy, sizeof(cache->policy), &policy);
	(void)array_push(&cache->names);
	(void)array_push(&cache->handles);
	return cache;
}

struct refault_cache *refault_cache_create(const struct refault_options *options,
					   struct refault_error *error)
{
	struct error inner = {0};
	struct refault_cache *cache = create(options, &inner);

	if (error) {
		static_assert(sizeof(error->message) == sizeof(inner.message), "messages fit");
		*error = (struct refault_error){
			.kind = inner.kind == ERROR_NONE    ? REFAULT_ERROR_NONE
				: inner.kind == ERROR_INPUT ? REFAULT_ERROR_INPUT
							    : REFAULT_ERROR_FAILED,
		};
		memcpy(error->message, inner.message, sizeof(error->message));
	}
	return cache;
}

void refault_cache_destroy(struct refault_cache *cache)
{
	if (!cache)
		return;
	cache_destroy(cache->core);
	array_deinit(&cache->names);
	array_deinit(&cache->handles);
	memory_free(cache);
}

const char *refault_policy(const struct refault_cache *cache)
{
	return cache->policy;
}

/* ---- plans ---- */

struct refault_plan *refault_plan_create(void)
{
	struct plan *plan = memory_alloc(1, sizeof(*plan));

	plan->shown.fetch = plan->fetch;
	plan->shown.write = plan->write;
	return &plan->shown;
}

void refault_plan_destroy(struct refault_plan *plan)
{
	memory_free(plan);
}

static struct cache_plan *plan_begin(struct refault_plan *shown)
{
	struct cache_plan *core = &((struct plan *)(void *)shown)->core;

	core->fetch_count = core->write_count = 0;
	core->fetch_bytes = core->write_bytes = 0;
	return core;
}

static void runs_show(struct refault_run *shown, const struct cache_run *runs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		shown[i] = (struct refault_run){
			.index = runs[i].index, .file = runs[i].file, .pages = runs[i].pages};
}

/* The core has filled the plan: show it. */
static void plan_end(struct refault_cache *cache, struct refault_plan *shown)
{
	struct plan *plan = (struct plan *)(void *)shown;
	const struct cache_plan *core = &plan->core;

	runs_show(plan->fetch, core->fetch, core->fetch_count);
	runs_show(plan->write, core->write, core->write_count);
	shown->fetch_count = core->fetch_count;
	shown->write_count = core->write_count;
	shown->fetch_bytes = core->fetch_bytes;
	shown->write_bytes = core->write_bytes;
	if (!cache->completes_at_once)
		cache->writing_pages += pages_from_bytes_down(core->write_bytes);
}

/* ---- ids ---- */

static void assert_file(const struct refault_cache *cache, uint32_t file)
{
	assert(file >= 1 && file <= cache_file_count(cache->core));
	(void)cache;
	(void)file;
}

static struct name *name_at(const struct refault_cache *cache, uint32_t name)
{
	assert(name >= 1 && name < cache->names.count);
	return &cache->names.at[name];
}

static struct handle *handle_at(const struct refault_cache *cache, uint32_t handle)
{
	assert(handle >= 1 && handle < cache->handles.count);
	assert(cache->handles.at[handle].file != 0); /* not closed */
	return &cache->handles.at[handle];
}

static struct cache_run run_from(const struct refault_cache *cache, const struct refault_run *run)
{
	assert_file(cache, run->file);
	return (struct cache_run){.index = run->index, .file = run->file, .pages = run->pages};
}

void refault_fetched(struct refault_cache *cache, const struct refault_run *run)
{
	struct cache_run core = run_from(cache, run);

	if (!cache->completes_at_once)
		cache_fetched(cache->core, &core);
}

void refault_written(struct refault_cache *cache, const struct refault_run *run)
{
	struct cache_run core = run_from(cache, run);

	if (cache->completes_at_once)
		return;
	assert(cache->writing_pages >= run->pages); /* each page of a plan is reported once */
	cache->writing_pages -= run->pages;
	cache_written(cache->core, &core);
}

/* ---- who asks, and when ---- */

void refault_operation(struct refault_cache *cache, uint32_t stream, uint64_t now_ns,
		       struct refault_plan *plan)
{
	assert(stream <= REFAULT_STREAM_MAX);
	cache_stream(cache->core, stream);
	refault_clock(cache, now_ns, plan);
	cache_operation(cache->core);
}

void refault_clock(struct refault_cache *cache, uint64_t now_ns, struct refault_plan *plan)
{
	cache_clock(cache->core, now_ns, plan_begin(plan));
	plan_end(cache, plan);
}

/* ---- files and names ---- */

uint32_t refault_file_add(struct refault_cache *cache, uint64_t size_bytes, uint32_t flags)
{
	assert(size_bytes <= REFAULT_FILE_BYTES_MAX);
	assert((flags & ~(uint32_t)(REFAULT_FILE_SPARSE | REFAULT_FILE_DIRECTORY)) == 0);
	return cache_file_add(cache->core, size_bytes, flags);
}

uint64_t refault_file_size(const struct refault_cache *cache, uint32_t file)
{
	assert_file(cache, file);
	return cache_file_size(cache->core, file);
}

uint32_t refault_name_add(struct refault_cache *cache, uint32_t parent, uint32_t file,
			  uint32_t name_bytes)
{
	struct name *name;
	uint32_t id;

	assert(parent < cache->names.count);
	if (file)
		assert_file(cache, file);
	id = cache_name_add(cache->core, parent, file, name_bytes);
	name = array_push(&cache->names);
	*name = (struct name){.parent = parent, .file = file};
	assert(id == cache->names.count - 1);
	return id;
}

uint32_t refault_name_file(const struct refault_cache *cache, uint32_t name)
{
	return name_at(cache, name)->file;
}

/*
 * Hold a name's dentry. Directories on the way that are not cached are looked up from the top, each
 * held while it is searched, so that the reclaim that this causes cannot take it.
 */
static void name_get(struct refault_cache *cache, uint32_t name)
{
	uint32_t parent = name_at(cache, name)->parent;
	bool is_cached = cache_name_cached(cache->core, name);

	if (!is_cached && parent)
		name_get(cache, parent);
	cache_name_get(cache->core, name);
	if (!is_cached && parent)
		cache_name_put(cache->core, parent);
}

void refault_name_use(struct refault_cache *cache, uint32_t name)
{
	(void)name_at(cache, name);
	if (cache_name_cached(cache->core, name)) {
		cache_name_use(cache->core, name);
		return;
	}
	name_get(cache, name);
	cache_name_put(cache->core, name);
}

/* An empty file under a name that is held and means nothing. */
static uint32_t name_fill(struct refault_cache *cache, uint32_t name, uint32_t flags)
{
	uint32_t file = refault_file_add(cache, 0, flags);

	assert(name_at(cache, name)->file == 0);
	name_at(cache, name)->file = file;
	cache_name_link(cache->core, name, file);
	return file;
}

uint32_t refault_name_make(struct refault_cache *cache, uint32_t name, uint32_t flags)
{
	uint32_t file;

	name_get(cache, name);
	file = name_fill(cache, name, flags);
	cache_name_put(cache->core, name);
	return file;
}

void refault_name_unlink(struct refault_cache *cache, uint32_t name)
{
	assert(name_at(cache, name)->file != 0);
	name_get(cache, name);
	name_at(cache, name)->file = 0;
	cache_name_unlink(cache->core, name);
	cache_name_put(cache->core, name);
}

void refault_name_rename(struct refault_cache *cache, uint32_t from, uint32_t to)
{
	assert(name_at(cache, from)->file != 0);
	if (from == to)
		return;
	name_get(cache, from);
	name_get(cache, to);
	/* Open handles follow the file: each holds the name that it has now. */
	for (uint32_t handle = 1; handle < cache->handles.count; handle++) {
		struct handle *open = &cache->handles.at[handle];

		if (open->file != name_at(cache, from)->file || open->name != from)
			continue;
		cache_name_get(cache->core, to);
		cache_name_put(cache->core, from);
		open->name = to;
	}
	name_at(cache, to)->file = name_at(cache, from)->file;
	name_at(cache, from)->file = 0;
	cache_name_rename(cache->core, from, to);
	cache_name_put(cache->core, from);
	cache_name_put(cache->core, to);
}

bool refault_name_cached(const struct refault_cache *cache, uint32_t name)
{
	(void)name_at(cache, name);
	return cache_name_cached(cache->core, name);
}

bool refault_inode_cached(const struct refault_cache *cache, uint32_t file)
{
	assert_file(cache, file);
	return cache_inode_cached(cache->core, file);
}

/* ---- open files ---- */

/* The descriptor is paid for and the name (or 0) held. */
static uint32_t open_as(struct refault_cache *cache, uint32_t file, uint32_t name)
{
	uint32_t handle = cache_open(cache->core, file);

	while (cache->handles.count <= handle)
		(void)array_push(&cache->handles);
	cache->handles.at[handle] = (struct handle){.file = file, .name = name};
	return handle;
}

uint32_t refault_open(struct refault_cache *cache, uint32_t file)
{
	assert_file(cache, file);
	cache_open_pay(cache->core);
	return open_as(cache, file, 0);
}

uint32_t refault_open_name(struct refault_cache *cache, uint32_t name)
{
	assert(name_at(cache, name)->file != 0);
	cache_open_pay(cache->core);
	name_get(cache, name);
	return open_as(cache, name_at(cache, name)->file, name);
}

uint32_t refault_open_new(struct refault_cache *cache, uint32_t name)
{
	assert(name_at(cache, name)->file == 0);
	cache_open_pay(cache->core);
	name_get(cache, name);
	return open_as(cache, name_fill(cache, name, 0), name);
}

void refault_close(struct refault_cache *cache, uint32_t handle)
{
	uint32_t name = handle_at(cache, handle)->name;

	*handle_at(cache, handle) = (struct handle){0};
	cache_close(cache->core, handle);
	if (name)
		cache_name_put(cache->core, name);
}

uint32_t refault_handle_file(const struct refault_cache *cache, uint32_t handle)
{
	return handle_at(cache, handle)->file;
}

/* ---- pages ---- */

bool refault_read(struct refault_cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		  struct refault_plan *plan)
{
	bool done;

	(void)handle_at(cache, handle);
	done = cache_read(cache->core, handle, offset, bytes, plan_begin(plan));
	plan_end(cache, plan);
	return done;
}

/*
 * How many more pages may become dirty. With REFAULT_BY_CALLER reclaim cannot wait for a write,
 * only skip what is dirty or being written: it must always find enough else. Source: the idea is
 * Linux's, mm/page-writeback.c, balance_dirty_pages(); half of the memory is ours, so that dirty
 * limits decide as little as they do in a version 1 cgroup.
 */
static uint64_t dirty_room_pages(const struct refault_cache *cache)
{
	struct counters counters;
	uint64_t dirty;

	if (cache->completes_at_once)
		return UINT64_MAX;
	cache_counters(cache->core, 0, &counters);
	dirty = counters.dirty_pages + cache->writing_pages;
	return dirty < cache->dirty_pages_max ? cache->dirty_pages_max - dirty : 0;
}

/* One step of a write, or of stores through a mapping: as far as the room goes. */
static bool dirty_some(struct refault_cache *cache, uint32_t handle, bool through_mapping,
		       uint64_t *offset, uint64_t *bytes, struct cache_plan *plan)
{
	uint64_t room = dirty_room_pages(cache), step = *bytes, end, left;
	bool done;

	if (room == 0) {
		(void)cache_sync(cache->core, plan);
		return false;
	}
	if (room < pages_from_bytes_up(step))
		step = bytes_from_pages(room) - *offset % PAGE_BYTES;
	end = *offset + step;
	left = step;
	if (through_mapping)
		done = cache_touch(cache->core, handle, true, offset, &left, plan);
	else
		done = cache_write(cache->core, handle, offset, &left, plan);
	if (done)
		*offset = end;
	*bytes -= step - left;
	return done && *bytes == 0;
}

bool refault_write(struct refault_cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		   struct refault_plan *plan)
{
	struct cache_plan *core = plan_begin(plan);
	bool done;

	(void)handle_at(cache, handle);
	assert(*offset <= REFAULT_FILE_BYTES_MAX && *bytes <= REFAULT_FILE_BYTES_MAX - *offset);
	done = *bytes == 0 || dirty_some(cache, handle, false, offset, bytes, core);
	plan_end(cache, plan);
	return done;
}

bool refault_touch(struct refault_cache *cache, uint32_t handle, enum refault_touch_kind touch,
		   uint64_t *offset, uint64_t *bytes, struct refault_plan *plan)
{
	struct cache_plan *core = plan_begin(plan);
	uint64_t size = refault_file_size(cache, refault_handle_file(cache, handle)), end;
	bool done;

	/* What lies behind the end of the file is not there. */
	if (*offset >= size)
		*bytes = 0;
	else if (*bytes > size - *offset)
		*bytes = size - *offset;
	end = *offset + *bytes;
	if (*bytes == 0)
		done = true;
	else if (touch == REFAULT_STORE)
		done = dirty_some(cache, handle, true, offset, bytes, core);
	else
		done = cache_touch(cache->core, handle, false, offset, bytes, core);
	if (done)
		*offset = end;
	plan_end(cache, plan);
	return done;
}

bool refault_advise(struct refault_cache *cache, uint32_t handle, enum refault_advice advice,
		    uint64_t offset, uint64_t bytes, struct refault_plan *plan)
{
	bool done;

	(void)handle_at(cache, handle);
	assert((unsigned)advice <= REFAULT_ADVICE_DONTNEED);
	done = cache_advise(cache->core, handle, (enum cache_advice)advice, &offset, &bytes,
			    plan_begin(plan));
	plan_end(cache, plan);
	return done;
}

bool refault_sync_file(struct refault_cache *cache, uint32_t file, struct refault_plan *plan)
{
	bool done;

	assert_file(cache, file);
	done = cache_sync_file(cache->core, file, plan_begin(plan));
	plan_end(cache, plan);
	return done;
}

bool refault_sync(struct refault_cache *cache, struct refault_plan *plan)
{
	bool done = cache_sync(cache->core, plan_begin(plan));

	plan_end(cache, plan);
	return done;
}

void refault_truncate(struct refault_cache *cache, uint32_t file, uint64_t size_bytes)
{
	assert_file(cache, file);
	assert(size_bytes <= REFAULT_FILE_BYTES_MAX);
	cache_truncate(cache->core, file, size_bytes);
}

void refault_allocate(struct refault_cache *cache, uint32_t file, uint64_t offset, uint64_t bytes)
{
	assert_file(cache, file);
	assert(offset <= REFAULT_FILE_BYTES_MAX && bytes <= REFAULT_FILE_BYTES_MAX - offset);
	cache_allocate(cache->core, file, offset, bytes);
}

/* ---- memory and statistics ---- */

void refault_charge(struct refault_cache *cache, int64_t bytes)
{
	cache_other_slab(cache->core, bytes);
}

void refault_publish(struct refault_cache *cache)
{
	cache_publish(cache->core);
}

bool refault_in_memory(const struct refault_cache *cache)
{
	return cache_in_memory(cache->core);
}

void refault_counters_read(const struct refault_cache *cache, uint32_t stream,
			   struct refault_counters *counters, size_t bytes)
{
	struct refault_counters ours;
	struct counters core;

	/* A counter that is new in counters.def gets its line at the end of the public struct. */
	static_assert(sizeof(ours) == sizeof(core), "all counters are public");
	assert(stream <= REFAULT_STREAM_MAX);
	cache_counters(cache->core, stream, &core);
#define COUNTER(name, unit, meaning) ours.name = core.name;
#define LEVEL(name, unit, meaning)   ours.name = core.name;
#include "cache/counters.def"
#undef COUNTER
#undef LEVEL
	struct_give(counters, bytes, &ours, sizeof(ours));
}

uint64_t refault_blame(const struct refault_cache *cache, uint32_t victim, uint32_t evictor)
{
	assert(victim <= REFAULT_STREAM_MAX && evictor <= REFAULT_STREAM_MAX);
	return cache_blame(cache->core, victim, evictor);
}

uint32_t refault_stream_count(const struct refault_cache *cache)
{
	return cache_stream_count(cache->core);
}

uint64_t refault_resident_pages(const struct refault_cache *cache, uint32_t file)
{
	assert_file(cache, file);
	return cache_resident_pages(cache->core, file);
}

void refault_check(const struct refault_cache *cache)
{
	cache_check(cache->core);
}
