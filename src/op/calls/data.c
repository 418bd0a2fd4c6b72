/*
 * data: bytes go in and out
 */
#include "op/calls/calls_private.h"

/* The kernel's numbers: include/uapi/linux/falloc.h, linux/fs.h, linux/fadvise.h. */
enum {
	FALLOC_KEEPS_SIZE = 0x01,
	FALLOC_PUNCHES = 0x02,
	FALLOC_COLLAPSES = 0x08,
	FALLOC_ZEROES = 0x10,
	FALLOC_INSERTS = 0x20,
	SYNC_RANGE_WRITES = 2,
	SEEKS_FROM_START = 0,
	SEEKS_FROM_HERE = 1,
	SEEKS_FROM_END = 2,
};

enum direction { IN, OUT };

/* One way of some bytes. */
struct way {
	enum direction direction;
	uint32_t open;
	uint64_t offset; /* CALLS_AT_POSITION */
	uint64_t bytes;
	unsigned int rwf;
	bool is_transfer;
};

static void sum_add(struct calls_sum *sum, const struct way *way)
{
	if (way->direction == IN) {
		sum->reads++;
		sum->read_bytes += way->bytes;
	} else {
		sum->writes++;
		sum->written_bytes += way->bytes;
	}
}

static bool is_regular(const struct calls *calls, uint32_t open)
{
	uint32_t file = calls->opens.at[open].file;

	return file != NONE && !calls->files.at[file].is_no_file &&
	       !calls->files.at[file].is_directory;
}

static enum op_kind kind_of(const struct way *way, bool is_direct)
{
	if (is_direct)
		return way->direction == IN ? OP_READ_DIRECT : OP_WRITE_DIRECT;
	if (way->rwf & CALLS_RWF_DONTCACHE)
		return way->direction == IN ? OP_READ_DONTCACHE : OP_WRITE_DONTCACHE;
	return way->direction == IN ? OP_READ : OP_WRITE;
}

static void count(struct calls *calls, const struct way *way, bool is_direct, bool is_known_offset)
{
	struct calls_counts *counts = &calls->counts;
	struct file *file = &calls->files.at[calls->opens.at[way->open].file];

	sum_add(&file->sum, way);
	if (is_direct)
		sum_add(&counts->direct, way);
	else if (way->rwf & CALLS_RWF_DONTCACHE)
		sum_add(&counts->dontcache, way);
	if (!is_known_offset)
		sum_add(&counts->no_position, way);
	if (way->is_transfer)
		sum_add(&counts->transferred, way);
}

/* Where it happens; the position moves on, if that is what it goes by. */
static uint64_t offset_take(struct calls *calls, const struct way *way, bool *is_known)
{
	struct open_file *open = &calls->opens.at[way->open];
	struct file *file = &calls->files.at[open->file];
	uint64_t offset = way->offset;
	bool appends = way->direction == OUT &&
		       (open->flags & CALLS_O_APPEND || way->rwf & CALLS_RWF_APPEND);

	*is_known = way->offset != CALLS_AT_POSITION || open->is_position_known;
	if (way->offset == CALLS_AT_POSITION)
		offset = open->position;
	if (way->offset == CALLS_NOT_TOLD) {
		/* Who hands over a pointer to an offset lets the kernel move it on. */
		*is_known = false;
		offset = open->aside;
		if (offset <= OP_END_MAX - way->bytes)
			open->aside += way->bytes;
	}
	/* pwrite() appends, too, to a file that is open for that: fs/read_write.c. */
	if (appends) {
		offset = file->size;
		*is_known = true;
		if (!file->is_size_exact) {
			file->appended += way->bytes;
			calls->counts.appends_unknown += !file->is_assumed_new;
		}
	}
	if (way->offset == CALLS_AT_POSITION && offset <= OP_END_MAX - way->bytes) {
		open->position = offset + way->bytes;
		open->is_position_known |= appends && file->is_size_exact;
	}
	return offset;
}

/* After a write to a file that is to be on the disk when it returns. */
static void write_through(struct calls *calls, const struct calls_when *when, const struct way *way)
{
	unsigned int flags = calls->opens.at[way->open].flags;
	bool all = flags & CALLS_O_SYNC || way->rwf & CALLS_RWF_SYNC;

	if (!all && !(flags & CALLS_O_DSYNC) && !(way->rwf & CALLS_RWF_DSYNC))
		return;
	calls->counts.synchronous_writes++;
	emit_open(calls, when, all ? OP_FSYNC : OP_FDATASYNC, way->open, 0, 0);
}

static void go(struct calls *calls, const struct calls_when *when, const struct way *way)
{
	bool is_direct = calls->opens.at[way->open].flags & CALLS_O_DIRECT, is_known;
	struct file *file;
	uint64_t offset, end;

	if (!is_regular(calls, way->open)) {
		sum_add(&calls->counts.not_files, way);
		return;
	}
	file = &calls->files.at[calls->opens.at[way->open].file];
	if (way->bytes > OP_END_MAX) {
		calls->counts.unseen[CALLS_UNSEEN_RANGE]++;
		return;
	}
	offset = offset_take(calls, way, &is_known);
	if (offset > OP_END_MAX - way->bytes) {
		calls->counts.unseen[CALLS_UNSEEN_RANGE]++;
		return;
	}
	count(calls, way, is_direct, is_known);
	end = offset + way->bytes;
	if (way->direction == IN) {
		/* What somebody unseen wrote to a file that was made here must be there to be read. */
		if (end > file->size && !file->existed && file->is_size_exact)
			emit(calls, when, OP_TRUNCATE, calls->opens.at[way->open].file, 0, end);
		file_was_read(calls, file, offset, end);
	} else {
		file_was_written(file, offset, end);
	}
	emit_open(calls, when, kind_of(way, is_direct), way->open, offset, way->bytes);
	if (way->direction == OUT)
		write_through(calls, when, way);
}

/* It failed: of a descriptor that is none, nothing is to be learned. */
static void failed(struct calls *calls, const struct calls_when *when, const struct way *way,
		   int fd, int64_t result)
{
	uint32_t open = result == CALLS_EBADF ? NONE : open_of(calls, when, fd);

	/* Who has no position is no file. */
	if (open != NONE && calls->opens.at[open].file != NONE && result == CALLS_ESPIPE)
		calls->files.at[calls->opens.at[open].file].is_no_file = true;
	if (open == NONE || !is_regular(calls, open))
		calls->counts.failed_others++;
	else if (way->direction == IN)
		calls->counts.failed_reads++;
	else
		calls->counts.failed_writes++;
}

/* A read that met the end there: then the size is known. */
static void end_met(struct calls *calls, uint32_t open, uint64_t offset)
{
	struct file *file = &calls->files.at[calls->opens.at[open].file];

	/* Beyond the least size it says nothing new. */
	if (offset == file->size)
		file_size_is(file, offset);
}

void calls_read(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		uint64_t asked, unsigned int rwf, int64_t result)
{
	struct way way = {.direction = IN, .offset = offset, .rwf = rwf};
	uint64_t end;
	bool is_known;

	if (result < 0) {
		failed(calls, when, &way, fd, result);
		return;
	}
	way.open = open_of(calls, when, fd);
	way.bytes = (uint64_t)result;
	if (way.open == NONE)
		return;
	is_known = offset != CALLS_AT_POSITION || calls->opens.at[way.open].is_position_known;
	end = offset != CALLS_AT_POSITION ? offset : calls->opens.at[way.open].position;
	if (result > 0)
		go(calls, when, &way);
	if (!is_regular(calls, way.open))
		return;
	calls->counts.eof_reads += result == 0 && asked > 0;
	if (end > OP_END_MAX - way.bytes)
		return;
	if (is_known && asked != CALLS_ASKED_UNKNOWN && way.bytes < asked)
		end_met(calls, way.open, end + way.bytes);
	else if (is_known && result == 0 && asked == CALLS_ASKED_UNKNOWN)
		end_met(calls, way.open, end);
}

void calls_write(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		 uint64_t asked, unsigned int rwf, int64_t result)
{
	struct way way = {.direction = OUT, .offset = offset, .rwf = rwf};

	(void)asked;
	if (result < 0) {
		failed(calls, when, &way, fd, result);
		return;
	}
	way.open = open_of(calls, when, fd);
	way.bytes = (uint64_t)result;
	if (way.open != NONE && result > 0)
		go(calls, when, &way);
}

void calls_transfer(struct calls *calls, const struct calls_when *when,
		    const struct calls_transfer *transfer, int64_t result)
{
	struct way in = {.direction = IN, .offset = transfer->from_offset, .is_transfer = true};
	struct way out = {.direction = OUT, .offset = transfer->to_offset, .is_transfer = true};

	if (result < 0) {
		failed(calls, when, &in, transfer->from,
		       result == CALLS_ESPIPE ? CALLS_FAILED : result);
		return;
	}
	in.open = open_of(calls, when, transfer->from);
	out.open = open_of(calls, when, transfer->to);
	in.bytes = out.bytes = (uint64_t)result;
	if (in.open == NONE || out.open == NONE)
		return;
	if (result > 0) {
		go(calls, when, &in);
		go(calls, when, &out);
	} else if (is_regular(calls, in.open) && transfer->asked > 0) {
		calls->counts.eof_reads++;
	}
}

void calls_seek(struct calls *calls, const struct calls_when *when, int fd, int64_t offset,
		int whence, int64_t result)
{
	uint32_t open = result == CALLS_EBADF ? NONE : open_of(calls, when, fd);
	struct open_file *at;
	struct file *file;

	calls->counts.failed_others += result < 0;
	if (open == NONE || calls->opens.at[open].file == NONE)
		return;
	at = &calls->opens.at[open];
	file = &calls->files.at[at->file];
	if (result == CALLS_ESPIPE)
		file->is_no_file = true;
	if (result < 0 || (uint64_t)result > OP_END_MAX)
		return;
	if (whence == SEEKS_FROM_END && !file->is_directory && result >= offset)
		file_size_is(file, (uint64_t)(result - offset));
	at->position = (uint64_t)result;
	at->is_position_known = true;
}

/* ---- sizes ---- */

static void resize(struct calls *calls, const struct calls_when *when, uint32_t file,
		   uint64_t bytes)
{
	if (file == NONE || bytes > OP_END_MAX) {
		calls->counts.unseen[CALLS_UNSEEN_RANGE] += file != NONE;
		return;
	}
	emit(calls, when, OP_TRUNCATE, file, 0, bytes);
	calls->files.at[file].size = bytes;
	calls->files.at[file].is_size_exact = true;
	calls->files.at[file].appended = 0;
}

void calls_truncate(struct calls *calls, const struct calls_when *when,
		    const struct calls_name *name, uint64_t bytes, int64_t result)
{
	uint32_t found = name_of(calls, when, name, true);

	if (result < 0)
		name_failed(calls, when, found, result);
	else if (found != NONE)
		resize(calls, when, name_present(calls, when, found, NAME_FILE), bytes);
}

void calls_ftruncate(struct calls *calls, const struct calls_when *when, int fd, uint64_t bytes,
		     int64_t result)
{
	uint32_t open = result < 0 ? NONE : open_of(calls, when, fd);

	calls->counts.failed_others += result < 0;
	if (open != NONE)
		resize(calls, when, calls->opens.at[open].file, bytes);
}

void calls_fallocate(struct calls *calls, const struct calls_when *when, int fd, unsigned int mode,
		     uint64_t offset, uint64_t bytes, int64_t result)
{
	uint32_t open = result < 0 ? NONE : open_of(calls, when, fd), file;
	struct file *at;
	uint64_t end;

	calls->counts.failed_others += result < 0;
	file = open == NONE ? NONE : calls->opens.at[open].file;
	if (file == NONE)
		return;
	if (offset > OP_END_MAX || bytes > OP_END_MAX - offset) {
		calls->counts.unseen[CALLS_UNSEEN_RANGE]++;
		return;
	}
	at = &calls->files.at[file];
	end = offset + bytes;
	if (mode & (FALLOC_PUNCHES | FALLOC_COLLAPSES | FALLOC_ZEROES | FALLOC_INSERTS))
		calls->counts.unseen[CALLS_UNSEEN_HOLE]++;
	if (mode & FALLOC_COLLAPSES) {
		if (at->size >= end)
			resize(calls, when, file, at->size - bytes);
		return;
	}
	if (mode & FALLOC_INSERTS) {
		if (bytes <= OP_END_MAX - at->size)
			resize(calls, when, file, at->size + bytes);
		return;
	}
	if (mode & FALLOC_PUNCHES)
		return;
	/* Beyond the end blocks are reserved only; the op would make the file longer. */
	if (mode & FALLOC_KEEPS_SIZE && end > at->size)
		end = at->size;
	if (end <= offset)
		return;
	emit(calls, when, OP_FALLOCATE, file, offset, end - offset);
	if (end > at->size)
		at->size = end;
}

/* ---- to the disk ---- */

void calls_fsync(struct calls *calls, const struct calls_when *when, int fd, bool is_data_only,
		 int64_t result)
{
	uint32_t open = result < 0 ? NONE : open_of(calls, when, fd);

	calls->counts.failed_others += result < 0;
	if (open == NONE)
		return;
	calls->counts.fsyncs++;
	emit_open(calls, when, is_data_only ? OP_FDATASYNC : OP_FSYNC, open, 0, 0);
}

void calls_sync(struct calls *calls, const struct calls_when *when)
{
	calls->counts.fsyncs++;
	emit_name(calls, when, OP_SYNC, NAME_SOMEWHERE, 0);
}

/* One file system's; there is no op but for all of them. */
void calls_syncfs(struct calls *calls, const struct calls_when *when, int fd, int64_t result)
{
	(void)fd;
	if (result < 0)
		calls->counts.failed_others++;
	else
		calls_sync(calls, when);
}

void calls_sync_range(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		      uint64_t bytes, unsigned int flags, int64_t result)
{
	uint32_t open = result < 0 ? NONE : open_of(calls, when, fd);

	calls->counts.failed_others += result < 0;
	if (open == NONE || !(flags & SYNC_RANGE_WRITES) || offset > OP_END_MAX)
		return;
	if (bytes == 0 || bytes > OP_END_MAX - offset) {
		uint32_t file = calls->opens.at[open].file;
		uint64_t size = file == NONE ? 0 : calls->files.at[file].size;

		bytes = size > offset ? size - offset : 0;
	}
	if (bytes)
		emit_open(calls, when, OP_SYNC_FILE_RANGE, open, offset, bytes);
}

void calls_advise(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		  uint64_t bytes, int advice, int64_t result)
{
	/* POSIX_FADV_NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, NOREUSE */
	static const enum op_kind kinds[] = {OP_KIND_COUNT,         OP_FADVISE_RANDOM,
					     OP_FADVISE_SEQUENTIAL, OP_FADVISE_WILLNEED,
					     OP_FADVISE_DONTNEED,   OP_FADVISE_NOREUSE};
	uint32_t open = result < 0 ? NONE : open_of(calls, when, fd);

	calls->counts.failed_others += result < 0;
	if (open == NONE)
		return;
	if (advice <= 0 || advice >= (int)(sizeof(kinds) / sizeof(kinds[0])))
		return; /* NORMAL: there is no op, and it is what a file has unless advised */
	if (offset > OP_END_MAX)
		return;
	if (bytes > OP_END_MAX - offset)
		bytes = 0; /* to the end */
	emit_open(calls, when, kinds[advice], open, offset, bytes);
}

void calls_list(struct calls *calls, const struct calls_when *when, int fd, int64_t result)
{
	uint32_t open = result < 0 ? NONE : open_of(calls, when, fd);
	struct open_file *at;

	calls->counts.failed_others += result < 0;
	if (open == NONE || calls->opens.at[open].file == NONE)
		return;
	at = &calls->opens.at[open];
	file_facts(calls, at->file, &(struct calls_facts){.type = CALLS_DIRECTORY});
	/* All entries are read by several calls, of which the last returns 0: one op. */
	if (result > 0 && !at->is_listed) {
		at->is_listed = true;
		emit(calls, when, OP_READDIR, at->file, 0, 0);
	}
	if (result == 0)
		calls->opens.at[open].is_listed = false;
}
