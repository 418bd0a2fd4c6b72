/*
 * object_list: dentries or inodes in a row, linked through their array
 *
 * OBJECT_LIST(what, type, array) makes what_list_append() and what_list_remove() for the elements of
 * cache->array, which have lru_prev and lru_next. Id 0 is none.
 */
#ifndef REFAULT_CACHE_OBJECT_LIST_H
#define REFAULT_CACHE_OBJECT_LIST_H

#include "cache/cache_private.h"

#define OBJECT_LIST(what, type, array)                                                             \
	static void what##_list_append(struct cache *cache, struct object_list *list, uint32_t id) \
	{                                                                                          \
		struct type *object = &cache->array.at[id];                                        \
                                                                                                   \
		object->lru_prev = list->last;                                                     \
		object->lru_next = 0;                                                              \
		if (list->last)                                                                    \
			cache->array.at[list->last].lru_next = id;                                 \
		else                                                                               \
			list->first = id;                                                          \
		list->last = id;                                                                   \
		list->count++;                                                                     \
	}                                                                                          \
                                                                                                   \
	static void what##_list_remove(struct cache *cache, struct object_list *list, uint32_t id) \
	{                                                                                          \
		struct type *object = &cache->array.at[id];                                        \
                                                                                                   \
		if (object->lru_prev)                                                              \
			cache->array.at[object->lru_prev].lru_next = object->lru_next;             \
		else                                                                               \
			list->first = object->lru_next;                                            \
		if (object->lru_next)                                                              \
			cache->array.at[object->lru_next].lru_prev = object->lru_prev;             \
		else                                                                               \
			list->last = object->lru_prev;                                             \
		list->count--;                                                                     \
	}

#endif
