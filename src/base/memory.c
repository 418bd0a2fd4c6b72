#include "base/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ARENA_ALIGN = 16, ARENA_BLOCK_BYTES = 64 * 1024 };

__attribute__((noreturn)) static void out_of_memory(size_t count, size_t bytes)
{
	/* Not an error to hand up: see the header. */
	fprintf(stderr, "refault: out of memory (%zu times %zu bytes)\n", count, bytes);
	exit(1);
}

void *memory_alloc(size_t count, size_t bytes)
{
	/*
	 * calloc() gets large blocks from mmap(), where an untouched page costs nothing, and checks
	 * the product.
	 */
	void *memory = calloc(count ? count : 1, bytes ? bytes : 1);

	if (!memory)
		out_of_memory(count, bytes);
	return memory;
}

void *memory_resize(void *old, size_t count, size_t bytes)
{
	size_t total;
	void *memory;

	if (__builtin_mul_overflow(count, bytes, &total))
		out_of_memory(count, bytes);
	memory = realloc(old, total ? total : 1);
	if (!memory)
		out_of_memory(count, bytes);
	return memory;
}

void memory_free(void *memory)
{
	free(memory);
}

void memory_use_randomly(void *memory, size_t bytes)
{
	enum { HUGE_PAGE = 2 << 20 };
	uintptr_t first = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);

	/* Refused where there are none: no matter. */
	if (first < end)
		(void)madvise((void *)first, end - first, MADV_HUGEPAGE);
}

struct arena_block {
	struct arena_block *older;
	size_t used;
	size_t capacity;
	size_t unused; /* keeps `data` aligned */
	unsigned char data[];
};

static_assert(sizeof(struct arena_block) % ARENA_ALIGN == 0, "what follows the header is aligned");

void *arena_alloc(struct arena *arena, size_t bytes)
{
	size_t rounded = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	struct arena_block *block = arena->newest;
	void *memory;

	if (rounded < bytes || rounded > SIZE_MAX / 2)
		out_of_memory(1, bytes);
	if (!block || block->capacity - block->used < rounded) {
		size_t capacity = rounded > ARENA_BLOCK_BYTES ? rounded : ARENA_BLOCK_BYTES;

		block = memory_alloc(1, sizeof(*block) + capacity);
		block->capacity = capacity;
		if (arena->newest && rounded > ARENA_BLOCK_BYTES / 4) {
			/*
			 * A large one gets a block of its own behind the newest, whose rest stays
			 * in use.
			 */
			block->older = arena->newest->older;
			arena->newest->older = block;
		} else {
			block->older = arena->newest;
			arena->newest = block;
		}
	}
	memory = block->data + block->used;
	block->used += rounded;
	arena->used_bytes += rounded;
	return memory;
}

char *arena_text(struct arena *arena, const char *text, size_t bytes)
{
	char *copy = arena_alloc(arena, bytes + 1);

	if (bytes)
		memcpy(copy, text, bytes);
	return copy;
}

void arena_deinit(struct arena *arena)
{
	struct arena_block *block = arena->newest;

	while (block) {
		struct arena_block *older = block->older;

		memory_free(block);
		block = older;
	}
	*arena = (struct arena){0};
}
