#include "op/path.h"

#include <assert.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"

/*
 * Open addressing. A slot holds half of the hash beside the id, so that a probe that fails touches
 * one line only and no text is compared in vain. A path's length stands before its text (2 bytes).
 */
struct slot {
	uint32_t id_plus_1; /* 0: free */
	uint32_t tag;       /* the hash's upper half */
};

enum { LENGTH_BYTES = 2, CHUNK_BYTES = 64 * 1024, SLOTS_MIN = 64 };

struct path_table {
	struct slot *slots;
	size_t slot_mask;
	const char **texts; /* by id; the length is in the two bytes before */
	uint32_t count;
	uint32_t capacity;
	char *chunk; /* the rest of the newest piece of text memory */
	size_t chunk_bytes;
	struct arena arena;
};

static_assert(PATH_BYTES_MAX <= UINT16_MAX, "a length fits two bytes");

struct path_table *path_table_create(void)
{
	struct path_table *table = memory_alloc(1, sizeof(*table));

	table->slots = memory_alloc(SLOTS_MIN, sizeof(*table->slots));
	table->slot_mask = SLOTS_MIN - 1;
	return table;
}

void path_table_destroy(struct path_table *table)
{
	if (!table)
		return;
	memory_free(table->slots);
	memory_free(table->texts);
	arena_deinit(&table->arena);
	memory_free(table);
}

static size_t text_bytes(const char *text)
{
	uint16_t bytes;

	memcpy(&bytes, text - LENGTH_BYTES, sizeof(bytes));
	return bytes;
}

/* The slot of this path, or the free one where it belongs. */
static struct slot *slot_find(const struct path_table *table, const char *path, size_t bytes,
			      uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32);

	for (size_t at = hash & table->slot_mask;; at = (at + 1) & table->slot_mask) {
		struct slot *slot = &table->slots[at];
		const char *text;

		if (slot->id_plus_1 == 0)
			return slot;
		if (slot->tag != tag)
			continue;
		text = table->texts[slot->id_plus_1 - 1];
		if (text_bytes(text) == bytes && memcmp(text, path, bytes) == 0)
			return slot;
	}
}

static void slots_double(struct path_table *table)
{
	size_t old_count = table->slot_mask + 1, count = old_count * 2;
	struct slot *old = table->slots;

	table->slots = memory_alloc(count, sizeof(*table->slots));
	table->slot_mask = count - 1;
	for (size_t i = 0; i < old_count; i++) {
		const char *text;
		size_t at;

		if (old[i].id_plus_1 == 0)
			continue;
		text = table->texts[old[i].id_plus_1 - 1];
		at = XXH3_64bits(text, text_bytes(text)) & table->slot_mask;
		while (table->slots[at].id_plus_1)
			at = (at + 1) & table->slot_mask;
		table->slots[at] = old[i];
	}
	memory_free(old);
}

static const char *text_keep(struct path_table *table, const char *path, size_t bytes)
{
	size_t need = LENGTH_BYTES + bytes + 1;
	uint16_t length = (uint16_t)bytes;
	char *text;

	if (need > table->chunk_bytes) {
		table->chunk = arena_alloc(&table->arena, CHUNK_BYTES);
		table->chunk_bytes = CHUNK_BYTES;
	}
	memcpy(table->chunk, &length, sizeof(length));
	text = table->chunk + LENGTH_BYTES;
	memcpy(text, path, bytes);
	text[bytes] = '\0';
	table->chunk += need;
	table->chunk_bytes -= need;
	return text;
}

uint32_t path_intern(struct path_table *table, const char *path, size_t bytes)
{
	uint64_t hash = XXH3_64bits(path, bytes);
	struct slot *slot = slot_find(table, path, bytes, hash);

	if (slot->id_plus_1)
		return slot->id_plus_1 - 1;

	assert(bytes > 0 && bytes <= PATH_BYTES_MAX);
	assert(!memchr(path, '\0', bytes));
	assert(table->count < UINT32_MAX - 1);
	if (table->count == table->capacity) {
		table->capacity = table->capacity ? table->capacity * 2 : 64;
		table->texts = memory_resize(table->texts, table->capacity, sizeof(*table->texts));
	}
	table->texts[table->count] = text_keep(table, path, bytes);
	*slot = (struct slot){.id_plus_1 = ++table->count, .tag = (uint32_t)(hash >> 32)};
	if ((uint64_t)table->count * 4 > ((uint64_t)table->slot_mask + 1) * 3)
		slots_double(table);
	return table->count - 1;
}

bool path_find(const struct path_table *table, const char *path, size_t bytes, uint32_t *id)
{
	const struct slot *slot = slot_find(table, path, bytes, XXH3_64bits(path, bytes));

	if (slot->id_plus_1 == 0)
		return false;
	*id = slot->id_plus_1 - 1;
	return true;
}

const char *path_text(const struct path_table *table, uint32_t path)
{
	assert(path < table->count);
	return table->texts[path];
}

size_t path_bytes(const struct path_table *table, uint32_t path)
{
	assert(path < table->count);
	return text_bytes(table->texts[path]);
}

uint32_t path_count(const struct path_table *table)
{
	return table->count;
}
