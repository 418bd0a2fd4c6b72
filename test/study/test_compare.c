/* If this fails, a comparison mixes up experiments, or calls chance a difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result_json.h"
#include "study/compare.h"

/* What one run was, in short. */
struct shape {
	const char *digest, *policy, *version, *label;
	uint64_t memory_bytes, seed, reread_bytes;
};

static const struct shape usual = {"d1", "linux-6.18", "0.1.0", NULL, 64 << 20, 1, 50 << 20};

static void run_make(struct stored *run, uint64_t number, struct shape shape)
{
	char *text;
	struct error error;
	json_t *streams =
		json_pack("{s:{s:I}}", "heap", "reread_bytes", (json_int_t)shape.reread_bytes);

	*run = (struct stored){0};
	/* Half of them know a stream more. */
	if (number % 2)
		json_object_set_new(streams, "wal", json_pack("{s:i}", "reread_bytes", 4096));
	run->json = json_pack("{s:{s:I, s:n}, s:o, s:{s:s, s:s, s:I, s:b, s:I}}", "totals",
			      "reread_bytes", (json_int_t)shape.reread_bytes, "refaults", "streams",
			      streams, "machine", "kind", "model", "policy", shape.policy,
			      "memory_bytes", (json_int_t)shape.memory_bytes, "cgroup", 1, "seed",
			      (json_int_t)shape.seed);
	assert_non_null(run->json);
	text = json_dumps(run->json, 0);
	assert_true(result_json_read(&run->result, text, strlen(text), &error));
	free(text);
	run->run = (struct stored_run){
		.number = number,
		.command = text_copy("run"),
		.version = text_copy(shape.version),
		.label = shape.label ? text_copy(shape.label) : NULL,
		.input = text_copy("hello"),
		.digest = shape.digest ? text_copy(shape.digest) : NULL,
		.experiment = text_copy(""),
		.machine = text_copy("model"),
		.policy = text_copy(shape.policy),
		.memory_bytes = shape.memory_bytes,
		.seed = shape.seed,
	};
	snprintf(run->run.id, sizeof(run->run.id), "%016llx", (unsigned long long)number);
}

static void runs_free(struct stored *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		stored_deinit(&runs[i]);
}

static const struct compare_options plain = {0};

static const struct compared_row *row_of(const struct compared *compared, const char *stream,
					 const char *figure)
{
	for (size_t i = 0; i < compared->rows.count; i++) {
		const struct compared_row *row = &compared->rows.at[i];

		if (strcmp(row->figure, figure) == 0 &&
		    (stream ? row->stream && strcmp(row->stream, stream) == 0 : !row->stream))
			return row;
	}
	return NULL;
}

static void runs_that_differ_in_the_seed_are_a_side(void **state)
{
	struct stored runs[10];
	struct compared compared;
	struct error error;
	const struct compared_row *row;

	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		struct shape shape = usual;

		/* In no order; the second policy first. */
		shape.seed = 1 + (i / 2 * 3) % 5;
		shape.policy = i % 2 ? "linux-6.18" : "linux-4.5";
		shape.reread_bytes = (i % 2 ? 40 << 20 : 50 << 20) + (shape.seed << 20);
		run_make(&runs[i], i + 1, shape);
	}
	assert_true(compare_runs(&compared, runs, 10, &plain, &error));
	assert_int_equal(compared.side_count, 2);
	assert_string_equal(compared.sides[0].name, "linux-4.5");
	assert_string_equal(compared.sides[1].name, "linux-6.18");
	assert_true(compared.sides[1].is_paired);
	assert_int_equal(compared.sides[0].run_count, 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(compared.sides[0].runs[i].seed, i + 1);
	row = row_of(&compared, NULL, "reread_bytes");
	assert_non_null(row);
	assert_true(row->cells[0].mean > (53 << 20) - 0.5 && row->cells[0].mean < (53 << 20) + 0.5);
	assert_true(row->cells[1].is_significant);
	assert_int_equal(row->cells[1].verdict, CHANGE_WINNER);
	/* Nobody knows it, which is not 0. */
	assert_null(row_of(&compared, NULL, "refaults"));
	assert_non_null(row_of(&compared, "heap", "reread_bytes"));
	compared_deinit(&compared);
	runs_free(runs, 10);
}

static void whatever_else_differs_makes_another_side(void **state)
{
	struct shape shapes[6] = {usual, usual, usual, usual, usual, usual};
	struct stored runs[6];
	struct compared compared;
	struct error error;

	(void)state;
	shapes[1].digest = "d2";
	shapes[2].policy = "lru";
	shapes[3].version = "0.2.0";
	shapes[4].memory_bytes = 32 << 20;
	shapes[5].digest = NULL; /* standard input: known by its name */
	for (uint64_t i = 0; i < 6; i++)
		run_make(&runs[i], i + 1, shapes[i]);
	assert_true(compare_runs(&compared, runs, 6, &plain, &error));
	assert_int_equal(compared.side_count, 6);
	/* No one thing tells all of them apart. */
	assert_string_equal(compared.sides[0].name, "A");
	assert_string_equal(compared.sides[5].name, "F");
	compared_deinit(&compared);
	runs_free(runs, 6);
}

static void one_side_is_none_unless_each_is_asked_for(void **state)
{
	const struct compare_options each = {.each = true};
	struct stored runs[2];
	struct compared compared;
	struct error error;

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct shape shape = usual;

		shape.seed = i;
		run_make(&runs[i], i + 1, shape);
	}
	assert_false(compare_runs(&compared, runs, 2, &plain, &error));
	assert_int_equal(error.kind, ERROR_INPUT);
	assert_non_null(strstr(error.message, "--each"));
	assert_true(compare_runs(&compared, runs, 2, &each, &error));
	assert_int_equal(compared.side_count, 2);
	assert_false(compared.sides[1].is_paired);
	/* One of each says nothing of chance. */
	assert_false(row_of(&compared, NULL, "reread_bytes")->cells[1].is_significant);
	compared_deinit(&compared);
	runs_free(runs, 2);
}

static void what_a_kernel_has_shown_in_several_runs_is_an_interval(void **state)
{
	struct stored runs[2];
	struct compared compared;
	struct error error;
	struct shape shape = usual;
	const struct compared_cell *cell;

	(void)state;
	for (uint64_t times = 3; times <= 5; times += 2) {
		run_make(&runs[0], 1, shape);
		shape.policy = "lru";
		run_make(&runs[1], 2, shape);
		shape.policy = usual.policy;
		for (size_t i = 0; i < 2; i++) {
			runs[i].result.run_count = times;
			runs[i].result.totals.reread_bytes = i ? 60 << 20 : 100 << 20;
			runs[i].result.low.reread_bytes = i ? 55 << 20 : 90 << 20;
			runs[i].result.high.reread_bytes = i ? 70 << 20 : 110 << 20;
		}
		assert_true(compare_runs(&compared, runs, 2, &plain, &error));
		cell = &row_of(&compared, NULL, "reread_bytes")->cells[1];
		assert_true(cell->has_interval);
		assert_true(cell->least < (55 << 20) + 0.5 && cell->most > (70 << 20) - 0.5);
		assert_true(cell->ratio.low < -0.49 && cell->ratio.low > -0.51);
		assert_true(cell->ratio.high < -0.22 && cell->ratio.high > -0.23);
		assert_int_equal(cell->verdict, CHANGE_WINNER);
		assert_int_equal(cell->is_significant, times >= 5);
		compared_deinit(&compared);
		runs_free(runs, 2);
	}
}

static void who_did_nothing_did_nothing(void **state)
{
	const char *const figures[] = {"reread_bytes"};
	const struct compare_options one = {.figures = figures, .figure_count = 1};
	struct stored runs[2];
	struct compared compared;
	struct error error;
	struct shape shape = usual;
	const struct compared_row *row;

	(void)state;
	run_make(&runs[0], 1, shape);
	shape.policy = "lru";
	run_make(&runs[1], 2, shape);
	assert_true(compare_runs(&compared, runs, 2, &one, &error));
	row = row_of(&compared, "wal", "reread_bytes");
	assert_non_null(row);
	assert_true(row->cells[1].is_known && row->cells[1].mean < 0.5);
	compared_deinit(&compared);
	runs_free(runs, 2);
}

static void a_figure_that_nobody_knows_is_named(void **state)
{
	const char *figures[] = {"reread_byte"};
	const struct compare_options one = {.figures = figures, .figure_count = 1};
	struct stored runs[2];
	struct compared compared;
	struct error error;
	struct shape shape = usual;

	(void)state;
	run_make(&runs[0], 1, shape);
	shape.policy = "lru";
	run_make(&runs[1], 2, shape);
	assert_false(compare_runs(&compared, runs, 2, &one, &error));
	assert_non_null(strstr(error.message, "nearest: reread_bytes"));
	figures[0] = "refaults";
	assert_false(compare_runs(&compared, runs, 2, &one, &error));
	assert_non_null(strstr(error.message, "none of these runs knows \"refaults\""));
	runs_free(runs, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_that_differ_in_the_seed_are_a_side),
		cmocka_unit_test(whatever_else_differs_makes_another_side),
		cmocka_unit_test(one_side_is_none_unless_each_is_asked_for),
		cmocka_unit_test(what_a_kernel_has_shown_in_several_runs_is_an_interval),
		cmocka_unit_test(who_did_nothing_did_nothing),
		cmocka_unit_test(a_figure_that_nobody_knows_is_named),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
