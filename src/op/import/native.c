/*
 * native: our own trace files (*.rft)
 *
 * Reads a block at a time and delivers it only when all of it is right: its checksum, its bounds,
 * every op. So a file that is cut off or damaged is good up to the block before. src/op/README.md
 * has the layout.
 */
#include "op/import.h"

#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/size.h"
#include "op/carried.h"
#include "op/native.h"

struct native {
	struct op *ops; /* of the block at hand */
	size_t count, at;
	size_t ops_room; /* in ops and differs; twice as many in the columns */
	size_t text_room;
	uint64_t *numbers;   /* a column */
	uint64_t *lengths;   /* a second one */
	unsigned char *text; /* path suffixes */
	unsigned char *differs;
	struct column_reader *columns;
	struct native_predictor predictor;
	uint64_t op_count; /* of whole blocks */
	uint64_t block_count;
	uint64_t time_ns; /* of the last op of the last whole block */
	bool has_head, has_tail, ended;

	char *facts, *stream_text; /* the head's, and the tail's facts behind it; NULL: none */
	uint32_t stream_count;     /* with the unused 0; 0: ops have none */
};

/* A block's header, as found. */
struct block {
	const unsigned char *body;
	size_t body_bytes, count, new_paths, text_bytes;
	uint64_t time_ns;
};

static enum import_match native_match(const unsigned char *head, size_t bytes, bool whole)
{
	(void)whole;
	return bytes >= 4 && memcmp(head, NATIVE_MAGIC, 4) == 0 ? IMPORT_YES : IMPORT_NO;
}

static bool native_wrong(const struct import *import, const char *what, struct error *error)
{
	const struct native *native = import->state;
	char ops[2 * SIZE_TEXT_BYTES];

	return error_at(error, import->input->name, 0, 0,
			"block %" PRIu64 " is damaged: %s (%s ops in %" PRIu64
			" whole blocks before it)",
			native->block_count + 1, what, count_format(ops, native->op_count),
			native->block_count);
}

static bool native_cut_off(const struct import *import, struct error *error)
{
	const struct native *native = import->state;
	char ops[2 * SIZE_TEXT_BYTES];

	import->input->cut_off = true;
	return error_at(error, import->input->name, 0, 0,
			"cut off after %s ops (%" PRIu64 " whole block%s)",
			count_format(ops, native->op_count), native->block_count,
			native->block_count == 1 ? "" : "s");
}

/* `bytes` visible, or the error says why not. */
static bool native_need(struct import *import, size_t bytes, struct error *error)
{
	if (!input_fill(import->input, bytes, error))
		return import->input->cut_off ? native_cut_off(import, error) : false;
	return input_visible(import->input) >= bytes || native_cut_off(import, error);
}

/* Lines of "key=value". */
static bool facts_are_lines(const unsigned char *text, size_t bytes)
{
	const unsigned char *end = text + bytes;

	while (text < end) {
		const unsigned char *newline = memchr(text, '\n', (size_t)(end - text));
		const unsigned char *equals =
			newline ? memchr(text, '=', (size_t)(newline - text)) : NULL;

		if (!equals || equals == text || memchr(text, '\0', (size_t)(newline - text)))
			return false;
		text = newline + 1;
	}
	return true;
}

/* NULL: right; else what is wrong with it. */
static const char *head_take(struct import *import, const unsigned char *body, size_t body_bytes,
			     uint32_t stream_count, size_t fact_bytes)
{
	struct native *native = import->state;
	size_t at = 0, name_bytes = body_bytes - fact_bytes;

	if (!facts_are_lines(body, fact_bytes))
		return "what it tells of itself is not lines of key=value";
	native->facts = memory_alloc(fact_bytes + 1, 1);
	memcpy(native->facts, body, fact_bytes);
	import->facts = native->facts;
	native->has_head = true;
	carried_tell(import, native->facts);
	if (stream_count == 0)
		return name_bytes ? "there is more in it than its head" : NULL;
	native->stream_count = stream_count;
	if (!import->own_streams)
		return NULL;
	native->stream_text = memory_alloc(name_bytes + 1, 1);
	memcpy(native->stream_text, body + fact_bytes, name_bytes);
	import->source.stream_names =
		memory_alloc(stream_count, sizeof(*import->source.stream_names));
	import->source.stream_count = stream_count;
	for (uint32_t i = 1; i < stream_count; i++) {
		const char *end = memchr(native->stream_text + at, '\0', name_bytes - at);

		if (!end || end == native->stream_text + at)
			return "a stream has no name";
		import->source.stream_names[i] = native->stream_text + at;
		at = (size_t)(end - native->stream_text) + 1;
	}
	return at == name_bytes ? NULL : "there is more in it than its head";
}

static bool head_read(struct import *import, struct error *error)
{
	const unsigned char *header;
	size_t body_bytes, fact_bytes;
	uint32_t stream_count;
	const char *wrong;

	if (!native_need(import, NATIVE_BLOCK_HEADER_BYTES, error))
		return false;
	header = import->input->at;
	body_bytes = native_get32(header + NATIVE_AT_BODY_BYTES);
	fact_bytes = native_get32(header + NATIVE_AT_TEXT_BYTES);
	stream_count = native_get32(header + NATIVE_AT_PATHS);
	if (native_get32(header + NATIVE_AT_MARK) != NATIVE_MARK_HEAD ||
	    body_bytes > NATIVE_BODY_BYTES_MAX || fact_bytes > body_bytes ||
	    fact_bytes > NATIVE_FACTS_BYTES_MAX || stream_count > STREAM_COUNT_MAX + 1)
		return native_wrong(import, "the head before it makes no sense", error);
	if (!native_need(import, NATIVE_BLOCK_HEADER_BYTES + body_bytes, error))
		return false;
	header = import->input->at;
	if (native_get64(header + NATIVE_AT_CHECKSUM) !=
	    native_checksum(header, header + NATIVE_BLOCK_HEADER_BYTES, body_bytes))
		return native_wrong(import, "the checksum of the head before it does not match",
				    error);
	wrong = head_take(import, header + NATIVE_BLOCK_HEADER_BYTES, body_bytes, stream_count,
			  fact_bytes);
	if (wrong)
		return native_wrong(import, wrong, error);
	import->input->at = header + NATIVE_BLOCK_HEADER_BYTES + body_bytes;
	return true;
}

static bool native_begin(struct import *import, struct error *error)
{
	struct native *native = import->state;
	const unsigned char *header;
	const char *name = import->input->name;
	uint32_t version;

	if (!native_need(import, NATIVE_FILE_HEADER_BYTES, error))
		return false;
	header = import->input->at;
	if (memcmp(header, NATIVE_MAGIC, 4) != 0)
		return error_at(error, name, 0, 0,
				"is not a refault trace: it does not begin like one");
	if (memcmp(header, NATIVE_MAGIC, NATIVE_MAGIC_BYTES) != 0)
		return error_at(error, name, 0, 0,
				"is a refault trace with its line ends changed: copy it as binary");
	version = native_get32(header + 8);
	if (version != NATIVE_VERSION && version != NATIVE_VERSION_PLAIN)
		return error_at(error, name, 0, 0,
				"is in version %" PRIu32
				" of the trace format; this refault reads versions %d and %d",
				version, NATIVE_VERSION_PLAIN, NATIVE_VERSION);
	if (native_get32(header + 12) != (uint32_t)XXH64(header, 12, 0))
		return error_at(error, name, 0, 0,
				"has a damaged header: its checksum does not match");
	import->input->at += NATIVE_FILE_HEADER_BYTES;
	native->columns = column_reader_create();
	return version == NATIVE_VERSION_PLAIN || head_read(import, error);
}

static void native_end_reading(struct import *import)
{
	struct native *native = import->state;

	if (!native)
		return;
	memory_free(native->ops);
	memory_free(native->differs);
	memory_free(native->numbers);
	memory_free(native->lengths);
	memory_free(native->text);
	memory_free(native->facts);
	memory_free(native->stream_text);
	memory_free(import->source.stream_names);
	column_reader_destroy(native->columns);
	array_deinit(&native->predictor.ends);
}

/* Intern the block's new paths. NULL: right; else what is wrong. */
static const char *paths_read(struct import *import, const struct block *block,
			      struct column_cursor *cursor)
{
	struct native *native = import->state;
	struct path_table *paths = import->source.paths;
	const unsigned char *suffix = native->text;
	char path[PATH_BYTES_MAX];
	size_t path_length = 0, text_left = block->text_bytes;

	if (!column_get(native->columns, cursor, native->numbers, block->new_paths) ||
	    !column_get(native->columns, cursor, native->lengths, block->new_paths) ||
	    !column_get_bytes(native->columns, cursor, native->text, block->text_bytes))
		return "its paths cannot be unpacked";
	for (size_t i = 0; i < block->new_paths; i++) {
		uint64_t shared = native->numbers[i], more = native->lengths[i];
		uint32_t expected = path_count(paths);

		if (shared > path_length || more > text_left || shared + more > PATH_BYTES_MAX ||
		    shared + more == 0)
			return "a path has a wrong length";
		if (more)
			memcpy(path + shared, suffix, (size_t)more);
		suffix += more;
		text_left -= (size_t)more;
		path_length = (size_t)(shared + more);
		if (memchr(path, '\0', path_length))
			return "a path holds a NUL byte";
		if (path_intern(paths, path, path_length) != expected)
			return "a path is there twice";
	}
	return text_left == 0 ? NULL : "its paths are shorter than their text";
}

/* Kinds, threads, times, paths: the columns that have a number for each op. */
static const char *fields_read(struct import *import, const struct block *block,
			       struct column_cursor *cursor)
{
	struct native *native = import->state;
	struct column_reader *columns = native->columns;
	const uint64_t *numbers = native->numbers;
	struct op *ops = native->ops;
	size_t count = block->count;
	uint64_t time_ns = block->time_ns;
	uint32_t paths = path_count(import->source.paths);

	memset(ops, 0, count * sizeof(*ops));
	if (!column_get(columns, cursor, native->numbers, count))
		return "its op kinds cannot be unpacked";
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] >> NATIVE_KIND_SHIFT >= OP_KIND_COUNT)
			return "it holds an op that this refault does not know";
		ops[i].kind = (uint8_t)(numbers[i] >> NATIVE_KIND_SHIFT);
		native->differs[i] = numbers[i] & (NATIVE_BYTES_DIFFER | NATIVE_OFFSET_DIFFERS);
	}
	if (!column_get(columns, cursor, native->numbers, count))
		return "its threads cannot be unpacked";
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] > UINT32_MAX)
			return "a thread's number is too large";
		ops[i].thread = (uint32_t)numbers[i];
	}
	if (native->stream_count && !column_get(columns, cursor, native->numbers, count))
		return "its streams cannot be unpacked";
	for (size_t i = 0; i < count && native->stream_count; i++) {
		if (numbers[i] >= native->stream_count)
			return "it uses a stream that is not there";
		if (import->own_streams)
			ops[i].stream = (uint16_t)numbers[i];
	}
	if (!column_get(columns, cursor, native->numbers, count))
		return "its times cannot be unpacked";
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] > OP_TIME_MAX - time_ns)
			return "a time is too large";
		time_ns += numbers[i];
		ops[i].time_ns = time_ns;
	}
	if (!column_get(columns, cursor, native->numbers, count))
		return "its path numbers cannot be unpacked";
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] >= paths)
			return "it uses a path that is not there";
		ops[i].path = (uint32_t)numbers[i];
	}
	return NULL;
}

static const char *renames_read(struct import *import, const struct block *block,
				struct column_cursor *cursor)
{
	struct native *native = import->state;
	uint32_t paths = path_count(import->source.paths);
	size_t count = 0, at = 0;

	for (size_t i = 0; i < block->count; i++)
		count += op_kind_has_two_paths(native->ops[i].kind);
	if (!column_get(native->columns, cursor, native->numbers, count))
		return "its new names cannot be unpacked";
	for (size_t i = 0; i < block->count; i++) {
		if (!op_kind_has_two_paths(native->ops[i].kind))
			continue;
		if (native->numbers[at] >= paths)
			return "it renames to a path that is not there";
		native->ops[i].path_to = (uint32_t)native->numbers[at++];
	}
	return NULL;
}

/* Offsets and bytes: only those that the predictor does not foretell are there. */
static const char *ranges_read(struct import *import, const struct block *block,
			       struct column_cursor *cursor)
{
	struct native *native = import->state;
	const uint64_t *offsets = native->numbers, *lengths = native->lengths;
	size_t offset_count = 0, bytes_count = 0;
	unsigned int relative = 0;

	for (size_t i = 0; i < block->count; i++) {
		offset_count += (native->differs[i] & NATIVE_OFFSET_DIFFERS) != 0;
		bytes_count += (native->differs[i] & NATIVE_BYTES_DIFFER) != 0;
	}
	if (offset_count) {
		if (cursor->at == cursor->end || *cursor->at > 1)
			return "its offsets cannot be unpacked";
		relative = *cursor->at++;
	}
	if (!column_get(native->columns, cursor, native->numbers, offset_count))
		return "its offsets cannot be unpacked";
	if (!column_get(native->columns, cursor, native->lengths, bytes_count))
		return "its lengths cannot be unpacked";
	for (size_t i = 0; i < block->count; i++) {
		struct op *op = &native->ops[i];
		uint64_t offset;

		native_predict(&native->predictor, (enum op_kind)op->kind, op->path, &offset,
			       &op->bytes);
		op->offset = offset;
		if (native->differs[i] & NATIVE_OFFSET_DIFFERS)
			op->offset = *offsets++ + (relative ? offset : 0);
		if (native->differs[i] & NATIVE_BYTES_DIFFER)
			op->bytes = *lengths++;
		if (op->offset > OP_END_MAX || op->bytes > OP_END_MAX - op->offset)
			return "an op ends beyond 2^63";
		native_learn(&native->predictor, op);
	}
	return NULL;
}

/* Memory for a block; its numbers have been found possible. */
static void room_make(struct native *native, const struct block *block)
{
	if (block->count > native->ops_room) {
		native->ops_room = block->count;
		native->ops = memory_resize(native->ops, block->count, sizeof(*native->ops));
		native->differs = memory_resize(native->differs, block->count, 1);
		native->numbers =
			memory_resize(native->numbers, 2 * block->count, sizeof(uint64_t));
		native->lengths =
			memory_resize(native->lengths, 2 * block->count, sizeof(uint64_t));
	}
	if (block->text_bytes > native->text_room) {
		native->text_room = block->text_bytes;
		native->text = memory_resize(native->text, block->text_bytes, 1);
	}
}

static bool block_decode(struct import *import, const struct block *block, struct error *error)
{
	struct native *native = import->state;
	struct column_cursor cursor = {block->body, block->body + block->body_bytes};
	const char *wrong = NULL;

	room_make(native, block);
	if (block->time_ns < native->time_ns || block->time_ns > OP_TIME_MAX)
		wrong = "its time goes back";
	if (!wrong)
		wrong = paths_read(import, block, &cursor);
	if (!wrong)
		wrong = fields_read(import, block, &cursor);
	if (!wrong)
		wrong = renames_read(import, block, &cursor);
	if (!wrong)
		wrong = ranges_read(import, block, &cursor);
	if (!wrong && cursor.at != cursor.end)
		wrong = "there is more in it than its ops";
	if (wrong)
		return native_wrong(import, wrong, error);
	native->at = 0;
	native->count = block->count;
	native->op_count += block->count;
	native->block_count++;
	native->time_ns = native->ops[block->count - 1].time_ns;
	return true;
}

static bool end_check(struct import *import, const struct block *block, struct error *error)
{
	struct native *native = import->state;

	if (native_get64(block->body) != native->op_count ||
	    native_get64(block->body + 8) != native->block_count ||
	    native_get64(block->body + 16) != path_count(import->source.paths))
		return error_at(error, import->input->name, 0, 0,
				"is damaged: it should hold %" PRIu64 " ops in %" PRIu64
				" blocks, and holds %" PRIu64 " in %" PRIu64,
				native_get64(block->body), native_get64(block->body + 8),
				native->op_count, native->block_count);
	native->ended = true;
	return true;
}

/*
 * Are the header's numbers possible? Before anything is done with them, and before the body is
 * there to be summed.
 */
static bool header_is_sane(const struct native *native, uint32_t mark, const struct block *block)
{
	if (mark == NATIVE_MARK_END)
		return block->body_bytes == NATIVE_END_BODY_BYTES && block->count == 0;
	if (native->has_tail)
		return false;
	if (mark == NATIVE_MARK_HEAD)
		return native->has_head && block->count == 0 && block->new_paths == 0 &&
		       block->text_bytes == block->body_bytes &&
		       block->body_bytes <= NATIVE_FACTS_BYTES_MAX;
	return mark == NATIVE_MARK_BLOCK && block->body_bytes <= NATIVE_BODY_BYTES_MAX &&
	       block->count > 0 && block->count <= NATIVE_BLOCK_OPS_MAX &&
	       block->new_paths <= 2 * block->count && block->text_bytes <= NATIVE_BLOCK_TEXT_MAX;
}

/* What was known only in the end: facts alone, before the end block. */
static bool tail_take(struct import *import, const struct block *block, struct error *error)
{
	struct native *native = import->state;
	size_t before = strlen(native->facts);

	if (!facts_are_lines(block->body, block->body_bytes))
		return native_wrong(import, "what it tells of itself is not lines of key=value",
				    error);
	native->facts = memory_resize(native->facts, before + block->body_bytes + 1, 1);
	memcpy(native->facts + before, block->body, block->body_bytes);
	native->facts[before + block->body_bytes] = '\0';
	import->facts = native->facts;
	native->has_tail = true;
	carried_tell(import, native->facts + before);
	return true;
}

static bool block_read(struct import *import, struct error *error)
{
	struct input *input = import->input;
	const unsigned char *header;
	struct block block;
	bool fine;

	if (!native_need(import, NATIVE_BLOCK_HEADER_BYTES, error))
		return false;
	header = input->at;
	block = (struct block){
		.body_bytes = native_get32(header + NATIVE_AT_BODY_BYTES),
		.count = native_get32(header + NATIVE_AT_OPS),
		.new_paths = native_get32(header + NATIVE_AT_PATHS),
		.text_bytes = native_get32(header + NATIVE_AT_TEXT_BYTES),
		.time_ns = native_get64(header + NATIVE_AT_TIME),
	};
	if (!header_is_sane(import->state, native_get32(header + NATIVE_AT_MARK), &block))
		return native_wrong(import, "its header makes no sense", error);
	if (!native_need(import, NATIVE_BLOCK_HEADER_BYTES + block.body_bytes, error))
		return false;
	header = input->at;
	block.body = header + NATIVE_BLOCK_HEADER_BYTES;
	if (native_get64(header + NATIVE_AT_CHECKSUM) !=
	    native_checksum(header, block.body, block.body_bytes))
		return native_wrong(import, "its checksum does not match", error);
	switch (native_get32(header + NATIVE_AT_MARK)) {
	case NATIVE_MARK_END:
		fine = end_check(import, &block, error);
		break;
	case NATIVE_MARK_HEAD:
		fine = tail_take(import, &block, error);
		break;
	default:
		fine = block_decode(import, &block, error);
	}
	input->at = block.body + block.body_bytes;
	return fine;
}

/* Nothing may follow the end block: two files put together are not one. */
static bool nothing_follows(struct import *import, struct error *error)
{
	if (!input_fill(import->input, 1, error))
		return false;
	if (input_visible(import->input))
		return error_at(error, import->input->name, 0, 0,
				"has bytes behind its end (are these two traces in one file?)");
	return true;
}

static bool native_next(struct import *import, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	struct native *native = import->state;

	*got = 0;
	while (*got < count && !native->ended) {
		size_t take = native->count - native->at;

		if (take > count - *got)
			take = count - *got;
		if (take)
			memcpy(ops + *got, native->ops + native->at, take * sizeof(*ops));
		native->at += take;
		*got += take;
		import->rows += take;
		if (native->at < native->count)
			break;
		if (!block_read(import, error))
			return false;
		if (native->ended && !nothing_follows(import, error))
			return false;
	}
	return true;
}

const struct import_format format_native = {
	.about = {.name = "refault-trace",
		  .summary = "our own: compressed, checksummed, good up to where it is cut off "
			     "(.rft)",
		  .alias = "native"},
	.state_bytes = sizeof(struct native),
	.match = native_match,
	.begin = native_begin,
	.next = native_next,
	.end = native_end_reading,
};
