/*
 * A client's backend: one transaction after the other
 *
 *     BEGIN; UPDATE accounts; SELECT the same row; UPDATE tellers; UPDATE branches; INSERT history; END
 *
 * Blocks are touched in the order in which the executor does it: down the index to the leaf, the
 * heap page (and the visibility map, if all of the page was visible), for an update that leaves its
 * page the page where this backend inserts, and down the index again. tellers and branches are
 * scanned whole as long as that is cheaper, and pruned while scanned. A row of them stays locked
 * until the end of the transaction that updated it; who waits for it keeps the page pinned, and a
 * page that somebody else has pinned cannot be pruned: so they grow.
 *
 * How often a block is looked up, besides (a block that the backend has pinned already counts as a
 * buffer access, but does not raise the usage count): an update fetches the old version again
 * (table_tuple_fetch_row_version()), heap_update() reads the page once more, _bt_check_unique() the
 * old row; after a wait the newest version is looked for and locked (EvalPlanQual). Measured: 27
 * accesses a transaction at scale 30.
 *
 * Records, in bytes, with headers and data: heap lock 54, update to another page 171, HOT update
 * 73 (accounts) and 72, history 79, index entry 64, prune 54 and what it lists, commit 34. Sources:
 * PostgreSQL 15, heapam_xlog.h, nbtxlog.h, heapam.c, log_heap_update(), xact.c.
 *
 * Processor time: an eighth of it before the first block that is read, five eighths until tellers
 * (two rows are locked at one moment), three before the commit: one of seven statements, four,
 * three. Ours: no measurement says how it is distributed.
 *
 * Differs: 1. Rows of accounts are never waited for: two clients in a hundred thousand rows. 2. The
 * client's own processor time and the way to it are not there, but as `think`.
 */
#include "source/workload/pgbench/pgbench.h"

#include <assert.h>

#include "base/prefetch.h"
#include "base/size.h"

enum {
	RECORD_LOCK = 54,
	RECORD_MOVE = 73, /* and the tuple */
	RECORD_HOT_ACCOUNT = 73,
	RECORD_HOT_SMALL = 72,
	RECORD_HISTORY = 79,
	RECORD_INDEX = 64,
	RECORD_PRUNE = 54,
	RECORD_COMMIT = 34,
	/* what a record says of its block, and an image makes superfluous */
	DATA_HOT = 13,
	DATA_INDEX = 16,
	DATA_HISTORY = 30,
	HISTORY_ROWS = 157,
	HISTORY_TUPLE = 52, /* with its line pointer */
	LEAF_USED = 7380,   /* 366 entries and the high key, 24 + 16 of header */
	LEAF_ENTRY = 20,
	LEAF_USED_MAX = 8152,
	PRUNE_BELOW = BLOCK_BYTES / 10, /* heap_page_prune_opt() */
	AUTOVACUUM_NAP_S = 60,
};

/* A new connection: nobody knows where it inserted. */
static void backend_connect(struct backend *backend)
{
	backend->done = 0;
	for (int i = 0; i < REL_COUNT; i++)
		backend->target[i] = (struct target){.block = BLOCK_NONE};
}

void backend_init(struct pgbench *pg, struct process *process)
{
	struct backend *backend = arena_alloc(&pg->arena, sizeof(*backend));

	process->backend = backend;
	backend->pinned = BUFFER_NONE;
	backend_connect(backend);
	pg->oldest[process->index] = UINT64_MAX;
	random_init(&backend->random, pg->place.seed,
		    (uint64_t)pg->place.first_stream << 32 | process->index);
}

/* ---- blocks ---- */

/* The blocks on the way to a leaf, by level. */
static void path_to(const struct pgbench *pg, enum relation_id pkey, const struct tree *tree,
		    uint32_t leaf, uint32_t path[TREE_LEVELS_MAX])
{
	for (uint32_t level = 0; level < tree->levels; level++)
		path[level] = relation_block(pg, pkey, tree_block(tree, level, leaf));
}

/* Down a tree, a page a call: false until the leaf is there. */
static bool descend(struct pgbench *pg, struct process *process, struct frame *frame,
		    const struct tree *tree, const uint32_t *path)
{
	while (frame->end < tree->levels) {
		if (!block_need(pg, process, path[tree->levels - 1 - (uint32_t)frame->end]))
			return false;
		frame->end++;
	}
	frame->end = 0;
	return true;
}

static bool descend_accounts(struct pgbench *pg, struct process *process, struct frame *frame)
{
	return descend(pg, process, frame, &pg->accounts_tree, process->backend->now.path);
}

static bool descend_small(struct pgbench *pg, struct process *process, struct frame *frame,
			  const struct small_table *table, uint32_t row)
{
	uint32_t path[TREE_LEVELS_MAX];

	path_to(pg, table->pkey, table->tree, row / LEAF_ENTRIES, path);
	return descend(pg, process, frame, table->tree, path);
}

static void pin(struct pgbench *pg, struct backend *backend, uint32_t block)
{
	assert(backend->pinned == BUFFER_NONE);
	backend->pinned = buffer_find(pg, block);
	pg->buffers.at[backend->pinned].pins++;
}

static void unpin(struct pgbench *pg, struct backend *backend)
{
	pg->buffers.at[backend->pinned].pins--;
	backend->pinned = BUFFER_NONE;
}

/* ---- what nobody can see any more ---- */

/*
 * ComputeXidHorizons(): what was running when the oldest of those who run looked. It never goes back:
 * so it stands as long as the client that had it last has it still.
 */
static uint64_t horizon_find(struct pgbench *pg)
{
	if (pg->oldest[pg->horizon_client] == pg->horizon)
		return pg->horizon;
	pg->horizon = pg->next_xid;
	for (uint32_t i = 0; i < pg->options->clients; i++) {
		if (pg->oldest[i] >= pg->horizon)
			continue;
		pg->horizon = pg->oldest[i];
		pg->horizon_client = i;
	}
	return pg->horizon;
}

static void prune_log(struct pgbench *pg, uint32_t block, const struct heap_page *before,
		      const struct heap_page *after)
{
	uint32_t roots = before->dead_roots - after->dead_roots;
	uint32_t chain = before->dead_chain - after->dead_chain;
	uint32_t data = roots * 4 + chain * 2;

	wal_record(pg, RECORD_PRUNE + data,
		   &(struct wal_block){.block = block,
				       .used_bytes = page_used_bytes(after),
				       .data_bytes = data},
		   1);
}

static void accounts_prune(struct pgbench *pg, uint32_t page)
{
	struct heap_page before = accounts_page(pg, page), after = before;
	uint64_t spare = BLOCK_BYTES * (100 - pg->options->fillfactor) / 100;

	if (before.dead_roots + before.dead_chain == 0 ||
	    before.room * 4 >= (spare > PRUNE_BELOW ? spare : PRUNE_BELOW))
		return;
	page_prune(&after, ACCOUNT_UNITS, 0, 0);
	accounts_page_set(pg, page, &after);
	prune_log(pg, relation_block(pg, REL_ACCOUNTS, page), &before, &after);
}

static void small_prune(struct pgbench *pg, uint8_t which, uint32_t number)
{
	struct small_table *table = &pg->tables[which];
	struct small_page *page = &table->pages[number];
	struct heap_page before = page->page;

	if (before.dead_roots + before.dead_chain == 0 || before.room * 4 >= PRUNE_BELOW ||
	    page->pins > 0 || !small_page_prune(pg, horizon_find(pg), which, number))
		return;
	prune_log(pg, relation_block(pg, table->heap, number), &before, &page->page);
}

/* ---- UPDATE accounts ---- */

/* _bt_doinsert() into the leaf of accounts_pkey, which is here. */
static void leaf_insert(struct pgbench *pg, uint32_t block)
{
	uint64_t used = LEAF_USED + pg->leaf_entries * LEAF_ENTRY / pg->accounts_tree.pages[0];

	pg->leaf_entries++;
	pg->count.accesses++;
	wal_record(pg, RECORD_INDEX,
		   &(struct wal_block){
			   .block = block,
			   .used_bytes = (uint32_t)(used < LEAF_USED_MAX ? used : LEAF_USED_MAX),
			   .data_bytes = DATA_INDEX},
		   1);
}

/* In its page, or not at all. */
static bool account_update_hot(struct pgbench *pg, struct backend *backend)
{
	struct heap_page page = accounts_page(pg, backend->home);

	if (!page_update(&page, ACCOUNT_UNITS, backend->is_redirected))
		return false;
	accounts_page_set(pg, backend->home, &page);
	pg->count.hot++;
	wal_record(pg, RECORD_HOT_ACCOUNT,
		   &(struct wal_block){.block = relation_block(pg, REL_ACCOUNTS, backend->home),
				       .used_bytes = page_used_bytes(&page),
				       .data_bytes = DATA_HOT},
		   1);
	return true;
}

/* A row goes from one page to another; both are here. */
static void move_log(struct pgbench *pg, uint32_t tuple_bytes, uint32_t old, uint32_t old_used,
		     uint32_t new, uint32_t new_used, bool is_new)
{
	wal_record(pg, RECORD_MOVE + tuple_bytes,
		   (const struct wal_block[]){{.block = new,
					       .used_bytes = new_used,
					       .data_bytes = tuple_bytes + 5,
					       .is_new = is_new},
					      {.block = old, .used_bytes = old_used}},
		   2);
}

static void account_move(struct pgbench *pg, struct backend *backend, uint32_t to, bool is_new)
{
	struct heap_page old = accounts_page(pg, backend->home), new = accounts_page(pg, to);

	page_move(&old, backend->is_redirected);
	page_take(&new, ACCOUNT_UNITS);
	accounts_page_set(pg, backend->home, &old);
	accounts_page_set(pg, to, &new);
	move_log(pg, 98, relation_block(pg, REL_ACCOUNTS, backend->home), page_used_bytes(&old),
		 relation_block(pg, REL_ACCOUNTS, to), page_used_bytes(&new), is_new);
	backend->target[REL_ACCOUNTS].rows_left--;
	backend->old_home = backend->home;
	backend->home = to;
	backend->has_moved = true;
}

enum {
	UPDATE_DESCEND,
	UPDATE_HEAP,
	UPDATE_MAP,
	UPDATE_VERSION,
	UPDATE_TARGET,
	UPDATE_MOVE,
	UPDATE_INDEX,
	UPDATE_END
};

static bool is_untouched(const struct pgbench *pg, uint32_t page)
{
	struct heap_page at = accounts_page(pg, page);

	return page < pg->accounts_pages &&
	       at.moved + at.redirected + at.dead_roots + at.dead_chain == 0;
}

static enum turn accounts_update(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct backend *backend = process->backend;
	uint32_t block;

	switch (frame->step) {
	case UPDATE_DESCEND:
		if (!descend_accounts(pg, process, frame))
			return TURN_ON;
		frame->step = UPDATE_HEAP;
		backend->home = accounts_find(pg, &backend->random, backend->now.aid,
					      &backend->is_redirected);
		__attribute__((fallthrough));
	case UPDATE_HEAP:
		block = relation_block(pg, REL_ACCOUNTS, backend->home);
		if (!block_need(pg, process, block))
			return TURN_ON;
		pg->count.accesses += 2;
		pin(pg, backend, block);
		frame->step = UPDATE_VERSION;
		if (is_untouched(pg, backend->home))
			frame->step = UPDATE_MAP;
		accounts_prune(pg, backend->home);
		backend->xid = pg->oldest[process->index] = pg->next_xid++;
		return TURN_ON;
	case UPDATE_MAP:
		block = relation_block(pg, REL_ACCOUNTS_VM, visibility_page(backend->home));
		if (!block_need(pg, process, block))
			return TURN_ON;
		buffer_dirty(pg, block, pg->wal.inserted);
		frame->step = UPDATE_VERSION;
		__attribute__((fallthrough));
	case UPDATE_VERSION:
		pg->count.updates++;
		frame->step = UPDATE_END;
		if (account_update_hot(pg, backend))
			return TURN_ON;
		wal_record(pg, RECORD_LOCK,
			   &(struct wal_block){
				   .block = relation_block(pg, REL_ACCOUNTS, backend->home),
				   .used_bytes = page_used_bytes(&(struct heap_page){
					   .room = accounts_page(pg, backend->home).room})},
			   1);
		__attribute__((fallthrough));
	case UPDATE_TARGET:
		frame->block = accounts_target(pg, backend, &frame->is_new);
		frame->step = UPDATE_MOVE;
		__attribute__((fallthrough));
	case UPDATE_MOVE:
		block = relation_block(pg, REL_ACCOUNTS, frame->block);
		if (!(frame->is_new ? block_extend : block_need)(pg, process, block))
			return TURN_ON;
		/* Whose row came there meanwhile? */
		if (accounts_page(pg, frame->block).room <= ACCOUNT_UNITS) {
			frame->step = UPDATE_TARGET;
			return TURN_ON;
		}
		account_move(pg, backend, frame->block, frame->is_new);
		frame->step = UPDATE_INDEX;
		__attribute__((fallthrough));
	case UPDATE_INDEX:
		if (!descend_accounts(pg, process, frame))
			return TURN_ON;
		leaf_insert(pg, backend->now.path[0]);
		__attribute__((fallthrough));
	default:
		unpin(pg, backend);
		return routine_done(process);
	}
}

/* ---- SELECT ---- */

static enum turn accounts_select(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct backend *backend = process->backend;

	switch (frame->step) {
	case 0:
		if (!descend_accounts(pg, process, frame))
			return TURN_ON;
		frame->step = 1;
		__attribute__((fallthrough));
	case 1:
		/* The old entry comes first, and leads to a version that is not there any more. */
		if (backend->has_moved &&
		    !block_need(pg, process, relation_block(pg, REL_ACCOUNTS, backend->old_home)))
			return TURN_ON;
		frame->step = 2;
		__attribute__((fallthrough));
	default:
		if (!block_need(pg, process, relation_block(pg, REL_ACCOUNTS, backend->home)))
			return TURN_ON;
		return routine_done(process);
	}
}

/* ---- UPDATE tellers, UPDATE branches ---- */

enum { SMALL_FIND, SMALL_ROW, SMALL_LOCKED, SMALL_VERSION, SMALL_TARGET, SMALL_MOVE, SMALL_INDEX };

/* All pages, or down the index and the row's page. */
static bool small_find(struct pgbench *pg, struct process *process, struct frame *frame,
		       uint8_t which)
{
	const struct small_table *table = &pg->tables[which];
	uint32_t row = process->backend->now.rows[which];

	if (!table->is_scanned)
		return descend_small(pg, process, frame, table, row);
	while (frame->at < pg->relations[table->heap].count) {
		if (!table->pages[frame->at].is_made) {
			frame->at++;
			continue;
		}
		if (!block_need(pg, process, relation_block(pg, table->heap, (uint32_t)frame->at)))
			return false;
		small_prune(pg, which, (uint32_t)frame->at++);
	}
	return true;
}

/* The row is locked now, or somebody else's end will do it. */
static bool row_lock(struct pgbench *pg, struct process *process, uint8_t which)
{
	struct backend *backend = process->backend;
	struct small_table *table = &pg->tables[which];
	struct small_row *row = &table->at[backend->now.rows[which]];

	if (row->holder == 0) {
		row->holder = (uint16_t)(process->index + 1);
		return true;
	}
	row->waiters++;
	table->pages[row->page].pins++;
	pg->oldest[process->index] = horizon_find(pg);
	backend->waits_table = which;
	backend->wait_order = pg->waits++;
	process->ready_ns = pg->now_ns;
	process->waits = WAIT_ROW;
	return false;
}

/* The transaction is over: its row goes to who has waited longest. */
static void row_unlock(struct pgbench *pg, struct backend *backend, uint8_t which)
{
	struct small_table *table = &pg->tables[which];
	struct small_row *row = &table->at[backend->now.rows[which]];
	struct process *next = NULL;

	row->holder = 0;
	if (row->waiters == 0)
		return;
	for (uint32_t i = 0; i < pg->options->clients; i++) {
		struct process *other = &pg->processes[i];

		if (other->waits == WAIT_ROW && other->backend->waits_table == which &&
		    other->backend->now.rows[which] == backend->now.rows[which] &&
		    (!next || other->backend->wait_order < next->backend->wait_order))
			next = other;
	}
	row->waiters--;
	row->holder = (uint16_t)(next->index + 1);
	table->pages[next->frames[next->depth - 1].block].pins--;
	pg->oldest[next->index] = next->backend->xid;
	pg->count.lock_waits++;
	pg->count.lock_wait_ns += pg->now_ns - next->ready_ns;
	process_wake(pg, next, pg->now_ns);
}

static void small_lock_log(struct pgbench *pg, const struct small_table *table, uint32_t page)
{
	wal_record(pg, RECORD_LOCK,
		   &(struct wal_block){.block = relation_block(pg, table->heap, page),
				       .used_bytes = page_used_bytes(&table->pages[page].page)},
		   1);
}

static bool small_update_hot(struct pgbench *pg, struct backend *backend, uint8_t which)
{
	struct small_table *table = &pg->tables[which];
	struct small_row *row = &table->at[backend->now.rows[which]];
	struct heap_page *page = &table->pages[row->page].page;

	if (!page_update(page, table->tuple_units, row->is_redirected))
		return false;
	small_page_dies(pg, backend->xid, which, row->page, !row->is_redirected);
	row->is_redirected = true;
	wal_record(pg, RECORD_HOT_SMALL,
		   &(struct wal_block){.block = relation_block(pg, table->heap, row->page),
				       .used_bytes = page_used_bytes(page),
				       .data_bytes = DATA_HOT},
		   1);
	return true;
}

static void small_move(struct pgbench *pg, struct backend *backend, uint8_t which, uint32_t to,
		       bool is_new)
{
	struct small_table *table = &pg->tables[which];
	struct small_row *row = &table->at[backend->now.rows[which]];
	struct heap_page *old = &table->pages[row->page].page, *new = &table->pages[to].page;

	page_move(old, row->is_redirected);
	page_take(new, table->tuple_units);
	small_page_dies(pg, backend->xid, which, row->page, !row->is_redirected);
	move_log(pg, table->tuple_units * 4 - 23, relation_block(pg, table->heap, row->page),
		 page_used_bytes(old), relation_block(pg, table->heap, to), page_used_bytes(new),
		 is_new);
	row->page = to;
	row->is_redirected = false;
	table->pages[to].is_made = true;
}

static enum turn small_update(struct pgbench *pg, struct process *process, struct frame *frame,
			      uint8_t which)
{
	struct backend *backend = process->backend;
	struct small_table *table = &pg->tables[which];
	struct small_row *row = &table->at[backend->now.rows[which]];
	uint32_t block;

	switch (frame->step) {
	case SMALL_FIND:
		if (!small_find(pg, process, frame, which))
			return TURN_ON;
		frame->step = SMALL_ROW;
		__attribute__((fallthrough));
	case SMALL_ROW:
		if (!block_need(pg, process, relation_block(pg, table->heap, row->page)))
			return TURN_ON;
		pg->count.accesses += table->is_scanned ? 1 : 2;
		if (!table->is_scanned)
			small_prune(pg, which, row->page);
		frame->block = row->page;
		frame->step = SMALL_LOCKED;
		if (!row_lock(pg, process, which))
			return TURN_WAIT;
		frame->step = SMALL_VERSION;
		return TURN_ON;
	case SMALL_LOCKED:
		/* The newest version is looked for, locked, and fetched again. */
		if (!block_need(pg, process, relation_block(pg, table->heap, row->page)))
			return TURN_ON;
		pg->count.accesses += 4;
		small_lock_log(pg, table, row->page);
		frame->step = SMALL_VERSION;
		__attribute__((fallthrough));
	case SMALL_VERSION:
		if (small_update_hot(pg, backend, which))
			return routine_done(process);
		small_lock_log(pg, table, row->page);
		pin(pg, backend, relation_block(pg, table->heap, row->page));
		__attribute__((fallthrough));
	case SMALL_TARGET:
		frame->block = small_target(pg, backend, table, &frame->is_new);
		frame->step = SMALL_MOVE;
		__attribute__((fallthrough));
	case SMALL_MOVE:
		block = relation_block(pg, table->heap, frame->block);
		if (!(frame->is_new ? block_extend : block_need)(pg, process, block))
			return TURN_ON;
		if (table->pages[frame->block].page.room <= table->tuple_units) {
			frame->step = SMALL_TARGET;
			return TURN_ON;
		}
		small_move(pg, backend, which, frame->block, frame->is_new);
		unpin(pg, backend);
		frame->step = SMALL_INDEX;
		__attribute__((fallthrough));
	default:
		if (!descend_small(pg, process, frame, table, backend->now.rows[which]))
			return TURN_ON;
		pg->count.accesses++;
		block = tree_block(table->tree, 0, backend->now.rows[which] / LEAF_ENTRIES);
		wal_record(pg, RECORD_INDEX,
			   &(struct wal_block){.block = relation_block(pg, table->pkey, block),
					       .used_bytes = LEAF_USED,
					       .data_bytes = DATA_INDEX},
			   1);
		return routine_done(process);
	}
}

static enum turn tellers_update(struct pgbench *pg, struct process *process, struct frame *frame)
{
	return small_update(pg, process, frame, 0);
}

static enum turn branches_update(struct pgbench *pg, struct process *process, struct frame *frame)
{
	return small_update(pg, process, frame, 1);
}

/* ---- INSERT history ---- */

static enum turn history_insert(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct target *target = &process->backend->target[REL_HISTORY];
	bool is_there;

	if (frame->step == 0 && target->rows_left == 0) {
		/* No other backend's page is known to the free space map. */
		target->block = pg->relations[REL_HISTORY].count++;
		target->rows_left = HISTORY_ROWS;
		frame->is_new = true;
	}
	frame->step = 1;
	frame->block = relation_block(pg, REL_HISTORY, target->block);
	is_there = frame->is_new ? block_extend(pg, process, frame->block)
				 : block_need(pg, process, frame->block);
	if (!is_there)
		return TURN_ON;
	wal_record(pg, RECORD_HISTORY,
		   &(struct wal_block){.block = frame->block,
				       .used_bytes = BLOCK_BYTES - BLOCK_ROOM +
						     (HISTORY_ROWS - target->rows_left + 1) *
							     HISTORY_TUPLE,
				       .data_bytes = DATA_HISTORY,
				       .is_new = frame->is_new},
		   1);
	target->rows_left--;
	return routine_done(process);
}

/* ---- the transaction ---- */

/* log2() of a number from 1 to 2^64 - 1, in 2^-32nds: by squaring, a bit at a time. */
static uint64_t log2_fixed(uint64_t value)
{
	int top = 63 - __builtin_clzll(value);
	uint64_t fraction = value << (63 - top), result = (uint64_t)top << 32;

	for (int bit = 31; bit >= 8; bit--) {
		unsigned __int128 square = (unsigned __int128)fraction * fraction;

		if (square >> 127) {
			result |= UINT64_C(1) << bit;
			fraction = (uint64_t)(square >> 64);
		} else {
			fraction = (uint64_t)(square >> 63);
		}
	}
	return result;
}

/* pgbench.c, getPoissonRand(): -ln(uniform) times the mean. */
static uint64_t poisson_ns(struct random *random, uint64_t mean_ns)
{
	uint64_t uniform = random_next(random) | 1;
	uint64_t bits = (UINT64_C(64) << 32) - log2_fixed(uniform);

	/* ln 2 in 2^-32nds. */
	return (uint64_t)((unsigned __int128)bits * UINT64_C(2977044472) >> 32) * mean_ns >> 32;
}

enum {
	CLIENT_BEGIN,
	CLIENT_UPDATE,
	CLIENT_SELECT,
	CLIENT_COMPUTE,
	CLIENT_TELLERS,
	CLIENT_BRANCHES,
	CLIENT_HISTORY,
	CLIENT_ROOM,
	CLIENT_COMPUTE_LAST,
	CLIENT_COMMIT,
	CLIENT_END,
	CLIENT_NEXT,
	CLIENT_WARM
};

/* What the next transaction is about. */
static void transaction_draw(struct pgbench *pg, struct backend *backend)
{
	struct drawn *then = &backend->then;

	if (backend->has_drawn)
		return;
	then->aid = (uint32_t)random_below(&backend->random, pg->options->scale * 100000);
	then->rows[1] = (uint32_t)random_below(&backend->random, pg->tables[1].rows);
	then->rows[0] = (uint32_t)random_below(&backend->random, pg->tables[0].rows);
	path_to(pg, REL_ACCOUNTS_PKEY, &pg->accounts_tree, then->aid / LEAF_ENTRIES, then->path);
	backend->has_drawn = true;
	prefetch_read(&pg->pages[then->aid / pg->accounts_rows_per_page]);
	prefetch_read(&pg->tables[0].at[then->rows[0]]);
	prefetch_read(&pg->tables[1].at[then->rows[1]]);
}

/*
 * The blocks of the next transaction are lines of memory that nobody has touched for long, each
 * found by way of the one before: a transaction is long enough for all of them to come in.
 */
static void transaction_prefetch(struct pgbench *pg, const struct process *process,
				 enum block_step step)
{
	const struct drawn *then = &process->backend->then;

	block_prefetch(pg, process,
		       relation_block(pg, REL_ACCOUNTS, then->aid / pg->accounts_rows_per_page),
		       step);
	block_prefetch(pg, process, then->path[0], step);
	if (step <= BLOCK_BUFFER)
		block_prefetch(pg, NULL, then->path[pg->accounts_tree.levels > 1], step);
	/* A row says in which block it is, so these come a step later; they are there. */
	if (step != BLOCK_BUFFER && step != BLOCK_SOON)
		return;
	for (int i = 0; i < 2; i++)
		block_prefetch(pg, NULL,
			       relation_block(pg, pg->tables[i].heap,
					      pg->tables[i].at[then->rows[i]].page),
			       step - 1);
}

static void transaction_take(struct pgbench *pg, struct backend *backend)
{
	transaction_draw(pg, backend);
	backend->now = backend->then;
	backend->has_drawn = false;
	backend->has_moved = false;
	backend->computed_ns = 0;
}

static enum turn compute_until(struct pgbench *pg, struct process *process, uint64_t eighths)
{
	struct backend *backend = process->backend;
	uint64_t ns = pg->options->cpu_ns * eighths / 8 - backend->computed_ns;

	backend->computed_ns += ns;
	return op_compute(pg, process, ns);
}

/* When may the next one begin (pgbench -R)? Its latency counts from then. */
static uint64_t scheduled_ns(struct pgbench *pg)
{
	if (!pg->options->rate.per_s)
		return pg->now_ns;
	pg->schedule_ns += poisson_ns(&pg->schedule, NS_PER_SECOND / pg->options->rate.per_s);
	return pg->schedule_ns;
}

static void autovacuum_look(struct pgbench *pg)
{
	if (!pg->options->autovacuum || pg->now_ns < pg->autovacuum_ns)
		return;
	pg->autovacuum_ns = pg->now_ns + AUTOVACUUM_NAP_S * NS_PER_SECOND;
	small_tables_vacuum(pg);
}

static enum turn transaction_begin(struct pgbench *pg, struct process *process)
{
	struct backend *backend = process->backend;

	autovacuum_look(pg);
	if (buffer_find(pg, backend->now.path[0]) == BUFFER_NONE)
		return compute_until(pg, process, 1);
	return TURN_ON;
}

static enum turn transaction_commit(struct pgbench *pg, struct process *process)
{
	uint64_t lsn = wal_record(pg, RECORD_COMMIT, NULL, 0);
	struct process *wal_writer = server_process(pg, WAL_WRITER);

	process->backend->commit_ns = pg->now_ns;
	if (pg->options->synchronous_commit) {
		routine_call(process, wal_flush)->at = lsn;
		return TURN_ON;
	}
	/* XLogSetAsyncXactLSN(): a full page is there to be written. */
	pg->wal.asynchronous = lsn;
	if (lsn / BLOCK_BYTES * BLOCK_BYTES > pg->wal.flushed && wal_writer->waits == WAIT_SLEEP)
		process_wake(pg, wal_writer, pg->now_ns);
	return TURN_ON;
}

static void transaction_end(struct pgbench *pg, struct process *process)
{
	struct backend *backend = process->backend;
	struct counts *count = &pg->count;

	backend->xid = 0;
	pg->oldest[process->index] = UINT64_MAX;
	row_unlock(pg, backend, 0);
	row_unlock(pg, backend, 1);
	backend->done++;
	count->transactions++;
	count->commit_wait_ns += pg->now_ns - backend->commit_ns;
	histogram_add(&count->commit, pg->now_ns - backend->commit_ns);
	histogram_add(&count->transaction, pg->now_ns - backend->begun_ns);
}

/* All have warmed up, and connect again: counting begins. */
static void counting_begin(struct pgbench *pg)
{
	histogram_deinit(&pg->count.transaction);
	histogram_deinit(&pg->count.commit);
	pg->count = (struct counts){.begun_ns = pg->now_ns};
	pg->is_warm = true;
	pg->clients_left = (uint32_t)pg->options->clients;
	small_tables_plan(pg);
	for (uint32_t i = 0; i < pg->options->clients; i++) {
		struct process *process = &pg->processes[i];

		backend_connect(process->backend);
		if (process->waits == WAIT_START)
			process_wake(pg, process, pg->now_ns);
	}
}

/* This client has done all of its transactions, of the warm-up or at all. */
static enum turn client_end(struct pgbench *pg, struct process *process, struct frame *frame)
{
	process->waits = WAIT_START;
	frame->step = CLIENT_NEXT;
	if (--pg->clients_left > 0)
		return TURN_WAIT;
	if (pg->is_warm) {
		pg->is_over = true;
		return TURN_WAIT;
	}
	frame->step = CLIENT_WARM;
	(void)op_make(pg, process, OP_MARK, STREAM_OTHER, pg->warm_label, 0, MARK_COUNTING_BEGINS);
	pg->op->stream = STREAM_NONE;
	return TURN_OP;
}

static bool client_is_done(const struct pgbench *pg, const struct backend *backend)
{
	uint64_t wanted = pg->is_warm ? pg->options->transactions : pg->options->warm_up;

	return wanted && backend->done >= wanted;
}

enum turn backend_main(struct pgbench *pg, struct process *process, struct frame *frame)
{
	struct backend *backend = process->backend;
	uint64_t begin_ns;

	switch (frame->step) {
	case CLIENT_WARM:
		counting_begin(pg);
		__attribute__((fallthrough));
	case CLIENT_NEXT:
	case CLIENT_BEGIN:
		if (client_is_done(pg, backend))
			return client_end(pg, process, frame);
		begin_ns = scheduled_ns(pg);
		backend->begun_ns = begin_ns;
		transaction_take(pg, backend);
		frame->step = CLIENT_UPDATE;
		if (begin_ns > pg->now_ns)
			return process_sleep(pg, process, begin_ns);
		__attribute__((fallthrough));
	case CLIENT_UPDATE:
		frame->step = CLIENT_SELECT;
		routine_call(process, accounts_update);
		return transaction_begin(pg, process);
	case CLIENT_SELECT:
		frame->step = CLIENT_COMPUTE;
		routine_call(process, accounts_select);
		return TURN_ON;
	case CLIENT_COMPUTE:
		frame->step = CLIENT_TELLERS;
		transaction_draw(pg, backend);
		transaction_prefetch(pg, process, BLOCK_BUCKET);
		return compute_until(pg, process, 5);
	case CLIENT_TELLERS:
		frame->step = CLIENT_BRANCHES;
		transaction_prefetch(pg, process, BLOCK_BUFFER);
		routine_call(process, tellers_update);
		return TURN_ON;
	case CLIENT_BRANCHES:
		frame->step = CLIENT_HISTORY;
		routine_call(process, branches_update);
		return TURN_ON;
	case CLIENT_HISTORY:
		frame->step = CLIENT_ROOM;
		routine_call(process, history_insert);
		return TURN_ON;
	case CLIENT_ROOM:
		frame->step = CLIENT_COMPUTE_LAST;
		if (pg->wal.inserted > pg->wal.written + pg->wal.buffers_bytes)
			routine_call(process, wal_make_room);
		return TURN_ON;
	case CLIENT_COMPUTE_LAST:
		frame->step = CLIENT_COMMIT;
		transaction_prefetch(pg, process, BLOCK_SOON);
		return compute_until(pg, process, 8);
	case CLIENT_COMMIT:
		frame->step = CLIENT_END;
		transaction_prefetch(pg, process, BLOCK_SOONER);
		return transaction_commit(pg, process);
	default:
		transaction_end(pg, process);
		frame->step = CLIENT_NEXT;
		if (pg->options->think_ns)
			return process_sleep(pg, process, pg->now_ns + pg->options->think_ns);
		return TURN_ON;
	}
}
