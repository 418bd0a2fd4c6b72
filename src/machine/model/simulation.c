/*
 * simulation: the event loop: threads that wait, processors, a device, and the kernel's own threads
 *
 * Everything happens on one clock, in integer ns, in the order of (time, when it was decided). A
 * thread of the source asks for one op at a time. The op gets a processor (those that compute: first
 * come, first served; a call of a thread that has waited takes it from one that computes, which is
 * done so much later: kernel/sched/fair.c, check_preempt_wakeup()), is carried out on the cache and the file system when it begins,
 * uses the processor for as long as the call takes, and then waits for what it asked of the device,
 * phase by phase. What nobody waits for (readahead's rest, write-back) is under way meanwhile:
 * write-back in the order in which it came, so many requests at once.
 *
 * Differs  1. The caches change when an op begins: a page that is on its way counts as there, but
 *             whoever reads it waits for it. A page being written back counts as clean.
 *          2. No time slices: of threads that compute, one is done before the next begins.
 *          3. Reclaim and the flusher use no processor time of their own; what a file system's threads
 *             compute (a transaction group) takes turns with whoever computes.
 */
#include "base/size.h"
#include "machine/model/agenda.h"
#include "machine/model/bandwidth.h"
#include "machine/model/cfq.h"
#include "machine/model/device.h"
#include "machine/model/feed.h"
#include "machine/model/gate.h"
#include "machine/model/model_private.h"

#define NONE       UINT32_MAX
#define EVERY_FILE UINT32_MAX

enum {
	TICK_NS = 100 * 1000 * 1000,
	PROGRESS_EVERY_OPS = 1 << 14,
	DONE_BATCH = 64,
	BACKGROUND_AHEAD = 8,
	/* tasks of its own threads: what they ask of the device, and what they compute */
	KERNEL = 0,
	KERNEL_COMPUTES = 1,
	THREADS = 2, /* the source's, from here */
	KERNEL_SLICE_NS = 1000 * 1000,
};

/* A thread of the source, or the kernel's own. */
struct task {
	struct op op;
	struct io_list io;
	size_t next_io;                /* the first that has not been submitted */
	uint64_t asked_ns, stopped_ns; /* stopped: since when, for what is dirty */
	uint32_t waits_for;            /* requests, its own and others' */
	uint32_t next;                 /* in a queue of tasks */
	bool is_under_way;
	bool is_of_jobs;   /* its op: time counts */
	bool has_borrowed; /* runs on a processor that it took from a thread that computes */
	bool holds;        /* is at work on the running transaction */
	bool is_in_line;   /* gate.h */
};

/* Pages that are being written. */
struct written {
	struct cache_run run;
	uint32_t next;
};

/* Submitted to the device. The tag is its index. */
struct request {
	uint64_t index, pages; /* of `file`, a read's */
	uint32_t file;
	uint32_t task;    /* NONE: the background's */
	uint32_t waiters; /* of other tasks: first in `waiters`, from 1 */
	uint32_t place;   /* of a read of data: in `reading` */
	uint32_t written; /* a write's pages: first in `written`, from 1 */
	uint8_t kind;
	bool is_awaited, has_place;
	uint32_t next_free;
};

struct waiter {
	uint32_t task, next;
};

/* What is written back of a file and not yet on the device. */
struct file_writes {
	uint32_t count, waiters;
};

/* Of a task, on the agenda: slept: its turn may have to be waited for; woken: it goes on. */
enum event { EVENT_COMPUTED, EVENT_SLEPT, EVENT_WOKEN };

struct queue {
	uint32_t first, last;
};

struct simulation {
	struct model *model;
	struct feed *feed;
	struct device *device;
	struct cfq *cfq; /* NULL: the device queues for itself */
	uint64_t request_bytes_max;
	uint64_t now_ns, next_tick_ns, next_source_ns;
	uint64_t started_ns;           /* of the jobs; UINT64_MAX: not yet */
	bool source_may_have;          /* an op was done: ask before next_source_ns */
	uint64_t next_interval_ns;     /* UINT64_MAX: no jobs yet */
	uint64_t next_timer_ns;        /* the earlier of tick and interval */
	struct result_interval before; /* sums at the end of the last interval */
	uint64_t next_progress_ops;

	ARRAY(struct task) tasks; /* by thread + THREADS */
	struct queue runnable;    /* waiting for a processor */
	uint32_t processors, idle_processors;
	uint64_t kernel_ns;   /* that its threads have still to compute */
	uint64_t borrowed_ns; /* processor time that whoever computes has to make up for */
	uint64_t busy_ns, busy_device_ns; /* the device's: before counting began */

	struct agenda agenda;
	ARRAY(struct request) requests;
	uint32_t free_request, requests_under_way;
	ARRAY(uint32_t) reading; /* requests that read data */
	ARRAY(struct waiter) waiters;
	uint32_t free_waiter;
	ARRAY(struct written) written;
	uint32_t free_written;

	struct io_list background; /* nobody waits; [background_next .. count - 1] are to come */
	size_t background_next;
	uint32_t background_under_way, background_depth;
	uint32_t background_waiters; /* for all that is under way now */
	uint64_t background_bytes;   /* to come or under way */
	ARRAY(struct file_writes) file_writes;
	struct queue throttled;        /* writers, until less is dirty */
	struct result_stopped stopped; /* of those that went on again */
	size_t flusher_end;            /* in `background`: where the flusher's last turn ends */
	struct bandwidth bandwidth;
	uint64_t written_bytes, turn_bytes;
	struct gate gate;
	struct places places;
	struct tasks woken;    /* tasks that stood in line, and may look again */
	bool write_back_holds; /* the running transaction */
	uint32_t held_file;    /* for this one; 0: none */
	uint64_t held_bytes;
	struct queue
		turns; /* of operations that take turns: those that wait, and how many do not */
	uint32_t turns_under_way;
	struct queue awaiting; /* mount.reached */
	bool kernel_wanted; /* the file system's threads have their turn at once, not at a tick */
	uint32_t tasks_under_way;
	struct error *error;
	bool failed;
};

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- queues ---- */

static void queue_put(struct simulation *sim, struct queue *queue, uint32_t task)
{
	sim->tasks.at[task].next = NONE;
	if (queue->first == NONE)
		queue->first = task;
	else
		sim->tasks.at[queue->last].next = task;
	queue->last = task;
}

static uint32_t queue_take(struct simulation *sim, struct queue *queue)
{
	uint32_t task = queue->first;

	queue->first = sim->tasks.at[task].next;
	return task;
}

/* ---- who waits for a request of somebody else ---- */

static void wait_add(struct simulation *sim, uint32_t *list, uint32_t task)
{
	uint32_t id = sim->free_waiter;

	if (id)
		sim->free_waiter = sim->waiters.at[id].next;
	else
		id = (uint32_t)((void)array_push(&sim->waiters), sim->waiters.count - 1);
	sim->waiters.at[id] = (struct waiter){task, *list};
	*list = id;
	sim->tasks.at[task].waits_for++;
}

static void task_goes_on(struct simulation *sim, uint32_t task);

static void wait_over(struct simulation *sim, uint32_t id)
{
	while (id) {
		struct waiter waiter = sim->waiters.at[id];

		sim->waiters.at[id].next = sim->free_waiter;
		sim->free_waiter = id;
		id = waiter.next;
		if (--sim->tasks.at[waiter.task].waits_for == 0)
			task_goes_on(sim, waiter.task);
	}
}

/* Pages that are on their way already, for somebody else. */
static void wait_for_pages(struct simulation *sim, uint32_t task)
{
	const struct cache_run *asked = &sim->model->asked;

	for (size_t i = 0; i < sim->reading.count; i++) {
		struct request *request = &sim->requests.at[sim->reading.at[i]];

		if (request->file == asked->file && request->index < asked->index + asked->pages &&
		    asked->index < request->index + request->pages)
			wait_add(sim, &request->waiters, task);
	}
}

static struct file_writes *writes_of(struct simulation *sim, uint32_t file)
{
	while (sim->file_writes.count <= file)
		(void)array_push(&sim->file_writes);
	return &sim->file_writes.at[file];
}

/* ---- requests ---- */

static uint32_t request_submit(struct simulation *sim, const struct io *io, uint64_t bytes,
			       uint32_t task, bool is_awaited)
{
	struct result_device *asked = &sim->model->requests;
	uint32_t id = sim->free_request;
	struct request *request;
	struct device_request device = {
		.offset = io->offset,
		.bytes = bytes,
		.op = io->kind == IO_READ    ? DEVICE_READ
		      : io->kind == IO_WRITE ? DEVICE_WRITE
					     : DEVICE_FLUSH,
		/* Readahead is a read like any other to the block layer; write-back is not. */
		.is_background = io->is_background && io->kind == IO_WRITE,
	};

	if (id)
		sim->free_request = sim->requests.at[id].next_free;
	else
		id = (uint32_t)((void)array_push(&sim->requests), sim->requests.count - 1);
	request = &sim->requests.at[id];
	*request = (struct request){
		.index = io->index,
		.pages = pages_from_bytes_up(bytes),
		.file = io->file,
		.task = task,
		.kind = io->kind,
		.is_awaited = is_awaited,
	};
	if (io->kind == IO_READ) {
		asked->reads++;
		asked->read_bytes += bytes;
		asked->metadata_read_bytes += io->is_metadata ? bytes : 0;
		if (io->file) {
			request->place = (uint32_t)sim->reading.count;
			*array_push(&sim->reading) = id;
		}
	} else if (io->kind == IO_WRITE) {
		asked->writes++;
		asked->write_bytes += bytes;
		asked->metadata_write_bytes += io->is_metadata ? bytes : 0;
	} else {
		asked->flushes++;
	}
	device.tag = id;
	sim->places.taken += !device.is_background;
	request->has_place = !device.is_background;
	sim->requests_under_way++;
	if (!sim->cfq)
		device_submit(sim->device, sim->now_ns, &device);
	else if (device.op == DEVICE_FLUSH)
		cfq_flush(sim->cfq, sim->now_ns, &device);
	else
		cfq_submit(sim->cfq, sim->now_ns, &device, task);
	return id;
}

static struct cache_run run_of(const struct io *io)
{
	return (struct cache_run){
		.index = io->index,
		.file = io->file,
		.pages = (uint32_t)pages_from_bytes_up(io->bytes),
	};
}

/* When this request is done, the pages of list[first .. end - 1] are written. */
static void written_add(struct simulation *sim, uint32_t request, const struct io_list *list,
			size_t first, size_t end)
{
	for (; first < end; first++) {
		uint32_t id = sim->free_written;

		if (id)
			sim->free_written = sim->written.at[id].next;
		else
			id = (uint32_t)((void)array_push(&sim->written), sim->written.count - 1);
		sim->written.at[id] = (struct written){run_of(&list->at.at[first]),
						       sim->requests.at[request].written};
		sim->requests.at[request].written = id;
	}
}

static void written_done(struct simulation *sim, uint32_t id)
{
	while (id) {
		struct written *written = &sim->written.at[id];
		uint32_t next = written->next;

		cache_written(sim->model->cache, &written->run);
		written->next = sim->free_written;
		sim->free_written = id;
		id = next;
	}
}

/*
 * One request of list[first .. end - 1], which `io` puts together, or as many as the device's
 * largest needs. Returns how many.
 */
static uint32_t submit(struct simulation *sim, const struct io *io, const struct io_list *list,
		       size_t first, size_t end, uint32_t task, bool is_awaited)
{
	uint32_t count = 1, id = 0;

	if (io->bytes <= sim->request_bytes_max) {
		id = request_submit(sim, io, io->bytes, task, is_awaited);
	} else {
		struct io part = *io;

		for (count = 0; part.bytes > 0; count++) {
			uint64_t bytes = least(part.bytes, sim->request_bytes_max);

			id = request_submit(sim, &part, bytes, task, is_awaited);
			part.offset += bytes;
			part.bytes -= bytes;
			part.index += bytes / PAGE_BYTES;
		}
	}
	if (io->kind == IO_WRITE && io->file)
		written_add(sim, id, list, first, end);
	return count;
}

/* Take the request at *at, and those that go on where it ends: the block layer merges them. */
static struct io take_merged(const struct simulation *sim, const struct io_list *list, size_t *at)
{
	struct io io = list->at.at[(*at)++];

	while (*at < list->at.count && io.kind != IO_FLUSH) {
		const struct io *next = &list->at.at[*at];

		if (next->begins_phase || next->kind != io.kind || next->file != io.file ||
		    next->is_background != io.is_background ||
		    next->is_metadata != io.is_metadata || next->offset != io.offset + io.bytes ||
		    io.bytes + next->bytes > sim->request_bytes_max)
			break;
		io.bytes += next->bytes;
		++*at;
	}
	return io;
}

/* ---- the running transaction, and places for requests ---- */

static bool is_data_write(const struct io *io)
{
	return io->kind == IO_WRITE && io->file && !io->is_metadata;
}

/* It is at work on the transaction for as long as it asks for data to be written. */
static void task_leaves(struct simulation *sim, struct task *at, const struct io *next)
{
	if (!at->holds || (next && is_data_write(next)))
		return;
	at->holds = false;
	gate_leave(&sim->gate, &sim->woken);
}

/* May the task ask for this? False: it stands in line, and an event will have it look again. */
static bool task_passes(struct simulation *sim, uint32_t task, const struct io *io)
{
	struct task *at = &sim->tasks.at[task];

	if ((io->follows && !gate_follow(&sim->gate, task)) ||
	    (io->closes && !gate_close(&sim->gate, task)))
		return false;
	if (io->opens)
		gate_open(&sim->gate, task, &sim->woken);
	if (sim->write_back_holds && is_data_write(io) && !at->holds)
		at->holds = gate_hold(&sim->gate, task);
	if (sim->write_back_holds && is_data_write(io) && !at->holds)
		return false;
	return (io->is_background && io->kind == IO_WRITE) || places_ask(&sim->places, task);
}

static void woken_wake(struct simulation *sim)
{
	for (size_t i = 0; i < sim->woken.list.count; i++)
		agenda_add(&sim->agenda, sim->now_ns, EVENT_WOKEN, sim->woken.list.at[i]);
	sim->woken.list.count = 0;
}

/* ---- the background ---- */

/* Write-back is at work on the transaction, for a file at a time: may it go on? */
static bool background_may(struct simulation *sim)
{
	bool more = sim->background_next < sim->background.at.count;
	const struct io *io = more ? &sim->background.at.at[sim->background_next] : NULL;

	if (!sim->write_back_holds)
		return true;
	if (sim->held_file &&
	    (!more || io->file != sim->held_file || sim->held_bytes >= sim->turn_bytes)) {
		sim->held_file = 0;
		gate_leave(&sim->gate, &sim->woken);
	}
	if (!more || sim->held_file || !is_data_write(io))
		return true;
	if (gate_is_locked(&sim->gate))
		return false;
	(void)gate_hold(&sim->gate, NONE);
	sim->held_file = io->file;
	sim->held_bytes = 0;
	return true;
}

static void flusher_pace(struct simulation *sim)
{
	if (bandwidth_update(&sim->bandwidth, sim->now_ns, sim->written_bytes,
			     sim->background_under_way > 0))
		sim->turn_bytes = bytes_from_pages(
			cache_flusher_pace(sim->model->cache, sim->bandwidth.mean_bytes_per_s));
}

/* When it is done its pages' records are looked at, which nobody has touched for long. */
static void background_prefetch(const struct simulation *sim, size_t at)
{
	const struct io *io = &sim->background.at.at[at];
	const struct cache *cache = sim->model->cache;

	if (io->file)
		cache_prefetch_file(cache, io->file, io->index, 2, CACHE_PREFETCH_RECORD);
	at += BACKGROUND_AHEAD;
	if (at < sim->background.at.count && sim->background.at.at[at].file)
		cache_prefetch_file(cache, sim->background.at.at[at].file,
				    sim->background.at.at[at].index, 2, CACHE_PREFETCH_INDEX);
}

static __attribute__((noinline)) void background_submit_some(struct simulation *sim)
{
	while (background_may(sim) && sim->background_under_way < sim->background_depth &&
	       sim->background_next < sim->background.at.count) {
		size_t first = sim->background_next;
		struct io io = take_merged(sim, &sim->background, &sim->background_next);
		uint32_t count = submit(sim, &io, &sim->background, first, sim->background_next,
					NONE, false);

		background_prefetch(sim, first);
		sim->held_bytes += io.bytes;
		sim->background_under_way += count;
		/* Merged, or cut: each is one request now. */
		if (io.file && io.kind == IO_WRITE)
			writes_of(sim, io.file)->count +=
				count - (uint32_t)(sim->background_next - first);
	}
	if (sim->background_next == sim->background.at.count) {
		sim->background_next = sim->flusher_end = 0;
		io_list_empty(&sim->background);
	}
}

static inline void background_submit(struct simulation *sim)
{
	/* A sync may have taken all that there was of the file it holds the transaction for. */
	if (sim->background.at.count > 0 || sim->held_file)
		background_submit_some(sim);
}

/* What model_carry_out() has put there since `first` is counted. */
static void background_count(struct simulation *sim, size_t first)
{
	for (; first < sim->background.at.count; first++) {
		const struct io *io = &sim->background.at.at[first];

		sim->background_bytes += io->bytes;
		if (io->file && io->kind == IO_WRITE)
			writes_of(sim, io->file)->count++;
	}
}

/* The flusher has planned these. */
static void flusher_count(struct simulation *sim, size_t first)
{
	if (sim->background.at.count > first)
		sim->flusher_end = sim->background.at.count;
	background_count(sim, first);
}

/* ---- time series ---- */

static struct result_interval sums(const struct simulation *sim)
{
	const struct model *model = sim->model;
	const struct op_source_interface *source = model->source->interface;
	struct counters now;

	cache_counters(model->cache, 0, &now);
	return (struct result_interval){
		.ops = model->op_count,
		.work = source->work ? source->work(model->source) : 0,
		.read_bytes = model->requests.read_bytes,
		.write_bytes = model->requests.write_bytes,
		.flushes = model->requests.flushes,
		.active_file_pages = now.active_file_pages,
		.inactive_file_pages = now.inactive_file_pages,
		.dirty_pages = now.dirty_pages,
		.slab_bytes = now.slab_bytes,
		.free_bytes = model->is_mounted && model->fs->free_bytes
				      ? model->fs->free_bytes(&model->mount)
				      : 0,
		.arc_bytes = model->is_mounted && model->fs->cache_bytes
				     ? model->fs->cache_bytes(&model->mount)
				     : 0,
		.free_run_bytes = model->is_mounted && model->fs->free_run_bytes
					  ? model->fs->free_run_bytes(&model->mount)
					  : 0,
		.allocation_ns = model->mount.allocation_ns,
		.group_waits = model->mount.awaits,
	};
}

static void interval_end(struct simulation *sim)
{
	struct result_interval now = sums(sim), part = now;

	part.ops -= sim->before.ops;
	part.work -= sim->before.work;
	part.read_bytes -= sim->before.read_bytes;
	part.write_bytes -= sim->before.write_bytes;
	part.flushes -= sim->before.flushes;
	part.allocation_ns -= sim->before.allocation_ns;
	part.group_waits -= sim->before.group_waits;
	sim->before = now;
	recorder_interval(&sim->model->recorder, &part, NS_PER_SECOND);
	sim->next_interval_ns += NS_PER_SECOND;
}

static uint64_t device_busy_now_ns(const struct simulation *sim)
{
	/* Its clock has stood still since it was last asked. */
	(void)device_advance(sim->device, sim->now_ns, NULL, 0);
	return device_busy_ns(sim->device);
}

/* The jobs begin, or their warm-up is over: from here on things count as time. */
static void start(struct simulation *sim)
{
	sim->started_ns = sim->model->started_ns = sim->now_ns;
	sim->busy_ns = 0;
	sim->busy_device_ns = device_busy_now_ns(sim);
	recorder_restart_time(&sim->model->recorder);
	sim->model->requests = (struct result_device){0};
	if (sim->model->is_mounted && sim->model->fs->counting_begins)
		sim->model->fs->counting_begins(&sim->model->mount);
	sim->stopped = (struct result_stopped){0};
	sim->before = sums(sim);
	sim->next_interval_ns = sim->now_ns + NS_PER_SECOND;
	sim->next_timer_ns = least(sim->next_tick_ns, sim->next_interval_ns);
}

/* ---- tasks ---- */

static bool is_dirty_enough(const struct simulation *sim)
{
	/* Asked only when something is written back already. */
	return sim->background_bytes > 0 &&
	       cache_dirty_pages(sim->model->cache) + sim->background_bytes / PAGE_BYTES >
		       cache_dirty_allowed(sim->model->cache);
}

/* Buffered writers are held up while too much is dirty: balance_dirty_pages(). */
static bool is_throttled(const struct op *op)
{
	return op->kind == OP_WRITE || op->kind == OP_WRITE_DONTCACHE;
}

/* The last of those under way was the last of its batch: all that have come since are the next. */
static void turn_over(struct simulation *sim, const struct task *task)
{
	struct queue waiting = sim->turns;

	if (!task->io.takes_turns || --sim->turns_under_way > 0)
		return;
	sim->turns.first = NONE;
	while (waiting.first != NONE) {
		sim->turns_under_way++;
		agenda_add(&sim->agenda, sim->now_ns, EVENT_WOKEN, queue_take(sim, &waiting));
	}
}

/* It goes on when the file system says so. */
static void await(struct simulation *sim, uint32_t task)
{
	sim->tasks.at[task].waits_for++;
	queue_put(sim, &sim->awaiting, task);
	sim->kernel_wanted = true;
}

static uint64_t awaited(const struct task *task)
{
	return task->io.at.at[task->next_io - 1].offset;
}

static void wake_awaiting(struct simulation *sim)
{
	struct queue waiting = sim->awaiting;

	sim->awaiting.first = NONE;
	while (waiting.first != NONE) {
		uint32_t task = queue_take(sim, &waiting);

		if (awaited(&sim->tasks.at[task]) <= sim->model->mount.reached)
			agenda_add(&sim->agenda, sim->now_ns, EVENT_WOKEN, task);
		else
			queue_put(sim, &sim->awaiting, task);
	}
}

static void task_done(struct simulation *sim, uint32_t task)
{
	struct task *at = &sim->tasks.at[task];

	at->is_under_way = false;
	sim->tasks_under_way--;
	if (task == KERNEL) {
		sim->kernel_wanted |= sim->model->mount.goes_on;
		return;
	}
	turn_over(sim, at);
	operation_end(sim->model, &at->op);
	if (at->is_of_jobs && at->op.kind != OP_COMPUTE && at->op.kind != OP_MARK)
		recorder_latency(&sim->model->recorder, (enum op_kind)at->op.kind,
				 sim->now_ns - at->asked_ns);
	feed_completed(sim->feed, &at->op, task - THREADS, sim->now_ns);
	sim->source_may_have = true;
}

/* It waits for nothing: the next phase, or done. */
static void task_goes_on(struct simulation *sim, uint32_t task)
{
	struct task *at = &sim->tasks.at[task];

	if (at->is_in_line)
		return;
	while (at->next_io < at->io.at.count) {
		const struct io *next = &at->io.at.at[at->next_io];
		size_t first;
		struct io io;
		uint32_t count;
		bool is_awaited;

		task_leaves(sim, at, next);
		if (at->waits_for > 0 && next->begins_phase)
			break;
		/* The kernel's own threads keep as many under way as write-back does. */
		if (task == KERNEL &&
		    at->waits_for >= (at->io.depth ? at->io.depth : sim->background_depth))
			break;
		if (next->kind == IO_AWAIT) {
			at->next_io++;
			if (next->offset > sim->model->mount.reached)
				await(sim, task);
			continue;
		}
		if (task != KERNEL && next->is_background && next->kind != IO_READ) {
			*array_push(&sim->background.at) = *next;
			background_count(sim, sim->background.at.count - 1);
			at->next_io++;
			continue;
		}
		if (!task_passes(sim, task, next)) {
			at->is_in_line = true;
			at->waits_for++;
			return;
		}
		first = at->next_io;
		io = take_merged(sim, &at->io, &at->next_io);
		is_awaited = task == KERNEL || !io.is_background;
		count = submit(sim, &io, &at->io, first, at->next_io, task, is_awaited);
		at->waits_for += is_awaited ? count : 0;
	}
	if (at->next_io == at->io.at.count)
		task_leaves(sim, at, NULL);
	background_submit(sim);
	if (at->waits_for > 0)
		return;
	gate_done(&sim->gate, task, &sim->woken);
	if (task != KERNEL && is_throttled(&at->op) && is_dirty_enough(sim)) {
		at->stopped_ns = sim->now_ns;
		queue_put(sim, &sim->throttled, task);
		return;
	}
	task_done(sim, task);
}

static uint64_t processor_ns(const struct simulation *sim, const struct task *task)
{
	const struct pace *pace = &sim->model->options->pace;

	if (task->op.kind == OP_MARK || task->op.kind == OP_EXISTS ||
	    task->op.kind == OP_EXISTS_SPARSE)
		return 0;
	return (task->op.kind == OP_COMPUTE ? task->op.bytes : pace->op_ns) +
	       pace->hit_ns_per_page * sim->model->op_pages + task->io.cpu_ns;
}

/*
 * Whoever syncs a file writes itself what write-back has not come to yet: to the kernel these pages
 * are still dirty (they are marked as they are submitted). Now they are the first that it asks for.
 */
static void background_take(struct simulation *sim, uint32_t file, struct task *task)
{
	struct io_list *list = &sim->background;
	size_t kept = sim->background_next, own = task->io.at.count, taken;

	for (size_t i = sim->background_next; i < list->at.count; i++) {
		struct io io = list->at.at[i];

		if ((io.file != file && file != EVERY_FILE) || io.kind != IO_WRITE) {
			list->at.at[kept++] = io;
			continue;
		}
		io.is_background = false;
		*array_push(&task->io.at) = io;
		sim->background_bytes -= io.bytes;
		if (io.file)
			writes_of(sim, io.file)->count--;
	}
	list->at.count = kept;
	if (sim->flusher_end > kept)
		sim->flusher_end = kept;
	taken = task->io.at.count - own;
	if (taken == 0)
		return;
	for (size_t i = 0; i < taken; i++)
		(void)array_push(&task->io.at);
	for (size_t i = own + taken; i-- > 0;)
		task->io.at.at[i + taken] = task->io.at.at[i];
	for (size_t i = 0; i < taken; i++)
		task->io.at.at[i] = task->io.at.at[own + taken + i];
	task->io.at.count = own + taken;
}

/* A sync waits for the data that is on its way, too, and its journal and flush come after that. */
static void sync_waits(struct simulation *sim, uint32_t task, uint32_t file)
{
	struct task *at = &sim->tasks.at[task];

	if (at->io.at.count > 0 &&
	    (at->io.at.at[0].kind != IO_WRITE || at->io.at.at[0].is_metadata))
		at->io.at.at[0].begins_phase = true;
	if (file == EVERY_FILE) {
		background_take(sim, file, at);
		if (sim->background_under_way > 0)
			wait_add(sim, &sim->background_waiters, task);
		return;
	}
	if (writes_of(sim, file)->count > 0)
		background_take(sim, file, at);
	if (writes_of(sim, file)->count > 0)
		wait_add(sim, &writes_of(sim, file)->waiters, task);
}

/* Nobody asks the device for these, from `first` on. */
static void forget(struct simulation *sim, const struct io_list *list, size_t first)
{
	for (; first < list->at.count; first++) {
		struct cache_run run = run_of(&list->at.at[first]);

		if (run.file && list->at.at[first].kind == IO_WRITE)
			cache_written(sim->model->cache, &run);
	}
}

/* The kernel's threads compute on: a slice at a time, in turn with whoever else does. */
static void kernel_slice(struct simulation *sim)
{
	uint64_t ns = sim->kernel_ns < KERNEL_SLICE_NS ? sim->kernel_ns : KERNEL_SLICE_NS;

	sim->kernel_ns -= ns;
	sim->busy_ns += ns;
	agenda_add(&sim->agenda, sim->now_ns + ns, EVENT_COMPUTED, KERNEL_COMPUTES);
}

static void kernel_compute(struct simulation *sim)
{
	struct task *at = &sim->tasks.at[KERNEL_COMPUTES];

	if (at->is_under_way || sim->kernel_ns == 0)
		return;
	at->op.kind = OP_COMPUTE;
	at->is_under_way = true;
	if (sim->idle_processors == 0) {
		queue_put(sim, &sim->runnable, KERNEL_COMPUTES);
		return;
	}
	sim->idle_processors--;
	kernel_slice(sim);
}

/* The task has a processor: its op is carried out now. */
static void task_execute(struct simulation *sim, uint32_t task)
{
	struct task *at = &sim->tasks.at[task];
	struct model *model = sim->model;
	size_t first = sim->background.at.count;
	uint64_t ns;

	if (task == KERNEL_COMPUTES) {
		kernel_slice(sim);
		return;
	}
	io_list_empty(&at->io);
	at->next_io = 0;
	at->waits_for = 0;
	model->now_ns = sim->now_ns;
	model->mount.io = &at->io;
	cache_flusher_busy(model->cache, sim->background_next < sim->flusher_end);
	if (!model_carry_out(model, &at->op, sim->error)) {
		sim->failed = true;
		return;
	}
	flusher_count(sim, first);
	if (at->op.kind == OP_MARK && at->op.bytes == MARK_COUNTING_BEGINS)
		start(sim);
	/* What is there before time begins is not asked of the device. */
	if (!at->is_of_jobs) {
		forget(sim, &at->io, 0);
		forget(sim, &sim->background, first);
		io_list_empty(&at->io);
		sim->background.at.count = first;
	}
	if (sim->reading.count > 0 && model->asked.file)
		wait_for_pages(sim, task);
	if (at->op.kind == OP_SYNC)
		sync_waits(sim, task, EVERY_FILE);
	else if ((at->op.kind == OP_FSYNC || at->op.kind == OP_FDATASYNC ||
		  model->waits_for_file) &&
		 operation_file(model, &at->op))
		sync_waits(sim, task, operation_file(model, &at->op));
	ns = processor_ns(sim, at);
	sim->busy_ns += ns;
	sim->kernel_ns += at->io.aside_ns;
	kernel_compute(sim);
	if (at->has_borrowed)
		sim->borrowed_ns += ns;
	/* So that nothing goes on before the processor's part is done. */
	at->waits_for++;
	agenda_add(&sim->agenda, sim->now_ns + ns, EVENT_COMPUTED, task);
}

static void task_begin(struct simulation *sim, const struct op *op, uint32_t thread)
{
	uint32_t task = thread + THREADS;
	struct task *at;

	while (sim->tasks.count <= task)
		(void)array_push(&sim->tasks);
	at = &sim->tasks.at[task];
	at->op = *op;
	at->asked_ns = sim->now_ns;
	at->is_under_way = true;
	at->is_of_jobs = feed_is_started(sim->feed, op);
	if (at->is_of_jobs && sim->started_ns == UINT64_MAX)
		start(sim);
	sim->tasks_under_way++;
	at->has_borrowed = sim->idle_processors == 0 && op->kind != OP_COMPUTE;
	if (!at->has_borrowed && sim->idle_processors == 0) {
		queue_put(sim, &sim->runnable, task);
		return;
	}
	if (!at->has_borrowed)
		sim->idle_processors--;
	task_execute(sim, task);
}

/* The call has done its own part: its first requests go out, whatever it waits for besides. */
static void task_asks(struct simulation *sim, uint32_t task)
{
	struct task *at = &sim->tasks.at[task];

	if (at->io.joins && !gate_join(&sim->gate, task))
		return;
	at->io.joins = at->is_in_line = false;
	at->waits_for--;
	task_goes_on(sim, task);
}

static void task_takes_turn(struct simulation *sim, uint32_t task)
{
	const struct task *at = &sim->tasks.at[task];

	if (at->io.takes_turns && sim->turns_under_way > 0) {
		queue_put(sim, &sim->turns, task);
		return;
	}
	sim->turns_under_way += at->io.takes_turns;
	task_asks(sim, task);
}

static void task_computed(struct simulation *sim, uint32_t task)
{
	struct task *at = &sim->tasks.at[task];

	if (at->op.kind == OP_COMPUTE && sim->borrowed_ns > 0) {
		agenda_add(&sim->agenda, sim->now_ns + sim->borrowed_ns, EVENT_COMPUTED, task);
		sim->borrowed_ns = 0;
		return;
	}
	if (!at->has_borrowed && sim->runnable.first != NONE)
		task_execute(sim, queue_take(sim, &sim->runnable));
	else if (!at->has_borrowed)
		sim->idle_processors++;
	if (task == KERNEL_COMPUTES) {
		at->is_under_way = false;
		kernel_compute(sim);
		return;
	}
	if (at->io.sleep_ns > 0)
		agenda_add(&sim->agenda, sim->now_ns + at->io.sleep_ns, EVENT_SLEPT, task);
	else
		task_takes_turn(sim, task);
}

/* ---- what time brings ---- */

static void request_done(struct simulation *sim, uint32_t id)
{
	struct request request = sim->requests.at[id];

	sim->requests.at[id].next_free = sim->free_request;
	sim->free_request = id;
	sim->requests_under_way--;
	if (sim->cfq && request.kind == IO_FLUSH)
		cfq_flush_done(sim->cfq, sim->now_ns);
	else if (sim->cfq)
		cfq_done(sim->cfq, sim->now_ns, id);
	if (request.kind == IO_READ && request.file) {
		uint32_t last = sim->reading.at[--sim->reading.count];

		sim->reading.at[request.place] = last;
		sim->requests.at[last].place = request.place;
	}
	if (request.kind == IO_WRITE)
		sim->written_bytes += bytes_from_pages(request.pages);
	if (request.has_place)
		places_give(&sim->places, &sim->woken);
	written_done(sim, request.written);
	wait_over(sim, request.waiters);
	if (request.task == NONE) {
		sim->background_under_way--;
		sim->background_bytes -= bytes_from_pages(request.pages) < sim->background_bytes
						 ? bytes_from_pages(request.pages)
						 : sim->background_bytes;
		if (request.file) {
			struct file_writes *writes = writes_of(sim, request.file);

			if (writes->count > 0 && --writes->count == 0) {
				uint32_t waiters = writes->waiters;

				writes->waiters = 0;
				wait_over(sim, waiters);
			}
		}
		if (sim->background_under_way == 0) {
			uint32_t waiters = sim->background_waiters;

			sim->background_waiters = 0;
			wait_over(sim, waiters);
		}
		background_submit(sim);
	} else if (request.is_awaited && --sim->tasks.at[request.task].waits_for == 0) {
		task_goes_on(sim, request.task);
	} else if (request.task == KERNEL) {
		task_goes_on(sim, KERNEL);
	}
}

static void device_completions(struct simulation *sim)
{
	uint64_t tags[DONE_BATCH];
	size_t count;

	do {
		count = device_advance(sim->device, sim->now_ns, tags, DONE_BATCH);
		for (size_t i = 0; i < count; i++)
			request_done(sim, (uint32_t)tags[i]);
	} while (count == DONE_BATCH);
}

/* ---- the kernel's own threads ---- */

static void wake_throttled(struct simulation *sim)
{
	struct queue waiting = sim->throttled;

	if (waiting.first == NONE || is_dirty_enough(sim))
		return;
	sim->throttled.first = NONE;
	while (waiting.first != NONE) {
		uint32_t task = queue_take(sim, &waiting);

		sim->stopped.count++;
		sim->stopped.ns += sim->now_ns - sim->tasks.at[task].stopped_ns;
		task_done(sim, task);
	}
}

/* The file system's threads have their turn, if they are not at work. */
static void kernel_turn(struct simulation *sim)
{
	struct model *model = sim->model;
	struct task *kernel = &sim->tasks.at[KERNEL];

	if (!model->is_mounted || !model->fs->background || kernel->is_under_way)
		return;
	sim->kernel_wanted = false;
	io_list_empty(&kernel->io);
	kernel->next_io = 0;
	kernel->waits_for = 0;
	model->now_ns = model->mount.now_ns = sim->now_ns;
	model->mount.io = &kernel->io;
	model->mount.is_background = true;
	model->fs->background(&model->mount);
	model->mount.is_background = false;
	wake_awaiting(sim);
	kernel->is_under_way = true;
	sim->kernel_ns += kernel->io.cpu_ns + kernel->io.aside_ns;
	kernel_compute(sim);
	sim->tasks_under_way++;
	if (kernel->io.sleep_ns > 0) {
		kernel->waits_for++;
		agenda_add(&sim->agenda, sim->now_ns + kernel->io.sleep_ns, EVENT_WOKEN, KERNEL);
	}
	task_goes_on(sim, KERNEL);
}

/* Every 100 ms: what is due is written back, and the file system's threads have their turn. */
static void tick(struct simulation *sim)
{
	struct model *model = sim->model;
	size_t first = sim->background.at.count;

	sim->next_tick_ns = sim->now_ns + TICK_NS;
	model->now_ns = model->mount.now_ns = sim->now_ns;
	flusher_pace(sim);
	cache_flusher_busy(model->cache, sim->background_next < sim->flusher_end);
	model_write_back(model);
	flusher_count(sim, first);
	background_submit(sim);
	kernel_turn(sim);
	wake_throttled(sim);
}

static void progress(struct simulation *sim)
{
	const struct model_options *options = sim->model->options;
	struct op_source *source = sim->model->source;
	struct counters counters;
	uint64_t done = 0, total = 0;

	sim->next_progress_ops = sim->model->op_count + PROGRESS_EVERY_OPS;
	if (!options->progress)
		return;
	source->interface->progress(source, &done, &total);
	cache_counters(sim->model->cache, 0, &counters);
	options->progress(options->progress_context, done, total, sim->model->op_count,
			  counters.reread_bytes);
}

/* ---- the loop ---- */

/* All ops that are due now begin. */
static bool begin_due(struct simulation *sim)
{
	while (sim->source_may_have || sim->next_source_ns <= sim->now_ns) {
		struct op op;
		uint32_t thread;
		bool got;

		if (!feed_next(sim->feed, sim->now_ns, &op, &thread, &got, &sim->next_source_ns,
			       sim->error))
			return false;
		sim->source_may_have = false;
		if (!got)
			break;
		task_begin(sim, &op, thread);
		if (sim->failed)
			return false;
		if (recorder_wants_sample(&sim->model->recorder, sim->model->op_count))
			model_sample(sim->model);
	}
	return true;
}

/* When does the next thing happen? UINT64_MAX: never. */
static uint64_t next_ns(const struct simulation *sim, uint64_t device_ns)
{
	uint64_t next = least(sim->next_source_ns, device_ns);

	next = least(next, agenda_next_ns(&sim->agenda));
	if (sim->kernel_wanted && !sim->tasks.at[KERNEL].is_under_way)
		return sim->now_ns;
	/* Timers go on as long as somebody lives to see them. */
	if (next != UINT64_MAX || sim->throttled.first != NONE || sim->awaiting.first != NONE)
		next = least(next, sim->next_timer_ns);
	return next;
}

static __attribute__((noinline)) void timers(struct simulation *sim)
{
	if (sim->next_tick_ns <= sim->now_ns)
		tick(sim);
	if (sim->next_interval_ns <= sim->now_ns)
		interval_end(sim);
	sim->next_timer_ns = least(sim->next_tick_ns, sim->next_interval_ns);
}

static bool loop(struct simulation *sim)
{
	const struct model_options *options = sim->model->options;

	for (;;) {
		uint64_t next, device_ns;

		if (!begin_due(sim))
			return false;
		if (sim->model->op_count >= sim->next_progress_ops)
			progress(sim);
		if (options->interrupted && *options->interrupted)
			return true;
		/* Nothing is under way and nothing will come: what is still written back is nobody's. */
		if (sim->tasks_under_way <= sim->tasks.at[KERNEL].is_under_way &&
		    sim->next_source_ns == UINT64_MAX)
			return true;
		device_ns = device_next_ns(sim->device);
		next = next_ns(sim, device_ns);
		assert(next != UINT64_MAX && "somebody waits, and nothing will come");
		sim->now_ns = next > sim->now_ns ? next : sim->now_ns;
		if (device_ns <= sim->now_ns)
			device_completions(sim);
		while (agenda_next_ns(&sim->agenda) <= sim->now_ns) {
			struct agenda_entry event = agenda_take(&sim->agenda);

			if (event.what == EVENT_COMPUTED)
				task_computed(sim, event.id);
			else if (event.what == EVENT_SLEPT)
				task_takes_turn(sim, event.id);
			else
				task_asks(sim, event.id);
			if (sim->failed)
				return false;
		}
		if (sim->next_timer_ns <= sim->now_ns)
			timers(sim);
		if (sim->kernel_wanted)
			kernel_turn(sim);
		woken_wake(sim);
	}
}

static void finish(struct simulation *sim)
{
	struct model *model = sim->model;
	uint64_t started = sim->started_ns != UINT64_MAX ? sim->started_ns : sim->now_ns;

	model->elapsed_ns = sim->now_ns - started;
	model->busy_ns = sim->busy_ns;
	model->stopped = sim->stopped;
	model->requests.busy_ns = device_busy_now_ns(sim) - sim->busy_device_ns;
}

bool simulation_run(struct model *model, struct error *error)
{
	struct simulation sim = {
		.model = model,
		.feed = feed_create(model->source),
		.device = device_create(model->options->device, model->mount.options.device_bytes,
					model->options->seed),
		.next_tick_ns = TICK_NS,
		.next_interval_ns = UINT64_MAX,
		.next_timer_ns = TICK_NS,
		.next_source_ns = UINT64_MAX,
		.started_ns = UINT64_MAX,
		.source_may_have = true,
		.runnable = {.first = NONE},
		.throttled = {.first = NONE},
		.turns = {.first = NONE},
		.awaiting = {.first = NONE},
		.processors = model->options->processors,
		.idle_processors = model->options->processors,
		.background_depth = cache_write_back_depth(model->cache),
		.write_back_holds = cache_write_back_holds(model->cache),
		.bandwidth = bandwidth_initial(),
		.error = error,
	};
	bool done;

	sim.request_bytes_max = device_request_bytes_max(sim.device);
	if (cache_elevator_is_cfq(model->cache) && device_is_sata_flash(sim.device))
		sim.cfq = cfq_create(sim.device);
	model->background = &sim.background;
	sim.turn_bytes =
		bytes_from_pages(cache_flusher_pace(model->cache, sim.bandwidth.mean_bytes_per_s));
	for (int i = 0; i < THREADS; i++)
		(void)array_push(&sim.tasks);
	model->source->foresight = (struct op_foresight){model, model_expect};
	(void)array_push(&sim.requests);
	(void)array_push(&sim.waiters);
	(void)array_push(&sim.written);
	done = loop(&sim);
	model->source->foresight.expect = NULL;
	if (done)
		finish(&sim);
	model->background = NULL;
	model->mount.io = NULL;
	for (size_t i = 0; i < sim.tasks.count; i++)
		array_deinit(&sim.tasks.at[i].io.at);
	array_deinit(&sim.tasks);
	agenda_deinit(&sim.agenda);
	array_deinit(&sim.requests);
	array_deinit(&sim.reading);
	array_deinit(&sim.waiters);
	array_deinit(&sim.written);
	array_deinit(&sim.background.at);
	array_deinit(&sim.file_writes);
	gate_deinit(&sim.gate);
	places_deinit(&sim.places);
	array_deinit(&sim.woken.list);
	cfq_destroy(sim.cfq);
	device_destroy(sim.device);
	feed_destroy(sim.feed);
	return done;
}
