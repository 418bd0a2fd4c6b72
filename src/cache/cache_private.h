/*
 * cache_private: the core's state, for the core's own files and the policies that scan
 *
 * Pages. A folio has one record, `struct page`, at a slot: links, the index node of its first page,
 * and bits:
 *
 *     31          20 19       10 9     6 5      0
 *     |   flags     |  stream   | order | offset |      offset: the first page's place in its node
 *
 * Slots 0 and 1 are the heads of the inactive and the active list; a policy with lists of its own
 * has up to four there. A queue policy has its own (queue.c); to the sums its pages are inactive. A
 * page's generation and refs, if the policy has those, are in four bits that the node's number
 * leaves: 2^28 nodes would take 100 GiB.
 *
 * Index. 64 consecutive pages of a file share a node, as in the kernel's xarray: 6.8 bytes a page.
 * Per page it holds `low`: RESIDENT | slot, or the low 31 bits of the shadow's age; and `high`: 0
 * while resident or never cached, else what is known of the eviction. A page whose shadow the
 * kernel has since thrown away keeps HIGH_EVICTED and the evictor, for our own counts: the policy
 * cannot see that. Nodes are found by hashing (file, index / 64).
 *
 *     resident_pages(node) + shadow_count(node) > 0 <=> the kernel has this node, and it is charged
 *     resident_pages(node) == 0 < shadow_count(node)  <=>  the node is on the shadow list
 */
#ifndef REFAULT_CACHE_CACHE_PRIVATE_H
#define REFAULT_CACHE_CACHE_PRIVATE_H

#include "base/array.h"
#include "base/memory.h"
#include "base/prefetch.h"
#include "base/size.h"
#include "cache/cache.h"
#include "cache/policy.h"
#include "cache/queue.h"

/* ---- pages ---- */

enum list { LIST_INACTIVE, LIST_ACTIVE, LIST_COUNT };
enum { LISTS_MAX = 4, SLOT_FIRST = LISTS_MAX };

enum {
	PAGE_OFFSET_MASK = 0x3f,
	PAGE_ORDER_SHIFT = 6,
	PAGE_ORDER_MASK = 0xf,
	PAGE_STREAM_SHIFT = 10,
	PAGE_STREAM_MASK = 0x3ff,
	ORDER_MAX = 9, /* 2 MiB */
	PAGE_NODE_MASK = (1 << PAGE_NODE_BITS) - 1,
};

#define PAGE_ACTIVE     (1u << 20)
#define PAGE_REFERENCED (1u << 21)
#define PAGE_WORKINGSET (1u << 22) /* was active once */
#define PAGE_DIRTY      (1u << 23) /* some page of the folio is */
#define PAGE_WRITEBACK  (1u << 24)
/*
 * Clean: the readahead marker; dirty or under writeback: free me when written. The kernel's one
 * bit.
 */
#define PAGE_MARKER     (1u << 25)
#define PAGE_RECLAIM    PAGE_MARKER
#define PAGE_DROPBEHIND (1u << 26) /* RWF_DONTCACHE brought it in: goes after its use */
#define PAGE_YOUNG      (1u << 27) /* used through a mapping since last looked at */
#define PAGE_MAPPED     (1u << 28)
#define PAGE_LOCKED     (1u << 29) /* being read */
#define PAGE_BUFFERS    (1u << 30) /* has buffer heads: charged */
#define PAGE_HELD       (1u << 31) /* a journal holds its buffers: cannot be freed */
/*
 * The same bit, with PAGE_DROPBEHIND, which no journal's block has: some of it gets its block when
 * it is written back. Only while it is dirty or under writeback.
 */
#define PAGE_ALLOCATES PAGE_HELD

static inline uint32_t page_order(const struct page *page)
{
	return (page->bits >> PAGE_ORDER_SHIFT) & PAGE_ORDER_MASK;
}

static inline uint32_t page_count(const struct page *page)
{
	return 1u << page_order(page);
}

static inline uint32_t page_stream(const struct page *page)
{
	return (page->bits >> PAGE_STREAM_SHIFT) & PAGE_STREAM_MASK;
}

/* ---- index ---- */

enum { NODE_SHIFT = 6, NODE_PAGES = 1 << NODE_SHIFT };

#define LOW_RESIDENT      0x80000000u
#define LOW_MASK          0x7fffffffu
#define HIGH_EVICTED      0x8000u /* was cached, and evicted under pressure */
#define HIGH_SHADOW       0x4000u /* and the kernel still knows its age */
#define HIGH_WORKINGSET   0x2000u
#define HIGH_GHOST        0x1000u /* and a queue policy has a record of it: low */
#define HIGH_EVICTOR_MASK 0x03ffu

struct node {
	uint32_t low[NODE_PAGES];
	uint16_t high[NODE_PAGES];
	/* bit per page: has a block on the device, where file->backed_pages does not say so */
	uint64_t stored;
	uint32_t shadow_prev, shadow_next; /* the shadow list */
};
static_assert(sizeof(struct node) == 400, "6.25 bytes a page");

enum node_charge { NODE_NOT_LIVE, NODE_LIVE_FREE /* a one-page file's */, NODE_LIVE_CHARGED };
enum {
	NODE_ON_DIRTY_CHAIN = 1,
	NODE_ON_SHADOW_LIST = 2,
	NODE_HAS_TABLE = 4, /* mapped */
	NODE_FILTER = 8     /* and the next bit: policy/mglru.c */
};

/*
 * What a miss or a write needs of a node beside its page's own entry. Apart from the nodes, which do
 * not fit into the processor's caches where the heads do: finding a node, counting its pages and
 * walking along the dirty ones wait for no memory. They move when a node is made: hold no pointer to
 * one across index_insert().
 */
struct node_head {
	uint32_t file;
	uint32_t chunk;     /* index / NODE_PAGES; 2^38 pages, a pebibyte */
	uint32_t next_node; /* of the same file */
	uint8_t resident_pages;
	uint8_t shadow_count;
	uint8_t charged;     /* enum node_charge */
	uint8_t lists;       /* NODE_ON_... */
	uint64_t dirty;      /* bit per page */
	uint32_t dirty_next; /* the file's dirty chain */
};
static_assert(sizeof(struct node_head) == 32, "half a byte a page");

/* Bits first .. end - 1 of a node's pages; first < end <= NODE_PAGES. */
static inline uint64_t bits_between(uint64_t first, uint64_t end)
{
	return UINT64_MAX << first & UINT64_MAX >> (NODE_PAGES - end);
}

enum { NODES_PER_BLOCK = 1 << 16, DIRECTORY_CHUNKS_MAX = 1 << 20 /* 256 GiB */ };

struct index {
	struct node **blocks;    /* of NODES_PER_BLOCK */
	struct node_head *heads; /* by node */
	uint32_t node_count;     /* handed out, node 0 is none */
	uint32_t node_capacity;
	uint32_t free_node; /* chained by heads[].next_node */
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t used_count;
};

static inline struct node *index_node(const struct index *index, uint32_t node)
{
	return &index->blocks[node / NODES_PER_BLOCK][node % NODES_PER_BLOCK];
}

/* The node of this chunk, or 0. */
uint32_t index_find(const struct index *index, uint32_t file, uint32_t chunk);
uint32_t index_insert(struct index *index, uint32_t file, uint32_t chunk);
void index_remove(struct index *index, uint32_t node); /* the caller unchains it from its file */
void index_init(struct index *index);
void index_deinit(struct index *index);

/* ---- files, names, open files ---- */

enum file_state {
	FILE_SPARSE = CACHE_FILE_SPARSE,
	FILE_DIRECTORY = CACHE_FILE_DIRECTORY,
	FILE_METADATA = CACHE_FILE_METADATA,
	FILE_CACHED = 16, /* the inode is in memory */
	FILE_ON_LRU = 32,
	FILE_REFERENCED = 64,
	FILE_UNLINKED = 128, /* no name left; dies with its last reference */
	FILE_EVICTED = 256,  /* the inode was evicted under pressure once */
	FILE_LINGERS = 512,  /* evicted from the VFS, still the file system's (XFS) */
	FILE_FOR_IO = 1024,  /* dirty, and the flusher's to write */
	FILE_MORE_IO = 2048, /* likewise, in a later turn */
	FILE_DIRTY = 4096,   /* on a dirty list */
	FILE_DEAD = 8192,
	FILE_LOGGED = 16384, /* in the file system's log: its inode cannot be freed yet (XFS) */
	FILE_MAPPED = 32768, /* in the cache's list of those */
};

struct cache_file {
	uint64_t size_bytes;
	uint64_t backed_pages; /* pages 0 .. backed_pages - 1 have blocks on the device */
	uint64_t dirtied_ns;   /* when it first became dirty */
	/*
	 * node of chunk i, for i < directory_chunks: saves the hashing; NULL for a file of one node
	 */
	uint32_t *directory;
	uint32_t directory_chunks;
	/* nodes of chunks 0 .. run_chunks - 1 if they follow each other, as in a file read from its
	 * beginning: not even the directory need be looked at */
	uint32_t run_node, run_chunks;
	uint32_t node_last;   /* found last: most look-ups are near the one before */
	uint32_t node_first;  /* all nodes, chained by next_node */
	uint32_t dirty_chain; /* nodes with dirty pages, chained by dirty_next */
	uint32_t resident_pages;
	uint32_t node_live;  /* nodes that the kernel has */
	uint32_t references; /* dentries in memory, and open files */
	uint32_t maps;       /* open files that it was mapped by */
	uint32_t map_tables; /* page tables of these, pages */
	uint32_t links;      /* names that mean it */
	uint32_t lru_prev, lru_next;
	uint32_t dirty_prev, dirty_next;
	uint16_t state;
	uint16_t stream; /* who allocated the inode last */
};

enum name_state {
	NAME_CACHED = 1,
	NAME_ON_LRU = 2,
	NAME_REFERENCED = 4,
};

struct cache_name {
	uint32_t parent;
	uint32_t file;       /* 0: negative */
	uint32_t references; /* held open, and cached children */
	uint32_t lru_prev, lru_next;
	uint16_t stream;
	uint8_t state;
	uint8_t name_bytes; /* 255: or more */
};

struct open_file {
	uint64_t start;    /* the current readahead window, pages */
	uint64_t last_pos; /* where the last read stopped, bytes; UINT64_MAX before the first */
	uint64_t prev_pos; /* the same, as readahead sees it */
	uint64_t map_first,
		map_end; /* used through its mapping, pages, from .. to; 0, 0: nothing */
	uint32_t file;
	uint32_t size, async_size; /* pages */
	uint32_t window;           /* pages: 0, the device's, or twice that */
	uint16_t mmap_miss;
	uint8_t order;
	bool is_random, is_noreuse, map_is_random;
	uint32_t next_free;
};

/* Dentries or inodes in a row, linked by lru_prev and lru_next; 0 ends it. */
struct object_list {
	uint32_t first, last;
	uint64_t count;
};

/* fs/fs-writeback.c: struct bdi_writeback's b_io and b_more_io, and what is being done. */
struct flusher {
	struct object_list for_io, more_io;
	enum { FLUSHER_RESTS, FLUSHER_PERIODIC, FLUSHER_BACKGROUND } work;
	bool is_busy;         /* the caller has not asked the device for the last turn's yet */
	uint32_t file;        /* whose turn it is; 0: nobody's */
	uint64_t left;        /* pages of that turn */
	uint64_t chunk_pages; /* of a turn; UINT64_MAX: all of a file's */
	uint64_t pages_left;  /* of periodic write-back */
};

/* ---- rules: the switches, decoded once ---- */

enum activate_on_write { ACTIVATE_ALWAYS, ACTIVATE_PARTIAL, ACTIVATE_NEVER };
enum demote_on_refault { DEMOTE_NO, DEMOTE_GROUP, DEMOTE_ROOT };
enum read_mark { READ_MARK_OFFSET, READ_MARK_PAGE, READ_MARK_FOLIO };
enum mglru_reads { MGLRU_READS_OLDEST, MGLRU_READS_SECOND_OLDEST, MGLRU_READS_FOURTH_YOUNGEST };

struct rules {
	enum activate_on_write activate_on_write;
	enum demote_on_refault demote_on_refault;
	enum read_mark read_mark;
	bool refault_on_write, ratio_is_sqrt, demote_per_priority, dirty_to_active, lazy_statistics,
		age_stored_first;
	bool read_position_late, folios_on_read, folios_on_write, order_by_counter, readahead_split,
		readahead_io_cap, read_reclaim_fs;
	bool noreuse_mapped, referenced_on_first_use, slab_by_priority, slab_debt_scaled,
		inode_steals_pages, slab_counts;
	bool open_file_late, background_waits, blocks_ahead_give_up, writeback_throttled,
		writeback_holds, elevator_cfq;
	bool has_dontcache, direct_writes_buffered;
	uint32_t open_file_bytes, transaction_blocks, journal_blocks, statistics_ops;
	uint32_t charge_batch, read_batch, vfs_cache_pressure, dirty_background_percent,
		dirty_limit_percent;
	bool dirty_whole_folios;
	uint64_t dirty_background_pages, dirty_limit_pages; /* 0: the percentages */
	uint32_t shadow_shift;                              /* nodes kept: pages >> shift */
	bool shadow_of_all; /* pages: all LRU and slab, or files only */

	/* of generations: policy/mglru.c */
	enum mglru_reads mglru_reads;
	bool mglru_faults_second, mglru_counts_first, mglru_recent_is_wide, mglru_protects_at_head,
		mglru_gain_is_smaller, mglru_ages_by_count, mglru_aging_ends_turn,
		mglru_mapped_twice, mglru_scans_as_asked, mglru_wakes_flusher,
		mglru_counts_all_refaults;
	uint64_t min_ttl_ns;
};

/* ---- the domain: whose memory it is ---- */

struct lists_summed {
	uint64_t inactive_pages, active_pages, activations;
};

struct domain {
	bool is_cgroup;
	uint64_t limit_pages; /* without pinned memory */
	uint64_t usage_pages; /* charged: file pages, kernel pages, stock, held_pages */
	uint64_t held_pages;  /* by processes, of their own: cache_pin() */
	uint64_t stock_pages; /* charged ahead (the CPU's stock) */
	uint64_t slab_bytes;  /* in use */
	uint64_t
		slab_pages; /* charged for it: slab_bytes + object_stock_bytes + object_left_bytes */
	uint64_t object_stock_bytes;
	uint64_t object_left_bytes; /* less than a page: out of the stock until the next refill */
	uint64_t arc_pages;         /* of a whole machine: ZFS's own cache (arc.h) */
	uint64_t list_pages[LIST_COUNT];
	uint64_t age;                  /* nonresident age: evictions and activations, pages */
	uint64_t activations;          /* by refault */
	uint64_t activations_seen;     /* at the end of the last reclaim */
	struct lists_summed published; /* what reclaim believes, when statistics are lazy */
	uint64_t published_ns;
	bool publishing_is_told; /* by cache_publish_told(): no timer does it */
	uint64_t dirty_pages;
	uint64_t pages_min, pages_low, pages_high; /* watermarks, free pages; whole machine only */
	uint64_t debt_super, debt_shadow, debt_buffers, debt_arc; /* deferred slab work, objects */
	/* first node that holds nothing but shadows, in order of becoming so */
	uint32_t shadow_list;
	uint32_t shadow_last;
	uint32_t shadow_nodes;
	bool is_full;      /* a charge failed for good */
	bool flush_wanted; /* reclaim met only dirty pages */
};

enum { PRIORITY_FIRST = 12 };

/* One reclaim call's state, and what one priority of it scanned. */
struct scan {
	struct domain *domain;
	uint64_t target_pages;
	uint64_t reclaimed_pages; /* so far */
	uint64_t scanned_pages;   /* at this priority */
	uint64_t eligible_pages;  /* on the lists before this priority, for slab_target=scanned */
	uint32_t priority;        /* 12 .. 0 */
	bool is_background;
	bool fs_allowed;
	bool demote;
	bool demote_forced;
	bool demote_skipped;
};

/* ---- buffers: buffer.c ---- */

struct buffer {
	uint64_t key;
	uint32_t bytes;
	uint32_t prev, next; /* oldest first */
	uint32_t rounds;     /* trips round the list still to go */
};

struct buffers {
	ARRAY(struct buffer) all;
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t first, last, free_id;
	uint64_t count;
};

struct cache;
void buffers_init(struct buffers *buffers);
void buffers_deinit(struct buffers *buffers);
uint64_t buffers_scan(struct cache *cache, uint64_t count);

struct cache {
	const struct policy *policy;
	struct cache_filesystem filesystem;
	struct rules rules;
	struct page_queue queue;         /* .pages is the page array */
	struct generations *generations; /* policy/mglru.c's */
	uint32_t policy_options[POLICY_OPTIONS_MAX];
	/* By list: how far the oldest pages have been asked for ahead of the next scan. A hint. */
	uint32_t scouts[LIST_COUNT];
	uint32_t page_capacity, page_count, free_slot;
	struct index index;
	struct domain domain;
	ARRAY(struct cache_file) files;
	ARRAY(struct cache_name) names;
	ARRAY(struct open_file) opens;
	uint32_t free_open;
	struct object_list dentry_lru; /* names; scanned from the first, used ones go last */
	struct object_list inode_lru;  /* files */
	struct object_list lingering;  /* files: gone from the VFS, still charged */
	struct buffers buffers;
	struct arc *arc;                /* the file system's; NULL: it has none */
	struct object_list dirty_files; /* oldest first; but for those that the flusher has */
	struct flusher flusher;
	uint32_t readahead_pages, device_io_pages;
	bool completes_at_once, is_bare;
	bool charge_always; /* the present call's charges never fail */
	/* may reclaim caused by the present call enter the file system? Set by cache_enter() */
	bool fs_allowed;
	uint32_t stream, stream_count;
	struct counters *counted; /* streams[stream] */
	uint64_t now_ns, flush_check_ns;
	uint64_t op_count;
	uint32_t unpublished_ops; /* since the statistics were read */
	bool drops_behind;        /* pages that the present call brings in go after their use */
	bool in_fault; /* what comes in now is brought by a fault, on a mapping with recency */
	/* Locked here, but in the kernel only held by whoever reads them. */
	const uint32_t *held;
	uint32_t held_count;
	ARRAY(uint32_t) mapped; /* files that are, or were */
	bool in_shrinker;
	/* of objects freed by a shrinker, not back yet: lately, and before */
	uint64_t late_bytes[2];
	uint64_t late_op;      /* when the first became the second */
	uint64_t late_objects; /* freed since */
	/* for what is written during reclaim; NULL: the caller completes writes itself */
	struct cache_plan *flush_plan;
	uint64_t flushed_bytes; /* by that, not yet in a caller's plan */
	bool writes_take_time;
	ARRAY(struct cache_run) flushed; /* for cache_flushed() */
	bool logs_returns;
	ARRAY(struct cache_return) returns;   /* for cache_returns() */
	ARRAY(struct cache_eviction) evicted; /* for cache_evictions() */
	size_t flushed_taken;
	uint64_t pinned_bytes;
	uint32_t closed_files;  /* whose memory is not back yet */
	uint64_t logged_inodes; /* held by the file system's log */
	uint64_t super_scans;   /* times the super block's shrinker looked */
	uint32_t *window;       /* READAHEAD_PAGES_MAX slots: the readahead window being built */
	uint32_t window_count;
	uint64_t windows;         /* that have been submitted */
	uint64_t missed_from;     /* pages before this one are read around a miss, not asked for */
	struct counters *streams; /* by stream */
	uint64_t *blame;          /* victim * (STREAMS) + evictor */
};

enum { CACHE_STREAMS = 1024 };

static inline struct counters *cache_counted(struct cache *cache)
{
	return cache->counted;
}

/* ---- page.c: insertion, look-up, removal ---- */

enum { READAHEAD_PAGES_MAX = 8192 }; /* the widest window, doubled by FADV_SEQUENTIAL */

/* A page that `low` and `high` remember is read again: for cache_returns(). */
void page_log_return(struct cache *cache, uint32_t file, uint64_t page_index, uint32_t low,
		     uint16_t high);

enum insert_reason { INSERT_READ, INSERT_READAHEAD, INSERT_AT_ONCE, INSERT_WRITE };

static inline uint32_t cache_node_find(struct cache *cache, uint32_t file, uint64_t page_index)
{
	struct cache_file *at = &cache->files.at[file];
	uint32_t chunk = (uint32_t)(page_index >> NODE_SHIFT), node = at->node_last;

	if (chunk < at->run_chunks)
		return at->run_node + chunk;
	if (chunk < at->directory_chunks)
		return at->directory[chunk];
	if (node && cache->index.heads[node].chunk == chunk)
		return node;
	node = index_find(&cache->index, file, chunk);
	if (node)
		at->node_last = node;
	return node;
}

/* The slot of the folio that holds this page, or 0. */
static inline uint32_t cache_lookup(struct cache *cache, uint32_t file, uint64_t page_index)
{
	uint32_t node = cache_node_find(cache, file, page_index), low;

	if (!node)
		return 0;
	low = index_node(&cache->index, node)->low[page_index % NODE_PAGES];
	return low & LOW_RESIDENT ? low & LOW_MASK : 0;
}

static inline uint64_t page_index_of(const struct cache *cache, const struct page *page)
{
	return ((uint64_t)cache->index.heads[page->node].chunk << NODE_SHIFT) |
	       (page->bits & PAGE_OFFSET_MASK);
}

static inline uint32_t page_file(const struct cache *cache, const struct page *page)
{
	return cache->index.heads[page->node].file;
}

/* One past the last page of the folio at this slot, which has this page. */
static inline uint64_t folio_end(const struct cache *cache, uint32_t slot, uint64_t page_index)
{
	return (page_index | (page_count(&cache->queue.pages[slot]) - 1)) + 1;
}

/* The node of the folio's pages from `done` on, a multiple of NODE_PAGES. */
static inline uint32_t folio_node(struct cache *cache, const struct page *page, uint32_t done)
{
	if (done == 0)
		return page->node;
	return cache_node_find(cache, page_file(cache, page), page_index_of(cache, page) + done);
}

/* What an eviction will write in the index. The page may be a free slot's, or a list's head. */
static inline void page_prefetch_index(const struct cache *cache, const struct page *page)
{
	const struct node *node = index_node(&cache->index, page->node);

	prefetch_write(&node->low[page->bits & PAGE_OFFSET_MASK]);
	prefetch_write(&node->high[page->bits & PAGE_OFFSET_MASK]);
	prefetch_write(&cache->index.heads[page->node]);
}

/*
 * Put 2^order pages at `page_index` (aligned; none of them resident) into the cache, charging for
 * them first. Returns the slot. `missed_until`: pages below this index are being asked for now and
 * count as misses, the others as readahead. INSERT_READAHEAD returns 0 when there is no room after
 * one reclaim, INSERT_AT_ONCE when there is none.
 */
uint32_t page_insert(struct cache *cache, uint32_t file, uint64_t page_index, uint32_t order,
		     enum insert_reason reason, uint64_t missed_until);
/* Out of the cache under pressure, leaving shadows. The folio is clean. */
void page_evict(struct cache *cache, uint32_t slot);
/* Out of the cache, leaving nothing; dirty or not. */
void page_remove(struct cache *cache, uint32_t slot);
/* A use: by the policy. */
static inline void page_mark(struct cache *cache, uint32_t slot)
{
	uint32_t *bits = &cache->queue.pages[slot].bits;

	if (cache->policy->mark)
		cache->policy->mark(cache, slot);
	else if (*bits & PAGE_REFERENCED || cache->policy->sees_first_use)
		cache->policy->use(&cache->queue, slot);
	else
		*bits |= PAGE_REFERENCED; /* what it came in for */
}
/* Has this page a block on the device? */
bool page_is_stored(struct cache *cache, uint32_t file, uint64_t page_index);
/* The open file's mapping ends. */
void cache_unmap(struct cache *cache, uint32_t handle);
void page_slot_free(struct cache *cache, uint32_t slot);
/* Moves between a kernel's lists keep the sums; a queue policy's are its own business. */
void page_list_move(struct cache *cache, uint32_t slot, enum list to, bool to_oldest);
/* Pages first .. end - 1, all of one folio, are dirty. */
void folio_set_dirty(struct cache *cache, uint32_t slot, uint64_t first, uint64_t end);
void page_add_buffers(struct cache *cache, uint32_t slot);
/* The index node of this page, made if there is none; nobody pays for it before it holds something. */
uint32_t page_node_make(struct cache *cache, uint32_t file, uint64_t page_index);
/* This page has a block on the device from now on. */
void page_set_stored(struct cache *cache, uint32_t file, uint64_t page_index);
/* Somebody wants it for longer than RWF_DONTCACHE did. */
static inline void page_keep(struct cache *cache, uint32_t slot)
{
	if (cache->queue.pages[slot].bits & PAGE_DROPBEHIND)
		cache->queue.pages[slot].bits &= ~(PAGE_DROPBEHIND | PAGE_ALLOCATES);
}
/* The use of a folio that was to be dropped behind it is over. */
static inline void page_end_dropbehind(struct cache *cache, uint32_t slot)
{
	if (!(cache->queue.pages[slot].bits & (PAGE_DIRTY | PAGE_WRITEBACK | PAGE_LOCKED)))
		page_remove(cache, slot);
}

/* ---- plan ---- */

void plan_fetch(struct cache *cache, struct cache_plan *plan, uint32_t file, uint64_t page_index,
		uint32_t pages);
static inline bool plan_has_room(const struct cache_plan *plan)
{
	/*
	 * The widest window has READAHEAD_PAGES_MAX pages, so at most half as many runs; a node has
	 * 32 dirty ones.
	 */
	return plan->fetch_count + READAHEAD_PAGES_MAX / 2 + 8 <= CACHE_PLAN_RUNS &&
	       plan->write_count + NODE_PAGES <= CACHE_PLAN_RUNS;
}

/* ---- domain.c: the budget ---- */

void domain_init(struct cache *cache, const struct cache_config *config);
/*
 * How hard a charge tries: not at all (GFP_NOWAIT), readahead gives up after one reclaim
 * (__GFP_NORETRY), a journal's never fails (__GFP_NOFAIL).
 */
enum charge_effort { CHARGE_AT_ONCE, CHARGE_ONCE, CHARGE_RETRY, CHARGE_ALWAYS };

/* May reclaim. False (CHARGE_AT_ONCE, CHARGE_ONCE): there is no room. */
bool domain_charge(struct cache *cache, uint64_t pages, enum charge_effort effort);
void domain_uncharge(struct cache *cache, uint64_t pages);
/* What shrinkers freed comes back by RCU: call for each operation; `all`: now. */
void slab_settle(struct cache *cache, bool all);
void slab_charge(struct cache *cache, int64_t bytes);
/* What reclaim and the refault test believe the sizes to be. */
const struct lists_summed *domain_sizes(struct cache *cache, struct lists_summed *exact);

/*
 * What kind of allocation is under way, and so whether reclaim that it causes may shrink dentries
 * and inodes. Sources: linux-caching.md 6.5; mm/readahead.c memalloc_nofs_save() (5.8); fs/dcache.c
 * GFP_KERNEL; ext4 and XFS allocate inodes inside a transaction, btrfs before it.
 */
enum allocation {
	ALLOCATION_READ,
	ALLOCATION_READ_ALONE, /* the one page, when readahead has failed */
	ALLOCATION_WRITE,
	ALLOCATION_DENTRY,
	ALLOCATION_INODE_READ,
	ALLOCATION_INODE_MAKE,
	ALLOCATION_JOURNAL,
	ALLOCATION_ANONYMOUS /* alloc_anon_folio(): GFP_HIGHUSER_MOVABLE */
};

static inline void cache_enter(struct cache *cache, enum allocation allocation)
{
	const struct cache_filesystem *fs = &cache->filesystem;

	cache->charge_always = allocation == ALLOCATION_JOURNAL;
	switch (allocation) {
	case ALLOCATION_READ:
		cache->fs_allowed = cache->rules.read_reclaim_fs && !fs->reads_without_fs;
		break;
	case ALLOCATION_READ_ALONE:
		/* filemap_create_folio(), filemap_fault(): outside readahead's NOFS. */
		cache->fs_allowed = !fs->reads_without_fs;
		break;
	case ALLOCATION_WRITE:
		cache->fs_allowed = !fs->writes_without_fs;
		break;
	case ALLOCATION_DENTRY:
	case ALLOCATION_ANONYMOUS:
		cache->fs_allowed = true;
		break;
	case ALLOCATION_INODE_READ:
		cache->fs_allowed = fs->inode_read_fs;
		break;
	case ALLOCATION_INODE_MAKE:
		cache->fs_allowed = fs->inode_make_fs;
		break;
	case ALLOCATION_JOURNAL:
		cache->fs_allowed = false;
		break;
	}
}

/* ---- reclaim.c, slab.c ---- */

/* Free `target` pages if it can; returns how many it did. */
uint64_t reclaim(struct cache *cache, uint64_t target_pages, bool is_background);

/*
 * Dentries and inodes alone, as if the file system may be entered, until a charge of `pages` fits.
 */
void reclaim_slab(struct cache *cache, uint64_t pages);
void slab_shrink(struct cache *cache, struct scan *scan);
/* All shrinkers once, as hard as they can. How many objects went. */
uint64_t slab_drop(struct cache *cache);
void inode_pages_gone(struct cache *cache, uint32_t file); /* its last page or shadow node left */
void file_reference_put(struct cache *cache, uint32_t file);
void inode_maybe_dies(struct cache *cache, uint32_t file);
/* Bring the inode in: ALLOCATION_INODE_READ or ALLOCATION_INODE_MAKE. */
void inode_allocate(struct cache *cache, uint32_t id, enum allocation allocation);
/* What a shrinker freed: charged until the grace period is over. */
void object_free(struct cache *cache, uint32_t bytes);
/* Look at this many dentries, inodes, inodes that linger; how many were freed. */
uint64_t dentries_prune(struct cache *cache, uint64_t count);
uint64_t inodes_prune(struct cache *cache, struct scan *scan, uint64_t count);
void lingering_free(struct cache *cache, uint64_t count);
void shadow_list_add(struct cache *cache, uint32_t node);
void shadow_list_remove(struct cache *cache, uint32_t node);
/*
 * So many resident pages and shadows more, or fewer; charge and shadow list follow. Never reclaims: whoever
 * makes a node live has charged for it.
 */
void node_count(struct cache *cache, uint32_t node, int resident_pages, int shadows);

/* ---- arc_balance.c ---- */

/* What the ARC would give, and what it gives when asked for so much; pages. */
uint64_t arc_shrinker_count(const struct cache *cache);
uint64_t arc_shrinker_scan(struct cache *cache, uint64_t pages);

/* ---- readahead.c ---- */

void readahead_sync(struct cache *cache, struct open_file *open, uint64_t page_index,
		    uint64_t pages, struct cache_plan *plan);
void readahead_async(struct cache *cache, struct open_file *open, uint32_t slot,
		     uint64_t page_index, uint64_t pages, struct cache_plan *plan);
/* Read exactly these pages where missing, order 0. */
void readahead_exact(struct cache *cache, uint32_t file, uint64_t page_index, uint64_t pages,
		     uint64_t missed_until, struct cache_plan *plan);
/* Read this one missing page, trying hard for the room (filemap_create_folio()). */
void readahead_none(struct cache *cache, uint32_t file, uint64_t page_index,
		    struct cache_plan *plan);
void readahead_around(struct cache *cache, struct open_file *open, uint64_t page_index,
		      struct cache_plan *plan);

/* ---- writeback.c ---- */

/*
 * Plan the writing of a file's dirty pages first .. last - 1; false: no room in the plan, go round
 * again. `start_only`: they stay under writeback until writeback_settle(), even if the plan
 * completes at once.
 */
bool writeback_file(struct cache *cache, uint32_t file, uint64_t first, uint64_t last,
		    struct cache_plan *plan, bool start_only);
void writeback_settle(struct cache *cache, const struct cache_plan *plan, uint32_t first_run);
void writeback_file_dirtied(struct cache *cache, uint32_t file);
void writeback_file_cleaned(struct cache *cache, uint32_t file); /* off the dirty list */
/*
 * The flusher: what reclaim asked for, what is over the background limit, what is 30 s old. False:
 * nothing is.
 */
bool writeback_balance(struct cache *cache, struct cache_plan *plan);
void writeback_flush(struct cache *cache);

#endif
