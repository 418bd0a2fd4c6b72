/*
 * registry: names to policies and switches, and back
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/size.h"
#include "cache/policy/shelf.h"
#include "cache/policy_options.h"

static const struct policy *const policies[] = {
#define POLICY(symbol) &policy_##symbol,
#include "cache/policy/policies.def"
#undef POLICY
};

enum { POLICY_COUNT = sizeof(policies) / sizeof(policies[0]) };

enum switch_type { TYPE_WORD, TYPE_NUMBER, TYPE_SIZE };
enum switch_scope { SCOPE_KERNEL, SCOPE_LISTS, SCOPE_GENERATIONS, SCOPE_MACHINE };

static const struct switch_info {
	const char *name;
	enum switch_scope scope;
	enum switch_type type;
	const char *values, *meaning;
} infos[SWITCH_COUNT] = {
#define SWITCH(id, scope, kind, accepted, text)                                                    \
	[SWITCH_##id] = {#id, SCOPE_##scope, TYPE_##kind, accepted, text},
#include "cache/switches.def"
#undef SWITCH
};

const struct policy *policy_at(size_t index)
{
	return index < POLICY_COUNT ? policies[index] : NULL;
}

const struct policy *policy_of_pages_at(size_t index)
{
	for (size_t i = 0; i < POLICY_COUNT; i++)
		if (!policies[i]->foresee && !policies[i]->arc_rules && index-- == 0)
			return policies[i];
	return NULL;
}

const char *policy_name(const struct policy *policy)
{
	return policy->name;
}

const char *policy_summary(const struct policy *policy)
{
	return policy->summary;
}

bool policy_has_switches(const struct policy *policy)
{
	return policy->preset != NULL;
}

bool policy_has_generations(const struct policy *policy)
{
	return policy->lists != NULL;
}

/*
 * A queue policy orders pages its own way, but readahead, dirty pages and slabs follow the default
 * kernel's rules.
 */
struct switches policy_preset(const struct policy *policy)
{
	return policy->preset ? *policy->preset : *policies[0]->preset;
}

const struct policy_option *policy_own_options(const struct policy *policy)
{
	return policy->options;
}

void policy_options_preset(struct policy_options *options, const struct policy *policy)
{
	*options = (struct policy_options){.policy = policy, .switches = policy_preset(policy)};
	for (size_t i = 0; policy->options && policy->options[i].name; i++)
		options->own[i] = policy->options[i].preset;
}

const char *switch_name(enum switch_id id)
{
	return infos[id].name;
}

const char *switch_meaning(enum switch_id id)
{
	return infos[id].meaning;
}

const char *switch_values(enum switch_id id)
{
	return infos[id].values;
}

/* The n-th word of "a|b|c"; false after the last. */
static bool word_at(const char *words, uint32_t n, const char **word, size_t *bytes)
{
	while (n > 0) {
		words = strchr(words, '|');
		if (!words)
			return false;
		words++;
		n--;
	}
	*word = words;
	*bytes = strcspn(words, "|");
	return true;
}

const char *switch_format(char *text, size_t bytes, enum switch_id id, uint32_t value)
{
	const char *word;
	size_t length;

	if (infos[id].type == TYPE_WORD && word_at(infos[id].values, value, &word, &length))
		snprintf(text, bytes, "%.*s", (int)length, word);
	else if (infos[id].type == TYPE_SIZE && value && value % MIB == 0)
		snprintf(text, bytes, "%uMiB", value / (uint32_t)MIB);
	else
		snprintf(text, bytes, "%u", value);
	return text;
}

static bool unknown(struct error *error, const char *what, const struct nearest *nearest)
{
	return error_input(error, "no %s \"%s\"%s%s%s; `refault list policies` shows all", what,
			   nearest->wanted, nearest->best ? " (nearest: " : "",
			   nearest->best ? nearest->best : "", nearest->best ? ")" : "");
}

/* Does a switch mean something to this policy? */
static bool scope_fits(enum switch_scope scope, const struct policy *policy)
{
	switch (scope) {
	case SCOPE_KERNEL:
		return policy->preset;
	case SCOPE_LISTS:
		return policy->preset && !policy->lists;
	case SCOPE_GENERATIONS:
		return policy->lists;
	case SCOPE_MACHINE:
		break;
	}
	return true;
}

bool policy_options_set(struct policy_options *options, const char *key_and_value,
			struct error *error)
{
	const struct policy_option *own = options->policy->options;
	const char *equals = strchr(key_and_value, '='), *word;
	struct nearest nearest;
	size_t key_bytes, bytes;
	char key[64];

	if (!equals || equals == key_and_value)
		return error_input(error, "policy switch \"%s\": expected KEY=VALUE",
				   key_and_value);
	key_bytes = (size_t)(equals - key_and_value);
	snprintf(key, sizeof(key), "%.*s", (int)key_bytes, key_and_value);
	nearest = (struct nearest){.wanted = key};
	for (size_t i = 0; own && own[i].name; i++) {
		uint64_t number;

		nearest_offer(&nearest, own[i].name);
		if (strcmp(key, own[i].name) != 0)
			continue;
		if (!number_parse(&number, equals + 1, own[i].name, error))
			return error_context(error, "policy %s", options->policy->name);
		if (number < own[i].low || number > own[i].high)
			return error_input(error, "policy %s: %s=%s: expected %u..%u",
					   options->policy->name, key, equals + 1, own[i].low,
					   own[i].high);
		options->own[i] = (uint32_t)number;
		return true;
	}
	for (int id = 0; id < SWITCH_COUNT; id++) {
		nearest_offer(&nearest, infos[id].name);
		if (strlen(infos[id].name) != key_bytes ||
		    memcmp(infos[id].name, key_and_value, key_bytes) != 0)
			continue;
		if (!scope_fits(infos[id].scope, options->policy))
			return error_input(error, "policy switch %s: %s has no %s; give %s%s,%s",
					   infos[id].name, options->policy->name,
					   infos[id].scope == SCOPE_GENERATIONS
						   ? "generations"
						   : "active and inactive list",
					   "a kernel's policy, as in linux-6.18",
					   infos[id].scope == SCOPE_GENERATIONS ? "-mglru" : "",
					   key_and_value);
		if (infos[id].type == TYPE_WORD) {
			for (uint32_t n = 0; word_at(infos[id].values, n, &word, &bytes); n++)
				if (strlen(equals + 1) == bytes &&
				    memcmp(equals + 1, word, bytes) == 0) {
					options->switches.value[id] = n;
					return true;
				}
			return error_input(error, "policy switch %s=\"%s\": expected %s",
					   infos[id].name, equals + 1, infos[id].values);
		} else {
			unsigned low, high;
			uint64_t number;

			sscanf(infos[id].values, "%u..%u", &low, &high);
			if (!(infos[id].type == TYPE_SIZE ? size_parse : number_parse)(
				    &number, equals + 1, infos[id].name, error))
				return error_context(error, "policy switch");
			if (number < low || number > high)
				return error_input(error, "policy switch %s=%s: expected %s",
						   infos[id].name, equals + 1, infos[id].values);
			options->switches.value[id] = (uint32_t)number;
			return true;
		}
	}
	return unknown(error, "policy switch", &nearest);
}

/* The name that begins `text`, `bytes` long. */
static bool policy_find(struct policy_options *options, const char *text, size_t bytes,
			struct error *error)
{
	char name[256];
	struct nearest nearest = {.wanted = name};

	snprintf(name, sizeof(name), "%.*s", (int)bytes, text);
	for (size_t i = 0; i < POLICY_COUNT; i++) {
		nearest_offer(&nearest, policies[i]->name);
		if (strcmp(name, policies[i]->name) != 0)
			continue;
		policy_options_preset(options, policies[i]);
		return true;
	}
	return unknown(error, "policy", &nearest);
}

bool policy_options_parse(struct policy_options *options, const char *text, struct error *error)
{
	size_t bytes = strcspn(text, ",");
	char part[256];

	if (strlen(text) >= 4096)
		return error_input(error, "policy: too long");
	policy_options_preset(options, policies[0]);
	if (!*text)
		return true;
	if (!memchr(text, '=', bytes)) {
		if (bytes && !policy_find(options, text, bytes, error))
			return false;
		if (bytes && !text[bytes])
			return true;
		text += bytes + (bytes > 0); /* ",..." begins with a switch that is empty */
	}
	for (;; text += bytes + 1) {
		bytes = strcspn(text, ",");
		if (bytes >= sizeof(part))
			return error_input(error, "policy switch \"%.40s...\": too long", text);
		memcpy(part, text, bytes);
		part[bytes] = '\0';
		if (!policy_options_set(options, part, error))
			return false;
		if (!text[bytes])
			return true;
	}
}

const char *policy_options_format(char *text, size_t bytes, const struct policy_options *options)
{
	const struct policy_option *own = options->policy->options;
	struct switches preset = policy_preset(options->policy);
	size_t used = (size_t)snprintf(text, bytes, "%s", options->policy->name);

	for (size_t i = 0; own && own[i].name && used < bytes; i++)
		if (options->own[i] != own[i].preset)
			used += (size_t)snprintf(text + used, bytes - used, ",%s=%u", own[i].name,
						 options->own[i]);
	for (int id = 0; id < SWITCH_COUNT && used < bytes; id++) {
		char value[32];

		if (options->switches.value[id] != preset.value[id])
			used += (size_t)snprintf(
				text + used, bytes - used, ",%s=%s", infos[id].name,
				switch_format(value, sizeof(value), (enum switch_id)id,
					      options->switches.value[id]));
	}
	return text;
}
