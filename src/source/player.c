#include "source/player.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/size.h"
#include "op/path.h"
#include "source/generator.h"
#include "source/scenario.h"
#include "source/setup.h"

#include <assert.h>
#include <string.h>

/* What is still to do for the item at hand, in this order. */
enum {
	TODO_FILL = 1, /* create: write the file's size */
	TODO_FSYNC = 2,
	TODO_FDATASYNC = 4,
	TODO_CLOSE = 8,
};

struct client_walk {
	struct walk walk;
	uint64_t item_first;     /* of this thread's part */
	uint64_t pass_items;     /* how many one execution takes */
	uint64_t items_unsynced; /* since the last fsync_every, fdatasync_every */
	uint64_t items_unsynced_data;
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
};

struct player {
	struct op_source source;
	const struct scenario *scenario;
	uint64_t seed;
	struct arena arena;
	struct setup *setup;
	bool setup_is_over;
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
	struct client *pending_client; /* NULL: the setup's */
	struct client **clients;       /* by their order, for answers about several ops at once */
	bool is_concurrent;            /* next_due() is asked: clients under way are off the heap */
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
	for (size_t i = 0; i < player->scenario->job_count; i++) {
		struct job_state *other = &player->jobs[i];

		other->until_left -= times_in(other->job->until, other->job->until_count, index);
		other->after_left -= times_in(other->job->after, other->job->after_count, index);
		if (!other->is_started && other->after_left == 0)
			job_start(player, other, now_ns);
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
	client->item_path = player->file_paths[step->set] + (uint32_t)index;
	op->path = client->item_path;
	op->kind = (uint8_t)step->op;
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

/* The next op of the step under way; false: the step is over. */
static bool step_next(struct player *player, struct client *client, struct op *op)
{
	if (client->todo) {
		item_finish(player, client, op);
	} else {
		struct client_walk *walk;

		if (client->items_left == 0) {
			if (client->step->loop != 0 && --client->loops_left == 0)
				return false;
			walk_begin(player, client, client->step);
			client->items_left = client->walk->pass_items;
		}
		client->items_left--;
		client->items_done++;
		walk = client->walk;
		item_begin(player, client,
			   walk->item_first + walk->walk.generator->next(&walk->walk), op);
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
	struct client *client = player->pending_client;
	uint64_t ready_ns = done_ns > op->time_ns ? done_ns : op->time_ns + 1;

	if (player->is_concurrent)
		client = op->thread ? player->clients[op->thread - 1] : NULL;
	else
		assert(player->is_pending);
	player->is_pending = false;
	if (!client) {
		setup_completed(player->setup, op, ready_ns);
		return;
	}
	if (ready_ns > player->last_ns)
		player->last_ns = ready_ns;
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
	player->setup_is_over = true;
	player->origin_ns = player->last_ns = setup_now_ns(player->setup);
	for (size_t i = 0; i < player->scenario->job_count; i++) {
		if (player->jobs[i].after_left == 0)
			job_start(player, &player->jobs[i], player->origin_ns);
	}
}

/* Deliver one op; false: there is none left, or none before `until_ns`. */
static bool player_next_one(struct player *player, struct op *op, uint64_t until_ns)
{
	*op = (struct op){0};
	if (!player->setup_is_over) {
		if (setup_next(player->setup, op)) {
			player->pending_client = NULL;
			player->setup_ops++;
			return true;
		}
		jobs_begin(player);
	}
	while (player->heap_count) {
		struct client *client = player->heap[0];

		if (is_to_stop(client)) {
			client_end(player);
			continue;
		}
		if (client->ready_ns > until_ns)
			return false;
		op->time_ns = client->ready_ns;
		op->thread = client->order + 1;
		op->stream = client->job->job->stream;
		switch (client_turn(player, client, op)) {
		case TURN_OP:
			client->job->ops_done++;
			player->pending_client = client;
			return true;
		case TURN_WAIT:
			heap_sink(player, 0);
			break;
		default:
			client_end(player);
			break;
		}
	}
	return false;
}

static bool player_next(struct op_source *source, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	struct player *player = (struct player *)source;

	(void)error;
	/* Whoever asks on without an answer is told what happens if nothing takes time. */
	if (player->is_pending)
		player_completed(source, &player->pending, player->pending.time_ns);
	*got = count > 0 && player_next_one(player, &ops[0], UINT64_MAX) ? 1 : 0;
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
	if (player_next_one(player, op, now_ns)) {
		*got = 1;
		if (!player->pending_client) {
			player->is_pending = true;
			return true;
		}
		op->time_ns = now_ns;
		heap_pop(player);
	} else if (player->heap_count) {
		*next_ns = player->heap[0]->ready_ns;
	}
	return true;
}

static void player_progress(const struct op_source *source, uint64_t *done, uint64_t *total)
{
	const struct player *player = (const struct player *)source;

	*done = player->setup_ops;
	*total = player->ops_total;
	for (size_t i = 0; i < player->scenario->job_count; i++) {
		if (player->jobs[i].job->op_count)
			*done += player->jobs[i].ops_done;
	}
	if (*done > *total)
		*done = *total;
}

static void player_destroy(struct op_source *source)
{
	struct player *player = (struct player *)source;

	setup_destroy(player->setup);
	path_table_destroy(player->source.paths);
	arena_deinit(&player->arena);
	memory_free(player);
}

static const struct op_source_interface player_interface = {
	.next = player_next,
	.completed = player_completed,
	.next_due = player_next_due,
	.progress = player_progress,
	.destroy = player_destroy,
};

/* ---- making one ---- */

static void jobs_make(struct player *player)
{
	const struct scenario *scenario = player->scenario;
	uint32_t order = 0;

	player->jobs = arena_alloc(&player->arena, scenario->job_count * sizeof(*player->jobs));
	for (size_t i = 0; i < scenario->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[i];
		struct job_state *state = &player->jobs[i];

		state->job = job;
		state->clients_left = job->threads;
		state->after_left = job->after_count;
		state->until_left = job->until_count;
		state->clients =
			arena_alloc(&player->arena, job->threads * sizeof(*state->clients));
		for (uint32_t t = 0; t < job->threads; t++) {
			struct client *client = &state->clients[t];

			client->order = order++;
			client->thread = t;
			client->job = state;
			client->walks = arena_alloc(&player->arena,
						    (job->walk_count + 1) * sizeof(*client->walks));
		}
		if (__builtin_add_overflow(player->ops_total, job->op_count, &player->ops_total))
			player->ops_total = UINT64_MAX;
	}
	player->heap = arena_alloc(&player->arena, order * sizeof(*player->heap));
	player->clients = arena_alloc(&player->arena, order * sizeof(*player->clients));
	for (size_t i = 0; i < scenario->job_count; i++)
		for (uint32_t t = 0; t < scenario->jobs[i].threads; t++)
			player->clients[player->jobs[i].clients[t].order] =
				&player->jobs[i].clients[t];
	player->source.thread_count = order;
}

static void streams_make(struct player *player)
{
	const struct scenario *scenario = player->scenario;
	char **names = arena_alloc(&player->arena, (scenario->job_count + 1) * sizeof(*names));

	for (size_t i = 0; i < scenario->job_count; i++)
		names[i + 1] = arena_text(&player->arena, scenario->jobs[i].name,
					  strlen(scenario->jobs[i].name));
	player->source.stream_names = names;
	player->source.stream_count = (uint32_t)scenario->job_count + 1;
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
	player->pass_label = path_intern(player->source.paths, "pass", 4);
	player->ops_total = setup_ops(player->setup);
	streams_make(player);
	jobs_make(player);
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
