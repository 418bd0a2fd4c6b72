#include "measure/reported.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "measure/result.h"
#include "op/source.h"

struct taker {
	struct result *result;
	size_t latency_count; /* of the source, at the beginning of the result's */
};

static void work_take(void *context, const char *name)
{
	struct result *result = ((struct taker *)context)->result;

	if (result->work && strcmp(result->work, name) == 0)
		return;
	name = result->work ? "units of work" : name;
	memory_free(result->work);
	result->work = text_copy(name);
}

static struct result_figure *figure_find(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->figure_count; i++) {
		if (strcmp(result->figures[i].name, name) == 0)
			return &result->figures[i];
	}
	return NULL;
}

/* A copy of `name` that no figure has yet. */
static char *figure_name(const struct result *result, const char *name)
{
	size_t bytes = strlen(name) + 16;
	char *text = memory_alloc(bytes, 1);

	snprintf(text, bytes, "%s", name);
	for (unsigned int n = 2; figure_find(result, text); n++)
		snprintf(text, bytes, "%s#%u", name, n);
	return text;
}

static void figure_take(void *context, const char *name, const char *meaning, double value,
			bool per_work)
{
	struct result *result = ((struct taker *)context)->result;
	struct result_figure *same = figure_find(result, name);

	if (same && same->per_work && per_work) {
		same->value += value;
		return;
	}
	result->figures =
		memory_resize(result->figures, result->figure_count + 1, sizeof(*result->figures));
	result->figures[result->figure_count] = (struct result_figure){
		.name = figure_name(result, name),
		.meaning = text_copy(meaning),
		.value = value,
		.per_work = per_work,
	};
	result->figure_count++;
}

void result_take_figure(void *result, const char *name, const char *meaning, double value,
			bool per_work)
{
	struct taker taker = {.result = result};

	figure_take(&taker, name, meaning, value, per_work);
}

static void latency_take(void *context, const char *name, const struct histogram *ns)
{
	struct taker *taker = context;
	struct result *result = taker->result;
	struct result_latency *at;

	if (ns->count == 0)
		return;
	for (size_t i = 0; i < taker->latency_count; i++) {
		if (strcmp(result->latencies[i].name, name) == 0) {
			histogram_merge(&result->latencies[i].ns, ns);
			return;
		}
	}
	result->latencies = memory_resize(result->latencies, result->latency_count + 1,
					  sizeof(*result->latencies));
	at = &result->latencies[taker->latency_count];
	memmove(at + 1, at, (result->latency_count - taker->latency_count) * sizeof(*at));
	*at = (struct result_latency){.name = text_copy(name)};
	histogram_merge(&at->ns, ns);
	taker->latency_count++;
	result->latency_count++;
}

static void event_take(void *context, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	struct result *result = ((struct taker *)context)->result;
	size_t at = result->event_count;

	result->events =
		memory_resize(result->events, result->event_count + 1, sizeof(*result->events));
	/* Of several sources, each in order. */
	for (; at > 0 && result->events[at - 1].begin_ns > begin_ns; at--)
		result->events[at] = result->events[at - 1];
	result->events[at] = (struct result_event){text_copy(name), begin_ns, end_ns};
	result->event_count++;
}

void result_take_report(struct result *result, struct op_source *source)
{
	struct taker taker = {.result = result};
	const struct op_source_reporter reporter = {
		.context = &taker,
		.work = work_take,
		.figure = figure_take,
		.latency = latency_take,
		.event = event_take,
	};

	if (source->interface->work)
		result->work_count = source->interface->work(source);
	if (source->interface->report)
		source->interface->report(source, &reporter);
}
