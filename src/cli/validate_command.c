#include "cli/validate_command.h"

#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "base/size.h"
#include "cli/interrupt.h"
#include "cli/recorded.h"
#include "measure/validation.h"
#include "report/report.h"
#include "report/validation.h"
#include "study/validate.h"

struct rounds {
	struct roundtrip *trips;
	struct validation *validations;
	size_t done;
};

/* "sh -c ..." is what the command says of itself in a heading; all of it is too long. */
static bool round_run(const struct validate_command *command, const char *filesystem,
		      struct rounds *rounds, struct error *error)
{
	char **words = memory_alloc(command->word_count + 1, sizeof(*words));
	struct roundtrip *trip = &rounds->trips[rounds->done];
	struct roundtrip_options options = command->options;
	bool done;

	for (size_t i = 0; i < command->word_count; i++)
		words[i] = (char *)command->words[i];
	options.command = words;
	done = filesystem_choose(&options.model.filesystem, filesystem ? filesystem : "ext4",
				 error) &&
	       roundtrip_run(&options, trip, error);
	memory_free(words);
	if (!done) {
		roundtrip_deinit(trip);
		return false;
	}
	validation_make(&rounds->validations[rounds->done], &trip->predicted, &trip->measured,
			command->tolerance);
	rounds->done++;
	return true;
}

static struct validation_report report_of(const struct validate_command *command,
					  const struct rounds *rounds, struct validation_run *runs)
{
	for (size_t i = 0; i < rounds->done; i++)
		runs[i] = (struct validation_run){&rounds->trips[i].predicted,
						  &rounds->trips[i].measured,
						  &rounds->validations[i], "", ""};
	return (struct validation_report){
		.runs = runs,
		.count = rounds->done,
		.tolerance = command->tolerance,
		.colour = command_may_colour(stdout),
	};
}

static void print(const struct validate_command *command, const struct rounds *rounds,
		  const struct validation_report *report)
{
	const struct roundtrip *trip;

	validation_text(stdout, report);
	for (size_t i = 0; i < rounds->done; i++) {
		char ops[2 * SIZE_TEXT_BYTES], time[SIZE_TEXT_BYTES];

		trip = &rounds->trips[i];
		printf("\n  recorded      %s ops in %s on %s\n",
		       count_format(ops, trip->summary.ops),
		       time_format(time, trip->summary.elapsed_ns), trip->measured.filesystem);
		recorded_print_coverage(&trip->summary);
		recorded_print_unseen(&trip->summary);
		if (WIFEXITED(trip->summary.command_status) &&
		    WEXITSTATUS(trip->summary.command_status) != 0)
			printf("  the command   ended with %d\n",
			       WEXITSTATUS(trip->summary.command_status));
	}
	if (command->options.trace)
		printf("\nThe trace is %s: refault replay %s --cgroup-limit SIZE\n",
		       command->options.trace, command->options.trace);
}

static json_t *answer_json(const struct validate_command *command, const struct rounds *rounds,
			   const struct validation_report *report)
{
	json_t *json = validation_json(report), *recordings = json_array();

	for (size_t i = 0; i < rounds->done; i++)
		json_array_append_new(
			recordings,
			recorded_json(command->options.trace ? command->options.trace : "",
				      &rounds->trips[i].summary));
	json_object_set_new(json, "recordings", recordings);
	return json;
}

/* The text as it is printed, without colour. NULL: there is no memory file. */
static char *answer_text(const struct validate_command *command, const struct rounds *rounds,
			 struct validation_report report)
{
	FILE *terminal = stdout, *out;
	char *text = NULL;
	size_t bytes;

	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	report.colour = false;
	stdout = out;
	print(command, rounds, &report);
	stdout = terminal;
	fclose(out);
	return text;
}

static void keep_all(const struct validate_command *command, const struct rounds *rounds,
		     const struct validation_report *report)
{
	const struct report_options drawing = {.input = command->options.trace, .is_trace = true};

	if (command->keep->arguments->no_store)
		return;
	for (size_t i = 0; i < rounds->done; i++) {
		struct result predicted = rounds->trips[i].predicted;

		/* The file that the recording was in is gone. */
		predicted.input = rounds->trips[i].measured.input;
		keep_run(command->keep, &predicted, &drawing, NULL, NULL);
		keep_run(command->keep, &rounds->trips[i].measured, &drawing, NULL, NULL);
	}
	keep_answer(command->keep, answer_text(command, rounds, *report),
		    answer_json(command, rounds, report), false);
	keep_store(command->keep);
}

int validate_command_run(const struct validate_command *command)
{
	size_t count = command->filesystems->count ? command->filesystems->count : 1;
	struct rounds rounds = {
		.trips = memory_alloc(count, sizeof(*rounds.trips)),
		.validations = memory_alloc(count, sizeof(*rounds.validations)),
	};
	struct validation_run *runs = memory_alloc(count, sizeof(*runs));
	struct validate_command run = *command;
	struct validation_report report;
	struct error error = {0};
	int code = 0;

	run.options.interrupted = interrupt_begin();
	for (size_t i = 0; i < count && code == 0; i++)
		if (!round_run(&run,
			       command->filesystems->count ? command->filesystems->at[i] : NULL,
			       &rounds, &error))
			code = command_fail(&error);
	report = report_of(&run, &rounds, runs);
	if (code == 0)
		keep_all(&run, &rounds, &report);
	if (code == 0 && run.json)
		report_json_print(stdout, answer_json(&run, &rounds, &report));
	else if (code == 0)
		print(&run, &rounds, &report);
	if (code == 0 && !validation_holds(&report))
		code = 1;
	for (size_t i = 0; i < rounds.done; i++) {
		validation_deinit(&rounds.validations[i]);
		roundtrip_deinit(&rounds.trips[i]);
	}
	memory_free(rounds.trips);
	memory_free(rounds.validations);
	memory_free(runs);
	interrupt_end();
	return code;
}
