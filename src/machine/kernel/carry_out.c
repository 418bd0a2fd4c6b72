/*
 * carry_out: the ops of a source, sent to the player: in their order, or client by client
 */
#include "machine/kernel/kernel_private.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "op/path.h"

enum { OP_BATCH = 256, PROGRESS_OPS = 1 << 12 };

/* Clients side by side, each a thread? */
bool run_is_concurrent(const struct run *run)
{
	return run->options->clock == KERNEL_CLOCK_REAL && run->source->interface->next_due &&
	       run->source->thread_count > 0;
}

/* ---- ops ---- */

static uint32_t stream_of(struct run *run, const struct op *op)
{
	if (op->stream)
		return op->stream;
	return run->options->streams && op->kind != OP_MARK
		       ? stream_map_get(run->options->streams, run->source->paths, op)
		       : 0;
}

/* All that was sent is done. */
static bool rest(struct run *run, struct error *error)
{
	for (uint32_t i = 0; i < run->worker_count; i++)
		if (!player_wait(run->player, i))
			return run_player_error(run, error);
	return true;
}

static bool mark(struct run *run, const struct op *op, struct error *error)
{
	struct counters now;

	if (!rest(run, error))
		return false;
	player_count_op(run->player);
	if (op->stream) {
		/* A mark that has a stream is the end of a pass of it (source/player.h). */
		meter_read(&run->meter, false, &now);
		meter_stream(&run->meter, op->stream, &now);
		recorder_pass(&run->recorder, op->stream, &now);
		return true;
	}
	meter_read(&run->meter, true, &now);
	recorder_mark(&run->recorder, &now, path_text(run->source->paths, op->path), run->op_count);
	return true;
}

/* Levels over time: only where reading them changes nothing, because they are read all the time. */
static void sample(struct run *run)
{
	struct error error;
	struct counters now;

	/* A player in trouble is noticed at the next op. */
	if (run->options->statistics != KERNEL_STATISTICS_FRESH || !rest(run, &error))
		return;
	meter_sample(&run->meter, &now);
	recorder_sample(&run->recorder, &now, run->op_count);
}

/* Pages that the op copies, on the scenario's clock: see the model's operation.c. */
static uint64_t pages_of(const struct op *op)
{
	switch ((enum op_kind)op->kind) {
	case OP_READ:
	case OP_WRITE:
	case OP_READ_DONTCACHE:
	case OP_WRITE_DONTCACHE:
	case OP_MMAP_READ:
	case OP_MMAP_WRITE:
		return pages_from_bytes_up(op->bytes);
	default:
		return 0;
	}
}

/* The setup's ops have thread 0, clients begin with 1. */
static uint32_t worker_of(const struct run *run, const struct op *op)
{
	return run->worker_count > 1 && op->thread ? op->thread - 1 : 0;
}

/*
 * It acts on the whole machine, so it is done where that is ours: in a guest. The player cannot do it,
 * who sees nothing but its file system.
 */
static bool drop_caches(struct run *run, const struct op *op, struct error *error)
{
	const char digit = (char)('0' + op->bytes);
	bool written;
	int fd;

	if (op->bytes < 1 || op->bytes > 3)
		return run_op_error(run, op, error, "its bytes are 1, 2 or 3");
	if (access("/guest/command", F_OK) != 0)
		return run_op_error(
			run, op, error,
			"it would drop the caches of this whole machine, and of all who "
			"use it: it is done in a guest only (--guest)");
	if (!rest(run, error))
		return false;
	player_count_op(run->player);
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	written = fd >= 0 && write(fd, &digit, 1) == 1;
	if (!written)
		error_system(error, "cannot write /proc/sys/vm/drop_caches");
	if (fd >= 0)
		close(fd);
	meter_drops_expected(&run->meter);
	run->drops_pages = true;
	return written;
}

static bool carry_out(struct run *run, const struct op *op, struct error *error)
{
	char what[sizeof(error->message)];

	if (op->kind == OP_EXISTS || op->kind == OP_EXISTS_SPARSE)
		return run_exists(run, op, error);
	if (!run->has_begun && !run_begin(run, error))
		return false;
	if (op->kind == OP_MARK)
		return mark(run, op, error);
	/* Its time passes on the scenario's clock; here it would only be lost. */
	if (op->kind == OP_COMPUTE && run->options->clock == KERNEL_CLOCK_SCENARIO)
		return true;
	if (op->kind == OP_DROP_CACHES)
		return drop_caches(run, op, error);
	/* This kernel has its own times for that. */
	if (op->kind == OP_SUM_STATISTICS)
		return true;
	/* Who says how much is pinned asks what would be if it were. */
	if (op->kind == OP_PIN && run->options->pinned_bytes)
		return true;
	if (op->kind == OP_CREATE || op->kind == OP_MKDIR || op->kind == OP_SYMLINK)
		run->file_count++;
	run->drops_pages |= op->kind == OP_WRITE_DONTCACHE;
	/* What closes or moves other threads' descriptors finds them at rest. */
	if (run->worker_count > 1 &&
	    (op->kind == OP_RENAME || op->kind == OP_CREATE || op->kind == OP_LINK) &&
	    script_is_shared(run->script, op) && !rest(run, error))
		return false;
	if (script_op(run->script, op, stream_of(run, op), worker_of(run, op), run->op_count,
		      error))
		return true;
	if (error->kind == ERROR_NONE)
		return run_player_error(run, error);
	snprintf(what, sizeof(what), "%s", error->message);
	return run_op_error(run, op, error, what);
}

static uint64_t now_ns(const struct run *run)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec - run->start_ns;
}

/*
 * Statistics that are left alone are summed every 2 s of real time: a scenario that takes longer on
 * its clock than here, or pauses, must take as long here.
 */
static bool keep_pace(struct run *run, const struct op *op, struct error *error)
{
	enum { SLICE_NS = 50 * 1000 * 1000 };

	if (run->options->statistics != KERNEL_STATISTICS_LAZY || !run->has_begun)
		return true;
	if (run->start_ns == 0)
		run->start_ns = now_ns(run) - op->time_ns;
	if (op->time_ns < now_ns(run) + NS_PER_MS)
		return true;
	if (!rest(run, error))
		return false;
	while (now_ns(run) < op->time_ns) {
		uint64_t left = op->time_ns - now_ns(run);
		const struct timespec pause = {.tv_nsec = left < SLICE_NS ? (long)left : SLICE_NS};

		if (run_is_interrupted(run))
			return error_failed(error, "interrupted");
		nanosleep(&pause, NULL);
	}
	return true;
}

/*
 * Of what the kernel counts as dirtied by an op. A write to a large folio counts all of it, though
 * what goes to the device is the blocks that are dirty (mm/page-writeback.c,
 * folio_account_dirtied(): task_io_account_write() of the folio's pages).
 */
static uint64_t to_be_written_bytes(const struct op *op, uint64_t dirtied_bytes)
{
	uint64_t own_bytes;

	if (op->kind != OP_WRITE && op->kind != OP_WRITE_DONTCACHE)
		return dirtied_bytes;
	own_bytes = bytes_from_pages(pages_from_bytes_up(op->offset + op->bytes) -
				     pages_from_bytes_down(op->offset));
	return dirtied_bytes < own_bytes ? dirtied_bytes : own_bytes;
}

/* One op, and on a scenario's clock its end. */
static bool run_op(struct run *run, const struct op *op, struct error *error)
{
	const struct op_source_interface *interface = run->source->interface;
	/* Where reading takes no time, nothing that follows depends on what was read. */
	bool has_device =
		run->options->pace.read_bytes_per_s > 0 || run->options->pace.write_bytes_per_s > 0;
	uint64_t read_bytes = run->read_bytes, write_bytes = run->write_bytes;
	uint64_t done = op->time_ns;

	run->op_count++;
	if (!interface->completed)
		return carry_out(run, op, error);
	if (!keep_pace(run, op, error))
		return false;
	if (!carry_out(run, op, error))
		return false;
	if (run->has_begun && has_device && op->kind != OP_MARK) {
		if (!player_wait(run->player, 0))
			return run_player_error(run, error);
		meter_io(&run->meter, &run->read_bytes, &run->write_bytes);
	}
	if (op->kind != OP_EXISTS && op->kind != OP_EXISTS_SPARSE)
		done = pace_done_ns(&run->options->pace, &run->device_free_ns, op, pages_of(op),
				    run->read_bytes - read_bytes,
				    to_be_written_bytes(op, run->write_bytes - write_bytes));
	interface->completed(run->source, op, done);
	return true;
}

/* After an op or a few: what is due now and then. */
static void look_around(struct run *run)
{
	uint64_t done = 0, total = 0;

	if (run->has_begun && recorder_wants_sample(&run->recorder, run->op_count))
		sample(run);
	if (!run->options->progress || run->op_count < run->next_progress)
		return;
	run->next_progress = run->op_count + PROGRESS_OPS;
	run->source->interface->progress(run->source, &done, &total);
	run->options->progress(run->options->progress_context, done, total, run->op_count, 0);
}

static bool run_in_order(struct run *run, struct error *error)
{
	struct op ops[OP_BATCH];
	size_t count, most = run->source->interface->completed ? 1 : OP_BATCH;

	for (;;) {
		if (!op_source_next(run->source, ops, most, &count, error))
			return false;
		if (count == 0)
			return true;
		for (size_t i = 0; i < count; i++)
			if (!run_op(run, &ops[i], error))
				return false;
		look_around(run);
	}
}

/* ---- clients side by side ---- */

/* Tell the source whose op is done. */
static void answer(struct run *run, struct op *under_way, bool *is_under_way)
{
	for (uint32_t i = 0; i < run->worker_count; i++) {
		if (!is_under_way[i] || !player_is_idle(run->player, i))
			continue;
		is_under_way[i] = false;
		run->source->interface->completed(run->source, &under_way[i], now_ns(run));
	}
}

/* Something is under way, or will be: wait for either. */
static bool wait_for_any(struct run *run, uint64_t next_ns, struct error *error)
{
	uint64_t now = now_ns(run), pause = next_ns > now ? next_ns - now : 0;

	return player_wait_any(run->player, pause) || run_player_error(run, error);
}

static bool run_side_by_side(struct run *run, struct error *error)
{
	uint32_t count = run->source->thread_count;
	struct op *under_way = memory_alloc(count, sizeof(*under_way));
	bool *is_under_way = memory_alloc(count, sizeof(*is_under_way));
	bool done = true;

	run->start_ns = now_ns(run);
	while (done) {
		struct op op = {0};
		size_t got = 0;
		uint64_t next_ns;
		bool waits = false;

		answer(run, under_way, is_under_way);
		done = run->source->interface->next_due(run->source, now_ns(run), &op, &got,
							&next_ns, error);
		if (!done)
			break;
		if (got == 0) {
			for (uint32_t i = 0; i < run->worker_count && !waits; i++)
				waits = is_under_way[i];
			if (!waits && next_ns == UINT64_MAX)
				break;
			done = wait_for_any(run, next_ns, error);
			continue;
		}
		run->op_count++;
		done = carry_out(run, &op, error);
		if (done)
			look_around(run);
		if (done && run->has_begun && op.kind != OP_MARK) {
			player_flush(run->player, worker_of(run, &op));
			under_way[worker_of(run, &op)] = op;
			is_under_way[worker_of(run, &op)] = true;
		} else if (done) {
			run->source->interface->completed(run->source, &op, now_ns(run));
		}
	}
	memory_free(under_way);
	memory_free(is_under_way);
	return done;
}

bool run_ops(struct run *run, struct error *error)
{
	bool done =
		run_is_concurrent(run) ? run_side_by_side(run, error) : run_in_order(run, error);

	return done && (run->has_begun || run_begin(run, error)) && rest(run, error);
}
