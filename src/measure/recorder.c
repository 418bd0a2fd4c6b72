#include "measure/recorder.h"

#include <assert.h>
#include <string.h>

void recorder_init(struct recorder *recorder)
{
	*recorder = (struct recorder){.sample_every = 1, .interval_fold = 1};
}

void recorder_deinit(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->marks.count; i++)
		memory_free(recorder->marks.at[i].label);
	array_deinit(&recorder->marks);
	array_deinit(&recorder->passes);
	for (size_t kind = 0; kind < OP_KIND_COUNT; kind++)
		histogram_deinit(&recorder->latencies[kind]);
	memory_free(recorder->intervals);
}

void recorder_mark(struct recorder *recorder, const struct counters *now, const char *label,
		   uint64_t op_index)
{
	struct result_mark *mark = array_push(&recorder->marks);

	mark->label = text_copy(label);
	mark->op_index = op_index;
	mark->counters = *now;
}

void recorder_mark_time(struct recorder *recorder, uint64_t elapsed_ns,
			const struct result_device *device)
{
	struct result_mark *mark = &recorder->marks.at[recorder->marks.count - 1];

	assert(recorder->marks.count > 0);
	mark->elapsed_ns = elapsed_ns;
	if (device)
		mark->device = *device;
	mark->device.name = NULL;
}

void recorder_restart_time(struct recorder *recorder)
{
	for (size_t kind = 0; kind < OP_KIND_COUNT; kind++)
		histogram_deinit(&recorder->latencies[kind]);
	memset(recorder->latencies, 0, sizeof(recorder->latencies));
	recorder->interval_count = 0;
	recorder->interval_fold = 1;
	recorder->pending_count = 0;
	recorder->pending = (struct result_interval){0};
}

void recorder_pass(struct recorder *recorder, uint32_t stream, const struct counters *now)
{
	while (recorder->passes.count <= stream)
		*array_push(&recorder->passes) = (struct recorder_passes){0};
	recorder->passes.at[stream].count++;
	recorder->passes.at[stream].counters = *now;
}

void recorder_sample(struct recorder *recorder, const struct counters *now, uint64_t op_index)
{
	if (recorder->sample_count == RECORDER_SAMPLES) {
		/* Every other one goes. */
		for (size_t i = 0; i < RECORDER_SAMPLES / 2; i++)
			recorder->samples[i] = recorder->samples[2 * i + 1];
		recorder->sample_count = RECORDER_SAMPLES / 2;
		recorder->sample_every *= 2;
	}
	recorder->samples[recorder->sample_count++] = (struct result_sample){
		.op_index = op_index,
		.active_file_pages = now->active_file_pages,
		.inactive_file_pages = now->inactive_file_pages,
		.slab_bytes = now->slab_bytes,
		.dirty_pages = now->dirty_pages,
		.read_bytes = now->read_bytes,
	};
	recorder->sample_next =
		op_index - op_index % recorder->sample_every + recorder->sample_every;
}

/* ---- intervals ---- */

/* `later` follows at once. */
static void interval_join(struct result_interval *interval, const struct result_interval *later)
{
	for (const struct result_field *field = result_interval_fields; field->name; field++) {
		uint64_t before = field->is_level ? 0 : result_field_get(interval, field);

		*result_field_at(interval, field) = before + result_field_get(later, field);
	}
}

static void interval_keep(struct recorder *recorder)
{
	static_assert(RECORDER_INTERVALS % 2 == 0, "each has a neighbour");
	if (!recorder->intervals)
		recorder->intervals =
			memory_alloc(RECORDER_INTERVALS, sizeof(*recorder->intervals));
	recorder->intervals[recorder->interval_count++] = recorder->pending;
	recorder->pending = (struct result_interval){0};
	recorder->pending_count = 0;
}

static void intervals_halve(struct recorder *recorder)
{
	struct result_interval *at = recorder->intervals;

	for (size_t i = 0; i < RECORDER_INTERVALS / 2; i++) {
		struct result_interval joined = at[2 * i];

		interval_join(&joined, &at[2 * i + 1]);
		at[i] = joined;
	}
	recorder->interval_count = RECORDER_INTERVALS / 2;
	recorder->interval_fold *= 2;
}

void recorder_interval(struct recorder *recorder, const struct result_interval *interval,
		       uint64_t ns)
{
	assert(ns > 0 && (recorder->interval_ns == 0 || recorder->interval_ns == ns));
	recorder->interval_ns = ns;
	/* Only when one more comes: a full series is a good one. */
	if (recorder->interval_count == RECORDER_INTERVALS)
		intervals_halve(recorder);
	interval_join(&recorder->pending, interval);
	if (++recorder->pending_count == recorder->interval_fold)
		interval_keep(recorder);
}

static void intervals_finish(struct recorder *recorder, struct result *result)
{
	if (recorder->pending_count)
		interval_keep(recorder);
	result->interval_ns = recorder->interval_ns * recorder->interval_fold;
	result->intervals = recorder->intervals;
	result->interval_count = recorder->interval_count;
	recorder->intervals = NULL;
	recorder->interval_count = 0;
}

/* Those of the operations come behind what is there. */
static void latencies_finish(struct recorder *recorder, struct result *result)
{
	result->latencies = memory_resize(result->latencies, result->latency_count + OP_KIND_COUNT,
					  sizeof(*result->latencies));
	for (size_t kind = 0; kind < OP_KIND_COUNT; kind++) {
		if (recorder->latencies[kind].count == 0)
			continue;
		result->latencies[result->latency_count++] = (struct result_latency){
			.name = text_copy(op_kind_name((enum op_kind)kind)),
			.ns = recorder->latencies[kind],
		};
		recorder->latencies[kind] = (struct histogram){0};
	}
}

/* ---- the end ---- */

static bool did_something(const struct counters *counters)
{
	for (int id = 0; id < COUNTER_COUNT; id++)
		if (counter_get(counters, (enum counter_id)id))
			return true;
	return false;
}

void recorder_finish(struct recorder *recorder, const struct recorder_machine *machine,
		     char *const *names, uint32_t name_count, struct result *result)
{
	uint32_t count = machine->stream_count, kept = 0;
	uint32_t *ids = memory_alloc(count, sizeof(*ids));

	machine->counters(machine->context, 0, &result->totals);
	result->known = machine->known;
	result->marks = recorder->marks.at;
	result->mark_count = recorder->marks.count;
	recorder->marks.at = NULL;
	recorder->marks.count = recorder->marks.capacity = 0;
	result->samples = memory_alloc(recorder->sample_count + 1, sizeof(*result->samples));
	memcpy(result->samples, recorder->samples,
	       recorder->sample_count * sizeof(*result->samples));
	result->sample_count = recorder->sample_count;
	intervals_finish(recorder, result);
	latencies_finish(recorder, result);

	result->streams = memory_alloc(count, sizeof(*result->streams));
	for (uint32_t id = 0; id < count; id++) {
		struct result_stream *stream = &result->streams[kept];

		if (id == 0) {
			/*
			 * Stream 0 means the sum; what nobody asked for is
			 * metadata at the start, if anything.
			 */
			continue;
		}
		machine->counters(machine->context, id, &stream->counters);
		if (!did_something(&stream->counters))
			continue;
		stream->name =
			text_copy(id < name_count && names && names[id] ? names[id] : "(none)");
		stream->known = machine->streams_known;
		if (id < recorder->passes.count) {
			stream->passes = recorder->passes.at[id].count;
			stream->at_pass = recorder->passes.at[id].counters;
		}
		ids[kept++] = id;
	}
	result->stream_count = kept;
	if (!machine->blame) {
		memory_free(ids);
		return;
	}
	result->blame = memory_alloc((size_t)kept * kept + 1, sizeof(*result->blame));
	for (uint32_t victim = 0; victim < kept; victim++)
		for (uint32_t evictor = 0; evictor < kept; evictor++)
			result->blame[victim * kept + evictor] =
				machine->blame(machine->context, ids[victim], ids[evictor]);
	memory_free(ids);
}
