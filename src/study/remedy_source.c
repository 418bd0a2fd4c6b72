#include "study/remedy_source.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/path.h"
#include "study/page_map.h"

enum { NO_TARGET = 0, BATCH = 256, EDITS_MAX = 2 };

#define SIZE_UNKNOWN UINT64_MAX

/* What is known of a path. */
struct path_state {
	bool is_known;
	uint64_t size_bytes; /* SIZE_UNKNOWN: nobody has said */
	uint64_t read_end, write_end;
	bool is_rewritten;   /* from its start, while it had a size */
	uint64_t rewrite_of; /* that size */
	void *edit_states[EDITS_MAX];
};

/* What a thread is still to do in place of its op. */
struct thread_state {
	struct op original;
	ARRAY(struct op) left;
	size_t next;
	bool is_busy;
};

struct remedy_source {
	struct op_source base;
	struct op_source *inner;
	struct remedy_source_options options;
	struct stream_map *classes;
	struct page_map target_of; /* (stream + 1, class): target */
	ARRAY(struct path_state) paths;
	struct arena arena;
	/* What changes ops, one after the other: what the first makes of an op the second gets. */
	const struct remedy_try *edits[EDITS_MAX];
	size_t edit_count;
	void *edit_states[EDITS_MAX];
	struct remedy_edit edit;
	ARRAY(struct op) between;

	/* a trace: what a batch has become */
	struct op batch[BATCH];
	size_t batch_count, batch_next;
	size_t out_next;

	/* a closed loop */
	ARRAY(struct thread_state) threads;
	ARRAY(struct op) ready; /* due now: the next ops of threads whose last one is done */
	size_t ready_next;
	uint64_t op_count;
};

/* ---- targets ---- */

static const char *given_name(const struct remedy_source *source, uint32_t stream)
{
	char *const *names = source->options.streams ? stream_map_names(source->options.streams)
						     : source->inner->stream_names;
	uint32_t count = source->options.streams ? stream_map_count(source->options.streams)
						 : source->inner->stream_count;

	return names && stream < count && names[stream] ? names[stream] : "(none)";
}

static uint32_t target_named(struct remedy_targets *targets, const char *stream, const char *class)
{
	char name[2 * 256];

	for (uint32_t i = 1; i < targets->count; i++)
		if (strcmp(targets->streams[i], stream) == 0 &&
		    strcmp(targets->classes[i], class) == 0)
			return i;
	if (targets->count == 0)
		targets->count = 1;
	if (targets->is_frozen || targets->count > REMEDY_TARGETS_MAX)
		return REMEDY_TARGETS_MAX + 1;
	snprintf(name, sizeof(name), "%.250s/%.250s", stream, class);
	targets->streams[targets->count] = arena_text(&targets->arena, stream, strlen(stream));
	targets->classes[targets->count] = arena_text(&targets->arena, class, strlen(class));
	targets->names[targets->count] = arena_text(&targets->arena, name, strlen(name));
	return targets->count++;
}

static bool is_only_one(const struct remedy_targets *targets, uint32_t of, bool by_class)
{
	const char *const *all = by_class ? targets->classes : targets->streams;

	for (uint32_t i = 1; i < targets->count; i++)
		if (i != of && strcmp(all[i], all[of]) == 0)
			return false;
	return true;
}

void remedy_targets_freeze(struct remedy_targets *targets)
{
	targets->is_frozen = true;
	for (uint32_t i = 1; i < targets->count; i++) {
		const char *shortest = is_only_one(targets, i, false)  ? targets->streams[i]
				       : is_only_one(targets, i, true) ? targets->classes[i]
								       : targets->names[i];

		targets->names[i] = arena_text(&targets->arena, shortest, strlen(shortest));
	}
}

void remedy_targets_deinit(struct remedy_targets *targets)
{
	arena_deinit(&targets->arena);
}

static uint32_t target_of(struct remedy_source *source, const struct op *op)
{
	uint32_t given = op->stream, class = 0, target;
	const char *class_name = "";

	if (!given && source->options.streams)
		given = stream_map_get(source->options.streams, source->inner->paths, op);
	if (source->options.splits_classes && !op_kind_is_of_no_file(op->kind))
		class = stream_map_get(source->classes, source->inner->paths, op);
	if (!given && !class)
		return NO_TARGET;
	target = page_map_get(&source->target_of, given + 1, class);
	if (target)
		return target;
	if (class)
		class_name = stream_map_names(source->classes)[class];
	target = target_named(source->options.targets, given_name(source, given), class_name);
	page_map_set(&source->target_of, given + 1, class, target);
	if (source->base.stream_count <= target)
		source->base.stream_count = target + 1;
	return target;
}

/* ---- what is known of files ---- */

static struct path_state *path_state(struct remedy_source *source, uint32_t path)
{
	struct path_state *state;

	while (source->paths.count <= path)
		*array_push(&source->paths) = (struct path_state){0};
	state = &source->paths.at[path];
	if (!state->is_known)
		*state = (struct path_state){.is_known = true, .size_bytes = SIZE_UNKNOWN};
	return state;
}

static void path_grow(struct path_state *state, uint64_t end)
{
	if (state->size_bytes == SIZE_UNKNOWN || end > state->size_bytes)
		state->size_bytes = end;
}

/* How the op changes what is known. */
static void path_follow(struct remedy_source *source, const struct op *op)
{
	struct path_state *state = path_state(source, op->path), moved;

	switch ((enum op_kind)op->kind) {
	case OP_EXISTS:
	case OP_EXISTS_SPARSE:
	case OP_TRUNCATE:
		state->size_bytes = op->bytes;
		break;
	case OP_CREATE:
		if (state->size_bytes == SIZE_UNKNOWN)
			state->size_bytes = 0;
		break;
	case OP_WRITE:
	case OP_WRITE_DIRECT:
	case OP_WRITE_DONTCACHE:
	case OP_FALLOCATE:
		path_grow(state, op->offset + op->bytes);
		state->write_end = op->offset + op->bytes;
		break;
	case OP_READ:
	case OP_READ_DIRECT:
	case OP_READ_DONTCACHE:
	case OP_MMAP_READ:
	case OP_MMAP_WRITE:
		state->read_end = op->offset + op->bytes;
		break;
	case OP_UNLINK:
		*state = (struct path_state){.is_known = true};
		break;
	case OP_RENAME:
		moved = *state;
		*path_state(source, op->path_to) = moved;
		source->paths.at[op->path] = (struct path_state){.is_known = true};
		break;
	default:
		break;
	}
}

/* ---- what targets do: of the first run ---- */

static void count_write(struct remedy_target *target, struct path_state *path, const struct op *op)
{
	uint64_t end = op->offset + op->bytes, size = path->size_bytes;

	target->writes++;
	target->write_bytes += op->bytes;
	target->following_writes += op->offset == 0 || op->offset == path->write_end;
	target->odd_writes += (op->offset | op->bytes) % 512 != 0;
	if (size == SIZE_UNKNOWN)
		size = 0;
	target->partial_writes +=
		(op->offset % PAGE_BYTES && op->offset < size) || (end % PAGE_BYTES && end < size);
	if (op->offset == 0 && size > 0 && size >= PAGE_BYTES) {
		target->rewrites_begun++;
		path->is_rewritten = true;
		path->rewrite_of = size;
	} else if (path->is_rewritten && op->offset != path->write_end) {
		path->is_rewritten = false;
	}
	if (path->is_rewritten && end >= path->rewrite_of) {
		target->rewrites_finished++;
		path->is_rewritten = false;
	}
}

static void count_op(struct remedy_source *source, struct remedy_facts *facts, uint32_t number,
		     const struct op *op)
{
	struct remedy_target *target = &facts->targets[number - 1];
	struct path_state *path = path_state(source, op->path);

	if (op_kind_is_read(op->kind)) {
		target->reads++;
		target->read_bytes += op->bytes;
		target->following_reads += op->offset == 0 || op->offset == path->read_end;
		target->onward_reads += op->offset != 0 && op->offset == path->read_end;
		target->rewritten_reads += path->is_rewritten;
		facts->asked_bytes += op->bytes;
	} else if (op_kind_is_write(op->kind)) {
		count_write(target, path, op);
	} else if (op_kind_is_mapped(op->kind)) {
		target->mapped_reads += op->kind == OP_MMAP_READ;
		target->mapped_writes += op->kind == OP_MMAP_WRITE;
		target->mapped_bytes += op->bytes;
		target->onward_reads += op->offset != 0 && op->offset == path->read_end;
		facts->asked_bytes += op->bytes;
	}
	target->syncs += op->kind == OP_FSYNC || op->kind == OP_FDATASYNC;
	target->stats += op->kind == OP_STAT;
	target->creates += op->kind == OP_CREATE;
	target->dontneeds += op->kind == OP_FADVISE_DONTNEED;
	target->randoms += op->kind == OP_FADVISE_RANDOM || op->kind == OP_MADVISE_RANDOM;
	target->willneeds += op->kind == OP_FADVISE_WILLNEED;
	target->past_cache += op->kind == OP_READ_DIRECT || op->kind == OP_WRITE_DIRECT ||
			      op->kind == OP_READ_DONTCACHE || op->kind == OP_WRITE_DONTCACHE;
}

/* ---- edits ---- */

static bool is_target(const struct remedy_try *attempt, uint32_t target)
{
	return target != NO_TARGET && attempt->targets >> (target - 1) & 1;
}

/* Whoever is split off: of two remedies one may do so. */
static const struct remedy_try *splits(const struct remedy_try *attempt)
{
	const struct remedy_try *second = attempt->second;

	return second && second->split_bytes ? second : attempt;
}

/* Does this side of a split carry the op out? Names and what is there before are both sides'. */
static bool is_of_side(const struct remedy_source *source, const struct op *op, uint32_t target)
{
	const struct remedy_source_options *options = &source->options;

	/* What is pinned is the others', as model_options.pinned_bytes is. */
	if (op->kind == OP_PIN)
		return options->side <= 0;
	if (!options->side || op->kind == OP_EXISTS || op->kind == OP_EXISTS_SPARSE ||
	    op->kind == OP_MKDIR || op->kind == OP_MARK || op_kind_is_of_no_file(op->kind))
		return true;
	return is_target(splits(options->attempt), target) == (options->side > 0);
}

static void edit_one(struct remedy_source *source, size_t index, const struct op *op,
		     struct path_state *path, uint32_t target)
{
	const struct remedy_try *attempt = source->edits[index];
	const struct remedy *remedy = attempt->remedy;
	struct remedy_edit *edit = &source->edit;

	if (path && remedy->path_bytes && !path->edit_states[index])
		path->edit_states[index] = arena_alloc(&source->arena, remedy->path_bytes);
	edit->attempt = attempt;
	edit->is_target = path && is_target(attempt, target);
	edit->size_bytes = path ? path->size_bytes : SIZE_UNKNOWN;
	edit->path = path ? path->edit_states[index] : NULL;
	remedy->edit(edit, source->edit_states[index], op);
}

/* `path` NULL: an op of no file. */
static void edit_all(struct remedy_source *source, const struct op *op, struct path_state *path,
		     uint32_t target)
{
	struct remedy_edit *edit = &source->edit;

	remedy_keep(edit, op);
	for (size_t i = 0; i < source->edit_count; i++) {
		source->between.count = 0;
		for (size_t k = 0; k < edit->out.count; k++)
			*array_push(&source->between) = edit->out.at[k];
		edit->out.count = 0;
		for (size_t k = 0; k < source->between.count; k++)
			edit_one(source, i, &source->between.at[k], path, target);
	}
}

/* What takes the op's place, in edit.out. */
static void edit_op(struct remedy_source *source, const struct op *given, bool is_setup)
{
	struct remedy_edit *edit = &source->edit;
	struct op op = *given;
	uint32_t target = op.kind == OP_MARK ? NO_TARGET : target_of(source, &op);

	edit->out.count = 0;
	if (op.kind != OP_EXISTS && op.kind != OP_EXISTS_SPARSE)
		source->op_count++;
	/* A mark with a stream is the end of a pass of a job, and is kept by stream. */
	op.stream = op.kind == OP_MARK ? op.stream != 0 : (uint16_t)target;
	if (!is_of_side(source, &op, target))
		return;
	if (op_kind_is_of_no_file(op.kind) || op.kind == OP_MARK) {
		if (source->options.facts && !is_setup)
			source->options.facts->drop_caches += op.kind == OP_DROP_CACHES;
		if (is_setup)
			remedy_keep(edit, &op);
		else
			edit_all(source, &op, NULL, target);
		return;
	}
	if (source->options.facts && target != NO_TARGET && !is_setup)
		count_op(source, source->options.facts, target, &op);
	if (is_setup)
		remedy_keep(edit, &op);
	else
		edit_all(source, &op, path_state(source, op.path), target);
	path_follow(source, &op);
}

/* ---- the source ---- */

static bool trace_next(struct remedy_source *source, struct op *ops, size_t count, size_t *got,
		       struct error *error)
{
	struct remedy_edit *edit = &source->edit;

	while (*got < count) {
		if (source->out_next < edit->out.count) {
			ops[(*got)++] = edit->out.at[source->out_next++];
			continue;
		}
		if (source->batch_next == source->batch_count) {
			/* What there is goes first: a wrong row comes after it. */
			if (*got > 0)
				return true;
			source->batch_next = source->batch_count = 0;
			if (!op_source_next(source->inner, source->batch, BATCH,
					    &source->batch_count, error))
				return false;
			if (source->batch_count == 0)
				return true;
		}
		source->out_next = 0;
		edit_op(source, &source->batch[source->batch_next++], false);
	}
	return true;
}

static struct thread_state *thread_state(struct remedy_source *source, uint32_t thread)
{
	while (source->threads.count <= thread)
		*array_push(&source->threads) = (struct thread_state){0};
	return &source->threads.at[thread];
}

/* One op of the source within: the first of what stands for it. False: nothing does, and it is done. */
static bool begin(struct remedy_source *source, const struct op *given, struct op *op)
{
	struct thread_state *thread = thread_state(source, given->thread);
	struct remedy_edit *edit = &source->edit;

	edit_op(source, given, given->thread == 0);
	thread->original = *given;
	thread->left.count = thread->next = 0;
	for (size_t i = 0; i < edit->out.count; i++)
		*array_push(&thread->left) = edit->out.at[i];
	if (edit->out.count == 0) {
		source->inner->interface->completed(source->inner, given, given->time_ns + 1);
		return false;
	}
	thread->is_busy = true;
	*op = thread->left.at[thread->next++];
	return true;
}

static bool ready_take(struct remedy_source *source, struct op *op)
{
	if (source->ready_next == source->ready.count) {
		source->ready_next = source->ready.count = 0;
		return false;
	}
	*op = source->ready.at[source->ready_next++];
	return true;
}

static bool source_next(struct op_source *base, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	struct remedy_source *source = (struct remedy_source *)base;
	struct op given;
	size_t inner_got;

	*got = 0;
	source->inner->foresight = base->foresight;
	if (!source->inner->interface->completed) {
		bool done = trace_next(source, ops, count, got, error);

		base->thread_count = source->inner->thread_count;
		return done;
	}
	if (ready_take(source, &ops[0])) {
		*got = 1;
		return true;
	}
	do {
		if (!op_source_next(source->inner, &given, 1, &inner_got, error))
			return false;
		if (inner_got == 0)
			return true;
	} while (!begin(source, &given, &ops[0]));
	*got = 1;
	return true;
}

static bool source_next_due(struct op_source *base, uint64_t now_ns, struct op *op, size_t *got,
			    uint64_t *next_ns, struct error *error)
{
	struct remedy_source *source = (struct remedy_source *)base;
	struct op given;
	size_t inner_got;

	*got = 0;
	source->inner->foresight = base->foresight;
	if (ready_take(source, op)) {
		op->time_ns = now_ns;
		*got = 1;
		*next_ns = now_ns;
		return true;
	}
	do {
		if (!source->inner->interface->next_due(source->inner, now_ns, &given, &inner_got,
							next_ns, error))
			return false;
		if (inner_got == 0)
			return true;
	} while (!begin(source, &given, op));
	*got = 1;
	return true;
}

static void source_completed(struct op_source *base, const struct op *op, uint64_t done_ns)
{
	struct remedy_source *source = (struct remedy_source *)base;
	struct thread_state *thread = thread_state(source, op->thread);

	if (thread->next < thread->left.count) {
		struct op *next = array_push(&source->ready);

		*next = thread->left.at[thread->next++];
		next->time_ns = done_ns;
		return;
	}
	thread->is_busy = false;
	source->inner->interface->completed(source->inner, &thread->original, done_ns);
}

static uint64_t source_work(const struct op_source *base)
{
	const struct remedy_source *source = (const struct remedy_source *)base;

	return source->inner->interface->work(source->inner);
}

static void source_report(struct op_source *base, const struct op_source_reporter *reporter)
{
	struct remedy_source *source = (struct remedy_source *)base;

	source->inner->interface->report(source->inner, reporter);
}

static void source_progress(const struct op_source *base, uint64_t *done, uint64_t *total)
{
	const struct remedy_source *source = (const struct remedy_source *)base;

	source->inner->interface->progress(source->inner, done, total);
}

static void source_destroy(struct op_source *base)
{
	struct remedy_source *source = (struct remedy_source *)base;

	for (size_t i = 0; i < source->edit_count; i++) {
		if (source->edits[i]->remedy->end)
			source->edits[i]->remedy->end(source->edit_states[i]);
		memory_free(source->edit_states[i]);
	}
	array_deinit(&source->between);
	for (size_t i = 0; i < source->threads.count; i++)
		array_deinit(&source->threads.at[i].left);
	array_deinit(&source->threads);
	array_deinit(&source->ready);
	array_deinit(&source->edit.out);
	array_deinit(&source->paths);
	arena_deinit(&source->arena);
	page_map_deinit(&source->target_of);
	stream_map_destroy(source->classes);
	memory_free((void *)source->base.interface);
	memory_free(source);
}

struct op_source *remedy_source_create(struct op_source *inner,
				       const struct remedy_source_options *options)
{
	struct remedy_source *source = memory_alloc(1, sizeof(*source));
	struct op_source_interface *interface = memory_alloc(1, sizeof(*interface));
	const struct op_source_interface *within = inner->interface;

	*interface = (struct op_source_interface){
		.next = source_next,
		.completed = within->completed ? source_completed : NULL,
		.next_due = within->next_due ? source_next_due : NULL,
		.work = within->work ? source_work : NULL,
		.report = within->report ? source_report : NULL,
		.progress = within->progress ? source_progress : NULL,
		.destroy = source_destroy,
	};
	source->base = *inner;
	source->base.interface = interface;
	if (!options->targets->is_frozen)
		options->targets->names[REMEDY_TARGETS_MAX + 1] = (char *)"other";
	source->base.stream_names = options->targets->names;
	source->base.stream_count = options->targets->count > 1 ? options->targets->count : 1;
	source->inner = inner;
	source->options = *options;
	source->classes = stream_map_create(STREAM_BY_CLASS);
	for (const struct remedy_try *attempt = options->attempt; attempt;
	     attempt = attempt->second) {
		if (!attempt->remedy || !attempt->remedy->edit)
			continue;
		assert(source->edit_count < EDITS_MAX);
		if (attempt->remedy->state_bytes)
			source->edit_states[source->edit_count] =
				memory_alloc(1, attempt->remedy->state_bytes);
		source->edits[source->edit_count++] = attempt;
	}
	return &source->base;
}

uint64_t remedy_source_ops(const struct op_source *source)
{
	return ((const struct remedy_source *)source)->op_count;
}
