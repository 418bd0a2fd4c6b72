#include "cache/bare.h"

#include <assert.h>

#include "base/memory.h"
#include "cache/bare_loop.h"

/*
 * Lines are 68 % full on average: one page in fifty spills then, and a page's share of the index is
 * 7.8 bytes.
 */
enum { LOAD_PERCENT = 68 };

struct bare *bare_create(uint64_t pages, const struct policy *policy)
{
	struct policy_options options;

	policy_options_preset(&options, policy);
	return bare_create_with(pages, &options, 1);
}

struct bare *bare_create_with(uint64_t pages, const struct policy_options *options, uint64_t seed)
{
	struct bare *bare = memory_alloc(1, sizeof(*bare));
	const struct policy *policy = options->policy;
	struct page_queue *queue = &bare->queue;
	/* What foresees has no records. */
	uint64_t records = policy->foresee      ? 0
			   : policy->ghosts_max ? pages + policy->ghosts_max(pages)
						: pages;
	uint32_t heads = policy_list_count(policy);
	size_t slots = (size_t)(records + heads);

	assert(pages >= 1 && pages <= UINT64_C(1) << 30);
	assert(policy->bare_run != NULL);
	bare->policy = policy;
	bare->slot_max = (uint32_t)(heads + records - 1);
	bare->line_count = (uint32_t)(records * 100 / LOAD_PERCENT / BARE_LINE_ENTRIES + 2);
	/* One line more, to begin at a multiple of its size. */
	bare->lines_memory = memory_alloc(bare->line_count + UINT64_C(1), sizeof(*bare->lines));
	bare->lines =
		(struct bare_line *)(((uintptr_t)bare->lines_memory + sizeof(*bare->lines) - 1) &
				     ~(uintptr_t)(sizeof(*bare->lines) - 1));
	memcpy(bare->options, options->own, sizeof(bare->options));
	*queue = (struct page_queue){.capacity = (uint32_t)pages,
				     .slots = heads,
				     .options = bare->options,
				     .seed = seed,
				     .bare = bare};
	queue->pages = memory_alloc(slots, sizeof(*queue->pages));
	memory_use_randomly(bare->lines_memory, bare->line_count * sizeof(*bare->lines));
	memory_use_randomly(queue->pages, slots * sizeof(*queue->pages));
	if (policy->has_marks)
		queue->marks = memory_alloc(slots / 64 + 1, sizeof(*queue->marks));
	if (policy->slot_bytes)
		queue->own = memory_alloc(slots, policy->slot_bytes);
	if (policy->state_bytes)
		queue->state = memory_alloc(1, policy->state_bytes);
	if (policy->table_bytes)
		queue->table = memory_alloc(policy->table_bytes(pages), 1);
	for (uint32_t head = 0; head < heads; head++)
		queue_init(queue->pages, head);
	if (policy->init)
		policy->init(queue);
	return bare;
}

void bare_foresee(struct bare *bare, const struct future *future)
{
	assert(bare->policy->foresee && !bare->queue.state);
	bare->queue.state = bare->policy->foresee(future);
}

void bare_destroy(struct bare *bare)
{
	if (!bare)
		return;
	memory_free(bare->lines_memory);
	memory_free(bare->queue.pages);
	memory_free(bare->queue.marks);
	memory_free(bare->queue.own);
	memory_free(bare->queue.state);
	memory_free(bare->queue.table);
	memory_free(bare);
}

void bare_index_spill(struct bare *bare, uint32_t home, uint64_t hash, uint32_t slot)
{
	struct bare_line *line;
	uint32_t at = home, distance = 0;

	do {
		at = at + 1 == bare->line_count ? 0 : at + 1;
		line = &bare->lines[at];
		distance++;
	} while (line->count == BARE_LINE_ENTRIES);
	bare_line_put(line, hash, slot);
	assert(distance <= UINT8_MAX && bare->lines[home].spilled < UINT16_MAX);
	bare->lines[home].spilled++;
	if (bare->lines[home].reach < distance)
		bare->lines[home].reach = (uint8_t)distance;
}

void bare_index_unspill(struct bare *bare, uint32_t home, uint64_t hash, uint32_t slot)
{
	uint32_t at = home, distance = 0;

	do {
		assert(distance++ < bare->lines[home].reach);
		at = at + 1 == bare->line_count ? 0 : at + 1;
	} while (!bare_line_remove(&bare->lines[at], hash, slot));
	if (--bare->lines[home].spilled == 0)
		bare->lines[home].reach = 0;
}

uint64_t bare_access(struct bare *bare, const uint64_t *keys, size_t count)
{
	return bare->policy->bare_run(bare, keys, count);
}

uint64_t bare_evictions(const struct bare *bare)
{
	return bare->evictions;
}

uint64_t bare_resident(const struct bare *bare)
{
	return bare->queue.resident;
}

uint64_t bare_memory_bytes(const struct bare *bare)
{
	const struct policy *policy = bare->policy;
	uint64_t slots = bare->slot_max + UINT64_C(1);

	return sizeof(*bare) + bare->line_count * sizeof(*bare->lines) +
	       slots * (sizeof(*bare->queue.pages) + policy->slot_bytes) + policy->state_bytes +
	       (policy->has_marks ? (slots / 64 + 1) * 8 : 0) +
	       (policy->table_bytes ? policy->table_bytes(bare->queue.capacity) : 0);
}

void bare_check(const struct bare *bare)
{
	const struct page *pages = bare->queue.pages;
	const struct policy *policy = bare->policy;
	uint32_t listed = 0, indexed = 0, ghosts = 0;

	assert(bare->queue.resident <= bare->queue.capacity);
	if (policy->foresee) /* no lists, no index */
		return;
	for (uint32_t head = 0; head < policy_list_count(policy); head++)
		for (uint32_t slot = pages[head].next; slot != head; slot = pages[slot].next) {
			assert(pages[pages[slot].next].prev == slot);
			assert(bare_find(bare, pages[slot].key, bare_hash(pages[slot].key)) ==
			       slot);
			listed++;
			ghosts += policy->is_ghost && policy->is_ghost(&bare->queue, slot);
		}
	for (uint32_t i = 0; i < bare->line_count; i++)
		indexed += bare->lines[i].count;
	assert(listed == indexed && listed == bare->queue.resident + bare->queue.ghosts);
	assert(ghosts == bare->queue.ghosts);
	assert(listed + bare->queue.free_count + policy_list_count(policy) == bare->queue.slots);
	if (policy->check)
		policy->check(&bare->queue);
}
