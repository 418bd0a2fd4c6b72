/* If this fails, a change is tried on something else than it says, or its outcome on a scenario is told wrongly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "study/matrix.h"

/* Hot data of a job, and a stream of another: what is read again depends on the memory. */
static const char scenario[] = "summary: a test\n"
			       "machine: {cgroup_limit: 16MiB}\n"
			       "files: {hot: {size: 12MiB}, stream: {size: 64MiB}}\n"
			       "jobs:\n"
			       "  app: {read: hot, request: 4KiB, pattern: uniform, count: 6000}\n"
			       "  cat: {read: stream, request: 128KiB}\n";

static char path[64];

static int file_make(void **state)
{
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/refault-matrix-%ld.yaml", (long)getpid());
	file = fopen(path, "w");
	if (!file)
		return 1;
	fputs(scenario, file);
	return fclose(file);
}

static int file_remove(void **state)
{
	(void)state;
	return unlink(path);
}

/* The change of `text` (NULL ends) to a base. */
static bool parse(struct matrix_change *change, const char *base, const char *one,
		  const char *other, struct error *error)
{
	const char *const texts[] = {one, other};
	struct policy_options policy;

	assert_true(policy_options_parse(&policy, base, error));
	return matrix_change_parse(change, &policy, texts, other ? 2 : 1, error);
}

static void run(struct change *change, const char *base, const char *one, size_t seeds,
		size_t threads, uint64_t memory_bytes_max)
{
	const char *const names[] = {path};
	struct matrix_change parsed;
	struct matrix_options options = {.change = &parsed,
					 .names = names,
					 .name_count = 1,
					 .seed_count = seeds,
					 .thread_count = threads,
					 .memory_bytes_max = memory_bytes_max};
	struct error error;

	assert_true(metric_find(&options.metric, "reread_bytes", &error));
	assert_true(parse(&parsed, base, one, NULL, &error));
	assert_true(matrix_run(&options, change, &error));
	matrix_change_deinit(&parsed);
}

static void a_change_is_a_switch_a_policy_or_a_key(void **state)
{
	struct matrix_change change;
	struct error error;

	(void)state;
	assert_true(
		parse(&change, "linux-4.5", "activate_on_write=never", "filesystem=xfs", &error));
	assert_true(change.policy_differs);
	assert_int_equal(change.set_count, 1);
	assert_string_equal(change.sets[0], "machine.filesystem=xfs");
	assert_string_equal(change.text, "activate_on_write=never, filesystem=xfs");
	matrix_change_deinit(&change);

	/* Another policy comes first, wherever it stands. */
	assert_true(parse(&change, "linux-4.5", "activate_on_write=always",
			  "machine.policy=linux-6.18", &error));
	assert_int_equal(change.changed.switches.value[SWITCH_activate_on_write], 0);
	assert_string_equal(policy_name(change.changed.policy), "linux-6.18");
	assert_int_equal(change.set_count, 0);
	matrix_change_deinit(&change);

	/* A switch goes before a machine's key of the same name. */
	assert_true(
		parse(&change, "linux-4.5", "readahead=split", "machine.readahead=1MiB", &error));
	assert_true(change.policy_differs);
	assert_string_equal(change.sets[0], "machine.readahead=1MiB");
	matrix_change_deinit(&change);
}

static void a_mistake_in_a_change_is_named(void **state)
{
	static const struct {
		const char *base, *text, *says;
	} wrong[] = {
		{"linux-4.5", "activate_on_wirte=never", "nearest: activate_on_write"},
		{"linux-4.5", "filesytem=xfs", "nearest: filesystem"},
		{"linux-4.5", "=x", "is not KEY=VALUE"},
		{"linux-4.5", "policy=", "names none"},
		{"linux-4.5", "policy=linux-4.55", "no policy"},
		{"linux-4.7", "activate_on_write=never", "does that already"},
		{"lru", "inactive_ratio=sqrt", "no active and inactive list"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct matrix_change change;
		struct error error;

		assert_false(parse(&change, wrong[i].base, wrong[i].text, NULL, &error));
		assert_int_equal(error.kind, ERROR_INPUT);
		if (!strstr(error.message, wrong[i].says))
			fail_msg("%s: %s", wrong[i].text, error.message);
		matrix_change_deinit(&change);
	}
}

static void less_memory_loses_and_more_wins(void **state)
{
	struct change change;

	(void)state;
	run(&change, "linux-6.18", "cgroup_limit=8MiB", 5, 2, 0);
	assert_int_equal(change.scenarios[0].effect.verdict, CHANGE_LOSER);
	assert_true(change.scenarios[0].effect.is_significant);
	assert_int_equal(change.scenarios[0].seed_count, 5);
	assert_int_equal(change.scenarios[0].stream_count, 2);
	assert_string_equal(change.scenarios[0].streams[0].name, "app");
	assert_int_equal(change.scenarios[0].streams[0].effect.verdict, CHANGE_LOSER);
	assert_int_equal(change.scenarios[0].streams[1].effect.verdict, CHANGE_UNCHANGED);
	assert_string_equal(change.scenarios[0].summary, "a test");
	assert_int_equal(change_count(&change, CHANGE_LOSER), 1);
	change_deinit(&change);

	run(&change, "linux-6.18", "cgroup_limit=64MiB", 5, 1, 0);
	assert_int_equal(change.scenarios[0].effect.verdict, CHANGE_WINNER);
	change_deinit(&change);
}

static void what_is_not_run_says_why(void **state)
{
	struct change change;

	(void)state;
	run(&change, "linux-6.18", "cgroup_limit=16MiB", 5, 1, 0);
	assert_string_equal(change.scenarios[0].left_out, "it has that already");
	assert_int_equal(change_count(&change, CHANGE_UNCHANGED), 0);
	change_deinit(&change);
	run(&change, "linux-6.18", "cgroup_limit=8MiB", 5, 1, 15 * MIB);
	assert_non_null(strstr(change.scenarios[0].left_out, "16 MiB"));
	change_deinit(&change);
}

/* The figures do not depend on who ran what. */
static void threads_change_nothing(void **state)
{
	struct change one, other;

	(void)state;
	run(&one, "linux-4.5", "policy=lru", 7, 1, 0);
	run(&other, "linux-4.5", "policy=lru", 7, 5, 0);
	assert_memory_equal(&one.scenarios[0].effect.base, &other.scenarios[0].effect.base,
			    sizeof(double) * 5);
	assert_true(one.scenarios[0].effect.low < one.scenarios[0].effect.high);
	change_deinit(&one);
	change_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_a_switch_a_policy_or_a_key),
		cmocka_unit_test(a_mistake_in_a_change_is_named),
		cmocka_unit_test(less_memory_loses_and_more_wins),
		cmocka_unit_test(what_is_not_run_says_why),
		cmocka_unit_test(threads_change_nothing),
	};

	return cmocka_run_group_tests_name("matrix", tests, file_make, file_remove);
}
