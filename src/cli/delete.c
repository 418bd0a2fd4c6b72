/*
 * refault delete: runs that are not to be kept any longer
 */
#include <string.h>

#include "cli/keep.h"
#include "cli/kept.h"
#include "report/report.h"

struct delete_arguments {
	struct text_list runs;
	const char *db;
	bool json;
};

#define FIELD(name) offsetof(struct delete_arguments, name)

static const struct option options[] = {
	STORE_OPTION(delete_arguments, db),
	{"json", 0, NULL, "print JSON: {\"deleted\": [ID, ...]}", OPTION_FLAG, FIELD(json),
	 COMPLETE_NONE},
	{0},
};

/* Their ids, which will be gone. */
static bool ids_read(struct kept *kept, json_t *ids, struct error *error)
{
	struct stored_runs runs;
	bool done = store_list(kept->store, &runs, error);

	for (size_t i = 0; done && i < kept->count; i++)
		for (size_t k = 0; k < runs.list.count; k++)
			if (runs.list.at[k].number == kept->numbers[i])
				json_array_append_new(ids, json_string(runs.list.at[k].id));
	stored_runs_deinit(&runs);
	return done;
}

static void print(json_t *ids, bool json)
{
	if (json) {
		report_json_print(stdout, json_pack("{s:O}", "deleted", ids));
		return;
	}
	fputs("deleted ", stdout);
	for (size_t i = 0; i < json_array_size(ids); i++)
		printf("%s%s", i ? ", " : "", json_string_value(json_array_get(ids, i)));
	putchar('\n');
}

static int delete_runs(const void *values)
{
	const struct delete_arguments *arguments = values;
	json_t *ids = json_array();
	struct kept kept;
	struct error error;
	int code = 0;

	if (!kept_open(&kept, arguments->db, STORE_READ, &arguments->runs, &error)) {
		json_decref(ids);
		return command_fail(&error);
	}
	store_close(kept.store);
	if (store_open(&kept.store, arguments->db, STORE_WRITE, &error) &&
	    ids_read(&kept, ids, &error) &&
	    store_delete(kept.store, kept.numbers, kept.count, &error))
		print(ids, arguments->json);
	else
		code = command_fail(&error);
	kept_close(&kept);
	json_decref(ids);
	return code;
}

static const char *const usage[] = {
	"delete RUN... [--db PATH] [--json]",
	NULL,
};

static const struct example examples[] = {
	{"delete @last", "the last run"},
	{"delete a7f31c2 91c04be", "two, by the beginnings of their ids"},
	{0},
};

const struct command command_delete = {
	.usage = usage,
	.description = "Delete runs that were kept: all of those that are named or, if one of the "
		       "names is wrong, none. " KEPT_NAMES,
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct delete_arguments),
	.operands_offset = FIELD(runs),
	.operand = "RUN",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.operand_complete = COMPLETE_NONE,
	.run = delete_runs,
};
