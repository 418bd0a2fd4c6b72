#include "machine/kernel/guest_machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/kernel/guest_play.h"
#include "measure/result_json.h"

struct words {
	struct arena arena;
	ARRAY(const char *) all;
};

static void add(struct words *words, const char *word)
{
	*array_push(&words->all) = word;
}

static void add_number(struct words *words, const char *option, uint64_t value)
{
	char text[32];
	size_t bytes = (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	add(words, option);
	add(words, arena_text(&words->arena, text, bytes));
}

/* What the command is told there, so that it does what was asked for here. */
static void words_make(struct words *words, const struct guest_machine *machine,
		       const struct kernel_options *options)
{
	for (size_t i = 0; machine->words[i]; i++)
		add(words, machine->words[i]);
	add(words, "--statistics");
	add(words, options->statistics == KERNEL_STATISTICS_FRESH ? "fresh" : "lazy");
	if (options->runs)
		add_number(words, "--runs", options->runs);
	add_number(words, "--seed", options->seed);
	if (strcmp(machine->subcommand, "replay") == 0) {
		add_number(words, "--cgroup-limit", options->cgroup_limit_bytes);
		add(words, "--filesystem");
		add(words, options->filesystem);
		if (options->readahead_bytes)
			add_number(words, "--readahead", options->readahead_bytes);
		if (options->pinned_bytes)
			add_number(words, "--pinned", options->pinned_bytes);
	} else {
		add(words, "--clock");
		add(words, options->clock == KERNEL_CLOCK_SCENARIO ? "scenario" : "real");
	}
	*array_push(&words->all) = NULL;
}

/* The first line of what the command complained with, without its own name. */
static bool complaint(const struct guest_outcome *outcome, struct error *error)
{
	static const char own[] = "refault: ";
	const char *line = outcome->errors ? outcome->errors : "";
	size_t skip = strncmp(line, own, strlen(own)) == 0 ? strlen(own) : 0;
	int bytes = (int)strcspn(line + skip, "\n");

	bytes = bytes < 400 ? bytes : 400;
	/* Exit 2 is an input that is wrong, here as there. */
	if (outcome->exit_code == 2)
		return error_input(error, "in the guest: %.*s", bytes, line + skip);
	return error_failed(error, "in the guest (Linux %s): exit %d: %.*s", outcome->release,
			    outcome->exit_code, bytes, line + skip);
}

/*
 * Memory for the system, the input (which lies in it, and is read), and what the group may use; the
 * kernel's own needs for that are charged to the group.
 */
static uint64_t memory_for(const struct guest_machine *machine,
			   const struct kernel_options *options)
{
	struct stat input;
	uint64_t bytes = GIB + options->cgroup_limit_bytes;

	if (stat(machine->input, &input) == 0)
		bytes += 2 * (uint64_t)input.st_size;
	return (bytes + MIB - 1) / MIB * MIB;
}

bool guest_machine_run(const struct guest_machine *machine, const struct kernel_options *options,
		       struct result *result, struct error *error)
{
	struct words words = {0};
	struct guest_play play = {
		.kernel = machine->kernel,
		.subcommand = machine->subcommand,
		.input = machine->input,
		.filesystem = options->filesystem,
		.memory_bytes = memory_for(machine, options),
		.disk_bytes = options->image_bytes,
		.timeout_ns = 3600 * NS_PER_SECOND,
	};
	struct guest_outcome outcome = {0};
	bool done;

	*result = (struct result){0};
	words_make(&words, machine, options);
	play.words = words.all.at;
	done = guest_play(&play, &outcome, error);
	if (done && outcome.exit_code != 0)
		done = complaint(&outcome, error);
	if (done)
		done = result_json_read(result, outcome.output, outcome.output_bytes, error) ||
		       error_context(error, "the guest (Linux %s)", outcome.release);
	if (done) {
		memory_free(result->input);
		result->input = text_copy(machine->name);
		if (outcome.acceleration == GUEST_EMULATION)
			result_note(result, "the guest ran under emulation: times mean nothing");
	}
	guest_outcome_deinit(&outcome);
	array_deinit(&words.all);
	arena_deinit(&words.arena);
	return done;
}
