/*
 * Where rows, blocks and files are
 *
 * Sizes by PostgreSQL's page layout: 8168 bytes of a block hold tuples and line pointers (4 bytes
 * each). A heap tuple has a header of 24 bytes and is rounded up to 8; an index entry takes 16 + 4.
 * A bulk load fills leaves to 90 % (366 entries) and inner pages to 70 % (285 children). Measured
 * with PostgreSQL 15: 49181 pages of accounts and 8228 of its index at scale 30.
 */
#include "source/workload/pgbench/pgbench.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "op/path.h"

enum {
	ACCOUNTS_PER_SCALE = 100000,
	TELLERS_PER_SCALE = 10,
	TELLERS_PER_PAGE = 185,
	BRANCHES_PER_PAGE = 226,
	INNER_CHILDREN = 285,
	/* of accounts, 2 bits a page */
	VISIBILITY_PAGES = BLOCK_ROOM * 4,
	SMALL_PAGES_SPARE = 4096,
};

uint32_t path_make(struct pgbench *pg, const char *format, ...)
{
	char text[PATH_BYTES_MAX + 1];
	const char *directory = pg->options->directory;
	int bytes = 0;
	va_list list;

	if (directory && directory[0])
		bytes = snprintf(text, sizeof(text), "%s/", directory);
	va_start(list, format);
	bytes += vsnprintf(text + bytes, sizeof(text) - (size_t)bytes, format, list);
	va_end(list);
	return path_intern(pg->place.paths, text, (size_t)bytes);
}

static uint64_t divide_up(uint64_t value, uint64_t by)
{
	return (value + by - 1) / by;
}

/*
 * Block 0 is the meta page. Each page of level 1 comes before its leaves (in a real one among
 * them), the levels above follow after all leaves.
 */
static void tree_make(struct tree *tree, uint64_t entries)
{
	uint32_t next;

	tree->pages[0] = (uint32_t)divide_up(entries, LEAF_ENTRIES);
	tree->levels = 1;
	while (tree->pages[tree->levels - 1] > 1) {
		tree->pages[tree->levels] =
			(uint32_t)divide_up(tree->pages[tree->levels - 1], INNER_CHILDREN);
		tree->levels++;
	}
	next = 1 + tree->pages[0] + (tree->levels > 1 ? tree->pages[1] : 0);
	tree->first[0] = tree->first[1] = 1;
	for (uint32_t level = 2; level < tree->levels; level++) {
		tree->first[level] = next;
		next += tree->pages[level];
	}
}

static uint32_t tree_pages(const struct tree *tree)
{
	uint32_t pages = 1;

	for (uint32_t level = 0; level < tree->levels; level++)
		pages += tree->pages[level];
	return pages;
}

uint32_t tree_block(const struct tree *tree, uint32_t level, uint32_t leaf)
{
	uint32_t page = leaf;

	for (uint32_t i = 0; i < level; i++)
		page /= INNER_CHILDREN;
	switch (level) {
	case 0:
		return tree->levels > 1 ? 2 + leaf + leaf / INNER_CHILDREN : 1;
	case 1:
		return 1 + page * (INNER_CHILDREN + 1);
	default:
		return tree->first[level] + page;
	}
}

uint32_t visibility_page(uint32_t page)
{
	return page / VISIBILITY_PAGES;
}

/*
 * How many rows a page gets when it is filled: as long as the next one leaves free what fillfactor
 * says. Source: PostgreSQL 15, heapam.c, heap_multi_insert().
 */
static uint32_t rows_per_page(uint32_t tuple_bytes, uint64_t fillfactor)
{
	uint32_t spare = (uint32_t)(BLOCK_BYTES * (100 - fillfactor) / 100);

	return (BLOCK_ROOM - spare) / (tuple_bytes + 4);
}

enum relation_id relation_of(const struct pgbench *pg, uint32_t block)
{
	enum relation_id id = REL_HISTORY;

	/* Most blocks that are asked for. */
	if (block >= pg->relations[REL_ACCOUNTS].first &&
	    block < pg->relations[REL_ACCOUNTS_VM].first)
		return REL_ACCOUNTS;
	while (block < pg->relations[id].first)
		id--;
	return id;
}

static __attribute__((noinline)) void file_add(struct pgbench *pg, struct relation *relation)
{
	size_t number = relation->files.count;
	struct relation_file *file = array_push(&relation->files);

	file->path = number ? path_make(pg, "base/5/%u%s.%zu", relation->file_node, relation->fork,
					number)
			    : path_make(pg, "base/5/%u%s", relation->file_node, relation->fork);
}

struct relation_file *relation_file(struct pgbench *pg, enum relation_id id, uint32_t block,
				    uint64_t *offset)
{
	struct relation *relation = &pg->relations[id];
	uint32_t within = block - relation->first;
	size_t number = within / RELATION_FILE_BLOCKS;

	*offset = (uint64_t)(within % RELATION_FILE_BLOCKS) * BLOCK_BYTES;
	while (relation->files.count <= number)
		file_add(pg, relation);
	return &relation->files.at[number];
}

/* The paths besides the relations'. */
static void paths_make(struct pgbench *pg)
{
	pg->path_control = path_make(pg, "global/pg_control");
	pg->path_global = path_make(pg, "global");
	pg->path_wal = path_make(pg, "pg_wal");
	pg->path_clog_directory = path_make(pg, "pg_xact");
	pg->path_commit_ts = path_make(pg, "pg_commit_ts");
	pg->path_multixact_offsets = path_make(pg, "pg_multixact/offsets");
	pg->path_multixact_members = path_make(pg, "pg_multixact/members");
	pg->path_mappings = path_make(pg, "pg_logical/mappings");
	pg->path_logical = path_make(pg, "pg_logical");
	pg->path_origin = path_make(pg, "pg_logical/replorigin_checkpoint");
	pg->path_origin_new = path_make(pg, "pg_logical/replorigin_checkpoint.tmp");
	pg->warm_label = path_intern(pg->place.paths, "warm", 4);
}

struct sizes {
	enum relation_id id;
	uint64_t count, spare;
	enum stream_id stream;
	uint32_t file_node;
	const char *fork;
};

static bool numbers_give(struct pgbench *pg, const struct sizes *sizes, struct error *error)
{
	uint64_t next = 0;

	for (int i = 0; i < REL_COUNT; i++) {
		struct relation *relation = &pg->relations[i];
		uint64_t capacity = sizes[i].count + sizes[i].spare;

		if (i == REL_HISTORY)
			capacity = UINT32_MAX - 1 - next;
		if (next + capacity >= UINT32_MAX || sizes[i].count + 1024 > capacity)
			return error_input(error,
					   "job \"%.60s\": more than 32 TiB of data (scale %llu, "
					   "history %llu)",
					   pg->place.job, (unsigned long long)pg->options->scale,
					   (unsigned long long)pg->options->history_rows);
		relation->first = (uint32_t)next;
		relation->count = (uint32_t)sizes[i].count;
		relation->capacity = (uint32_t)capacity;
		relation->stream = sizes[i].stream;
		relation->file_node = sizes[i].file_node;
		relation->fork = sizes[i].fork;
		next += capacity;
	}
	return true;
}

static void files_make(struct pgbench *pg)
{
	for (int i = 0; i < REL_COUNT; i++) {
		struct relation *relation = &pg->relations[i];
		size_t files = divide_up(relation->count, RELATION_FILE_BLOCKS);

		do
			file_add(pg, relation);
		while (relation->files.count < files);
	}
}

/* How many blocks there must be numbers for: no page gives away more rows than a few (heap.c). */
static uint64_t accounts_spare(uint64_t pages, uint64_t clients)
{
	return pages / 4 + clients * 2 + 4096;
}

/*
 * What the planner takes for cheaper, reading all of a table or its index: seq_page_cost 1 a page,
 * 0.0125 a row (as many a page as when it was analyzed), against 8.15 (branches) and 8.29 (tellers)
 * for one row through the index. Source: PostgreSQL 15, costsize.c, cost_seqscan(); plancat.c,
 * estimate_rel_size(); and EXPLAIN's figures for pgbench. In 10000ths.
 */
void small_tables_plan(struct pgbench *pg)
{
	static const uint64_t index_cost[] = {82900, 81500};

	for (int i = 0; i < 2; i++) {
		struct small_table *table = &pg->tables[i];
		uint64_t pages = pg->relations[table->heap].count;
		uint64_t rows = table->rows * pages / divide_up(table->rows, table->rows_per_page);

		table->is_scanned = pages * 10000 + rows * 125 < index_cost[i];
	}
}

static void small_tables_make(struct pgbench *pg)
{
	uint32_t scale = (uint32_t)pg->options->scale;

	pg->tables[0] = (struct small_table){
		.heap = REL_TELLERS,
		.pkey = REL_TELLERS_PKEY,
		.tree = &pg->tellers_tree,
		.rows = scale * TELLERS_PER_SCALE,
		.tuple_units = 10,
		.rows_per_page = TELLERS_PER_PAGE,
	};
	pg->tables[1] = (struct small_table){
		.heap = REL_BRANCHES,
		.pkey = REL_BRANCHES_PKEY,
		.tree = &pg->branches_tree,
		.rows = scale,
		.tuple_units = 8,
		.rows_per_page = BRANCHES_PER_PAGE,
	};
	small_tables_plan(pg);
}

bool relations_init(struct pgbench *pg, struct error *error)
{
	const struct pgbench_options *options = pg->options;
	uint64_t rows = options->scale * ACCOUNTS_PER_SCALE;
	uint64_t tellers = options->scale * TELLERS_PER_SCALE, pages;

	pg->accounts_rows_per_page = rows_per_page(128, options->fillfactor);
	pages = divide_up(rows, pg->accounts_rows_per_page);
	pg->accounts_pages = (uint32_t)pages;
	tree_make(&pg->accounts_tree, rows);
	tree_make(&pg->tellers_tree, tellers);
	tree_make(&pg->branches_tree, options->scale);
	if (!numbers_give(
		    pg,
		    (const struct sizes[REL_COUNT]){
			    [REL_TELLERS] = {.count = divide_up(tellers, TELLERS_PER_PAGE),
					     .spare = SMALL_PAGES_SPARE,
					     .stream = STREAM_HEAP,
					     .file_node = 16394,
					     .fork = ""},
			    [REL_ACCOUNTS] = {.count = pages,
					      .spare = accounts_spare(pages, options->clients),
					      .stream = STREAM_HEAP,
					      .file_node = 16396,
					      .fork = ""},
			    [REL_ACCOUNTS_VM] = {.count = divide_up(pages, VISIBILITY_PAGES),
						 .spare = pages / VISIBILITY_PAGES + 1024,
						 .stream = STREAM_HEAP,
						 .file_node = 16396,
						 .fork = "_vm"},
			    [REL_BRANCHES] = {.count = divide_up(options->scale, BRANCHES_PER_PAGE),
					      .spare = SMALL_PAGES_SPARE,
					      .stream = STREAM_HEAP,
					      .file_node = 16397,
					      .fork = ""},
			    [REL_BRANCHES_PKEY] = {.count = tree_pages(&pg->branches_tree),
						   .spare = 1024,
						   .stream = STREAM_INDEX,
						   .file_node = 16398,
						   .fork = ""},
			    [REL_TELLERS_PKEY] = {.count = tree_pages(&pg->tellers_tree),
						  .spare = 1024,
						  .stream = STREAM_INDEX,
						  .file_node = 16400,
						  .fork = ""},
			    [REL_ACCOUNTS_PKEY] = {.count = tree_pages(&pg->accounts_tree),
						   .spare = 1024,
						   .stream = STREAM_INDEX,
						   .file_node = 16402,
						   .fork = ""},
			    [REL_HISTORY] = {.count = divide_up(options->history_rows, 157),
					     .stream = STREAM_HISTORY,
					     .file_node = 16393,
					     .fork = ""},
		    },
		    error))
		return false;
	paths_make(pg);
	files_make(pg);
	small_tables_make(pg);
	return true;
}
