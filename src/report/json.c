/*
 * The answer as a program reads it: architecture.md, "What replay --json and run --json must hold".
 */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "cache/policy_options.h"
#include "measure/result.h"
#include "report/name.h"
#include "report/report.h"
#include "report/report_private.h"

json_t *json_number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

json_t *json_text(const char *value)
{
	char *utf8;
	json_t *json;

	if (!value)
		return json_null();
	utf8 = name_utf8(value);
	json = json_string(utf8);
	memory_free(utf8);
	return json;
}

static void counters_set(json_t *object, const struct counters *counters, uint64_t known)
{
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++)
		json_object_set_new(object, counter_name(id),
				    known >> id & 1 ? json_number(counter_get(counters, id))
						    : json_null());
}

/* The least and the most of each counter in several runs. */
static json_t *range_json(const struct counters *low, const struct counters *high, uint64_t known)
{
	json_t *least = json_object(), *most = json_object();

	counters_set(least, low, known);
	counters_set(most, high, known);
	return json_pack("{s:o, s:o}", "low", least, "high", most);
}

static void number_set(json_t *object, const char *key, bool is_known, uint64_t value)
{
	json_object_set_new(object, key, is_known ? json_number(value) : json_null());
}

static json_t *files_json(const struct result_kernel *in)
{
	json_t *files;

	if (!in->knows_files)
		return json_null();
	files = json_array();
	for (size_t i = 0; i < in->file_count; i++) {
		json_t *file = json_object();

		json_object_set_new(file, "path", json_text(in->files[i].path));
		json_object_set_new(file, "inserted_pages",
				    json_number(in->files[i].inserted_pages));
		json_object_set_new(file, "deleted_pages", json_number(in->files[i].deleted_pages));
		json_array_append_new(files, file);
	}
	return files;
}

static json_t *in_kernel_json(const struct result_kernel *in)
{
	json_t *object = json_object();

	number_set(object, "reclaim_calls", in->knows_calls, in->reclaim_calls);
	number_set(object, "reclaim_freed_pages", in->knows_calls, in->reclaim_freed_pages);
	number_set(object, "shrinker_calls", in->knows_calls, in->shrinker_calls);
	number_set(object, "shrinker_freed", in->knows_calls, in->shrinker_freed);
	number_set(object, "data_read_bytes", in->knows_device, in->data_read_bytes);
	number_set(object, "metadata_read_bytes", in->knows_device, in->metadata_read_bytes);
	number_set(object, "data_written_bytes", in->knows_device, in->data_written_bytes);
	number_set(object, "metadata_written_bytes", in->knows_device, in->metadata_written_bytes);
	number_set(object, "cached_pages", in->knows_cachestat, in->cached_pages);
	number_set(object, "dirty_pages", in->knows_cachestat, in->dirty_pages);
	number_set(object, "writeback_pages", in->knows_cachestat, in->writeback_pages);
	number_set(object, "evicted_pages", in->knows_cachestat, in->evicted_pages);
	number_set(object, "recently_evicted_pages", in->knows_cachestat,
		   in->recently_evicted_pages);
	json_object_set_new(object, "files", files_json(in));
	return object;
}

static json_t *notes_json(const struct result *result)
{
	json_t *notes = json_array();

	for (size_t i = 0; i < result->note_count; i++)
		json_array_append_new(notes, json_text(result->notes[i]));
	return notes;
}

static json_t *marks_json(const struct result *result)
{
	json_t *marks = json_array();

	for (size_t i = 0; i < result->mark_count; i++) {
		json_t *mark = json_object();

		json_object_set_new(mark, "label", json_text(result->marks[i].label));
		json_object_set_new(mark, "op_index", json_number(result->marks[i].op_index));
		counters_set(mark, &result->marks[i].counters, result->known);
		time_json_set_mark(mark, result, &result->marks[i]);
		if (result->marks_low)
			json_object_set_new(mark, "range",
					    range_json(&result->marks_low[i],
						       &result->marks_high[i], result->known));
		json_array_append_new(marks, mark);
	}
	return marks;
}

/* The levels over time, evenly spaced in ops. */
static json_t *samples_json(const struct result *result)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < result->sample_count; i++) {
		const struct result_sample *sample = &result->samples[i];
		json_t *object = json_object();

		json_object_set_new(object, "op_index", json_number(sample->op_index));
		json_object_set_new(object, "read_bytes", json_number(sample->read_bytes));
		json_object_set_new(object, "active_file_pages",
				    json_number(sample->active_file_pages));
		json_object_set_new(object, "inactive_file_pages",
				    json_number(sample->inactive_file_pages));
		json_object_set_new(object, "dirty_pages", json_number(sample->dirty_pages));
		json_object_set_new(object, "slab_bytes", json_number(sample->slab_bytes));
		json_array_append_new(samples, object);
	}
	return samples;
}

/*
 * A key for each stream: its name as UTF-8. Names that only wrong bytes told apart get "#2", "#3"
 * behind them.
 */
static char **stream_keys(const struct result *result)
{
	char **keys = memory_alloc(result->stream_count, sizeof(*keys));
	json_t *seen = json_object();

	for (size_t i = 0; i < result->stream_count; i++) {
		size_t bytes;

		keys[i] = name_utf8(result->streams[i].name);
		bytes = strlen(keys[i]);
		for (unsigned int n = 2; json_object_get(seen, keys[i]); n++) {
			keys[i] = memory_resize(keys[i], bytes + 16, 1);
			snprintf(keys[i] + bytes, 16, "#%u", n);
		}
		json_object_set_new(seen, keys[i], json_true());
	}
	json_decref(seen);
	return keys;
}

/* The counters at the end of the last whole pass; streams that do not loop have none. */
static json_t *at_pass_json(const struct result_stream *stream)
{
	json_t *object;

	if (!stream->passes)
		return json_null();
	object = json_object();
	counters_set(object, &stream->at_pass, stream->known);
	return object;
}

static json_t *streams_json(const struct result *result, char *const *keys)
{
	json_t *streams = json_object();

	for (size_t i = 0; i < result->stream_count; i++) {
		const struct result_stream *stream = &result->streams[i];
		json_t *object = json_object();

		counters_set(object, &stream->counters, stream->known);
		json_object_set_new(object, "passes",
				    stream->passes ? json_number(stream->passes) : json_null());
		json_object_set_new(object, "at_pass", at_pass_json(stream));
		json_object_set_new(streams, keys[i], object);
	}
	return streams;
}

static json_t *blame_json(const struct result *result, char *const *keys)
{
	json_t *blame;

	if (!result->blame)
		return json_null();
	blame = json_object();
	for (size_t victim = 0; victim < result->stream_count; victim++) {
		json_t *row = json_object();

		for (size_t evictor = 0; evictor < result->stream_count; evictor++) {
			uint64_t pages = result->blame[victim * result->stream_count + evictor];

			if (pages)
				json_object_set_new(
					row, keys[evictor],
					json_pack("{s:o}", "pages", json_number(pages)));
		}
		if (json_object_size(row))
			json_object_set_new(blame, keys[victim], row);
		else
			json_decref(row);
	}
	return blame;
}

static json_t *switches_json(const char *policy)
{
	struct policy_options options;
	struct error error;
	json_t *switches;

	if (!policy || !policy_options_parse(&options, policy, &error) ||
	    !policy_has_switches(options.policy))
		return json_null();
	switches = json_object();
	for (enum switch_id id = 0; id < SWITCH_COUNT; id++) {
		char value[64];

		switch_format(value, sizeof(value), id, options.switches.value[id]);
		json_object_set_new(switches, switch_name(id),
				    strchr(switch_values(id), '|')
					    ? json_text(value)
					    : json_number(options.switches.value[id]));
	}
	return switches;
}

static json_t *machine_json(const struct result *result, const struct report_options *options)
{
	json_t *machine = json_object();
	bool bare = options->bare_pages != 0;

	json_object_set_new(machine, "kind", json_text(bare ? "bare" : result->machine));
	json_object_set_new(machine, "kernel", json_text(result->kernel));
	json_object_set_new(machine, "mglru",
			    result->kernel ? json_boolean(result->has_mglru) : json_null());
	json_object_set_new(machine, "statistics", json_text(result->statistics));
	json_object_set_new(machine, "policy", json_text(result->policy));
	json_object_set_new(machine, "switches",
			    bare ? json_null() : switches_json(result->policy));
	json_object_set_new(machine, "filesystem", json_text(result->filesystem));
	json_object_set_new(machine, "memory_bytes",
			    bare ? json_null() : json_number(result->memory_bytes));
	json_object_set_new(machine, "cgroup",
			    bare ? json_null() : json_boolean(result->is_cgroup));
	json_object_set_new(machine, "readahead_bytes",
			    bare ? json_null() : json_number(result->readahead_bytes));
	json_object_set_new(machine, "pages",
			    bare ? json_number(options->bare_pages) : json_null());
	json_object_set_new(machine, "seed", json_number(result->seed));
	return machine;
}

static json_t *input_json(const struct result *result, const struct report_options *options)
{
	json_t *input = json_object();

	json_object_set_new(input, "name", json_text(result->input));
	json_object_set_new(input, "ops", json_number(result->op_count));
	json_object_set_new(input, "files", json_number(result->file_count));
	json_object_set_new(input, "skipped_rows", json_number(options->skipped_rows));
	json_object_set_new(input, "cut_off", json_boolean(options->is_cut_off));
	if (options->input_notes)
		json_object_set(input, "notes", options->input_notes);
	return input;
}

json_t *report_json(const struct result *result, const struct report_options *options)
{
	json_t *json = json_object(), *totals = json_object();
	char **keys = stream_keys(result);

	counters_set(totals, &result->totals, result->known);
	json_object_set_new(json, "input", input_json(result, options));
	json_object_set_new(json, "totals", totals);
	json_object_set_new(json, "marks", marks_json(result));
	json_object_set_new(json, "streams", streams_json(result, keys));
	json_object_set_new(json, "blame", blame_json(result, keys));
	json_object_set_new(json, "samples", samples_json(result));
	json_object_set_new(json, "machine", machine_json(result, options));
	if (result->kernel) {
		json_object_set_new(json, "kernel", in_kernel_json(&result->in_kernel));
		json_object_set_new(json, "kernel_runs",
				    json_number(result->run_count ? result->run_count : 1));
		json_object_set_new(json, "range",
				    result->run_count > 1
					    ? range_json(&result->low, &result->high, result->known)
					    : json_null());
	}
	if (result->kernel || result->note_count)
		json_object_set_new(json, "notes", notes_json(result));
	time_json_set(json, result);
	for (size_t i = 0; i < result->stream_count; i++)
		memory_free(keys[i]);
	memory_free(keys);
	return json;
}

void report_json_print(FILE *out, json_t *json)
{
	json_dumpf(json, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(json);
}
