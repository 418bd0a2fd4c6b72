#include "source/scenario.h"

#include "base/nearest.h"
#include "base/size.h"
#include "source/scenario_private.h"
#include "source/shipped.h"

#include <stdio.h>
#include <string.h>

const char *nearest_hint(char text[80], const char *word, const char *(*at)(const void *, size_t),
			 const void *context)
{
	const char *near = nearest_word(word, at, context);

	text[0] = '\0';
	if (near)
		snprintf(text, 80, " (nearest: \"%.50s\")", near);
	return text;
}

/* ---- machine ---- */

static bool machine_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario_machine *machine = &loader->scenario->machine;
	static const struct yaml_node no_device = {.kind = YAML_MAPPING, .text = ""};
	struct schema_table table = schema_table(SCHEMA_MACHINE, machine);
	struct schema_table device = schema_table(SCHEMA_DEVICE, machine);
	char text[SIZE_TEXT_BYTES];

	machine->node = node;
	if (!schema_read(loader->yaml, node, "machine", &table, 1, loader->error))
		return false;
	if (machine->device_node && machine->device_node->kind == YAML_SCALAR &&
	    !machine->device_node->is_null)
		machine->device = machine->device_node->text;
	if (!schema_read(loader->yaml,
			 machine->device_node && !machine->device ? machine->device_node
								  : &no_device,
			 "device", &device, 1, loader->error))
		return false;
	if (machine->memory_bytes && machine->cgroup_bytes)
		return yaml_error_key(
			loader->yaml, yaml_get(node, "cgroup_limit"), loader->error,
			"machine has memory and cgroup_limit: only one can be its limit");
	if (!machine->memory_bytes && !machine->cgroup_bytes)
		return yaml_error_key(
			loader->yaml, node, loader->error,
			"machine needs memory (of the whole machine) or cgroup_limit");
	if (machine->cgroup_bytes) {
		machine->is_cgroup = true;
		machine->memory_bytes = machine->cgroup_bytes;
	}
	if (machine->pinned_bytes >= machine->memory_bytes)
		return yaml_error(loader->yaml, yaml_get(node, "pinned"), loader->error,
				  "pinned must be less than the memory, %s",
				  size_format(text, machine->memory_bytes));
	return true;
}

/* ---- comparison ---- */

/* A list of settings, each with a label and what it sets. */
static bool settings_read(struct loader *loader, const struct yaml_node *list, const char *what,
			  size_t most, struct scenario_setting **settings)
{
	struct arena *arena = &loader->scenario->arena;
	struct scenario_setting *setting;

	if (list->kind != YAML_SEQUENCE || list->count < 1 || list->count > most)
		return yaml_error(loader->yaml, list, loader->error,
				  "%s must be a list of 1 to %zu settings (label:, set:)", what,
				  most);
	setting = *settings = arena_alloc(arena, list->count * sizeof(*setting));
	for (const struct yaml_node *item = list->first; item; item = item->next, setting++) {
		struct schema_table table = schema_table(SCHEMA_SETTING, setting);

		setting->node = item;
		if (!schema_read(loader->yaml, item, "a setting", &table, 1, loader->error))
			return false;
		for (const struct scenario_setting *other = *settings; other < setting; other++)
			if (strcmp(other->label, setting->label) == 0)
				return yaml_error(loader->yaml, yaml_get(item, "label"),
						  loader->error, "two of %s are called \"%.60s\"",
						  what, setting->label);
		setting->sets =
			arena_alloc(arena, ((setting->set_node ? setting->set_node->count : 0) +
					    1) * sizeof(*setting->sets));
		for (const struct yaml_node *set = setting->set_node ? setting->set_node->first
								     : NULL;
		     set; set = set->next) {
			char *text;

			if (set->kind != YAML_SCALAR)
				return yaml_error(loader->yaml, set, loader->error,
						  "%.60s: a setting sets single values", set->key);
			text = arena_alloc(arena, strlen(set->key) + strlen(set->text) + 2);
			stpcpy(stpcpy(stpcpy(text, set->key), "="), set->text);
			setting->sets[setting->set_count++] = text;
		}
	}
	return true;
}

/* Cells and claims: there must be settings, unless the comparison was taken away (--set compare=). */
static bool settings_wanted(struct loader *loader, const struct yaml_node *node)
{
	const struct yaml_node *compare = yaml_get(loader->yaml->root, "compare");

	return loader->scenario->settings || (compare && compare->is_null && compare->origin) ||
	       yaml_error_key(loader->yaml, node, loader->error,
			      "%s are for a scenario that compares settings", node->key);
}

static bool cells_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;

	if (!node || !settings_wanted(loader, node))
		return !node;
	if (!scenario->settings)
		return true;
	scenario->cell_count = node->count;
	return settings_read(loader, node, "cells", SCENARIO_CELLS_MAX, &scenario->cells);
}

static const char *setting_label_at(const void *context, size_t index)
{
	const struct scenario *scenario = context;

	return index < scenario->variant_count ? scenario->variants[index] : NULL;
}

static const char *cell_label_at(const void *context, size_t index)
{
	const struct scenario *scenario = context;

	return index < scenario->cell_count ? scenario->cells[index].label : NULL;
}

/* Which setting or cell is called so; SIZE_MAX for NULL. */
static bool label_find(struct loader *loader, const struct yaml_node *node, const char *key,
		       const char *label, const char *(*at)(const void *, size_t), size_t *index)
{
	const struct scenario *scenario = loader->scenario;
	char hint[80];

	*index = SIZE_MAX;
	if (!label)
		return true;
	for (size_t i = 0; at(scenario, i); i++) {
		if (strcmp(at(scenario, i), label) == 0) {
			*index = i;
			return true;
		}
	}
	return yaml_error(loader->yaml, yaml_get(node, key), loader->error,
			  "there is no %s called \"%.60s\"%s", key, label,
			  nearest_hint(hint, label, at, scenario));
}

static bool claims_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;
	struct scenario_claim *claim;

	if (!node || !settings_wanted(loader, node))
		return !node;
	if (!scenario->settings)
		return true;
	claim = scenario->claims =
		arena_alloc(&scenario->arena, (node->count + 1) * sizeof(*claim));
	for (const struct yaml_node *item = node->first; item; item = item->next, claim++) {
		struct schema_table table = schema_table(SCHEMA_CLAIM, claim);

		claim->node = item;
		if (!schema_read(loader->yaml, item, "a claim", &table, 1, loader->error) ||
		    !label_find(loader, item, "setting", claim->setting, setting_label_at,
				&claim->setting_index) ||
		    !label_find(loader, item, "against", claim->against, setting_label_at,
				&claim->against_index) ||
		    !label_find(loader, item, "cell", claim->cell, cell_label_at,
				&claim->cell_index))
			return false;
		if (claim->low_ppm > claim->high_ppm)
			return yaml_error(loader->yaml, yaml_get(item, "high"), loader->error,
					  "high is less than low");
		if (scenario->cell_count > 0 && !claim->cell)
			return yaml_error_key(
				loader->yaml, item, loader->error,
				"where there are cells, a claim is about one of them");
		scenario->claim_count++;
	}
	return true;
}

static bool compare_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;
	const struct yaml_node *list = node ? node->first : NULL;
	char found[128];

	if (!node)
		return true;
	if (node->count != 1)
		return yaml_error_key(
			loader->yaml, node, loader->error,
			"compare takes one key (policy, or a switch of the policy), not %zu",
			node->count);
	if (list->kind != YAML_SEQUENCE || list->count < 1 || list->count > SCENARIO_VARIANTS_MAX)
		return yaml_error(loader->yaml, list, loader->error,
				  "%.60s must be a list of 1 to %d values, not %s", list->key,
				  SCENARIO_VARIANTS_MAX, yaml_describe(found, list));
	scenario->compare_key = list->key;
	if (strcmp(list->key, "settings") == 0) {
		if (!settings_read(loader, list, "settings", SCENARIO_VARIANTS_MAX,
				   &scenario->settings))
			return false;
		for (; scenario->variant_count < list->count; scenario->variant_count++) {
			const struct scenario_setting *setting =
				&scenario->settings[scenario->variant_count];

			scenario->variant_nodes[scenario->variant_count] = setting->node;
			scenario->variants[scenario->variant_count] = setting->label;
		}
		return true;
	}
	for (const struct yaml_node *item = list->first; item; item = item->next) {
		if (item->kind != YAML_SCALAR || item->is_null)
			return yaml_error(loader->yaml, item, loader->error,
					  "%.60s must be a list of values, not of %s", list->key,
					  yaml_describe(found, item));
		scenario->variant_nodes[scenario->variant_count] = item;
		scenario->variants[scenario->variant_count++] = item->text;
	}
	return true;
}

static bool published_read(struct loader *loader, struct scenario_figure *figure)
{
	struct scenario *scenario = loader->scenario;
	const struct yaml_node *list = figure->published_node;
	char found[128];
	size_t i = 0;

	if (!list || scenario->variant_count == 0)
		/* nothing is compared (any more: --set compare=), so nothing is shown */
		return true;
	if (list->count != scenario->variant_count)
		return yaml_error(
			loader->yaml, list, loader->error,
			"published must have one value for each of the %zu in compare, not %zu",
			scenario->variant_count, list->count);
	for (const struct yaml_node *item = list->first; item; item = item->next, i++) {
		struct error inner;

		if (item->kind != YAML_SCALAR)
			return yaml_error(loader->yaml, item, loader->error,
					  "published must be a list of numbers, not of %s",
					  yaml_describe(found, item));
		if (item->is_null)
			continue;
		if (!decimal_parse(&figure->published[i], item->text, "published", &inner))
			return yaml_error(loader->yaml, item, loader->error, "%s", inner.message);
		figure->published_known[i] = true;
	}
	return true;
}

static bool figures_read(struct loader *loader, const struct yaml_node *node)
{
	struct scenario *scenario = loader->scenario;

	if (!node)
		return true;
	scenario->figures =
		arena_alloc(&scenario->arena, (node->count + 1) * sizeof(*scenario->figures));
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		struct scenario_figure *figure = &scenario->figures[scenario->figure_count++];
		struct schema_table table = schema_table(SCHEMA_FIGURE, figure);

		figure->node = child;
		if (!schema_read(loader->yaml, child, "a figure", &table, 1, loader->error) ||
		    !names_read(loader, figure->jobs_node, &figure->jobs, &figure->job_count) ||
		    !published_read(loader, figure))
			return false;
		if (figure->counted && !figure->job_count)
			return yaml_error_key(loader->yaml, yaml_get(child, "counted"),
					      loader->error,
					      "whole passes are a job's: the figure needs jobs");
	}
	return true;
}

/* ---- all of it ---- */

/* "dir/cache-pressure.yaml" is called cache-pressure. */
static const char *name_from_path(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t bytes = strlen(base);

	if (bytes > 5 && strcmp(base + bytes - 5, ".yaml") == 0)
		bytes -= 5;
	else if (bytes > 4 && strcmp(base + bytes - 4, ".yml") == 0)
		bytes -= 4;
	return arena_text(arena, base, bytes);
}

static bool scenario_read(struct scenario *scenario, const char *name, const char *text,
			  size_t bytes, const char *const *sets, size_t set_count,
			  struct error *error)
{
	struct loader loader = {.scenario = scenario, .yaml = &scenario->yaml, .error = error};
	struct schema_table table = schema_table(SCHEMA_SCENARIO, scenario);
	struct yaml *yaml = &scenario->yaml;
	char found[128];

	name = arena_text(&scenario->arena, name, strlen(name));
	if (!yaml_parse(yaml, &scenario->arena, name, text, bytes, error))
		return false;
	if (yaml->root->kind != YAML_MAPPING)
		return yaml_error(yaml, yaml->root, error,
				  "a scenario must be a mapping (machine:, files:, jobs:), not %s",
				  yaml_describe(found, yaml->root));
	for (size_t i = 0; i < set_count; i++) {
		if (!yaml_set(yaml, sets[i], error))
			return false;
	}
	if (!schema_read(yaml, yaml->root, "scenario", &table, 1, error))
		return false;
	if (!scenario->name)
		scenario->name = name_from_path(&scenario->arena, name);
	return machine_read(&loader, scenario->machine_node) &&
	       files_read(&loader, scenario->files_node) &&
	       jobs_read(&loader, scenario->jobs_node) &&
	       compare_read(&loader, scenario->compare_node) &&
	       cells_read(&loader, scenario->cells_node) &&
	       claims_read(&loader, scenario->claims_node) &&
	       figures_read(&loader, scenario->figures_node);
}

bool scenario_parse(struct scenario *scenario, const char *name, const char *text, size_t bytes,
		    const char *const *sets, size_t set_count, struct error *error)
{
	*scenario = (struct scenario){0};
	if (scenario_read(scenario, name, text, bytes, sets, set_count, error))
		return true;
	scenario_deinit(scenario);
	return false;
}

bool scenario_load(struct scenario *scenario, const char *name, const char *const *sets,
		   size_t set_count, struct error *error)
{
	char path[4096];
	char *text;
	size_t bytes;
	bool ok;

	if (!shipped_find(path, sizeof(path), name, error) ||
	    !shipped_read(&text, &bytes, path, YAML_BYTES_MAX, error))
		return false;
	ok = scenario_parse(scenario, strcmp(path, "-") == 0 ? "standard input" : path, text, bytes,
			    sets, set_count, error);
	memory_free(text);
	return ok;
}

void scenario_deinit(struct scenario *scenario)
{
	struct arena arena = scenario->arena;

	arena_deinit(&arena);
	*scenario = (struct scenario){0};
}

bool scenario_error(const struct scenario *scenario, const struct yaml_node *node,
		    struct error *error)
{
	char message[sizeof(error->message)];

	memcpy(message, error->message, sizeof(message));
	return yaml_error(&scenario->yaml, node, error, "%s", message);
}
