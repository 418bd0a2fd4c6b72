#include "cli/kept.h"

#include "base/memory.h"
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

bool kept_open(struct kept *kept, const char *db, enum store_access access,
	       const struct text_list *names, struct error *error)
{
	*kept = (struct kept){0};
	if (!store_open(&kept->store, db, access, error))
		return false;
	kept->numbers = memory_alloc(names->count + 1, sizeof(*kept->numbers));
	if (store_find_all(kept->store, names->at, names->count, kept->numbers, error)) {
		kept->count = without_repeated(kept->numbers, names->count);
		return true;
	}
	kept_close(kept);
	return false;
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
