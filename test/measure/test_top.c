/*
 * If these fail, `refault top` tells a hit ratio that is not one: from counts that contradict the
 * kernel's own, from events that were lost, or from counters that began anew in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/size.h"
#include "measure/top.h"

/* Two looks, a second apart: 1000 pages asked for, 300 of them missed, all of which came in; 100 went. */
struct looks {
	struct top_sample before, after;
};

static struct looks looks_make(void)
{
	const struct top_counts were = {.accesses = 5000,
					.misses = 4000,
					.inserted = 4200,
					.pages_in = 4500,
					.pages_out = 500};
	struct top_counts are = were;
	struct looks looks = {
		.before = {.time_ns = 7 * NS_PER_SECOND,
			   .page_bytes = 4096,
			   .is_counting = true,
			   .sees_reads = true,
			   .first = were,
			   .then = were,
			   .all_first = were,
			   .all_then = were,
			   .file_pages = {true, 90000}},
	};

	looks.after = looks.before;
	are.accesses += 1000;
	are.misses += 300;
	are.inserted += 300;
	are.pages_in += 300;
	are.evicted += 100;
	are.pages_out += 100;
	looks.after.time_ns += NS_PER_SECOND;
	looks.after.first = looks.after.then = looks.after.all_first = looks.after.all_then = are;
	looks.after.file_pages.value += 200;
	return looks;
}

static enum top_why why_of(const struct looks *looks)
{
	struct top_view view;
	enum top_why why;

	top_view_make(&view, &looks->before, &looks->after, TOP_BY_RESIDENT);
	why = view.why;
	/* There are hits if, and only if, there is a ratio. */
	assert_int_equal(view.hits.known, why == TOP_WHY_NOT);
	top_view_deinit(&view);
	return why;
}

static void hits_are_what_was_asked_for_and_had_not_to_come_in(void **state)
{
	struct looks looks = looks_make();
	struct top_view view;

	(void)state;
	top_view_make(&view, &looks.before, &looks.after, TOP_BY_RESIDENT);
	assert_int_equal(view.why, TOP_WHY_NOT);
	assert_int_equal(view.interval_ns, NS_PER_SECOND);
	assert_int_equal(view.counts.accesses, 1000);
	assert_int_equal(view.hits.value, 700);
	assert_int_equal(top_ppm(&view.hits, view.counts.accesses).value, 700000);
	assert_true(view.conservation.known && view.conservation.holds);
	assert_int_equal(view.conservation.counted_pages, 200);
	assert_int_equal(view.conservation.level_pages, 200);
	assert_int_equal(view.conservation.error_pages, 0);
	assert_int_equal(view.conservation.tolerance_pages, 0);
	top_view_deinit(&view);
}

static void pages_that_nobody_saw_come_leave_no_ratio(void **state)
{
	struct looks looks = looks_make();
	struct top_view view;

	(void)state;
	looks.after.file_pages.value += 40;
	top_view_make(&view, &looks.before, &looks.after, TOP_BY_RESIDENT);
	assert_int_equal(view.why, TOP_WHY_NOT_CONSERVED);
	assert_false(view.hits.known);
	assert_false(top_ppm(&view.hits, view.counts.accesses).known);
	assert_int_equal(view.conservation.error_pages, -40);
	assert_false(view.conservation.holds);
	top_view_deinit(&view);
}

static void what_moves_while_it_is_read_may_be_in_it_or_not(void **state)
{
	struct looks looks = looks_make();

	(void)state;
	/* 20 came and 20 went between the two readings of the second look: it may be wrong by 40. */
	looks.after.all_then.pages_in += 20;
	looks.after.all_then.pages_out += 20;
	looks.after.file_pages.value += 40;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT);
	looks.after.file_pages.value++;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT_CONSERVED);
	/* Statistics that lag by a page each time may explain it. */
	looks.before.statistics_slack_pages = 1;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT);
	looks.after.file_pages.value -= 2 * 41;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT);
	looks.after.file_pages.value--;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT_CONSERVED);
}

static void a_cgroup_is_held_against_its_own_pages(void **state)
{
	struct looks looks = looks_make();

	(void)state;
	looks.after.all_first.pages_in += 100000;
	looks.after.all_then.pages_in += 100000;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT_CONSERVED);
	looks.before.is_cgroup = looks.after.is_cgroup = true;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT);
	looks.after.first.pages_out += 7;
	looks.after.then.pages_out += 7;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT_CONSERVED);
}

static void what_was_not_seen_leaves_no_ratio(void **state)
{
	struct looks looks = looks_make();

	(void)state;
	looks.after.skipped = 1;
	assert_int_equal(why_of(&looks), TOP_WHY_SKIPPED);
	/* Before the interval it does not matter. */
	looks.before.skipped = 1;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT);
	looks.after.first.uncounted = 1;
	assert_int_equal(why_of(&looks), TOP_WHY_SKIPPED);
	looks = looks_make();
	looks.after.file_pages.known = false;
	assert_int_equal(why_of(&looks), TOP_WHY_LEVEL_UNKNOWN);
	looks = looks_make();
	looks.after.sees_reads = false;
	assert_int_equal(why_of(&looks), TOP_WHY_NO_READS_SEEN);
	looks.before.is_counting = false;
	assert_int_equal(why_of(&looks), TOP_WHY_NOT_COUNTING);
}

static void nothing_read_is_no_ratio_and_neither_is_more_missed_than_asked_for(void **state)
{
	struct looks looks = looks_make();

	(void)state;
	looks.after.first.accesses = looks.before.first.accesses;
	looks.after.first.misses = looks.before.first.misses;
	assert_int_equal(why_of(&looks), TOP_WHY_NOTHING_ASKED);
	looks.after.first.misses++;
	assert_int_equal(why_of(&looks), TOP_WHY_OVERHANG);
}

static void counters_that_went_back_or_are_not_there_are_not_known(void **state)
{
	struct looks looks = looks_make();
	struct top_amount *before = looks.before.counters, *after = looks.after.counters;
	struct top_view view;

	(void)state;
	before[TOP_COUNTER_read] = (struct top_amount){true, 1000};
	after[TOP_COUNTER_read] = (struct top_amount){true, 5096};
	before[TOP_COUNTER_written] = (struct top_amount){true, 1000};
	after[TOP_COUNTER_written] = (struct top_amount){true, 999};
	after[TOP_COUNTER_major_faults] = (struct top_amount){true, 12};
	looks.after.levels[TOP_LEVEL_dirty] = (struct top_amount){true, 0};
	top_view_make(&view, &looks.before, &looks.after, TOP_BY_RESIDENT);
	assert_true(view.counters[TOP_COUNTER_read].known);
	assert_int_equal(view.counters[TOP_COUNTER_read].value, 4096);
	assert_false(view.counters[TOP_COUNTER_written].known);
	assert_false(view.counters[TOP_COUNTER_major_faults].known);
	assert_true(view.levels[TOP_LEVEL_dirty].known);
	assert_false(view.levels[TOP_LEVEL_slab].known);
	top_view_deinit(&view);
	looks.before.is_counting = looks.after.is_counting = false;
	top_view_make(&view, &looks.before, &looks.after, TOP_BY_RESIDENT);
	assert_false(view.refaults.known);
	assert_false(view.conservation.known);
	top_view_deinit(&view);
}

static void rates_are_rounded_and_never_of_no_time(void **state)
{
	const struct top_amount three = {true, 3}, most = {true, UINT64_MAX}, none = {0};

	(void)state;
	assert_int_equal(top_per_second(&three, 2 * NS_PER_SECOND).value, 2);
	assert_false(top_per_second(&three, 0).known);
	assert_false(top_per_second(&none, NS_PER_SECOND).known);
	assert_true(top_per_second(&most, 1).value == UINT64_MAX);
	assert_false(top_ppm(&three, 0).known);
	assert_int_equal(top_ppm(&three, 3).value, 1000000);
}

static struct top_file *file_add(struct top_sample *sample, uint64_t ino, const char *path)
{
	struct top_file *file = array_push(&sample->files);

	*file = (struct top_file){.ino = ino, .path = path, .is_counted = true};
	return file;
}

static void files_are_told_by_what_changed_and_sorted(void **state)
{
	struct looks looks = looks_make();
	struct top_view view;
	struct top_file *file;

	(void)state;
	file = file_add(&looks.before, 2, "old");
	file->refaults = 50;
	file->rewritten = 10;
	file = file_add(&looks.after, 1, "new");
	file->refaults = 7;
	file->resident = (struct top_amount){true, 4};
	file = file_add(&looks.after, 2, "old");
	file->refaults = 58;
	file->rewritten = 13;
	file->resident = (struct top_amount){true, 9};
	file = file_add(&looks.after, 3, "named");
	file->is_named = true;
	file->is_counted = false;

	top_view_make(&view, &looks.before, &looks.after, TOP_BY_REFAULTS);
	assert_int_equal(view.files.count, 3);
	assert_string_equal(view.files.at[0].total.path, "named");
	assert_false(view.files.at[0].refaults.known);
	assert_string_equal(view.files.at[1].total.path, "new");
	assert_int_equal(view.files.at[1].refaults.value, 7);
	/* Eight came back, three of them to be written anew. */
	assert_int_equal(view.files.at[2].refaults.value, 5);
	top_view_deinit(&view);
	top_view_make(&view, &looks.before, &looks.after, TOP_BY_RESIDENT);
	assert_string_equal(view.files.at[1].total.path, "old");
	top_view_deinit(&view);
	top_sample_deinit(&looks.before);
	top_sample_deinit(&looks.after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_are_what_was_asked_for_and_had_not_to_come_in),
		cmocka_unit_test(pages_that_nobody_saw_come_leave_no_ratio),
		cmocka_unit_test(what_moves_while_it_is_read_may_be_in_it_or_not),
		cmocka_unit_test(a_cgroup_is_held_against_its_own_pages),
		cmocka_unit_test(what_was_not_seen_leaves_no_ratio),
		cmocka_unit_test(
			nothing_read_is_no_ratio_and_neither_is_more_missed_than_asked_for),
		cmocka_unit_test(counters_that_went_back_or_are_not_there_are_not_known),
		cmocka_unit_test(rates_are_rounded_and_never_of_no_time),
		cmocka_unit_test(files_are_told_by_what_changed_and_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
