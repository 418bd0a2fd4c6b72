#include "study/stack.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

enum {
	WORD_BITS = 64,
	BLOCK_WORDS = 8,
	BLOCK_BITS = WORD_BITS * BLOCK_WORDS,
	TIMES_MIN = 1 << 12,
	TABLE_MIN = 1 << 10,
};

#define NOBODY 0u /* ids begin at 1 */

struct stack {
	/* keys, by id */
	uint64_t *keys;
	uint32_t *time_of; /* of a free id: the next free one */
	uint32_t id_room, ids, free_id;
	uint32_t count;

	/* ids by key: open addressing, at most half full */
	uint32_t *table;
	uint32_t table_mask;

	/* by time */
	uint32_t *id_at;
	uint64_t *bits;
	uint32_t *tree; /* of blocks, from 1 */
	uint32_t times, now, blocks;
	uint32_t oldest_word; /* no bit is set in a word before it */
};

static uint32_t place_of(const struct stack *stack, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15u; /* Fibonacci hashing, Knuth, TAOCP 3, 6.4 */

	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93u;
	return (uint32_t)(hash >> 32) & stack->table_mask;
}

/* ---- the tree ---- */

static void tree_add(struct stack *stack, uint32_t block, uint32_t by)
{
	for (uint32_t i = block + 1; i <= stack->blocks; i += i & -i)
		stack->tree[i] += by;
}

/* How many bits are set at times up to and with this one. */
static uint32_t bits_until(const struct stack *stack, uint32_t time)
{
	uint32_t block = time / BLOCK_BITS, word = time / WORD_BITS, sum = 0;

	for (uint32_t i = block; i > 0; i -= i & -i)
		sum += stack->tree[i];
	for (uint32_t i = block * BLOCK_WORDS; i < word; i++)
		sum += (uint32_t)__builtin_popcountll(stack->bits[i]);
	return sum + (uint32_t)__builtin_popcountll(stack->bits[word] &
						    (~UINT64_C(0) >> (WORD_BITS - 1 - time % 64)));
}

static void bit_set(struct stack *stack, uint32_t time)
{
	stack->bits[time / WORD_BITS] |= UINT64_C(1) << time % WORD_BITS;
	tree_add(stack, time / BLOCK_BITS, 1);
}

static void bit_clear(struct stack *stack, uint32_t time)
{
	stack->bits[time / WORD_BITS] &= ~(UINT64_C(1) << time % WORD_BITS);
	tree_add(stack, time / BLOCK_BITS, (uint32_t)-1);
}

/* Times from 0 again, in the same order, and room for as many as there are and more. */
static void times_renumber(struct stack *stack)
{
	uint64_t wanted = (uint64_t)stack->count * 2 + TIMES_MIN;
	uint32_t times = (uint32_t)((wanted + BLOCK_BITS - 1) / BLOCK_BITS * BLOCK_BITS);
	uint32_t *id_at = memory_alloc(times, sizeof(*id_at));
	uint32_t now = 0;

	for (uint32_t word = 0; word < stack->times / WORD_BITS; word++)
		for (uint64_t left = stack->bits[word]; left; left &= left - 1) {
			uint32_t time = word * WORD_BITS + (uint32_t)__builtin_ctzll(left);

			stack->time_of[stack->id_at[time]] = now;
			id_at[now++] = stack->id_at[time];
		}
	memory_free(stack->id_at);
	memory_free(stack->bits);
	memory_free(stack->tree);
	stack->id_at = id_at;
	stack->times = times;
	stack->blocks = times / BLOCK_BITS;
	stack->bits = memory_alloc(times / WORD_BITS, sizeof(*stack->bits));
	stack->tree = memory_alloc(stack->blocks + 1, sizeof(*stack->tree));
	memory_use_randomly(stack->id_at, times * sizeof(*id_at));
	stack->now = stack->oldest_word = 0;
	while (stack->now < now)
		bit_set(stack, stack->now++);
}

/* ---- ids by key ---- */

static void table_put(struct stack *stack, uint32_t id)
{
	uint32_t at = place_of(stack, stack->keys[id]);

	while (stack->table[at] != NOBODY)
		at = (at + 1) & stack->table_mask;
	stack->table[at] = id;
}

static void table_grow(struct stack *stack, uint32_t room)
{
	memory_free(stack->table);
	stack->table = memory_alloc(room, sizeof(*stack->table));
	memory_use_randomly(stack->table, room * sizeof(*stack->table));
	stack->table_mask = room - 1;
	for (uint32_t time = 0; time < stack->now; time++)
		if (stack->bits[time / WORD_BITS] >> time % WORD_BITS & 1)
			table_put(stack, stack->id_at[time]);
}

/* Where its id is, or would be. */
static uint32_t table_find(const struct stack *stack, uint64_t key)
{
	uint32_t at = place_of(stack, key);

	while (stack->table[at] != NOBODY && stack->keys[stack->table[at]] != key)
		at = (at + 1) & stack->table_mask;
	return at;
}

/* What comes behind it moves up, as far as it may: no look-up ends at a gap too early. */
static void table_remove(struct stack *stack, uint32_t gap)
{
	for (uint32_t at = gap;;) {
		uint32_t home;

		at = (at + 1) & stack->table_mask;
		if (stack->table[at] == NOBODY)
			break;
		home = place_of(stack, stack->keys[stack->table[at]]);
		if (((at - home) & stack->table_mask) < ((at - gap) & stack->table_mask))
			continue;
		stack->table[gap] = stack->table[at];
		gap = at;
	}
	stack->table[gap] = NOBODY;
}

static uint32_t id_take(struct stack *stack, uint64_t key)
{
	uint32_t id = stack->free_id;

	assert(stack->count < UINT32_C(1) << 31);
	if (id != NOBODY) {
		stack->free_id = stack->time_of[id];
	} else {
		if (stack->ids == stack->id_room) {
			stack->id_room = stack->id_room / 2 * 3;
			stack->keys =
				memory_resize(stack->keys, stack->id_room, sizeof(*stack->keys));
			stack->time_of = memory_resize(stack->time_of, stack->id_room,
						       sizeof(*stack->time_of));
		}
		id = stack->ids++;
	}
	stack->keys[id] = key;
	stack->count++;
	return id;
}

/* ---- what others call ---- */

struct stack *stack_create(void)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack));

	stack->id_room = TABLE_MIN;
	stack->ids = 1;
	stack->keys = memory_alloc(stack->id_room, sizeof(*stack->keys));
	stack->time_of = memory_alloc(stack->id_room, sizeof(*stack->time_of));
	times_renumber(stack);
	table_grow(stack, TABLE_MIN);
	return stack;
}

void stack_destroy(struct stack *stack)
{
	if (!stack)
		return;
	memory_free(stack->keys);
	memory_free(stack->time_of);
	memory_free(stack->table);
	memory_free(stack->id_at);
	memory_free(stack->bits);
	memory_free(stack->tree);
	memory_free(stack);
}

uint64_t stack_access_id(struct stack *stack, uint64_t key, uint32_t *id_out)
{
	uint64_t distance = STACK_COLD;
	uint32_t at, id;

	if (stack->now == stack->times)
		times_renumber(stack);
	at = table_find(stack, key);
	id = *id_out = stack->table[at];
	if (id != NOBODY) {
		uint32_t time = stack->time_of[id];

		distance = stack->count - bits_until(stack, time);
		if (distance == 0)
			return 0; /* it is the last one anyway */
		bit_clear(stack, time);
	} else {
		id = *id_out = id_take(stack, key);
		stack->table[at] = id;
	}
	stack->time_of[id] = stack->now;
	stack->id_at[stack->now] = id;
	bit_set(stack, stack->now++);
	if (distance == STACK_COLD && stack->count * UINT64_C(2) > stack->table_mask)
		table_grow(stack, (stack->table_mask + 1) * 2);
	return distance;
}

uint64_t stack_access(struct stack *stack, uint64_t key)
{
	uint32_t id;

	return stack_access_id(stack, key, &id);
}

uint32_t stack_ids(const struct stack *stack)
{
	return stack->ids - 1;
}

void stack_forget(struct stack *stack, uint64_t key)
{
	uint32_t at = table_find(stack, key), id = stack->table[at];

	assert(id != NOBODY);
	bit_clear(stack, stack->time_of[id]);
	table_remove(stack, at);
	stack->time_of[id] = stack->free_id;
	stack->free_id = id;
	stack->count--;
}

void stack_forget_oldest(struct stack *stack)
{
	uint32_t time;

	assert(stack->count > 0);
	while (stack->bits[stack->oldest_word] == 0)
		stack->oldest_word++;
	time = stack->oldest_word * WORD_BITS +
	       (uint32_t)__builtin_ctzll(stack->bits[stack->oldest_word]);
	stack_forget(stack, stack->keys[stack->id_at[time]]);
}

uint64_t stack_count(const struct stack *stack)
{
	return stack->count;
}

size_t stack_bytes(const struct stack *stack)
{
	return sizeof(*stack) + stack->id_room * (sizeof(*stack->keys) + sizeof(*stack->time_of)) +
	       (stack->table_mask + UINT64_C(1)) * sizeof(*stack->table) +
	       stack->times * sizeof(*stack->id_at) + stack->times / 8 +
	       (stack->blocks + UINT64_C(1)) * sizeof(*stack->tree);
}
