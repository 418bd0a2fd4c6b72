/* If this fails, on a scenario's clock clients take turns as they would nowhere. */
#include "source_test.h"

#include "source/pace.h"

static const struct pace pace = {.op_ns = 1000,
				 .hit_ns_per_page = 400,
				 .read_bytes_per_s = 1000000000,
				 .write_bytes_per_s = 500000000};

static void an_op_takes_a_call_and_its_pages(void **state)
{
	const struct op op = {.kind = OP_READ, .time_ns = 5000};
	uint64_t free_ns = 0;

	(void)state;
	assert_int_equal(pace_done_ns(&pace, &free_ns, &op, 2, 0, 0), 5000 + 1000 + 2 * 400);
	assert_int_equal(free_ns, 0);
}

static void who_reads_waits_for_the_device_and_who_writes_does_not(void **state)
{
	const struct op write = {.kind = OP_WRITE, .time_ns = 100};
	const struct op read = {.kind = OP_READ, .time_ns = 200};
	uint64_t free_ns = 0;

	(void)state;
	assert_int_equal(pace_done_ns(&pace, &free_ns, &write, 1, 0, 8192), 100 + 1400);
	assert_int_equal(free_ns, 100 + 2 * 8192);
	assert_int_equal(pace_done_ns(&pace, &free_ns, &read, 1, 4096, 0), 100 + 2 * 8192 + 4096);
}

static void who_writes_past_the_cache_waits_too(void **state)
{
	const struct op write = {.kind = OP_WRITE_DIRECT, .time_ns = 100};
	uint64_t free_ns = 0;

	(void)state;
	assert_int_equal(pace_done_ns(&pace, &free_ns, &write, 0, 0, 8192), 100 + 2 * 8192);
}

static void a_compute_takes_what_it_says_and_a_mark_nothing(void **state)
{
	const struct op compute = {.kind = OP_COMPUTE, .time_ns = 100, .bytes = 250000};
	const struct op mark = {.kind = OP_MARK, .time_ns = 100};
	uint64_t free_ns = 0;

	(void)state;
	assert_int_equal(pace_done_ns(&pace, &free_ns, &compute, 0, 0, 0), 250100);
	assert_int_equal(pace_done_ns(&pace, &free_ns, &mark, 0, 0, 0), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_op_takes_a_call_and_its_pages),
		cmocka_unit_test(who_reads_waits_for_the_device_and_who_writes_does_not),
		cmocka_unit_test(who_writes_past_the_cache_waits_too),
		cmocka_unit_test(a_compute_takes_what_it_says_and_a_mark_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
