/*
 * What the parts of pgbench share: one struct for the server and its clients
 *
 * relations.c knows where rows and blocks are, heap.c how much room a page has, buffers.c which
 * blocks are in shared_buffers, wal.c what a record adds to the journal, wal_write.c who writes it,
 * segments.c in which files; backend.c, checkpointer.c and writers.c are the processes, and
 * process.c lets them take turns. workload/pgbench.c tells what all this stands for.
 *
 * A block's number counts through all relations; a buffer is numbered from 0. A place in the
 * journal (LSN) is bytes from its beginning, page headers included, as PostgreSQL counts.
 */
#ifndef REFAULT_SOURCE_WORKLOAD_PGBENCH_H
#define REFAULT_SOURCE_WORKLOAD_PGBENCH_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/histogram.h"
#include "base/random.h"
#include "op/op.h"
#include "source/schema.h"
#include "source/workload.h"
#include "source/workload/turns.h"

enum {
	BLOCK_BYTES = 8192,
	BLOCK_ROOM = 8168, /* without the page header */
	SEGMENT_BYTES = 16 << 20,
	RELATION_FILE_BLOCKS = 131072, /* 1 GiB */
	USAGE_MAX = 5,
	ACCOUNT_UNITS =
		32, /* a tuple of accounts, in 4 bytes: 24 of header, 97 of row, rounded up */
	LEAF_ENTRIES = 366,
	CLIENTS_MAX = 1000,
	FRAME_COUNT = 8,
	/* what has waited to be hinted at (sync_file_range): checkpointer 256 KiB, writer 512 KiB */
	CHECKPOINTER_HINTS = 32,
	WRITER_HINTS = 64,
	RECENT_COUNT = 8192, /* updates of small tables: a power of 2, above 4 * CLIENTS_MAX */
};

#define BLOCK_NONE  UINT32_MAX
#define BUFFER_NONE UINT32_MAX

enum wal_level { WAL_LEVEL_MINIMAL, WAL_LEVEL_REPLICA };
enum dontneed { DONTNEED_AUTO, DONTNEED_NEVER, DONTNEED_CLOSE, DONTNEED_RECYCLE };
enum warm { WARM_NO, WARM_CACHED };
/* Of the server: 9.5 is what the development branch was, too, until March 2016. */
enum version { VERSION_9_5, VERSION_11, VERSION_15 };

struct pgbench_options {
	uint64_t scale, clients, transactions, warm_up;
	struct schema_rate rate;
	uint64_t think_ns, cpu_ns;
	uint64_t shared_buffers_bytes, wal_buffers_bytes;
	uint64_t max_wal_bytes, min_wal_bytes;
	uint64_t checkpoint_timeout_ns, completion_target_ppm;
	bool wal_recycle, wal_init_zero;
	uint32_t wal_level, dontneed;
	bool full_page_writes, fsync, synchronous_commit, autovacuum;
	uint64_t commit_delay_ns, commit_siblings;
	uint64_t fillfactor, history_rows;
	uint32_t warm;
	uint64_t wal_segments;
	const char *directory;
	uint32_t version;
};

enum stream_id { STREAM_HEAP, STREAM_INDEX, STREAM_WAL, STREAM_HISTORY, STREAM_OTHER };

/* ---- relations ---- */

/* In the order of their blocks' numbers: history grows without end, so it is last. */
enum relation_id {
	REL_TELLERS,
	REL_ACCOUNTS,
	REL_ACCOUNTS_VM, /* the visibility map */
	REL_BRANCHES,
	REL_BRANCHES_PKEY,
	REL_TELLERS_PKEY,
	REL_ACCOUNTS_PKEY,
	REL_HISTORY,
	REL_COUNT
};

struct relation {
	uint32_t first;    /* the number of its first block */
	uint32_t count;    /* its blocks now */
	uint32_t capacity; /* numbers kept for it */
	enum stream_id stream;
	uint32_t file_node;
	const char *fork; /* "" or "_vm" */
	ARRAY(struct relation_file {
		uint32_t path;
		bool is_unsynced; /* written since the last checkpoint's fsync */
	})
	files;
};

enum { TREE_LEVELS_MAX = 5 };

/* A B-tree as a bulk load builds it; level 0 are the leaves. */
struct tree {
	uint32_t levels;
	uint32_t pages[TREE_LEVELS_MAX];
	uint32_t first[TREE_LEVELS_MAX]; /* block (within the relation) of the level's first page */
};

/* ---- the heap ---- */

/* A heap page, unpacked. */
struct heap_page {
	uint32_t room;       /* free, in units of 4 bytes, line pointers included */
	uint32_t redirected; /* rows whose first line pointer leads on: updated here before */
	uint32_t moved;      /* rows that went to another page */
	uint32_t dead_roots,
		dead_chain; /* old versions not pruned yet: first ones, and later ones */
};

/* tellers, branches: few rows, so each is known by name. */
struct small_table {
	enum relation_id heap, pkey;
	const struct tree *tree;
	uint32_t rows;
	uint32_t tuple_units; /* 4 bytes each, without the line pointer */
	uint32_t rows_per_page;
	bool is_scanned; /* the planner reads all of it */
	struct small_page {
		struct heap_page page;
		uint32_t pins; /* of backends waiting for a row */
		/* of its dead versions the oldest's and the newest's transaction */
		uint64_t oldest_xid, newest_xid;
		uint64_t recent;     /* the last of its updates among pg->recent: its number + 1 */
		uint32_t known_room; /* by the free space map; 0: nothing known */
		bool is_made;        /* else somebody is about to make it */
	} * pages;
	struct small_row {
		uint32_t page;
		uint16_t holder; /* backend + 1 that has updated it and is not done; 0: none */
		uint16_t waiters;
		bool is_redirected;
	} * at;
};

/* An update of a small table, for deciding what may be pruned. */
struct recent {
	uint64_t before; /* the last one of the same page: its number + 1; 0: none */
	uint64_t xid;
	bool is_root;
};

/* ---- buffers ---- */

enum {
	BUFFER_DIRTY = 1 << 0,
	BUFFER_NEEDED = 1 << 1,  /* a checkpoint is to write it */
	BUFFER_READING = 1 << 2, /* alone */
};

struct buffer {
	uint32_t block, next; /* in its bucket; BUFFER_NONE ends */
	uint32_t lsn_low;     /* buffer_lsn() */
	uint8_t lsn_high;
	uint8_t usage : 3;
	uint8_t flags : 5;
	uint16_t pins;
};

static_assert(sizeof(struct buffer) == 16, "two or three of them in a cache line");

/* Of the last change, in units of 8 bytes, rounded up: 40 bits. */
static inline uint64_t buffer_lsn(const struct buffer *buffer)
{
	return ((uint64_t)buffer->lsn_high << 32 | buffer->lsn_low) * 8;
}

static inline void buffer_lsn_set(struct buffer *buffer, uint64_t lsn)
{
	buffer->lsn_low = (uint32_t)(lsn / 8);
	buffer->lsn_high = (uint8_t)(lsn / 8 >> 32);
}

struct buffers {
	struct buffer *at;
	uint32_t *buckets;
	uint32_t count, bucket_bits;
	uint32_t used;      /* never-used ones are taken first */
	uint32_t hand;      /* of the clock */
	uint32_t rounds;    /* that the hand has made */
	uint32_t allocated; /* since the background writer last asked */
};

/* ---- the journal ---- */

struct wal_file {
	uint32_t path; /* its name now */
};

struct wal {
	uint64_t inserted, written, flushed; /* LSNs */
	uint64_t redo;                       /* of the last checkpoint begun */
	uint64_t asked;                      /* written up to here would be good: whole blocks */
	uint64_t asynchronous;               /* the last commit that nobody waits for */
	uint64_t write_to, flush_to;         /* of whoever writes */
	bool is_flexible;                    /* one write is enough (wal writer) */
	uint32_t holder;                     /* process + 1 that has the write lock; 0: free */
	uint32_t waiting;                    /* processes that wait for it */
	uint64_t creating_since_ns; /* the holder makes a file meanwhile; UINT64_MAX: it does not */

	/* segments: [first_segment, end_segment) have files */
	uint64_t first_segment, end_segment, base_segment;
	ARRAY(uint32_t) file_of; /* by segment - base_segment: index into files */
	ARRAY(struct wal_file) files;
	uint64_t segments_max, segments_min, checkpoint_segments; /* of the settings */
	uint64_t buffers_bytes;
	uint64_t *imaged; /* a bit a block: changed since redo, and so in the journal whole */
	uint64_t imaged_words;
};

struct checkpoint_done {
	uint64_t begun_ns, done_ns;
};

struct checkpoint {
	bool is_requested, is_under_way;
	ARRAY(struct checkpoint_done) all; /* that were completed */
	uint64_t begun_ns, begun_lsn, redo_before;
	uint64_t kept_lsn; /* the journal is kept from here on */
	uint64_t distance_estimate;
	uint64_t *sorted; /* block (history first) << 32 | buffer */
	uint32_t to_write, done;
	uint32_t progress; /* of them, as the checkpointer counts */
	uint32_t hints[CHECKPOINTER_HINTS], hint_count;
	uint64_t recycle_end, recycle_first_free; /* segments */
	uint32_t relation, file;                  /* being synced */
	uint64_t clog_page;                       /* the first one not written yet */
	uint64_t clog_file, clog_unsynced;        /* its last file; the first to be synced */
};

struct writer {
	bool is_valid;
	uint32_t hand_before, rounds_before, next, next_round;
	/* in 65536ths */
	uint64_t density, smoothed_alloc;
	uint32_t lap, to_scan, written, reusable, reusable_before, wanted;
	uint32_t hints[WRITER_HINTS], hint_count;
	uint64_t wal_flushed_ns; /* the wal writer's last flush */
};

/* ---- processes ---- */

struct pgbench;
struct process;
struct frame;

/* What a routine says when it stops for now. */
enum turn {
	TURN_ON,   /* go on with whatever is on top */
	TURN_OP,   /* pg->op is to be done first */
	TURN_WAIT, /* somebody will wake it, or it has said when it goes on */
};

typedef enum turn routine(struct pgbench *pg, struct process *process, struct frame *frame);

/* A routine under way, and what it must remember. */
struct frame {
	routine *routine;
	uint32_t step;
	uint32_t block, buffer;
	uint64_t at, end;
	uint32_t segment_file;
	bool is_new;
};

enum wait_kind {
	WAIT_NONE,
	WAIT_BLOCK,
	WAIT_WAL_FREE,
	WAIT_WAL_LOCK,
	WAIT_ROW,
	WAIT_SLEEP,
	WAIT_START
};

/* One client's backend. */
struct backend {
	struct random random;
	uint64_t done; /* transactions, in this phase */
	uint64_t begun_ns, commit_ns, wait_order;
	uint64_t xid; /* 0: none */
	struct drawn {
		uint32_t aid, rows[2]; /* rows: of tables[] */
		/* of accounts_pkey, on the way to the row: numbers, by level */
		uint32_t path[TREE_LEVELS_MAX];
	} now, then;       /* this transaction's, and the next one's */
	bool has_drawn;    /* `then` */
	uint32_t home;     /* page of accounts where the row is now */
	uint32_t old_home; /* has_moved: and where it was */
	uint32_t pinned;   /* buffer */
	uint32_t waits_table;
	uint64_t computed_ns; /* of this transaction's processor time */
	bool has_moved, is_redirected;
	struct target {
		uint32_t block, rows_left; /* where this backend inserts; BLOCK_NONE: nowhere yet */
	} target[REL_COUNT];
};

struct process {
	uint64_t ready_ns;
	uint32_t index;
	enum wait_kind waits;
	uint32_t waits_block;
	uint32_t depth;
	struct frame frames[FRAME_COUNT];
	uint32_t brought;        /* block just read, whose access is not counted yet */
	uint32_t wal_file;       /* open for writing, + 1; 0: none */
	uint64_t wal_segment;    /* it is that one */
	bool is_under_way;       /* an op is */
	struct backend *backend; /* NULL: a process of the server's own */
};

/* Since counting began (after the warm-up). */
struct counts {
	uint64_t transactions;
	uint64_t wal_bytes, wal_records, images, image_bytes;
	uint64_t accesses, misses;
	uint64_t written_checkpointer, written_writer, written_backend, extended;
	uint64_t wal_writes, wal_write_bytes, flushes;
	uint64_t checkpoints, segments_used, created, recycled, removed;
	uint64_t hot, updates;
	uint64_t commit_wait_ns, create_stall_ns, creating_ns, lock_wait_ns, lock_waits;
	uint64_t begun_ns;
	struct histogram transaction, commit;
};

struct pgbench {
	const struct pgbench_options *options;
	struct workload_place place;
	struct arena arena;
	uint64_t now_ns;

	struct relation relations[REL_COUNT];
	struct tree accounts_tree, tellers_tree, branches_tree;
	struct small_table tables[2];                    /* tellers, branches */
	uint32_t *pages;                                 /* of accounts, packed (heap.c) */
	uint32_t accounts_rows_per_page, accounts_pages; /* at the start */
	uint64_t leaf_entries;                           /* added since */
	uint64_t autovacuum_ns;                          /* the next look at the small tables */
	struct recent recent[RECENT_COUNT];
	uint64_t recent_count;

	struct buffers buffers;
	struct wal wal;
	struct checkpoint checkpoint;
	struct writer writer;

	struct process *processes; /* clients' backends, then the server's own */
	uint32_t process_count;
	struct turns turns;
	struct op *op;      /* where the next one goes */
	uint32_t under_way; /* ops */
	uint32_t block_waiters;
	/* by client, the oldest transaction that it may want to see: its own, or the oldest that ran
	 * when it began to wait; UINT64_MAX: it is in none */
	uint64_t *oldest;
	uint64_t horizon; /* the least of them, as long as horizon_client has it */
	uint32_t horizon_client;
	uint64_t next_xid, waits; /* how many waits for rows there were: their order */
	uint32_t clients_left;    /* in this phase */
	bool is_warm, is_over;
	uint64_t schedule_ns; /* rate: when the next transaction is due */
	struct random schedule;

	uint32_t path_control, path_wal, path_clog_directory, path_global;
	uint32_t path_multixact_offsets, path_multixact_members, path_commit_ts, path_mappings;
	uint32_t path_origin, path_origin_new, path_logical;
	uint32_t warm_label;
	uint32_t setup_phase, setup_relation, setup_file;
	uint64_t setup_offset;
	bool setup_is_advised;
	struct counts count;
};

enum { CHECKPOINTER, WRITER, WAL_WRITER, SERVER_PROCESSES };

static inline struct process *server_process(struct pgbench *pg, uint32_t which)
{
	return &pg->processes[pg->options->clients + which];
}

/* ---- process.c ---- */

void processes_init(struct pgbench *pg);
/* Let `which` go on in its place; its frame is zero but for that. */
struct frame *routine_call(struct process *process, routine *which);
/* The routine on top is done. */
enum turn routine_done(struct process *process);
/* Ready at `ns`, wherever it is now. */
void process_wake(struct pgbench *pg, struct process *process, uint64_t ns);
enum turn process_sleep(struct pgbench *pg, struct process *process, uint64_t until_ns);
bool processes_next(struct pgbench *pg, uint64_t now_ns, struct op *op, uint64_t *next_ns);
void process_completed(struct pgbench *pg, const struct op *op, uint64_t done_ns);

enum turn op_make(struct pgbench *pg, struct process *process, enum op_kind kind,
		  enum stream_id stream, uint32_t path, uint64_t offset, uint64_t bytes);
enum turn op_compute(struct pgbench *pg, struct process *process, uint64_t ns);

/* ---- relations.c ---- */

bool relations_init(struct pgbench *pg, struct error *error);
enum relation_id relation_of(const struct pgbench *pg, uint32_t block);
/* The file that a block is in, and where there. */
struct relation_file *relation_file(struct pgbench *pg, enum relation_id id, uint32_t block,
				    uint64_t *offset);
uint32_t path_make(struct pgbench *pg, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The block, within the relation, of the page on `level` above leaf `leaf`. */
uint32_t tree_block(const struct tree *tree, uint32_t level, uint32_t leaf);
/* Numbers of the blocks of accounts and its map. */
static inline uint32_t relation_block(const struct pgbench *pg, enum relation_id id, uint32_t page)
{
	return pg->relations[id].first + page;
}
uint32_t visibility_page(uint32_t page);
/* Clients have just connected: are the small tables scanned, or their indexes used? */
void small_tables_plan(struct pgbench *pg);

/* ---- heap.c ---- */

void heap_init(struct pgbench *pg);
struct heap_page accounts_page(const struct pgbench *pg, uint32_t page);
void accounts_page_set(struct pgbench *pg, uint32_t page, const struct heap_page *unpacked);
/* The page (within accounts) where the row of `aid` (from 0) is now. */
uint32_t accounts_find(struct pgbench *pg, struct random *random, uint32_t aid,
		       bool *is_redirected);
/* A backend's next page to insert into; *is_new: the relation grows by it. */
uint32_t accounts_target(struct pgbench *pg, struct backend *backend, bool *is_new);
uint32_t small_target(struct pgbench *pg, struct backend *backend, struct small_table *table,
		      bool *is_new);
/* Free what is dead but for the given numbers. */
void page_prune(struct heap_page *page, uint32_t tuple_units, uint32_t keep_roots,
		uint32_t keep_chain);
/* A new version in the page itself (HOT). False: no room. */
bool page_update(struct heap_page *page, uint32_t tuple_units, bool is_redirected);
/* The row goes to another page. */
void page_move(struct heap_page *page, bool is_redirected);
/* A row comes. */
void page_take(struct heap_page *page, uint32_t tuple_units);
uint32_t page_used_bytes(const struct heap_page *page);
/* A version of a small page has died. */
void small_page_dies(struct pgbench *pg, uint64_t xid, uint8_t table, uint32_t page, bool is_root);
/* Free what nobody can see who looks from `horizon` on. False: that is nothing. */
bool small_page_prune(struct pgbench *pg, uint64_t horizon, uint8_t table, uint32_t page);
/* Autovacuum's round: what room there is comes to be known. */
void small_tables_vacuum(struct pgbench *pg);

/* ---- buffers.c ---- */

bool pool_init(struct pgbench *pg, struct error *error);
uint32_t buffer_find(const struct pgbench *pg, uint32_t block);
/*
 * It will be looked for: bring in what that needs, step by step, each some ops after the one before.
 * The last two are for a block that is not in the pool, and so will be read by `process`; NULL: it
 * will be there.
 */
enum block_step { BLOCK_BUCKET, BLOCK_BUFFER, BLOCK_SOON, BLOCK_SOONER };
void block_prefetch(struct pgbench *pg, const struct process *process, uint32_t block,
		    enum block_step step);
/* The machine may prepare for this op of the block's file; by `process`, or NULL: by anybody. */
void block_expect(struct pgbench *pg, const struct process *process, uint32_t block,
		  enum op_kind kind, enum op_nearness nearness);
/* Mark changed by a record that ends at `lsn`. */
void buffer_dirty(struct pgbench *pg, uint32_t block, uint64_t lsn);
/*
 * Is the block here, and pinned once more? False: `bring` has been called, and the same is to be
 * asked again when it is done.
 */
bool block_need(struct pgbench *pg, struct process *process, uint32_t block);
/* Likewise, of one that the relation is to grow by. */
bool block_extend(struct pgbench *pg, struct process *process, uint32_t block);
routine buffer_write; /* frame->buffer, which the caller has pinned */
/* sync_file_range for sorted blocks; neighbours in one. False: none left. */
bool hints_next(struct pgbench *pg, struct process *process, uint32_t *hints, uint32_t *count);

/* ---- wal.c ---- */

/* A block that a record changes. */
struct wal_block {
	uint32_t block;
	uint32_t used_bytes; /* of the page: an image leaves out the hole */
	uint32_t data_bytes; /* of the record, not needed with an image */
	bool is_new;         /* the record makes it: no image */
};

/* Journal a record of `bytes` (data of all blocks included); marks the buffers. Returns its end. */
uint64_t wal_record(struct pgbench *pg, uint32_t bytes, const struct wal_block *blocks,
		    size_t count);
void wal_redo_here(struct pgbench *pg);
void wal_init(struct pgbench *pg);
void wal_deinit(struct pgbench *pg);

/* ---- wal_write.c ---- */

routine wal_flush; /* frame->at: the LSN that must be on disk */
routine wal_make_room;
routine wal_background_flush;

/* ---- segments.c ---- */

void segments_init(struct pgbench *pg);
uint32_t segment_path(const struct pgbench *pg, uint64_t segment);
bool segment_exists(const struct pgbench *pg, uint64_t segment);
/* Make the segment at the end; frame->is_new: and close it again. */
routine segment_create;
/* Rename the first segment to the end, or remove it. */
routine segment_recycle, segment_remove;
/* Close what is open; leaves nothing open. */
routine segment_close;
/* XLOGfileslop(): the last segment that a file may be kept for. */
uint64_t segment_recycle_last(const struct pgbench *pg, uint64_t redo);

/* ---- the processes' own ---- */

routine backend_main, checkpointer_main, writer_main, wal_writer_main;
void backend_init(struct pgbench *pg, struct process *process);
void checkpoint_request(struct pgbench *pg);

bool pgbench_setup(struct pgbench *pg, struct op *op);

#endif
