/*
 * page_map: a number for each of many pages of many files
 *
 * For lints: which advice dropped this page, was that page read ahead. 64 pages of a file share an
 * entry, found by hashing: 4 bytes a page, and 16 an entry. 0 is "nothing".
 */
#ifndef REFAULT_STUDY_PAGE_MAP_H
#define REFAULT_STUDY_PAGE_MAP_H

#include <stdint.h>

#include "base/array.h"

enum { PAGE_MAP_PAGES = 64 };

struct page_map_entry {
	uint64_t chunk; /* page / 64 */
	uint32_t file;  /* 0: free */
	uint32_t values[PAGE_MAP_PAGES];
};

struct page_map {
	ARRAY(struct page_map_entry) entries; /* [0] unused */
	uint32_t *buckets;                    /* entries; 0: free */
	uint32_t bucket_mask;
};

uint32_t page_map_get(const struct page_map *map, uint32_t file, uint64_t page);
void page_map_set(struct page_map *map, uint32_t file, uint64_t page, uint32_t value);
void page_map_deinit(struct page_map *map);

#endif
