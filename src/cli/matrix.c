/*
 * refault matrix: one change against the whole regression corpus
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "report/matrix.h"
#include "report/report.h"
#include "source/shipped.h"
#include "study/matrix.h"

/* `all` is what takes seconds. */
enum { SEEDS = 5, SEEDS_MAX = 1000, JOBS_MAX = 1024 };
static const uint64_t memory_bytes_max = 4 * GIB;

struct matrix_arguments {
	struct text_list scenarios, changes, sets;
	const char *policy, *corpus, *metric;
	struct given seeds, seed, jobs;
	bool json;
};

#define FIELD(name) offsetof(struct matrix_arguments, name)

static const struct option options[] = {
	{"change", 0, "KEY=VALUE",
	 "what is changed: a switch of the policy, `policy` itself, a key of the scenarios' "
	 "machine "
	 "(filesystem=xfs), or a path of their keys (machine.readahead=512KiB); may be repeated: "
	 "all "
	 "together are one change",
	 OPTION_TEXTS, FIELD(changes), COMPLETE_NONE},
	{"policy", 0, "NAME[,KEY=VALUE]...",
	 "the base, instead of each scenario's own (`refault list policies`); the newest two-list "
	 "kernel when not given",
	 OPTION_TEXT, FIELD(policy), COMPLETE_POLICY},
	{"corpus", 0, "all|FOLDER",
	 "which scenarios: a folder of those that ship (cases, corpus), a directory, or `all` that "
	 "ship with a machine of 4 GiB at most (when neither this nor a SCENARIO is given)",
	 OPTION_TEXT, FIELD(corpus), COMPLETE_FILE},
	{"metric", 0, "NAME",
	 "what is compared: a counter of --json, elapsed_ns, or tps (work done in a second); "
	 "reread_bytes when not given",
	 OPTION_TEXT, FIELD(metric), COMPLETE_NONE},
	{"set", 0, "KEY=VALUE", "change each scenario for both sides, as in `refault run`",
	 OPTION_TEXTS, FIELD(sets), COMPLETE_NONE},
	{"seeds", 0, "N", "how many seeds each side is run with, the same ones; 5 when not given",
	 OPTION_NUMBER, FIELD(seeds), COMPLETE_NONE},
	{"seed", 0, "N", "the first seed, the others follow; each scenario's own when not given",
	 OPTION_NUMBER, FIELD(seed), COMPLETE_NONE},
	{"jobs", 0, "N",
	 "so many runs at once; as many as there are processors when not given. The answer does "
	 "not "
	 "depend on it",
	 OPTION_NUMBER, FIELD(jobs), COMPLETE_NONE},
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

struct plan {
	const struct matrix_arguments *arguments;
	struct matrix_change change;
	struct matrix_options options;
	ARRAY(const char *) names; /* shipped ones' own, the arguments', or the arena's */
	struct arena arena;
};

/* ---- which scenarios ---- */

static int is_scenario(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && end != entry->d_name &&
	       (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0);
}

static bool directory_add(struct plan *plan, const char *directory, struct error *error)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_scenario, alphasort);

	if (count < 0)
		return error_system(error, "cannot read %.200s", directory);
	for (int i = 0; i < count; i++) {
		size_t bytes = strlen(directory) + strlen(entries[i]->d_name) + 2;
		char *path = arena_alloc(&plan->arena, bytes);

		snprintf(path, bytes, "%s/%s", directory, entries[i]->d_name);
		*array_push(&plan->names) = path;
		free(entries[i]);
	}
	free(entries);
	return count > 0 ||
	       error_input(error, "--corpus %.200s: there are no scenarios (.yaml) in it",
			   directory);
}

/* Is this what ships in that folder? */
static bool is_below(const char *name, const char *folder)
{
	size_t bytes = strlen(folder);

	return strncmp(name, folder, bytes) == 0 && name[bytes] == '/';
}

static bool shipped_add(struct plan *plan, const char *folder, struct error *error)
{
	bool is_all = strcmp(folder, "all") == 0;
	struct nearest nearest = {.wanted = folder};

	for (size_t i = 0; scenario_at(i); i++) {
		const char *name = scenario_at(i)->name, *slash = strchr(name, '/');

		if (is_all || is_below(name, folder))
			*array_push(&plan->names) = name;
		if (slash)
			nearest_offer(&nearest,
				      arena_text(&plan->arena, name, (size_t)(slash - name)));
	}
	if (is_all)
		plan->options.memory_bytes_max = memory_bytes_max;
	nearest_offer(&nearest, "all");
	return plan->names.count > 0 ||
	       error_input(
		       error,
		       "--corpus \"%.100s\" is no directory and no folder of the scenarios that "
		       "ship%s%s%s; `refault list scenarios` shows all",
		       folder, nearest.best ? " (nearest: " : "", nearest.best ? nearest.best : "",
		       nearest.best ? ")" : "");
}

static bool names_make(struct plan *plan, struct error *error)
{
	const struct matrix_arguments *arguments = plan->arguments;
	const char *corpus = arguments->corpus;
	struct stat status;

	for (size_t i = 0; i < arguments->scenarios.count; i++)
		*array_push(&plan->names) = arguments->scenarios.at[i];
	if (!corpus && plan->names.count)
		return true;
	if (corpus && plan->names.count)
		return error_input(error, "give either --corpus or scenarios, not both");
	if (corpus && stat(corpus, &status) == 0 && S_ISDIR(status.st_mode))
		return directory_add(plan, corpus, error);
	return shipped_add(plan, corpus ? corpus : "all", error);
}

/* ---- all else ---- */

static bool plan_make(struct plan *plan, struct error *error)
{
	const struct matrix_arguments *arguments = plan->arguments;
	struct matrix_options *run = &plan->options;
	struct policy_options base;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (arguments->changes.count == 0)
		return error_input(error, "what is the change? As in: refault matrix --policy "
					  "linux-4.5 --change activate_on_write=never");
	if (!policy_options_parse(&base, arguments->policy ? arguments->policy : "", error) ||
	    !matrix_change_parse(&plan->change, &base, arguments->changes.at,
				 arguments->changes.count, error) ||
	    !metric_find(&run->metric, arguments->metric ? arguments->metric : "reread_bytes",
			 error) ||
	    !subject_number(&run->seed_count, arguments->seeds, SEEDS, SEEDS_MAX, "--seeds",
			    error) ||
	    !subject_number(&run->thread_count, arguments->jobs,
			    processors > 0 ? (size_t)processors : 1, JOBS_MAX, "--jobs", error) ||
	    !names_make(plan, error))
		return false;
	run->change = &plan->change;
	run->names = plan->names.at;
	run->name_count = plan->names.count;
	run->sets = arguments->sets.at;
	run->set_count = arguments->sets.count;
	run->has_first_seed = arguments->seed.given;
	run->first_seed = arguments->seed.value;
	return true;
}

static bool run_all(struct plan *plan, struct change *change, struct error *error)
{
	struct progress progress;
	bool done;

	progress_begin(&progress, "running");
	plan->options.progress = progress.wanted ? progress_update : NULL;
	plan->options.progress_context = &progress;
	done = matrix_run(&plan->options, change, error);
	progress_end(&progress);
	return done;
}

static int matrix(const void *values)
{
	struct plan plan = {.arguments = values};
	struct change change = {0};
	struct error error;
	int code = 0;

	if (!plan_make(&plan, &error) || !run_all(&plan, &change, &error)) {
		code = command_fail(&error);
	} else if (plan.arguments->json) {
		report_json_print(stdout, matrix_json(&change));
	} else {
		matrix_text(stdout, &change, command_may_colour(stdout));
	}
	change_deinit(&change);
	matrix_change_deinit(&plan.change);
	array_deinit(&plan.names);
	arena_deinit(&plan.arena);
	return code;
}

static const char *const usage[] = {
	"matrix --change KEY=VALUE... [--policy NAME] [--corpus all|FOLDER] [--metric NAME] "
	"[--json]",
	"matrix --change KEY=VALUE... [--policy NAME] SCENARIO... [--json]",
	NULL,
};

static const struct example examples[] = {
	{"matrix --policy linux-4.5 --change activate_on_write=never",
	 "who would have gained and who would have lost, had it been made alone"},
	{"matrix --policy linux-4.7 --change referenced_on_first_use=no --metric "
	 "inodes_reallocated",
	 "the same for a change that is about inodes"},
	{"matrix --change machine.readahead=512KiB --corpus corpus --seeds 20",
	 "a setting instead of a rule, on one folder, with more seeds"},
	{"matrix --policy linux-6.12 --change policy=linux-6.18 ./mine.yaml",
	 "what an upgrade does to a scenario of one's own"},
	{0},
};

const struct command command_matrix = {
	.usage = usage,
	.description =
		"Run a corpus of scenarios under a base policy and under a change to it, and say "
		"which "
		"of them win by the change, which lose and which do not notice. Each side is run "
		"with the same seeds. An effect is the mean difference, relative to the base's "
		"figure or to 1.6 % of the memory where that is more; below 1 %, or if its 95 % "
		"interval over the seeds holds 0, a scenario is unchanged. What does not depend on "
		"the seed is exact.\n\n"
		"The scenarios that ship in the folder `corpus` come in pairs: what a change is "
		"for, "
		"and what should lose by it. Within a scenario, each job is judged apart. "
		"docs/matrix.md says how to read the answer.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct matrix_arguments),
	.operands_offset = FIELD(scenarios),
	.operand = "SCENARIO",
	.operands_min = 0,
	.operands_max = SIZE_MAX,
	.operand_complete = COMPLETE_SCENARIO,
	.run = matrix,
};
