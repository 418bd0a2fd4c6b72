/*
 * Decision traces: a handful of operations each, and what the cache decides at every one of them.
 *
 * If this fails, the cache decides otherwise than it did; look at the first line that differs and
 * ask which of the two is Linux. The files beside this one (*.trace) are meant to be read: an
 * operation stands at the margin with its time, what it led to below it, indented:
 *
 *     world POLICY SYSTEM cgroup|machine SIZE readahead PAGES
 *     file NAME SIZE [sparse|absent]
 *
 *     TIME read|write|touch|store FILE[@N] OFFSET BYTES
 *     TIME stream|overwrite FILE[@N] OFFSET BYTES STEP
 *     TIME random|sequential|willneed|dontneed FILE[@N] OFFSET BYTES
 *     TIME fsync FILE | sync | truncate FILE SIZE | close FILE[@N] | wait
 *     TIME stat NAME | create NAME | unlink NAME | rename NAME NAME
 *
 * SYSTEM: plain (pages alone), late (as ext4), early (as XFS). @N: another descriptor. touch and
 * store go through a mapping; stream and overwrite are many reads or writes, told about as one.
 *
 * Decisions, of pages FIRST-LAST of a file: fetch (read from the device), fill (there without
 * reading), folio (in one piece of so many pages), marker (the reader who comes here starts the
 * next window), mark (used once), promote (to the active list), refault (came back active at once),
 * demote, evict (under pressure, remembered), drop (without a trace), dirty, write, clean. Of
 * names: dentry, inode, and forgotten.
 *
 * REFAULT_UPDATE=1 writes the files anew: then read the difference before you believe it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "base/array.h"
#include "base/size.h"
#include "cache/cache_private.h"

static const struct cache_filesystem systems[] = {
	{.folios = CACHE_FOLIOS_NEVER,
	 .dentry_bytes = 200,
	 .inline_name_bytes = 39,
	 .inode_bytes = 1000},
	{.folios = CACHE_FOLIOS_LATE,
	 .dentry_bytes = 200,
	 .inline_name_bytes = 39,
	 .inode_bytes = 1000,
	 .buffer_bytes = 112,
	 .node_bytes = 592},
	{.folios = CACHE_FOLIOS_EARLY,
	 .partial_reads_all = true,
	 .reads_without_fs = true,
	 .writes_without_fs = true,
	 .inode_read_fs = true,
	 .evicted_inodes_linger = true,
	 .dentry_bytes = 200,
	 .inline_name_bytes = 39,
	 .inode_bytes = 1000,
	 .node_bytes = 592},
};
static const char *const system_names[] = {"plain", "late", "early"};

enum { PAGES_MAX = 8192, FILES_MAX = 8, HANDLES_MAX = 16, STATE_ORDER_SHIFT = 16 };

/* What is known of a page before and after an operation. */
enum {
	IS_THERE = 1,
	IS_ACTIVE = 2,
	IS_REFERENCED = 4,
	IS_DIRTY = 8,
	IS_MARKED = 16,
	IS_REMEMBERED = 32, /* evicted */
	IS_FOLIO_START = 64,
};

struct trace_file {
	char name[32];
	uint32_t file, dentry;
	bool was_dentry, was_inode;
	uint32_t before[PAGES_MAX], after[PAGES_MAX];
	bool fetched[PAGES_MAX], written[PAGES_MAX];
};

struct handle {
	char name[32]; /* "heap@2" */
	uint32_t handle;
};

struct player {
	struct cache *cache;
	struct trace_file *files;
	size_t file_count;
	struct handle handles[HANDLES_MAX];
	size_t handle_count;
	FILE *out;
	const char *path;
	uint32_t line;
	struct cache_plan plan;
};

#define wrong(player, ...)                                                                         \
	do {                                                                                       \
		print_error("%s:%u: ", (player)->path, (player)->line);                            \
		fail_msg(__VA_ARGS__);                                                             \
	} while (0)

static struct trace_file *file_named(struct player *player, const char *name)
{
	char plain[32];

	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "@"), name);
	for (size_t i = 0; i < player->file_count; i++)
		if (strcmp(player->files[i].name, plain) == 0)
			return &player->files[i];
	wrong(player, "no file %s", name);
	return NULL;
}

static uint32_t handle_of(struct player *player, const char *name)
{
	struct handle *handle;

	for (size_t i = 0; i < player->handle_count; i++)
		if (strcmp(player->handles[i].name, name) == 0)
			return player->handles[i].handle;
	assert_true(player->handle_count < HANDLES_MAX);
	handle = &player->handles[player->handle_count++];
	snprintf(handle->name, sizeof(handle->name), "%s", name);
	cache_open_pay(player->cache);
	handle->handle = cache_open(player->cache, file_named(player, name)->file);
	return handle->handle;
}

static uint64_t size_of(struct player *player, const char *text)
{
	struct error error;
	uint64_t bytes = 0;

	if (!text || !size_parse(&bytes, text, "size", &error))
		wrong(player, "not a size: %s", text ? text : "(nothing)");
	return bytes;
}

/* ---- what is ---- */

static uint32_t state_of(struct cache *cache, uint32_t file, uint64_t index)
{
	uint32_t node = cache_node_find(cache, file, index),
		 slot = cache_lookup(cache, file, index), state = 0;
	const struct node *at = index_node(&cache->index, node);
	const struct page *page;

	if (!node)
		return 0;
	if (!slot)
		return at->high[index % NODE_PAGES] & HIGH_EVICTED ? IS_REMEMBERED : 0;
	page = &cache->queue.pages[slot];
	state = IS_THERE | page_order(page) << STATE_ORDER_SHIFT;
	if (page->bits & PAGE_ACTIVE)
		state |= IS_ACTIVE;
	if (page->bits & PAGE_REFERENCED)
		state |= IS_REFERENCED;
	if (cache->index.heads[node].dirty >> index % NODE_PAGES & 1)
		state |= IS_DIRTY;
	if (page_index_of(cache, page) == index)
		state |= IS_FOLIO_START;
	if (page->bits & PAGE_MARKER && !(page->bits & (PAGE_DIRTY | PAGE_WRITEBACK)) &&
	    page_index_of(cache, page) == index)
		state |= IS_MARKED;
	return state;
}

static void look(struct player *player, bool after)
{
	for (size_t i = 0; i < player->file_count; i++) {
		struct trace_file *file = &player->files[i];

		for (uint64_t page = 0; page < PAGES_MAX; page++)
			(after ? file->after : file->before)[page] =
				state_of(player->cache, file->file, page);
		if (after)
			continue;
		memset(file->fetched, 0, sizeof(file->fetched));
		memset(file->written, 0, sizeof(file->written));
		file->was_dentry = file->dentry && cache_name_cached(player->cache, file->dentry);
		file->was_inode = cache_inode_cached(player->cache, file->file);
	}
}

/* ---- what was decided ---- */

static void say(struct player *player, const char *what, const struct trace_file *file,
		uint64_t first, uint64_t last)
{
	if (first == last)
		fprintf(player->out, "\t%-8s %s %llu\n", what, file->name,
			(unsigned long long)first);
	else
		fprintf(player->out, "\t%-8s %s %llu-%llu\n", what, file->name,
			(unsigned long long)first, (unsigned long long)last);
}

typedef bool question(const struct trace_file *file, uint64_t page);

static void say_runs(struct player *player, const char *what, question *is)
{
	for (size_t i = 0; i < player->file_count; i++) {
		const struct trace_file *file = &player->files[i];

		for (uint64_t page = 0, first; page < PAGES_MAX;) {
			if (!is(file, page)) {
				page++;
				continue;
			}
			for (first = page; page < PAGES_MAX && is(file, page); page++)
				;
			say(player, what, file, first, page - 1);
		}
	}
}

#define CHANGED(name, condition)                                                                   \
	static bool name(const struct trace_file *file, uint64_t page)                             \
	{                                                                                          \
		uint32_t was = file->before[page], is = file->after[page];                         \
                                                                                                   \
		(void)was;                                                                         \
		(void)is;                                                                          \
		return condition;                                                                  \
	}

CHANGED(is_fetched, file->fetched[page])
CHANGED(is_written, file->written[page])
CHANGED(is_filled, !(was & IS_THERE) && is & IS_THERE && !file->fetched[page])
CHANGED(is_marker, is &IS_MARKED && !(was & IS_MARKED))
CHANGED(is_marked, is &IS_REFERENCED && !(was & IS_REFERENCED && was & IS_THERE))
CHANGED(is_promoted, is &IS_ACTIVE && !(was & IS_ACTIVE) && !(was & IS_REMEMBERED))
CHANGED(is_refaulted, is &IS_ACTIVE &&was &IS_REMEMBERED)
CHANGED(is_demoted, was &IS_ACTIVE &&is &IS_THERE && !(is & IS_ACTIVE))
CHANGED(is_evicted,
	(was & IS_THERE || file->fetched[page]) && !(is & IS_THERE) && is & IS_REMEMBERED)
CHANGED(is_dropped, was &IS_THERE && !(is & (IS_THERE | IS_REMEMBERED)))
CHANGED(is_dirty, is &IS_DIRTY && !(was & IS_DIRTY))
CHANGED(is_clean, was &IS_DIRTY &&is &IS_THERE && !(is & IS_DIRTY))

/* New folios of more than a page, one by one. */
static void say_folios(struct player *player)
{
	for (size_t i = 0; i < player->file_count; i++) {
		const struct trace_file *file = &player->files[i];

		for (uint64_t page = 0; page < PAGES_MAX; page++) {
			uint32_t is = file->after[page], pages = 1u << (is >> STATE_ORDER_SHIFT);

			if (!(file->before[page] & IS_THERE) && is & IS_FOLIO_START && pages > 1)
				say(player, "folio", file, page, page + pages - 1);
		}
	}
}

static void say_names(struct player *player)
{
	for (size_t i = 0; i < player->file_count; i++) {
		const struct trace_file *file = &player->files[i];
		bool dentry = file->dentry && cache_name_cached(player->cache, file->dentry),
		     inode = cache_inode_cached(player->cache, file->file);

		if (dentry != file->was_dentry)
			fprintf(player->out, "\tdentry   %s%s\n", file->name,
				dentry ? "" : " forgotten");
		if (inode != file->was_inode)
			fprintf(player->out, "\tinode    %s%s\n", file->name,
				inode ? "" : " forgotten");
	}
}

static void plan_note(struct player *player)
{
	for (size_t i = 0; i < player->file_count; i++) {
		struct trace_file *file = &player->files[i];

		for (uint32_t run = 0; run < player->plan.fetch_count; run++)
			for (uint32_t page = 0; player->plan.fetch[run].file == file->file &&
						page < player->plan.fetch[run].pages;
			     page++)
				file->fetched[player->plan.fetch[run].index + page] = true;
		for (uint32_t run = 0; run < player->plan.write_count; run++)
			for (uint32_t page = 0; player->plan.write[run].file == file->file &&
						page < player->plan.write[run].pages;
			     page++)
				file->written[player->plan.write[run].index + page] = true;
	}
	player->plan.fetch_count = player->plan.write_count = 0;
}

static void say_decisions(struct player *player)
{
	plan_note(player);
	look(player, true);
	say_names(player);
	say_runs(player, "fetch", is_fetched);
	say_runs(player, "fill", is_filled);
	say_folios(player);
	say_runs(player, "marker", is_marker);
	say_runs(player, "mark", is_marked);
	say_runs(player, "promote", is_promoted);
	say_runs(player, "refault", is_refaulted);
	say_runs(player, "demote", is_demoted);
	say_runs(player, "evict", is_evicted);
	say_runs(player, "drop", is_dropped);
	say_runs(player, "dirty", is_dirty);
	say_runs(player, "write", is_written);
	say_runs(player, "clean", is_clean);
	cache_check(player->cache);
}

/* ---- operations ---- */

typedef bool move(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		  struct cache_plan *plan);

static bool touch(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		  struct cache_plan *plan)
{
	return cache_touch(cache, handle, false, offset, bytes, plan);
}

static bool store(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		  struct cache_plan *plan)
{
	return cache_touch(cache, handle, true, offset, bytes, plan);
}

static bool willneed(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		     struct cache_plan *plan)
{
	return cache_advise(cache, handle, CACHE_ADVICE_WILLNEED, offset, bytes, plan);
}

static bool dontneed(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		     struct cache_plan *plan)
{
	return cache_advise(cache, handle, CACHE_ADVICE_DONTNEED, offset, bytes, plan);
}

static bool be_random(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
		      struct cache_plan *plan)
{
	return cache_advise(cache, handle, CACHE_ADVICE_RANDOM, offset, bytes, plan);
}

static bool be_sequential(struct cache *cache, uint32_t handle, uint64_t *offset, uint64_t *bytes,
			  struct cache_plan *plan)
{
	return cache_advise(cache, handle, CACHE_ADVICE_SEQUENTIAL, offset, bytes, plan);
}

static const struct {
	const char *name;
	move *move;
	int sizes; /* offset, bytes, step */
} moves[] = {
	{"read", cache_read, 2},   {"write", cache_write, 2},
	{"touch", touch, 2},       {"store", store, 2},
	{"stream", cache_read, 3}, {"overwrite", cache_write, 3},
	{"willneed", willneed, 2}, {"dontneed", dontneed, 2},
	{"random", be_random, 0},  {"sequential", be_sequential, 0},
};

static void move_all(struct player *player, move *how, uint32_t handle, uint64_t offset,
		     uint64_t bytes)
{
	while (!how(player->cache, handle, &offset, &bytes, &player->plan))
		plan_note(player);
	plan_note(player);
}

static void name_op(struct player *player, const char *op, char **rest)
{
	const char *name = strsep(rest, " ");
	struct trace_file *file = file_named(player, name);

	if (strcmp(op, "stat") == 0) {
		cache_name_use(player->cache, file->dentry);
	} else if (strcmp(op, "create") == 0) {
		cache_name_get(player->cache, file->dentry);
		cache_name_link(player->cache, file->dentry, file->file);
		cache_name_put(player->cache, file->dentry);
	} else if (strcmp(op, "unlink") == 0) {
		cache_name_unlink(player->cache, file->dentry);
	} else {
		struct trace_file *to = file_named(player, strsep(rest, " "));
		struct trace_file moved = *file;

		/* The pages go along with the file, and what was known of them. */
		cache_name_rename(player->cache, file->dentry, to->dentry);
		file->file = to->file;
		file->was_inode = to->was_inode;
		memcpy(file->before, to->before, sizeof(file->before));
		to->file = moved.file;
		to->was_inode = moved.was_inode;
		memcpy(to->before, moved.before, sizeof(to->before));
	}
}

static void op(struct player *player, char *text)
{
	const char *time = strsep(&text, " "), *verb = strsep(&text, " ");
	struct error error;
	uint64_t now_ns = 0;

	if (!verb || !time_parse(&now_ns, time, "time", &error))
		wrong(player, "expected TIME OPERATION");
	look(player, false);
	cache_clock(player->cache, now_ns, &player->plan);
	cache_operation(player->cache);
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		uint64_t sizes[3] = {0};
		uint32_t handle;

		if (strcmp(verb, moves[i].name) != 0)
			continue;
		handle = handle_of(player, strsep(&text, " "));
		for (int size = 0; size < moves[i].sizes; size++)
			sizes[size] = size_of(player, strsep(&text, " "));
		for (uint64_t at = 0; moves[i].sizes == 3 && at < sizes[1]; at += sizes[2])
			move_all(player, moves[i].move, handle, sizes[0] + at, sizes[2]);
		if (moves[i].sizes < 3)
			move_all(player, moves[i].move, handle, sizes[0], sizes[1]);
		say_decisions(player);
		return;
	}
	if (strcmp(verb, "fsync") == 0) {
		while (!cache_sync_file(player->cache, file_named(player, text)->file,
					&player->plan))
			plan_note(player);
	} else if (strcmp(verb, "sync") == 0) {
		while (!cache_sync(player->cache, &player->plan))
			plan_note(player);
	} else if (strcmp(verb, "truncate") == 0) {
		const char *name = strsep(&text, " ");

		cache_truncate(player->cache, file_named(player, name)->file,
			       size_of(player, text));
	} else if (strcmp(verb, "close") == 0) {
		for (size_t i = 0; i < player->handle_count; i++) {
			if (strcmp(player->handles[i].name, text) != 0)
				continue;
			cache_close(player->cache, player->handles[i].handle);
			player->handles[i] = player->handles[--player->handle_count];
		}
	} else if (strcmp(verb, "stat") == 0 || strcmp(verb, "create") == 0 ||
		   strcmp(verb, "unlink") == 0 || strcmp(verb, "rename") == 0) {
		name_op(player, verb, &text);
	} else if (strcmp(verb, "wait") != 0) {
		wrong(player, "no operation %s", verb);
	}
	say_decisions(player);
}

static void world(struct player *player, char *text)
{
	struct policy_options policy;
	struct error error;
	struct cache_config config = {
		.policy = &policy, .completes_at_once = true, .device_io_pages = 320};
	const char *name = strsep(&text, " "), *system = strsep(&text, " ");

	if (player->cache || !text)
		wrong(player,
		      "expected one line: world POLICY SYSTEM cgroup|machine SIZE readahead PAGES");
	if (!policy_options_parse(&policy, name, &error))
		wrong(player, "%s", error.message);
	for (size_t i = 0; i < 3; i++)
		if (strcmp(system, system_names[i]) == 0)
			config.filesystem = &systems[i];
	if (!config.filesystem)
		wrong(player, "no system %s", system);
	config.is_cgroup = strcmp(strsep(&text, " "), "cgroup") == 0;
	config.memory_bytes = size_of(player, strsep(&text, " "));
	(void)strsep(&text, " ");
	config.readahead_pages = (uint32_t)strtoul(text ? text : "32", NULL, 10);
	player->cache = cache_create(&config, &error);
	if (!player->cache)
		wrong(player, "%s", error.message);
	cache_stream(player->cache, 1);
}

static void file(struct player *player, char *text)
{
	struct trace_file *fresh = &player->files[player->file_count++];
	const char *name = strsep(&text, " "), *size = strsep(&text, " ");
	bool is_absent = text && strcmp(text, "absent") == 0;

	assert_true(player->file_count <= FILES_MAX);
	snprintf(fresh->name, sizeof(fresh->name), "%s", name);
	fresh->file = cache_file_add(player->cache, size_of(player, size),
				     text && strcmp(text, "sparse") == 0 ? CACHE_FILE_SPARSE : 0u);
	fresh->dentry = cache_name_add(player->cache, 0, 0, (uint32_t)strlen(name));
	if (!is_absent)
		cache_name_bind(player->cache, fresh->dentry, fresh->file);
}

/* The whole file as it would be if it were right. */
static char *play(const char *path, FILE *in)
{
	struct player player = {.path = path,
				.files = memory_alloc(FILES_MAX, sizeof(*player.files))};
	char *text = NULL, line[1024];
	size_t bytes = 0;

	player.out = open_memstream(&text, &bytes);
	while (fgets(line, sizeof(line), in)) {
		player.line++;
		if (line[0] == '\t')
			continue;
		fputs(line, player.out);
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || line[0] == '\0')
			continue;
		if (strncmp(line, "world ", 6) == 0)
			world(&player, line + 6);
		else if (!player.cache)
			wrong(&player, "the first line is the world");
		else if (strncmp(line, "file ", 5) == 0)
			file(&player, line + 5);
		else
			op(&player, line);
	}
	fclose(player.out);
	cache_destroy(player.cache);
	memory_free(player.files);
	return text;
}

static char *file_text(FILE *in)
{
	char *text;
	long bytes;

	fseek(in, 0, SEEK_END);
	bytes = ftell(in);
	rewind(in);
	text = memory_alloc((size_t)bytes + 1, 1);
	assert_int_equal(fread(text, 1, (size_t)bytes, in), bytes);
	rewind(in);
	return text;
}

static void show_difference(const char *path, const char *expected, const char *got)
{
	uint32_t line = 1;

	while (*expected && *got) {
		size_t a = strcspn(expected, "\n"), b = strcspn(got, "\n");

		if (a != b || memcmp(expected, got, a) != 0)
			break;
		expected += a + (expected[a] == '\n');
		got += b + (got[b] == '\n');
		line++;
	}
	print_error("%s:%u:\nexpected  %.*s\ngot       %.*s\n", path, line,
		    (int)strcspn(expected, "\n"), expected, (int)strcspn(got, "\n"), got);
}

static void decisions_are_as_written(void **state)
{
	const char *path = *state;
	FILE *in = fopen(path, "r");
	char *expected, *got;

	assert_non_null(in);
	expected = file_text(in);
	got = play(path, in);
	fclose(in);
	if (getenv("REFAULT_UPDATE") && strcmp(expected, got) != 0) {
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fputs(got, out);
		fclose(out);
	} else if (strcmp(expected, got) != 0) {
		show_difference(path, expected, got);
		fail();
	}
	memory_free(expected);
	free(got);
}

int main(void)
{
	struct CMUnitTest tests[64];
	glob_t traces;
	size_t count = 0;
	int failed;

	if (glob("test/trace/*.trace", 0, NULL, &traces) != 0) {
		printf("no test/trace/*.trace here: run from the project's root\n");
		return 77;
	}
	for (; count < traces.gl_pathc && count < 64; count++)
		tests[count] = (struct CMUnitTest){.name = traces.gl_pathv[count],
						   .test_func = decisions_are_as_written,
						   .initial_state = traces.gl_pathv[count]};
	failed = _cmocka_run_group_tests("decisions", tests, count, NULL, NULL);
	globfree(&traces);
	return failed;
}
