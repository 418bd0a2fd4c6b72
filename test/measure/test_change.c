/* If this fails, what is chance passes for the effect of a change, or an effect for chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "base/random.h"
#include "base/size.h"
#include "measure/change.h"

static void nearly(double value, double expected)
{
	if (value < expected - 1e-9 || value > expected + 1e-9)
		fail_msg("%g, expected %g", value, expected);
}

static void what_all_seeds_agree_on_is_exact(void **state)
{
	static const double base[] = {100, 100}, less[] = {80, 80};
	struct effect effect = effect_measure(base, less, 2, 0, false);

	(void)state;
	assert_true(effect.is_exact && effect.is_significant);
	assert_int_equal(effect.verdict, CHANGE_WINNER);
	nearly(effect.change, -0.2);
	nearly(effect.low, -0.2);
	nearly(effect.high, -0.2);
}

static void more_of_what_is_better_wins(void **state)
{
	static const double base[] = {100, 100}, less[] = {80, 80};

	(void)state;
	assert_int_equal(effect_measure(base, less, 2, 0, true).verdict, CHANGE_LOSER);
	assert_int_equal(effect_measure(less, base, 2, 0, true).verdict, CHANGE_WINNER);
	assert_int_equal(effect_measure(less, base, 2, 0, false).verdict, CHANGE_LOSER);
}

static void differences_are_taken_seed_by_seed(void **state)
{
	/* The seeds differ by far more than the change does, which is 5 of each. */
	static const double base[] = {100, 200, 300, 400, 500},
			    changed[] = {105, 205, 305, 405, 505};
	static const double mixed[] = {205, 105, 405, 305, 505};
	struct effect paired = effect_measure(base, changed, 5, 0, false);
	struct effect effect = effect_measure(base, mixed, 5, 0, false);

	(void)state;
	nearly(paired.change, 25.0 / 1500);
	assert_int_equal(paired.verdict, CHANGE_LOSER);
	assert_true(paired.is_significant && paired.low > 0);
	nearly(effect.change, 25.0 / 1500);
	assert_int_equal(effect.verdict, CHANGE_UNCHANGED);
	assert_false(effect.is_significant);
	assert_true(effect.low < 0 && effect.high > 0);
}

static void below_a_hundredth_nobody_notices(void **state)
{
	static const double base[] = {1000, 1000}, changed[] = {1009, 1009}, more[] = {1011, 1011};

	(void)state;
	assert_int_equal(effect_measure(base, changed, 2, 0, false).verdict, CHANGE_UNCHANGED);
	assert_int_equal(effect_measure(base, more, 2, 0, false).verdict, CHANGE_LOSER);
}

static void little_is_relative_to_the_floor(void **state)
{
	static const double base[] = {0, 0}, changed[] = {12, 12};

	(void)state;
	nearly(effect_measure(base, changed, 2, 2400, false).change, 0.005);
	assert_int_equal(effect_measure(base, changed, 2, 2400, false).verdict, CHANGE_UNCHANGED);
	nearly(effect_measure(base, changed, 2, 0, false).change, 1);
	nearly(effect_measure(base, base, 2, 0, false).change, 0);
}

static void few_seeds_are_not_significant(void **state)
{
	static const double base[] = {100, 120, 140, 160}, changed[] = {150, 171, 193, 214};
	struct effect effect = effect_measure(base, changed, 4, 0, false);

	(void)state;
	assert_int_equal(effect.verdict, CHANGE_LOSER);
	assert_false(effect.is_significant);
	assert_false(effect.is_exact);
	/* From the least to the most of the seeds. */
	nearly(effect.low, 54.0 / 160);
	nearly(effect.high, 50.0 / 100);
	/* One seed alone proves nothing, not even that nothing is drawn by lot. */
	effect = effect_measure(base, changed, 1, 0, false);
	assert_false(effect.is_exact || effect.is_significant);
	assert_false(effect_measure(base, changed, 0, 0, false).is_known);
}

/* Of two sides that are the same but for chance, about one in twenty may be called different. */
static void chance_is_called_an_effect_as_seldom_as_it_says(void **state)
{
	static const size_t counts[] = {5, 10, 20};
	struct random random;

	(void)state;
	random_init(&random, 7, 0);
	for (size_t c = 0; c < 3; c++) {
		int wrong = 0;

		for (int i = 0; i < 400; i++) {
			double base[20], changed[20];

			for (size_t k = 0; k < counts[c]; k++) {
				base[k] = changed[k] = 1000;
				/* A sum of 12: near enough to normal. */
				for (int n = 0; n < 12; n++)
					changed[k] += (double)random_below(&random, 1001) - 500;
			}
			wrong += effect_measure(base, changed, counts[c], 0, false).is_significant;
		}
		/* 20 of 400; of five seeds a few more, since no more than five differences can be drawn. */
		if (wrong > (counts[c] == 5 ? 40 : 32) || wrong < 4)
			fail_msg("%zu seeds: %d of 400", counts[c], wrong);
	}
}

static void a_metric_is_found_by_name(void **state)
{
	struct result_figure figure = {.name = (char *)"transactions", .value = 500};
	struct result result = {.known = COUNTERS_ALL_KNOWN & ~(UINT64_C(1) << COUNTER_refaults),
				.totals = {.reread_bytes = 5 * MIB}};
	struct metric metric;
	struct error error;
	double value;
	char text[METRIC_TEXT_BYTES];

	(void)state;
	assert_true(metric_find(&metric, "reread_bytes", &error));
	assert_true(metric_of_run(&metric, &result, &value));
	nearly(value, 5 * MIB);
	assert_string_equal(metric_format(text, &metric, value), "5 MiB");
	nearly(metric_floor(&metric, 1000000), 16000);
	assert_true(metric_find(&metric, "refaults", &error));
	assert_false(metric_of_run(&metric, &result, &value));
	assert_true(metric_find(&metric, "tps", &error));
	assert_true(metric_more_is_better(&metric));
	assert_false(metric_of_run(&metric, &result, &value));
	result.figures = &figure;
	result.figure_count = 1;
	result.work = (char *)"transactions";
	result.elapsed_ns = 2 * NS_PER_SECOND;
	assert_true(metric_of_run(&metric, &result, &value));
	nearly(value, 250);
	assert_true(metric_find(&metric, "elapsed_ns", &error));
	assert_true(metric_of_run(&metric, &result, &value));
	assert_false(metric_find(&metric, "refault", &error));
	assert_non_null(strstr(error.message, "nearest: refaults"));
}

static void sides_of_other_seeds_are_resampled_apart(void **state)
{
	static const double base[] = {100, 101, 102, 103, 104, 105};
	static const double far[] = {120, 121, 122, 123, 124}, near[] = {101, 103, 104, 102, 107};
	struct effect effect = effect_measure_apart(base, 6, far, 5, 0, false);
	struct effect swapped = effect_measure_apart(far, 5, base, 6, 0, false);

	(void)state;
	nearly(effect.change, (122 - 102.5) / 102.5);
	assert_true(effect.is_significant && effect.low > 0.15 && effect.high < 0.23);
	assert_int_equal(effect.verdict, CHANGE_LOSER);
	assert_true(swapped.is_significant && swapped.high < -0.1);
	effect = effect_measure_apart(base, 6, near, 5, 0, false);
	assert_false(effect.is_significant);
	assert_true(effect.low < 0 && effect.high > 0);
}

static void what_belongs_together_is_seen_in_pairs_alone(void **state)
{
	/* Seed by seed 3 % more; the seeds themselves differ by far more. */
	static const double base[] = {100, 200, 300, 400, 500};
	static const double changed[] = {103, 206, 309, 412, 515};

	(void)state;
	assert_true(effect_measure(base, changed, 5, 0, false).is_significant);
	assert_false(effect_measure_apart(base, 5, changed, 5, 0, false).is_significant);
}

static void of_a_few_apart_the_interval_is_from_the_least_to_the_most(void **state)
{
	static const double base[] = {100, 110}, changed[] = {200, 220, 230}, same[] = {50, 50};
	struct effect effect = effect_measure_apart(base, 2, changed, 3, 0, false);

	(void)state;
	nearly(effect.low, 200.0 / 110 - 1);
	nearly(effect.high, 230.0 / 100 - 1);
	assert_false(effect.is_significant);
	effect = effect_measure_apart(same, 2, changed, 1, 0, false);
	assert_false(effect.is_exact || effect.is_significant);
	effect = effect_measure_apart(same, 2, same, 2, 0, false);
	assert_true(effect.is_exact);
	assert_int_equal(effect.verdict, CHANGE_UNCHANGED);
	assert_false(effect_measure_apart(base, 0, changed, 3, 0, false).is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_all_seeds_agree_on_is_exact),
		cmocka_unit_test(more_of_what_is_better_wins),
		cmocka_unit_test(differences_are_taken_seed_by_seed),
		cmocka_unit_test(below_a_hundredth_nobody_notices),
		cmocka_unit_test(little_is_relative_to_the_floor),
		cmocka_unit_test(few_seeds_are_not_significant),
		cmocka_unit_test(chance_is_called_an_effect_as_seldom_as_it_says),
		cmocka_unit_test(a_metric_is_found_by_name),
		cmocka_unit_test(sides_of_other_seeds_are_resampled_apart),
		cmocka_unit_test(what_belongs_together_is_seen_in_pairs_alone),
		cmocka_unit_test(of_a_few_apart_the_interval_is_from_the_least_to_the_most),
	};

	return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
