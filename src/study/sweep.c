#include "study/sweep.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"
#include "study/ranks.h"

enum {
	ACCEPT_MS = 100,
	WAIT_MS = 100,
	/* For ranks that have not come yet when all is done: they are to hear of it. */
	LATE_MS = 10 * 1000,
	PEER_STACK_BYTES = 256 * 1024,
};

/* What is left to do, and who does it. */
struct queue {
	const struct sweep *sweep;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	size_t *back; /* cells that came back, the last first */
	size_t back_count;
	size_t next; /* of those that nobody has had yet */
	size_t under_way;
	bool is_stopped; /* nothing more is to be done, nor kept */
};

static bool is_interrupted(const struct sweep *sweep)
{
	return sweep->interrupted && *sweep->interrupted;
}

static bool is_left(const struct sweep *sweep, size_t cell)
{
	return !sweep->done[cell] && (!sweep->wanted || sweep->wanted[cell]);
}

static void queue_init(struct queue *queue, const struct sweep *sweep)
{
	*queue = (struct queue){.sweep = sweep,
				.mutex = PTHREAD_MUTEX_INITIALIZER,
				.changed = PTHREAD_COND_INITIALIZER,
				.back = memory_alloc(sweep->count + 1, sizeof(*queue->back))};
}

static void queue_deinit(struct queue *queue)
{
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->mutex);
	memory_free(queue->back);
}

/* The mutex is held. */
static bool queue_pop(struct queue *queue, size_t *cell)
{
	if (queue->back_count > 0) {
		*cell = queue->back[--queue->back_count];
		return true;
	}
	while (queue->next < queue->sweep->count && !is_left(queue->sweep, queue->next))
		queue->next++;
	*cell = queue->next;
	queue->next += queue->next < queue->sweep->count;
	return *cell < queue->sweep->count;
}

/* A signal only sets a flag: so look now and then. */
static void queue_wait(struct queue *queue)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_MS * (long)NS_PER_MS;
	if (until.tv_nsec >= (long)NS_PER_SECOND) {
		until.tv_nsec -= (long)NS_PER_SECOND;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&queue->changed, &queue->mutex, &until);
}

/* The next cell. Waits while somebody may yet fail at the last ones. False: there is nothing left. */
static bool queue_take(struct queue *queue, size_t *cell)
{
	bool took = false;

	pthread_mutex_lock(&queue->mutex);
	while (!is_interrupted(queue->sweep) && !queue->is_stopped) {
		took = queue_pop(queue, cell);
		if (took || queue->under_way == 0)
			break;
		queue_wait(queue);
	}
	queue->under_way += took;
	pthread_mutex_unlock(&queue->mutex);
	return took;
}

static void queue_put(struct queue *queue, size_t cell, const char *outcome, unsigned int rank)
{
	pthread_mutex_lock(&queue->mutex);
	if (queue->is_stopped) {
		/* It does not matter any more. */
	} else if (outcome) {
		queue->sweep->finished(queue->sweep->context, cell, outcome, rank);
	} else {
		queue->back[queue->back_count++] = cell;
		if (rank > 0 && !is_interrupted(queue->sweep))
			queue->sweep->lost(queue->sweep->context, cell, rank);
	}
	queue->under_way--;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->mutex);
}

/* ---- threads of this process ---- */

struct worker {
	struct queue *queue;
	size_t index;
	pthread_t thread;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	const struct sweep *sweep = worker->queue->sweep;
	size_t cell;

	while (queue_take(worker->queue, &cell)) {
		char *outcome = sweep->run(sweep->context, cell, worker->index);

		queue_put(worker->queue, cell, outcome, 0);
		free(outcome);
		if (!outcome)
			break; /* interrupted */
	}
	return NULL;
}

/* ---- threads that stand for another rank's ---- */

struct delegate {
	struct delegate *next;
	struct queue *queue;
	struct rank_peer peer;
	pthread_t thread;
};

static void *delegate_work(void *argument)
{
	struct delegate *delegate = argument;
	const struct sweep *sweep = delegate->queue->sweep;
	size_t cell;

	while (queue_take(delegate->queue, &cell)) {
		char *outcome = NULL;
		bool done = rank_peer_run(&delegate->peer, cell, &outcome, sweep->interrupted);

		queue_put(delegate->queue, cell, done ? outcome : NULL, delegate->peer.rank);
		free(outcome);
		if (!done)
			break;
	}
	rank_peer_dismiss(&delegate->peer);
	return NULL;
}

struct host {
	struct queue *queue;
	struct delegate *delegates;
	pthread_mutex_t mutex;
	bool is_over; /* nothing is left to do */
	pthread_t thread;
};

static bool host_is_over(struct host *host)
{
	bool over;

	pthread_mutex_lock(&host->mutex);
	over = host->is_over;
	pthread_mutex_unlock(&host->mutex);
	return over;
}

static void delegate_start(struct host *host, const struct rank_peer *peer)
{
	struct delegate *delegate = memory_alloc(1, sizeof(*delegate));
	pthread_attr_t attributes;

	delegate->queue = host->queue;
	delegate->peer = *peer;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PEER_STACK_BYTES);
	if (pthread_create(&delegate->thread, &attributes, delegate_work, delegate) == 0) {
		delegate->next = host->delegates;
		host->delegates = delegate;
	} else {
		rank_peer_dismiss(&delegate->peer);
		memory_free(delegate);
	}
	pthread_attr_destroy(&attributes);
}

/* Let the others in, till nothing is left to do and all have heard of it. */
static void *host_work(void *argument)
{
	struct host *host = argument;
	struct ranks *ranks = host->queue->sweep->ranks;
	unsigned int strangers = 0;
	int late_ms = LATE_MS;

	while (!is_interrupted(host->queue->sweep)) {
		struct rank_peer peer;

		if (ranks_accept(ranks, &peer, ACCEPT_MS, &strangers))
			delegate_start(host, &peer);
		else if (host_is_over(host) && (ranks_seen(ranks) + 1 >= ranks_size(ranks) ||
						(late_ms -= ACCEPT_MS) <= 0))
			break;
	}
	return NULL;
}

/* ---- all of it ---- */

/* The threads of this process, this one among them; `work` ends when nothing is left. */
static void workers_run(struct queue *queue, size_t threads, void *(*function)(void *),
			struct worker *workers)
{
	size_t started = 1;

	for (size_t i = 0; i < threads; i++)
		workers[i] = (struct worker){.queue = queue, .index = i};
	while (started < threads &&
	       pthread_create(&workers[started].thread, NULL, function, &workers[started]) == 0)
		started++;
	function(&workers[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

static bool prepare(struct queue *queue, struct error *error)
{
	const struct sweep *sweep = queue->sweep;
	size_t left = 0;
	bool done;

	for (size_t i = 0; i < sweep->count; i++)
		left += is_left(sweep, i);
	if (!sweep->prepare || left == 0)
		return true;
	done = sweep->prepare(sweep->context, error);
	pthread_mutex_lock(&queue->mutex);
	queue->is_stopped = !done;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->mutex);
	return done;
}

static bool lead(const struct sweep *sweep, struct error *error)
{
	struct worker *workers = memory_alloc(sweep->threads, sizeof(*workers));
	struct queue queue;
	struct host host = {.queue = &queue, .mutex = PTHREAD_MUTEX_INITIALIZER};
	bool hosts, done;

	queue_init(&queue, sweep);
	/* The others are let in first: to prepare may take long, and they can begin. */
	hosts = sweep->ranks && pthread_create(&host.thread, NULL, host_work, &host) == 0;
	done = prepare(&queue, error);
	if (done)
		workers_run(&queue, sweep->threads, work, workers);
	if (hosts) {
		pthread_mutex_lock(&host.mutex);
		host.is_over = true;
		pthread_mutex_unlock(&host.mutex);
		pthread_join(host.thread, NULL);
	}
	while (host.delegates) {
		struct delegate *delegate = host.delegates;

		host.delegates = delegate->next;
		pthread_join(delegate->thread, NULL);
		memory_free(delegate);
	}
	pthread_mutex_destroy(&host.mutex);
	queue_deinit(&queue);
	memory_free(workers);
	return done;
}

/* ---- another rank ---- */

struct follower {
	const struct sweep *sweep;
	int fd;
	size_t index;
	bool lost;
	pthread_t thread;
};

static void *follow(void *argument)
{
	struct follower *follower = argument;
	const struct sweep *sweep = follower->sweep;
	uint64_t cell;

	while (rank_next_cell(follower->fd, &cell, &follower->lost, sweep->interrupted) &&
	       cell < sweep->count) {
		char *outcome = sweep->run(sweep->context, (size_t)cell, follower->index);
		bool sent = outcome && rank_send_outcome(follower->fd, outcome);

		follower->lost = outcome && !sent;
		free(outcome);
		if (!sent)
			break;
	}
	return NULL;
}

/* Each thread has a connection of its own; who comes when all is done gets none, and needs none. */
static bool follow_all(const struct sweep *sweep, struct error *error)
{
	struct follower *followers = memory_alloc(sweep->threads, sizeof(*followers));
	size_t count = 0, started = 1;
	struct error late;
	bool lost = false;

	for (; count < sweep->threads; count++) {
		int fd = ranks_connect(sweep->ranks, sweep->interrupted, count ? &late : error);

		if (fd < 0)
			break;
		followers[count] = (struct follower){.sweep = sweep, .fd = fd, .index = count};
	}
	while (started < count &&
	       pthread_create(&followers[started].thread, NULL, follow, &followers[started]) == 0)
		started++;
	/* Whom no thread stands behind must not be given anything to do. */
	for (size_t i = started; i < count; i++)
		close(followers[i].fd);
	if (count > 0)
		follow(&followers[0]);
	for (size_t i = 0; i < started && i < count; i++) {
		if (i > 0)
			pthread_join(followers[i].thread, NULL);
		close(followers[i].fd);
		lost |= followers[i].lost;
	}
	memory_free(followers);
	if (count > 0 && lost && !is_interrupted(sweep))
		return error_failed(error, "rank %u has lost rank 0",
				    (unsigned int)ranks_rank(sweep->ranks));
	return count > 0;
}

bool sweep_run(const struct sweep *sweep, struct error *error)
{
	assert(sweep->threads >= 1);
	if (sweep->ranks && ranks_rank(sweep->ranks) > 0)
		return follow_all(sweep, error);
	return lead(sweep, error);
}
