/*
 * plain: the policies of the shelf, written as plainly as can be
 *
 * Lists are arrays, newest first, and everything is found by looking at all of it. Each follows its
 * paper's words, and where those are silent, what the policy's file says that it does.
 */
#ifndef REFAULT_TEST_PLAIN_H
#define REFAULT_TEST_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

enum { PLAIN_LISTS = 4, PLAIN_HISTORY = 8 };

struct plain_page {
	uint64_t key;
	uint64_t count; /* uses, or whatever the policy counts */
	uint64_t rank, last;
	uint64_t history[PLAIN_HISTORY]; /* newest first; 0: none */
	bool used, is_hot, is_in_test, is_resident;
};

struct plain_list {
	struct plain_page *at;
	size_t count;
};

struct plain {
	const struct plain_policy *policy;
	size_t pages;
	struct plain_list lists[PLAIN_LISTS];
	uint64_t now;    /* requests so far */
	uint64_t target; /* what the policy aims at */
	double share;
	uint8_t *counters; /* of a sketch */
	size_t counter_lines;
	uint64_t counted;
	struct random random;
	/* lru-k */
	unsigned k;
	uint64_t correlated, retained;
	uint64_t last_key; /* of the request before */
	uint64_t misses, evictions, resident;
};

struct plain_policy {
	const char *name;
	/* True: it was there. */
	bool (*access)(struct plain *plain, uint64_t key);
	void (*begin)(struct plain *plain); /* may be NULL */
};

/* NULL: there is no such policy here. */
const struct plain_policy *plain_named(const char *name);
const struct plain_policy *plain_at(size_t index); /* NULL after the last */

void plain_init(struct plain *plain, const struct plain_policy *policy, size_t pages,
		uint64_t seed);
void plain_deinit(struct plain *plain);
bool plain_access(struct plain *plain, uint64_t key);

#endif
