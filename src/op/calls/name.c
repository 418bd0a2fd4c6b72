/*
 * name: the tree of names
 *
 * A name is a node below its directory's. To rename is to put the node elsewhere: what is open
 * follows, and so does all that is below a directory, at no cost. The path is put together when it
 * is asked for, and its id kept until something above may have been renamed.
 */
#include "op/calls/calls_private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "op/path.h"

enum {
	CHUNK_BYTES = 64 * 1024,
	BUCKETS_MIN = 256,
	SYMLINKS_MAX = 40, /* Linux include/linux/namei.h, MAXSYMLINKS */
};

char *text_keep(struct calls *calls, const char *text, size_t bytes)
{
	char *kept;

	if (bytes > CHUNK_BYTES / 4)
		return arena_text(&calls->texts, text, bytes);
	if (bytes > calls->chunk_bytes) {
		calls->chunk = arena_alloc(&calls->texts, CHUNK_BYTES);
		calls->chunk_bytes = CHUNK_BYTES;
	}
	kept = calls->chunk;
	memcpy(kept, text, bytes);
	calls->chunk += bytes;
	calls->chunk_bytes -= bytes;
	return kept;
}

static uint32_t text_hash(const char *text, size_t bytes)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static uint32_t *bucket_of(const struct calls *calls, uint32_t parent, uint32_t hash)
{
	uint64_t mixed = ((uint64_t)hash << 32 | parent) * UINT64_C(0x9e3779b97f4a7c15);

	return &calls->buckets[(mixed >> 32) & calls->bucket_mask];
}

static void bucket_put(struct calls *calls, uint32_t name)
{
	struct name *at = &calls->names.at[name];
	uint32_t *bucket = bucket_of(calls, at->parent, at->hash);

	at->next_in_bucket = *bucket;
	*bucket = name;
}

static void bucket_remove(struct calls *calls, uint32_t name)
{
	struct name *at = &calls->names.at[name];
	uint32_t *link = bucket_of(calls, at->parent, at->hash);

	while (*link != name)
		link = &calls->names.at[*link].next_in_bucket;
	*link = at->next_in_bucket;
	at->next_in_bucket = NONE;
}

static void buckets_make(struct calls *calls, uint32_t count)
{
	memory_free(calls->buckets);
	calls->bucket_mask = count - 1;
	calls->buckets = memory_alloc(count, sizeof(*calls->buckets));
	memset(calls->buckets, 0xff, count * sizeof(*calls->buckets));
	for (uint32_t i = NAME_ROOT_COUNT; i < calls->names.count; i++)
		bucket_put(calls, i);
}

void names_init(struct calls *calls)
{
	for (uint32_t i = 0; i < NAME_ROOT_COUNT; i++)
		*array_push(&calls->names) = (struct name){
			.text = "",
			.parent = NONE,
			.next_in_bucket = NONE,
			.file = NONE,
			.next_of_file = NONE,
			.linked_file = NONE,
			.path = NONE,
			.first_parent = NONE,
			.first_text = "",
			.kind = NAME_DIRECTORY,
			.existed = true,
			.is_in_ops = true,
		};
	calls->somewhere = NONE;
	calls->path = memory_alloc(PATH_BYTES_MAX + 1, 1);
	buckets_make(calls, BUCKETS_MIN);
}

void names_deinit(struct calls *calls)
{
	array_deinit(&calls->names);
	memory_free(calls->buckets);
	calls->buckets = NULL;
	memory_free(calls->path);
	arena_deinit(&calls->texts);
	calls->chunk = NULL;
	calls->chunk_bytes = 0;
}

/* ---- to find one ---- */

static uint32_t find(const struct calls *calls, uint32_t parent, const char *text, size_t bytes,
		     uint32_t hash)
{
	uint32_t name = *bucket_of(calls, parent, hash);

	while (name != NONE) {
		const struct name *at = &calls->names.at[name];

		if (at->hash == hash && at->parent == parent && at->bytes == bytes &&
		    memcmp(at->text, text, bytes) == 0)
			break;
		name = at->next_in_bucket;
	}
	return name;
}

uint32_t name_find(const struct calls *calls, uint32_t parent, const char *text, size_t bytes)
{
	return find(calls, parent, text, bytes, text_hash(text, bytes));
}

static bool text_is(const char *text, size_t bytes, const char *other)
{
	return strlen(other) == bytes && memcmp(text, other, bytes) == 0;
}

/* A disk that is read as a file has pages like any other: Linux block/fops.c. */
static bool is_disk(const char *text, size_t bytes)
{
	static const char *const beginnings[] = {"sd", "hd",   "vd",     "xvd", "nvme", "mmcblk",
						 "dm", "loop", "mapper", "md",  "disk", "pmem"};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (bytes >= strlen(beginnings[i]) &&
		    memcmp(text, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static bool is_pseudo(const struct calls *calls, uint32_t parent, const char *text, size_t bytes)
{
	const struct name *above = &calls->names.at[parent];

	if (parent == NAME_ROOT)
		return text_is(text, bytes, "proc") || text_is(text, bytes, "sys") ||
		       text_is(text, bytes, "dev");
	if (above->parent == NAME_ROOT && text_is(above->text, above->bytes, "dev"))
		return !is_disk(text, bytes);
	return above->is_pseudo;
}

uint32_t name_get(struct calls *calls, uint32_t parent, const char *text, size_t bytes)
{
	uint32_t hash = text_hash(text, bytes);
	uint32_t name = find(calls, parent, text, bytes, hash);
	char *kept;

	if (name != NONE)
		return name;
	kept = text_keep(calls, text, bytes);
	name = (uint32_t)calls->names.count;
	assert(name < NONE - 1);
	calls->names.at[parent].has_children = true;
	*array_push(&calls->names) = (struct name){
		.text = kept,
		.bytes = (uint32_t)bytes,
		.parent = parent,
		.hash = hash,
		.file = NONE,
		.next_of_file = NONE,
		.linked_file = NONE,
		.path = NONE,
		.first_parent = parent,
		.first_bytes = (uint32_t)bytes,
		.first_text = kept,
		.is_pseudo = is_pseudo(calls, parent, text, bytes),
	};
	if (calls->names.count > calls->bucket_mask)
		buckets_make(calls, (calls->bucket_mask + 1) * 2);
	else
		bucket_put(calls, name);
	return name;
}

/* What NAME_SOMEWHERE stands for by now. */
static uint32_t somewhere(const struct calls *calls, uint32_t name)
{
	return name == NAME_SOMEWHERE && calls->somewhere != NONE ? calls->somewhere : name;
}

static uint32_t resolve(struct calls *calls, uint32_t directory, const char *text, size_t bytes,
			bool follows, unsigned int *links)
{
	uint32_t name = bytes && text[0] == '/' ? (uint32_t)NAME_ROOT : somewhere(calls, directory);

	for (size_t at = 0, end; at < bytes; at = end + 1) {
		const char *part = text + at;
		const struct name *found;
		uint32_t above = name;
		bool is_last;

		for (end = at; end < bytes && text[end] != '/'; end++)
			;
		if (end == at || (end == at + 1 && part[0] == '.'))
			continue;
		if (end == at + 2 && part[0] == '.' && part[1] == '.' && name != NAME_SOMEWHERE) {
			if (calls->names.at[name].parent != NONE)
				name = somewhere(calls, calls->names.at[name].parent);
			continue;
		}
		name = name_get(calls, name, part, end - at);
		found = &calls->names.at[name];
		for (is_last = true; is_last && end < bytes; is_last = text[end++] == '/')
			;
		end = at + found->bytes;
		if (found->kind == NAME_SYMLINK && found->target && (!is_last || follows) &&
		    *links < SYMLINKS_MAX) {
			++*links;
			name = resolve(calls, above, found->target, found->target_bytes, true,
				       links);
		}
	}
	return name;
}

/* The name that this path leads to. Symbolic links that are known are followed, the last `follows`. */
uint32_t name_resolve(struct calls *calls, uint32_t directory, const char *text, size_t bytes,
		      bool follows)
{
	unsigned int links = 0;

	return resolve(calls, directory, text, bytes, follows, &links);
}

/* ---- paths ---- */

static const struct name *up(const struct calls *calls, const struct name *at, bool first)
{
	uint32_t parent = first ? at->first_parent : at->parent;

	return parent == NONE ? NULL : &calls->names.at[parent];
}

/* Longer than any path may be: kept by its end, and told apart by its number. */
static uint32_t path_too_long(struct calls *calls, uint32_t name)
{
	const struct name *at = &calls->names.at[name];
	size_t bytes = at->bytes < 3000 ? at->bytes : 3000;

	bytes = (size_t)snprintf(calls->path, PATH_BYTES_MAX, "...%u/%.*s", name, (int)bytes,
				 at->text);
	return path_intern(calls->options.paths, calls->path, bytes);
}

static uint32_t path_make(struct calls *calls, uint32_t name, bool first)
{
	char *end = calls->path + PATH_BYTES_MAX, *to = end;
	const struct name *at = &calls->names.at[name];
	const char *above = calls->somewhere_text;
	size_t above_bytes;

	if (name == NAME_ROOT)
		return path_intern(calls->options.paths, "/", 1);
	for (const struct name *parent; (parent = up(calls, at, first)); at = parent) {
		uint32_t bytes = first ? at->first_bytes : at->bytes;

		if ((size_t)(to - calls->path) < bytes + 1)
			return path_too_long(calls, name);
		to -= bytes;
		memcpy(to, first ? at->first_text : at->text, bytes);
		*--to = '/';
	}
	if (at != &calls->names.at[NAME_SOMEWHERE] || !above) {
		if (at != &calls->names.at[NAME_ROOT] && to < end)
			to++;
		if (to == end)
			*--to = '.';
		return path_intern(calls->options.paths, to, (size_t)(end - to));
	}
	above_bytes = strlen(above);
	if (above_bytes == 1 && to < end)
		above_bytes = 0; /* "/" */
	if ((size_t)(to - calls->path) < above_bytes)
		return path_too_long(calls, name);
	to -= above_bytes;
	memcpy(to, above, above_bytes);
	return path_intern(calls->options.paths, to, (size_t)(end - to));
}

uint32_t name_path(struct calls *calls, uint32_t name)
{
	struct name *at = &calls->names.at[name];

	if (at->path == NONE || at->path_generation != calls->generation) {
		at->path = path_make(calls, name, false);
		at->path_generation = calls->generation;
	}
	return at->path;
}

uint32_t name_first_path(struct calls *calls, uint32_t name)
{
	return path_make(calls, name, true);
}

/* ---- to change one ---- */

struct name_place name_place(const struct calls *calls, uint32_t name)
{
	const struct name *at = &calls->names.at[name];

	return (struct name_place){.parent = at->parent, .text = at->text, .bytes = at->bytes};
}

/* Nobody may be at this place: who moves somebody away from it moves him first. */
void name_move(struct calls *calls, uint32_t name, const struct name_place *place)
{
	struct name *at = &calls->names.at[name];

	bucket_remove(calls, name);
	at->parent = place->parent;
	at->text = place->text;
	at->bytes = place->bytes;
	at->hash = text_hash(at->text, at->bytes);
	at->path = NONE;
	bucket_put(calls, name);
	if (at->has_children)
		calls->generation++;
}

/* A new name there: this text, or else "text (2)", "text (3)", ... */
uint32_t name_make_unique(struct calls *calls, uint32_t parent, const char *text, size_t bytes)
{
	char numbered[PATH_BYTES_MAX + 32];
	uint32_t first;

	if (bytes > PATH_BYTES_MAX - 32) {
		text += bytes - (PATH_BYTES_MAX - 32);
		bytes = PATH_BYTES_MAX - 32;
	}
	first = name_find(calls, parent, text, bytes);
	if (first == NONE)
		return name_get(calls, parent, text, bytes);
	for (;;) {
		size_t length =
			(size_t)snprintf(numbered, sizeof(numbered), "%.*s (%u)", (int)bytes, text,
					 ++calls->names.at[first].namesakes + 1);

		if (name_find(calls, parent, numbered, length) == NONE)
			return name_get(calls, parent, numbered, length);
	}
}

/* "text (deleted)", beside what it was: with a directory that is renamed it goes along. */
uint32_t name_make_deleted(struct calls *calls, uint32_t parent, const char *text, size_t bytes)
{
	char *deleted = memory_alloc(bytes + 10, 1);
	uint32_t name;

	memcpy(deleted, text, bytes);
	memcpy(deleted + bytes, " (deleted)", 10);
	name = name_make_unique(calls, parent, deleted, bytes + 10);
	memory_free(deleted);
	return name;
}

/* The directory that nobody told is this one: what is known below it comes there. */
void name_somewhere_is(struct calls *calls, uint32_t name)
{
	uint32_t count = (uint32_t)calls->names.count;

	if (calls->somewhere != NONE || name == NAME_SOMEWHERE)
		return;
	for (uint32_t up = name; up != NONE; up = calls->names.at[up].parent)
		if (up == NAME_SOMEWHERE)
			return; /* it says nothing */
	calls->somewhere = name;
	for (uint32_t i = NAME_ROOT_COUNT; i < count; i++) {
		struct name_place place = name_place(calls, i);

		if (place.parent != NAME_SOMEWHERE)
			continue;
		place.parent = name;
		if (name_find(calls, name, place.text, place.bytes) == NONE)
			name_move(calls, i, &place);
	}
	calls->generation++;
}

/* Can it have been there before the start? Not below a directory that was made since. */
bool name_could_exist(const struct calls *calls, uint32_t name)
{
	for (; name != NONE; name = calls->names.at[name].first_parent) {
		const struct name *at = &calls->names.at[name];

		if (at->is_made || at->kind == NAME_ABSENT)
			return false;
		if (at->existed)
			return true;
	}
	return true;
}
