#include "source/setup.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/size.h"
#include "op/path.h"
#include "source/scenario.h"

#include <assert.h>
#include <string.h>

enum phase {
	PHASE_EXISTS,
	PHASE_MKDIR,
	PHASE_READ, /* single files, turn and turn about */
	PHASE_READ_CLOSE,
	PHASE_CREATE,
	PHASE_WRITE,
	PHASE_WRITE_CLOSE,
	PHASE_SETS,
	PHASE_SYNC,
	PHASE_END,
};

enum { REQUEST_BYTES = 1 << 20 };

struct setup {
	const struct scenario *scenario;
	uint32_t *file_paths;
	ARRAY(uint32_t) directories; /* to be made, parents first */
	bool is_cached, is_written;
	uint64_t now_ns;
	uint64_t ops;

	enum phase phase;
	size_t file;
	uint64_t index;  /* within a set, or the list of directories */
	uint64_t offset; /* within a file */
	uint8_t stage;   /* of a set's file: 0 create, 1 data, 2 close */
};

/* ---- paths ---- */

struct interner {
	struct setup *setup;
	struct path_table *paths;
	ARRAY(uint8_t) is_directory; /* by path id: known to be there, or in the list */
	char text[PATH_BYTES_MAX + 1];
};

static void directory_add(struct interner *interner, size_t bytes, bool is_made)
{
	uint32_t id = path_intern(interner->paths, interner->text, bytes);

	while (interner->is_directory.count <= id)
		*array_push(&interner->is_directory) = 0;
	if (interner->is_directory.at[id])
		return;
	interner->is_directory.at[id] = 1;
	if (is_made)
		*array_push(&interner->setup->directories) = id;
}

/* The directories above the path in `text`, from the top. */
static void parents_add(struct interner *interner, size_t bytes, bool is_made)
{
	for (size_t i = 1; i < bytes; i++) {
		if (interner->text[i] == '/')
			directory_add(interner, i, is_made);
	}
}

/*
 * All directories that this file, or set, is in: its first path has them all but for the set's own
 * numbered ones.
 */
static void file_directories(struct interner *interner, const struct scenario_file *file,
			     bool is_made)
{
	for (uint64_t i = 0; i < file->count; i += file->per_directory)
		parents_add(interner,
			    scenario_path(file, i, interner->text, sizeof(interner->text)),
			    is_made);
}

static bool is_to_be_made(const struct scenario_file *file)
{
	return !file->exists || file->cached == SCENARIO_CACHED_WRITTEN;
}

static bool paths_intern(struct interner *interner, const struct scenario *scenario,
			 struct error *error)
{
	struct setup *setup = interner->setup;

	for (int is_made = 0; is_made < 2; is_made++) {
		for (size_t i = 0; i < scenario->file_count; i++) {
			if (is_to_be_made(&scenario->files[i]) == is_made)
				file_directories(interner, &scenario->files[i], is_made);
		}
	}
	for (size_t i = 0; i < scenario->file_count; i++) {
		const struct scenario_file *file = &scenario->files[i];
		uint32_t next = path_count(interner->paths);

		setup->file_paths[i] = next;
		for (uint64_t k = 0; k < file->count; k++, next++) {
			size_t bytes =
				scenario_path(file, k, interner->text, sizeof(interner->text));

			if (path_intern(interner->paths, interner->text, bytes) == next)
				continue;
			return yaml_error_key(
				&scenario->yaml, file->node, error,
				"\"%.200s\" of \"%.60s\" is already another file, or a "
				"directory",
				interner->text, file->name);
		}
	}
	return true;
}

/* How many ops the files take; for the progress bar. */
static uint64_t ops_count(const struct setup *setup)
{
	uint64_t ops = setup->directories.count + 2;

	for (size_t i = 0; i < setup->scenario->file_count; i++) {
		const struct scenario_file *file = &setup->scenario->files[i];
		uint64_t each = file->exists;

		if (file->cached != SCENARIO_CACHED_NO)
			each += 1 + (file->size_bytes + REQUEST_BYTES - 1) / REQUEST_BYTES;
		if (__builtin_mul_overflow(each, file->count, &each) ||
		    __builtin_add_overflow(ops, each, &ops))
			return UINT64_MAX;
	}
	return ops;
}

struct setup *setup_create(const struct scenario *scenario, struct path_table *paths,
			   uint32_t **file_paths, struct error *error)
{
	struct setup *setup = memory_alloc(1, sizeof(*setup));
	struct interner *interner = memory_alloc(1, sizeof(*interner));
	bool ok;

	setup->scenario = scenario;
	setup->file_paths = memory_alloc(scenario->file_count + 1, sizeof(*setup->file_paths));
	interner->setup = setup;
	interner->paths = paths;
	ok = paths_intern(interner, scenario, error);
	array_deinit(&interner->is_directory);
	memory_free(interner);
	if (!ok) {
		setup_destroy(setup);
		return NULL;
	}
	for (size_t i = 0; i < scenario->file_count; i++) {
		setup->is_cached |= scenario->files[i].cached != SCENARIO_CACHED_NO;
		setup->is_written |= scenario->files[i].cached == SCENARIO_CACHED_WRITTEN;
	}
	setup->ops = ops_count(setup);
	*file_paths = setup->file_paths;
	return setup;
}

void setup_destroy(struct setup *setup)
{
	if (!setup)
		return;
	array_deinit(&setup->directories);
	memory_free(setup->file_paths);
	memory_free(setup);
}

uint64_t setup_now_ns(const struct setup *setup)
{
	return setup->now_ns;
}

uint64_t setup_ops(const struct setup *setup)
{
	return setup->ops;
}

bool setup_is_cached(const struct setup *setup)
{
	return setup->is_cached;
}

void setup_completed(struct setup *setup, const struct op *op, uint64_t ready_ns)
{
	if (op->kind != OP_EXISTS && op->kind != OP_EXISTS_SPARSE)
		setup->now_ns = ready_ns;
}

/* ---- the ops ---- */

static void phase_next(struct setup *setup)
{
	setup->phase++;
	setup->file = 0;
	setup->index = setup->offset = 0;
	setup->stage = 0;
}

static void op_on_file(const struct setup *setup, struct op *op, enum op_kind kind)
{
	op->kind = (uint8_t)kind;
	op->path = setup->file_paths[setup->file] + (uint32_t)setup->index;
	op->stream = setup->scenario->files[setup->file].stream;
}

/* The next request of the file at hand; false: it is done. */
static bool request_next(struct setup *setup, struct op *op, enum op_kind kind)
{
	uint64_t size = setup->scenario->files[setup->file].size_bytes;

	if (setup->offset >= size)
		return false;
	op_on_file(setup, op, kind);
	op->offset = setup->offset;
	op->bytes = size - setup->offset < REQUEST_BYTES ? size - setup->offset : REQUEST_BYTES;
	return true;
}

static bool exists_next(struct setup *setup, struct op *op)
{
	for (; setup->file < setup->scenario->file_count; setup->file++, setup->index = 0) {
		const struct scenario_file *file = &setup->scenario->files[setup->file];

		if (is_to_be_made(file) || setup->index == file->count)
			continue;
		op_on_file(setup, op, file->sparse ? OP_EXISTS_SPARSE : OP_EXISTS);
		op->bytes = file->size_bytes;
		setup->index++;
		return true;
	}
	return false;
}

static bool mkdir_next(struct setup *setup, struct op *op)
{
	if (setup->index == setup->directories.count)
		return false;
	op->kind = OP_MKDIR;
	op->path = setup->directories.at[setup->index++];
	op->stream = 1;
	return true;
}

/* The same op on each single file that is cached so. */
static bool singles_next(struct setup *setup, struct op *op, enum scenario_cached cached,
			 enum op_kind kind)
{
	for (; setup->file < setup->scenario->file_count; setup->file++) {
		const struct scenario_file *file = &setup->scenario->files[setup->file];

		if (file->is_set || file->cached != (uint32_t)cached)
			continue;
		if (cached == SCENARIO_CACHED_READ && file->size_bytes == 0)
			continue; /* only looked at, never open */
		op_on_file(setup, op, kind);
		setup->file++;
		return true;
	}
	return false;
}

/* One request of each single file that is cached so, and round again. */
static bool singles_data_next(struct setup *setup, struct op *op, enum scenario_cached cached,
			      enum op_kind kind)
{
	bool is_any_longer = true;

	while (is_any_longer) {
		for (; setup->file < setup->scenario->file_count; setup->file++) {
			const struct scenario_file *file = &setup->scenario->files[setup->file];

			if (file->is_set || file->cached != (uint32_t)cached)
				continue;
			if (setup->offset == 0 && file->size_bytes == 0 &&
			    cached == SCENARIO_CACHED_READ) {
				op_on_file(setup, op, OP_STAT);
				setup->file++;
				return true;
			}
			if (request_next(setup, op, kind)) {
				setup->file++;
				return true;
			}
		}
		setup->file = 0;
		setup->offset += REQUEST_BYTES;
		is_any_longer = false;
		for (size_t i = 0; i < setup->scenario->file_count; i++) {
			const struct scenario_file *file = &setup->scenario->files[i];

			if (!file->is_set && file->cached == (uint32_t)cached &&
			    file->size_bytes > setup->offset)
				is_any_longer = true;
		}
	}
	return false;
}

/* A set's file: create (or, of an empty one that is read, stat), data, close. */
static bool set_file_next(struct setup *setup, struct op *op)
{
	const struct scenario_file *file = &setup->scenario->files[setup->file];
	bool is_written = file->cached == SCENARIO_CACHED_WRITTEN;

	switch (setup->stage) {
	case 0:
		setup->stage = 1;
		setup->offset = 0;
		if (is_written || file->size_bytes == 0) {
			op_on_file(setup, op, is_written ? OP_CREATE : OP_STAT);
			return true;
		}
		__attribute__((fallthrough));
	case 1:
		if (request_next(setup, op, is_written ? OP_WRITE : OP_READ)) {
			setup->offset += op->bytes;
			return true;
		}
		setup->stage = 2;
		if (is_written || file->size_bytes) {
			op_on_file(setup, op, OP_CLOSE);
			return true;
		}
		__attribute__((fallthrough));
	default:
		return false;
	}
}

static bool sets_next(struct setup *setup, struct op *op)
{
	for (; setup->file < setup->scenario->file_count; setup->file++, setup->index = 0) {
		const struct scenario_file *file = &setup->scenario->files[setup->file];

		if (!file->is_set || file->cached == SCENARIO_CACHED_NO)
			continue;
		for (; setup->index < file->count; setup->index++, setup->stage = 0) {
			if (set_file_next(setup, op))
				return true;
		}
	}
	return false;
}

static bool once(struct setup *setup, struct op *op, bool is_wanted, enum op_kind kind)
{
	if (!is_wanted || setup->stage++ > 0)
		return false;
	op->kind = (uint8_t)kind;
	return true;
}

static bool phase_op(struct setup *setup, struct op *op)
{
	switch (setup->phase) {
	case PHASE_EXISTS:
		return exists_next(setup, op);
	case PHASE_MKDIR:
		return mkdir_next(setup, op);
	case PHASE_READ:
		return singles_data_next(setup, op, SCENARIO_CACHED_READ, OP_READ);
	case PHASE_READ_CLOSE:
		return singles_next(setup, op, SCENARIO_CACHED_READ, OP_CLOSE);
	case PHASE_CREATE:
		return singles_next(setup, op, SCENARIO_CACHED_WRITTEN, OP_CREATE);
	case PHASE_WRITE:
		return singles_data_next(setup, op, SCENARIO_CACHED_WRITTEN, OP_WRITE);
	case PHASE_WRITE_CLOSE:
		return singles_next(setup, op, SCENARIO_CACHED_WRITTEN, OP_CLOSE);
	case PHASE_SETS:
		return sets_next(setup, op);
	case PHASE_SYNC:
		if (!once(setup, op, setup->is_written && setup->scenario->sync, OP_SYNC))
			return false;
		op->stream = 1;
		return true;
	case PHASE_END:
		break;
	}
	return false;
}

bool setup_next(struct setup *setup, struct op *op)
{
	for (; setup->phase != PHASE_END; phase_next(setup)) {
		if (!phase_op(setup, op))
			continue;
		op->time_ns = setup->now_ns;
		return true;
	}
	return false;
}
