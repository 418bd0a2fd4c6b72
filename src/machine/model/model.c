/*
 * model: runs a source through the cache, one op after the other, and keeps the time
 *
 * With a clock (scenarios), an op takes CPU time and its device bytes wait
 * their turn; without, the trace's time stamps are the clock and everything is done at once.
 */
#include "machine/model/model.h"

#include "base/size.h"
#include "cache/policy.h"
#include "machine/model/device.h"
#include "machine/model/model_private.h"
#include "measure/reported.h"
#include "op/path.h"

/*
 * A trace's time stamps may be an order only. What hangs on time in the caches (statistics summed
 * every 2 s, dirty pages 30 s old, journals) then needs a pace: an op takes at least this long, as
 * the kernel's own runs of the measured traces did, in the middle (2 to 25 us an op, 1 to 3 GB/s).
 */
enum { PACE_OP_NS = 2000, PACE_PAGE_NS = 250, PACE_READ_BYTES_PER_US = 1000 };

enum {
	OP_BATCH = 1024,
	READAHEAD_DEFAULT_BYTES = 128 * 1024,
	PROGRESS_OPS = 1 << 14,
	PREFETCH_OPS = 8
};

void model_write_back(struct model *model)
{
	struct io_list *io = model->mount.io;

	if (!cache_clock(model->cache, model->now_ns, &model->plan))
		return;
	model->mount.io = model->background;
	model->mount.is_background = true;
	plan_done(model);
	while (model->background && cache_flusher_has_turn(model->cache)) {
		(void)cache_clock(model->cache, model->now_ns, &model->plan);
		plan_done(model);
	}
	while (model->background && (model->plan.write_count = (uint32_t)cache_flushed(
					     model->cache, model->plan.write, CACHE_PLAN_RUNS)) > 0)
		plan_done(model);
	model->mount.is_background = false;
	model->mount.io = io;
}

bool model_carry_out(struct model *model, const struct op *op, struct error *error)
{
	uint32_t stream =
		op->stream ? op->stream
		: model->options->streams && op->kind != OP_MARK
			? stream_map_get(model->options->streams, model->source->paths, op)
			: 0;

	model->op_count++;
	model->op_pages = 0;
	model->asked.file = 0;
	model->waits_for_file = false;
	model->mount.now_ns = model->now_ns;
	cache_stream(model->cache, stream);
	model_write_back(model);
	if (op->kind != OP_EXISTS && op->kind != OP_EXISTS_SPARSE)
		cache_operation(model->cache);
	if (model->options->watch)
		watch_before(model, op, stream);
	if (!operation_carry_out(model, op, error))
		return false;
	if (model->is_mounted && model->fs->tick)
		model->fs->tick(&model->mount);
	plan_done(model);
	if (model->options->watch)
		watch_after(model, op);
	if (model->mount.failure)
		return error_input(error, "file system %s: %s", model->fs->name,
				   model->mount.failure);
	if (model->mount.is_out_of_space)
		return error_failed(
			error,
			"no space left on the simulated device (%s) at operation %llu; a "
			"larger one may do (--device-size)",
			model->fs->name, (unsigned long long)model->op_count);
	return cache_in_memory(model->cache) ||
	       error_failed(error,
			    "out of memory at operation %llu, with %u files held open: what is "
			    "left cannot be reclaimed, and a kernel would have killed a process",
			    (unsigned long long)model->op_count, model->opens.count);
}

static bool run_op(struct model *model, const struct op *op, struct error *error)
{
	const struct op_source_interface *interface = model->source->interface;
	uint64_t read_before = model->plan.fetch_bytes, write_before = model->plan.write_bytes,
		 read_bytes;

	if (model->now_ns < op->time_ns || interface->completed)
		model->now_ns = op->time_ns;
	if (!model_carry_out(model, op, error))
		return false;
	read_bytes = model->plan.fetch_bytes - read_before;
	if (!interface->completed) {
		model->now_ns += (op->kind == OP_COMPUTE ? op->bytes : PACE_OP_NS) +
				 PACE_PAGE_NS * model->op_pages +
				 read_bytes * NS_PER_US / PACE_READ_BYTES_PER_US;
	} else {
		interface->completed(model->source, op,
				     pace_done_ns(&model->options->pace, &model->device_free_ns, op,
						  model->op_pages, read_bytes,
						  model->plan.write_bytes - write_before));
	}
	return true;
}

/* ---- a run ---- */

void model_describe(const struct model_options *options, const struct op_source *source,
		    struct result *result)
{
	char policy[1024];

	result->input = text_copy(source->name);
	result->machine = text_copy("model");
	result->policy = text_copy(policy_options_format(policy, sizeof(policy), &options->policy));
	result->memory_bytes = options->memory_bytes;
	result->is_cgroup = options->is_cgroup;
	result->seed = options->seed;
}

/* A random page costs two or three misses of the processor's caches: begin them some ops ahead. */
static void prefetch(struct model *model, const struct op *op, enum cache_prefetch step)
{
	uint32_t known = op->path < model->tree.by_path.count ? model->tree.by_path.at[op->path]
							      : 0,
		 id;

	if (!known || (op->kind != OP_READ && op->kind != OP_WRITE))
		return;
	id = model->tree.nodes.at[known - 1].opens.first;
	if (id && model->opens.all.at[id].thread == op->thread)
		cache_prefetch(model->cache, model->opens.all.at[id].handle, op->offset, step);
}

/* So many pages of what an op is about are fetched: a database's block has two. */
enum { EXPECTED_PAGES_MAX = 2 };

void model_expect(void *context, const struct op *op, enum op_nearness nearness)
{
	static const enum cache_prefetch steps[] = {[OP_LATER] = CACHE_PREFETCH_DIRECTORY,
						    [OP_SOON] = CACHE_PREFETCH_INDEX,
						    [OP_SOONER] = CACHE_PREFETCH_RECORD};
	struct model *model = context;
	uint32_t known =
		op->path < model->tree.by_path.count ? model->tree.by_path.at[op->path] : 0;
	const struct tree_node *node = &model->tree.nodes.at[known ? known - 1 : TREE_ROOT];

	if (!known || !node->file)
		return;
	if (nearness == OP_LATER && op->thread)
		opens_prefetch(&model->opens, node->file, op->thread);
	if (nearness == OP_SOON && op->thread)
		cache_prefetch_open(model->cache, opens_handle(&model->opens, &node->opens,
							       node->file, op->thread));
	if (model->fs->expect && model->is_mounted)
		model->fs->expect(&model->mount, node->file, op->offset, nearness);
	else
		cache_prefetch_file(model->cache, node->file, op->offset / PAGE_BYTES,
				    op->bytes > PAGE_BYTES ? EXPECTED_PAGES_MAX : 1,
				    steps[nearness]);
}

__attribute__((noinline)) void model_sample(struct model *model)
{
	struct counters now;

	cache_counters(model->cache, 0, &now);
	recorder_sample(&model->recorder, &now, model->op_count);
}

static bool is_interrupted(const struct model_options *options)
{
	return options->interrupted && *options->interrupted;
}

static bool run_ops(struct model *model, struct error *error)
{
	const struct model_options *options = model->options;
	struct op ops[OP_BATCH];
	size_t count, most = model->source->interface->completed ? 1 : OP_BATCH;
	uint64_t next_progress = PROGRESS_OPS;

	for (;;) {
		if (!op_source_next(model->source, ops, most, &count, error))
			return false;
		if (count == 0 || is_interrupted(options))
			return true;
		for (size_t i = 0; i < count; i++) {
			if (i + 3 * PREFETCH_OPS < count)
				prefetch(model, &ops[i + 3 * PREFETCH_OPS], CACHE_PREFETCH_INDEX);
			if (i + 2 * PREFETCH_OPS < count)
				prefetch(model, &ops[i + 2 * PREFETCH_OPS], CACHE_PREFETCH_RECORD);
			if (i + PREFETCH_OPS < count)
				prefetch(model, &ops[i + PREFETCH_OPS], CACHE_PREFETCH_NEIGHBOURS);
			if (!run_op(model, &ops[i], error))
				return false;
			if (recorder_wants_sample(&model->recorder, model->op_count))
				model_sample(model);
		}
		if (options->progress && model->op_count >= next_progress) {
			struct counters counters;
			uint64_t done = 0, total = 0;

			next_progress = model->op_count + PROGRESS_OPS;
			model->source->interface->progress(model->source, &done, &total);
			cache_counters(model->cache, 0, &counters);
			options->progress(options->progress_context, done, total, model->op_count,
					  counters.reread_bytes);
		}
	}
}

static void stream_counters(const void *context, uint32_t stream, struct counters *counters)
{
	cache_counters(context, stream, counters);
}

static uint64_t stream_blame(const void *context, uint32_t victim, uint32_t evictor)
{
	return cache_blame(context, victim, evictor);
}

static void finish_time(struct model *model, struct result *result)
{
	const struct model_options *options = model->options;

	result->elapsed_ns = model->elapsed_ns;
	result->cpu_ns = model->busy_ns;
	result->stopped = model->stopped;
	result->cpu_count = options->processors;
	result->device = model->requests;
	result->device.name = text_copy(device_profile_name(options->device));
	result->device.size_bytes = options->device_bytes;
	result_take_report(result, model->source);
	if (model->is_mounted && model->fs->report)
		model->fs->report(&model->mount, result, result_take_figure);
}

#define BIT(name) (UINT64_C(1) << COUNTER_##name)

/* A policy of one queue has no active pages, and does not remember what it has evicted. */
static uint64_t counters_known(const struct model *model)
{
	if (!model->options->policy.policy->victim)
		return COUNTERS_ALL_KNOWN;
	return COUNTERS_ALL_KNOWN & ~(BIT(refaults) | BIT(refault_activations) | BIT(activations) |
				      BIT(deactivations) | BIT(active_file_pages));
}

static void finish(struct model *model, struct result *result)
{
	struct stream_map *streams = model->options->streams;
	uint64_t known = counters_known(model);
	const struct recorder_machine machine = {
		.context = model->cache,
		.stream_count = cache_stream_count(model->cache),
		.known = known,
		/* Slab and pinned memory are not kept apart by stream. */
		.streams_known = known & ~(BIT(slab_bytes) | BIT(pinned_bytes)),
		.counters = stream_counters,
		.blame = stream_blame,
	};

	if (streams)
		recorder_finish(&model->recorder, &machine, stream_map_names(streams),
				stream_map_count(streams), result);
	else
		recorder_finish(&model->recorder, &machine, model->source->stream_names,
				model->source->stream_count, result);
	result->op_count = model->op_count;
	result->file_count = model->file_count;
	if (model->options->device)
		finish_time(model, result);
	if (model->plain_count > 0)
		result_note(
			result,
			"RWF_DONTCACHE is not known to %s%s%s: %llu reads and writes with it were "
			"plain ones",
			model->fs->name, model->fs->core.dontcache ? " under " : "",
			model->fs->core.dontcache ? policy_name(model->options->policy.policy) : "",
			(unsigned long long)model->plain_count);
	if (is_interrupted(model->options))
		result_note(result, "interrupted: this is what had happened by then");
}

bool model_run(const struct model_options *options, struct op_source *source, struct result *result,
	       struct error *error)
{
	struct model *model = memory_alloc(1, sizeof(*model));
	uint64_t window =
		options->readahead_bytes ? options->readahead_bytes : READAHEAD_DEFAULT_BYTES;
	struct cache_config config = {
		.policy = &options->policy,
		.filesystem = &options->filesystem->core,
		.memory_bytes = options->memory_bytes,
		.is_cgroup = options->is_cgroup,
		.pinned_bytes = options->pinned_bytes,
		.readahead_pages = (uint32_t)(window / PAGE_BYTES < UINT32_MAX ? window / PAGE_BYTES
									       : UINT32_MAX),
		.device_io_pages = options->filesystem->device_io_pages,
		.completes_at_once = true,
		.writes_take_time = options->device != NULL,
		.seed = options->seed,
	};
	bool done = false;

	*result = (struct result){0};
	*model = (struct model){
		.options = options,
		.fs = options->filesystem,
		.source = source,
	};
	model->cache = cache_create(&config, error);
	if (!model->cache)
		goto out;
	if (options->watch)
		cache_returns_log(model->cache);
	tree_init(&model->tree, model->cache);
	opens_init(&model->opens);
	model->mount = (struct filesystem_mount){
		.cache = model->cache, .tree = &model->tree, .plan = &model->plan};
	recorder_init(&model->recorder);
	model->mount.options = (struct filesystem_options){
		.device_bytes = options->device_bytes,
		.record_bytes = options->record_bytes,
		.arc_max_bytes = options->arc_max_bytes,
		.arc_meta_percent = options->arc_meta_percent,
		.metaslabs = options->metaslabs,
		.seed = options->seed,
		.no_barriers = options->no_barriers,
		.processors = options->device ? options->processors : 0,
	};
	done = options->device ? simulation_run(model, error) : run_ops(model, error);
	if (done) {
		finish(model, result);
		model_describe(options, source, result);
		result->readahead_bytes = window;
		result->filesystem = text_copy(options->filesystem->name);
	}
	recorder_deinit(&model->recorder);
	if (model->is_mounted)
		model->fs->unmount(&model->mount);
	tree_deinit(&model->tree);
	opens_deinit(&model->opens);
out:
	cache_destroy(model->cache);
	memory_free(model);
	return done;
}
