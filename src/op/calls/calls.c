#include "op/calls/calls.h"

#include <string.h>

#include "op/calls/calls_private.h"
#include "op/path.h"

/* ---- ops ---- */

static void deliver(struct calls *calls, const struct calls_when *when, struct op *op)
{
	if (when->time_ns > calls->time_ns)
		calls->time_ns = when->time_ns < OP_TIME_MAX ? when->time_ns : OP_TIME_MAX;
	op->time_ns = calls->time_ns;
	op->thread = when->tid;
	op->line = when->line;
	if (calls->options.deliver)
		calls->options.deliver(calls->options.context, op);
}

static bool is_for_directories(enum op_kind kind)
{
	return kind == OP_OPEN || kind == OP_CREATE || kind == OP_CLOSE || kind == OP_READDIR ||
	       kind == OP_FSYNC || kind == OP_FDATASYNC;
}

static bool is_delivered(const struct calls *calls, uint32_t file, enum op_kind kind)
{
	const struct file *at = &calls->files.at[file];

	/* "/" and "." are one to a machine, and nothing happens to either. */
	return !at->is_no_file && !calls->names.at[at->name].is_pseudo &&
	       at->name >= NAME_ROOT_COUNT && (!at->is_directory || is_for_directories(kind));
}

/* What needs no descriptor needs a name that is there, or somebody else's descriptor. */
void emit_reached(struct calls *calls, const struct calls_when *when, enum op_kind kind,
		  uint32_t file, uint32_t name, uint64_t offset, uint64_t bytes)
{
	if (name_is_there(calls, name) ||
	    (file_is_held(calls, file, name) && !calls->files.at[file].is_directory))
		emit_as(calls, when, kind, file, name, offset, bytes);
}

/* By this one of its names. */
void emit_as(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t file,
	     uint32_t name, uint64_t offset, uint64_t bytes)
{
	struct op op = {.kind = (uint8_t)kind, .offset = offset, .bytes = bytes};

	if (!is_delivered(calls, file, kind))
		return;
	calls->files.at[file].has_ops = true;
	op.path = name_path(calls, name);
	deliver(calls, when, &op);
}

void emit(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t file,
	  uint64_t offset, uint64_t bytes)
{
	emit_as(calls, when, kind, file, calls->files.at[file].name, offset, bytes);
}

void emit_open(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t open,
	       uint64_t offset, uint64_t bytes)
{
	uint32_t file = calls->opens.at[open].file, name = calls->opens.at[open].op_name;

	if (file == NONE || !is_delivered(calls, file, kind))
		return;
	if (!name_is_there(calls, name) && !file_is_held(calls, file, name)) {
		/* Its name went before anybody was known to have it open. */
		if (calls->files.at[file].is_directory)
			return;
		calls->counts.changes_unseen++;
		deleted_made(calls, when, file, name);
		if (kind == OP_OPEN || kind == OP_CREATE)
			return;
	}
	/* Of a directory all is metadata. */
	if (calls->files.at[file].is_directory)
		kind = kind == OP_CREATE ? OP_OPEN : kind == OP_FDATASYNC ? OP_FSYNC : kind;
	emit_as(calls, when, kind, file, name, offset, bytes);
	/* Of a file without a name a machine has the descriptors that there were; others are no more. */
	if (name_is_there(calls, name))
		open_used(calls, open, when->tid);
}

void emit_name(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t name,
	       uint64_t bytes)
{
	struct op op = {.kind = (uint8_t)kind, .bytes = bytes};

	if (calls->names.at[name].is_pseudo)
		return;
	op.path = name_path(calls, name);
	deliver(calls, when, &op);
}

void emit_two(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t from,
	      uint32_t to)
{
	struct op op = {.kind = (uint8_t)kind};

	op.path = name_path(calls, from);
	op.path_to = name_path(calls, to);
	deliver(calls, when, &op);
}

/* ---- all of it ---- */

static void begin(struct calls *calls, const struct calls_options *options)
{
	calls->options = *options;
	calls->open_free = NONE;
	calls->time_ns = calls->step = 0;
	calls->step_files = 0;
	calls->counts = (struct calls_counts){0};
	names_init(calls);
	if (calls->somewhere_text)
		calls->somewhere = name_resolve(calls, NAME_ROOT, calls->somewhere_text,
						strlen(calls->somewhere_text), false);
}

/* Nothing more is delivered. */
static void end(struct calls *calls)
{
	calls->options.deliver = NULL;
	tasks_deinit(calls);
	number_map_deinit(&calls->inodes);
	names_deinit(calls);
	array_deinit(&calls->files);
}

struct calls *calls_create(const struct calls_options *options)
{
	struct calls *calls = memory_alloc(1, sizeof(*calls));

	begin(calls, options);
	return calls;
}

void calls_destroy(struct calls *calls)
{
	if (!calls)
		return;
	end(calls);
	array_deinit(&calls->learned);
	number_map_deinit(&calls->learned_by_key);
	memory_free(calls->somewhere_text);
	memory_free(calls);
}

static bool was_there(const struct file *file)
{
	return file->existed || (file->is_assumed_new && file->initial > 0);
}

/* The path of the directory that nobody told at first is known now: names below it get theirs. */
static void somewhere_tell(struct calls *calls)
{
	uint32_t path;
	size_t bytes;

	if (calls->somewhere == NONE || calls->somewhere_text)
		return;
	path = name_first_path(calls, calls->somewhere);
	bytes = path_bytes(calls->options.paths, path) + 1;
	calls->somewhere_text = memory_alloc(bytes, 1);
	memcpy(calls->somewhere_text, path_text(calls->options.paths, path), bytes);
	calls->generation++;
}

bool calls_place_came_late(const struct calls *calls)
{
	return calls->somewhere != NONE && !calls->somewhere_text && calls->has_relative;
}

void calls_from_there(struct calls *calls)
{
	const struct calls_options options = calls->options;

	somewhere_tell(calls);
	end(calls);
	calls->learned.count = 0;
	number_map_deinit(&calls->learned_by_key);
	begin(calls, &options);
}

void calls_again(struct calls *calls, const struct calls_options *options)
{
	calls->learned.count = 0;
	number_map_deinit(&calls->learned_by_key);
	for (uint32_t i = 0; i < calls->files.count; i++) {
		const struct file *file = &calls->files.at[i];

		number_map_put(&calls->learned_by_key, file->key, i);

		*array_push(&calls->learned) = (struct learned){
			.initial = file->initial,
			.is_initial_exact = file->is_initial_exact,
			.existed = was_there(file),
			.is_directory = file->is_directory,
			.is_no_file = file->is_no_file,
			.is_linked_again = file->is_linked_again,
		};
	}
	somewhere_tell(calls);
	end(calls);
	begin(calls, options);
}

void calls_step(struct calls *calls, uint64_t step)
{
	if (step != calls->step)
		calls->step_files = 0;
	calls->step = step;
}

/* ---- what was seen ---- */

bool calls_is_drop_caches(struct calls *calls, const struct calls_when *when, int fd)
{
	static const char path[] = "/proc/sys/vm/drop_caches";
	uint32_t open = fd < 0 ? NONE : open_known(calls, when, fd), name;

	name = open == NONE ? NONE : calls->opens.at[open].name;
	return name != NONE && calls->names.at[name].is_pseudo &&
	       strcmp(path_text(calls->options.paths, name_path(calls, name)), path) == 0;
}

void calls_drop_caches(struct calls *calls, const struct calls_when *when, unsigned int what)
{
	if (what >= 1 && what <= 3)
		emit_name(calls, when, OP_DROP_CACHES, NAME_SOMEWHERE, what);
}

void calls_unseen(struct calls *calls, enum calls_unseen what, uint64_t count)
{
	calls->counts.unseen[what] += count;
}

static void sum_up(struct calls_sum *sum, const struct calls_sum *more)
{
	sum->reads += more->reads;
	sum->read_bytes += more->read_bytes;
	sum->writes += more->writes;
	sum->written_bytes += more->written_bytes;
}

void calls_counts(const struct calls *calls, struct calls_counts *counts)
{
	*counts = calls->counts;
	for (size_t i = 0; i < calls->files.count; i++) {
		const struct file *file = &calls->files.at[i];

		counts->assumed_new += file->is_assumed_new && !was_there(file);
		if (file->is_no_file) {
			sum_up(&counts->not_files, &file->sum);
			continue;
		}
		sum_up(&counts->all, &file->sum);
		if (file->sum.reads + file->sum.writes == 0)
			continue;
		counts->files++;
		counts->unnamed_files += file->is_unnamed;
		if (file->is_unknown) {
			counts->unknown_files++;
			sum_up(&counts->unknown, &file->sum);
		}
	}
}

uint32_t calls_file_count(const struct calls *calls)
{
	return (uint32_t)calls->files.count;
}

void calls_file_get(struct calls *calls, uint32_t number, struct calls_file *file)
{
	const struct file *at = &calls->files.at[number];

	*file = (struct calls_file){
		.number = number,
		.path = file_path(calls, number),
		.sum = at->sum,
		.size_bytes = at->size,
		.is_size_exact = at->is_size_exact,
		.is_unknown = at->is_unknown,
		.is_unnamed = at->is_unnamed,
		.is_deleted = at->is_deleted,
		.is_directory = at->is_directory,
		.is_no_file = at->is_no_file,
	};
}

/* ---- what there was before ---- */

struct existing {
	uint32_t *files;  /* by name: the file that it was of at first; NONE */
	bool *is_implied; /* by name: a directory above a file that is listed */
};

static void existing_prepare(struct calls *calls, struct existing *existing)
{
	size_t count = calls->names.count;

	existing->files = memory_alloc(count, sizeof(*existing->files));
	existing->is_implied = memory_alloc(count, sizeof(*existing->is_implied));
	memset(existing->files, 0xff, count * sizeof(*existing->files));
	for (uint32_t i = 0; i < calls->files.count; i++) {
		struct file *file = &calls->files.at[i];

		if (!was_there(file))
			continue;
		if (file->is_directory)
			calls->names.at[file->first_name].was_directory = true;
		else
			existing->files[file->first_name] = i;
	}
}

static void mark_above(struct calls *calls, bool *is_implied, uint32_t name)
{
	uint32_t above = calls->names.at[name].first_parent;

	for (; above != NONE; above = calls->names.at[above].first_parent) {
		if (above == NAME_SOMEWHERE && calls->somewhere != NONE)
			above = calls->somewhere;
		if (is_implied[above])
			return;
		is_implied[above] = true;
	}
}

void calls_existing(struct calls *calls,
		    void (*found)(void *context, const struct calls_existing *existing),
		    void *context)
{
	struct existing all;
	uint32_t count;

	somewhere_tell(calls);
	existing_prepare(calls, &all);
	count = (uint32_t)calls->names.count;
	for (uint32_t i = NAME_ROOT_COUNT; i < count; i++) {
		const struct file *at;

		if (all.files[i] == NONE || calls->names.at[i].is_pseudo)
			continue;
		at = &calls->files.at[all.files[i]];
		/* One that was told apart by its descriptor only, and is known better now. */
		if ((at->is_unknown || at->is_unnamed) && (at->is_no_file || !at->has_ops))
			continue;
		mark_above(calls, all.is_implied, i);
		found(context, &(struct calls_existing){.path = name_first_path(calls, i),
							.bytes = at->is_no_file ? 0 : at->initial});
	}
	for (uint32_t i = NAME_ROOT_COUNT; i < count; i++) {
		const struct name *at = &calls->names.at[i];

		if (at->existed && at->was_directory && !all.is_implied[i] && !at->is_pseudo)
			found(context, &(struct calls_existing){.path = name_first_path(calls, i),
								.is_directory = true});
	}
	for (uint32_t i = NAME_ROOT_COUNT; i < count; i++) {
		const struct name *at = &calls->names.at[i];
		uint32_t first = at->existed && at->linked_file != NONE
					 ? calls->files.at[at->linked_file].first_name
					 : NONE;

		if (first != NONE && first != i)
			found(context, &(struct calls_existing){
					       .path = name_first_path(calls, i),
					       .is_link = true,
					       .link_of = name_first_path(calls, first),
				       });
	}
	memory_free(all.files);
	memory_free(all.is_implied);
}
