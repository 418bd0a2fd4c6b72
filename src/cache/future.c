#include "cache/future.h"

#include <assert.h>

#include "base/array.h"
#include "base/prefetch.h"
#include "cache/bare_loop.h"

/* Requests lie in blocks, so that none is moved when more come. */
enum { BLOCK_BITS = 20, BLOCK = 1 << BLOCK_BITS, BATCH = 32, TABLE_LEAST = 1 << 16 };

/*
 * A request is its key until its page is met again, then the position where that is. The table
 * holds the last request of each page met so far, which is thus still a key: that is how pages are
 * told apart, and why keys are nowhere twice.
 */
struct future {
	ARRAY(uint64_t *) blocks;
	uint64_t count, distinct;
	uint32_t *table; /* position + 1; 0: none */
	uint64_t table_size;
	bool is_settled;
};

struct future *future_create(void)
{
	return memory_alloc(1, sizeof(struct future));
}

void future_destroy(struct future *future)
{
	if (!future)
		return;
	for (size_t i = 0; i < future->blocks.count; i++)
		memory_free(future->blocks.at[i]);
	array_deinit(&future->blocks);
	memory_free(future->table);
	memory_free(future);
}

static inline uint64_t *request(const struct future *future, uint64_t position)
{
	return &future->blocks.at[position >> BLOCK_BITS][position & (BLOCK - 1)];
}

void future_add(struct future *future, const uint64_t *keys, size_t count)
{
	assert(!future->is_settled && count <= FUTURE_REQUESTS_MAX - future->count);
	for (size_t i = 0; i < count; i++) {
		if ((future->count & (BLOCK - 1)) == 0)
			*array_push(&future->blocks) = memory_alloc(BLOCK, sizeof(uint64_t));
		*request(future, future->count++) = keys[i];
	}
}

static inline uint64_t home(const struct future *future, uint64_t key)
{
	/* 31 bits of the hash: the table may have more than 2^32 entries. */
	return ((bare_hash(key) >> 33) * future->table_size) >> 31;
}

/* Where the page is in the table, or where it belongs. */
static inline uint64_t find(const struct future *future, uint64_t key)
{
	uint64_t at = home(future, key);

	while (future->table[at] && *request(future, future->table[at] - 1) != key)
		at = at + 1 == future->table_size ? 0 : at + 1;
	return at;
}

static void table_take(struct future *future, uint64_t size)
{
	future->table = memory_alloc(size, sizeof(*future->table));
	future->table_size = size;
	memory_use_randomly(future->table, size * sizeof(*future->table));
}

/* Twice as large. */
static void grow(struct future *future, uint64_t size)
{
	uint32_t *old = future->table;
	uint64_t old_size = future->table_size;

	table_take(future, size);
	for (uint64_t i = 0; i < old_size; i++)
		if (old[i])
			future->table[find(future, *request(future, old[i] - 1))] = old[i];
	memory_free(old);
}

static void settle_batch(struct future *future, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		prefetch_write(&future->table[home(future, *request(future, i))]);
	for (uint64_t i = from; i < to; i++) {
		uint32_t last = future->table[home(future, *request(future, i))];

		if (last)
			prefetch_write(request(future, last - 1));
	}
	for (uint64_t i = from; i < to; i++) {
		uint32_t *entry = &future->table[find(future, *request(future, i))];

		if (*entry)
			*request(future, *entry - 1) = i;
		else
			future->distinct++;
		*entry = (uint32_t)i + 1;
	}
}

void future_settle(struct future *future)
{
	/*
	 * Three quarters full if no page is asked for twice. It begins smaller, by a power of two:
	 * when it grows for the last time, the one before takes half of it, and both with the
	 * requests are the 16 bytes that were promised.
	 */
	uint64_t most = future->count / 3 * 4 + 4, shift = 0;

	while (most >> (shift + 1) >= TABLE_LEAST)
		shift++;
	table_take(future, most >> shift);
	for (uint64_t i = 0; i < future->count; i += BATCH) {
		/* Sparser while it is small: then it costs little, and is searched less. */
		if (shift > 0 && future->distinct + BATCH > future->table_size / 2)
			grow(future, most >> --shift);
		settle_batch(future, i, i + BATCH < future->count ? i + BATCH : future->count);
	}
	for (uint64_t i = 0; i < future->table_size; i++)
		if (future->table[i])
			*request(future, future->table[i] - 1) = FUTURE_NEVER;
	memory_free(future->table);
	future->table = NULL;
	future->is_settled = true;
}

uint64_t future_count(const struct future *future)
{
	return future->count;
}

uint64_t future_distinct(const struct future *future)
{
	return future->distinct;
}

uint32_t future_next(const struct future *future, uint64_t position)
{
	assert(future->is_settled && position < future->count);
	return (uint32_t)*request(future, position);
}
