/*
 * If this fails, somebody is advised to do what was never tried: a remedy changes other operations than it says, or the telling apart of
 * targets alone changes what the model does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "op/path.h"
#include "op/trace.h"
#include "source/player.h"
#include "study/advise.h"
#include "study/remedy.h"
#include "study/remedy_source.h"
#include "study/trial.h"

/* ---- edits ---- */

/* What a remedy makes of these rows, for the first target, as "read wal 0 4096; ...". */
static void edited(char *text, size_t bytes, const char *id, const char *rows, uint64_t unit_bytes)
{
	char path[] = "/tmp/refault-advise-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct remedy_try attempt = {
		.remedy = remedy_find(id), .targets = 1, .unit_bytes = unit_bytes};
	struct remedy_targets targets = {0};
	struct remedy_source_options options = {.targets = &targets, .attempt = &attempt};
	struct op_source *inner, *source;
	struct error error;
	struct op ops[3]; /* fewer than one op may become */
	size_t got, used = 0;

	assert_non_null(attempt.remedy);
	assert_non_null(file);
	fprintf(file, "time_ns,thread,op,path,offset,bytes\n%s", rows);
	assert_int_equal(fclose(file), 0);
	inner = trace_open(path, NULL, &error);
	assert_non_null(inner);
	options.streams = stream_map_create(STREAM_BY_CLASS);
	source = remedy_source_create(inner, &options);
	text[0] = '\0';
	do {
		assert_true(op_source_next(source, ops, 3, &got, &error));
		for (size_t i = 0; i < got; i++)
			if (ops[i].kind != OP_EXISTS)
				used += (size_t)snprintf(
					text + used, bytes - used, "%s%s %s %lu %lu",
					used ? "; " : "", op_kind_name((enum op_kind)ops[i].kind),
					path_text(source->paths, ops[i].path),
					(unsigned long)ops[i].offset, (unsigned long)ops[i].bytes);
	} while (got > 0);
	op_source_destroy(source);
	op_source_destroy(inner);
	stream_map_destroy(options.streams);
	remedy_targets_deinit(&targets);
	unlink(path);
}

#define EDITED(id, rows, expected)                                                                 \
	do {                                                                                       \
		char text[2000];                                                                   \
		edited(text, sizeof(text), id, rows, PAGE_BYTES);                                  \
		assert_string_equal(text, expected);                                               \
	} while (0)

static void dontneed_drops_a_file_read_to_its_end(void **state)
{
	(void)state;
	EDITED("dontneed", "0,1,exists,a,0,10000\n1,1,read,a,0,8192\n2,1,read,a,8192,8192\n",
	       "read a 0 8192; read a 8192 8192; fadvise_dontneed a 0 16384");
}

static void dontneed_of_a_segment_waits_for_its_sync(void **state)
{
	(void)state;
	EDITED("dontneed",
	       "0,1,exists,wal0,0,8192\n1,1,write,wal0,0,4096\n2,1,fdatasync,wal0,0,0\n"
	       "3,1,write,wal0,4096,4096\n4,1,fdatasync,wal0,0,0\n",
	       "write wal0 0 4096; fdatasync wal0 0 0; write wal0 4096 4096; fdatasync wal0 0 0; "
	       "fadvise_dontneed wal0 0 8192");
}

static void dontneed_syncs_what_nobody_syncs(void **state)
{
	(void)state;
	EDITED("dontneed", "1,1,create,new,0,0\n2,1,write,new,0,8388608\n3,1,close,new,0,0\n",
	       "create new 0 0; write new 0 8388608; fdatasync new 0 0; "
	       "fadvise_dontneed new 0 8388608; close new 0 0");
}

static void only_the_target_is_changed(void **state)
{
	(void)state;
	EDITED("dontcache", "1,1,read,a,0,4096\n2,1,read,b,0,4096\n3,1,write,a,0,4096\n",
	       "read_dontcache a 0 4096; read b 0 4096; write_dontcache a 0 4096");
}

static void direct_reads_are_widened_to_sectors(void **state)
{
	(void)state;
	EDITED("direct", "1,1,read,a,100,1000\n2,1,write,a,512,1024\n",
	       "read_direct a 0 1536; write_direct a 512 1024");
}

static void random_is_advised_once_for_each_opening(void **state)
{
	(void)state;
	EDITED("random", "1,1,read,a,0,1\n2,1,read,a,9,1\n3,1,close,a,0,0\n4,1,mmap_read,a,0,1\n",
	       "fadvise_random a 0 0; read a 0 1; read a 9 1; close a 0 0; madvise_random a 0 0; "
	       "mmap_read a 0 1");
}

static void writes_in_order_become_whole_pages_up_to_the_end(void **state)
{
	(void)state;
	EDITED("whole-pages",
	       "0,1,exists,a,0,10000\n1,1,write,a,0,1000\n2,1,write,a,1000,8000\n"
	       "3,1,write,a,9000,2000\n4,1,write,a,100,10\n",
	       "write a 0 4096; write a 0 10000; write a 8192 2808; write a 100 10");
}

static void the_page_being_filled_is_spared(void **state)
{
	(void)state;
	EDITED("dontneed-range",
	       "1,1,create,log,0,0\n2,1,write,log,0,5000\n3,1,read,log,0,5000\n"
	       "4,1,fadvise_dontneed,log,0,0\n",
	       "create log 0 0; write log 0 5000; read log 0 5000; fadvise_dontneed log 0 4096");
}

static void a_rewritten_file_is_cut_first(void **state)
{
	(void)state;
	EDITED("new-files", "0,1,exists,a,0,8192\n1,1,write,a,0,4096\n2,1,write,a,4096,4096\n",
	       "truncate a 0 0; write a 0 4096; write a 4096 4096");
}

static void advice_and_drops_go(void **state)
{
	(void)state;
	EDITED("no-dontneed",
	       "1,1,read,a,0,1\n2,1,fadvise_dontneed,a,0,0\n3,1,fadvise_dontneed,b,0,0\n",
	       "read a 0 1; fadvise_dontneed b 0 0");
}

static void advice_that_was_given_is_left_out(void **state)
{
	(void)state;
	EDITED("no-random",
	       "1,1,fadvise_random,a,0,0\n2,1,read,a,0,1\n3,1,madvise_random,a,0,0\n"
	       "4,1,fadvise_random,b,0,0\n",
	       "read a 0 1; fadvise_random b 0 0");
	EDITED("no-willneed",
	       "1,1,fadvise_willneed,a,0,4096\n2,1,read,a,0,1\n3,1,fadvise_dontneed,a,0,0\n",
	       "read a 0 1; fadvise_dontneed a 0 0");
}

static void what_goes_past_the_cache_is_buffered(void **state)
{
	(void)state;
	EDITED("buffered",
	       "1,1,read_direct,a,0,512\n2,1,write_dontcache,a,0,512\n3,1,read_direct,b,0,512\n",
	       "read a 0 512; write a 0 512; read_direct b 0 512");
}

/* ---- two at once ---- */

/* A try of this remedy for that target, of a machine that one setting is changed of. */
static struct remedy_try try_of(const char *id, uint64_t targets, const struct model_options *base)
{
	return (struct remedy_try){.remedy = remedy_find(id), .targets = targets, .model = *base};
}

static void two_remedies_are_one_machine(void **state)
{
	struct model_options base = {.memory_bytes = 64 * MIB, .readahead_bytes = 128 * KIB};
	struct remedy_try one, other, both;
	struct error error;

	(void)state;
	assert_true(policy_options_parse(&base.policy, "linux-6.18", &error));
	one = try_of("dontneed", 1, &base);
	other = try_of("readahead", 0, &base);
	other.model.readahead_bytes = 4 * KIB;
	assert_true(remedy_combine(&base, &one, &other, &both));
	assert_int_equal(both.model.readahead_bytes, 4 * KIB);
	assert_int_equal(both.model.memory_bytes, 64 * MIB);
	assert_ptr_equal(both.remedy, one.remedy);
	assert_ptr_equal(both.second, &other);

	/* Switches of the policy one by one. */
	one = try_of("cache-pressure", 0, &base);
	one.model.policy.switches.value[SWITCH_vfs_cache_pressure] = 1000;
	other = try_of("dirty-limits", 0, &base);
	other.model.policy.switches.value[SWITCH_dirty_bytes] = 1 << 20;
	assert_true(remedy_combine(&base, &one, &other, &both));
	assert_int_equal(both.model.policy.switches.value[SWITCH_vfs_cache_pressure], 1000);
	assert_int_equal(both.model.policy.switches.value[SWITCH_dirty_bytes], 1 << 20);
}

static void what_touches_the_same_is_not_combined(void **state)
{
	struct model_options base = {.memory_bytes = 64 * MIB};
	struct remedy_try one, other, both;
	struct error error;

	(void)state;
	assert_true(policy_options_parse(&base.policy, "linux-6.18", &error));
	/* the same target's operations */
	one = try_of("dontneed", 3, &base);
	other = try_of("dontcache", 2, &base);
	assert_false(remedy_combine(&base, &one, &other, &both));
	/* readahead in two ways */
	one = try_of("random", 1, &base);
	other = try_of("readahead", 0, &base);
	assert_false(remedy_combine(&base, &one, &other, &both));
	/* the memory: a split takes some, and more is bought */
	one = try_of("cgroup", 1, &base);
	one.split_bytes = 16 * MIB;
	one.model.memory_bytes -= 16 * MIB;
	other = try_of("memory", 0, &base);
	other.model.memory_bytes += 8 * MIB;
	assert_false(remedy_combine(&base, &one, &other, &both));
	/* another kernel is all switches */
	one = try_of("cache-pressure", 0, &base);
	one.model.policy.switches.value[SWITCH_vfs_cache_pressure] = 10;
	other = try_of("kernel", 0, &base);
	assert_true(policy_options_parse(&other.model.policy, "linux-6.12", &error));
	assert_false(remedy_combine(&base, &one, &other, &both));
}

/* What the first makes of an op the second gets: both are told apart by target. */
static void both_edits_are_carried_out(void **state)
{
	char path[] = "/tmp/refault-advise-XXXXXX", text[500] = "";
	FILE *file = fdopen(mkstemp(path), "w");
	struct remedy_try second = {.remedy = remedy_find("random"), .targets = 2};
	struct remedy_try attempt = {
		.remedy = remedy_find("dontcache"), .targets = 1, .second = &second};
	struct remedy_targets targets = {0};
	struct remedy_source_options options = {.targets = &targets, .attempt = &attempt};
	struct op_source *inner, *source;
	struct error error;
	struct op op;
	size_t got, used = 0;

	(void)state;
	assert_non_null(file);
	fputs("time_ns,thread,op,path,offset,bytes\n1,1,read,a,0,4096\n2,1,read,b,0,4096\n", file);
	assert_int_equal(fclose(file), 0);
	inner = trace_open(path, NULL, &error);
	assert_non_null(inner);
	options.streams = stream_map_create(STREAM_BY_CLASS);
	source = remedy_source_create(inner, &options);
	do {
		assert_true(op_source_next(source, &op, 1, &got, &error));
		if (got)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s",
						 used ? "; " : "",
						 op_kind_name((enum op_kind)op.kind),
						 path_text(source->paths, op.path));
	} while (got > 0);
	assert_string_equal(text, "read_dontcache a; fadvise_random b; read b");
	op_source_destroy(source);
	op_source_destroy(inner);
	stream_map_destroy(options.streams);
	remedy_targets_deinit(&targets);
	unlink(path);
}

/* ---- telling targets apart ---- */

static void run(const char *name, const char *device, bool wrapped, struct result *result)
{
	char path[100], set[100];
	const char *const sets[] = {set};
	struct remedy_targets targets = {0};
	struct remedy_source_options options = {.targets = &targets, .splits_classes = true};
	struct op_source *inner, *source;
	struct error error = {0};
	struct trial trial;

	snprintf(path, sizeof(path), "scenarios/%s.yaml", name);
	snprintf(set, sizeof(set), "machine.device=%s", device ? device : "");
	assert_true(trial_open(&trial, path, sets, device != NULL, &error));
	inner = scenario_source_create(&trial.scenario, trial.model.seed, &error);
	assert_non_null(inner);
	source = wrapped ? remedy_source_create(inner, &options) : inner;
	if (!model_run(&trial.model, source, result, &error))
		fail_msg("%s", error.message);
	if (wrapped)
		op_source_destroy(source);
	op_source_destroy(inner);
	remedy_targets_deinit(&targets);
	trial_close(&trial);
}

static void targets_change_nothing(void **state)
{
	static const struct {
		const char *name, *device;
	} cases[] = {{"cases/c04-merge-plain", NULL},
		     {"cases/c04-merge-plain", "nvme-tlc"},
		     {"corpus/journal-and-hot-data", "hdd-7200"},
		     {"corpus/temporary-files", NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct result plain, told;

		run(cases[i].name, cases[i].device, false, &plain);
		run(cases[i].name, cases[i].device, true, &told);
		assert_int_equal(plain.op_count, told.op_count);
		assert_int_equal(plain.elapsed_ns, told.elapsed_ns);
		assert_memory_equal(&plain.totals, &told.totals, sizeof(plain.totals));
		assert_true(told.stream_count >= plain.stream_count);
		result_deinit(&plain);
		result_deinit(&told);
	}
}

/* ---- the answer ---- */

static void advise_on(struct advice *advice, struct trial *trial, const char *name,
		      size_t thread_count, const char *const *only, size_t only_count)
{
	struct error error = {0};
	struct advise_options options = {
		.scenario = &trial->scenario,
		.scenario_name = name,
		.input = name,
		.splits_classes = true,
		.only = only,
		.only_count = only_count,
		.seed_count = 2,
		.thread_count = thread_count,
	};

	assert_true(trial_open(trial, name, NULL, 0, &error));
	options.model = trial->model;
	if (!advise_run(&options, advice, &error))
		fail_msg("%s", error.message);
}

static void the_answer_does_not_depend_on_threads(void **state)
{
	static const char *const only[] = {"whole-pages", "new-files", "memory", "readahead"};
	struct trial trials[2];
	struct advice advices[2];

	(void)state;
	for (size_t i = 0; i < 2; i++)
		advise_on(&advices[i], &trials[i], "scenarios/cases/c53-wal-recycle.yaml",
			  i ? 3 : 1, only, 4);
	assert_int_equal(advices[0].remedies.count, advices[1].remedies.count);
	assert_true(advices[0].remedies.count > 3);
	for (size_t i = 0; i < advices[0].remedies.count; i++) {
		const struct advice_remedy *a = advices[0].remedies.at[i];
		const struct advice_remedy *b = advices[1].remedies.at[i];

		assert_string_equal(a->title, b->title);
		assert_memory_equal(&a->reads, &b->reads, sizeof(a->reads));
		assert_memory_equal(&a->score, &b->score, sizeof(a->score));
	}
	for (size_t i = 0; i < 2; i++) {
		advice_deinit(&advices[i]);
		trial_close(&trials[i]);
	}
}

/* A loop over 80 MiB in 64 MiB reads all of it each time; in 81 nothing (docs/lint.md). */
static void the_least_memory_is_found(void **state)
{
	static const char *const only[] = {"memory"};
	struct trial trial;
	struct advice advice;
	uint64_t memory;

	(void)state;
	advise_on(&advice, &trial, "scenarios/corpus/loop-larger-than-memory.yaml", 1, only, 1);
	assert_int_equal(advice.headline, ADVICE_MORE_MEMORY);
	assert_int_equal(advice.remedies.count, 1);
	assert_true(advice.remedies.at[0]->rereads.changed <=
		    0.1 * advice.remedies.at[0]->rereads.base);
	memory = advice.memory_bytes + advice.remedies.at[0]->memory_bytes;
	assert_in_range(memory, 80 * MIB, 82 * MIB);
	advice_deinit(&advice);
	trial_close(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dontneed_drops_a_file_read_to_its_end),
		cmocka_unit_test(dontneed_of_a_segment_waits_for_its_sync),
		cmocka_unit_test(dontneed_syncs_what_nobody_syncs),
		cmocka_unit_test(only_the_target_is_changed),
		cmocka_unit_test(direct_reads_are_widened_to_sectors),
		cmocka_unit_test(random_is_advised_once_for_each_opening),
		cmocka_unit_test(writes_in_order_become_whole_pages_up_to_the_end),
		cmocka_unit_test(the_page_being_filled_is_spared),
		cmocka_unit_test(a_rewritten_file_is_cut_first),
		cmocka_unit_test(advice_and_drops_go),
		cmocka_unit_test(advice_that_was_given_is_left_out),
		cmocka_unit_test(what_goes_past_the_cache_is_buffered),
		cmocka_unit_test(two_remedies_are_one_machine),
		cmocka_unit_test(what_touches_the_same_is_not_combined),
		cmocka_unit_test(both_edits_are_carried_out),
		cmocka_unit_test(targets_change_nothing),
		cmocka_unit_test(the_answer_does_not_depend_on_threads),
		cmocka_unit_test(the_least_memory_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
