#include "source/player.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/size.h"
#include "op/path.h"
#include "source/generator.h"
#include "source/scenario.h"
#include "source/setup.h"
#include "source/workload.h"

#include <assert.h>
#include <string.h>

/* What is still to do for the item at hand, in this order. */
enum {
	TODO_FILL = 1, /* create: write the file's size */
	TODO_FSYNC = 2,
	TODO_FDATASYNC = 4,
	TODO_CLOSE = 8,
	TODO_ITEM = 16, /* its directory has been listed before it */
};

struct client_walk {
	struct walk walk;
	uint64_t item_first;     /* of this thread's part */
	uint64_t pass_items;     /* how many one execution takes */
	uint64_t items_unsynced; /* since the last fsync_every, fdatasync_every */
	uint64_t items_unsynced_data;
	uint64_t listed; /* the directory that was listed last, and 1 more; 0: none */
	bool is_prepared;
};

/* Where a client is in a group of steps. */
struct frame {
	const struct scenario_step *group;
	size_t child;
	uint64_t loops_left;
	uint64_t files_left; /* each */
	uint32_t this_index; /* each: which file of the set `this` is */
};

struct job_state;

struct client {
	uint64_t ready_ns;
	uint32_t order; /* ties go to the lower */
	uint32_t thread;
	struct job_state *job;
	struct client_walk *walks;
	uint64_t begin_ns, items_done, bytes_done; /* for rates */

	struct frame frames[SCENARIO_DEPTH_MAX + 2];
	unsigned int depth;

	/* The step whose items are being done; NULL: none. */
	const struct scenario_step *step;
	struct client_walk *walk;
	uint64_t items_left, loops_left;

	uint8_t todo;
	uint64_t held_item; /* TODO_ITEM */
	uint32_t item_path;
	uint64_t fill_bytes; /* written so far */
	bool item_is_done;   /* the op under way is the item's last */
};

struct job_state {
	const struct scenario_job *job;
	struct client *clients;
	uint64_t clients_left;
	size_t after_left, until_left;
	uint64_t passes;
	uint64_t ops_done;
	bool is_started, is_ended;

	/* A job that is a program (source/workload.h), in the clients' stead. */
	struct workload_run *run;
	uint32_t order;     /* of its first thread */
	uint32_t under_way; /* ops */
	uint64_t begin_ns;
	uint64_t next_ns; /* when to ask it; UINT64_MAX: when an op of it is done, or not at all */
	bool is_stopped;  /* it is not asked any more: what is under way ends it */
	bool has_held;
	struct op held; /* the first op of its setup that needs all files to be there */
};

/*
 * Before time counts, in this order: all files that exist must be told of before the first real
 * operation.
 */
enum setup_phase { SETUP_WORKLOAD_FILES, SETUP_FILES, SETUP_WORKLOADS, SETUP_MARK, SETUP_OVER };

struct player {
	struct op_source source;
	const struct scenario *scenario;
	uint64_t seed;
	struct arena arena;
	struct setup *setup;
	uint64_t setup_ops, setup_ops_total;
	uint64_t origin_ns; /* where the jobs' time begins */
	uint64_t last_ns;

	uint32_t *file_paths; /* per file: the id of its first path; a set's follow */
	uint32_t pass_label;
	struct job_state *jobs;
	struct client **heap; /* the one that is ready first on top */
	size_t heap_count;

	bool is_pending; /* an op is delivered and not completed */
	struct op pending;
	struct client **clients;      /* by their order; NULL: a workload's thread */
	struct job_state **programs;  /* likewise: whose that is */
	struct job_state **workloads; /* jobs that are programs */
	size_t workload_count;
	bool is_concurrent; /* next_due() is asked: clients under way are off the heap */
	bool jobs_have_begun;
	enum setup_phase setup_phase;
	size_t setup_workload;
	bool is_warmed;
	uint32_t start_label;
	uint64_t ops_total;
};

/* ---- the heap ---- */

static inline bool goes_before(const struct client *a, const struct client *b)
{
	return a->ready_ns != b->ready_ns ? a->ready_ns < b->ready_ns : a->order < b->order;
}

static void heap_sink(struct player *player, size_t at)
{
	struct client **heap = player->heap, *client = heap[at];

	for (;;) {
		size_t child = at * 2 + 1;

		if (child >= player->heap_count)
			break;
		if (child + 1 < player->heap_count && goes_before(heap[child + 1], heap[child]))
			child++;
		if (!goes_before(heap[child], client))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = client;
}

static void heap_push(struct player *player, struct client *client)
{
	size_t at = player->heap_count++;

	while (at > 0 && goes_before(client, player->heap[(at - 1) / 2])) {
		player->heap[at] = player->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	player->heap[at] = client;
}

static void heap_pop(struct player *player)
{
	player->heap[0] = player->heap[--player->heap_count];
	if (player->heap_count)
		heap_sink(player, 0);
}

/* ---- jobs begin and end ---- */

static void job_start(struct player *player, struct job_state *job, uint64_t now_ns)
{
	job->is_started = true;
	if (job->run) {
		job->begin_ns = job->next_ns = now_ns + job->job->start_ns;
		job->job->workload->start(job->run, job->begin_ns);
		return;
	}
	for (uint32_t i = 0; i < job->job->threads; i++) {
		struct client *client = &job->clients[i];

		client->ready_ns = client->begin_ns = now_ns + job->job->start_ns;
		client->frames[0] =
			(struct frame){.group = &job->job->root, .loops_left = job->job->loop};
		client->depth = 1;
		heap_push(player, client);
	}
}

static size_t times_in(const uint32_t *jobs, size_t count, size_t job)
{
	size_t times = 0;

	for (size_t i = 0; i < count; i++)
		times += jobs[i] == job;
	return times;
}

static void job_end(struct player *player, struct job_state *ended, uint64_t now_ns)
{
	size_t index = (size_t)(ended - player->jobs);

	ended->is_ended = true;
	ended->next_ns = UINT64_MAX;
	for (size_t i = 0; i < player->scenario->job_count; i++) {
		struct job_state *other = &player->jobs[i];

		other->until_left -= times_in(other->job->until, other->job->until_count, index);
		other->after_left -= times_in(other->job->after, other->job->after_count, index);
		if (!other->is_started && other->after_left == 0)
			job_start(player, other, now_ns);
		/* A workload that this ends is told so now. */
		if (other->run && other->is_started && !other->is_ended &&
		    other->job->until_count && other->until_left == 0 && other->next_ns > now_ns)
			other->next_ns = now_ns > other->begin_ns ? now_ns : other->begin_ns;
	}
}

/* The client on top is done. */
static void client_end(struct player *player)
{
	struct client *client = player->heap[0];

	heap_pop(player);
	if (--client->job->clients_left == 0)
		job_end(player, client->job, client->ready_ns);
}

/* ---- one step ---- */

static void walk_prepare(struct player *player, struct client *client,
			 const struct scenario_step *step, struct client_walk *walk)
{
	const struct scenario_file *file =
		&player->scenario->files[step->kind == STEP_GROUP ? step->each : step->set];
	uint64_t parts = step->split ? client->job->job->threads : 1;
	uint64_t first = 0, end = step->item_count;

	if (parts > 1) {
		first = (uint64_t)((unsigned __int128)end * client->thread / parts);
		end = (uint64_t)((unsigned __int128)end * (client->thread + 1) / parts);
	}
	walk->item_first = first;
	walk->pass_items =
		step->count ? step->count
		: step->generator->pass_items
			? step->generator->pass_items(step->generator_options, end - first)
			: end - first;
	walk->walk = (struct walk){
		.generator = step->generator,
		.options = step->generator_options,
		.item_count = end - first,
		.per_directory = end - first,
		.seed = player->seed,
	};
	/* A file's requests are neighbours, too. */
	if (file->is_set && step->file != STEP_FILE_THIS &&
	    file->per_directory < walk->walk.item_count / step->file_items)
		walk->walk.per_directory = file->per_directory * step->file_items;
	random_init(&walk->walk.random, player->seed,
		    (uint64_t)client->job->job->stream << 32 | (uint64_t)step->walk << 16 |
			    client->thread);
	if (step->generator->prepare)
		step->generator->prepare(&walk->walk, &player->arena);
	walk->is_prepared = true;
	if (step->generator->begin)
		step->generator->begin(&walk->walk);
}

/*
 * The walk of this step, at its beginning, or where it stopped if the step has a count. In `this`
 * file it has not been yet.
 */
static struct client_walk *walk_begin(struct player *player, struct client *client,
				      const struct scenario_step *step)
{
	struct client_walk *walk = &client->walks[step->walk];

	walk->listed = 0;
	if (!walk->is_prepared)
		walk_prepare(player, client, step, walk);
	else if ((!step->count || step->file == STEP_FILE_THIS) && step->generator->begin)
		step->generator->begin(&walk->walk);
	return walk;
}

static void step_begin(struct player *player, struct client *client,
		       const struct scenario_step *step)
{
	client->step = step;
	client->walk = walk_begin(player, client, step);
	client->items_left = client->walk->pass_items;
	client->loops_left = step->loop;
}

/* Which file of its set is `this`? */
static uint32_t this_index(const struct client *client)
{
	for (unsigned int i = client->depth; i-- > 0;) {
		if (client->frames[i].group->each != STEP_FILE_NONE)
			return client->frames[i].this_index;
	}
	assert(false && "the scenario's reader let `this` stand outside an each");
	return 0;
}

static bool sync_is_due(uint64_t *since, uint64_t every)
{
	if (every == 0 || ++*since < every)
		return false;
	*since = 0;
	return true;
}

/* Deliver the next thing to do for the item at hand; the lowest bit of `todo` says what. */
static void item_finish(struct player *player, struct client *client, struct op *op)
{
	const struct scenario_step *step = client->step;
	uint64_t size = player->scenario->files[step->set].size_bytes;

	op->path = client->item_path;
	if (client->todo & TODO_FILL) {
		op->kind = OP_WRITE;
		op->offset = client->fill_bytes;
		op->bytes = size - client->fill_bytes;
		if (op->bytes > step->request_bytes)
			op->bytes = step->request_bytes;
		client->fill_bytes += op->bytes;
		if (client->fill_bytes == size)
			client->todo &= (uint8_t)~TODO_FILL;
	} else if (client->todo & TODO_FSYNC) {
		op->kind = OP_FSYNC;
		client->todo &= (uint8_t)~TODO_FSYNC;
	} else if (client->todo & TODO_FDATASYNC) {
		op->kind = OP_FDATASYNC;
		client->todo &= (uint8_t)~TODO_FDATASYNC;
	} else {
		op->kind = OP_CLOSE;
		client->todo = 0;
	}
}

/* Request number `request` of a file's range. */
static void request_range(const struct scenario_step *step, uint64_t request, struct op *op)
{
	uint64_t at = request * step->request_bytes;

	op->offset = step->offset_bytes + at;
	op->bytes = step->range_bytes - at;
	if (op->bytes > step->request_bytes)
		op->bytes = step->request_bytes;
}

/* O_DIRECT and RWF_DONTCACHE are kinds of their own. */
static enum op_kind kind_of(const struct scenario_step *step)
{
	bool reads = step->op == OP_READ;

	if (step->direct)
		return reads ? OP_READ_DIRECT : OP_WRITE_DIRECT;
	if (step->dontcache)
		return reads ? OP_READ_DONTCACHE : OP_WRITE_DONTCACHE;
	return step->op;
}

/* Directory number `directory` of the file's, or set's. */
static uint32_t directory_path(struct player *player, const struct scenario_file *file,
			       uint64_t directory)
{
	char text[PATH_BYTES_MAX + 1];
	size_t bytes = scenario_path(file, directory * file->per_directory, text, sizeof(text));

	while (bytes > 0 && text[bytes - 1] != '/')
		bytes--;
	if (bytes <= 1)
		return path_intern(player->source.paths, ".", 1);
	return path_intern(player->source.paths, text, bytes - 1);
}

/* The op of an item, and what has to follow it. */
static void item_begin(struct player *player, struct client *client, uint64_t item, struct op *op)
{
	const struct scenario_step *step = client->step;
	const struct scenario_file *file = &player->scenario->files[step->set];
	uint64_t index = 0, request = item;
	bool is_last = true;

	if (step->file == STEP_FILE_THIS) {
		index = this_index(client);
	} else if (file->is_set) {
		index = step->file_items == 1 ? item : item / step->file_items;
		request = step->file_items == 1 ? 0 : item - index * step->file_items;
	}
	client->item_path = step->op == OP_READDIR
				    ? directory_path(player, file, item)
				    : player->file_paths[step->set] + (uint32_t)index;
	op->path = client->item_path;
	op->kind = (uint8_t)kind_of(step);
	switch (step->op) {
	case OP_READ:
	case OP_WRITE:
	case OP_MMAP_READ:
	case OP_MMAP_WRITE:
	case OP_FALLOCATE:
		request_range(step, request, op);
		client->bytes_done += op->bytes;
		is_last = request == step->file_items - 1;
		break;
	case OP_CREATE:
		if (file->size_bytes) {
			client->todo |= TODO_FILL;
			client->fill_bytes = 0;
			client->bytes_done += file->size_bytes;
		}
		break;
	case OP_TRUNCATE:
		op->bytes = step->range_bytes;
		break;
	case OP_FADVISE_DONTNEED:
	case OP_FADVISE_RANDOM:
	case OP_MADVISE_RANDOM:
	case OP_FADVISE_SEQUENTIAL:
	case OP_FADVISE_WILLNEED:
	case OP_FADVISE_NOREUSE:
		op->offset = step->offset_bytes;
		op->bytes = step->range_bytes;
		if (step->by_request)
			request_range(step, request, op);
		break;
	default:
		break;
	}
	if (sync_is_due(&client->walk->items_unsynced, step->fsync_every))
		client->todo |= TODO_FSYNC;
	if (sync_is_due(&client->walk->items_unsynced_data, step->fdatasync_every))
		client->todo |= TODO_FDATASYNC;
	if (step->close_after && is_last)
		client->todo |= TODO_CLOSE;
}

/* Is this item's directory listed first? */
static bool list_before(struct player *player, struct client *client, uint64_t item, struct op *op)
{
	const struct scenario_step *step = client->step;
	const struct scenario_file *file = &player->scenario->files[step->set];
	uint64_t directory = item / step->file_items / file->per_directory;

	if (!step->list || client->walk->listed == directory + 1)
		return false;
	client->walk->listed = directory + 1;
	client->held_item = item;
	client->todo = TODO_ITEM;
	op->kind = OP_READDIR;
	op->path = directory_path(player, file, directory);
	return true;
}

/* The next op of the step under way; false: the step is over. */
static bool step_next(struct player *player, struct client *client, struct op *op)
{
	if (client->todo & TODO_ITEM) {
		client->todo = 0;
		item_begin(player, client, client->held_item, op);
	} else if (client->todo) {
		item_finish(player, client, op);
	} else {
		struct client_walk *walk;
		uint64_t item;

		if (client->items_left == 0) {
			if (client->step->loop != 0 && --client->loops_left == 0)
				return false;
			walk_begin(player, client, client->step);
			client->items_left = client->walk->pass_items;
		}
		client->items_left--;
		client->items_done++;
		walk = client->walk;
		item = walk->item_first + walk->walk.generator->next(&walk->walk);
		if (!list_before(player, client, item, op))
			item_begin(player, client, item, op);
	}
	client->item_is_done = client->todo == 0;
	return true;
}

/* ---- one client's way through its steps ---- */

enum turn { TURN_OP, TURN_WAIT, TURN_STEP, TURN_END };

static void each_next(struct client *client, struct frame *frame)
{
	struct client_walk *walk = &client->walks[frame->group->walk];

	frame->this_index = (uint32_t)(walk->item_first + walk->walk.generator->next(&walk->walk));
}

static void each_begin(struct player *player, struct client *client, struct frame *frame)
{
	if (frame->group->each == STEP_FILE_NONE)
		return;
	walk_begin(player, client, frame->group);
	frame->files_left = client->walks[frame->group->walk].pass_items;
	each_next(client, frame);
}

/* All steps of the group on top are done: again, or out of it. */
static enum turn group_round(struct player *player, struct client *client, struct op *op)
{
	struct frame *frame = &client->frames[client->depth - 1];
	const struct scenario_step *group = frame->group;
	bool is_root = client->depth == 1;

	frame->child = 0;
	if (group->each != STEP_FILE_NONE && --frame->files_left > 0) {
		each_next(client, frame);
		return TURN_STEP;
	}
	if (group->loop == 0 || --frame->loops_left > 0)
		each_begin(player, client, frame);
	else
		client->depth--;
	if (!is_root || group->loop == 1)
		return TURN_STEP;
	client->job->passes++;
	op->kind = OP_MARK;
	op->path = player->pass_label;
	client->item_is_done = false;
	return TURN_OP;
}

static enum turn step_enter(struct player *player, struct client *client,
			    const struct scenario_step *step, struct op *op)
{
	struct frame *frame;

	client->item_is_done = false;
	switch (step->kind) {
	case STEP_ITEMS:
		step_begin(player, client, step);
		return TURN_STEP;
	case STEP_GROUP:
		frame = &client->frames[client->depth++];
		*frame = (struct frame){.group = step, .loops_left = step->loop};
		each_begin(player, client, frame);
		return TURN_STEP;
	case STEP_MARK:
		op->kind = OP_MARK;
		op->path = path_intern(player->source.paths, step->mark, strlen(step->mark));
		op->stream = STREAM_NONE; /* the scenario's own, not the job's */
		return TURN_OP;
	case STEP_SYNC:
		op->kind = OP_SYNC;
		return TURN_OP;
	case STEP_DROP:
		op->kind = OP_DROP_CACHES;
		op->bytes = step->drop_caches;
		return TURN_OP;
	case STEP_WAIT:
		break;
	}
	client->ready_ns += step->wait_ns;
	return TURN_WAIT;
}

static enum turn client_turn(struct player *player, struct client *client, struct op *op)
{
	for (;;) {
		struct frame *frame;
		enum turn turn;

		if (client->step) {
			if (step_next(player, client, op))
				return TURN_OP;
			client->step = NULL;
		}
		if (client->depth == 0)
			return TURN_END;
		frame = &client->frames[client->depth - 1];
		turn = frame->child == frame->group->step_count
			       ? group_round(player, client, op)
			       : step_enter(player, client, &frame->group->steps[frame->child++],
					    op);
		if (turn != TURN_STEP)
			return turn;
	}
}

static bool is_to_stop(const struct client *client)
{
	const struct scenario_job *job = client->job->job;

	return (job->until_count && client->job->until_left == 0) ||
	       (job->duration_ns && client->ready_ns >= client->begin_ns + job->duration_ns);
}

/* ---- jobs that are programs ---- */

/* The one to ask first; NULL: none before an op is done. */
static inline struct job_state *workload_first(const struct player *player)
{
	struct job_state *first = NULL;
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < player->workload_count; i++) {
		struct job_state *job = player->workloads[i];

		if (job->next_ns >= first_ns)
			continue;
		first = job;
		first_ns = job->next_ns;
	}
	return first;
}

/* Does it go before the client that is ready first? */
static bool workload_is_first(const struct player *player, const struct job_state *job)
{
	const struct client *client = player->heap_count ? player->heap[0] : NULL;

	if (!client || job->next_ns != client->ready_ns)
		return !client || job->next_ns < client->ready_ns;
	return job->order < client->order;
}

static void workload_stop(struct player *player, struct job_state *job, uint64_t now_ns)
{
	job->is_stopped = true;
	job->next_ns = UINT64_MAX;
	if (job->under_way == 0)
		job_end(player, job, now_ns);
}

/* Its op that is due; false: it has none now. */
static bool workload_turn(struct player *player, struct job_state *job, struct op *op)
{
	uint64_t now_ns = job->next_ns, duration_ns = job->job->duration_ns, next_ns = now_ns;
	bool has_op;

	if ((job->job->until_count && job->until_left == 0) ||
	    (duration_ns && now_ns >= job->begin_ns + duration_ns)) {
		workload_stop(player, job, now_ns);
		return false;
	}
	has_op = job->job->workload->next_due(job->run, now_ns, op, &next_ns);
	if (has_op) {
		op->time_ns = now_ns;
		job->under_way++;
		job->ops_done++;
	} else if (next_ns == UINT64_MAX && job->under_way == 0) {
		workload_stop(player, job, now_ns);
		return false;
	}
	job->next_ns = next_ns;
	if (duration_ns && next_ns > job->begin_ns + duration_ns)
		job->next_ns = job->begin_ns + duration_ns;
	return has_op;
}

static void workload_completed(struct player *player, struct job_state *job, const struct op *op,
			       uint64_t done_ns)
{
	job->under_way--;
	job->job->workload->completed(job->run, op, done_ns);
	if (!job->is_stopped && done_ns < job->next_ns)
		job->next_ns = done_ns;
	if (job->is_stopped && job->under_way == 0)
		job_end(player, job, done_ns);
}

/* ---- the source ---- */

/* When may this client do its next item, by its job's rate? */
static uint64_t rate_ns(const struct client *client)
{
	const struct schema_rate *rate = &client->job->job->rate;
	uint64_t done = rate->is_bytes ? client->bytes_done : client->items_done;
	unsigned __int128 ns = (unsigned __int128)done * client->job->job->threads +
			       (rate->is_bytes ? 0 : client->thread);

	ns = ns * NS_PER_SECOND / rate->per_s;
	return ns > SCENARIO_NS_MAX ? client->begin_ns + SCENARIO_NS_MAX
				    : client->begin_ns + (uint64_t)ns;
}

static void player_completed(struct op_source *source, const struct op *op, uint64_t done_ns)
{
	struct player *player = (struct player *)source;
	struct client *client = op->thread ? player->clients[op->thread - 1] : NULL;
	uint64_t ready_ns = done_ns > op->time_ns ? done_ns : op->time_ns + 1;

	assert(player->is_concurrent || player->is_pending);
	player->is_pending = false;
	if (!op->thread) {
		setup_completed(player->setup, op, ready_ns);
		return;
	}
	if (ready_ns > player->last_ns)
		player->last_ns = ready_ns;
	if (!client) {
		workload_completed(player, player->programs[op->thread - 1], op, ready_ns);
		return;
	}
	if (client->item_is_done) {
		const struct scenario_job *job = client->job->job;

		ready_ns += job->think_ns;
		if (job->rate.per_s) {
			uint64_t allowed_ns = rate_ns(client);

			if (allowed_ns > ready_ns)
				ready_ns = allowed_ns;
		}
	}
	client->ready_ns = ready_ns;
	if (player->is_concurrent)
		heap_push(player, client);
	else
		heap_sink(player, 0);
}

static void jobs_begin(struct player *player)
{
	player->origin_ns = player->last_ns = setup_now_ns(player->setup);
	for (size_t i = 0; i < player->scenario->job_count; i++) {
		if (player->jobs[i].after_left == 0 && !player->jobs[i].is_started)
			job_start(player, &player->jobs[i], player->origin_ns);
	}
}

/* A workload's files; what comes after them waits for the others'. */
static bool workload_file(struct job_state *job, struct op *op)
{
	if (job->has_held || !job->job->workload->setup(job->run, op))
		return false;
	if (op->kind == OP_EXISTS || op->kind == OP_EXISTS_SPARSE)
		return true;
	job->held = *op;
	job->has_held = true;
	return false;
}

static bool workload_warm(struct player *player, struct job_state *job, struct op *op)
{
	if (!job->has_held)
		return false;
	*op = job->held;
	op->time_ns = setup_now_ns(player->setup);
	player->is_warmed = true;
	job->has_held = job->job->workload->setup(job->run, &job->held);
	return true;
}

/* An op of what is before the jobs; false: their time begins. */
static bool setup_op(struct player *player, struct op *op)
{
	for (;; player->setup_phase++, player->setup_workload = 0) {
		*op = (struct op){0};
		switch (player->setup_phase) {
		case SETUP_WORKLOAD_FILES:
			for (; player->setup_workload < player->workload_count;
			     player->setup_workload++)
				if (workload_file(player->workloads[player->setup_workload], op))
					return true;
			break;
		case SETUP_FILES:
			*op = (struct op){0};
			if (setup_next(player->setup, op))
				return true;
			break;
		case SETUP_WORKLOADS:
			for (; player->setup_workload < player->workload_count;
			     player->setup_workload++)
				if (workload_warm(player, player->workloads[player->setup_workload],
						  op))
					return true;
			break;
		case SETUP_MARK:
			if (!player->is_warmed && !setup_is_cached(player->setup))
				break;
			player->setup_phase = SETUP_OVER;
			op->kind = OP_MARK;
			op->path = player->start_label;
			op->time_ns = setup_now_ns(player->setup);
			return true;
		case SETUP_OVER:
			return false;
		}
	}
}

/* An op of the client that is ready first; false: it only waits, or is done. */
static __attribute__((noinline)) bool client_op(struct player *player, struct op *op)
{
	struct client *client = player->heap[0];

	*op = (struct op){
		.time_ns = client->ready_ns,
		.thread = client->order + 1,
		.stream = client->job->job->stream,
	};
	switch (client_turn(player, client, op)) {
	case TURN_OP:
		client->job->ops_done++;
		return true;
	case TURN_WAIT:
		heap_sink(player, 0);
		return false;
	default:
		client_end(player);
		return false;
	}
}

/* An op of what is before the jobs; false: they have begun. */
static __attribute__((noinline)) bool setup_next_one(struct player *player, struct op *op)
{
	if (setup_op(player, op)) {
		player->setup_ops += player->setup_phase == SETUP_FILES;
		return true;
	}
	player->jobs_have_begun = true;
	jobs_begin(player);
	return false;
}

/*
 * Deliver one op; false: there is none left, or none before `until_ns`, and *next_ns says when.
 */
static bool player_next_one(struct player *player, struct op *op, uint64_t until_ns,
			    uint64_t *next_ns)
{
	*next_ns = UINT64_MAX;
	if (!player->jobs_have_begun && setup_next_one(player, op))
		return true;
	for (;;) {
		struct job_state *workload = workload_first(player);

		if (workload && workload_is_first(player, workload)) {
			*next_ns = workload->next_ns;
			if (*next_ns > until_ns)
				return false;
			if (workload_turn(player, workload, op))
				return true;
		} else if (player->heap_count) {
			if (is_to_stop(player->heap[0])) {
				client_end(player);
				continue;
			}
			*next_ns = player->heap[0]->ready_ns;
			if (*next_ns > until_ns)
				return false;
			if (client_op(player, op))
				return true;
		} else {
			*next_ns = UINT64_MAX;
			return false;
		}
	}
}

/* When to ask for an op again, while others are under way. */
static uint64_t ask_ns(const struct player *player)
{
	const struct job_state *workload = workload_first(player);
	const struct client *client = player->heap_count ? player->heap[0] : NULL;
	uint64_t ns = workload ? workload->next_ns : UINT64_MAX;

	if (client && is_to_stop(client))
		return 0; /* it does so before its time has come */
	return client && client->ready_ns < ns ? client->ready_ns : ns;
}

static bool player_next(struct op_source *source, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	struct player *player = (struct player *)source;
	uint64_t next_ns;

	(void)error;
	/* Whoever asks on without an answer is told what happens if nothing takes time. */
	if (player->is_pending)
		player_completed(source, &player->pending, player->pending.time_ns);
	*got = count > 0 && player_next_one(player, &ops[0], UINT64_MAX, &next_ns) ? 1 : 0;
	if (*got) {
		player->is_pending = true;
		player->pending = ops[0];
	}
	return true;
}

static bool player_next_due(struct op_source *source, uint64_t now_ns, struct op *op, size_t *got,
			    uint64_t *next_ns, struct error *error)
{
	struct player *player = (struct player *)source;

	(void)error;
	player->is_concurrent = true;
	*got = 0;
	*next_ns = UINT64_MAX;
	/* The files are made one op after the other; the jobs' time begins where theirs ends. */
	if (player->is_pending)
		return true;
	if (!player_next_one(player, op, now_ns, next_ns))
		return true;
	*got = 1;
	if (op->thread == 0) {
		player->is_pending = true;
		*next_ns = UINT64_MAX;
		return true;
	}
	op->time_ns = now_ns;
	if (player->clients[op->thread - 1])
		heap_pop(player);
	*next_ns = ask_ns(player);
	return true;
}

/* Part of a run: so much of so much. total 0: not known. */
struct part {
	uint64_t done, total;
};

static bool is_less(struct part a, struct part b)
{
	return (unsigned __int128)a.done * b.total < (unsigned __int128)b.done * a.total;
}

static struct part time_part(const struct player *player, const struct job_state *job)
{
	uint64_t begin_ns = job->run ? job->begin_ns : job->clients[0].begin_ns, done_ns = 0;

	if (job->is_started && player->last_ns > begin_ns)
		done_ns = player->last_ns - begin_ns;
	return (struct part){done_ns < job->job->duration_ns ? done_ns : job->job->duration_ns,
			     job->job->duration_ns};
}

/* A job that ends after so much work or so much time, whichever comes first. */
static struct part job_part(const struct player *player, const struct job_state *job)
{
	struct part time = time_part(player, job), work = {0};

	if (job->run)
		job->job->workload->progress(job->run, &work.done, &work.total);
	if (work.total == 0 || (time.total && is_less(work, time)))
		return time;
	return work;
}

/* A run is as far as whichever of its jobs is furthest from its end. */
static void player_progress(const struct op_source *source, uint64_t *done, uint64_t *total)
{
	const struct player *player = (const struct player *)source;
	/* The files, and jobs that know how many ops they will be, count together. */
	struct part least = {player->setup_ops, player->ops_total};
	bool has_ops = false;

	for (size_t i = 0; i < player->scenario->job_count; i++) {
		if (!player->jobs[i].job->op_count)
			continue;
		least.done += player->jobs[i].ops_done;
		has_ops = true;
	}
	if (least.done > least.total)
		least.done = least.total;
	if (!has_ops)
		least = (struct part){0};
	for (size_t i = 0; i < player->scenario->job_count; i++) {
		struct part part = job_part(player, &player->jobs[i]);

		if (player->jobs[i].is_ended || player->jobs[i].job->op_count || part.total == 0)
			continue;
		if (least.total == 0 || is_less(part, least))
			least = part;
	}
	*done = least.done;
	*total = least.total;
}

static uint64_t player_work(const struct op_source *source)
{
	const struct player *player = (const struct player *)source;
	uint64_t work = 0;

	for (size_t i = 0; i < player->workload_count; i++) {
		const struct job_state *job = player->workloads[i];

		work += job->job->workload->work(job->run);
	}
	return work;
}

static void player_report(struct op_source *source, const struct op_source_reporter *reporter)
{
	struct player *player = (struct player *)source;

	for (size_t i = 0; i < player->workload_count; i++) {
		struct job_state *job = player->workloads[i];

		job->job->workload->report(job->run, reporter);
	}
}

static void player_destroy(struct op_source *source)
{
	struct player *player = (struct player *)source;

	for (size_t i = 0; i < player->workload_count; i++)
		player->workloads[i]->job->workload->destroy(player->workloads[i]->run);
	setup_destroy(player->setup);
	path_table_destroy(player->source.paths);
	arena_deinit(&player->arena);
	memory_free(player);
}

static const struct op_source_interface player_interface = {
	.next = player_next,
	.completed = player_completed,
	.next_due = player_next_due,
	.work = player_work,
	.report = player_report,
	.progress = player_progress,
	.destroy = player_destroy,
};

/* ---- making one ---- */

static void clients_make(struct player *player, struct job_state *state, uint32_t *order)
{
	const struct scenario_job *job = state->job;

	state->clients = arena_alloc(&player->arena, job->threads * sizeof(*state->clients));
	for (uint32_t t = 0; t < job->threads; t++) {
		struct client *client = &state->clients[t];

		player->clients[*order] = client;
		client->order = (*order)++;
		client->thread = t;
		client->job = state;
		client->walks =
			arena_alloc(&player->arena, (job->walk_count + 1) * sizeof(*client->walks));
	}
}

/* False: its options do not go together. */
static bool workload_make(struct player *player, struct job_state *state, uint32_t *order,
			  struct error *error)
{
	const struct scenario_job *job = state->job;
	struct workload_place place = {
		.paths = player->source.paths,
		.foresight = &player->source.foresight,
		.first_thread = *order + 1,
		.first_stream = job->first_stream,
		.seed = player->seed,
		.job = job->name,
	};

	state->run = job->workload->create(job->workload_options, &place, error);
	if (!state->run)
		return scenario_error(player->scenario, job->node, error);
	state->order = *order;
	state->next_ns = UINT64_MAX;
	for (uint32_t t = 0; t < job->threads; t++)
		player->programs[(*order)++] = state;
	player->workloads[player->workload_count++] = state;
	return true;
}

static bool jobs_make(struct player *player, struct error *error)
{
	const struct scenario *scenario = player->scenario;
	uint64_t threads = 0;
	uint32_t order = 0;

	for (size_t i = 0; i < scenario->job_count; i++)
		threads += scenario->jobs[i].threads;
	player->jobs = arena_alloc(&player->arena, scenario->job_count * sizeof(*player->jobs));
	player->workloads =
		arena_alloc(&player->arena, scenario->job_count * sizeof(struct job_state *));
	player->heap = arena_alloc(&player->arena, threads * sizeof(*player->heap));
	player->clients = arena_alloc(&player->arena, threads * sizeof(*player->clients));
	player->programs = arena_alloc(&player->arena, threads * sizeof(struct job_state *));
	for (size_t i = 0; i < scenario->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[i];
		struct job_state *state = &player->jobs[i];

		state->job = job;
		state->clients_left = job->threads;
		state->after_left = job->after_count;
		state->until_left = job->until_count;
		if (!job->workload)
			clients_make(player, state, &order);
		else if (!workload_make(player, state, &order, error))
			return false;
		if (__builtin_add_overflow(player->ops_total, job->op_count, &player->ops_total))
			player->ops_total = UINT64_MAX;
	}
	player->source.thread_count = order;
	return true;
}

static void streams_make(struct player *player)
{
	const struct scenario *scenario = player->scenario;
	size_t count = scenario->job_count + 1;
	char **names;

	for (size_t i = 0; i < scenario->job_count; i++) {
		if (scenario->jobs[i].workload)
			count += scenario->jobs[i].stream_count;
	}
	names = arena_alloc(&player->arena, count * sizeof(*names));
	for (size_t i = 0; i < scenario->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[i];

		names[job->stream] = arena_text(&player->arena, job->name, strlen(job->name));
		for (size_t k = 0; job->workload && k < job->stream_count; k++)
			names[job->first_stream + k] = arena_text(&player->arena, job->streams[k],
								  strlen(job->streams[k]));
	}
	player->source.stream_names = names;
	player->source.stream_count = (uint32_t)count;
}

struct op_source *scenario_source_create(const struct scenario *scenario, uint64_t seed,
					 struct error *error)
{
	struct player *player = memory_alloc(1, sizeof(*player));

	player->scenario = scenario;
	player->seed = seed;
	player->source = (struct op_source){
		.interface = &player_interface,
		.paths = path_table_create(),
		.name = scenario->name,
		.format = "scenario",
	};
	player->setup = setup_create(scenario, player->source.paths, &player->file_paths, error);
	if (!player->setup) {
		path_table_destroy(player->source.paths);
		memory_free(player);
		return NULL;
	}
	player->start_label = path_intern(player->source.paths, "start", 5);
	player->pass_label = path_intern(player->source.paths, "pass", 4);
	player->ops_total = setup_ops(player->setup);
	streams_make(player);
	if (!jobs_make(player, error)) {
		player_destroy(&player->source);
		return NULL;
	}
	return &player->source;
}

uint64_t scenario_source_passes(const struct op_source *source, size_t job)
{
	const struct player *player = (const struct player *)source;

	assert(job < player->scenario->job_count);
	return player->jobs[job].passes;
}

uint64_t scenario_source_elapsed_ns(const struct op_source *source)
{
	const struct player *player = (const struct player *)source;

	return player->last_ns - player->origin_ns;
}
