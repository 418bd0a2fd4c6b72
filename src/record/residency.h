/*
 * residency: which pages of a file are in memory, without touching them
 *
 * By cachestat(2), Linux 6.5 or later; before that by mincore(2), which knows no more than how many.
 */
#ifndef REFAULT_RECORD_RESIDENCY_H
#define REFAULT_RECORD_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

struct residency {
	uint64_t pages; /* of the kernel's size */
	bool is_whole;  /* the rest is known as well */
	uint64_t dirty_pages, writeback_pages;
	uint64_t evicted_pages;          /* that left a shadow */
	uint64_t recently_evicted_pages; /* of these: would be activated if they came back now */
};

/*
 * Of the regular file at `path`, if its inode has this number (0: any). False: it is not there, is
 * another one, or cannot be looked at.
 */
bool residency_look(struct residency *residency, const char *path, uint64_t ino);

#endif
