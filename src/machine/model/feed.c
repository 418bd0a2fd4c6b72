#include "machine/model/feed.h"

#include "base/array.h"
#include "base/size.h"

enum { READ_BATCH = 1024, HELD_MAX = 1 << 16, NONE = UINT32_MAX };

#define DAY_NS (UINT64_C(24) * 3600 * NS_PER_SECOND)

/* Ticks go on in a pause: one of 30 days takes a minute. */
#define PAUSE_NS_MAX (UINT64_C(30) * DAY_NS)

/* A trace that begins as late as this has a calendar's time stamps. */
#define CALENDAR_NS_MIN DAY_NS

/* A thread of a trace: what it has still to do, first to last. */
struct lane {
	uint32_t thread;      /* the trace's number */
	uint32_t first, last; /* in `held`; NONE */
	bool is_busy;
};

struct held {
	struct op op;
	uint64_t order;
	uint32_t next;
};

struct feed {
	struct op_source *source;

	/* Traces only, from here on. */
	struct op batch[READ_BATCH];
	size_t batch_count, batch_next;
	bool has_begun;    /* there was an op that is none of what is there before */
	uint64_t begin_ns; /* its time stamp, if time counts from there; else 0 */
	bool is_at_end, is_failed;
	bool is_blocked;      /* until the op held last has begun: a mark, or a change of names */
	struct error failure; /* of the source; told when all before it is done */
	ARRAY(struct lane) lanes;
	uint32_t *buckets; /* lane + 1 by thread */
	uint32_t bucket_mask;
	ARRAY(struct held) held; /* [0] unused */
	uint32_t free_held, held_count, busy_count;
	uint64_t order;
	ARRAY(uint32_t)
	ready; /* a heap of lanes that are idle and have an op, by its time and order */
};

struct feed *feed_create(struct op_source *source)
{
	struct feed *feed = memory_alloc(1, sizeof(*feed));

	feed->source = source;
	if (source->interface->next_due)
		return feed;
	feed->bucket_mask = 63;
	feed->buckets = memory_alloc(feed->bucket_mask + 1, sizeof(*feed->buckets));
	(void)array_push(&feed->held);
	return feed;
}

void feed_destroy(struct feed *feed)
{
	memory_free(feed->buckets);
	array_deinit(&feed->lanes);
	array_deinit(&feed->held);
	array_deinit(&feed->ready);
	memory_free(feed);
}

bool feed_is_started(const struct feed *feed, const struct op *op)
{
	/* A scenario's setup is thread 0's (source/player.h). */
	return feed->source->interface->next_due
		       ? op->thread != 0
		       : op->kind != OP_EXISTS && op->kind != OP_EXISTS_SPARSE;
}

/* ---- lanes ---- */

static uint32_t bucket_of(const struct feed *feed, uint32_t thread)
{
	uint32_t at = (uint32_t)(thread * UINT64_C(0x9e3779b97f4a7c15) >> 40) & feed->bucket_mask;

	while (feed->buckets[at] && feed->lanes.at[feed->buckets[at] - 1].thread != thread)
		at = (at + 1) & feed->bucket_mask;
	return at;
}

static uint32_t lane_of(struct feed *feed, uint32_t thread)
{
	uint32_t at = bucket_of(feed, thread);

	if (feed->buckets[at])
		return feed->buckets[at] - 1;
	*array_push(&feed->lanes) = (struct lane){.thread = thread, .first = NONE};
	feed->buckets[at] = (uint32_t)feed->lanes.count;
	if (feed->lanes.count * 2 > feed->bucket_mask) {
		memory_free(feed->buckets);
		feed->bucket_mask = feed->bucket_mask * 2 + 1;
		feed->buckets = memory_alloc(feed->bucket_mask + 1, sizeof(*feed->buckets));
		for (uint32_t i = 0; i < feed->lanes.count; i++)
			feed->buckets[bucket_of(feed, feed->lanes.at[i].thread)] = i + 1;
	}
	return (uint32_t)feed->lanes.count - 1;
}

static const struct held *first_of(const struct feed *feed, uint32_t lane)
{
	return &feed->held.at[feed->lanes.at[lane].first];
}

static bool goes_before(const struct feed *feed, uint32_t a, uint32_t b)
{
	const struct held *one = first_of(feed, a), *other = first_of(feed, b);

	return one->op.time_ns != other->op.time_ns ? one->op.time_ns < other->op.time_ns
						    : one->order < other->order;
}

static void ready_add(struct feed *feed, uint32_t lane)
{
	size_t at = feed->ready.count;

	(void)array_push(&feed->ready);
	for (; at > 0 && goes_before(feed, lane, feed->ready.at[(at - 1) / 2]); at = (at - 1) / 2)
		feed->ready.at[at] = feed->ready.at[(at - 1) / 2];
	feed->ready.at[at] = lane;
}

static uint32_t ready_take(struct feed *feed)
{
	uint32_t first = feed->ready.at[0], moved = feed->ready.at[--feed->ready.count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < feed->ready.count) {
		if (child + 1 < feed->ready.count &&
		    goes_before(feed, feed->ready.at[child + 1], feed->ready.at[child]))
			child++;
		if (!goes_before(feed, feed->ready.at[child], moved))
			break;
		feed->ready.at[at] = feed->ready.at[child];
		at = child;
	}
	feed->ready.at[at] = moved;
	return first;
}

static void hold(struct feed *feed, const struct op *op)
{
	uint32_t lane = lane_of(feed, op->thread), id = feed->free_held;
	struct lane *at = &feed->lanes.at[lane];

	if (id)
		feed->free_held = feed->held.at[id].next;
	else
		id = (uint32_t)((void)array_push(&feed->held), feed->held.count - 1);
	feed->held.at[id] = (struct held){.op = *op, .order = feed->order++, .next = NONE};
	feed->held_count++;
	if (at->first == NONE)
		at->first = id;
	else
		feed->held.at[at->last].next = id;
	at->last = id;
	if (at->first == id && !at->is_busy)
		ready_add(feed, lane);
}

static bool changes_names(const struct op *op)
{
	switch ((enum op_kind)op->kind) {
	case OP_EXISTS:
	case OP_EXISTS_SPARSE:
	case OP_CREATE:
	case OP_MKDIR:
	case OP_UNLINK:
	case OP_RENAME:
	case OP_RMDIR:
	case OP_LINK:
	case OP_SYMLINK:
		return true;
	default:
		return false;
	}
}

static void begin(struct feed *feed, uint32_t lane, struct op *op, uint32_t *thread)
{
	struct lane *at = &feed->lanes.at[lane];
	uint32_t id = at->first;

	*op = feed->held.at[id].op;
	*thread = lane;
	feed->is_blocked &= !(op->kind == OP_MARK || changes_names(op));
	at->first = feed->held.at[id].next;
	at->is_busy = true;
	feed->busy_count++;
	feed->held.at[id].next = feed->free_held;
	feed->free_held = id;
	feed->held_count--;
}

/* ---- reading ahead ---- */

/* A calendar's time stamps count from when the first op begins. */
static void time_from_begin(struct feed *feed, struct op *op)
{
	bool is_before = op->kind == OP_EXISTS || op->kind == OP_EXISTS_SPARSE;

	if (!feed->has_begun) {
		feed->has_begun = !is_before;
		feed->begin_ns = op->time_ns > CALENDAR_NS_MIN ? op->time_ns : 0;
	}
	op->time_ns = op->time_ns < feed->begin_ns ? 0 : op->time_ns - feed->begin_ns;
}

/* The next op of the trace; NULL: there is none. */
static const struct op *peek(struct feed *feed)
{
	if (feed->batch_next == feed->batch_count && !feed->is_at_end) {
		feed->batch_next = feed->batch_count = 0;
		if (!op_source_next(feed->source, feed->batch, READ_BATCH, &feed->batch_count,
				    &feed->failure))
			feed->is_failed = true;
		feed->is_at_end = feed->batch_count == 0;
		for (size_t i = 0; i < feed->batch_count; i++)
			time_from_begin(feed, &feed->batch[i]);
	}
	return feed->batch_next < feed->batch_count ? &feed->batch[feed->batch_next] : NULL;
}

/* As if the trace ended here, with an error. */
static void pause_refused(struct feed *feed, const struct op *op, uint64_t pause_ns)
{
	static const char message[] = "nothing happens for %llu days before: with a device at most "
				      "30 are simulated; are the time stamps in nanoseconds?";
	unsigned long long days = pause_ns / DAY_NS;

	if (op->line)
		error_at(&feed->failure, feed->source->name, op->line, 0, message, days);
	else
		error_input(&feed->failure, message, days);
	feed->is_failed = feed->is_at_end = true;
	feed->batch_next = feed->batch_count;
}

/* Hold what may begin by `now_ns`; the time of the first op that is later, if it could begin then. */
static uint64_t read_ahead(struct feed *feed, uint64_t now_ns)
{
	const struct op *op;

	while (!feed->is_blocked && feed->held_count < HELD_MAX && (op = peek(feed)) != NULL) {
		bool is_mark = op->kind == OP_MARK;

		if ((is_mark && feed->busy_count + feed->held_count > 0) ||
		    (changes_names(op) && feed->held_count > 0))
			return UINT64_MAX;
		if (op->time_ns > now_ns + PAUSE_NS_MAX) {
			pause_refused(feed, op, op->time_ns - now_ns);
			break;
		}
		if (op->time_ns > now_ns)
			return op->time_ns;
		hold(feed, op);
		feed->batch_next++;
		feed->is_blocked = is_mark || changes_names(op);
	}
	return UINT64_MAX;
}

static bool trace_next(struct feed *feed, uint64_t now_ns, struct op *op, uint32_t *thread,
		       bool *got, uint64_t *next_ns, struct error *error)
{
	*got = false;
	*next_ns = UINT64_MAX;
	if (feed->ready.count == 0)
		*next_ns = read_ahead(feed, now_ns);
	if (feed->ready.count > 0) {
		begin(feed, ready_take(feed), op, thread);
		*got = true;
		*next_ns = now_ns;
	} else if (feed->is_failed && feed->busy_count + feed->held_count == 0) {
		*error = feed->failure;
		return false;
	}
	return true;
}

bool feed_next(struct feed *feed, uint64_t now_ns, struct op *op, uint32_t *thread, bool *got,
	       uint64_t *next_ns, struct error *error)
{
	size_t count = 0;

	if (!feed->source->interface->next_due)
		return trace_next(feed, now_ns, op, thread, got, next_ns, error);
	if (!feed->source->interface->next_due(feed->source, now_ns, op, &count, next_ns, error))
		return false;
	*got = count > 0;
	*thread = op->thread;
	return true;
}

void feed_completed(struct feed *feed, const struct op *op, uint32_t thread, uint64_t done_ns)
{
	if (feed->source->interface->next_due) {
		feed->source->interface->completed(feed->source, op, done_ns);
		return;
	}
	feed->lanes.at[thread].is_busy = false;
	feed->busy_count--;
	if (feed->lanes.at[thread].first != NONE)
		ready_add(feed, thread);
}
