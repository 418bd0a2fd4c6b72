/*
 * memory: allocation that cannot fail, and an arena for things freed together
 *
 * refault does not try to go on without memory: these print one line to standard error and exit with 1.
 * What an input asks for in one piece (a file's name, a count from a header) must be checked
 * against a bound before it gets here.
 */
#ifndef REFAULT_BASE_MEMORY_H
#define REFAULT_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Zeroed memory for `count` things of `bytes` each; large ones cost nothing until touched. Free
 * with memory_free().
 */
void *memory_alloc(size_t count, size_t bytes);

/* Resize, keeping the contents; the new part is not zeroed. */
void *memory_resize(void *old, size_t count, size_t bytes);

void memory_free(void *memory);

/*
 * This memory is used at random: ask for huge pages where whole ones fit, so that address
 * translation costs less. A hint, costing up to 2 MiB more than is touched.
 */
void memory_use_randomly(void *memory, size_t bytes);

/*
 * An arena: allocations that live and die together. 16-byte aligned, zeroed.
 */
struct arena_block;

struct arena {
	struct arena_block *newest;
	size_t used_bytes; /* in all blocks, for statistics */
};

void *arena_alloc(struct arena *arena, size_t bytes);
char *arena_text(struct arena *arena, const char *text, size_t bytes); /* a copy, ended by NUL */
void arena_deinit(struct arena *arena); /* frees all; the arena is empty and usable again */

#endif
