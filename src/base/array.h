/*
 * array: a growing array of any type
 *
 *     ARRAY(struct op) ops = {0};
 *     *array_push(&ops) = op;
 *     for (size_t i = 0; i < ops.count; i++) use(&ops.at[i]);
 *     array_deinit(&ops);
 *
 * Pushing may move the elements: keep indices, not pointers. New elements are zeroed.
 */
#ifndef REFAULT_BASE_ARRAY_H
#define REFAULT_BASE_ARRAY_H

#include <stddef.h>

#define ARRAY(type)                                                                                \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

#define array_push(array)                                                                          \
	((array)->count == (array)->capacity                                                       \
		 ? (void)((array)->at = array_grow((array)->at, &(array)->capacity,                \
						   sizeof(*(array)->at)))                          \
		 : (void)0,                                                                        \
	 &(array)->at[(array)->count++])

#define array_deinit(array)                                                                        \
	(memory_free((array)->at), (array)->at = NULL, (array)->count = (array)->capacity = 0)

/* Twice as large, the new half zeroed. Returns the new place; *capacity is updated. */
void *array_grow(void *at, size_t *capacity, size_t element_bytes);

#include "base/memory.h"

#endif
