#include "measure/result_json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? text_copy(value) : NULL;
}

/* *known: a bit for each that is there and not null. */
static void counters_read(const json_t *object, struct counters *counters, uint64_t *known)
{
	*counters = (struct counters){0};
	*known = 0;
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++) {
		const json_t *value = json_object_get(object, counter_name(id));

		if (!json_is_integer(value))
			continue;
		*counter_at(counters, id) = (uint64_t)json_integer_value(value);
		*known |= UINT64_C(1) << id;
	}
}

/* ---- time ---- */

static void device_read(struct result_device *device, const json_t *object)
{
	device->name = text(object, "name");
	for (const struct result_field *field = result_device_fields; field->name; field++)
		*result_field_at(device, field) = number(object, field->name);
}

/* Sums that give the mean and the deviation that were written: they are rounded. */
static void latency_read(struct histogram *ns, const json_t *object)
{
	const json_t *buckets = json_object_get(object, "buckets");
	uint64_t mean = number(object, "mean_ns"), deviation = number(object, "deviation_ns");

	*ns = (struct histogram){
		.count = number(object, "count"),
		.least = number(object, "min_ns"),
		.most = number(object, "max_ns"),
		.buckets = memory_alloc(HISTOGRAM_BUCKETS, sizeof(*ns->buckets)),
	};
	ns->sum = (unsigned __int128)mean * ns->count;
	ns->sum_of_squares =
		((unsigned __int128)mean * mean + (unsigned __int128)deviation * deviation) *
		ns->count;
	for (size_t i = 0; i < json_array_size(buckets); i++) {
		const json_t *pair = json_array_get(buckets, i);
		json_int_t low = json_integer_value(json_array_get(pair, 0));

		ns->buckets[histogram_bucket((uint64_t)low)] =
			(uint64_t)json_integer_value(json_array_get(pair, 1));
	}
}

static void latencies_read(struct result *result, json_t *latencies)
{
	const char *name;
	json_t *object;

	result->latencies =
		memory_alloc(json_object_size(latencies) + 1, sizeof(*result->latencies));
	json_object_foreach(latencies, name, object)
	{
		struct result_latency *latency;

		if (!json_is_object(object))
			continue;
		latency = &result->latencies[result->latency_count++];
		latency->name = text_copy(name);
		latency_read(&latency->ns, object);
	}
}

static void workload_read(struct result *result, const json_t *workload)
{
	json_t *figures = json_object_get(workload, "figures"), *object;
	const char *name;

	result->work = text(workload, "unit");
	result->work_count = number(workload, "count");
	result->figures = memory_alloc(json_object_size(figures) + 1, sizeof(*result->figures));
	json_object_foreach(figures, name, object)
	{
		struct result_figure *figure = &result->figures[result->figure_count++];
		const json_t *value = json_object_get(object, "value");

		figure->name = text_copy(name);
		figure->meaning = text(object, "meaning");
		if (!figure->meaning)
			figure->meaning = text_copy("");
		figure->value = json_is_number(value) ? json_number_value(value) : NAN;
		figure->per_work = json_is_number(json_object_get(object, "per_work"));
	}
}

static void series_read(struct result *result, const json_t *series)
{
	result->interval_ns = number(series, "interval_ns");
	result->interval_count = json_array_size(json_object_get(series, "ops"));
	result->intervals = memory_alloc(result->interval_count + 1, sizeof(*result->intervals));
	for (const struct result_field *field = result_interval_fields; field->name; field++) {
		const json_t *values = json_object_get(series, field->name);

		for (size_t i = 0; i < result->interval_count; i++)
			*result_field_at(&result->intervals[i], field) =
				(uint64_t)json_integer_value(json_array_get(values, i));
	}
}

static void events_read(struct result *result, const json_t *events)
{
	result->events = memory_alloc(json_array_size(events) + 1, sizeof(*result->events));
	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);
		const json_t *end = json_object_get(event, "end_ns");
		char *name = text(event, "name");

		if (!name)
			continue;
		result->events[result->event_count++] = (struct result_event){
			.name = name,
			.begin_ns = number(event, "begin_ns"),
			.end_ns = json_is_integer(end) ? (uint64_t)json_integer_value(end)
						       : UINT64_MAX,
		};
	}
}

static void time_read(struct result *result, const json_t *json)
{
	const json_t *cpu = json_object_get(json, "cpu");

	result->elapsed_ns = number(json, "elapsed_ns");
	result->cpu_count = number(cpu, "count");
	result->cpu_ns = number(cpu, "busy_ns");
	result->stopped.count = number(json_object_get(json, "stopped_writers"), "count");
	result->stopped.ns = number(json_object_get(json, "stopped_writers"), "ns");
	events_read(result, json_object_get(json, "events"));
	device_read(&result->device, json_object_get(json, "device"));
	latencies_read(result, json_object_get(json, "latency"));
	workload_read(result, json_object_get(json, "workload"));
	series_read(result, json_object_get(json, "series"));
}

/* ---- the rest ---- */

static void marks_read(struct result *result, const json_t *marks)
{
	size_t count = json_array_size(marks);
	uint64_t known;

	result->marks = memory_alloc(count + 1, sizeof(*result->marks));
	for (size_t i = 0; i < count; i++) {
		const json_t *mark = json_array_get(marks, i);
		const json_t *range = json_object_get(mark, "range");

		result->marks[i].label = text(mark, "label");
		if (!result->marks[i].label)
			result->marks[i].label = text_copy("");
		result->marks[i].op_index = number(mark, "op_index");
		counters_read(mark, &result->marks[i].counters, &known);
		result->marks[i].elapsed_ns = number(mark, "elapsed_ns");
		device_read(&result->marks[i].device, json_object_get(mark, "device"));
		if (!range)
			continue;
		if (!result->marks_low) {
			result->marks_low = memory_alloc(count, sizeof(struct counters));
			result->marks_high = memory_alloc(count, sizeof(struct counters));
		}
		counters_read(json_object_get(range, "low"), &result->marks_low[i], &known);
		counters_read(json_object_get(range, "high"), &result->marks_high[i], &known);
	}
	result->mark_count = count;
}

static void streams_read(struct result *result, json_t *streams)
{
	const char *name;
	json_t *object;

	result->streams = memory_alloc(json_object_size(streams) + 1, sizeof(*result->streams));
	json_object_foreach(streams, name, object)
	{
		struct result_stream *stream = &result->streams[result->stream_count++];
		uint64_t known;

		stream->name = text_copy(name);
		stream->passes = number(object, "passes");
		counters_read(object, &stream->counters, &stream->known);
		counters_read(json_object_get(object, "at_pass"), &stream->at_pass, &known);
	}
}

static void blame_read(struct result *result, const json_t *blame)
{
	size_t count = result->stream_count;

	if (!json_is_object(blame))
		return;
	result->blame = memory_alloc(count * count + 1, sizeof(*result->blame));
	for (size_t victim = 0; victim < count; victim++) {
		const json_t *row = json_object_get(blame, result->streams[victim].name);

		for (size_t evictor = 0; evictor < count; evictor++)
			result->blame[victim * count + evictor] = number(
				json_object_get(row, result->streams[evictor].name), "pages");
	}
}

static void samples_read(struct result *result, const json_t *samples)
{
	result->sample_count = json_array_size(samples);
	result->samples = memory_alloc(result->sample_count + 1, sizeof(*result->samples));
	for (size_t i = 0; i < result->sample_count; i++) {
		const json_t *sample = json_array_get(samples, i);

		result->samples[i] = (struct result_sample){
			.op_index = number(sample, "op_index"),
			.active_file_pages = number(sample, "active_file_pages"),
			.inactive_file_pages = number(sample, "inactive_file_pages"),
			.slab_bytes = number(sample, "slab_bytes"),
			.dirty_pages = number(sample, "dirty_pages"),
			.read_bytes = number(sample, "read_bytes"),
		};
	}
}

static void notes_read(struct result *result, const json_t *notes)
{
	for (size_t i = 0; i < json_array_size(notes); i++)
		result_note(result, "%s", json_string_value(json_array_get(notes, i)));
}

static void machine_read(struct result *result, const json_t *machine)
{
	result->machine = text(machine, "kind");
	result->kernel = text(machine, "kernel");
	result->has_mglru = json_is_true(json_object_get(machine, "mglru"));
	result->statistics = text(machine, "statistics");
	result->policy = text(machine, "policy");
	result->filesystem = text(machine, "filesystem");
	result->memory_bytes = number(machine, "memory_bytes");
	result->is_cgroup = json_is_true(json_object_get(machine, "cgroup"));
	result->readahead_bytes = number(machine, "readahead_bytes");
	result->seed = number(machine, "seed");
}

static void files_read(struct result_kernel *in, const json_t *files)
{
	in->knows_files = json_is_array(files);
	in->file_count = json_array_size(files);
	in->files = memory_alloc(in->file_count + 1, sizeof(*in->files));
	for (size_t i = 0; i < in->file_count; i++) {
		const json_t *file = json_array_get(files, i);

		in->files[i].path = text(file, "path");
		if (!in->files[i].path)
			in->files[i].path = text_copy("");
		in->files[i].inserted_pages = number(file, "inserted_pages");
		in->files[i].deleted_pages = number(file, "deleted_pages");
	}
}

static void in_kernel_read(struct result_kernel *in, const json_t *json)
{
	*in = (struct result_kernel){
		.knows_calls = json_is_integer(json_object_get(json, "reclaim_calls")),
		.reclaim_calls = number(json, "reclaim_calls"),
		.reclaim_freed_pages = number(json, "reclaim_freed_pages"),
		.shrinker_calls = number(json, "shrinker_calls"),
		.shrinker_freed = number(json, "shrinker_freed"),
		.knows_device = json_is_integer(json_object_get(json, "data_read_bytes")),
		.data_read_bytes = number(json, "data_read_bytes"),
		.metadata_read_bytes = number(json, "metadata_read_bytes"),
		.data_written_bytes = number(json, "data_written_bytes"),
		.metadata_written_bytes = number(json, "metadata_written_bytes"),
		.knows_cachestat = json_is_integer(json_object_get(json, "cached_pages")),
		.cached_pages = number(json, "cached_pages"),
		.dirty_pages = number(json, "dirty_pages"),
		.writeback_pages = number(json, "writeback_pages"),
		.evicted_pages = number(json, "evicted_pages"),
		.recently_evicted_pages = number(json, "recently_evicted_pages"),
	};
	files_read(in, json_object_get(json, "files"));
}

bool result_json_read(struct result *result, const char *json_text, size_t bytes,
		      struct error *error)
{
	json_error_t where;
	json_t *json = json_loadb(json_text, bytes, 0, &where), *input, *range;
	uint64_t known;

	*result = (struct result){0};
	if (!json_is_object(json)) {
		json_decref(json);
		return error_failed(error, "line %d of the answer is no JSON: %s", where.line,
				    where.text);
	}
	input = json_object_get(json, "input");
	result->input = text(input, "name");
	result->op_count = number(input, "ops");
	result->file_count = number(input, "files");
	machine_read(result, json_object_get(json, "machine"));
	counters_read(json_object_get(json, "totals"), &result->totals, &result->known);
	marks_read(result, json_object_get(json, "marks"));
	streams_read(result, json_object_get(json, "streams"));
	blame_read(result, json_object_get(json, "blame"));
	samples_read(result, json_object_get(json, "samples"));
	time_read(result, json);
	in_kernel_read(&result->in_kernel, json_object_get(json, "kernel"));
	notes_read(result, json_object_get(json, "notes"));
	result->run_count = number(json, "kernel_runs");
	range = json_object_get(json, "range");
	if (json_is_object(range)) {
		counters_read(json_object_get(range, "low"), &result->low, &known);
		counters_read(json_object_get(range, "high"), &result->high, &known);
	}
	json_decref(json);
	return true;
}
