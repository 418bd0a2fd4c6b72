#include "op/trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "op/native.h"

struct trace_writer {
	int fd;
	char *path; /* where the file will be */
	/*
	 * The name it has until it is there; NULL: none, the file is in no directory, so that
	 * nothing is left of it whatever becomes of us.
	 */
	char *path_beside;
	const struct path_table *paths;
	ARRAY(uint32_t)
	file_ids; /* by the source's path id: the file's id + 1; 0: not in the file yet */
	uint32_t path_count; /* in the file */
	uint64_t time_ns;    /* of the last op */
	uint64_t op_count;   /* in the file, with those in `ops` */
	uint64_t block_count;
	bool has_head;
	uint32_t stream_count; /* of the head's names, with the unused 0; 0: streams are not kept */

	/* The block at hand; its ops have the file's path ids. */
	struct op *ops;
	size_t count;
	uint64_t *prefix_bytes; /* of each new path: how much it shares with the one before */
	uint64_t *suffix_bytes; /* and how much follows */
	size_t new_paths;
	struct column_bytes text; /* the suffixes */
	char last_path[PATH_BYTES_MAX];
	size_t last_path_bytes;

	struct native_predictor predictor;
	struct column_writer *columns;
	struct column_bytes body;
	uint64_t *numbers, *relative; /* NATIVE_BLOCK_OPS_MAX each */
};

uint64_t native_checksum(const unsigned char *header, const unsigned char *body, size_t body_bytes)
{
	XXH64_state_t state;

	XXH64_reset(&state, 0);
	XXH64_update(&state, header, NATIVE_SUMMED_BYTES);
	XXH64_update(&state, body, body_bytes);
	return XXH64_digest(&state);
}

static bool write_all(struct trace_writer *writer, const unsigned char *from, size_t bytes,
		      struct error *error)
{
	while (bytes) {
		ssize_t written = write(writer->fd, from, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_system(error, "cannot write %s", writer->path);
		from += written;
		bytes -= (size_t)written;
	}
	return true;
}

static char *text_join(const char *a, const char *b)
{
	size_t bytes = strlen(a) + strlen(b) + 1;
	char *text = memory_alloc(bytes, 1);

	snprintf(text, bytes, "%s%s", a, b);
	return text;
}

/*
 * Where `path` really leads: renaming over a link would replace the link, renaming over a device
 * the device.
 */
static bool target_find(struct trace_writer *writer, const char *path, struct error *error)
{
	struct stat status;
	char *real;

	if (!*path)
		return error_input(error, "a trace needs a name");
	if (stat(path, &status) != 0) {
		writer->path = text_join(path, "");
		/* not there yet; anything worse shows when the file beside it is made */
		return true;
	}
	if (!S_ISREG(status.st_mode))
		return error_input(error, "%s is %s: a trace must be a regular file", path,
				   S_ISDIR(status.st_mode) ? "a directory" : "not a file");
	real = realpath(path, NULL);
	if (!real)
		return error_system(error, "cannot find where %s leads", path);
	writer->path = text_join(real, "");
	free(real);
	return true;
}

/* The directory that `path` lies in. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = text_join(slash ? path : ".", "");

	if (slash)
		directory[slash == path ? 1 : slash - path] = '\0';
	return directory;
}

/* What linkat() takes for the file without a name; needs no privilege, but /proc. */
static void nameless_spell(char text[32], int fd)
{
	snprintf(text, 32, "/proc/self/fd/%d", fd);
}

/* A file without a name. False: this file system (or this kernel) knows none. */
static bool nameless_create(struct trace_writer *writer)
{
	char *directory = directory_of(writer->path), spelled[32];

	writer->fd = open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	memory_free(directory);
	if (writer->fd < 0)
		return false;
	nameless_spell(spelled, writer->fd);
	if (access(spelled, F_OK) == 0)
		return true;
	close(writer->fd);
	writer->fd = -1;
	return false;
}

/* Try names beside the file's until one is free. False: errno says why not. */
static bool beside_try(struct trace_writer *writer, bool (*make)(struct trace_writer *writer))
{
	for (int i = 0; i < 100; i++) {
		char suffix[48];

		snprintf(suffix, sizeof(suffix), ".%ld-%d.part", (long)getpid(), i);
		writer->path_beside = text_join(writer->path, suffix);
		if (make(writer))
			return true;
		memory_free(writer->path_beside);
		writer->path_beside = NULL;
		if (errno != EEXIST)
			break;
	}
	return false;
}

/* With open(), not mkstemp(), so that the umask decides who may read the trace. */
static bool beside_open(struct trace_writer *writer)
{
	writer->fd = open(writer->path_beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return writer->fd >= 0;
}

static bool beside_link(struct trace_writer *writer)
{
	char spelled[32];

	nameless_spell(spelled, writer->fd);
	return linkat(AT_FDCWD, spelled, AT_FDCWD, writer->path_beside, AT_SYMLINK_FOLLOW) == 0;
}

static bool file_create(struct trace_writer *writer, struct error *error)
{
	return nameless_create(writer) || beside_try(writer, beside_open) ||
	       error_system(error, "cannot create %s", writer->path);
}

/*
 * Give the file its name. linkat() replaces nothing, so the nameless one gets a name beside it for
 * the moment between two calls, in which no signal is to come.
 */
static bool file_place(struct trace_writer *writer, struct error *error)
{
	sigset_t all, before;
	bool fine = true;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!writer->path_beside && !beside_try(writer, beside_link))
		fine = error_system(error, "cannot create %s", writer->path);
	if (fine && rename(writer->path_beside, writer->path) != 0)
		fine = error_system(error, "cannot rename %s to %s", writer->path_beside,
				    writer->path);
	if (writer->path_beside && !fine)
		unlink(writer->path_beside);
	memory_free(writer->path_beside);
	writer->path_beside = NULL;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fine;
}

const char *trace_writer_leftover(const struct trace_writer *writer)
{
	return writer->path_beside;
}

static void file_header_make(unsigned char header[NATIVE_FILE_HEADER_BYTES], uint32_t version)
{
	memcpy(header, NATIVE_MAGIC, NATIVE_MAGIC_BYTES);
	native_put32(header + 8, version);
	native_put32(header + 12, (uint32_t)XXH64(header, 12, 0));
}

static bool file_header_write(struct trace_writer *writer, struct error *error)
{
	unsigned char header[NATIVE_FILE_HEADER_BYTES];

	file_header_make(header, NATIVE_VERSION_PLAIN);
	return write_all(writer, header, sizeof(header), error);
}

struct trace_writer *trace_writer_create(const char *path, struct error *error)
{
	struct trace_writer *writer = memory_alloc(1, sizeof(*writer));

	writer->fd = -1;
	writer->ops = memory_alloc(NATIVE_BLOCK_OPS_MAX, sizeof(*writer->ops));
	writer->numbers = memory_alloc(NATIVE_BLOCK_OPS_MAX, sizeof(uint64_t));
	writer->relative = memory_alloc(NATIVE_BLOCK_OPS_MAX, sizeof(uint64_t));
	writer->prefix_bytes = memory_alloc(COLUMN_COUNT_MAX, sizeof(uint64_t));
	writer->suffix_bytes = memory_alloc(COLUMN_COUNT_MAX, sizeof(uint64_t));
	writer->columns = column_writer_create();
	if (!target_find(writer, path, error) || !file_create(writer, error) ||
	    !file_header_write(writer, error)) {
		trace_writer_abandon(writer);
		return NULL;
	}
	return writer;
}

void trace_writer_abandon(struct trace_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	if (writer->path_beside)
		unlink(writer->path_beside);
	memory_free(writer->path);
	memory_free(writer->path_beside);
	memory_free(writer->ops);
	memory_free(writer->numbers);
	memory_free(writer->relative);
	memory_free(writer->prefix_bytes);
	memory_free(writer->suffix_bytes);
	array_deinit(&writer->text.packed);
	array_deinit(&writer->body.packed);
	array_deinit(&writer->file_ids);
	array_deinit(&writer->predictor.ends);
	column_writer_destroy(writer->columns);
	memory_free(writer);
}

static void paths_put(struct trace_writer *writer)
{
	column_put(writer->columns, &writer->body, writer->prefix_bytes, writer->new_paths,
		   COLUMN_UNSIGNED);
	column_put(writer->columns, &writer->body, writer->suffix_bytes, writer->new_paths,
		   COLUMN_UNSIGNED);
	column_put_bytes(writer->columns, &writer->body, writer->text.packed.at,
			 writer->text.packed.count);
}

static void numbers_put(struct trace_writer *writer, size_t count)
{
	column_put(writer->columns, &writer->body, writer->numbers, count, COLUMN_UNSIGNED);
}

/*
 * A first byte says which of the two is there: the offsets, or how far they are from what was
 * predicted.
 */
static void offsets_put(struct trace_writer *writer, const uint64_t *absolute,
			const uint64_t *relative, size_t count)
{
	size_t start = writer->body.packed.count, absolute_bytes, relative_bytes;

	if (count == 0)
		return;
	column_append(&writer->body, "\1", 1);
	column_put(writer->columns, &writer->body, relative, count, COLUMN_SIGNED);
	relative_bytes = writer->body.packed.count - start;
	column_append(&writer->body, "\0", 1);
	column_put(writer->columns, &writer->body, absolute, count, COLUMN_UNSIGNED);
	absolute_bytes = writer->body.packed.count - start - relative_bytes;
	if (absolute_bytes <= relative_bytes) {
		memmove(writer->body.packed.at + start,
			writer->body.packed.at + start + relative_bytes, absolute_bytes);
		writer->body.packed.count = start + absolute_bytes;
	} else {
		writer->body.packed.count = start + relative_bytes;
	}
}

/* The columns from the kinds on; README.md has their order. */
static void ops_put(struct trace_writer *writer)
{
	uint64_t *numbers = writer->numbers;
	uint64_t *absolute = memory_alloc(writer->count, sizeof(*absolute));
	uint64_t *bytes = memory_alloc(writer->count, sizeof(*bytes));
	uint64_t time_ns = writer->ops[0].time_ns;
	size_t offset_count = 0, bytes_count = 0, rename_count = 0;

	for (size_t i = 0; i < writer->count; i++) {
		const struct op *op = &writer->ops[i];
		uint64_t offset_expected, bytes_expected;

		native_predict(&writer->predictor, (enum op_kind)op->kind, op->path,
			       &offset_expected, &bytes_expected);
		numbers[i] = (uint64_t)op->kind << NATIVE_KIND_SHIFT;
		if (op->offset != offset_expected) {
			numbers[i] |= NATIVE_OFFSET_DIFFERS;
			absolute[offset_count] = op->offset;
			writer->relative[offset_count++] = op->offset - offset_expected;
		}
		if (op->bytes != bytes_expected) {
			numbers[i] |= NATIVE_BYTES_DIFFER;
			bytes[bytes_count++] = op->bytes;
		}
		native_learn(&writer->predictor, op);
	}
	numbers_put(writer, writer->count);
	for (size_t i = 0; i < writer->count; i++)
		numbers[i] = writer->ops[i].thread;
	numbers_put(writer, writer->count);
	if (writer->stream_count) {
		for (size_t i = 0; i < writer->count; i++)
			numbers[i] = writer->ops[i].stream;
		numbers_put(writer, writer->count);
	}
	for (size_t i = 0; i < writer->count; i++) {
		numbers[i] = writer->ops[i].time_ns - time_ns;
		time_ns = writer->ops[i].time_ns;
	}
	numbers_put(writer, writer->count);
	for (size_t i = 0; i < writer->count; i++)
		numbers[i] = writer->ops[i].path;
	numbers_put(writer, writer->count);
	for (size_t i = 0; i < writer->count; i++) {
		if (op_kind_has_two_paths(writer->ops[i].kind))
			numbers[rename_count++] = writer->ops[i].path_to;
	}
	numbers_put(writer, rename_count);
	offsets_put(writer, absolute, writer->relative, offset_count);
	column_put(writer->columns, &writer->body, bytes, bytes_count, COLUMN_UNSIGNED);
	memory_free(absolute);
	memory_free(bytes);
}

/* The body begins with room for the header: finish that, and write both. */
static bool body_write(struct trace_writer *writer, uint32_t mark, struct error *error)
{
	unsigned char *header = writer->body.packed.at;
	size_t body_bytes = writer->body.packed.count - NATIVE_BLOCK_HEADER_BYTES;

	assert(body_bytes <= NATIVE_BODY_BYTES_MAX);
	native_put32(header + NATIVE_AT_MARK, mark);
	native_put32(header + NATIVE_AT_BODY_BYTES, (uint32_t)body_bytes);
	native_put64(header + NATIVE_AT_CHECKSUM,
		     native_checksum(header, header + NATIVE_BLOCK_HEADER_BYTES, body_bytes));
	return write_all(writer, writer->body.packed.at, writer->body.packed.count, error);
}

static bool block_write(struct trace_writer *writer, uint32_t mark, struct error *error)
{
	unsigned char *header = writer->body.packed.at;

	native_put32(header + NATIVE_AT_OPS, (uint32_t)writer->count);
	native_put32(header + NATIVE_AT_PATHS, (uint32_t)writer->new_paths);
	native_put32(header + NATIVE_AT_TEXT_BYTES, (uint32_t)writer->text.packed.count);
	native_put64(header + NATIVE_AT_TIME, writer->count ? writer->ops[0].time_ns : 0);
	return body_write(writer, mark, error);
}

static void body_begin(struct trace_writer *writer)
{
	static const unsigned char room[NATIVE_BLOCK_HEADER_BYTES];

	writer->body.packed.count = 0;
	column_append(&writer->body, room, sizeof(room));
}

static bool block_flush(struct trace_writer *writer, struct error *error)
{
	if (writer->count == 0)
		return true;
	body_begin(writer);
	paths_put(writer);
	ops_put(writer);
	if (!block_write(writer, NATIVE_MARK_BLOCK, error))
		return false;
	writer->block_count++;
	writer->count = 0;
	writer->new_paths = 0;
	writer->text.packed.count = 0;
	writer->last_path_bytes = 0;
	return true;
}

bool trace_writer_head(struct trace_writer *writer, const struct trace_head *head,
		       struct error *error)
{
	unsigned char file_header[NATIVE_FILE_HEADER_BYTES], *header;
	const char *facts = head->facts ? head->facts : "";
	size_t fact_bytes = strlen(facts);

	assert(writer->op_count == 0);
	assert(!head->stream_names || head->stream_count <= STREAM_COUNT_MAX + 1);
	if (fact_bytes > NATIVE_FACTS_BYTES_MAX)
		return error_failed(error, "a trace can tell %d bytes of itself, not %zu",
				    NATIVE_FACTS_BYTES_MAX, fact_bytes);
	file_header_make(file_header, NATIVE_VERSION);
	if (pwrite(writer->fd, file_header, sizeof(file_header), 0) != sizeof(file_header))
		return error_system(error, "cannot write %s", writer->path);
	writer->has_head = true;
	writer->stream_count = head->stream_names ? head->stream_count : 0;
	body_begin(writer);
	column_append(&writer->body, facts, fact_bytes);
	for (uint32_t i = 1; i < writer->stream_count; i++)
		column_append(&writer->body, head->stream_names[i],
			      strlen(head->stream_names[i]) + 1);
	header = writer->body.packed.at;
	native_put32(header + NATIVE_AT_PATHS, writer->stream_count);
	native_put32(header + NATIVE_AT_TEXT_BYTES, (uint32_t)fact_bytes);
	return body_write(writer, NATIVE_MARK_HEAD, error);
}

bool trace_writer_tail(struct trace_writer *writer, const char *facts, struct error *error)
{
	size_t fact_bytes = strlen(facts);

	assert(writer->has_head);
	if (fact_bytes == 0)
		return true;
	if (fact_bytes > NATIVE_FACTS_BYTES_MAX)
		return error_failed(error, "a trace can tell %d bytes of itself, not %zu",
				    NATIVE_FACTS_BYTES_MAX, fact_bytes);
	if (!block_flush(writer, error))
		return false;
	body_begin(writer);
	column_append(&writer->body, facts, fact_bytes);
	native_put32(writer->body.packed.at + NATIVE_AT_TEXT_BYTES, (uint32_t)fact_bytes);
	return body_write(writer, NATIVE_MARK_HEAD, error);
}

/* The file's id of one of the source's paths; a new one is added to the block. */
static uint32_t path_give(struct trace_writer *writer, uint32_t path)
{
	const char *text;
	size_t bytes, shared = 0;

	while (writer->file_ids.count <= path)
		*array_push(&writer->file_ids) = 0;
	if (writer->file_ids.at[path])
		return writer->file_ids.at[path] - 1;

	text = path_text(writer->paths, path);
	bytes = path_bytes(writer->paths, path);
	while (shared < bytes && shared < writer->last_path_bytes &&
	       text[shared] == writer->last_path[shared])
		shared++;
	writer->prefix_bytes[writer->new_paths] = shared;
	writer->suffix_bytes[writer->new_paths++] = bytes - shared;
	column_append(&writer->text, text + shared, bytes - shared);
	memcpy(writer->last_path, text, bytes);
	writer->last_path_bytes = bytes;
	writer->file_ids.at[path] = ++writer->path_count;
	return writer->path_count - 1;
}

bool trace_write(struct trace_writer *writer, const struct op_source *source, const struct op *ops,
		 size_t count, struct error *error)
{
	assert(!writer->paths || writer->paths == source->paths);
	writer->paths = source->paths;
	for (size_t i = 0; i < count; i++) {
		const struct op *op = &ops[i];
		struct op *kept;

		assert(op->kind < OP_KIND_COUNT);
		if (op->time_ns < writer->time_ns || op->time_ns > OP_TIME_MAX)
			return error_failed(error,
					    "op %" PRIu64 " at %" PRIu64
					    " ns cannot follow one at %" PRIu64 " ns in a trace",
					    writer->op_count + 1, op->time_ns, writer->time_ns);
		if (op->offset > OP_END_MAX || op->bytes > OP_END_MAX - op->offset)
			return error_failed(error,
					    "op %" PRIu64 " ends beyond 2^63 bytes: offset %" PRIu64
					    ", bytes %" PRIu64,
					    writer->op_count + 1, op->offset, op->bytes);
		kept = &writer->ops[writer->count++];
		*kept = *op;
		kept->path = path_give(writer, op->path);
		if (op_kind_has_two_paths(op->kind))
			kept->path_to = path_give(writer, op->path_to);
		assert(!writer->stream_count || op->stream < writer->stream_count);
		writer->time_ns = op->time_ns;
		writer->op_count++;
		if ((writer->count == NATIVE_BLOCK_OPS_MAX ||
		     writer->text.packed.count >= NATIVE_BLOCK_TEXT_FULL) &&
		    !block_flush(writer, error))
			return false;
	}
	return true;
}

static bool end_write(struct trace_writer *writer, struct error *error)
{
	unsigned char totals[NATIVE_END_BODY_BYTES];

	native_put64(totals, writer->op_count);
	native_put64(totals + 8, writer->block_count);
	native_put64(totals + 16, writer->path_count);
	body_begin(writer);
	column_append(&writer->body, totals, sizeof(totals));
	return block_write(writer, NATIVE_MARK_END, error);
}

/*
 * A rename is on disk when its directory is. Where directories cannot be synced, the file system
 * sees to it.
 */
static void directory_sync(const char *path)
{
	char *directory = directory_of(path);
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	memory_free(directory);
}

int trace_writer_close_nameless(struct trace_writer *writer, struct error *error)
{
	bool fine = block_flush(writer, error) && end_write(writer, error);
	int fd = -1;

	if (fine) {
		fd = fcntl(writer->fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			error_system(error, "cannot keep %s open", writer->path);
	}
	trace_writer_abandon(writer);
	return fd;
}

bool trace_writer_close(struct trace_writer *writer, struct error *error)
{
	bool fine = block_flush(writer, error) && end_write(writer, error);

	if (fine && fsync(writer->fd) != 0)
		fine = error_system(error, "cannot write %s to disk", writer->path);
	fine = fine && file_place(writer, error);
	if (fine)
		directory_sync(writer->path);
	trace_writer_abandon(writer);
	return fine;
}
