#include "machine/model/space.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/model/filesystem.h"

/* A free extent, a node of a treap ordered by place. 32 bytes. */
struct piece {
	uint64_t block;
	uint64_t blocks;
	uint64_t longest; /* in this node's subtree */
	uint32_t left, right;
};

enum { CHUNK_PAGES = 256, TABLE_BYTES = CHUNK_PAGES * 4 };

/* What a chunk is: in its upper half; the lower is the first block, or the table's number. */
enum chunk { CHUNK_HOLE, CHUNK_WRITTEN, CHUNK_UNWRITTEN, CHUNK_TABLE };

#define UNWRITTEN_BIT (UINT32_C(1) << 31)

struct space_file {
	uint64_t *chunks;
	uint64_t chunk_count; /* there is room for */
	uint64_t pages, runs;
};

/* In a table: 0 is a hole, so block numbers are one higher there. */
struct table {
	uint32_t at[CHUNK_PAGES];
};

struct space {
	ARRAY(struct piece) pieces; /* [0] is nobody */
	uint32_t root, unused;      /* the first of a list of unused nodes, linked by `left` */
	uint64_t free_blocks, free_pieces;
	ARRAY(struct space_file) files;
	ARRAY(struct table) tables;
	ARRAY(uint32_t) unused_tables;
};

struct space *space_create(void)
{
	struct space *space = memory_alloc(1, sizeof(*space));

	(void)array_push(&space->pieces);
	return space;
}

void space_destroy(struct space *space)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->files.count; i++)
		memory_free(space->files.at[i].chunks);
	array_deinit(&space->pieces);
	array_deinit(&space->files);
	array_deinit(&space->tables);
	array_deinit(&space->unused_tables);
	memory_free(space);
}

uint64_t space_free_blocks(const struct space *space)
{
	return space->free_blocks;
}

uint64_t space_free_pieces(const struct space *space)
{
	return space->free_pieces;
}

uint64_t space_longest(const struct space *space)
{
	return space->pieces.at[space->root].longest;
}

/* ---- room: the treap ---- */

/* A node's priority is made of its number: the same calls make the same tree. */
static uint64_t priority(uint32_t node)
{
	uint64_t mixed = node * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

static void longest_update(struct space *space, uint32_t node)
{
	struct piece *at = &space->pieces.at[node];

	at->longest = at->blocks;
	if (space->pieces.at[at->left].longest > at->longest)
		at->longest = space->pieces.at[at->left].longest;
	if (space->pieces.at[at->right].longest > at->longest)
		at->longest = space->pieces.at[at->right].longest;
}

/* Everything before `block` to *left, the rest to *right. */
static void tree_split(struct space *space, uint32_t node, uint64_t block, uint32_t *left,
		       uint32_t *right)
{
	uint32_t rest;

	if (!node) {
		*left = *right = 0;
		return;
	}
	if (space->pieces.at[node].block < block) {
		tree_split(space, space->pieces.at[node].right, block, &rest, right);
		space->pieces.at[node].right = rest;
		*left = node;
	} else {
		tree_split(space, space->pieces.at[node].left, block, left, &rest);
		space->pieces.at[node].left = rest;
		*right = node;
	}
	longest_update(space, node);
}

static uint32_t tree_join(struct space *space, uint32_t left, uint32_t right)
{
	if (!left || !right)
		return left ? left : right;
	if (priority(left) > priority(right)) {
		uint32_t below = tree_join(space, space->pieces.at[left].right, right);

		space->pieces.at[left].right = below;
		longest_update(space, left);
		return left;
	}
	uint32_t below = tree_join(space, left, space->pieces.at[right].left);

	space->pieces.at[right].left = below;
	longest_update(space, right);
	return right;
}

static void piece_insert(struct space *space, uint64_t block, uint64_t blocks)
{
	uint32_t node = space->unused, left, right;

	if (node)
		space->unused = space->pieces.at[node].left;
	else
		node = (uint32_t)((void)array_push(&space->pieces), space->pieces.count - 1);
	space->pieces.at[node] =
		(struct piece){.block = block, .blocks = blocks, .longest = blocks};
	tree_split(space, space->root, block, &left, &right);
	space->root = tree_join(space, tree_join(space, left, node), right);
	space->free_pieces++;
}

static void piece_remove(struct space *space, uint64_t block)
{
	uint32_t left, rest, node, right;

	tree_split(space, space->root, block, &left, &rest);
	tree_split(space, rest, block + 1, &node, &right);
	assert(node && space->pieces.at[node].left == 0 && space->pieces.at[node].right == 0);
	space->root = tree_join(space, left, right);
	space->pieces.at[node] = (struct piece){.left = space->unused};
	space->unused = node;
	space->free_pieces--;
}

/* The last piece that begins at or before `block`; 0: none. */
static uint32_t piece_at(const struct space *space, uint64_t block)
{
	uint32_t node = space->root, found = 0;

	while (node) {
		const struct piece *at = &space->pieces.at[node];

		if (at->block <= block) {
			found = node;
			node = at->right;
		} else {
			node = at->left;
		}
	}
	return found;
}

/* The first piece that begins at or after `block` and has so many blocks; 0: none. */
static uint32_t piece_fit(const struct space *space, uint32_t node, uint64_t block, uint64_t blocks)
{
	uint32_t found;

	if (!node || space->pieces.at[node].longest < blocks)
		return 0;
	if (space->pieces.at[node].block < block)
		return piece_fit(space, space->pieces.at[node].right, block, blocks);
	found = piece_fit(space, space->pieces.at[node].left, block, blocks);
	if (found)
		return found;
	if (space->pieces.at[node].blocks >= blocks)
		return node;
	return piece_fit(space, space->pieces.at[node].right, block, blocks);
}

void space_give(struct space *space, uint64_t block, uint64_t blocks)
{
	uint32_t before = piece_at(space, block), after = piece_at(space, block + blocks);
	struct piece left = space->pieces.at[before], right = space->pieces.at[after];

	if (blocks == 0)
		return;
	assert(!before || left.block + left.blocks <= block);
	space->free_blocks += blocks;
	if (before && left.block + left.blocks == block) {
		piece_remove(space, left.block);
		block = left.block;
		blocks += left.blocks;
	}
	if (after && right.block == block + blocks) {
		piece_remove(space, right.block);
		blocks += right.blocks;
	}
	piece_insert(space, block, blocks);
}

static void piece_take(struct space *space, struct piece piece, uint64_t block, uint64_t blocks)
{
	piece_remove(space, piece.block);
	if (block > piece.block)
		piece_insert(space, piece.block, block - piece.block);
	if (block + blocks < piece.block + piece.blocks)
		piece_insert(space, block + blocks, piece.block + piece.blocks - block - blocks);
	space->free_blocks -= blocks;
}

uint64_t space_take(struct space *space, uint64_t goal, uint64_t blocks, uint64_t *block)
{
	uint32_t node = piece_at(space, goal);

	if (!space->root || blocks == 0)
		return 0;
	if (node) {
		struct piece at = space->pieces.at[node];

		if (at.block + at.blocks >= goal + blocks) {
			*block = goal;
			piece_take(space, at, goal, blocks);
			return blocks;
		}
	}
	node = piece_fit(space, space->root, goal, blocks);
	if (!node)
		node = piece_fit(space, space->root, 0, blocks);
	if (!node) {
		blocks = space->pieces.at[space->root].longest;
		node = piece_fit(space, space->root, 0, blocks);
	}
	*block = space->pieces.at[node].block;
	piece_take(space, space->pieces.at[node], *block, blocks);
	return blocks;
}

/* ---- files ---- */

static struct space_file *file_of(struct space *space, uint32_t file)
{
	while (space->files.count <= file)
		(void)array_push(&space->files);
	return &space->files.at[file];
}

static uint64_t chunk_make(enum chunk kind, uint32_t value)
{
	return (uint64_t)kind << 32 | value;
}

static enum chunk chunk_kind(uint64_t chunk)
{
	return (enum chunk)(chunk >> 32);
}

static uint32_t entry_make(enum space_state state, uint64_t block)
{
	return state == SPACE_HOLE
		       ? 0
		       : (uint32_t)(block + 1) | (state == SPACE_UNWRITTEN ? UNWRITTEN_BIT : 0);
}

static struct space_run entry_run(uint32_t entry, uint64_t page)
{
	struct space_run run = {.page = page, .pages = 1};

	if (entry) {
		run.state = entry & UNWRITTEN_BIT ? SPACE_UNWRITTEN : SPACE_WRITTEN;
		run.block = (entry & ~UNWRITTEN_BIT) - 1;
	}
	return run;
}

/* What `chunk` has at this page of the file, and how far that goes in it: up to `most` it is looked for. */
static inline struct space_run chunk_run(const struct space *space, uint64_t chunk, uint64_t page,
					 uint64_t most)
{
	uint32_t within = (uint32_t)(page % CHUNK_PAGES), value = (uint32_t)chunk, end;
	struct space_run run = {.page = page, .pages = CHUNK_PAGES - within};
	const uint32_t *table;

	switch (chunk_kind(chunk)) {
	case CHUNK_HOLE:
		return run;
	case CHUNK_WRITTEN:
	case CHUNK_UNWRITTEN:
		run.block = value + within;
		run.state = chunk_kind(chunk) == CHUNK_WRITTEN ? SPACE_WRITTEN : SPACE_UNWRITTEN;
		return run;
	case CHUNK_TABLE:
	default:
		table = space->tables.at[value].at;
		run = entry_run(table[within], page);
		for (end = within + 1;
		     end < CHUNK_PAGES && end - within < most &&
		     table[end] == (table[within] ? table[within] + (end - within) : 0);
		     end++)
			run.pages++;
		return run;
	}
}

static bool run_continues(const struct space_run *run, const struct space_run *next)
{
	return run->state == next->state &&
	       (run->state == SPACE_HOLE || run->block + run->pages == next->block);
}

struct space_run space_find(const struct space *space, uint32_t file, uint64_t page, uint64_t most)
{
	static const struct space_file none;
	const struct space_file *at = file < space->files.count ? &space->files.at[file] : &none;
	struct space_run run = {.page = page, .pages = most};
	uint64_t chunk;

	if (page / CHUNK_PAGES >= at->chunk_count)
		return run;
	chunk = at->chunks[page / CHUNK_PAGES];
	/* As a rule. */
	if (chunk_kind(chunk) == CHUNK_WRITTEN && page % CHUNK_PAGES + most <= CHUNK_PAGES)
		return (struct space_run){.page = page,
					  .block = (uint32_t)chunk + page % CHUNK_PAGES,
					  .pages = most,
					  .state = SPACE_WRITTEN};
	run = chunk_run(space, chunk, page, most);
	while (run.pages < most) {
		struct space_run next;

		chunk = (page + run.pages) / CHUNK_PAGES;
		if (chunk >= at->chunk_count) {
			if (run.state == SPACE_HOLE)
				run.pages = most;
			break;
		}
		next = chunk_run(space, at->chunks[chunk], page + run.pages, most - run.pages);
		if (!run_continues(&run, &next))
			break;
		run.pages += next.pages;
	}
	if (run.pages > most)
		run.pages = most;
	return run;
}

bool space_is_written(const struct space *space, uint32_t file, uint64_t page, uint64_t pages)
{
	struct space_run run = space_find(space, file, page, pages);

	return run.state == SPACE_WRITTEN && run.pages == pages;
}

/* Runs of the file that begin in page .. page + pages. */
static uint64_t runs_begin(const struct space *space, uint32_t file, uint64_t page, uint64_t pages)
{
	uint64_t end = page + pages + 1, count = 0;
	struct space_run last = {.state = SPACE_HOLE};

	if (page > 0)
		last = space_find(space, file, page - 1, 1);
	while (page < end) {
		struct space_run run = space_find(space, file, page, end - page);

		count += run.state != SPACE_HOLE && !run_continues(&last, &run);
		page += run.pages;
		last = run;
	}
	return count;
}

static void file_reach(struct space_file *at, uint64_t pages)
{
	uint64_t wanted = (pages + CHUNK_PAGES - 1) / CHUNK_PAGES, old = at->chunk_count;

	if (wanted <= old)
		return;
	if (wanted < old + old / 2)
		wanted = old + old / 2;
	at->chunks = memory_resize(at->chunks, wanted, sizeof(*at->chunks));
	memset(at->chunks + old, 0, (wanted - old) * sizeof(*at->chunks));
	at->chunk_count = wanted;
}

static void table_drop(struct space *space, uint64_t chunk)
{
	if (chunk_kind(chunk) == CHUNK_TABLE)
		*array_push(&space->unused_tables) = (uint32_t)chunk;
}

static uint32_t table_get(struct space *space)
{
	if (space->unused_tables.count > 0)
		return space->unused_tables.at[--space->unused_tables.count];
	(void)array_push(&space->tables);
	return (uint32_t)(space->tables.count - 1);
}

/* The part of a run that lies in one chunk, not all of it. */
static void chunk_put(struct space *space, uint64_t *chunk, const struct space_run *run)
{
	uint32_t within = (uint32_t)(run->page % CHUNK_PAGES), *table;

	if (chunk_kind(*chunk) != CHUNK_TABLE) {
		uint64_t old = *chunk;
		uint32_t number = table_get(space);

		table = space->tables.at[number].at;
		for (uint32_t i = 0; i < CHUNK_PAGES; i++) {
			struct space_run was = chunk_run(space, old, i, 1);

			table[i] = entry_make(was.state, was.block);
		}
		*chunk = chunk_make(CHUNK_TABLE, number);
	}
	table = space->tables.at[(uint32_t)*chunk].at;
	for (uint32_t i = 0; i < run->pages; i++)
		table[within + i] = entry_make(run->state, run->block + i);
	/* In one piece (again): no table. */
	if (chunk_run(space, *chunk, 0, CHUNK_PAGES).pages == CHUNK_PAGES) {
		struct space_run whole = chunk_run(space, *chunk, 0, CHUNK_PAGES);

		table_drop(space, *chunk);
		*chunk = whole.state == SPACE_HOLE
				 ? 0
				 : chunk_make(whole.state == SPACE_WRITTEN ? CHUNK_WRITTEN
									   : CHUNK_UNWRITTEN,
					      (uint32_t)whole.block);
	}
}

void space_put(struct space *space, uint32_t file, const struct space_run *run)
{
	struct space_file *at = file_of(space, file);
	uint64_t page = run->page, end = page + run->pages, before;

	file_reach(at, end);
	before = runs_begin(space, file, page, run->pages);
	while (page < end) {
		uint64_t *chunk = &at->chunks[page / CHUNK_PAGES];
		uint64_t here = CHUNK_PAGES - page % CHUNK_PAGES;
		struct space_run part = {.page = page,
					 .block = run->block + (page - run->page),
					 .pages = here < end - page ? here : end - page,
					 .state = run->state};

		if (part.pages < CHUNK_PAGES) {
			chunk_put(space, chunk, &part);
		} else {
			table_drop(space, *chunk);
			*chunk = run->state == SPACE_HOLE
					 ? 0
					 : chunk_make(run->state == SPACE_WRITTEN ? CHUNK_WRITTEN
										  : CHUNK_UNWRITTEN,
						      (uint32_t)part.block);
		}
		page += part.pages;
	}
	at->runs = at->runs - before + runs_begin(space, file, run->page, run->pages);
	if (run->state != SPACE_HOLE && end > at->pages)
		at->pages = end;
}

uint64_t space_runs(const struct space *space, uint32_t file)
{
	return file < space->files.count ? space->files.at[file].runs : 0;
}

uint64_t space_pages(const struct space *space, uint32_t file)
{
	return file < space->files.count ? space->files.at[file].pages : 0;
}

bool space_fill(struct space *space, uint32_t file, uint64_t page, uint64_t pages, uint64_t goal,
		uint64_t most, enum space_state state, space_visit *visit, void *context)
{
	uint64_t end = page + pages;

	while (page < end) {
		struct space_run run = space_find(space, file, page, end - page);

		if (run.state == SPACE_HOLE) {
			if (run.pages > most)
				run.pages = most;
			if (page > 0) {
				struct space_run last = space_find(space, file, page - 1, 1);

				if (last.state != SPACE_HOLE)
					goal = last.block + 1;
			}
			run.pages = space_take(space, goal, run.pages, &run.block);
			if (run.pages == 0)
				return false;
			run.state = state;
			space_put(space, file, &run);
			if (visit)
				visit(context, &run);
		}
		page += run.pages;
	}
	return true;
}

bool space_convert(struct space *space, uint32_t file, uint64_t page, uint64_t pages)
{
	bool any = false;

	for (uint64_t end = page + pages; page < end;) {
		struct space_run run = space_find(space, file, page, end - page);

		if (run.state == SPACE_UNWRITTEN) {
			run.state = SPACE_WRITTEN;
			space_put(space, file, &run);
			any = true;
		}
		page += run.pages;
	}
	return any;
}

void space_cut(struct space *space, uint32_t file, uint64_t page, space_visit *visit, void *context)
{
	uint64_t pages = space_pages(space, file);
	struct space_file *at = file_of(space, file);

	while (page < pages) {
		struct space_run run = space_find(space, file, page, pages - page);

		page += run.pages;
		if (run.state == SPACE_HOLE)
			continue;
		if (visit)
			visit(context, &run);
		run.state = SPACE_HOLE;
		space_put(space, file, &run);
	}
	if (at->runs == 0) {
		memory_free(at->chunks);
		*at = (struct space_file){0};
	}
}

void space_transfer(const struct space *space, struct filesystem_mount *mount, enum io_kind kind,
		    uint32_t file, uint64_t page, uint64_t pages, uint64_t most)
{
	uint64_t end = page + pages;

	while (page < end) {
		struct space_run run =
			space_find(space, file, page, end - page < most ? end - page : most);
		struct io *io;

		page += run.pages;
		if (run.state == SPACE_HOLE || (run.state == SPACE_UNWRITTEN && kind == IO_READ))
			continue;
		io = io_add(mount->io, kind, run.block * SPACE_BLOCK_BYTES,
			    run.pages * SPACE_BLOCK_BYTES);
		io->is_background = mount->is_background;
		if (kind == IO_READ) {
			io->file = file;
			io->index = run.page;
		}
	}
}

/* ---- checks ---- */

static uint64_t piece_check(const struct space *space, uint32_t node, uint64_t *end,
			    uint64_t *count)
{
	const struct piece *at = &space->pieces.at[node];
	uint64_t longest = at->blocks, below;

	if (!node)
		return 0;
	below = piece_check(space, at->left, end, count);
	longest = below > longest ? below : longest;
	assert(at->blocks > 0 && (*count == 0 || at->block > *end)); /* neighbours are joined */
	*end = at->block + at->blocks;
	*count += at->blocks;
	below = piece_check(space, at->right, end, count);
	longest = below > longest ? below : longest;
	assert(longest == at->longest);
	return longest;
}

void space_check(const struct space *space)
{
	uint64_t end = 0, count = 0;

	(void)piece_check(space, space->root, &end, &count);
	assert(count == space->free_blocks);
	for (uint32_t file = 0; file < space->files.count; file++) {
		const struct space_file *at = &space->files.at[file];

		if (at->pages > 0)
			assert(at->runs == runs_begin(space, file, 0, at->pages));
	}
}
