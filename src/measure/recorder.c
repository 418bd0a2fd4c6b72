#include "measure/recorder.h"

#include <string.h>

void recorder_init(struct recorder *recorder)
{
	*recorder = (struct recorder){.sample_every = 1};
}

void recorder_deinit(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->marks.count; i++)
		memory_free(recorder->marks.at[i].label);
	array_deinit(&recorder->marks);
	array_deinit(&recorder->passes);
}

void recorder_mark(struct recorder *recorder, const struct counters *now, const char *label,
		   uint64_t op_index)
{
	struct result_mark *mark = array_push(&recorder->marks);

	mark->label = text_copy(label);
	mark->op_index = op_index;
	mark->counters = *now;
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
