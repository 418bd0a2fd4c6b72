/*
 * policy options: which rules the cache follows, by name
 *
 * A policy is named ("linux-6.18", "lru") and its switches can be set one by one:
 * "linux-4.5,activate_on_write=never". The list of switches is switches.def; a policy that stands
 * for a kernel is a row of values for all of them (policy/linux_presets.c).
 */
#ifndef REFAULT_CACHE_POLICY_OPTIONS_H
#define REFAULT_CACHE_POLICY_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct policy; /* cache/policy.h */

enum switch_id {
#define SWITCH(name, scope, type, values, meaning) SWITCH_##name,
#include "cache/switches.def"
#undef SWITCH
	SWITCH_COUNT,
};

/*
 * Every switch as a number: the index of the word for those that take words, the number itself for
 * the others.
 */
struct switches {
	uint32_t value[SWITCH_COUNT];
};

/* What a policy that is no kernel lets one set: "lru-k,k=3". All are numbers. */
struct policy_option {
	const char *name; /* NULL: none any more */
	uint32_t low, high, preset;
	const char *meaning;
};

enum { POLICY_OPTIONS_MAX = 4 };

struct policy_options {
	const struct policy *policy;
	struct switches switches;
	uint32_t own[POLICY_OPTIONS_MAX]; /* in the order of policy_own_options() */
};

/*
 * Parse NAME[,KEY=VALUE]... . Fails (ERROR_INPUT) with what was found and what was expected
 * (nearest name, the values a key takes). Without a NAME (text begins with KEY= or is "") the
 * default policy is meant.
 */
bool policy_options_parse(struct policy_options *options, const char *text, struct error *error);

/* All as the policy has it when nothing is said. */
void policy_options_preset(struct policy_options *options, const struct policy *policy);

/* Set one "KEY=VALUE" on top. */
bool policy_options_set(struct policy_options *options, const char *key_and_value,
			struct error *error);

/*
 * "linux-6.18" or "linux-4.5,activate_on_write=never": the name and what differs from its preset.
 * Returns `text`, always ended by NUL.
 */
const char *policy_options_format(char *text, size_t bytes, const struct policy_options *options);

/* For listing. NULL after the last. */
const struct policy *policy_at(size_t index);
/* The same, but only those that any page cache can follow: not those of ZFS, nor of --bare alone. */
const struct policy *policy_of_pages_at(size_t index);
const char *policy_name(const struct policy *policy);
const char *policy_summary(const struct policy *policy);
bool policy_has_switches(const struct policy *policy); /* a kernel: the switches mean something */
bool policy_has_generations(const struct policy *policy); /* MGLRU */
struct switches policy_preset(const struct policy *policy);
/* Ended by one without a name; or NULL, as kernels have. */
const struct policy_option *policy_own_options(const struct policy *policy);

const char *switch_name(enum switch_id id);
const char *switch_meaning(enum switch_id id);
const char *switch_values(enum switch_id id); /* "always|partial|never", or "N (0 .. 10000)" */
/* Returns `text`. */
const char *switch_format(char *text, size_t bytes, enum switch_id id, uint32_t value);

#endif
