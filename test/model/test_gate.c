/*
 * If these fail, commits no longer wait for write-back where a kernel has it so, writers wait for
 * ever, or a sync of a large file fills the queue with requests that everybody else has to wait for.
 */
#include "model_test.h"

#include "machine/model/gate.h"

static void expect_woken(struct tasks *woken, const uint32_t *tasks, size_t count)
{
	assert_int_equal(woken->list.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(woken->list.at[i], tasks[i]);
	woken->list.count = 0;
}

static void a_commit_waits_for_write_back_and_writers_for_the_commit(void **state)
{
	struct gate gate = {0};
	struct tasks woken = {0};

	(void)state;
	assert_true(gate_hold(&gate, 100)); /* write-back is at work */
	assert_true(gate_join(&gate, 1));
	assert_false(gate_close(&gate, 7)); /* the commit waits for it */
	assert_false(gate_join(&gate, 1));  /* and writers for the commit */
	assert_false(gate_hold(&gate, 2));
	assert_false(gate_close(&gate, 8)); /* and the next commit */
	expect_woken(&woken, NULL, 0);
	gate_leave(&gate, &woken);
	expect_woken(&woken, (uint32_t[]){7}, 1);
	assert_true(gate_close(&gate, 7));
	assert_false(gate_join(&gate, 3));  /* its blocks are on their way into the journal */
	assert_true(gate_hold(&gate, 100)); /* but the next transaction runs */
	gate_open(&gate, 7, &woken);
	expect_woken(&woken, (uint32_t[]){1, 2, 3}, 3);
	assert_true(gate_join(&gate, 1));
	assert_false(gate_follow(&gate, 9)); /* who needs this one on disk waits for its record */
	gate_done(&gate, 7, &woken);
	expect_woken(&woken, (uint32_t[]){8, 9}, 2);
	assert_true(gate_follow(&gate, 9));
	gate_leave(&gate, &woken);
	assert_true(gate_close(&gate, 8));
	gate_deinit(&gate);
	array_deinit(&woken.list);
}

static void nobody_waits_where_write_back_holds_nothing(void **state)
{
	struct gate gate = {0};
	struct tasks woken = {0};

	(void)state;
	assert_true(gate_close(&gate, 7));
	assert_true(gate_join(&gate, 7)); /* the committer itself */
	gate_open(&gate, 7, &woken);
	gate_done(&gate, 7, &woken);
	gate_done(&gate, 3, &woken); /* who commits nothing ends nothing */
	expect_woken(&woken, NULL, 0);
	gate_deinit(&gate);
	array_deinit(&woken.list);
}

static void who_stands_in_line_may_place_a_batch(void **state)
{
	struct places places = {0};
	struct tasks woken = {0};

	(void)state;
	for (int i = 0; i < 128; i++) {
		assert_true(places_ask(&places, 1));
		places.taken++;
	}
	assert_false(places_ask(&places, 1));
	assert_false(places_ask(&places, 2));
	places_give(&places, &woken);
	expect_woken(&woken, (uint32_t[]){1}, 1);
	for (int i = 0; i < 32; i++) {
		assert_true(places_ask(&places, 1));
		places.taken++;
	}
	assert_false(places_ask(&places, 1));
	/* 159 are taken: 31 more must be done before the next has its turn. */
	for (int i = 0; i < 31; i++)
		places_give(&places, &woken);
	expect_woken(&woken, NULL, 0);
	places_give(&places, &woken);
	expect_woken(&woken, (uint32_t[]){2}, 1);
	places_deinit(&places);
	array_deinit(&woken.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_commit_waits_for_write_back_and_writers_for_the_commit),
		cmocka_unit_test(nobody_waits_where_write_back_holds_nothing),
		cmocka_unit_test(who_stands_in_line_may_place_a_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
