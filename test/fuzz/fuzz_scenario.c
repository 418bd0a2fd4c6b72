/*
 * fuzz_scenario: any bytes as a scenario
 *
 * Beyond not crashing: what is refused is refused with a message and, where a place is given, one that is in the text; what is taken plays, the
 * first ops of it, with time that never goes back, and the same again with the same seed. Scenarios with very many files or threads are
 * parsed and not played: making them takes long, rightly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "op/path.h"
#include "source/player.h"
#include "source/scenario.h"

enum { FILES_PLAYED = 2000, WALKS_PLAYED = 500, OPS_PLAYED = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* libfyaml 0.7.12 loses the pieces of a long quoted text that a syntax error follows. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libfyaml.so\n";
}

static uint64_t fold(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x100000001b3);
}

static bool play(const struct scenario *scenario, uint64_t *hash)
{
	struct error error;
	struct op_source *source = scenario_source_create(scenario, scenario->seed, &error);
	uint64_t before_ns = 0, done, total;
	struct op op;
	size_t got;

	*hash = 0;
	if (!source) {
		assert(error.kind == ERROR_INPUT && error.message[0]);
		return false;
	}
	for (int i = 0; i < OPS_PLAYED; i++) {
		assert(op_source_next(source, &op, 1, &got, &error));
		if (got == 0)
			break;
		assert(op.time_ns >= before_ns);
		assert(op.kind < OP_KIND_COUNT);
		assert(op.path < path_count(source->paths));
		assert(op.stream < source->stream_count);
		before_ns = op.time_ns;
		*hash = fold(fold(fold(fold(*hash, op.time_ns), op.path), op.offset),
			     op.bytes + op.kind);
		source->interface->completed(source, &op, op.time_ns + op.bytes / 3 + 500);
	}
	source->interface->progress(source, &done, &total);
	assert(done <= total);
	op_source_destroy(source);
	return true;
}

static uint64_t walks(const struct scenario *scenario)
{
	uint64_t count = 0;

	for (size_t i = 0; i < scenario->job_count; i++)
		count += scenario->jobs[i].threads * (scenario->jobs[i].walk_count + 1);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct scenario scenario;
	struct error error = {0};
	uint64_t first, again;

	if (!scenario_parse(&scenario, "fuzz.yaml", (const char *)data, bytes, NULL, 0, &error)) {
		uint64_t lines = 1;

		assert(error.kind == ERROR_INPUT && error.message[0]);
		for (size_t i = 0; i < bytes; i++)
			lines += data[i] == '\n';
		assert(error.line <= lines);
		return 0;
	}
	if (scenario.path_count <= FILES_PLAYED && walks(&scenario) <= WALKS_PLAYED &&
	    play(&scenario, &first)) {
		assert(play(&scenario, &again));
		assert(first == again);
	}
	scenario_deinit(&scenario);
	return 0;
}
