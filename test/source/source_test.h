/*
 * What the tests of scenarios share.
 */
#ifndef TEST_SOURCE_TEST_H
#define TEST_SOURCE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "op/op.h"
#include "op/path.h"
#include "op/source.h"
#include "source/player.h"
#include "source/scenario.h"

/* A scenario that is right. */
static inline void scenario_right(struct scenario *scenario, const char *text)
{
	struct error error;

	if (!scenario_parse(scenario, "test.yaml", text, strlen(text), NULL, 0, &error))
		fail_msg("%s:%llu:%llu: %s", error.file, (unsigned long long)error.line,
			 (unsigned long long)error.column, error.message);
}

/* How long a stub machine takes for an op. */
typedef uint64_t stub_cost(const struct op *op);

static inline uint64_t stub_constant(const struct op *op)
{
	return op->kind == OP_MARK ? 0 : 1000;
}

/*
 * The ops of a scenario on a stub machine, one a line, in memory of its own: "TIME THREAD OP PATH OFFSET BYTES". At most `most`.
 */
static inline char *scenario_play(const struct scenario *scenario, uint64_t seed, stub_cost *cost,
				  size_t most, struct op_source **kept)
{
	struct error error;
	struct op_source *source = scenario_source_create(scenario, seed, &error);
	char *text = NULL;
	size_t bytes = 0, got = 0;
	FILE *out = open_memstream(&text, &bytes);
	struct op op;

	if (!source)
		fail_msg("%s", error.message);
	while (most-- > 0 && op_source_next(source, &op, 1, &got, &error) && got == 1) {
		fprintf(out, "%llu %u %s %s %llu %llu\n", (unsigned long long)op.time_ns, op.thread,
			op_kind_name((enum op_kind)op.kind), path_text(source->paths, op.path),
			(unsigned long long)op.offset, (unsigned long long)op.bytes);
		if (cost)
			source->interface->completed(source, &op, op.time_ns + cost(&op));
	}
	fclose(out);
	if (kept)
		*kept = source;
	else
		op_source_destroy(source);
	return text;
}

#endif
