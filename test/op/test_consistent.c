/*
 * If this fails, a trace of a running system is refused by the machines: something in it cannot be.
 *
 * Ops at random, on few names so that they meet; those that are let through must all be taken by the model. And not too
 * few are let through: some of each kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "machine/model/model.h"
#include "op/consistent.h"
#include "op/path.h"
#include "op/source.h"

static const char *const names[] = {"/a",     "/b", "/d",   "/d/a", "/d/b",  "/d/e",
				    "/d/e/f", "/e", "/e/a", "/",    "/d/e/g"};
enum { NAMES = sizeof(names) / sizeof(names[0]), OPS = 20000, EXISTING = 40 };

struct generator {
	struct op_source source;
	struct random random;
	struct consistent *consistent;
	uint64_t made, taken, taken_of[OP_KIND_COUNT];
};

static struct op op_random(struct generator *generator)
{
	struct random *random = &generator->random;
	struct op op = {.time_ns = generator->made * 1000,
			.thread = 1 + (uint32_t)random_below(random, 3)};

	if (generator->made < EXISTING)
		op.kind = OP_EXISTS;
	else
		do
			op.kind = (uint8_t)random_below(random, OP_KIND_COUNT);
		while (op.kind == OP_COMPUTE || op.kind == OP_MARK);
	op.path = (uint32_t)random_below(random, NAMES);
	if (op_kind_has_two_paths(op.kind))
		op.path_to = (uint32_t)random_below(random, NAMES);
	if (op_kind_takes(op.kind) == OP_TAKES_RANGE)
		op.offset = random_below(random, 16) * 512;
	if (op_kind_takes(op.kind) == OP_TAKES_RANGE || op_kind_takes(op.kind) == OP_TAKES_SIZE)
		op.bytes = random_below(random, 8) * 512;
	if (op.kind == OP_DROP_CACHES)
		op.bytes = 1 + random_below(random, 3);
	return op;
}

static bool next(struct op_source *source, struct op *ops, size_t count, size_t *got,
		 struct error *error)
{
	struct generator *generator = (struct generator *)source;

	(void)error;
	*got = 0;
	while (*got < count && generator->made < OPS) {
		struct op op = op_random(generator);

		generator->made++;
		if (!consistent_take(generator->consistent, &op))
			continue;
		ops[(*got)++] = op;
		generator->taken++;
		generator->taken_of[op.kind]++;
	}
	return true;
}

static void progress(const struct op_source *source, uint64_t *done, uint64_t *total)
{
	(void)source;
	*done = *total = 0;
}

static const struct op_source_interface interface = {.next = next, .progress = progress};

static void what_is_let_through_is_taken(void **state)
{
	static uint64_t taken_of[OP_KIND_COUNT];

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct generator generator = {
			.source = {.interface = &interface, .name = "random"}};
		struct model_options options = {
			.memory_bytes = UINT64_C(64) << 20, .is_cgroup = true, .seed = 1};
		struct result result;
		struct error error;
		bool done;

		random_init(&generator.random, seed, 0);
		generator.source.paths = path_table_create();
		for (size_t i = 0; i < NAMES; i++)
			(void)path_intern(generator.source.paths, names[i], strlen(names[i]));
		generator.consistent = consistent_create(generator.source.paths);
		options.streams = stream_map_create(STREAM_BY_CLASS);
		assert_true(policy_options_parse(&options.policy, "linux-6.18", &error));
		assert_true(
			filesystem_choose(&options.filesystem, seed % 2 ? "ext4" : "xfs", &error));
		done = model_run(&options, &generator.source, &result, &error);
		if (!done)
			fail_msg("seed %d: %s", (int)seed, error.message);
		assert_true(generator.taken > OPS / 8);
		for (size_t kind = 0; kind < OP_KIND_COUNT; kind++)
			taken_of[kind] += generator.taken_of[kind];
		result_deinit(&result);
		stream_map_destroy(options.streams);
		consistent_destroy(generator.consistent);
		path_table_destroy(generator.source.paths);
	}
	for (size_t kind = 0; kind < OP_KIND_COUNT; kind++)
		if (kind != OP_COMPUTE && kind != OP_MARK && kind != OP_EXISTS_SPARSE &&
		    !taken_of[kind])
			fail_msg("no %s was let through", op_kind_name((enum op_kind)kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_let_through_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
