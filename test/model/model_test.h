/*
 * What the tests of the model share: ops in memory, one a line, and what came of them.
 *
 *     run_text(&run, "exists heap 0 8192\n" "read heap 0 4096\n", ...)
 *
 * A line is [@THREAD] OP PATH [OFFSET BYTES]; for rename the path is from>to. Time goes on by 1 us
 * a line, or jumps with "+SECONDS".
 */
#ifndef REFAULT_TEST_MODEL_TEST_H
#define REFAULT_TEST_MODEL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/model/model.h"
#include "measure/result.h"
#include "op/path.h"
#include "op/source.h"

#define UNUSED __attribute__((unused))

/* ---- ops in memory ---- */

struct op_memory {
	struct op_source source;
	ARRAY(struct op) ops;
	size_t next;
	uint64_t now_ns;
	bool has_lines; /* say which line an op came from */
};

static UNUSED bool op_memory_next(struct op_source *source, struct op *ops, size_t count,
				  size_t *got, struct error *error)
{
	struct op_memory *memory = (struct op_memory *)source;

	(void)error;
	for (*got = 0; *got < count && memory->next < memory->ops.count;)
		ops[(*got)++] = memory->ops.at[memory->next++];
	return true;
}

static UNUSED void op_memory_progress(const struct op_source *source, uint64_t *done,
				      uint64_t *total)
{
	const struct op_memory *memory = (const struct op_memory *)source;

	*done = memory->next;
	*total = memory->ops.count;
}

static UNUSED void op_memory_destroy(struct op_source *source)
{
	struct op_memory *memory = (struct op_memory *)source;

	path_table_destroy(source->paths);
	array_deinit(&memory->ops);
	memory_free(memory);
}

static const struct op_source_interface op_memory_interface UNUSED = {
	.next = op_memory_next, .progress = op_memory_progress, .destroy = op_memory_destroy};

static UNUSED struct op_memory *op_memory_create(void)
{
	struct op_memory *memory = memory_alloc(1, sizeof(*memory));

	memory->source = (struct op_source){.interface = &op_memory_interface,
					    .paths = path_table_create(),
					    .name = "test",
					    .format = "memory"};
	return memory;
}

static UNUSED struct op *op_add(struct op_memory *memory, enum op_kind kind, const char *path,
				uint64_t offset, uint64_t bytes)
{
	struct op *op = array_push(&memory->ops);
	const char *to = op_kind_has_two_paths(kind) ? strchr(path, '>') : NULL;

	memory->now_ns += 1000;
	*op = (struct op){.time_ns = memory->now_ns,
			  .offset = offset,
			  .bytes = bytes,
			  .kind = (uint8_t)kind,
			  .thread = 1};
	if (*path)
		op->path = path_intern(memory->source.paths, path,
				       to ? (size_t)(to - path) : strlen(path));
	if (to)
		op->path_to = path_intern(memory->source.paths, to + 1, strlen(to + 1));
	if (memory->has_lines)
		op->line = (uint32_t)memory->ops.count + 1;
	return op;
}

static UNUSED struct op_memory *op_memory_parse(const char *text)
{
	struct op_memory *memory = op_memory_create();

	while (*text) {
		char line[8192], *at = line, *word;
		size_t bytes = strcspn(text, "\n");
		uint64_t numbers[2] = {0};
		const char *path = "";
		enum op_kind kind;
		uint32_t thread = 1;

		assert_true(bytes < sizeof(line));
		memcpy(line, text, bytes);
		line[bytes] = '\0';
		text += bytes + (text[bytes] == '\n');
		word = strsep(&at, " ");
		if (*word == '+') {
			memory->now_ns += strtoull(word + 1, NULL, 10) * NS_PER_SECOND;
			continue;
		}
		if (*word == '@') {
			thread = (uint32_t)strtoul(word + 1, NULL, 10);
			word = strsep(&at, " ");
		}
		if (!op_kind_from_name(&kind, word, strlen(word)))
			fail_msg("no op \"%s\"", word);
		if (at)
			path = strsep(&at, " ");
		for (int i = 0; i < 2 && at; i++)
			numbers[i] = strtoull(strsep(&at, " "), NULL, 10);
		op_add(memory, kind, path, numbers[0], numbers[1])->thread = thread;
	}
	return memory;
}

/* ---- runs ---- */

struct run {
	const char *policy, *filesystem; /* NULL: linux-6.18 with current statistics, flat */
	uint64_t memory_bytes;           /* 0: 64 MiB */
	bool is_machine, has_lines;
	uint64_t readahead_bytes, pinned_bytes;
	struct result result;
	struct error error;
	bool done;
};

/* Takes the ops. False: the run failed, and why is in run->error. */
static UNUSED bool run_ops(struct run *run, struct op_memory *memory)
{
	struct model_options options = {
		.filesystem = filesystem_find(run->filesystem ? run->filesystem : "flat"),
		.memory_bytes = run->memory_bytes ? run->memory_bytes : 64 * MIB,
		.is_cgroup = !run->is_machine,
		.pinned_bytes = run->pinned_bytes,
		.readahead_bytes = run->readahead_bytes,
		.seed = 1,
		.streams = stream_map_create(STREAM_BY_CLASS),
	};

	assert_non_null(options.filesystem);
	if (!policy_options_parse(&options.policy,
				  run->policy ? run->policy : "linux-6.18,statistics=fresh",
				  &run->error))
		fail_msg("%s", run->error.message);
	if (run->has_lines)
		for (size_t i = 0; i < memory->ops.count; i++)
			memory->ops.at[i].line = (uint32_t)i + 2;
	run->error = (struct error){0};
	run->done = model_run(&options, &memory->source, &run->result, &run->error);
	op_source_destroy(&memory->source);
	stream_map_destroy(options.streams);
	return run->done;
}

static UNUSED bool run_text(struct run *run, const char *text)
{
	return run_ops(run, op_memory_parse(text));
}

static UNUSED void run_end(struct run *run)
{
	result_deinit(&run->result);
}

/* The ops are right, and these are the totals. */
static UNUSED struct counters totals_of(const char *text)
{
	struct run run = {0};
	struct counters totals;

	if (!run_text(&run, text))
		fail_msg("%s", run.error.message);
	totals = run.result.totals;
	run_end(&run);
	return totals;
}

/* The ops are wrong, and this is said. */
static UNUSED void wrong(const char *text, const char *says)
{
	struct run run = {0};

	if (run_text(&run, text))
		fail_msg("no error, expected: %s", says);
	assert_int_equal(run.error.kind, ERROR_INPUT);
	if (!strstr(run.error.message, says))
		fail_msg("\"%s\", expected: %s", run.error.message, says);
	/* Nothing is left to free. */
	assert_null(run.result.marks);
	assert_null(run.result.streams);
	assert_null(run.result.blame);
	assert_null(run.result.input);
}

#endif
