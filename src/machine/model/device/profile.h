/*
 * profile: the numbers of a device, read from a small file
 *
 * A profile says which kind it is, what it is about, and gives the kind's keys their values. Which
 * keys there are is said by two tables: the one of all profiles (here) and the kind's own; from them
 * come the parser, its messages and docs/devices.md.
 */
#ifndef REFAULT_MACHINE_MODEL_DEVICE_PROFILE_H
#define REFAULT_MACHINE_MODEL_DEVICE_PROFILE_H

#include "base/memory.h"
#include "machine/model/device.h"
#include "source/schema.h"

struct device_kind;

struct device_profile {
	struct arena arena; /* all of it */
	const char *name;   /* of a shipped one; the file's otherwise */
	const char *path;
	const char *kind_name, *summary, *source;
	const struct device_kind *kind;
	uint64_t request_bytes_max;
	void *parameters; /* the kind's struct */
};

/* A row of a kind's table of keys; PARAMETERS is its struct. */
#define PROFILE_KEY(name_, type_, field_, fallback_, low_, high_, meaning_)                        \
	{                                                                                          \
		.name = #name_, .type = SCHEMA_##type_, .offset = offsetof(PARAMETERS, field_),    \
		.fallback = fallback_, .low = low_, .high = high_, .meaning = meaning_             \
	}
#define PROFILE_WORDS(name_, field_, fallback_, words_, meaning_)                                  \
	{                                                                                          \
		.name = #name_, .type = SCHEMA_WORD, .offset = offsetof(PARAMETERS, field_),       \
		.fallback = fallback_, .words = words_, .meaning = meaning_                        \
	}

/* Bounds beyond which there is no device, and no sum overflows. */
#define PROFILE_CHANNELS_MAX  UINT64_C(4096)
#define PROFILE_IOPS_MAX      UINT64_C(1000000000)
#define PROFILE_BANDWIDTH_MAX (UINT64_C(1000) * GIB)
#define PROFILE_BYTES_MAX     (UINT64_C(1024) * 1024 * GIB)

/* The keys that every profile has. */
struct schema_table device_profile_keys(struct device_profile *profile);

/* A profile from text in memory; `name` is for messages. As device_profile_load(). */
struct device_profile *device_profile_read(const char *name, const char *text, size_t bytes,
					   struct error *error);

#endif
