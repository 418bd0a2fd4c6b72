#include "source/schema.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "source/scenario.h"
#include "source/yaml.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STRUCT_SCENARIO struct scenario
#define STRUCT_MACHINE  struct scenario_machine
#define STRUCT_DEVICE   struct scenario_machine
#define STRUCT_FILE     struct scenario_file
#define STRUCT_JOB      struct scenario_job
#define STRUCT_STEP     struct scenario_step
#define STRUCT_SETTING  struct scenario_setting
#define STRUCT_CLAIM    struct scenario_claim
#define STRUCT_FIGURE   struct scenario_figure

/* A section's keys stand together. */
static const struct schema_key all_keys[] = {
#define KEY(section_, name_, type_, field_, fallback_, words_, low_, high_, meaning_)              \
	{.section = SCHEMA_##section_,                                                             \
	 .name = #name_,                                                                           \
	 .type = SCHEMA_##type_,                                                                   \
	 .offset = offsetof(STRUCT_##section_, field_),                                            \
	 .fallback = fallback_,                                                                    \
	 .words = words_,                                                                          \
	 .low = low_,                                                                              \
	 .high = high_,                                                                            \
	 .meaning = meaning_},
#include "source/schema.def"
#undef KEY
};

enum { KEY_COUNT = sizeof(all_keys) / sizeof(all_keys[0]) };

const char *schema_section_name(enum schema_section section)
{
	static const char *const names[SCHEMA_SECTION_COUNT] = {"scenario", "machine", "device",
								"file",     "job",     "step",
								"setting",  "claim",   "figure"};

	return names[section];
}

struct schema_table schema_table(enum schema_section section, void *to)
{
	struct schema_table table = {.keys = all_keys, .to = to};

	while (table.keys->section != section)
		table.keys++;
	while (table.keys + table.count < all_keys + KEY_COUNT &&
	       table.keys[table.count].section == section)
		table.count++;
	return table;
}

struct tables {
	const struct schema_table *at;
	size_t count;
};

static const char *key_at(const void *context, size_t index)
{
	const struct tables *tables = context;

	for (size_t i = 0; i < tables->count; index -= tables->at[i++].count) {
		if (index < tables->at[i].count)
			return tables->at[i].keys[index].name;
	}
	return NULL;
}

/* ---- values ---- */

const char *schema_expects(char text[160], const struct schema_key *key)
{
	static const char *const kinds[] = {
		[SCHEMA_TEXT] = "text",
		[SCHEMA_SIZE] = "size",
		[SCHEMA_TIME] = "time",
		[SCHEMA_NUMBER] = "number",
		[SCHEMA_RATIO] = "decimal",
		[SCHEMA_FLAG] = "yes or no",
		[SCHEMA_BANDWIDTH] = "bytes/s",
		[SCHEMA_RATE] = "per second",
		[SCHEMA_LOOP] = "number or forever",
		[SCHEMA_NAMES] = "name or names",
		[SCHEMA_LIST] = "list",
		[SCHEMA_MAPPING] = "mapping",
		[SCHEMA_NODE] = "name or mapping",
		[SCHEMA_TARGET] = "file",
	};

	if (key->type != SCHEMA_WORD) {
		snprintf(text, 160, "%s", kinds[key->type]);
		return text;
	}
	snprintf(text, 160, "%s", key->words);
	for (char *bar = text; (bar = strchr(bar, '|'));)
		*bar = '/';
	return text;
}

static bool flag_parse(bool *flag, const char *text)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {{"yes", true}, {"no", false}, {"true", true}, {"false", false}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i].word) == 0) {
			*flag = words[i].value;
			return true;
		}
	}
	return false;
}

static bool word_parse(uint32_t *which, const char *words, const char *text)
{
	size_t length = strlen(text);

	*which = 0;
	for (const char *at = words;; at += strcspn(at, "|") + 1) {
		size_t bytes = strcspn(at, "|");

		if (bytes == length && strncmp(at, text, length) == 0)
			return true;
		if (at[bytes] == '\0')
			return false;
		++*which;
	}
}

/* "20MiB/s" without "/s" in `number`; false: it does not end so, or is too long. */
static bool per_second(char number[64], const char *text)
{
	size_t length = strlen(text);

	if (length < 2 || length >= 64 || strcmp(text + length - 2, "/s") != 0)
		return false;
	memcpy(number, text, length - 2);
	number[length - 2] = '\0';
	while (length > 2 && number[length - 3] == ' ')
		number[--length - 2] = '\0';
	return true;
}

static bool rate_parse(struct schema_rate *rate, const char *text, const char *what,
		       struct error *error)
{
	char number[64];

	if (!per_second(number, text))
		return error_input(error, "%s \"%.60s\" is not a rate (like 500/s or 20MiB/s)",
				   what, text);
	rate->is_bytes = strspn(number, "0123456789") != strlen(number);
	if (!(rate->is_bytes ? size_parse(&rate->per_s, number, what, error)
			     : number_parse(&rate->per_s, number, what, error)))
		return false;
	if (rate->per_s == 0 || rate->per_s > SCENARIO_BYTES_MAX)
		return error_input(error, "%s \"%.60s\" must be more than 0 and less than an EiB/s",
				   what, text);
	return true;
}

static bool ratio_parse(uint64_t *millionths, const char *text, const char *what,
			struct error *error)
{
	const char *at = text;
	uint64_t value = 0;
	int decimals = -1;

	for (; *at && at - text < 12; at++) {
		if (*at == '.' && decimals < 0 && at > text) {
			decimals = 0;
			continue;
		}
		if (*at < '0' || *at > '9' || decimals == 6)
			break;
		value = value * 10 + (uint64_t)(*at - '0');
		decimals += decimals >= 0;
	}
	if (*at || at == text)
		return error_input(error, "%s \"%.60s\" is not a decimal number (like 0.99)", what,
				   text);
	for (int i = decimals > 0 ? decimals : 0; i < 6; i++)
		value *= 10;
	*millionths = value;
	return true;
}

static bool in_bounds(const struct schema_key *key, uint64_t value, const char *text,
		      struct error *error)
{
	char low[SIZE_TEXT_BYTES], high[SIZE_TEXT_BYTES];

	if (value >= key->low && value <= key->high)
		return true;
	switch (key->type) {
	case SCHEMA_SIZE:
	case SCHEMA_BANDWIDTH:
		return error_input(error, "%s \"%.60s\" is out of range (%s .. %s)", key->name,
				   text, size_format(low, key->low), size_format(high, key->high));
	case SCHEMA_TIME:
		return error_input(error, "%s \"%.60s\" is out of range (%s .. %s)", key->name,
				   text, time_format(low, key->low), time_format(high, key->high));
	case SCHEMA_RATIO:
		return error_input(error, "%s \"%.60s\" is out of range (%g .. %g)", key->name,
				   text, (double)key->low / 1e6, (double)key->high / 1e6);
	default:
		return error_input(error,
				   "%s \"%.60s\" is out of range (%" PRIu64 " .. %" PRIu64 ")",
				   key->name, text, key->low, key->high);
	}
}

/* One scalar into its field. The error has no place yet. */
static bool scalar_read(const struct schema_key *key, const char *text, void *field,
			struct error *error)
{
	uint64_t *number = field;
	char bare[64];

	switch (key->type) {
	case SCHEMA_TEXT:
		*(const char **)field = text;
		return true;
	case SCHEMA_SIZE:
		return size_parse(number, text, key->name, error) &&
		       in_bounds(key, *number, text, error);
	case SCHEMA_TIME:
		return time_parse(number, text, key->name, error) &&
		       in_bounds(key, *number, text, error);
	case SCHEMA_NUMBER:
		return number_parse(number, text, key->name, error) &&
		       in_bounds(key, *number, text, error);
	case SCHEMA_RATIO:
		return ratio_parse(number, text, key->name, error) &&
		       in_bounds(key, *number, text, error);
	case SCHEMA_BANDWIDTH:
		return size_parse(number, per_second(bare, text) ? bare : text, key->name, error) &&
		       in_bounds(key, *number, text, error);
	case SCHEMA_RATE:
		return rate_parse(field, text, key->name, error);
	case SCHEMA_LOOP:
		if (strcmp(text, "forever") == 0) {
			*number = 0;
			return true;
		}
		if (text[0] < '0' || text[0] > '9')
			return error_input(error,
					   "%s \"%.60s\" is neither a number nor \"forever\"",
					   key->name, text);
		return number_parse(number, text, key->name, error) &&
		       in_bounds(key, *number, text, error);
	case SCHEMA_FLAG:
		return flag_parse(field, text) ||
		       error_input(error, "%s \"%.60s\" is neither yes nor no", key->name, text);
	case SCHEMA_WORD:
		return word_parse(field, key->words, text) ||
		       error_input(error, "%s \"%.60s\" is none of %s", key->name, text,
				   key->words);
	case SCHEMA_NAMES:
	case SCHEMA_LIST:
	case SCHEMA_MAPPING:
	case SCHEMA_NODE:
	case SCHEMA_TARGET:
		break;
	}
	assert(false && "the other types are no scalars");
	return false;
}

static bool value_read(const struct yaml *yaml, const struct schema_key *key,
		       const struct yaml_node *node, char *to, struct error *error)
{
	char found[128];
	struct error inner;

	if (node->is_null && strcmp(key->fallback, "required") != 0 &&
	    (key->type == SCHEMA_NODE || key->type == SCHEMA_MAPPING || key->type == SCHEMA_LIST ||
	     key->type == SCHEMA_NAMES))
		return true; /* `compare:` and nothing: none */
	switch (key->type) {
	case SCHEMA_TARGET:
		return true;
	case SCHEMA_NODE:
		*(const struct yaml_node **)(void *)(to + key->offset) = node;
		return true;
	case SCHEMA_MAPPING:
		if (node->kind != YAML_MAPPING)
			return yaml_error(yaml, node, error,
					  "%s must be a mapping (KEY: VALUE), not %s", key->name,
					  yaml_describe(found, node));
		*(const struct yaml_node **)(void *)(to + key->offset) = node;
		return true;
	case SCHEMA_LIST:
		if (node->kind != YAML_SEQUENCE)
			return yaml_error(yaml, node, error, "%s must be a list, not %s", key->name,
					  yaml_describe(found, node));
		*(const struct yaml_node **)(void *)(to + key->offset) = node;
		return true;
	case SCHEMA_NAMES:
		if (node->kind == YAML_MAPPING)
			return yaml_error(yaml, node, error,
					  "%s must be a name or a list of names, not %s", key->name,
					  yaml_describe(found, node));
		*(const struct yaml_node **)(void *)(to + key->offset) = node;
		return true;
	default:
		break;
	}
	if (node->kind != YAML_SCALAR || (node->is_null && key->type != SCHEMA_TEXT))
		return yaml_error(yaml, node, error, "%s must be a single value, not %s", key->name,
				  yaml_describe(found, node));
	if (!scalar_read(key, node->text, to + key->offset, &inner))
		return yaml_error(yaml, node, error, "%s", inner.message);
	return true;
}

/* `--set jobs.db.duration=`. In a file that is a value forgotten, and so is a name that is empty. */
static bool is_taken_away(const struct schema_key *key, const struct yaml_node *node)
{
	return node->is_null && node->origin && key->type != SCHEMA_TEXT;
}

static bool key_is_known(const struct tables *tables, const char *name)
{
	const char *known;

	for (size_t i = 0; (known = key_at(tables, i)); i++) {
		if (strcmp(known, name) == 0)
			return true;
	}
	return false;
}

/* "a, b, c ...": the keys there are, as far as they fit. */
static const char *keys_list(char text[200], const struct tables *tables)
{
	size_t used = 0;
	const char *name;

	for (size_t i = 0; (name = key_at(tables, i)); i++) {
		if (used + strlen(name) + 8 >= 200) {
			snprintf(text + used, 200 - used, ", ...");
			break;
		}
		used += (size_t)snprintf(text + used, 200 - used, "%s%s", i ? ", " : "", name);
	}
	return text;
}

static bool unknown_key(const struct yaml *yaml, const struct yaml_node *node, const char *what,
			const struct tables *tables, struct error *error)
{
	const char *near = nearest_word(node->key, key_at, tables);
	char all[200];

	if (near)
		return yaml_error_key(yaml, node, error,
				      "%s has no key \"%.60s\" (nearest: \"%s\")", what, node->key,
				      near);
	return yaml_error_key(yaml, node, error, "%s has no key \"%.60s\" (known: %s)", what,
			      node->key, keys_list(all, tables));
}

bool schema_read(const struct yaml *yaml, const struct yaml_node *node, const char *what,
		 const struct schema_table *tables, size_t table_count, struct error *error)
{
	struct tables all = {.at = tables, .count = table_count};
	char found[128];

	if (node->kind != YAML_MAPPING)
		return yaml_error(yaml, node, error, "%s must be a mapping (KEY: VALUE), not %s",
				  what, yaml_describe(found, node));
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		if (!key_is_known(&all, child->key))
			return unknown_key(yaml, child, what, &all, error);
	}
	for (size_t t = 0; t < table_count; t++) {
		for (size_t k = 0; k < tables[t].count; k++) {
			const struct schema_key *key = &tables[t].keys[k];
			const struct yaml_node *child = yaml_get(node, key->name);

			if (child && !is_taken_away(key, child)) {
				if (!value_read(yaml, key, child, tables[t].to, error))
					return false;
			} else if (strcmp(key->fallback, "required") == 0) {
				return yaml_error_key(yaml, node, error, "%s needs the key \"%s\"",
						      what, key->name);
			} else if (key->fallback[0]) {
				bool ok = scalar_read(key, key->fallback,
						      (char *)tables[t].to + key->offset, error);

				assert(ok);
			}
		}
	}
	return true;
}
