/*
 * If this fails, a trace with a device runs its ops too early, twice or never, one thread finds
 * missing what another has made, or a mark reports what was not done yet.
 */
#include "model_test.h"

#include "machine/model/feed.h"

/* Carry out all of `text`, each op taking `each_ns`; "12 read a@1" for each beginning, in order. */
static void run(const char *text, uint64_t each_ns, char *begun, size_t bytes)
{
	struct op_memory *memory = op_memory_parse(text);
	struct feed *feed = feed_create(&memory->source);
	struct under_way {
		struct op op;
		uint64_t done_ns;
		uint32_t thread;
	} under_way[16];
	size_t count = 0, used = 0;
	uint64_t now_ns = 0, next_ns = 0;
	struct error error;

	begun[0] = '\0';
	for (;;) {
		struct op op;
		uint32_t thread;
		bool got;

		assert_true(feed_next(feed, now_ns, &op, &thread, &got, &next_ns, &error));
		if (got) {
			assert_true(count < 16);
			assert_true(op.time_ns <= now_ns);
			for (size_t i = 0; i < count; i++)
				assert_int_not_equal(under_way[i].thread, thread);
			under_way[count++] = (struct under_way){op, now_ns + each_ns, thread};
			used += (size_t)snprintf(begun + used, bytes - used, "%llu %s %s@%u\n",
						 (unsigned long long)now_ns / 1000,
						 op_kind_name((enum op_kind)op.kind),
						 path_text(memory->source.paths, op.path),
						 op.thread);
			assert_true(used < bytes);
			continue;
		}
		if (count == 0 && next_ns == UINT64_MAX)
			break;
		for (size_t i = 0; i < count; i++)
			if (under_way[i].done_ns < next_ns)
				next_ns = under_way[i].done_ns;
		now_ns = next_ns;
		for (size_t i = 0; i < count;) {
			if (under_way[i].done_ns > now_ns) {
				i++;
				continue;
			}
			feed_completed(feed, &under_way[i].op, under_way[i].thread, now_ns);
			under_way[i] = under_way[--count];
		}
	}
	feed_destroy(feed);
	op_source_destroy(&memory->source);
}

static void begins(const char *text, uint64_t each_ns, const char *wanted)
{
	char begun[4096];

	run(text, each_ns, begun, sizeof(begun));
	assert_string_equal(begun, wanted);
}

static void an_op_begins_at_its_time_or_when_its_thread_is_free(void **state)
{
	(void)state;
	begins("read a 0 1\nread b 0 1\nread c 0 1", 100, "1 read a@1\n2 read b@1\n3 read c@1\n");
	begins("read a 0 1\nread b 0 1\nread c 0 1", 5000, "1 read a@1\n6 read b@1\n11 read c@1\n");
}

static void threads_do_not_wait_for_each_other(void **state)
{
	(void)state;
	begins("@1 read a 0 1\n@1 read b 0 1\n@70000 read c 0 1\n@70000 read d 0 1", 5000,
	       "1 read a@1\n3 read c@70000\n6 read b@1\n8 read d@70000\n");
}

static void names_change_in_the_order_of_the_trace(void **state)
{
	(void)state;
	/* Thread 2 reads what thread 1 makes, and 1 is late. */
	begins("@1 read a 0 1\n@1 create n\n@2 read n 0 1\n@2 unlink n\n@1 stat n", 5000,
	       "1 read a@1\n6 create n@1\n6 read n@2\n11 unlink n@2\n11 stat n@1\n");
}

static void a_mark_waits_for_all_before_it(void **state)
{
	(void)state;
	begins("@1 read a 0 1\n@2 read b 0 1\n@3 mark m\n@4 read c 0 1", 5000,
	       "1 read a@1\n2 read b@2\n7 mark m@3\n7 read c@4\n");
}

/* 1.7e18 ns are 2023; 100 ms ticks from 1970 on would never end. */
static void a_calendar_counts_from_the_first_op(void **state)
{
	struct op_memory *memory = op_memory_create();
	static const uint64_t at_ns[] = {1700000000000000000, 1700000000000000000,
					 1700000000000000500, 1699999999999999999};
	struct feed *feed;
	struct error error;
	uint64_t next_ns;
	uint32_t thread;
	struct op op;
	bool got;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct op *added = op_add(memory, i ? OP_READ : OP_EXISTS, "a", 0, 4096);

		added->time_ns = at_ns[i];
		added->thread = i;
	}
	feed = feed_create(&memory->source);
	for (size_t i = 0; i < 2; i++) {
		assert_true(feed_next(feed, 0, &op, &thread, &got, &next_ns, &error));
		assert_true(got);
		assert_int_equal(op.time_ns, 0);
		feed_completed(feed, &op, thread, 0);
	}
	assert_true(feed_next(feed, 0, &op, &thread, &got, &next_ns, &error));
	assert_false(got);
	assert_int_equal(next_ns, 500);
	for (size_t i = 0; i < 2; i++) {
		assert_true(feed_next(feed, 500, &op, &thread, &got, &next_ns, &error));
		assert_true(got);
	}
	feed_destroy(feed);
	op_source_destroy(&memory->source);
}

static void a_pause_of_months_is_refused(void **state)
{
	static const uint64_t day_ns = UINT64_C(86400) * 1000000000;
	struct op_memory *memory = op_memory_create();
	struct feed *feed;
	struct error error;
	uint64_t next_ns;
	uint32_t thread;
	struct op op;
	bool got;

	(void)state;
	op_add(memory, OP_READ, "a", 0, 4096)->time_ns = 1000;
	op_add(memory, OP_READ, "a", 0, 4096)->time_ns = 30 * day_ns;
	op_add(memory, OP_READ, "a", 0, 4096)->time_ns = 61 * day_ns;
	feed = feed_create(&memory->source);
	assert_true(feed_next(feed, 1000, &op, &thread, &got, &next_ns, &error));
	assert_true(got);
	feed_completed(feed, &op, thread, 2000);
	assert_true(feed_next(feed, 2000, &op, &thread, &got, &next_ns, &error));
	assert_false(got);
	assert_int_equal(next_ns, 30 * day_ns);
	assert_true(feed_next(feed, next_ns, &op, &thread, &got, &next_ns, &error));
	assert_true(got);
	feed_completed(feed, &op, thread, 30 * day_ns);
	assert_false(feed_next(feed, 30 * day_ns, &op, &thread, &got, &next_ns, &error));
	assert_non_null(strstr(error.message, "nothing happens for 31 days"));
	feed_destroy(feed);
	op_source_destroy(&memory->source);
}

static void many_threads_are_told_apart(void **state)
{
	struct op_memory *memory = op_memory_create();
	struct feed *feed;
	struct error error;
	bool seen[1000] = {false};

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		op_add(memory, OP_READ, "a", 0, 1)->thread = i * 4096 + 7;
	feed = feed_create(&memory->source);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t thread;
		uint64_t next_ns;
		struct op op;
		bool got;

		assert_true(
			feed_next(feed, UINT64_C(1) << 40, &op, &thread, &got, &next_ns, &error));
		assert_true(got && thread < 1000 && !seen[thread]);
		seen[thread] = true;
	}
	feed_destroy(feed);
	op_source_destroy(&memory->source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_op_begins_at_its_time_or_when_its_thread_is_free),
		cmocka_unit_test(threads_do_not_wait_for_each_other),
		cmocka_unit_test(names_change_in_the_order_of_the_trace),
		cmocka_unit_test(a_mark_waits_for_all_before_it),
		cmocka_unit_test(a_calendar_counts_from_the_first_op),
		cmocka_unit_test(a_pause_of_months_is_refused),
		cmocka_unit_test(many_threads_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
