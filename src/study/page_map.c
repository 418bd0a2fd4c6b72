#include "study/page_map.h"

enum { BUCKETS_FIRST = 1024 };

static uint32_t bucket_of(const struct page_map *map, uint32_t file, uint64_t chunk)
{
	uint64_t mixed =
		(chunk * UINT64_C(0x9e3779b97f4a7c15)) ^ (file * UINT64_C(0xc2b2ae3d27d4eb4f));

	mixed ^= mixed >> 29;
	mixed *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(mixed >> 32) & map->bucket_mask;
}

/* The bucket that has it, or the free one where it would be. */
static uint32_t *bucket_find(const struct page_map *map, uint32_t file, uint64_t chunk)
{
	uint32_t at = bucket_of(map, file, chunk);

	for (; map->buckets[at]; at = (at + 1) & map->bucket_mask) {
		const struct page_map_entry *entry = &map->entries.at[map->buckets[at]];

		if (entry->file == file && entry->chunk == chunk)
			break;
	}
	return &map->buckets[at];
}

static void grow(struct page_map *map)
{
	uint32_t count = map->buckets ? (map->bucket_mask + 1) * 2 : BUCKETS_FIRST;

	memory_free(map->buckets);
	map->buckets = memory_alloc(count, sizeof(*map->buckets));
	map->bucket_mask = count - 1;
	if (map->entries.count == 0)
		(void)array_push(&map->entries);
	for (size_t i = 1; i < map->entries.count; i++)
		*bucket_find(map, map->entries.at[i].file, map->entries.at[i].chunk) = (uint32_t)i;
}

uint32_t page_map_get(const struct page_map *map, uint32_t file, uint64_t page)
{
	uint32_t entry;

	if (!map->buckets)
		return 0;
	entry = *bucket_find(map, file, page / PAGE_MAP_PAGES);
	return entry ? map->entries.at[entry].values[page % PAGE_MAP_PAGES] : 0;
}

void page_map_set(struct page_map *map, uint32_t file, uint64_t page, uint32_t value)
{
	uint32_t *bucket;

	if (!map->buckets || map->entries.count * 2 > map->bucket_mask)
		grow(map);
	bucket = bucket_find(map, file, page / PAGE_MAP_PAGES);
	if (!*bucket) {
		struct page_map_entry *entry;

		if (value == 0)
			return;
		*bucket = (uint32_t)map->entries.count;
		entry = array_push(&map->entries);
		entry->file = file;
		entry->chunk = page / PAGE_MAP_PAGES;
	}
	map->entries.at[*bucket].values[page % PAGE_MAP_PAGES] = value;
}

void page_map_deinit(struct page_map *map)
{
	memory_free(map->buckets);
	array_deinit(&map->entries);
	map->buckets = NULL;
}
