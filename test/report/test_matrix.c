/* If this fails, somebody reads that a change is harmless that is not, or the other way round. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "measure/change.h"
#include "report/matrix.h"
#include "report/name.h"

static struct effect effect(double base, double changed)
{
	const double bases[] = {base, base}, all[] = {changed, changed};

	return effect_measure(bases, all, 2, 4.0 * (double)MIB, false);
}

enum { SCENARIOS = 8 };

struct sample {
	struct change change;
	struct change_scenario scenarios[SCENARIOS];
	struct change_stream streams[2];
};

/* One of each kind. Nothing in it is owned. */
static void sample_init(struct sample *sample)
{
	const double mib = (double)MIB;

	*sample = (struct sample){
		.streams = {{(char *)"db", effect(100 * mib, 50 * mib)},
			    {(char *)"log", effect(50 * mib, 100 * mib)}},
		.scenarios = {{.name = (char *)"loses", .effect = effect(10 * mib, 20 * mib)},
			      {.name = (char *)"loses-more", .effect = effect(10 * mib, 90 * mib)},
			      {.name = (char *)"wins", .effect = effect(50 * mib, 20 * mib)},
			      {.name = (char *)"gives-and-takes",
			       .effect = effect(150 * mib, 150 * mib),
			       .stream_count = 2},
			      {.name = (char *)"the-same", .effect = effect(10 * mib, 10 * mib)},
			      {.name = (char *)"nothing", .effect = effect(0, 0)},
			      {.name = (char *)"too-large", .left_out = (char *)"it is too large"},
			      {.name = (char *)"fails",
			       .changed_failure = (char *)"out of memory",
			       .effect = {.verdict = CHANGE_LOSER}}},
		.change = {.base = (char *)"linux-4.5",
			   .changed = (char *)"inactive_ratio=sqrt",
			   .metric = {.counter = COUNTER_reread_bytes},
			   .seed_count = 5,
			   .scenario_count = SCENARIOS},
	};
	sample->scenarios[3].streams = sample->streams;
	sample->change.scenarios = sample->scenarios;
}

/* `first` stands before `second`, and both are there. */
static void in_order(const char *text, const char *first, const char *second)
{
	const char *a = strstr(text, first), *b = strstr(text, second);

	if (!a || !b || a > b)
		fail_msg("\"%s\" and \"%s\": not there, or not in this order, in\n%s", first,
			 second, text);
}

static void losers_first_and_the_worst_of_them(void **state)
{
	struct sample sample;
	char *text, line[512];
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	(void)state;
	sample_init(&sample);
	matrix_text(memory, &sample.change, false);
	fclose(memory);
	in_order(text, "Lose (3)", "Win (1)");
	in_order(text, "Lose (3)", "  fails ");
	in_order(text, "  fails ", "  loses-more ");
	in_order(text, "  loses-more ", "  loses ");
	in_order(text, "fails fails under the change only: out of memory", "Win (1)");
	in_order(text, "Win (1)", "Unchanged in sum, but not for each job (1)");
	in_order(text, "  gives-and-takes ", "    db ");
	in_order(text, "    db ", "    log ");
	in_order(text, "Unchanged (1)\n  the-same\n", "Say nothing: 0 either way (1)\n  nothing\n");
	in_order(text, "too-large: it is too large",
		 "1 win, 3 lose, 3 unchanged (1 of them have 0");
	assert_non_null(strstr(text, "+100 %"));
	assert_non_null(strstr(text, "-60.0 %"));
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		assert_true(text_columns(line) <= 100);
		assert_null(strchr(line, '\033'));
	}
	free(text);
}

static void a_program_reads_each_scenario_and_job(void **state)
{
	struct sample sample;
	json_t *json, *scenario;

	(void)state;
	sample_init(&sample);
	json = matrix_json(&sample.change);
	assert_int_equal(json_integer_value(json_object_get(json, "winners")), 1);
	assert_int_equal(json_integer_value(json_object_get(json, "losers")), 3);
	assert_int_equal(json_integer_value(json_object_get(json, "unchanged")), 3);
	assert_int_equal(json_integer_value(json_object_get(json, "left_out")), 1);
	scenario = json_array_get(json_object_get(json, "scenarios"), 3);
	assert_string_equal(json_string_value(json_object_get(scenario, "verdict")), "unchanged");
	scenario = json_object_get(json_object_get(scenario, "streams"), "log");
	assert_string_equal(json_string_value(json_object_get(scenario, "verdict")), "loser");
	assert_true(json_is_true(json_object_get(scenario, "exact")));
	/* What is not known is null. */
	scenario = json_array_get(json_object_get(json, "scenarios"), 7);
	assert_true(json_is_null(json_object_get(scenario, "base")));
	assert_string_equal(json_string_value(json_object_get(scenario, "changed_failure")),
			    "out of memory");
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losers_first_and_the_worst_of_them),
		cmocka_unit_test(a_program_reads_each_scenario_and_job),
	};

	return cmocka_run_group_tests_name("matrix report", tests, NULL, NULL);
}
