#include "study/remedy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

/* Who forces less than a fiftieth of the re-reads is not asked to change. */
enum { BLAME_PERCENT = 2, TARGETS_TRIED_MAX = 6, MANY_NAMES = 1000 };

struct remedy_try *remedy_propose(struct remedy_proposals *proposals)
{
	struct remedy_try *attempt = array_push(&proposals->list);

	*attempt = (struct remedy_try){
		.remedy = proposals->remedy,
		.model = *proposals->facts->model,
	};
	return attempt;
}

void remedy_leave_out(struct remedy_proposals *proposals, const char *why)
{
	*array_push(&proposals->advice->left_out) =
		(struct advice_left_out){proposals->remedy->id, why};
}

const char *remedy_text(struct advice *advice, const char *format, ...)
{
	char text[2000];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return arena_text(&advice->arena, text, strlen(text));
}

const char *remedy_target_names(struct advice *advice, const struct remedy_facts *facts,
				uint64_t targets)
{
	char text[300] = "";
	size_t used = 0;

	for (size_t i = 0; i < facts->target_count; i++) {
		if (!(targets >> i & 1) || used >= sizeof(text))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.100s",
					 used ? ", " : "", facts->targets[i].name);
	}
	return arena_text(&advice->arena, text, strlen(text));
}

const char *remedy_size(struct advice *advice, uint64_t bytes)
{
	static const struct {
		uint64_t bytes;
		const char *name;
	} units[] = {{GIB, "GiB"}, {MIB, "MiB"}, {KIB, "KiB"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (bytes && bytes % units[i].bytes == 0)
			return remedy_text(advice, "%" PRIu64 "%s", bytes / units[i].bytes,
					   units[i].name);
	return remedy_text(advice, "%" PRIu64, bytes);
}

const char *remedy_memory_max(struct advice *advice, uint64_t bytes)
{
	return remedy_text(advice, "echo %" PRIu64 " > /sys/fs/cgroup/ITS/memory.max", bytes);
}

void remedy_name(struct advice *advice, const struct remedy_facts *facts,
		 struct remedy_try *attempt)
{
	attempt->title =
		remedy_text(advice, "%s: %s", remedy_target_names(advice, facts, attempt->targets),
			    attempt->remedy->what);
	attempt->how = attempt->remedy->how(advice, facts, attempt);
}

/* Only what is said in the scenario is known, the rest is the program's. */
static bool setting_is_said(const struct remedy *remedy, const struct scenario_job *job)
{
	const struct yaml_node *node = yaml_get(job->node, remedy->setting.key);

	return node && node->kind == YAML_SCALAR && strcmp(node->text, remedy->setting.value) == 0;
}

void remedy_propose_setting(struct remedy_proposals *proposals)
{
	const struct scenario *scenario = proposals->facts->scenario;
	const struct remedy *remedy = proposals->remedy;
	struct advice *advice = proposals->advice;
	bool any = false;

	for (size_t i = 0; scenario && i < scenario->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[i];
		struct remedy_try *attempt;

		if (!job->workload_name || strcmp(job->workload_name, "pgbench") != 0 ||
		    setting_is_said(remedy, job))
			continue;
		attempt = remedy_propose(proposals);
		attempt->sets[attempt->set_count++] =
			remedy_text(advice, "jobs.%s.%s=%s", job->name, remedy->setting.key,
				    remedy->setting.value);
		attempt->title = remedy_text(advice, "%s: %s", job->name, remedy->setting.line);
		attempt->command = remedy->setting.command;
		any = true;
	}
	if (!any)
		remedy_leave_out(proposals, "there is no PostgreSQL in a scenario to set it in");
}

/* A field that one of both has changed. False: both did. */
#define MERGE(field)                                                                               \
	do {                                                                                       \
		if (other->model.field != base->field) {                                           \
			if (one->model.field != base->field)                                       \
				return false;                                                      \
			both->model.field = other->model.field;                                    \
		}                                                                                  \
	} while (0)

/* Switches one by one; another kernel is all of them. */
static bool policy_combine(const struct model_options *base, const struct remedy_try *one,
			   const struct remedy_try *other, struct remedy_try *both)
{
	const uint32_t *was = base->policy.switches.value;
	bool changes = false;

	for (int id = 0; id < SWITCH_COUNT; id++)
		changes |= one->model.policy.switches.value[id] != was[id];
	changes |= one->model.policy.policy != base->policy.policy;
	if (other->model.policy.policy != base->policy.policy) {
		both->model.policy = other->model.policy;
		return !changes;
	}
	for (int id = 0; id < SWITCH_COUNT; id++) {
		uint32_t value = other->model.policy.switches.value[id];

		if (value == was[id])
			continue;
		if (one->model.policy.switches.value[id] != was[id] ||
		    one->model.policy.policy != base->policy.policy)
			return false;
		both->model.policy.switches.value[id] = value;
	}
	return true;
}

bool remedy_combine(const struct model_options *base, const struct remedy_try *one,
		    const struct remedy_try *other, struct remedy_try *both)
{
	const char *touches = one->remedy->touches, *others = other->remedy->touches;

	if (touches && others && strcmp(touches, others) == 0)
		return false;
	if (one->remedy == other->remedy || one->second || other->second ||
	    (one->split_bytes && other->split_bytes) || one->targets & other->targets ||
	    one->set_count + other->set_count > REMEDY_SETS_MAX)
		return false;
	*both = *one;
	both->second = other;
	both->title = both->how = both->pays = both->command = NULL;
	both->split_bytes = one->split_bytes + other->split_bytes;
	both->memory_bytes = one->memory_bytes + other->memory_bytes;
	for (size_t i = 0; i < other->set_count; i++)
		both->sets[both->set_count++] = other->sets[i];
	MERGE(memory_bytes);
	MERGE(pinned_bytes);
	MERGE(readahead_bytes);
	MERGE(filesystem);
	MERGE(device);
	MERGE(record_bytes);
	MERGE(arc_max_bytes);
	MERGE(arc_meta_percent);
	return policy_combine(base, one, other, both);
}

#undef MERGE

bool remedy_is_to_blame(const struct remedy_facts *facts, size_t target)
{
	const struct remedy_target *it = &facts->targets[target];

	return facts->blamed_pages > 0 &&
	       it->blamed_pages * 100 >= facts->blamed_pages * BLAME_PERCENT &&
	       it->reads + it->writes + it->mapped_reads + it->mapped_writes > 0;
}

uint64_t remedy_same_class(const struct remedy_facts *facts, size_t target)
{
	const char *name = facts->targets[target].class_name;
	uint64_t targets = UINT64_C(1) << target;

	/* Without a name: streams as they were asked for, whose files nobody knows. */
	for (size_t i = 0; *name && i < facts->target_count && i < REMEDY_TARGETS_MAX; i++)
		if (strcmp(facts->targets[i].class_name, name) == 0)
			targets |= UINT64_C(1) << i;
	return targets;
}

size_t remedy_worst(const struct remedy_facts *facts, uint64_t taken)
{
	size_t worst = SIZE_MAX;

	for (size_t i = 0; i < facts->target_count && i < REMEDY_TARGETS_MAX; i++)
		if (!(taken >> i & 1) && facts->targets[i].blamed_pages > 0 &&
		    (worst == SIZE_MAX ||
		     facts->targets[i].blamed_pages > facts->targets[worst].blamed_pages))
			worst = i;
	for (size_t i = 0; worst == SIZE_MAX && i < facts->target_count && i < REMEDY_TARGETS_MAX;
	     i++)
		if (!(taken >> i & 1) &&
		    facts->targets[i].stats + facts->targets[i].creates > MANY_NAMES)
			worst = i;
	return worst;
}

static uint64_t bytes_of(const struct remedy_target *target)
{
	return target->read_bytes + target->write_bytes + target->mapped_bytes;
}

static bool goes_before(const struct remedy_target *a, const struct remedy_target *b)
{
	return a->blamed_pages != b->blamed_pages ? a->blamed_pages > b->blamed_pages
						  : bytes_of(a) > bytes_of(b);
}

void remedy_propose_targets(struct remedy_proposals *proposals)
{
	const struct remedy_facts *facts = proposals->facts;
	uint64_t taken = 0;

	for (size_t round = 0; round < TARGETS_TRIED_MAX; round++) {
		size_t best = SIZE_MAX;
		struct remedy_try *attempt;

		for (size_t i = 0; i < facts->target_count && i < REMEDY_TARGETS_MAX; i++)
			if (!(taken >> i & 1) && proposals->remedy->suits(facts, i) &&
			    (best == SIZE_MAX ||
			     goes_before(&facts->targets[i], &facts->targets[best])))
				best = i;
		if (best == SIZE_MAX)
			break;
		taken |= UINT64_C(1) << best;
		attempt = remedy_propose(proposals);
		attempt->targets = UINT64_C(1) << best;
		remedy_name(proposals->advice, facts, attempt);
	}
	if (!taken)
		remedy_leave_out(proposals, "nobody does what it would change");
}

void remedy_keep(struct remedy_edit *edit, const struct op *op)
{
	*array_push(&edit->out) = *op;
}

void remedy_keep_as(struct remedy_edit *edit, const struct op *op, enum op_kind kind)
{
	struct op *changed = array_push(&edit->out);

	*changed = *op;
	changed->kind = (uint8_t)kind;
}

void remedy_add(struct remedy_edit *edit, const struct op *op, enum op_kind kind, uint64_t offset,
		uint64_t bytes)
{
	struct op *added = array_push(&edit->out);

	*added = *op;
	added->kind = (uint8_t)kind;
	added->offset = offset;
	added->bytes = bytes;
	added->path_to = 0;
}
