/*
 * matrix_change: a change as it is written, "KEY=VALUE", and what it is about
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "source/schema.h"
#include "study/matrix.h"

static const char machine_prefix[] = "machine.";

static const char *machine_key_at(size_t index)
{
	struct schema_table table = schema_table(SCHEMA_MACHINE, NULL);

	return index < table.count ? table.keys[index].name : NULL;
}

/* All that KEY can be without a dot: switches, then a machine's keys (`policy` is one). */
static const char *key_at(const void *context, size_t index)
{
	(void)context;
	return index < SWITCH_COUNT ? switch_name((enum switch_id)index)
				    : machine_key_at(index - SWITCH_COUNT);
}

static bool is_switch(const char *key)
{
	for (enum switch_id id = 0; id < SWITCH_COUNT; id++)
		if (strcmp(key, switch_name(id)) == 0)
			return true;
	return false;
}

static bool is_machine_key(const char *key)
{
	for (size_t i = 0; machine_key_at(i); i++)
		if (strcmp(key, machine_key_at(i)) == 0)
			return true;
	return false;
}

static void set_add(struct matrix_change *change, const char *prefix, const char *text)
{
	size_t bytes = strlen(prefix) + strlen(text) + 1;
	char *set = arena_alloc(&change->arena, bytes);

	snprintf(set, bytes, "%s%s", prefix, text);
	change->sets[change->set_count++] = set;
}

static bool unknown(const char *key, struct error *error)
{
	const char *near = nearest_word(key, key_at, NULL);

	return error_input(error,
			   "--change \"%.60s\" is no switch of a policy and no key of a machine"
			   "%s%s%s; `refault list policies` shows the switches",
			   key, near ? " (nearest: " : "", near ? near : "", near ? ")" : "");
}

/* One KEY=VALUE; `policy` alone, or all but it. */
static bool part_apply(struct matrix_change *change, const char *text, bool policies,
		       struct error *error)
{
	const char *equals = strchr(text, '='), *name = text;
	char key[128];

	if (!equals || equals == text)
		return error_input(error, "--change \"%.60s\" is not KEY=VALUE", text);
	/* A machine's policy is the policy. */
	if (strncmp(text, "machine.policy=", 15) == 0)
		name += strlen(machine_prefix);
	snprintf(key, sizeof(key), "%.*s", (int)(strchr(name, '=') - name), name);
	if ((strcmp(key, "policy") == 0) != policies)
		return true;
	if (policies)
		return equals[1] ? policy_options_parse(&change->changed, equals + 1, error)
				 : error_input(error, "--change policy= names none");
	if (is_switch(key))
		return policy_options_set(&change->changed, text, error);
	if (!strchr(key, '.') && !is_machine_key(key))
		return unknown(key, error);
	set_add(change, strchr(key, '.') ? "" : machine_prefix, text);
	return true;
}

static bool is_same(const struct policy_options *a, const struct policy_options *b)
{
	return a->policy == b->policy &&
	       memcmp(&a->switches, &b->switches, sizeof(a->switches)) == 0;
}

bool matrix_change_parse(struct matrix_change *change, const struct policy_options *base,
			 const char *const *texts, size_t count, struct error *error)
{
	size_t used = 0;
	char policy[512];

	*change = (struct matrix_change){.base = *base, .changed = *base};
	change->sets = arena_alloc(&change->arena, (count + 1) * sizeof(*change->sets));
	for (size_t i = 0; i < count && used < sizeof(change->text); i++)
		used += (size_t)snprintf(change->text + used, sizeof(change->text) - used, "%s%s",
					 i ? ", " : "", texts[i]);
	/* Another policy first: switches are set on top of it. */
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < count; i++)
			if (!part_apply(change, texts[i], round == 0, error))
				return false;
	change->policy_differs = !is_same(&change->base, &change->changed);
	if (change->set_count || change->policy_differs)
		return true;
	policy_options_format(policy, sizeof(policy), base);
	return error_input(error,
			   "%.200s: %.200s does that already, so that nothing would change; "
			   "another --policy may not (`refault list policies`)",
			   change->text, policy);
}

void matrix_change_deinit(struct matrix_change *change)
{
	arena_deinit(&change->arena);
}
