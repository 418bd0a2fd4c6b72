/*
 * How much room a heap page has, and so which updates stay in it
 *
 * An update writes a new version of the row. If it fits into the old one's page it is heap-only
 * (HOT): no index entry. Else it goes to the page where this backend inserts, and every index gets
 * an entry. Old versions are pruned when the page is next looked at and less than a tenth of it is
 * free (or than fillfactor wants), if nobody can still see them.
 *
 * Of a page it is enough to know the sums: which of its rows have moved away, or have been updated
 * here before (their first line pointer leads on), does not matter, since all rows of accounts are
 * alike. Rows are taken in order: slots below `moved` are gone, the next `redirected` were updated
 * here. 4 bytes a page.
 *
 * Line pointers: a pruned first version leaves its own behind (4 bytes: redirect or dead, as the
 * index still leads there); a later one gives its own back. So a full page of 61 rows takes one
 * HOT update after another once its first updated row has moved away, until 28 rows have left 4
 * bytes each; then a second one moves. Sources: PostgreSQL 15, heapam.c, heap_update(); pruneheap.c,
 * heap_page_prune_opt(), heap_prune_chain().
 *
 * Differs: 1. Old versions of accounts count as seen by nobody when their page is next touched: at
 * any moment a handful of pages of thousands is in use. (For tellers and branches the oldest
 * running transaction decides.) 2. A page that rows came to is as full as one that was loaded.
 */
#include "source/workload/pgbench/pgbench.h"

#include <assert.h>

#include "base/memory.h"

enum { ROOM_BITS = 11, REDIRECTED_BITS = 6, MOVED_BITS = 5, DEAD_BITS = 5 };

static uint32_t at_most(uint32_t value, uint32_t bits)
{
	uint32_t most = (UINT32_C(1) << bits) - 1;

	return value < most ? value : most;
}

struct heap_page accounts_page(const struct pgbench *pg, uint32_t page)
{
	uint32_t packed = pg->pages[page];

	return (struct heap_page){
		.room = packed & ((1 << ROOM_BITS) - 1),
		.redirected = packed >> 11 & 63,
		.moved = packed >> 17 & 31,
		.dead_roots = packed >> 22 & 31,
		.dead_chain = packed >> 27,
	};
}

void accounts_page_set(struct pgbench *pg, uint32_t page, const struct heap_page *unpacked)
{
	static_assert(ROOM_BITS + REDIRECTED_BITS + MOVED_BITS + 2 * DEAD_BITS == 32, "4 bytes");

	pg->pages[page] = at_most(unpacked->room, ROOM_BITS) |
			  at_most(unpacked->redirected, REDIRECTED_BITS) << 11 |
			  at_most(unpacked->moved, MOVED_BITS) << 17 |
			  at_most(unpacked->dead_roots, DEAD_BITS) << 22 |
			  at_most(unpacked->dead_chain, DEAD_BITS) << 27;
}

/* A row that moved: any of the pages that rows moved to, since any row is as likely as another. */
static uint32_t moved_find(struct pgbench *pg, struct random *random, uint32_t *slot)
{
	uint32_t grown = pg->relations[REL_ACCOUNTS].count - pg->accounts_pages;

	assert(grown > 0);
	*slot = (uint32_t)random_below(random, pg->accounts_rows_per_page);
	return pg->accounts_pages + (uint32_t)random_below(random, grown);
}

uint32_t accounts_find(struct pgbench *pg, struct random *random, uint32_t aid, bool *is_redirected)
{
	uint32_t page = aid / pg->accounts_rows_per_page;
	uint32_t slot = aid - page * pg->accounts_rows_per_page;
	struct heap_page at = accounts_page(pg, page);

	for (int tries = 0; slot < at.moved && tries < 4; tries++) {
		page = moved_find(pg, random, &slot);
		at = accounts_page(pg, page);
	}
	/* One that has no row yet is only being made. */
	if (at.room == BLOCK_ROOM / 4) {
		for (page = pg->accounts_pages; at.room == BLOCK_ROOM / 4; page++)
			at = accounts_page(pg, page);
		page--;
	}
	*is_redirected = slot < at.moved + at.redirected;
	return page;
}

void page_prune(struct heap_page *page, uint32_t tuple_units, uint32_t keep_roots,
		uint32_t keep_chain)
{
	if (page->dead_roots > keep_roots) {
		page->room += (page->dead_roots - keep_roots) * tuple_units;
		page->dead_roots = keep_roots;
	}
	if (page->dead_chain > keep_chain) {
		page->room += (page->dead_chain - keep_chain) * (tuple_units + 1);
		page->dead_chain = keep_chain;
	}
}

bool page_update(struct heap_page *page, uint32_t tuple_units, bool is_redirected)
{
	if (page->room < tuple_units + 1)
		return false;
	page->room -= tuple_units + 1;
	if (is_redirected) {
		page->dead_chain++;
	} else {
		page->dead_roots++;
		page->redirected++;
	}
	return true;
}

void page_move(struct heap_page *page, bool is_redirected)
{
	page->moved++;
	if (is_redirected) {
		page->dead_chain++;
		page->redirected -= page->redirected > 0;
	} else {
		page->dead_roots++;
	}
}

void page_take(struct heap_page *page, uint32_t tuple_units)
{
	assert(page->room >= tuple_units + 1);
	page->room -= tuple_units + 1;
}

uint32_t page_used_bytes(const struct heap_page *page)
{
	return BLOCK_BYTES - page->room * 4;
}

/* ---- tellers and branches ---- */

void small_page_dies(struct pgbench *pg, uint64_t xid, uint8_t table, uint32_t number, bool is_root)
{
	struct small_page *page = &pg->tables[table].pages[number];

	if (page->page.dead_roots + page->page.dead_chain == 1 || xid < page->oldest_xid)
		page->oldest_xid = xid;
	if (xid > page->newest_xid)
		page->newest_xid = xid;
	pg->recent[pg->recent_count++ & (RECENT_COUNT - 1)] =
		(struct recent){.before = page->recent, .xid = xid, .is_root = is_root};
	page->recent = pg->recent_count;
}

/*
 * How many of a page's dead versions somebody may still want to see? A transaction that began at or
 * after the horizon has added its two updates among the last 2 * (how many began since, and all
 * that were running then).
 */
static void recent_kept(const struct pgbench *pg, uint64_t horizon, uint8_t table, uint32_t number,
			uint32_t *roots, uint32_t *chain)
{
	struct small_page *page = &pg->tables[table].pages[number];
	uint64_t look = 2 * (pg->next_xid - horizon + pg->options->clients);

	if (look > pg->recent_count)
		look = pg->recent_count;
	if (look > RECENT_COUNT)
		look = RECENT_COUNT;
	page->oldest_xid = UINT64_MAX;
	for (uint64_t next = page->recent; next > pg->recent_count - look;) {
		const struct recent *at = &pg->recent[(next - 1) & (RECENT_COUNT - 1)];

		next = at->before;
		if (at->xid < horizon)
			continue;
		if (at->xid < page->oldest_xid)
			page->oldest_xid = at->xid;
		*roots += at->is_root;
		*chain += !at->is_root;
	}
}

bool small_page_prune(struct pgbench *pg, uint64_t horizon, uint8_t table, uint32_t number)
{
	struct small_page *page = &pg->tables[table].pages[number];
	uint32_t roots = 0, chain = 0;

	if (page->oldest_xid >= horizon)
		return false;
	if (page->newest_xid >= horizon)
		recent_kept(pg, horizon, table, number, &roots, &chain);
	if (roots >= page->page.dead_roots && chain >= page->page.dead_chain)
		return false;
	page_prune(&page->page, pg->tables[table].tuple_units, roots, chain);
	return true;
}

static void small_table_vacuum(struct pgbench *pg, struct small_table *table)
{
	uint32_t tuple = table->tuple_units + 1, count = pg->relations[table->heap].count;

	for (uint32_t i = 0; i < count; i++) {
		struct heap_page *page = &table->pages[i].page;

		page->room = BLOCK_ROOM / 4 - (page->dead_roots + page->dead_chain) * tuple;
		page->moved = 0;
	}
	for (uint32_t i = 0; i < table->rows; i++)
		table->pages[table->at[i].page].page.room -= tuple + table->at[i].is_redirected;
	for (uint32_t i = 0; i < count; i++)
		table->pages[i].known_room = table->pages[i].page.room;
}

void small_tables_vacuum(struct pgbench *pg)
{
	small_table_vacuum(pg, &pg->tables[0]);
	small_table_vacuum(pg, &pg->tables[1]);
}

/*
 * RecordAndGetPageWithFreeSpace(): a page that the free space map takes to have room. Where it is
 * wrong it learns. BLOCK_NONE: there is none.
 */
static uint32_t small_page_known(struct pgbench *pg, struct small_table *table)
{
	for (uint32_t i = 0; i < pg->relations[table->heap].count; i++) {
		struct small_page *page = &table->pages[i];

		if (page->known_room <= table->tuple_units || !page->is_made)
			continue;
		if (page->page.room > table->tuple_units)
			return i;
		page->known_room = page->page.room;
	}
	return BLOCK_NONE;
}

/* RelationGetBufferForTuple(). */
uint32_t small_target(struct pgbench *pg, struct backend *backend, struct small_table *table,
		      bool *is_new)
{
	struct relation *relation = &pg->relations[table->heap];
	uint32_t *target = &backend->target[table->heap].block, last = relation->count - 1;
	bool is_first = *target == BLOCK_NONE;

	*is_new = false;
	if (!is_first && table->pages[*target].page.room > table->tuple_units)
		return *target;
	*target = small_page_known(pg, table);
	/* Who has not inserted yet tries the last page, too. */
	if (*target == BLOCK_NONE && is_first && table->pages[last].is_made &&
	    table->pages[last].page.room > table->tuple_units)
		*target = last;
	if (*target == BLOCK_NONE && relation->count == relation->capacity) {
		/* Wrong when a table of so few rows has grown by 32 MiB: so it is vacuumed. */
		small_table_vacuum(pg, table);
		*target = small_page_known(pg, table);
		assert(*target != BLOCK_NONE);
	}
	if (*target != BLOCK_NONE)
		return *target;
	*is_new = true;
	*target = relation->count++;
	return *target;
}

uint32_t accounts_target(struct pgbench *pg, struct backend *backend, bool *is_new)
{
	struct relation *relation = &pg->relations[REL_ACCOUNTS];
	struct target *target = &backend->target[REL_ACCOUNTS];

	*is_new = false;
	if (target->block != BLOCK_NONE && target->rows_left > 0 &&
	    accounts_page(pg, target->block).room >= ACCOUNT_UNITS + 1)
		return target->block;
	assert(relation->count < relation->capacity && "no page gives away more than a few rows");
	*is_new = true;
	target->block = relation->count++;
	target->rows_left = pg->accounts_rows_per_page;
	accounts_page_set(pg, target->block, &(struct heap_page){.room = BLOCK_ROOM / 4});
	return target->block;
}

static void small_table_init(struct pgbench *pg, struct small_table *table)
{
	const struct relation *relation = &pg->relations[table->heap];

	table->pages = arena_alloc(&pg->arena, relation->capacity * sizeof(*table->pages));
	table->at = arena_alloc(&pg->arena, table->rows * sizeof(*table->at));
	for (uint32_t i = 0; i < relation->capacity; i++)
		table->pages[i].page.room = BLOCK_ROOM / 4;
	for (uint32_t i = 0; i < table->rows; i++) {
		table->at[i].page = i / table->rows_per_page;
		table->pages[table->at[i].page].is_made = true;
		page_take(&table->pages[table->at[i].page].page, table->tuple_units);
	}
	/* pgbench -i ends with a vacuum. */
	for (uint32_t i = 0; i < relation->count; i++)
		table->pages[i].known_room = table->pages[i].page.room;
}

void heap_init(struct pgbench *pg)
{
	uint32_t per_page = pg->accounts_rows_per_page, last = pg->accounts_pages - 1;
	uint32_t full = BLOCK_ROOM / 4 - per_page * (ACCOUNT_UNITS + 1);
	uint64_t rows = pg->options->scale * 100000;

	pg->pages = memory_alloc(pg->relations[REL_ACCOUNTS].capacity, sizeof(*pg->pages));
	memory_use_randomly(pg->pages, pg->relations[REL_ACCOUNTS].capacity * sizeof(*pg->pages));
	for (uint32_t i = 0; i < last; i++)
		accounts_page_set(pg, i, &(struct heap_page){.room = full});
	accounts_page_set(pg, last,
			  &(struct heap_page){.room = BLOCK_ROOM / 4 -
						      (uint32_t)(rows - (uint64_t)last * per_page) *
							      (ACCOUNT_UNITS + 1)});
	small_table_init(pg, &pg->tables[0]);
	small_table_init(pg, &pg->tables[1]);
}
