/*
 * If these fail, a scenario is not the experiment that it describes: jobs run at the wrong times, end too early or never, or the same
 * seed gives another workload tomorrow.
 */
#include "source_test.h"

#include <stdlib.h>

static void plays(const char *text, stub_cost *cost, const char *expected)
{
	struct scenario scenario;
	char *ops;

	scenario_right(&scenario, text);
	ops = scenario_play(&scenario, 1, cost, 10000, NULL);
	assert_string_equal(ops, expected);
	free(ops);
	scenario_deinit(&scenario);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

#define MACHINE "machine: {memory: 16MiB}\n"

static void jobs_take_turns_by_their_own_clocks(void **state)
{
	(void)state;
	plays(MACHINE "files: {a: {size: 300KiB}, b: {size: 256KiB}}\n"
		      "jobs:\n"
		      "  one: {read: a}\n"
		      "  two: {read: b, start: 500ns}\n",
	      stub_constant,
	      "0 0 exists a 0 307200\n"
	      "0 0 exists b 0 262144\n"
	      "0 1 read a 0 131072\n"
	      "500 2 read b 0 131072\n"
	      "1000 1 read a 131072 131072\n"
	      "1500 2 read b 131072 131072\n"
	      "2000 1 read a 262144 45056\n");
}

static void ties_go_to_the_earlier_job(void **state)
{
	(void)state;
	/* Each pass ends with a mark of the job's stream, which takes the nanosecond that keeps time going. */
	plays(MACHINE "files: {a: {}}\njobs: {x: {stat: a, loop: 2}, y: {stat: a, loop: 2}}\n",
	      stub_constant,
	      "0 0 exists a 0 0\n"
	      "0 1 stat a 0 0\n"
	      "0 2 stat a 0 0\n"
	      "1000 1 mark pass 0 0\n"
	      "1000 2 mark pass 0 0\n"
	      "1001 1 stat a 0 0\n"
	      "1001 2 stat a 0 0\n"
	      "2001 1 mark pass 0 0\n"
	      "2001 2 mark pass 0 0\n");
}

static void steps_follow_one_another_and_marks_have_labels(void **state)
{
	(void)state;
	plays(MACHINE "files: {a: {size: 4KiB}, b: {exists: no, size: 6KiB}}\n"
		      "jobs:\n"
		      "  j:\n"
		      "    steps:\n"
		      "      - read: a\n"
		      "        loop: 2\n"
		      "      - mark: half\n"
		      "      - wait: 1us\n"
		      "      - create: b\n"
		      "        request: 4KiB\n"
		      "      - fadvise_dontneed: b\n"
		      "      - sync: yes\n"
		      "      - unlink: b\n",
	      stub_constant,
	      "0 0 exists a 0 4096\n"
	      "0 1 read a 0 4096\n"
	      "1000 1 read a 0 4096\n"
	      "2000 1 mark half 0 0\n"
	      "3001 1 create b 0 0\n"
	      "4001 1 write b 0 4096\n"
	      "5001 1 write b 4096 2048\n"
	      "6001 1 close b 0 0\n"
	      "7001 1 fadvise_dontneed b 0 0\n"
	      "8001 1 sync a 0 0\n"
	      "9001 1 unlink b 0 0\n");
}

static void advice_with_a_request_goes_on_where_it_stopped(void **state)
{
	(void)state;
	plays(MACHINE "files: {a: {size: 20KiB}}\n"
		      "jobs:\n"
		      "  j:\n"
		      "    loop: 2\n"
		      "    steps:\n"
		      "      - {read: a, request: 8KiB, count: 1}\n"
		      "      - {fadvise_dontneed: a, request: 8KiB, offset: 4KiB, count: 2}\n",
	      stub_constant,
	      "0 0 exists a 0 20480\n"
	      "0 1 read a 0 8192\n"
	      "1000 1 fadvise_dontneed a 4096 8192\n"
	      "2000 1 fadvise_dontneed a 12288 8192\n"
	      "3000 1 mark pass 0 0\n"
	      "3001 1 read a 8192 8192\n"
	      "4001 1 fadvise_dontneed a 4096 8192\n"
	      "5001 1 fadvise_dontneed a 12288 8192\n"
	      "6001 1 mark pass 0 0\n");
}

static void each_does_its_steps_for_every_file(void **state)
{
	(void)state;
	plays(MACHINE "files: {s: {count: 3, size: 8KiB, directory: d}}\n"
		      "jobs:\n"
		      "  j:\n"
		      "    each: s\n"
		      "    steps:\n"
		      "      - open: this\n"
		      "      - {read: this, request: 4KiB, bytes: 4KiB}\n"
		      "      - {write: this, request: 8, offset: 4096, bytes: 8}\n"
		      "      - close: this\n",
	      stub_constant,
	      "0 0 exists d/0 0 8192\n"
	      "0 0 exists d/1 0 8192\n"
	      "0 0 exists d/2 0 8192\n"
	      "0 1 open d/0 0 0\n"
	      "1000 1 read d/0 0 4096\n"
	      "2000 1 write d/0 4096 8\n"
	      "3000 1 close d/0 0 0\n"
	      "4000 1 open d/1 0 0\n"
	      "5000 1 read d/1 0 4096\n"
	      "6000 1 write d/1 4096 8\n"
	      "7000 1 close d/1 0 0\n"
	      "8000 1 open d/2 0 0\n"
	      "9000 1 read d/2 0 4096\n"
	      "10000 1 write d/2 4096 8\n"
	      "11000 1 close d/2 0 0\n");
}

static void what_is_cached_was_read_or_written_before(void **state)
{
	(void)state;
	plays(MACHINE "files:\n"
		      "  w1: {path: x/w1, size: 1100KiB, cached: written}\n"
		      "  w2: {path: x/w2, size: 100KiB, cached: written}\n"
		      "  r: {path: y/r, size: 10KiB, cached: read}\n"
		      "  s: {count: 2, cached: read}\n"
		      "jobs: {j: {read: r}}\n",
	      stub_constant,
	      "0 0 exists y/r 0 10240\n"
	      "0 0 exists s/0 0 0\n"
	      "0 0 exists s/1 0 0\n"
	      "0 0 mkdir x 0 0\n"
	      "1000 0 read y/r 0 10240\n"
	      "2000 0 close y/r 0 0\n"
	      "3000 0 create x/w1 0 0\n"
	      "4000 0 create x/w2 0 0\n"
	      "5000 0 write x/w1 0 1048576\n"
	      "6000 0 write x/w2 0 102400\n"
	      "7000 0 write x/w1 1048576 77824\n"
	      "8000 0 close x/w1 0 0\n"
	      "9000 0 close x/w2 0 0\n"
	      "10000 0 stat s/0 0 0\n"
	      "11000 0 stat s/1 0 0\n"
	      "12000 0 sync y 0 0\n"
	      "13000 0 mark start 0 0\n"
	      "13001 1 read y/r 0 10240\n");
}

static void until_ends_a_job_in_the_middle_of_a_pass(void **state)
{
	struct scenario scenario;
	struct op_source *source;
	char *ops;

	(void)state;
	scenario_right(&scenario, MACHINE "files: {a: {size: 1MiB}, e: {count: 10, exists: no}}\n"
					  "jobs:\n"
					  "  reader: {read: a, loop: forever, until: [c, d]}\n"
					  "  c: {create: e, start: 1us, count: 5}\n"
					  "  d: {stat: e, after: c, start: 2us}\n");
	ops = scenario_play(&scenario, 1, stub_constant, 10000, &source);
	/* c: 1 .. 11 us; d: 13 .. 23 us. The reader: a pass is 8 us and the nanosecond of its mark. */
	assert_int_equal(count_of(ops, "create"), 5);
	assert_int_equal(count_of(ops, "stat"), 10);
	assert_int_equal(count_of(ops, "read a"), 23);
	assert_int_equal(scenario_source_passes(source, 0), 2);
	assert_int_equal(scenario_source_passes(source, 1), 0);
	op_source_destroy(source);
	free(ops);
	scenario_deinit(&scenario);
}

static void a_job_that_waits_starts_after_all_that_it_waits_for(void **state)
{
	(void)state;
	plays(MACHINE "files: {a: {}}\n"
		      "jobs:\n"
		      "  z: {stat: a, after: [x, y], start: 100ns}\n"
		      "  x: {stat: a}\n"
		      "  y: {stat: a, start: 5us}\n",
	      stub_constant,
	      "0 0 exists a 0 0\n"
	      "0 2 stat a 0 0\n"
	      "5000 3 stat a 0 0\n"
	      "6100 1 stat a 0 0\n");
}

static void rates_and_thinking_pace_a_job(void **state)
{
	(void)state;
	plays(MACHINE "files: {a: {size: 32KiB}}\n"
		      "jobs: {j: {read: a, request: 8KiB, rate: 100000/s}}\n",
	      stub_constant,
	      "0 0 exists a 0 32768\n0 1 read a 0 8192\n10000 1 read a 8192 8192\n"
	      "20000 1 read a 16384 8192\n30000 1 read a 24576 8192\n");
	plays(MACHINE "files: {a: {size: 32KiB}}\n"
		      "jobs: {j: {read: a, request: 16KiB, rate: 16MiB/s}}\n",
	      stub_constant,
	      "0 0 exists a 0 32768\n0 1 read a 0 16384\n976562 1 read a 16384 16384\n");
	plays(MACHINE "files: {s: {count: 2, exists: no}}\njobs: {j: {create: s, think: 5us}}\n",
	      stub_constant,
	      "0 0 mkdir s 0 0\n1000 1 create s/0 0 0\n2000 1 close s/0 0 0\n"
	      "8000 1 create s/1 0 0\n9000 1 close s/1 0 0\n");
}

static void a_duration_ends_a_job(void **state)
{
	struct scenario scenario;
	char *ops;

	(void)state;
	scenario_right(&scenario,
		       MACHINE "files: {a: {size: 1GiB}}\n"
			       "jobs: {j: {read: a, duration: 50us, pattern: uniform}}\n");
	ops = scenario_play(&scenario, 1, stub_constant, 10000, NULL);
	assert_int_equal(count_of(ops, "read"), 50);
	free(ops);
	scenario_deinit(&scenario);
}

static void threads_split_or_share(void **state)
{
	struct scenario scenario;
	char *ops;

	(void)state;
	scenario_right(&scenario, MACHINE "files: {s: {count: 10, exists: no}, a: {size: 1MiB}}\n"
					  "jobs:\n"
					  "  c: {create: s, threads: 3}\n"
					  "  r: {read: a, threads: 2}\n"
					  "  p: {read: a, threads: 2, split: yes}\n");
	ops = scenario_play(&scenario, 1, stub_constant, 10000, NULL);
	for (int i = 0; i < 10; i++) {
		char line[32];

		snprintf(line, sizeof(line), " create s/%d ", i);
		assert_int_equal(count_of(ops, line), 1);
	}
	assert_int_equal(count_of(ops, " read a "), 8 * 2 + 8);
	assert_int_equal(count_of(ops, " read a 524288 "), 3);
	free(ops);
	scenario_deinit(&scenario);
}

static void counted_steps_go_on_where_they_stopped(void **state)
{
	(void)state;
	plays(MACHINE "files: {s: {count: 5}}\njobs: {j: {stat: s, count: 2, loop: 3}}\n",
	      stub_constant,
	      "0 0 exists s/0 0 0\n0 0 exists s/1 0 0\n0 0 exists s/2 0 0\n0 0 exists s/3 0 0\n"
	      "0 0 exists s/4 0 0\n"
	      "0 1 stat s/0 0 0\n1000 1 stat s/1 0 0\n2000 1 mark pass 0 0\n"
	      "2001 1 stat s/2 0 0\n3001 1 stat s/3 0 0\n4001 1 mark pass 0 0\n"
	      "4002 1 stat s/4 0 0\n5002 1 stat s/0 0 0\n6002 1 mark pass 0 0\n");
}

static void syncs_come_every_so_many_requests(void **state)
{
	(void)state;
	plays(MACHINE
	      "files: {a: {size: 20KiB}}\n"
	      "jobs: {j: {write: a, request: 4KiB, fdatasync_every: 2, close_after: yes}}\n",
	      stub_constant,
	      "0 0 exists a 0 20480\n0 1 write a 0 4096\n1000 1 write a 4096 4096\n"
	      "2000 1 fdatasync a 0 0\n3000 1 write a 8192 4096\n4000 1 write a 12288 4096\n"
	      "5000 1 fdatasync a 0 0\n6000 1 write a 16384 4096\n7000 1 close a 0 0\n");
}

static void names_have_the_length_and_directory_asked_for(void **state)
{
	struct scenario scenario;
	char *ops, path[5000];

	(void)state;
	scenario_right(&scenario, MACHINE
		       "files: {s: {directory: a/b, count: 25, per_directory: 10, name_length: 40, "
		       "exists: no}}\njobs: {j: {create: s}}\n");
	assert_int_equal(scenario_path(&scenario.files[0], 24, path, sizeof(path)),
			 strlen("a/b/2/") + 40);
	assert_int_equal(strncmp(path, "a/b/2/24", 8), 0);
	ops = scenario_play(&scenario, 1, stub_constant, 10000, NULL);
	assert_int_equal(strncmp(ops,
				 "0 0 mkdir a 0 0\n1000 0 mkdir a/b 0 0\n2000 0 mkdir a/b/0 0 0\n"
				 "3000 0 mkdir a/b/1 0 0\n4000 0 mkdir a/b/2 0 0\n",
				 40),
			 0);
	assert_int_equal(count_of(ops, "mkdir"), 5);
	assert_int_equal(count_of(ops, "create a/b/2/"), 5);
	free(ops);
	scenario_deinit(&scenario);
}

static void steps_go_past_the_cache_and_list_directories(void **state)
{
	struct scenario scenario;
	char *ops;

	(void)state;
	scenario_right(&scenario, MACHINE
		       "files: {a: {size: 3KiB}, s: {count: 5, per_directory: 2, size: 100}}\n"
		       "jobs:\n"
		       "  j:\n"
		       "    steps:\n"
		       "      - {read: a, direct: yes, request: 2KiB}\n"
		       "      - {write: a, direct: yes, bytes: 1KiB}\n"
		       "      - {read: a, dontcache: yes}\n"
		       "      - {write: a, dontcache: yes}\n"
		       "      - readdir: s\n"
		       "      - readdir: a\n"
		       "      - {stat: s, list: yes}\n"
		       "      - {read: s, list: yes, close_after: yes, count: 3}\n"
		       "      - drop_caches: 3\n");
	ops = scenario_play(&scenario, 1, stub_constant, 10000, NULL);
	assert_int_equal(count_of(ops, " read_direct a 0 2048\n"), 1);
	assert_int_equal(count_of(ops, " read_direct a 2048 1024\n"), 1);
	assert_int_equal(count_of(ops, " write_direct a 0 1024\n"), 1);
	assert_int_equal(count_of(ops, " read_dontcache a 0 3072\n"), 1);
	assert_int_equal(count_of(ops, " write_dontcache a 0 3072\n"), 1);
	assert_int_equal(count_of(ops, " readdir s/0 "), 3);
	assert_int_equal(count_of(ops, " readdir s/1 "), 3);
	assert_int_equal(count_of(ops, " readdir s/2 "), 2); /* three files are in two */
	assert_int_equal(count_of(ops, " readdir . "), 1);
	assert_int_equal(count_of(ops, " drop_caches "), 1);
	assert_int_equal(count_of(ops, " read s/"), 3);
	assert_int_equal(count_of(ops, " close s/"), 3);
	free(ops);
	scenario_deinit(&scenario);
}

/* Ops that take longer the more they carry, and now and then a millisecond. */
static uint64_t stub_uneven(const struct op *op)
{
	return op->kind == OP_MARK ? 0 : 700 + op->bytes / 7 + (op->offset % 13 == 5 ? 1000000 : 0);
}

static const char random_scenario[] =
	MACHINE "files: {a: {size: 64MiB}, s: {count: 5000}, n: {count: 3000, exists: no}}\n"
		"jobs:\n"
		"  z: {read: a, pattern: zipf, request: 4KiB, count: 2000, threads: 3}\n"
		"  u: {write: a, pattern: uniform, request: 6000, count: 2000, rate: 1000000/s}\n"
		"  s: {stat: s, pattern: shuffled, loop: forever, until: [z, u]}\n"
		"  d: {stat: s, pattern: readdir, loop: forever, duration: 4ms}\n"
		"  c: {create: n, threads: 2, think: 3us}\n";

static void the_same_seed_gives_the_same_ops_to_the_byte(void **state)
{
	struct scenario scenario;
	char *first, *again, *other;

	(void)state;
	scenario_right(&scenario, random_scenario);
	first = scenario_play(&scenario, 7, stub_uneven, 100000, NULL);
	again = scenario_play(&scenario, 7, stub_uneven, 100000, NULL);
	other = scenario_play(&scenario, 8, stub_uneven, 100000, NULL);
	assert_true(strlen(first) > 300000);
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
	free(first);
	free(again);
	free(other);
	scenario_deinit(&scenario);
}

static void times_never_go_back_and_all_ends_without_answers(void **state)
{
	struct scenario scenario;
	struct error error;
	struct op_source *source;
	struct op op;
	uint64_t before_ns = 0, ops = 0, done, total;
	size_t got;

	(void)state;
	scenario_right(&scenario, random_scenario);
	source = scenario_source_create(&scenario, 1, &error);
	while (op_source_next(source, &op, 64, &got, &error) && got) {
		assert_int_equal(got, 1);
		assert_true(op.time_ns >= before_ns);
		assert_true(op.stream <= source->stream_count);
		before_ns = op.time_ns;
		ops++;
		assert_true(ops < 10000000);
	}
	source->interface->progress(source, &done, &total);
	assert_true(done > 0 && done <= total);
	op_source_destroy(source);
	scenario_deinit(&scenario);
}

static void progress_at(struct op_source *source, uint64_t ops, double fraction)
{
	uint64_t now_ns = 0, next_ns, done, total;
	struct error error;
	struct op op;
	size_t got;

	while (ops > 0) {
		assert_true(
			source->interface->next_due(source, now_ns, &op, &got, &next_ns, &error));
		if (!got) {
			assert_true(next_ns != UINT64_MAX);
			now_ns = next_ns;
			continue;
		}
		now_ns += 1000;
		source->interface->completed(source, &op, now_ns);
		ops--;
	}
	source->interface->progress(source, &done, &total);
	assert_true(total > 0);
	assert_true((double)done / (double)total > fraction - 0.02 &&
		    (double)done / (double)total < fraction + 0.02);
}

/* Somebody waits for hours, and is told that it is done, or never that it will be. */
static void progress_is_that_of_the_job_that_ends_last(void **state)
{
	static const struct {
		const char *jobs;
		uint64_t ops;
		double fraction;
	} cases[] = {
		{"{r: {read: f, request: 4KiB, loop: 8}}", 1025, 0.5},
		/* 2000 ops of 1 us */
		{"{r: {read: f, request: 4KiB, loop: forever, duration: 8ms}}", 2000, 0.25},
		{"{r: {read: f, request: 4KiB, loop: forever, duration: 8ms}, "
		 "q: {read: f, request: 4KiB, loop: forever, duration: 4ms}}",
		 2000, 0.25},
		{"{r: {read: f, request: 4KiB, loop: forever, until: q}, "
		 "q: {read: f, request: 4KiB, loop: forever, duration: 4ms}}",
		 2000, 0.5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scenario scenario;
		struct error error;
		struct op_source *source;
		char text[512];

		snprintf(text, sizeof(text),
			 "machine: {memory: 1GiB}\nfiles: {f: {size: 1MiB}}\njobs: %s\n",
			 cases[i].jobs);
		scenario_right(&scenario, text);
		source = scenario_source_create(&scenario, 1, &error);
		progress_at(source, cases[i].ops, cases[i].fraction);
		op_source_destroy(source);
		scenario_deinit(&scenario);
	}
}

/* Two clients and a third that waits for the first: whoever's time has come goes, beside the others. */
static void clients_side_by_side_wait_for_nobody_but_themselves(void **state)
{
	struct scenario scenario;
	struct error error;
	struct op_source *source;
	struct op first, second, third;
	size_t got;
	uint64_t next_ns;

	(void)state;
	scenario_right(&scenario, MACHINE "files: {a: {size: 256KiB}}\n"
					  "jobs:\n"
					  "  one: {read: a}\n"
					  "  two: {read: a, start: 500ns}\n"
					  "  three: {stat: a, after: one}\n");
	source = scenario_source_create(&scenario, 1, &error);
	assert_int_equal(source->thread_count, 3);
	/* The files first, one after the other. */
	assert_true(source->interface->next_due(source, 0, &first, &got, &next_ns, &error));
	assert_int_equal(first.kind, OP_EXISTS);
	assert_true(source->interface->next_due(source, 0, &second, &got, &next_ns, &error));
	assert_int_equal(got, 0);
	source->interface->completed(source, &first, 0);

	assert_true(source->interface->next_due(source, 10, &first, &got, &next_ns, &error));
	assert_int_equal(got, 1);
	assert_int_equal(first.thread, 1);
	assert_int_equal(next_ns, 500); /* whoever gets one is told when the next is due */
	/* The second is not due yet; then it is, though the first is under way. */
	assert_true(source->interface->next_due(source, 20, &second, &got, &next_ns, &error));
	assert_int_equal(got, 0);
	assert_int_equal(next_ns, 500);
	assert_true(source->interface->next_due(source, 600, &second, &got, &next_ns, &error));
	assert_int_equal(got, 1);
	assert_int_equal(second.thread, 2);
	assert_int_equal(second.time_ns, 600);
	assert_true(next_ns == UINT64_MAX);
	/* All are under way, or wait for those that are. */
	assert_true(source->interface->next_due(source, 700, &third, &got, &next_ns, &error));
	assert_int_equal(got, 0);
	assert_true(next_ns == UINT64_MAX);
	/* The later one is done first. */
	source->interface->completed(source, &second, 800);
	assert_true(source->interface->next_due(source, 900, &second, &got, &next_ns, &error));
	assert_int_equal(second.thread, 2);
	assert_int_equal(second.offset, 131072);
	source->interface->completed(source, &first, 1000);
	assert_true(source->interface->next_due(source, 1100, &first, &got, &next_ns, &error));
	assert_int_equal(first.thread, 1);
	assert_int_equal(first.offset, 131072);
	source->interface->completed(source, &first, 1200);
	/* The first job has ended: the third begins. */
	assert_true(source->interface->next_due(source, 1300, &third, &got, &next_ns, &error));
	assert_int_equal(got, 1);
	assert_int_equal(third.thread, 3);
	assert_int_equal(third.kind, OP_STAT);
	source->interface->completed(source, &third, 1400);
	source->interface->completed(source, &second, 1500);
	assert_true(source->interface->next_due(source, 1600, &third, &got, &next_ns, &error));
	assert_int_equal(got, 0);
	assert_true(next_ns == UINT64_MAX);
	op_source_destroy(source);
	scenario_deinit(&scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_side_by_side_wait_for_nobody_but_themselves),
		cmocka_unit_test(jobs_take_turns_by_their_own_clocks),
		cmocka_unit_test(ties_go_to_the_earlier_job),
		cmocka_unit_test(steps_follow_one_another_and_marks_have_labels),
		cmocka_unit_test(advice_with_a_request_goes_on_where_it_stopped),
		cmocka_unit_test(each_does_its_steps_for_every_file),
		cmocka_unit_test(what_is_cached_was_read_or_written_before),
		cmocka_unit_test(until_ends_a_job_in_the_middle_of_a_pass),
		cmocka_unit_test(a_job_that_waits_starts_after_all_that_it_waits_for),
		cmocka_unit_test(rates_and_thinking_pace_a_job),
		cmocka_unit_test(a_duration_ends_a_job),
		cmocka_unit_test(threads_split_or_share),
		cmocka_unit_test(counted_steps_go_on_where_they_stopped),
		cmocka_unit_test(syncs_come_every_so_many_requests),
		cmocka_unit_test(names_have_the_length_and_directory_asked_for),
		cmocka_unit_test(steps_go_past_the_cache_and_list_directories),
		cmocka_unit_test(the_same_seed_gives_the_same_ops_to_the_byte),
		cmocka_unit_test(times_never_go_back_and_all_ends_without_answers),
		cmocka_unit_test(progress_is_that_of_the_job_that_ends_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
