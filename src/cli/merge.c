/*
 * refault merge: the files of a sweep's shards, as one
 */
#include <stdio.h>

#include "cli/command.h"
#include "cli/sweep_answer.h"

struct merge_arguments {
	struct text_list files;
	const char *output;
	struct sweep_answer_arguments answer;
	struct keep_arguments keep;
};

#define FIELD(name) offsetof(struct merge_arguments, name)

extern const struct command command_merge;

static const struct option options[] = {
	{"output", 'o', "FILE", "write the cells of all of them there, as `refault sweep -o` does",
	 OPTION_TEXT, FIELD(output), COMPLETE_FILE},
	KEEP_OPTIONS(merge_arguments, keep),
	SWEEP_ANSWER_OPTIONS(merge_arguments, answer),
	{0},
};

static bool files_read(struct sweep_cells *all, const struct text_list *files, struct error *error)
{
	if (!sweep_cells_read(all, files->at[0], error))
		return false;
	for (size_t i = 1; i < files->count; i++) {
		struct sweep_cells cells;
		bool done = sweep_cells_read(&cells, files->at[i], error);

		if (done) {
			done = sweep_cells_take(all, &cells, files->at[i], error);
			sweep_cells_deinit(&cells);
		}
		if (done)
			continue;
		sweep_cells_deinit(all);
		return false;
	}
	return true;
}

/* What is not there yet is no success, unless it is to be put together further. */
static int missing(const struct sweep_cells *cells, bool is_written)
{
	size_t count = cells->count - cells->done_count;

	if (count == 0)
		return 0;
	fprintf(stderr, "refault: %s%zu of %zu cells are in none of the files\n",
		is_written ? "warning: " : "", count, cells->count);
	return is_written ? 0 : 1;
}

static int answer(const struct merge_arguments *arguments, struct keep *keep,
		  const struct sweep_cells *cells, struct error *error)
{
	static const char *const told[] = {"output", "metric", "csv", NULL};
	bool is_whole = cells->done_count == cells->count;
	int code;

	if (arguments->output && !sweep_cells_write(cells, arguments->output, error))
		return command_fail(error);
	if (sweep_answer_is_failure(cells, error))
		return command_fail(error);
	if (is_whole) {
		keep_command(keep, "merge", &command_merge, arguments, told);
		sweep_answer_keep(keep, cells, &arguments->answer);
		keep_store(keep);
	}
	code = sweep_answer_print(cells, &arguments->answer);
	return code ? code : missing(cells, arguments->output != NULL);
}

static int merge(const void *values)
{
	const struct merge_arguments *arguments = values;
	struct sweep_cells cells;
	struct error error;
	struct keep keep;
	int code;

	if (!sweep_answer_check(&arguments->answer, &error) ||
	    !keep_begin(&keep, &arguments->keep, &error))
		return command_fail(&error);
	if (files_read(&cells, &arguments->files, &error)) {
		code = answer(arguments, &keep, &cells, &error);
		sweep_cells_deinit(&cells);
	} else {
		code = command_fail(&error);
	}
	keep_end(&keep);
	return code;
}

static const char *const usage[] = {
	"merge FILE... [-o FILE] [--metric NAME] [--csv|--json]",
	NULL,
};

static const struct example examples[] = {
	{"merge part-1.sweep part-2.sweep part-3.sweep",
	 "the answer of a sweep that was run in three shards"},
	{"merge part-*.sweep -o all.sweep --csv", "the same as CSV, and all cells in one file"},
	{0},
};

const struct command command_merge = {
	.usage = usage,
	.description = "Put together what shards of one sweep have written (`refault sweep --shard "
		       "I/N -o FILE`), and print the answer that one process "
		       "would have printed, to the byte. Files may overlap, and may be of shards "
		       "that were stopped; cells that are in none "
		       "of them are told, and the exit code is then 1, unless -o writes what there "
		       "is, to be merged "
		       "further. Files of another trace, of other cells, options or another "
		       "refault are refused. docs/sweep.md tells more.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct merge_arguments),
	.operands_offset = FIELD(files),
	.operand = "FILE",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.operand_complete = COMPLETE_FILE,
	.run = merge,
};
