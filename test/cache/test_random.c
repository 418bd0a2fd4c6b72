/*
 * The simulation: anything at all happens to the cache, in any order, on every policy, and what
 * must hold of its structures holds.
 *
 * If this fails, some order of operations corrupts the cache: pages lost, memory counted wrong, a
 * crash in somebody's replay. The message names the seed and the shortest prefix that fails, with
 * its last operations; `REFAULT_SEED=N build/test/cache/test_random` begins with that seed.
 *
 * A world is policy x file system x (cgroup or machine) x memory x (plans completed at once, or
 * some time later). It is played in a child process, so that an assertion that fails there can be
 * told about here.
 */
#include "cache_test.h"

#include <assert.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/model/filesystem.h"
#include "machine/model/model.h"

enum {
	FILES = 24,
	NAMES = 40,
	DIRECTORIES = 4,
	HANDLES = 12,
	RUNS = 64,
	OPS = 800,
	CHECK_EVERY = 20,
	LOG_LINES = 12,
};

/* ---- worlds ---- */

struct setting {
	char policy[96];
	const struct filesystem *fs;
	uint64_t memory_bytes, pinned_bytes;
	uint32_t readahead_pages;
	bool is_machine, later;
};

static void setting_name(char *text, size_t bytes, const struct setting *setting)
{
	snprintf(text, bytes,
		 "%s, %s, %s of %llu MiB (%llu pinned), readahead %u pages, completes %s",
		 setting->policy, filesystem_name(setting->fs),
		 setting->is_machine ? "machine" : "cgroup",
		 (unsigned long long)(setting->memory_bytes >> 20),
		 (unsigned long long)(setting->pinned_bytes >> 20), setting->readahead_pages,
		 setting->later ? "later" : "at once");
}

/* Every value of every switch gets its turn, a few at a time, on top of the policy. */
static void switches_turn(char *text, size_t bytes, struct random *random)
{
	for (uint32_t left = (uint32_t)random_below(random, 4); left > 0; left--) {
		enum switch_id id = (enum switch_id)random_below(random, SWITCH_COUNT);
		struct policy_options trial;
		struct error error;
		size_t used = strlen(text);
		const char *values = switch_values(id);
		unsigned low, high;
		char value[32];

		if (sscanf(values, "%u..%u", &low, &high) == 2) {
			snprintf(value, sizeof(value), "%llu",
				 low + (unsigned long long)random_below(random,
									(uint64_t)high - low + 1));
		} else {
			uint32_t words = 1;

			for (const char *at = values; *at; at++)
				words += *at == '|';
			switch_format(value, sizeof(value), id,
				      (uint32_t)random_below(random, words));
		}
		snprintf(text + used, bytes - used, ",%s=%s", switch_name(id), value);
		/* Not every policy has every switch. */
		if (!policy_options_parse(&trial, text, &error))
			text[used] = '\0';
	}
}

static struct setting setting_draw(uint32_t world, uint64_t seed)
{
	struct setting setting = {0};
	struct random random;
	uint32_t policies = 0, systems = 0;

	while (policy_of_pages_at(policies))
		policies++;
	while (filesystem_at(systems))
		systems++;
	random_init(&random, seed, world);
	/* Every policy and every file system comes up, whatever the seed. */
	snprintf(setting.policy, sizeof(setting.policy), "%s",
		 policy_name(policy_of_pages_at(world % policies)));
	setting.fs = filesystem_at(world / policies % systems);
	switches_turn(setting.policy, sizeof(setting.policy), &random);
	setting.memory_bytes = (4 + random_below(&random, 13)) * MIB;
	setting.is_machine = random_below(&random, 2);
	setting.pinned_bytes = random_below(&random, 4) == 0
				       ? random_below(&random, setting.memory_bytes - 4 * MIB + 1)
				       : 0;
	setting.later = random_below(&random, 2);
	setting.readahead_pages =
		(uint32_t[]){0, 1, 8, 32, 32, 32, 256, 512}[random_below(&random, 8)];
	return setting;
}

/* ---- one world's play ---- */

/* What the parent sees of the child, also after its death. */
struct seen {
	uint32_t ops; /* done */
	bool in_op;
	char log[LOG_LINES][160];
	struct counters counters;
	uint64_t sum; /* of every operation's answer */
};

struct handle {
	uint32_t id, file; /* id 0: not open */
	uint32_t name;     /* held for it; 0: none */
};

struct name {
	uint32_t id, file; /* file: index + 1 of files; 0: means nothing */
	uint32_t held;
	uint32_t parent; /* index + 1 in names */
	bool is_directory;
};

struct play {
	struct cache *cache;
	struct cache_plan *plan;
	struct random random;
	struct seen *seen;
	bool later;
	struct handle handles[HANDLES];
	struct name names[NAMES];
	uint32_t files[FILES];
	uint32_t metadata;
	bool held_blocks[64];
	ARRAY(struct cache_run) fetching, writing;
	uint64_t in_flight_pages, in_flight_pages_max;
	uint64_t now_ns;
};

static uint64_t draw(struct play *play, uint64_t bound)
{
	return random_below(&play->random, bound);
}

#define LOG(play, ...)                                                                             \
	snprintf((play)->seen->log[(play)->seen->ops % LOG_LINES], sizeof((play)->seen->log[0]),   \
		 __VA_ARGS__)

/* Some of what is under way is done, in any order. */
static void complete_some(struct play *play, uint32_t chance)
{
	/*
	 * A device has a queue of some length; and scanning pages that are all in flight takes a
	 * test's time.
	 */
	if (play->in_flight_pages > play->in_flight_pages_max)
		chance = 100;
	for (size_t i = 0; i < play->fetching.count;) {
		if (draw(play, 100) >= chance) {
			i++;
			continue;
		}
		cache_fetched(play->cache, &play->fetching.at[i]);
		play->in_flight_pages -= play->fetching.at[i].pages;
		play->fetching.at[i] = play->fetching.at[--play->fetching.count];
	}
	for (size_t i = 0; i < play->writing.count;) {
		if (draw(play, 100) >= chance) {
			i++;
			continue;
		}
		cache_written(play->cache, &play->writing.at[i]);
		play->in_flight_pages -= play->writing.at[i].pages;
		play->writing.at[i] = play->writing.at[--play->writing.count];
	}
}

static void plan_take(struct play *play)
{
	struct cache_plan *plan = play->plan;
	uint64_t fetch = 0, write = 0;

	assert(plan->fetch_count <= CACHE_PLAN_RUNS && plan->write_count <= CACHE_PLAN_RUNS);
	for (uint32_t i = 0; i < plan->fetch_count; i++) {
		assert(plan->fetch[i].pages > 0);
		fetch += plan->fetch[i].pages;
		if (play->later)
			*array_push(&play->fetching) = plan->fetch[i];
	}
	for (uint32_t i = 0; i < plan->write_count; i++) {
		assert(plan->write[i].pages > 0);
		write += plan->write[i].pages;
		if (play->later)
			*array_push(&play->writing) = plan->write[i];
	}
	if (play->later)
		play->in_flight_pages += fetch + write;
	assert(fetch * PAGE_BYTES == plan->fetch_bytes);
	/* What reclaim wrote by itself is in the sum, and in no run. */
	assert(write * PAGE_BYTES <= plan->write_bytes);
	play->seen->sum = play->seen->sum * 31 + fetch * 7 + write;
	plan->fetch_count = plan->write_count = 0;
	plan->fetch_bytes = plan->write_bytes = 0;
}

/* Offsets are near each other mostly, and sometimes anywhere; sizes from nothing to large. */
static uint64_t draw_offset(struct play *play, uint64_t size)
{
	switch (draw(play, 8)) {
	case 0:
		return 0;
	case 1:
		return size;
	case 2:
		return size > 5000 ? size - draw(play, 5000) : size;
	case 3:
		return draw(play, size + 1);
	case 4:
		return draw(play, size + 1) & ~(2 * MIB - 1);
	case 5:
		return draw(play, size + 1) & ~(64 * KIB - 1);
	default:
		return draw(play, size + 1) & ~(PAGE_BYTES - 1);
	}
}

static uint64_t draw_bytes(struct play *play)
{
	switch (draw(play, 8)) {
	case 0:
		return 0;
	case 1:
		return 1 + draw(play, 6000);
	case 2:
		return (1 + draw(play, 600)) * PAGE_BYTES;
	case 3:
		return UINT64_C(1) << (12 + draw(play, 11));
	default:
		return (1 + draw(play, 16)) * PAGE_BYTES;
	}
}

static void move(struct play *play, const char *verb, world_move *how, uint32_t handle,
		 uint64_t offset, uint64_t bytes)
{
	LOG(play, "%s handle %u offset %llu bytes %llu", verb, handle, (unsigned long long)offset,
	    (unsigned long long)bytes);
	for (uint32_t tries = 0; tries < 3000; tries++) {
		bool done = how(play->cache, handle, &offset, &bytes, play->plan);

		plan_take(play);
		if (done)
			return;
		/* Sometimes whoever asked is killed, and what is under way stays so. */
		if (play->later && draw(play, 40) == 0)
			return;
		if (play->later)
			complete_some(play, tries > 20 ? 100 : 60);
	}
	fprintf(stderr, "%s goes round and round at offset %llu\n", verb,
		(unsigned long long)offset);
	abort();
}

static bool advise_willneed(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			    struct cache_plan *plan)
{
	return cache_advise(cache, handle, CACHE_ADVICE_WILLNEED, offset, bytes, plan);
}

static bool advise_dontneed(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			    struct cache_plan *plan)
{
	return cache_advise(cache, handle, CACHE_ADVICE_DONTNEED, offset, bytes, plan);
}

static bool sync_file(struct cache *cache, uint32_t file, uint64_t *offset, uint64_t *bytes,
		      struct cache_plan *plan)
{
	(void)offset;
	(void)bytes;
	return cache_sync_file(cache, file, plan);
}

static bool sync_all(struct cache *cache, uint32_t file, uint64_t *offset, uint64_t *bytes,
		     struct cache_plan *plan)
{
	(void)file;
	(void)offset;
	(void)bytes;
	return cache_sync(cache, plan);
}

/* A caller that writes later must not let everything become dirty: nothing could be evicted then. */
static void dirty_few(struct play *play, uint64_t *bytes)
{
	struct counters counters;

	if (!play->later)
		return;
	cache_counters(play->cache, 0, &counters);
	if (counters.dirty_pages + *bytes / PAGE_BYTES > play->in_flight_pages_max) {
		move(play, "sync", sync_all, 0, 0, 0);
		complete_some(play, 100);
	}
	if (*bytes / PAGE_BYTES > play->in_flight_pages_max)
		*bytes = play->in_flight_pages_max * PAGE_BYTES;
}

/* ---- names ---- */

static bool parents_cached(struct play *play, const struct name *name)
{
	return !name->parent || cache_name_cached(play->cache, play->names[name->parent - 1].id);
}

/* The parent is brought in first and held meanwhile, as every caller must. */
static void parent_put(struct play *play, const struct name *name)
{
	if (name->parent)
		cache_name_put(play->cache, play->names[name->parent - 1].id);
}

static void parent_get(struct play *play, const struct name *name)
{
	const struct name *parent;

	if (!name->parent)
		return;
	parent = &play->names[name->parent - 1];
	if (cache_name_cached(play->cache, parent->id)) {
		cache_name_get(play->cache, parent->id);
		return;
	}
	parent_get(play, parent);
	cache_name_get(play->cache, parent->id);
	parent_put(play, parent);
}

static struct name *name_draw(struct play *play)
{
	return &play->names[DIRECTORIES + draw(play, NAMES - DIRECTORIES)];
}

static void close_handle(struct play *play, struct handle *handle)
{
	cache_close(play->cache, handle->id);
	if (handle->name) {
		play->names[handle->name - 1].held--;
		cache_name_put(play->cache, play->names[handle->name - 1].id);
	}
	*handle = (struct handle){0};
}

static void open_name(struct play *play, struct handle *handle)
{
	struct name *name = name_draw(play);

	if (handle->id) {
		LOG(play, "close handle %u", handle->id);
		close_handle(play, handle);
		return;
	}
	LOG(play, "open name %u", name->id);
	cache_open_pay(play->cache);
	parent_get(play, name);
	cache_name_get(play->cache, name->id);
	parent_put(play, name);
	if (!name->file) {
		/* create */
		uint32_t slot = (uint32_t)draw(play, FILES);

		play->files[slot] = cache_file_add(play->cache, 0, 0);
		name->file = play->files[slot];
		cache_name_link(play->cache, name->id, name->file);
		if (draw(play, 2)) {
			cache_inode_hold(play->cache, name->file);
			if (draw(play, 2))
				cache_inode_release(play->cache, name->file);
		}
	}
	name->held++;
	handle->file = name->file;
	handle->name = (uint32_t)(name - play->names) + 1;
	handle->id = cache_open(play->cache, name->file);
	LOG(play, "open handle %u file %u name %u", handle->id, handle->file, name->id);
}

static void rename_name(struct play *play)
{
	struct name *from = name_draw(play), *to = name_draw(play);

	/*
	 * Descriptors follow the file in the model; here only names that nobody holds are renamed.
	 */
	if (from == to || !from->file || from->held || to->held)
		return;
	LOG(play, "rename name %u to name %u", from->id, to->id);
	parent_get(play, from);
	parent_get(play, to);
	cache_name_rename(play->cache, from->id, to->id);
	parent_put(play, from);
	parent_put(play, to);
	to->file = from->file;
	from->file = 0;
}

/* One more name of a file. */
static void link_name(struct play *play)
{
	struct name *from = name_draw(play), *to = name_draw(play);

	if (!from->file || to->file)
		return;
	LOG(play, "link name %u to name %u", from->id, to->id);
	parent_get(play, from);
	cache_name_get(play->cache, from->id);
	parent_put(play, from);
	parent_get(play, to);
	cache_name_get(play->cache, to->id);
	parent_put(play, to);
	cache_name_link(play->cache, to->id, from->file);
	cache_name_put(play->cache, to->id);
	cache_name_put(play->cache, from->id);
	to->file = from->file;
}

/* Into another directory, under a name of another length. */
static void move_name(struct play *play)
{
	struct name *name = name_draw(play), to = *name;

	to.parent = (uint32_t)draw(play, DIRECTORIES + 1);
	LOG(play, "move name %u to directory %u", name->id, to.parent);
	parent_get(play, name);
	cache_name_get(play->cache, name->id);
	parent_put(play, name);
	parent_get(play, &to);
	cache_name_move(play->cache, name->id, to.parent ? play->names[to.parent - 1].id : 0,
			1 + (uint32_t)draw(play, 80));
	parent_put(play, &to);
	cache_name_put(play->cache, name->id);
	*name = to;
}

/* ---- the dice ---- */

static void op_on_names(struct play *play)
{
	struct name *name = name_draw(play);

	switch (draw(play, 8)) {
	case 7:
		link_name(play);
		break;
	case 6:
		LOG(play, "drop name %u", name->id);
		cache_name_drop(play->cache, name->id);
		break;
	case 5:
		move_name(play);
		break;
	case 0: /* a walk over many, to make slab */
		for (uint32_t i = 0; i < 30; i++) {
			name = name_draw(play);
			LOG(play, "stat name %u", name->id);
			parent_get(play, name);
			cache_name_use(play->cache, name->id);
			parent_put(play, name);
		}
		break;
	case 1:
		if (!name->file)
			break;
		LOG(play, "unlink name %u", name->id);
		parent_get(play, name);
		cache_name_get(play->cache, name->id);
		cache_name_unlink(play->cache, name->id);
		cache_name_put(play->cache, name->id);
		parent_put(play, name);
		name->file = 0;
		break;
	case 2:
		rename_name(play);
		break;
	default:
		LOG(play, "stat name %u", name->id);
		parent_get(play, name);
		cache_name_use(play->cache, name->id);
		parent_put(play, name);
		break;
	}
	assert(parents_cached(play, name) || !cache_name_cached(play->cache, name->id));
}

/* A crowd of names that exist for a moment: a create storm, or a look through a mail directory. */
static void op_storm(struct play *play)
{
	uint32_t how_many = 50 + (uint32_t)draw(play, 400);
	bool unlinked = draw(play, 2);

	LOG(play, "storm of %u names", how_many);
	for (uint32_t i = 0; i < how_many; i++) {
		uint32_t name = cache_name_add(play->cache, 0, 0, 5 + (uint32_t)draw(play, 60));

		cache_name_get(play->cache, name);
		cache_name_link(play->cache, name,
				cache_file_add(play->cache, draw(play, 9000), 0));
		cache_name_put(play->cache, name);
		if (unlinked)
			cache_name_unlink(play->cache, name);
	}
}

static void op_on_blocks(struct play *play)
{
	uint64_t index = draw(play, 64);

	switch (draw(play, 4)) {
	case 0:
		LOG(play, "block %llu", (unsigned long long)index);
		cache_block(play->cache, play->metadata, index, index & ~UINT64_C(7), 8,
			    play->plan);
		plan_take(play);
		complete_some(play, 100); /* nobody can go on without it */
		break;
	case 1:
		LOG(play, "block %llu made", (unsigned long long)index);
		cache_block_make(play->cache, play->metadata, index);
		break;
	case 2:
		LOG(play, "block %llu held", (unsigned long long)index);
		cache_block_make(play->cache, play->metadata, index);
		cache_block_hold(play->cache, play->metadata, index);
		play->held_blocks[index] = true;
		break;
	default:
		LOG(play, "blocks released");
		for (uint32_t i = 0; i < 64; i++) {
			if (play->held_blocks[i])
				assert(cache_lookup(play->cache, play->metadata, i) != 0);
			cache_block_release(play->cache, play->metadata, i);
			play->held_blocks[i] = false;
		}
		break;
	}
}

static void op_on_buffers(struct play *play)
{
	LOG(play, "buffers");
	for (uint32_t i = 0; i < 20; i++)
		play->seen->sum += cache_buffer_use(play->cache, draw(play, 500) << draw(play, 40),
						    (uint32_t)draw(play, 17000));
}

static void op_on_time(struct play *play)
{
	switch (draw(play, 4)) {
	case 0:
		cache_publish(play->cache);
		break;
	case 1:
		cache_stream(play->cache, 1 + (uint32_t)draw(play, 5));
		break;
	default:
		play->now_ns +=
			draw(play, 2) ? draw(play, NS_PER_SECOND) : draw(play, 40 * NS_PER_SECOND);
		break;
	}
	LOG(play, "clock %llu ms", (unsigned long long)(play->now_ns / NS_PER_MS));
	cache_clock(play->cache, play->now_ns, play->plan);
	plan_take(play);
}

/* A large folio, and then something happens to a part of it. */
static void op_on_a_folio(struct play *play, struct handle *handle)
{
	uint64_t first = draw(play, 8) * 2 * MIB, bytes = (1 + draw(play, 31)) * 64 * KIB;

	if (play->later)
		return;
	move(play, "write", cache_write, handle->id, first, 2 * MIB);
	if (draw(play, 2))
		move(play, "dontneed", advise_dontneed, handle->id,
		     first + draw(play, 8) * 256 * KIB, bytes);
	else
		move(play, "touch", world_touch_read, handle->id, first, bytes);
}

static bool write_range(struct cache *cache, uint32_t file, uint64_t *offset, uint64_t *bytes,
			struct cache_plan *plan)
{
	return cache_write_range(cache, file, *offset, *bytes, plan);
}

/* Read or written, and gone. */
static void op_behind(struct play *play, const struct handle *handle, uint64_t offset,
		      uint64_t bytes)
{
	if (draw(play, 2)) {
		move(play, "read behind", cache_read_dontcache, handle->id, offset, bytes);
		return;
	}
	dirty_few(play, &bytes);
	move(play, "write behind", cache_write_dontcache, handle->id, offset, bytes);
	if (draw(play, 3))
		move(play, "write range", write_range, handle->file, offset, bytes);
}

/* Past the cache, in whole pages: what is planned is checked in pages. */
static void op_direct(struct play *play, const struct handle *handle, uint64_t offset,
		      uint64_t bytes)
{
	bool writes = draw(play, 2);

	offset &= ~(PAGE_BYTES - 1);
	bytes &= ~(PAGE_BYTES - 1);
	move(play, "write range", write_range, handle->file, offset, bytes);
	play->seen->sum += cache_range_is_dirty(play->cache, handle->file, offset, bytes);
	if (!writes) {
		move(play, "read direct", cache_direct_read, handle->file, offset, bytes);
		return;
	}
	if (play->later)
		complete_some(play, 100);
	cache_direct_drop(play->cache, handle->file, offset, bytes);
	move(play, "write direct", cache_direct_write, handle->file, offset, bytes);
	if (draw(play, 2))
		cache_direct_drop(play->cache, handle->file, offset, bytes);
}

static void op_drop_caches(struct play *play)
{
	uint32_t what = 1 + (uint32_t)draw(play, 3);

	LOG(play, "drop caches %u", what);
	cache_drop_caches(play->cache, what);
}

static void op_draw(struct play *play)
{
	struct handle *handle = &play->handles[draw(play, HANDLES)];
	uint64_t size, offset, bytes;
	uint64_t dice = draw(play, 100);

	cache_operation(play->cache);
	if (play->later)
		complete_some(play, 40);
	if (dice < 8)
		return op_on_time(play);
	if (dice < 20)
		return op_on_names(play);
	if (dice < 22)
		return op_storm(play);
	if (dice < 27)
		return op_on_blocks(play);
	if (dice < 29)
		return op_on_buffers(play);
	if (dice < 36 || !handle->id)
		return open_name(play, handle);
	size = cache_file_size(play->cache, handle->file);
	offset = draw_offset(play, size);
	bytes = draw_bytes(play);
	switch (dice) {
	case 36 ... 37:
		return op_on_a_folio(play, handle);
	case 38 ... 42:
		return move(play, "touch", world_touch_read, handle->id, offset, 8 * bytes);
	case 43 ... 45:
		return op_direct(play, handle, offset > 64 * MIB ? 0 : offset, bytes);
	case 46 ... 54:
		return op_behind(play, handle, offset > 64 * MIB ? 0 : offset, bytes);
	case 55 ... 64:
		return move(play, "read", cache_read, handle->id, offset, bytes);
	case 65 ... 79:
		if (offset > 64 * MIB)
			offset = 0;
		dirty_few(play, &bytes);
		return move(play, "write", cache_write, handle->id, offset, bytes);
	case 80 ... 82:
		return move(play, "touch", world_touch_read, handle->id, offset, bytes);
	case 83:
		dirty_few(play, &bytes);
		return move(play, "store", world_touch_write, handle->id, offset, bytes);
	case 84 ... 85:
		return move(play, "willneed", advise_willneed, handle->id, offset,
			    draw(play, 2) ? bytes : 0);
	case 86 ... 88:
		return move(play, "dontneed", advise_dontneed, handle->id, offset,
			    draw(play, 2) ? bytes : 0);
	case 89 ... 90:
		LOG(play, "advise handle %u", handle->id);
		cache_advise(play->cache, handle->id, (enum cache_advice)draw(play, 3), &offset,
			     &bytes, play->plan);
		return;
	case 91 ... 92:
		return move(play, "sync file", sync_file, handle->file, 0, 0);
	case 93:
		if (draw(play, 4) == 0)
			return op_drop_caches(play);
		return move(play, "sync", sync_all, 0, 0, 0);
	case 94 ... 95:
		LOG(play, "truncate file %u to %llu", handle->file, (unsigned long long)offset);
		cache_truncate(play->cache, handle->file, offset);
		return;
	case 96:
		if (offset > 64 * MIB)
			return;
		LOG(play, "allocate file %u %llu + %llu", handle->file, (unsigned long long)offset,
		    (unsigned long long)bytes);
		cache_allocate(play->cache, handle->file, offset, bytes);
		return;
	case 97:
		LOG(play, "prefetch handle %u", handle->id);
		cache_prefetch(play->cache, handle->id, offset, (enum cache_prefetch)draw(play, 3));
		return;
	default: {
		/* A large file is read from end to end: everything else must go. */
		return move(play, "read all", cache_read, handle->id, 0,
			    size < 24 * MIB ? size : 24 * MIB);
	}
	}
}

static void play_init(struct play *play, const struct setting *setting, uint64_t seed,
		      uint32_t world, struct seen *seen)
{
	struct policy_options policy;
	struct error error;
	struct cache_config config = {
		.policy = &policy,
		.filesystem = &setting->fs->core,
		.memory_bytes = setting->memory_bytes,
		.pinned_bytes = setting->pinned_bytes,
		.is_cgroup = !setting->is_machine,
		.readahead_pages = setting->readahead_pages,
		.device_io_pages = setting->fs->device_io_pages,
		.completes_at_once = !setting->later,
	};

	*play = (struct play){.seen = seen,
			      .later = setting->later,
			      .in_flight_pages_max = setting->memory_bytes / PAGE_BYTES / 4,
			      .plan = memory_alloc(1, sizeof(*play->plan))};
	if (!policy_options_parse(&policy, setting->policy, &error) ||
	    !(play->cache = cache_create(&config, &error)))
		abort();
	random_init(&play->random, seed, 1000 + world);
	for (uint32_t i = 0; i < NAMES; i++) {
		struct name *name = &play->names[i];

		/* Directories in directories, files in them or in the root. */
		name->is_directory = i < DIRECTORIES;
		name->parent = i < DIRECTORIES ? i : (uint32_t)draw(play, DIRECTORIES + 1);
		name->id = cache_name_add(play->cache,
					  name->parent ? play->names[name->parent - 1].id : 0, 0,
					  1 + (uint32_t)draw(play, 80));
		if (name->is_directory || i % 2) {
			uint64_t size = name->is_directory ? 0
					: draw(play, 3)    ? draw(play, 1 << 20)
							   : draw(play, 20 << 20);

			name->file = cache_file_add(play->cache, size,
						    name->is_directory   ? CACHE_FILE_DIRECTORY
						    : draw(play, 8) == 0 ? CACHE_FILE_SPARSE
									 : 0u);
			cache_name_bind(play->cache, name->id, name->file);
		}
	}
	play->metadata = cache_file_add(play->cache, 1 << 20, CACHE_FILE_METADATA);
	cache_stream(play->cache, 1);
}

static void play_deinit(struct play *play)
{
	complete_some(play, 100);
	for (uint32_t i = 0; i < HANDLES; i++)
		if (play->handles[i].id)
			close_handle(play, &play->handles[i]);
	cache_check(play->cache);
	cache_counters(play->cache, 0, &play->seen->counters);
	cache_destroy(play->cache);
	array_deinit(&play->fetching);
	array_deinit(&play->writing);
	memory_free(play->plan);
}

/* `ops` operations of one world; `check_every`: how often everything is walked. */
static void play_world(uint32_t world, uint64_t seed, uint32_t ops, uint32_t check_every,
		       struct seen *seen)
{
	struct setting setting = setting_draw(world, seed);
	struct play play;

	*seen = (struct seen){0};
	play_init(&play, &setting, seed, world, seen);
	for (uint32_t i = 0; i < ops; i++) {
		seen->in_op = true;
		op_draw(&play);
		seen->in_op = false;
		seen->ops++;
		if (seen->ops % check_every == 0)
			cache_check(play.cache);
	}
	play_deinit(&play);
}

/* ---- the parent ---- */

static struct seen *shared_seen(void)
{
	struct seen *seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(seen != MAP_FAILED);
	return seen;
}

/* In the child a fault is a fault: cmocka would go on with the next test. */
static void signals_default(void)
{
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	signal(SIGFPE, SIG_DFL);
	signal(SIGILL, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	alarm(60);
}

/* True: the child lived. */
static bool child(uint32_t world, uint64_t seed, uint32_t ops, uint32_t check_every,
		  struct seen *seen)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		signals_default();
		play_world(world, seed, ops, check_every, seen);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

/* With generations, reclaim that finds nothing goes through all of memory again and again: fewer do. */
static uint32_t ops_of(uint32_t world, uint64_t seed)
{
	struct setting setting = setting_draw(world, seed);

	return strstr(setting.policy, "-mglru") ? OPS / 4 : OPS;
}

/* Everything walked after each operation: the first that fails ends the shortest prefix. */
static void tell(uint32_t world, uint64_t seed, struct seen *seen)
{
	struct setting setting = setting_draw(world, seed);
	char name[256];
	uint32_t ops = ops_of(world, seed);

	if (!child(world, seed, ops, 1, seen))
		ops = seen->ops + seen->in_op;
	setting_name(name, sizeof(name), &setting);
	print_error("seed %llu, world %u (%s): fails after %u operations, the last of them:\n",
		    (unsigned long long)seed, world, name, ops);
	for (uint32_t i = ops >= LOG_LINES ? ops - LOG_LINES + 1 : 0; i < ops; i++)
		print_error("  %4u  %s\n", i, seen->log[i % LOG_LINES]);
	fail();
}

static uint32_t worlds(void)
{
	uint32_t policies = 0, systems = 0;

	while (policy_of_pages_at(policies))
		policies++;
	while (filesystem_at(systems))
		systems++;
	return policies * systems;
}

/* All of a seed's worlds in one child; which of them failed, if one did, is in `seen`. */
static void seed_run(uint64_t seed)
{
	struct seen *seen = shared_seen();
	uint32_t *at =
		mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		signals_default();
		for (*at = 0; *at < worlds(); ++*at) {
			alarm(60);
			play_world(*at, seed, ops_of(*at, seed), CHECK_EVERY, seen);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		tell(*at, seed, seen);
	munmap(at, sizeof(*at));
	munmap(seen, sizeof(*seen));
}

static bool seed_given(uint64_t *seed)
{
	const char *text = getenv("REFAULT_SEED");

	if (text)
		*seed = strtoull(text, NULL, 10);
	return text != NULL;
}

static void whatever_happens_the_invariants_hold(void **state)
{
#ifdef REFAULT_CHECK
	static const uint64_t seeds[] = {1};
#else
	static const uint64_t seeds[] = {1, 2, 3};
#endif
	uint64_t seed;

	(void)state;
	if (seed_given(&seed))
		seed_run(seed);
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		seed_run(seeds[i]);
}

static void the_same_seed_gives_the_same_counters_to_the_byte(void **state)
{
	struct seen *first = shared_seen(), *second = shared_seen();

	(void)state;
	for (uint32_t world = 0; world < worlds(); world += 5) {
		assert_true(child(world, 7, OPS / 2, OPS, first));
		assert_true(child(world, 7, OPS / 2, 50, second));
		assert_memory_equal(&first->counters, &second->counters, sizeof(first->counters));
		assert_int_equal(first->sum, second->sum);
	}
	munmap(first, sizeof(*first));
	munmap(second, sizeof(*second));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_happens_the_invariants_hold),
		cmocka_unit_test(the_same_seed_gives_the_same_counters_to_the_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
