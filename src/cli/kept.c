#include "cli/kept.h"

#include <string.h>

#include "base/array.h"
#include "report/report.h"
#include "report/runs.h"

static size_t without_repeated(uint64_t *numbers, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		size_t same = 0;

		while (same < kept && numbers[same] != numbers[i])
			same++;
		if (same == kept)
			numbers[kept++] = numbers[i];
	}
	return kept;
}

static bool is_group(const char *name)
{
	size_t bytes = strlen(name);

	return bytes > 1 && name[bytes - 1] == '+';
}

struct numbers {
	ARRAY(uint64_t) list;
};

/* All runs of the command that this one is of, in its order. */
static void group_add(struct numbers *numbers, const struct stored_runs *runs, uint64_t number)
{
	uint64_t command = 0;

	for (size_t i = 0; i < runs->list.count; i++)
		if (runs->list.at[i].number == number)
			command = runs->list.at[i].command_number;
	for (size_t i = 0; i < runs->list.count; i++)
		if (runs->list.at[i].command_number == command)
			*array_push(&numbers->list) = runs->list.at[i].number;
}

bool kept_numbers(struct store *store, const char *const *names, size_t count, uint64_t **numbers,
		  size_t *counts, struct error *error)
{
	struct arena arena = {0};
	const char **plain = arena_alloc(&arena, (count + 1) * sizeof(*plain));
	uint64_t *first = arena_alloc(&arena, (count + 1) * sizeof(*first));
	struct stored_runs runs = {0};
	struct numbers all = {0};
	bool any_group = false, done;

	for (size_t i = 0; i < count; i++) {
		any_group |= is_group(names[i]);
		plain[i] = arena_text(&arena, names[i], strlen(names[i]) - is_group(names[i]));
	}
	/* A run that is kept in between is of another command. */
	done = store_find_all(store, plain, count, first, error) &&
	       (!any_group || store_list(store, &runs, error));
	for (size_t i = 0; done && i < count; i++) {
		size_t before = all.list.count;

		if (is_group(names[i]))
			group_add(&all, &runs, first[i]);
		else
			*array_push(&all.list) = first[i];
		counts[i] = all.list.count - before;
	}
	stored_runs_deinit(&runs);
	arena_deinit(&arena);
	if (!done)
		array_deinit(&all.list);
	*numbers = all.list.at;
	return done;
}

bool kept_open(struct kept *kept, const char *db, enum store_access access,
	       const struct text_list *names, struct error *error)
{
	size_t *counts = memory_alloc(names->count + 1, sizeof(*counts)), count = 0;
	bool done;

	*kept = (struct kept){0};
	done = store_open(&kept->store, db, access, error) &&
	       kept_numbers(kept->store, names->at, names->count, &kept->numbers, counts, error);
	for (size_t i = 0; done && i < names->count; i++)
		count += counts[i];
	memory_free(counts);
	if (done)
		kept->count = without_repeated(kept->numbers, count);
	else
		kept_close(kept);
	return done;
}

void kept_close(struct kept *kept)
{
	store_close(kept->store);
	memory_free(kept->numbers);
	*kept = (struct kept){0};
}

static void print(const struct store *store, const struct stored_runs *runs, size_t digits,
		  bool only_names, bool json)
{
	if (json) {
		report_json_print(stdout, runs_json(runs));
	} else if (only_names) {
		for (size_t i = runs->list.count; i-- > 0;)
			printf("%.*s\n", (int)digits, runs->list.at[i].id);
	} else if (runs->list.count == 0) {
		printf("No run is kept in %s yet: `refault run` and `refault replay` keep "
		       "theirs.\n",
		       store_path(store));
	} else {
		runs_text(stdout, runs, digits, command_may_colour(stdout));
	}
}

int kept_list(const char *db, bool only_names, bool json)
{
	struct stored_runs runs = {0};
	struct store *store = NULL;
	struct error error;
	size_t digits;
	int code = 0;

	if (store_open(&store, db, STORE_READ, &error) && store_list(store, &runs, &error) &&
	    store_id_digits(store, &digits, &error))
		print(store, &runs, digits, only_names, json);
	else
		code = command_fail(&error);
	stored_runs_deinit(&runs);
	store_close(store);
	return code;
}
