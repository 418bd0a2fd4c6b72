#include "cli/again.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/kept.h"
#include "source/digest.h"

/* What the run itself tells, what is about answers, and where it ran. */
static const char *const told[] = {
	"policy", "seed", "on",       "guest",      "statistics",   "runs",      "clock", "images",
	"json",   "db",   "no-store", "image-size", "block-device", "directory", NULL};

bool again_is_run(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdef");

	if (name[0] == '@')
		return true;
	return digits >= 4 && digits < STORE_ID_BYTES && name[digits] == '\0' &&
	       access(name, F_OK) != 0;
}

static const char *keep(struct again *again, const char *text)
{
	return arena_text(&again->arena, text, strlen(text));
}

static void word_add(struct again *again, const char *word)
{
	again->words[again->word_count++] = keep(again, word);
}

static void sets_add(struct again *again, const struct scenario_setting *setting)
{
	for (size_t i = 0; setting && i < setting->set_count; i++) {
		word_add(again, "--set");
		word_add(again, setting->sets[i]);
	}
}

/* ---- the column and the row of a comparison of settings, by the run's label ---- */

struct place {
	const struct scenario_setting *cell, *setting; /* NULL: none */
};

static bool label_is(const char *label, const struct scenario_setting *cell, const char *setting)
{
	size_t bytes = cell ? strlen(cell->label) : 0;

	if (!cell)
		return strcmp(label, setting) == 0;
	return strncmp(label, cell->label, bytes) == 0 && strncmp(label + bytes, ", ", 2) == 0 &&
	       strcmp(label + bytes + 2, setting) == 0;
}

static bool place_find(struct place *place, const struct scenario *scenario, const char *label,
		       struct error *error)
{
	*place = (struct place){NULL, NULL};
	if (!label || !scenario->settings)
		return true; /* the policy tells the difference, or there is none */
	for (size_t row = 0; row < (scenario->cell_count ? scenario->cell_count : 1); row++) {
		const struct scenario_setting *cell =
			scenario->cell_count ? &scenario->cells[row] : NULL;

		for (size_t i = 0; i < scenario->variant_count; i++) {
			if (label_is(label, cell, scenario->variants[i])) {
				*place = (struct place){cell, &scenario->settings[i]};
				return true;
			}
		}
	}
	return error_input(error, "scenario %.100s has no setting \"%.100s\" any more",
			   scenario->name, label);
}

/* ---- the words ---- */

static bool scenario_words(struct again *again, const struct text_list *sets, struct error *error)
{
	static const char *const alone[] = {"compare=", "cells=", "claims=", "figures="};
	struct trial trial;
	struct place place;
	bool done;

	if (!trial_open(&trial, again->words[0], sets->at, sets->count, error))
		return false;
	done = place_find(&place, &trial.scenario, again->stored.run.label, error);
	if (done) {
		sets_add(again, place.cell);
		sets_add(again, place.setting);
		for (size_t i = 0; i < sets->count; i++) {
			word_add(again, "--set");
			word_add(again, sets->at[i]);
		}
		for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
			word_add(again, "--set");
			word_add(again, alone[i]);
		}
	}
	trial_close(&trial);
	return done;
}

/* The command's own options as it would say them, --set apart. */
static void options_split(struct again *again, const struct text_list *options,
			  struct text_list *sets)
{
	sets->at = arena_alloc(&again->arena, (options->count + 1) * sizeof(*sets->at));
	for (size_t i = 0; i < options->count; i++) {
		if (strcmp(options->at[i], "--set") == 0 && i + 1 < options->count)
			sets->at[sets->count++] = keep(again, options->at[++i]);
		else
			word_add(again, options->at[i]);
	}
}

static bool words_make(struct again *again, const struct command *command, const void *values,
		       struct error *error)
{
	const struct stored_run *run = &again->stored.run;
	const struct text_list *operands =
		(const void *)((const char *)values + command->operands_offset);
	struct text_list options = command_repeat(command, values, told, &again->arena), sets = {0};
	char seed[32];

	/* A row and a column set some; all else is what was said, and these few. */
	again->words = arena_alloc(&again->arena, (options.count + 4096) * sizeof(*again->words));
	word_add(again, operands->at[0]);
	options_split(again, &options, &sets);
	if (strcmp(run->command, "run") == 0 && !scenario_words(again, &sets, error))
		return false;
	if (run->policy) {
		word_add(again, "--policy");
		word_add(again, run->policy);
	}
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)run->seed);
	word_add(again, "--seed");
	word_add(again, seed);
	return true;
}

static bool words_read(struct again *again, struct error *error)
{
	json_t *list = json_loads(again->stored.run.words, 0, NULL);
	size_t count = json_array_size(list);
	char **words = arena_alloc(&again->arena, (count + 1) * sizeof(*words));
	const struct command_entry *entry = command_find(again->stored.run.command);
	bool wants_help, done = false;
	void *values;

	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));

		words[i] = arena_text(&again->arena, text ? text : "", text ? strlen(text) : 0);
	}
	json_decref(list);
	if (!entry || count < 2)
		return error_input(error, "run %.7s does not tell what was asked",
				   again->stored.run.id);
	values = memory_alloc(1, entry->command->arguments_bytes);
	done = command_parse(entry, values, (int)count - 1, words + 1, &wants_help, error) &&
	       words_make(again, entry->command, values, error);
	command_arguments_deinit(entry->command, values);
	memory_free(values);
	return done;
}

bool again_open(struct again *again, const char *db, const char *name, struct error *error)
{
	const struct text_list names = {.at = &name, .count = 1};
	const struct stored_run *run;
	struct kept kept;
	bool done;

	*again = (struct again){0};
	if (!kept_open(&kept, db, STORE_READ, &names, error))
		return false;
	done = store_load(kept.store, kept.numbers[0], &again->stored, error);
	kept_close(&kept);
	if (!done)
		return false;
	run = &again->stored.run;
	if (run->machine && strcmp(run->machine, "bare") == 0)
		return error_input(error,
				   "run %.7s is a plain cache's (--bare): there is no machine to "
				   "do it again",
				   run->id);
	if (!run->command ||
	    (strcmp(run->command, "replay") != 0 && strcmp(run->command, "run") != 0) ||
	    !run->machine || strcmp(run->machine, "model") != 0)
		return error_input(
			error,
			"run %.7s was not done by `replay` or `run` on the model, but by "
			"`%.40s` on the %.40s: it cannot be done again",
			run->id, run->command ? run->command : "?",
			run->machine ? run->machine : "?");
	return words_read(again, error);
}

bool again_check(const struct again *again, const struct subject *subject, struct error *error)
{
	const struct stored_run *run = &again->stored.run;
	char digest[DIGEST_BYTES];

	if (!run->digest)
		return error_input(error, "run %.7s read its trace from a pipe, which is gone",
				   run->id);
	if (subject->is_scenario)
		digest_scenario(digest, &subject->trial.scenario);
	else if (!digest_file(digest, subject->input))
		return error_input(error, "cannot read %.200s again", subject->input);
	return strcmp(digest, run->digest) == 0 ||
	       error_input(
		       error,
		       "%.200s is not what it was when run %.7s was kept (digest %s, it was %s)",
		       subject->input, run->id, digest, run->digest);
}

void again_close(struct again *again)
{
	stored_deinit(&again->stored);
	arena_deinit(&again->arena);
}
