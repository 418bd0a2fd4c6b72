/*
 * Time as a program reads it: how long, how fast, how long each waited, what the device and the
 * processors did, and all of it interval by interval. Where nobody kept time it is null.
 */
#include <math.h>

#include "base/memory.h"
#include "measure/result.h"
#include "report/name.h"
#include "report/report_private.h"

/* What is no number (a share of nothing) is not known. */
static json_t *json_double(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* A mark's has no name, and its size is the device's own: what it was asked for until then. */
static json_t *device_json(const struct result_device *device)
{
	json_t *object = json_object();

	if (device->name)
		json_object_set_new(object, "name", json_text(device->name));
	for (const struct result_field *field = result_device_fields; field->name; field++) {
		if (field->offset == offsetof(struct result_device, size_bytes) && !device->name)
			continue;
		json_object_set_new(object, field->name,
				    json_number(result_field_get(device, field)));
	}
	return object;
}

static json_t *buckets_json(const struct histogram *ns)
{
	json_t *buckets = json_array();

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		json_t *pair;

		if (!ns->buckets[i])
			continue;
		pair = json_array();
		json_array_append_new(pair, json_number(histogram_bucket_low(i)));
		json_array_append_new(pair, json_number(ns->buckets[i]));
		json_array_append_new(buckets, pair);
	}
	return buckets;
}

static json_t *latency_json(const struct histogram *ns)
{
	json_t *object = json_object();

	json_object_set_new(object, "count", json_number(ns->count));
	json_object_set_new(object, "mean_ns", json_number(histogram_mean(ns)));
	json_object_set_new(object, "deviation_ns", json_number(histogram_deviation(ns)));
	json_object_set_new(object, "min_ns", json_number(ns->least));
	json_object_set_new(object, "max_ns", json_number(ns->most));
	for (const struct result_quantile *q = result_quantiles; q->name; q++)
		json_object_set_new(object, q->key,
				    json_number(histogram_quantile(ns, q->millionths)));
	json_object_set_new(object, "buckets", buckets_json(ns));
	return object;
}

static json_t *latencies_json(const struct result *result)
{
	json_t *latencies = json_object();

	for (size_t i = 0; i < result->latency_count; i++) {
		const struct result_latency *latency = &result->latencies[i];
		char *key;

		if (latency->ns.count == 0)
			continue;
		key = name_utf8(latency->name);
		json_object_set_new(latencies, key, latency_json(&latency->ns));
		memory_free(key);
	}
	return latencies;
}

static json_t *figures_json(const struct result *result)
{
	json_t *figures = json_object();

	for (size_t i = 0; i < result->figure_count; i++) {
		const struct result_figure *figure = &result->figures[i];
		bool divides = figure->per_work && result->work_count;
		json_t *object = json_object();
		char *key = name_utf8(figure->name);

		json_object_set_new(object, "value", json_double(figure->value));
		json_object_set_new(object, "meaning", json_text(figure->meaning));
		json_object_set_new(
			object, "per_work",
			divides ? json_double(figure->value / (double)result->work_count)
				: json_null());
		json_object_set_new(figures, key, object);
		memory_free(key);
	}
	return figures;
}

static json_t *workload_json(const struct result *result)
{
	json_t *workload;
	bool has_work = result->work != NULL;

	if (!has_work && result->figure_count == 0)
		return json_null();
	workload = json_object();
	json_object_set_new(workload, "unit", json_text(result->work));
	json_object_set_new(workload, "count",
			    has_work ? json_number(result->work_count) : json_null());
	json_object_set_new(workload, "per_second",
			    has_work && result->elapsed_ns
				    ? json_double(result_work_per_second(result))
				    : json_null());
	json_object_set_new(workload, "figures", figures_json(result));
	return workload;
}

/* Is it known what this field is in each interval? */
static bool series_is_known(const struct result *result, const struct result_field *field)
{
	switch (field->offset) {
	case offsetof(struct result_interval, work):
		return result->work != NULL;
	case offsetof(struct result_interval, free_bytes):
	case offsetof(struct result_interval, arc_bytes):
	case offsetof(struct result_interval, free_run_bytes):
		return result_series_has(result, field);
	default:
		return true;
	}
}

static json_t *series_of(const struct result *result, const struct result_field *field)
{
	json_t *values;

	if (!series_is_known(result, field))
		return json_null();
	values = json_array();
	for (size_t i = 0; i < result->interval_count; i++)
		json_array_append_new(values,
				      json_number(result_field_get(&result->intervals[i], field)));
	return values;
}

static json_t *work_per_second_json(const struct result *result)
{
	json_t *values;

	if (!result->work)
		return json_null();
	values = json_array();
	for (size_t i = 0; i < result->interval_count; i++)
		json_array_append_new(values, json_double(result_interval_per_second(
						      result, i, result->intervals[i].work)));
	return values;
}

static json_t *series_json(const struct result *result)
{
	json_t *series;

	if (result->interval_count == 0)
		return json_null();
	series = json_object();
	json_object_set_new(series, "interval_ns", json_number(result->interval_ns));
	for (const struct result_field *field = result_interval_fields; field->name; field++) {
		json_object_set_new(series, field->name, series_of(result, field));
		if (field->offset == offsetof(struct result_interval, work))
			json_object_set_new(series, "work_per_second",
					    work_per_second_json(result));
	}
	return series;
}

static json_t *events_json(const struct result *result)
{
	json_t *events = json_array();

	for (size_t i = 0; i < result->event_count; i++) {
		const struct result_event *event = &result->events[i];

		json_array_append_new(events,
				      json_pack("{s:o, s:o, s:o}", "name", json_text(event->name),
						"begin_ns", json_number(event->begin_ns), "end_ns",
						event->end_ns == UINT64_MAX
							? json_null()
							: json_number(event->end_ns)));
	}
	return events;
}

static json_t *cpu_json(const struct result *result)
{
	if (result->cpu_count == 0)
		return json_null();
	return json_pack("{s:o, s:o}", "count", json_number(result->cpu_count), "busy_ns",
			 json_number(result->cpu_ns));
}

void time_json_set(json_t *json, const struct result *result)
{
	json_object_set_new(json, "elapsed_ns",
			    result->elapsed_ns ? json_number(result->elapsed_ns) : json_null());
	json_object_set_new(json, "cpu", cpu_json(result));
	json_object_set_new(json, "device",
			    result->device.name ? device_json(&result->device) : json_null());
	json_object_set_new(json, "stopped_writers",
			    result->device.name ? json_pack("{s:o, s:o}", "count",
							    json_number(result->stopped.count),
							    "ns", json_number(result->stopped.ns))
						: json_null());
	json_object_set_new(json, "latency", latencies_json(result));
	json_object_set_new(json, "workload", workload_json(result));
	json_object_set_new(json, "series", series_json(result));
	json_object_set_new(json, "events", events_json(result));
}

void time_json_set_mark(json_t *json, const struct result *result, const struct result_mark *mark)
{
	if (result->elapsed_ns)
		json_object_set_new(json, "elapsed_ns", json_number(mark->elapsed_ns));
	if (result->device.name)
		json_object_set_new(json, "device", device_json(&mark->device));
}
