/*
 * refault list: what there is to choose from
 */
#include <string.h>

#include "base/nearest.h"
#include "cache/policy_options.h"
#include "cli/command.h"
#include "cli/keep.h"
#include "cli/kept.h"
#include "machine/model/device.h"
#include "machine/model/model.h"
#include "op/trace.h"
#include "report/report.h"
#include "report/table.h"
#include "source/generator.h"
#include "source/shipped.h"
#include "source/workload.h"

struct list_arguments {
	struct text_list kinds;
	const char *db;
	bool json, names;
};

#define FIELD(name) offsetof(struct list_arguments, name)

static const struct option options[] = {
	{"names", 0, NULL, "only the names, one a line", OPTION_FLAG, FIELD(names), COMPLETE_NONE},
	STORE_OPTION(list_arguments, db),
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

/* A thing that can be listed, by index; false after the last. */
typedef bool item_at(size_t index, const char **name, const char **summary);

static bool policy_item(size_t index, const char **name, const char **summary)
{
	const struct policy *policy = policy_at(index);

	if (!policy)
		return false;
	*name = policy_name(policy);
	*summary = policy_summary(policy);
	return true;
}

static bool filesystem_item(size_t index, const char **name, const char **summary)
{
	const struct filesystem *filesystem = filesystem_at(index);

	if (!filesystem)
		return false;
	*name = filesystem_name(filesystem);
	*summary = filesystem_summary(filesystem);
	return true;
}

static bool format_item(size_t index, const char **name, const char **summary)
{
	const struct trace_format *format = trace_format_at(index);

	if (!format)
		return false;
	*name = format->name;
	*summary = format->summary;
	return true;
}

static bool scenario_item(size_t index, const char **name, const char **summary)
{
	const struct shipped *scenario = scenario_at(index);

	if (!scenario)
		return false;
	*name = scenario->name;
	*summary = scenario->summary;
	return true;
}

static bool device_item(size_t index, const char **name, const char **summary)
{
	*name = device_profile_shipped(index, summary);
	return *name != NULL;
}

/* The orders of steps, then what a job can be instead of steps. */
static bool generator_item(size_t index, const char **name, const char **summary)
{
	size_t patterns = 0;

	while (generator_at(patterns))
		patterns++;
	if (index < patterns) {
		*name = generator_at(index)->name;
		*summary = generator_at(index)->summary;
		return true;
	}
	if (!workload_at(index - patterns))
		return false;
	*name = workload_at(index - patterns)->name;
	*summary = workload_at(index - patterns)->summary;
	return true;
}

static const struct kind {
	const char *name;
	item_at *at;
} kinds[] = {
	{"policies", policy_item},
	{"filesystems", filesystem_item},
	{"formats", format_item},
	{"devices", device_item},
	{"generators", generator_item},
	{"scenarios", scenario_item},
	{NULL, NULL},
};

static void print_items(const struct kind *kind)
{
	const char *name, *summary;
	struct table *table = table_create();

	table_column(table, kind->name, TABLE_LEFT, TABLE_KEEP);
	table_column(table, "", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; kind->at(i, &name, &summary); i++) {
		table_text(table, name);
		table_text(table, summary);
	}
	table_print(stdout, table, 2, command_may_colour(stdout));
	table_destroy(table);
}

/* Print at most `width` columns a line; what follows begins at `column`. */
static void print_wrapped(const char *text, int column, int width)
{
	int at = column;

	while (*text) {
		int bytes = (int)strcspn(text, " ");

		if (at > column && at + 1 + bytes > width) {
			printf("\n%*s", column, "");
			at = column;
		}
		at += printf("%s%.*s", at > column ? " " : "", bytes, text);
		text += bytes;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* What each switch means, and the words it takes. */
static void print_switches(void)
{
	printf("\n  switches, set one by one: --policy linux-4.5,activate_on_write=never\n\n");
	for (enum switch_id id = 0; id < SWITCH_COUNT; id++) {
		printf("  %s=%s\n      ", switch_name(id), switch_values(id));
		print_wrapped(switch_meaning(id), 6, 98);
	}
}

/* What other policies let one set. */
static void print_options(void)
{
	printf("\n  options of policies that are no kernel: --policy lru-k,k=3\n\n");
	for (size_t i = 0; policy_at(i); i++) {
		const struct policy_option *option = policy_own_options(policy_at(i));

		for (; option && option->name; option++) {
			printf("  %s,%s=%u..%u (%u)\n      ", policy_name(policy_at(i)),
			       option->name, option->low, option->high, option->preset);
			print_wrapped(option->meaning, 6, 98);
		}
	}
}

static json_t *options_json(const struct policy *policy)
{
	const struct policy_option *option = policy_own_options(policy);
	json_t *array = json_array();

	for (; option && option->name; option++)
		json_array_append_new(array, json_pack("{s:s, s:I, s:I, s:I, s:s}", "name",
						       option->name, "low", (json_int_t)option->low,
						       "high", (json_int_t)option->high, "preset",
						       (json_int_t)option->preset, "meaning",
						       option->meaning));
	return array;
}

/* Kernels are told apart by what follows "linux-": that is enough for a heading. */
static const char *short_name(const char *name)
{
	return strncmp(name, "linux-", 6) == 0 ? name + 6 : name;
}

/* The version table: a row a switch, a column a kernel. */
static void print_presets(void)
{
	struct table *table = table_create();

	table_column(table, "switch \\ linux", TABLE_LEFT, TABLE_KEEP);
	for (size_t i = 0; policy_of_pages_at(i); i++) {
		if (policy_has_switches(policy_of_pages_at(i)))
			table_column(table, short_name(policy_name(policy_of_pages_at(i))),
				     TABLE_LEFT, TABLE_KEEP);
	}
	for (enum switch_id id = 0; id < SWITCH_COUNT; id++) {
		table_text(table, switch_name(id));
		for (size_t i = 0; policy_of_pages_at(i); i++) {
			char text[64];

			if (!policy_has_switches(policy_of_pages_at(i)))
				continue;
			table_text(table,
				   switch_format(text, sizeof(text), id,
						 policy_preset(policy_of_pages_at(i)).value[id]));
		}
	}
	printf("\n");
	table_print(stdout, table, 2, command_may_colour(stdout));
	table_destroy(table);
}

static json_t *switch_json(enum switch_id id)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "name", switch_name(id), "values",
				   switch_values(id), "meaning", switch_meaning(id));
	json_t *presets = json_object();

	for (size_t i = 0; policy_of_pages_at(i); i++) {
		char text[64];

		if (policy_has_switches(policy_of_pages_at(i)))
			json_object_set_new(
				presets, policy_name(policy_of_pages_at(i)),
				json_string(switch_format(
					text, sizeof(text), id,
					policy_preset(policy_of_pages_at(i)).value[id])));
	}
	json_object_set_new(object, "presets", presets);
	return object;
}

static void print_json(const struct kind *kind)
{
	const char *name, *summary;
	json_t *json = json_object(), *items = json_array();

	for (size_t i = 0; kind->at(i, &name, &summary); i++) {
		json_t *item = json_pack("{s:s, s:s}", "name", name, "summary", summary);

		if (kind->at == policy_item && policy_own_options(policy_at(i)))
			json_object_set_new(item, "options", options_json(policy_at(i)));
		json_array_append_new(items, item);
	}
	json_object_set_new(json, kind->name, items);
	if (kind->at == policy_item) {
		json_t *switches = json_array();

		for (enum switch_id id = 0; id < SWITCH_COUNT; id++)
			json_array_append_new(switches, switch_json(id));
		json_object_set_new(json, "switches", switches);
	}
	report_json_print(stdout, json);
}

static int list(const void *values)
{
	const struct list_arguments *arguments = values;
	const char *wanted = arguments->kinds.at[0], *name, *summary;
	struct nearest nearest = {.wanted = wanted};
	const struct kind *kind = kinds;
	struct error error;

	if (strcmp(wanted, "runs") == 0)
		return kept_list(arguments->db, arguments->names, arguments->json);
	nearest_offer(&nearest, "runs");
	for (; kind->name && strcmp(kind->name, wanted) != 0; kind++)
		nearest_offer(&nearest, kind->name);
	if (!kind->name) {
		error_input(&error,
			    "nothing to list that is called \"%.80s\"%s%s%s. `refault list --help` "
			    "shows what is.",
			    wanted, nearest.best ? " (nearest: " : "",
			    nearest.best ? nearest.best : "", nearest.best ? ")" : "");
		return command_fail(&error);
	}
	if (arguments->db) {
		error_input(&error, "--db is for `refault list runs`");
		return command_fail(&error);
	}
	if (arguments->json) {
		print_json(kind);
	} else if (arguments->names) {
		for (size_t i = 0; kind->at(i, &name, &summary); i++)
			puts(name);
	} else {
		print_items(kind);
		if (kind->at == policy_item) {
			print_options();
			print_switches();
			print_presets();
		}
	}
	return 0;
}

static const char *const usage[] = {
	"list policies|filesystems|formats|devices|generators|scenarios [--names | --json]",
	"list runs [--names | --json] [--db PATH]",
	NULL,
};

static const struct example examples[] = {
	{"list policies", "the policies, what each switch means, and how the kernels set them"},
	{"list filesystems --json", "for programs"},
	{"list runs", "the results that are kept, the newest first"},
	{0},
};

const struct command command_list = {
	.usage = usage,
	.description = "Show what can be chosen from: policies (with their switches, and each "
		       "kernel's setting of them), file "
		       "systems, trace formats, devices, generators (patterns of steps, and "
		       "workloads), and the scenarios that ship. And the runs that are kept, for "
		       "`refault show` and `refault compare`: the newest first (docs/runs.md).",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct list_arguments),
	.operands_offset = FIELD(kinds),
	.operand = "policies|filesystems|formats|devices|generators|scenarios|runs",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_WORDS,
	.run = list,
};
