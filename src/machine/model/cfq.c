/*
 * Source     Linux 4.5 block/cfq-iosched.c, with the names of its functions below; block/blk-flush.c
 *            (a flush that is no queued command holds the queue); drivers/ata/libata (31 commands in
 *            the drive's queue)
 * Differs    1. One group, one priority, no idling: an SSD that queues has slice_idle 0, which also
 *               makes one tree of all queues that somebody waits for.
 *            2. Within a queue first come, first served, not by the head's position.
 */
#include "machine/model/cfq.h"

#include "base/array.h"
#include "base/memory.h"

enum {
	JIFFY_NS = 4 * 1000 * 1000, /* CONFIG_HZ=250 */
	SLICE_SYNC = 25,            /* jiffies: cfq_slice_sync, HZ / 10 */
	SLICE_ASYNC = 10,           /* cfq_slice_async, HZ / 25 */
	SLICE_SCALE = 5,            /* CFQ_SLICE_SCALE, of priorities: the highest is 4 steps up */
	TARGET_LATENCY = 75,        /* cfq_target_latency, 300 ms */
	FIFO_EXPIRE_SYNC = 31,      /* cfq_fifo_expire[1], HZ / 8 */
	SLICE_MIN = 2,              /* CFQ_MIN_TT */
	QUANTUM = 8,
	ASYNC_REQUESTS = 16, /* cfq_prio_to_maxrq() */
	HISTORY_DIVISOR = 4, /* cfq_hist_divisor */
	COMMANDS_MAX = 31,   /* ATA_MAX_QUEUE - 1 */
	FRONT = 250,         /* a second: before whoever is first */
	ASYNC = 0,           /* the queue of what nobody waits for; a task's is its number + 1 */
};

struct cfq_queue {
	uint32_t first, last; /* requests that wait, by tag; NOTHING: none */
	int64_t key;          /* of its turn, jiffies */
	uint64_t order;
	int64_t slice_end, slice_left; /* left: when its last turn ended */
	uint32_t dispatched, turn_dispatched;
	bool is_listed, is_new; /* new: nothing of this turn is done yet */
};

struct cfq_request {
	struct device_request request;
	uint64_t since; /* jiffies */
	uint32_t queue, next;
};

#define NOTHING UINT32_MAX

enum workload { WORKLOAD_ASYNC, WORKLOAD_SYNC };

struct cfq {
	struct device *device;
	ARRAY(struct cfq_queue) queues;
	ARRAY(struct cfq_request) requests; /* by tag */
	ARRAY(uint32_t) listed;             /* queues that want a turn, or have it */
	uint64_t order;
	int64_t now, last_delayed; /* jiffies */
	int64_t workload_end, workload_left;
	enum workload workload;
	uint32_t active; /* NOTHING: none */
	uint32_t in_flight[2], queued, busy_mean, flushes;
};

static struct cfq_queue *queue_of(struct cfq *cfq, uint32_t id)
{
	while (cfq->queues.count <= id)
		array_push(&cfq->queues)->first = NOTHING;
	return &cfq->queues.at[id];
}

struct cfq *cfq_create(struct device *device)
{
	struct cfq *cfq = memory_alloc(1, sizeof(*cfq));

	cfq->device = device;
	cfq->active = NOTHING;
	cfq->last_delayed = -FRONT;
	queue_of(cfq, ASYNC);
	return cfq;
}

void cfq_destroy(struct cfq *cfq)
{
	if (!cfq)
		return;
	array_deinit(&cfq->queues);
	array_deinit(&cfq->requests);
	array_deinit(&cfq->listed);
	memory_free(cfq);
}

/* ---- the order of turns: cfq_service_tree_add() ---- */

static int64_t slice_base(bool is_sync)
{
	return is_sync ? SLICE_SYNC : SLICE_ASYNC;
}

static bool goes_first(const struct cfq_queue *a, const struct cfq_queue *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* The first that wants a turn, of one kind. NOTHING: none. */
static uint32_t first_of(const struct cfq *cfq, enum workload workload)
{
	uint32_t first = NOTHING;

	for (size_t i = 0; i < cfq->listed.count; i++) {
		uint32_t id = cfq->listed.at[i];

		if ((id != ASYNC) == (workload == WORKLOAD_SYNC) &&
		    (first == NOTHING || goes_first(&cfq->queues.at[id], &cfq->queues.at[first])))
			first = id;
	}
	return first;
}

static uint32_t count_of(const struct cfq *cfq, enum workload workload)
{
	uint32_t async = cfq->queues.at[ASYNC].is_listed;

	return workload == WORKLOAD_ASYNC ? async : (uint32_t)cfq->listed.count - async;
}

/* cfq_slice_offset() */
static void queue_sort(struct cfq *cfq, uint32_t id, bool front)
{
	struct cfq_queue *queue = &cfq->queues.at[id];
	int64_t highest = SLICE_SYNC + SLICE_SYNC / SLICE_SCALE * 4;
	uint32_t first = first_of(cfq, id == ASYNC ? WORKLOAD_ASYNC : WORKLOAD_SYNC);

	if (front) {
		queue->key = (first == NOTHING ? cfq->now : cfq->queues.at[first].key) - FRONT;
	} else {
		queue->key =
			cfq->now +
			((int64_t)cfq->listed.count - 1) * (highest - slice_base(id != ASYNC)) -
			queue->slice_left;
		queue->slice_left = 0;
	}
	queue->order = cfq->order++;
}

static void queue_list(struct cfq *cfq, uint32_t id)
{
	cfq->queues.at[id].is_listed = true;
	*array_push(&cfq->listed) = id;
	queue_sort(cfq, id, false);
}

static void queue_unlist(struct cfq *cfq, uint32_t id)
{
	cfq->queues.at[id].is_listed = false;
	for (size_t i = 0; i < cfq->listed.count; i++)
		if (cfq->listed.at[i] == id)
			cfq->listed.at[i--] = cfq->listed.at[--cfq->listed.count];
}

/* ---- turns ---- */

/* cfq_group_get_avg_queues(): up quickly, down slowly. */
static uint32_t busy_mean(struct cfq *cfq)
{
	uint32_t busy = (uint32_t)cfq->listed.count, mean = cfq->busy_mean;
	uint32_t most = busy > mean ? busy : mean, least = busy > mean ? mean : busy;

	cfq->busy_mean =
		((HISTORY_DIVISOR - 1) * most + least + HISTORY_DIVISOR / 2) / HISTORY_DIVISOR;
	return cfq->busy_mean;
}

/* cfq_scaled_cfqq_slice() */
static int64_t slice_scaled(struct cfq *cfq, uint32_t id)
{
	int64_t slice = slice_base(id != ASYNC), expected = SLICE_SYNC * (int64_t)busy_mean(cfq);

	return expected > TARGET_LATENCY ? slice * TARGET_LATENCY / expected : slice;
}

static bool slice_is_used(const struct cfq *cfq, const struct cfq_queue *queue)
{
	return !queue->is_new && cfq->now >= queue->slice_end;
}

/* __cfq_slice_expired(): `keeps` what is left of it for its next turn. */
static void turn_end(struct cfq *cfq, bool keeps)
{
	uint32_t id = cfq->active;
	struct cfq_queue *queue;

	if (id == NOTHING)
		return;
	queue = &cfq->queues.at[id];
	if (keeps)
		queue->slice_left =
			queue->is_new ? slice_scaled(cfq, id) : queue->slice_end - cfq->now;
	cfq->workload_left = cfq->workload_end > cfq->now ? cfq->workload_end - cfq->now : 0;
	if (queue->is_listed && queue->first == NOTHING)
		queue_unlist(cfq, id);
	if (queue->is_listed)
		queue_sort(cfq, id, false);
	cfq->active = NOTHING;
}

/* choose_wl_class_and_type() */
static void workload_choose(struct cfq *cfq)
{
	uint32_t async = first_of(cfq, WORKLOAD_ASYNC), sync = first_of(cfq, WORKLOAD_SYNC);
	uint32_t listed = (uint32_t)cfq->listed.count;
	int64_t slice, share;

	cfq->workload_end = cfq->workload_left ? cfq->now + cfq->workload_left : cfq->now - 1;
	if (count_of(cfq, cfq->workload) > 0 && cfq->now <= cfq->workload_end)
		return;
	cfq->workload = async != NOTHING && (sync == NOTHING ||
					     cfq->queues.at[async].key <= cfq->queues.at[sync].key)
				? WORKLOAD_ASYNC
				: WORKLOAD_SYNC;
	slice = (int64_t)TARGET_LATENCY * count_of(cfq, cfq->workload) /
		(cfq->busy_mean > listed ? cfq->busy_mean : listed);
	if (cfq->workload == WORKLOAD_ASYNC) {
		share = TARGET_LATENCY / listed;
		slice = (slice < share ? slice : share) * SLICE_ASYNC / SLICE_SYNC;
	}
	cfq->workload_end = cfq->now + (slice > SLICE_MIN ? slice : SLICE_MIN);
}

/* cfq_select_queue(). NOTHING: nobody has anything. */
static uint32_t turn_choose(struct cfq *cfq)
{
	struct cfq_queue *queue;

	if (cfq->queued == 0)
		return NOTHING;
	if (cfq->active != NOTHING) {
		queue = &cfq->queues.at[cfq->active];
		if (!slice_is_used(cfq, queue) && queue->first != NOTHING)
			return cfq->active;
		turn_end(cfq, false);
	}
	workload_choose(cfq);
	cfq->active = first_of(cfq, cfq->workload);
	queue = &cfq->queues.at[cfq->active];
	queue->is_new = true;
	queue->slice_end = 0;
	queue->turn_dispatched = 0;
	return cfq->active;
}

/* cfq_may_dispatch() */
static bool may_dispatch(const struct cfq *cfq, uint32_t id)
{
	const struct cfq_queue *queue = &cfq->queues.at[id];
	uint32_t most = QUANTUM / 2;

	if (id == ASYNC && cfq->in_flight[WORKLOAD_SYNC] > 0)
		return false;
	if (queue->dispatched >= most) {
		bool is_alone = cfq->listed.count == 1 ||
				(id != ASYNC && count_of(cfq, WORKLOAD_SYNC) == 1);

		/* cfq_slice_used_soon(): nobody knows yet, or it is. */
		if (!is_alone && (queue->is_new || cfq->now > queue->slice_end))
			return false;
		most = is_alone ? UINT32_MAX : QUANTUM;
	}
	if (id == ASYNC) {
		int64_t depth = (cfq->now - cfq->last_delayed) / SLICE_SYNC;

		if (depth == 0 && queue->dispatched == 0)
			depth = 1;
		most = depth < most ? (uint32_t)depth : most;
	}
	return queue->dispatched < most;
}

/* cfq_dispatch_requests(), until it or the drive takes no more. */
static void dispatch(struct cfq *cfq, uint64_t now_ns)
{
	while (cfq->flushes == 0 && cfq->in_flight[0] + cfq->in_flight[1] < COMMANDS_MAX) {
		uint32_t id = turn_choose(cfq), tag;
		struct cfq_queue *queue;

		if (id == NOTHING || !may_dispatch(cfq, id))
			return;
		queue = &cfq->queues.at[id];
		tag = queue->first;
		queue->first = cfq->requests.at[tag].next;
		cfq->queued--;
		queue->dispatched++;
		cfq->in_flight[id != ASYNC]++;
		device_submit(cfq->device, now_ns, &cfq->requests.at[tag].request);
		if (++queue->turn_dispatched >= ASYNC_REQUESTS && id == ASYNC &&
		    cfq->listed.count > 1)
			turn_end(cfq, false);
	}
}

/* ---- what happens ---- */

/* cfq_should_preempt(), cfq_preempt_queue() */
static void preempt(struct cfq *cfq, uint32_t id)
{
	const struct cfq_queue *active;
	bool is_other_kind;

	if (cfq->active == NOTHING || cfq->active == id)
		return;
	active = &cfq->queues.at[cfq->active];
	is_other_kind = id != ASYNC && cfq->active == ASYNC;
	if (!is_other_kind && !slice_is_used(cfq, active) && active->first != NOTHING)
		return;
	turn_end(cfq, true);
	if (is_other_kind)
		cfq->workload_left = 0;
	queue_sort(cfq, id, true);
}

void cfq_submit(struct cfq *cfq, uint64_t now_ns, const struct device_request *request,
		uint32_t task)
{
	uint32_t id = request->is_background ? ASYNC : task + 1, tag = (uint32_t)request->tag;
	struct cfq_queue *queue = queue_of(cfq, id);

	cfq->now = (int64_t)(now_ns / JIFFY_NS);
	while (cfq->requests.count <= tag)
		(void)array_push(&cfq->requests);
	cfq->requests.at[tag] = (struct cfq_request){*request, (uint64_t)cfq->now, id, NOTHING};
	if (queue->first == NOTHING)
		queue->first = tag;
	else
		cfq->requests.at[queue->last].next = tag;
	queue->last = tag;
	cfq->queued++;
	if (!queue->is_listed)
		queue_list(cfq, id);
	preempt(cfq, id);
	dispatch(cfq, now_ns);
}

void cfq_flush(struct cfq *cfq, uint64_t now_ns, const struct device_request *request)
{
	cfq->flushes++;
	device_submit(cfq->device, now_ns, request);
}

void cfq_flush_done(struct cfq *cfq, uint64_t now_ns)
{
	cfq->flushes--;
	cfq->now = (int64_t)(now_ns / JIFFY_NS);
	dispatch(cfq, now_ns);
}

/* cfq_completed_request() */
void cfq_done(struct cfq *cfq, uint64_t now_ns, uint64_t tag)
{
	const struct cfq_request *request = &cfq->requests.at[tag];
	uint32_t id = request->queue;
	struct cfq_queue *queue = &cfq->queues.at[id];

	cfq->now = (int64_t)(now_ns / JIFFY_NS);
	queue->dispatched--;
	cfq->in_flight[id != ASYNC]--;
	if (id != ASYNC && (int64_t)request->since + FIFO_EXPIRE_SYNC <= cfq->now)
		cfq->last_delayed = cfq->now;
	if (cfq->active == id) {
		if (queue->is_new) {
			queue->slice_end = cfq->now + slice_scaled(cfq, id);
			queue->is_new = false;
		}
		if (slice_is_used(cfq, queue))
			turn_end(cfq, true);
	}
	dispatch(cfq, now_ns);
}
