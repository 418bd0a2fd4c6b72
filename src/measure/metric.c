#include "measure/metric.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/size.h"
#include "measure/validation.h"

/* After the counters. */
static const struct {
	const char *name;
	enum metric_kind kind;
} others[] = {{"elapsed_ns", METRIC_ELAPSED}, {"tps", METRIC_WORK}};

enum { OTHER_COUNT = sizeof(others) / sizeof(others[0]) };

static const char *name_at(const void *context, size_t index)
{
	(void)context;
	if (index < COUNTER_COUNT)
		return counter_name((enum counter_id)index);
	index -= COUNTER_COUNT;
	return index < OTHER_COUNT ? others[index].name : NULL;
}

bool metric_find(struct metric *metric, const char *name, struct error *error)
{
	const char *near;

	for (size_t i = 0; name_at(NULL, i); i++) {
		if (strcmp(name_at(NULL, i), name) != 0)
			continue;
		*metric = i < COUNTER_COUNT
				  ? (struct metric){.counter = (enum counter_id)i}
				  : (struct metric){.kind = others[i - COUNTER_COUNT].kind};
		return true;
	}
	near = nearest_word(name, name_at, NULL);
	return error_input(
		error,
		"no metric \"%.60s\"%s%s%s: it is a counter, as in --json, elapsed_ns or "
		"tps",
		name, near ? " (nearest: " : "", near ? near : "", near ? ")" : "");
}

const char *metric_name(const struct metric *metric)
{
	if (metric->kind == METRIC_COUNTER)
		return counter_name(metric->counter);
	return metric->kind == METRIC_ELAPSED ? "elapsed_ns" : "tps";
}

bool metric_more_is_better(const struct metric *metric)
{
	return metric->kind == METRIC_WORK;
}

/* The figure that counts the units of work bears their name. */
static bool work_per_second(const struct result *result, double *value)
{
	for (size_t i = 0; result->work && result->elapsed_ns && i < result->figure_count; i++) {
		if (strcmp(result->figures[i].name, result->work) != 0)
			continue;
		*value = result->figures[i].value * (double)NS_PER_SECOND /
			 (double)result->elapsed_ns;
		return true;
	}
	return false;
}

bool metric_of_run(const struct metric *metric, const struct result *result, double *value)
{
	if (metric->kind == METRIC_WORK)
		return work_per_second(result, value);
	if (metric->kind == METRIC_ELAPSED) {
		*value = (double)result->elapsed_ns;
		return result->elapsed_ns > 0;
	}
	*value = (double)counter_get(&result->totals, metric->counter);
	return result->known >> metric->counter & 1;
}

bool metric_of_stream(const struct metric *metric, const struct result_stream *stream,
		      double *value)
{
	if (metric->kind != METRIC_COUNTER)
		return false;
	*value = (double)counter_get(&stream->counters, metric->counter);
	return stream->known >> metric->counter & 1;
}

double metric_floor(const struct metric *metric, uint64_t memory_bytes)
{
	return metric->kind == METRIC_COUNTER ? validation_floor(memory_bytes, metric->counter) : 0;
}

const char *metric_format(char text[METRIC_TEXT_BYTES], const struct metric *metric, double value)
{
	uint64_t whole = (uint64_t)(value + 0.5);

	if (metric->kind == METRIC_WORK)
		snprintf(text, METRIC_TEXT_BYTES, "%.1f/s", value);
	else if (metric->kind == METRIC_ELAPSED)
		time_format(text, whole);
	else if (counter_unit(metric->counter) == COUNTER_UNIT_BYTES)
		size_format(text, whole);
	else
		count_format(text, whole);
	return text;
}
