/*
 * kernel: runs, repeated where they must be, and what they say
 */
#include "machine/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "machine/kernel/kernel_private.h"
#include "machine/kernel/probe.h"
#include "machine/kernel/text_file.h"

/* ---- the result ---- */

struct finished {
	struct meter *meter;
	struct counters totals;
};

static void finished_counters(const void *context, uint32_t stream, struct counters *counters)
{
	const struct finished *finished = context;

	if (stream == 0)
		*counters = finished->totals;
	else
		meter_stream(finished->meter, stream, counters);
}

static uint64_t finished_blame(const void *context, uint32_t victim, uint32_t evictor)
{
	const struct finished *finished = context;

	return meter_blame(finished->meter, victim, evictor);
}

bool kernel_has_mglru(void)
{
	char *text = text_file_read("/sys/kernel/mm/lru_gen/enabled");
	bool enabled = text && strtoul(text, NULL, 16) & 1;

	memory_free(text);
	return enabled;
}

static void describe(const struct run *run, struct result *result)
{
	const struct kernel_options *options = run->options;
	struct utsname name;

	result->input = text_copy(run->source->name);
	result->machine = text_copy("kernel");
	if (uname(&name) == 0)
		result->kernel = text_copy(name.release);
	result->has_mglru = kernel_has_mglru();
	result->statistics =
		text_copy(options->statistics == KERNEL_STATISTICS_FRESH ? "fresh" : "lazy");
	result->filesystem = text_copy(run->scratch.filesystem);
	result->memory_bytes = options->cgroup_limit_bytes;
	result->is_cgroup = true;
	result->readahead_bytes = run->scratch.options.readahead_bytes;
	result->seed = options->seed;
	result->op_count = run->op_count;
	result->file_count = run->file_count;
}

static void finish(struct run *run, struct result *result)
{
	struct finished finished = {.meter = &run->meter};
	struct stream_map *streams = run->options->streams;
	struct recorder_machine machine = {
		.context = &finished,
		.stream_count = STREAM_COUNT_MAX + 1,
		.counters = finished_counters,
	};

	meter_read(&run->meter, true, &finished.totals);
	machine.known = run->meter.known;
	machine.streams_known = run->meter.streams_known;
	if (machine.known >> COUNTER_reread_bytes & 1)
		machine.blame = finished_blame;
	if (streams)
		recorder_finish(&run->recorder, &machine, stream_map_names(streams),
				stream_map_count(streams), result);
	else
		recorder_finish(&run->recorder, &machine, run->source->stream_names,
				run->source->stream_count, result);
	describe(run, result);
	if (!run->probe)
		result_note(
			result,
			"without tracepoints, misses, evictions and what was read again are not "
			"known: %s",
			run->no_probe.message);
	else if (probe_missing(run->probe)[0])
		result_note(result, "this kernel lacks tracepoints: %s", probe_missing(run->probe));
	meter_notes(&run->meter, run->drops_pages, result);
	if (player_plain(run->player) > 0)
		result_note(result,
			    "RWF_DONTCACHE is not known to this kernel's %s: %llu reads and writes "
			    "with "
			    "it were plain ones",
			    run->scratch.filesystem, (unsigned long long)player_plain(run->player));
	meter_besides(&run->meter, run->scratch.root, &result->in_kernel);
}

/* ---- runs ---- */

/* One run from beginning to end. *is_disturbed: it says nothing, do it again. */
static bool run_once(const struct kernel_options *options, struct op_source *source,
		     struct result *result, bool *is_disturbed, struct error *error)
{
	struct run run = {
		.options = options,
		.source = source,
		.scratch.device_fd = -1,
	};
	bool done;

	*result = (struct result){0};
	*is_disturbed = false;
	if (!janitor_start(&run.janitor, error))
		return false;
	run.script = script_create(source->paths);
	recorder_init(&run.recorder);
	done = run_ops(&run, error);
	if (done) {
		finish(&run, result);
		*is_disturbed = meter_is_disturbed(&run.meter);
	}
	meter_stop(&run.meter);
	player_stop(run.player);
	probe_close(run.probe);
	scratch_close(&run.scratch);
	if (run.cgroup.version)
		(void)cgroup_remove(run.cgroup.path);
	recorder_deinit(&run.recorder);
	script_destroy(run.script);
	array_deinit(&run.existing);
	janitor_stop(&run.janitor);
	return done;
}

/* The same, until nobody drops all caches meanwhile. */
static bool run_undisturbed(const struct kernel_options *options,
			    const struct kernel_source *source, struct result *result,
			    struct error *error)
{
	uint32_t attempts = source->is_once ? 1 : KERNEL_ATTEMPTS;
	bool is_disturbed = true;

	for (uint32_t attempt = 1;; attempt++) {
		struct op_source *ops = source->open(source->context, error);
		bool done;

		if (!ops)
			return false;
		done = run_once(options, ops, result, &is_disturbed, error);
		source->close(source->context, ops);
		if (!done)
			return false;
		if (!is_disturbed || attempt == attempts) {
			if (is_disturbed)
				result_note(
					result,
					"somebody dropped all caches of this machine during the "
					"run%s: do not believe it",
					attempts > 1 ? ", each of the times it was tried" : "");
			else if (attempt > 1)
				result_note(
					result,
					"repeated %u time%s, because somebody dropped all caches "
					"of this machine",
					attempt - 1, attempt == 2 ? "" : "s");
			return true;
		}
		result_deinit(result);
	}
}

static int by_read_bytes(const void *a, const void *b)
{
	uint64_t left = ((const struct result *)a)->totals.read_bytes,
		 right = ((const struct result *)b)->totals.read_bytes;

	return (left > right) - (left < right);
}

static void range_add(struct counters *low, struct counters *high, const struct counters *counters)
{
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++) {
		uint64_t value = counter_get(counters, id);

		if (value < counter_get(low, id))
			*counter_at(low, id) = value;
		if (value > counter_get(high, id))
			*counter_at(high, id) = value;
	}
}

/* Of several runs: the middle one, and how far they go apart. */
static void runs_sum_up(struct result *runs, size_t count, struct result *result)
{
	qsort(runs, count, sizeof(*runs), by_read_bytes);
	*result = runs[count / 2];
	runs[count / 2] = (struct result){0};
	result->run_count = count;
	if (count > 1) {
		result->low = result->high = result->totals;
		result->marks_low = memory_alloc(result->mark_count + 1, sizeof(struct counters));
		result->marks_high = memory_alloc(result->mark_count + 1, sizeof(struct counters));
		for (size_t m = 0; m < result->mark_count; m++)
			result->marks_low[m] = result->marks_high[m] = result->marks[m].counters;
	}
	for (size_t i = 0; i < count; i++) {
		if (!runs[i].machine)
			continue;
		range_add(&result->low, &result->high, &runs[i].totals);
		for (size_t m = 0; m < result->mark_count && m < runs[i].mark_count; m++)
			range_add(&result->marks_low[m], &result->marks_high[m],
				  &runs[i].marks[m].counters);
		result_deinit(&runs[i]);
	}
}

bool kernel_run(const struct kernel_options *options, const struct kernel_source *source,
		struct result *result, struct error *error)
{
	bool is_lazy = options->statistics == KERNEL_STATISTICS_LAZY;
	size_t count = options->runs                 ? options->runs
		       : is_lazy && !source->is_once ? KERNEL_LAZY_RUNS
						     : 1;
	struct result *runs = memory_alloc(count, sizeof(*runs));
	bool done = true;
	size_t i;

	*result = (struct result){0};
	for (i = 0; done && i < count; i++)
		done = run_undisturbed(options, source, &runs[i], error);
	if (done) {
		runs_sum_up(runs, count, result);
	} else {
		while (i-- > 0)
			result_deinit(&runs[i]);
	}
	memory_free(runs);
	return done;
}
