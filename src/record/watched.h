/*
 * watched: what the two halves of the watch (watch.h), in the kernel and out of it, agree on
 *
 * Plain types of fixed width and no functions: this is compiled for BPF as well. Nothing is sent: the
 * kernel half counts, and the user half looks. So nothing can be lost, and the memory is what is set
 * aside at the start.
 */
#ifndef REFAULT_RECORD_WATCHED_H
#define REFAULT_RECORD_WATCHED_H

#include <stdint.h>

#include "measure/top_counts.h"

enum {
	WATCHED_NAMES_BYTES = 512, /* a power of two; names that are longer are cut at the front */
	WATCHED_NAME_BYTES = 256,  /* NAME_MAX, and a NUL */
	WATCHED_DEPTH_MAX = 64,
	WATCHED_BLOCK_PAGES = 64, /* a bit a page */
};

enum watched_scope {
	WATCHED_MACHINE,
	WATCHED_DEVICE, /* files of one file system */
	WATCHED_CGROUP, /* reads by tasks of a memory cgroup or those below; pages charged to them */
};

struct watched_settings {
	uint32_t scope;
	uint32_t device; /* the super block's s_dev, as the kernel encodes it */
	uint64_t cgroup; /* its id */
	uint32_t cgroup_level;
	uint32_t is_cgroup_v2;
	uint32_t page_shift;
	/* numbers of system calls here */
	int32_t call_read, call_readv, call_pread, call_preadv, call_preadv2;
};

/* Two sets of counts (measure/top_counts.h) a CPU. */
enum { WATCHED_ALL, WATCHED_TARGET, WATCHED_SETS };

struct watched_id {
	uint64_t ino;
	uint32_t device;
	uint32_t generation;
};

/* 64 pages of a file. */
struct watched_block {
	struct watched_id id;
	uint64_t number;
};

struct watched_bits {
	uint64_t fresh;    /* came in, and were neither asked for, mapped nor written since */
	uint64_t returned; /* of these: had been evicted */
};

/* A file in which something happened. */
struct watched_file {
	uint64_t accesses, misses, inserted, evicted, dropped, refaults, rewritten;
	int64_t resident; /* pages in memory, of whomever they are */
	uint64_t size;    /* bytes, when it was seen last */
	uint32_t names_bytes;
	uint32_t is_cut; /* there are more names above */
	/* as in record/event.h: the last one first, each ended by a NUL */
	char names[WATCHED_NAMES_BYTES];
};

#endif
