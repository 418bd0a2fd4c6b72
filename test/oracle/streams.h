/*
 * streams: keys of every shape, from a seed
 */
#ifndef REFAULT_TEST_STREAMS_H
#define REFAULT_TEST_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

enum { STREAMS = 13 };

struct stream {
	const char *name;
	uint64_t (*key)(struct random *random, uint64_t i);
};

extern const struct stream streams[STREAMS];

void stream_fill(uint64_t *keys, size_t count, const struct stream *stream, uint64_t seed);

#endif
