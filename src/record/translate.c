#include "record/translate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/size.h"
#include "op/path.h"
#include "record/canonical.h"
#include "record/lookup.h"
#include "record/syscalls.h"

#define NONE LOOKUP_NONE

#define SECTOR_BYTES UINT64_C(512)

/* What calls.h does not need to know from this machine's headers. */
enum { RENAME_IS_EXCHANGE = 2, AT_IS_REMOVEDIR = 0x200, AT_IS_SYMLINK_NOFOLLOW = 0x100 };

/* A file that the kernel half told of. */
struct seen_file {
	struct record_id id;
	const char *path; /* when it was told last */
	uint64_t size;    /* when it was told first */
	uint64_t size_now;
	uint32_t mapped; /* open file that its faults go by; NONE: none yet */
	bool is_directory;
	bool is_left_out; /* of another file system */
};

/* An open file: its index is its descriptor in calls.h. */
struct handle {
	uint64_t pointer; /* the kernel's; 0: of a mapping */
	uint32_t file;
	unsigned int flags; /* CALLS_O_... */
	bool is_live;
	ARRAY(uint32_t) processes; /* that used it and live */
};

struct process {
	uint32_t number; /* the kernel's */
	uint32_t threads;
	ARRAY(uint32_t) handles; /* may be gone, or be others now */
};

struct task {
	uint32_t process; /* index */
	uint32_t number;  /* its ops' thread */
	uint32_t program;
	uint32_t directory; /* file; NONE: not known */
	uint32_t fault;     /* the last one, and what it touched */
	struct record_id fault_id;
	uint64_t fault_index, fault_pages;
	bool fault_is_write;
};

struct program {
	char command[RECORD_COMMAND_BYTES + 1];
	uint64_t ops, read_bytes, written_bytes;
};

struct translator {
	struct translate_options options;
	struct calls *calls;
	struct canonical canonical;
	struct arena texts;
	struct translate_counts counts;

	ARRAY(struct seen_file) files;
	struct lookup files_by_id;
	ARRAY(struct handle) handles;
	ARRAY(uint32_t) handles_free;
	struct lookup handles_by_pointer;
	ARRAY(struct process) processes;
	ARRAY(uint32_t) processes_free;
	struct lookup processes_by_number;
	ARRAY(struct task) tasks;
	struct lookup tasks_by_thread;
	ARRAY(struct program) programs;

	struct lookup streams; /* (program, directory), path -> stream */
	const struct task *at; /* whose event is at hand, or was the last; NULL: none yet */
	bool has_told_sums;
	uint64_t time_ns;    /* of the latest event */
	uint64_t op_time_ns; /* and op */
	uint32_t thread_count;
};

/* ---- streams ---- */

/* "pg_wal" for /var/lib/pg/pg_wal/0001 in /var/lib/pg; "/usr/lib" for what is elsewhere. */
static size_t class_of(const char *path, const char *directory, const char **class)
{
	size_t above = directory ? strlen(directory) : 0, bytes;

	if (above > 1 && strncmp(path, directory, above) == 0 && path[above] == '/') {
		*class = path + above + 1;
		bytes = strcspn(*class, "/");
		if ((*class)[bytes] == '/')
			return bytes;
		*class = ".";
		return 1;
	}
	/* Two directories at most, and not the file's own name. */
	*class = path;
	bytes = 0;
	for (int i = 0; i < 2 && path[bytes] == '/'; i++) {
		size_t next = bytes + 1 + strcspn(path + bytes + 1, "/");

		if (path[next] != '/')
			break;
		bytes = next;
	}
	return bytes ? bytes : 1;
}

static uint16_t stream_make(struct translator *translator, const struct task *task,
			    const char *path)
{
	const struct program *program = &translator->programs.at[task->program];
	const char *directory =
		task->directory == NONE ? NULL : translator->files.at[task->directory].path;
	uint16_t stream = stream_map_match(translator->options.streams, path);
	char name[RECORD_COMMAND_BYTES + CANONICAL_BYTES];
	const char *class;
	size_t bytes;

	if (stream != STREAM_NONE)
		return stream;
	bytes = class_of(path, directory, &class);
	bytes = (size_t)snprintf(name, sizeof(name), "%s:%.*s", program->command, (int)bytes,
				 class);
	return stream_map_name(translator->options.streams, name,
			       bytes < PATH_BYTES_MAX ? bytes : PATH_BYTES_MAX);
}

static void deliver(void *context, const struct op *op)
{
	struct translator *translator = context;
	const struct task *task = translator->at;
	struct program *program = &translator->programs.at[task->program];
	const char *path = path_text(translator->options.paths, op->path);
	struct op with_stream = *op;
	struct lookup_key key = {(uint64_t)task->program << 32 | task->directory, op->path};
	uint32_t stream;

	/* What is of no file goes past calls.h, which sees to the order of the rest: one that comes late
	 * may be older. */
	if (op->time_ns < translator->op_time_ns)
		with_stream.time_ns = translator->op_time_ns;
	translator->op_time_ns = with_stream.time_ns;
	/* At the end of a file less comes back than was asked for, of the device whole sectors. */
	if (op->kind == OP_READ_DIRECT || op->kind == OP_WRITE_DIRECT) {
		with_stream.offset = op->offset & ~(SECTOR_BYTES - 1);
		with_stream.bytes =
			((op->offset + op->bytes + SECTOR_BYTES - 1) & ~(SECTOR_BYTES - 1)) -
			with_stream.offset;
	}
	program->ops++;
	if (op->kind == OP_READ || op->kind == OP_READ_DIRECT || op->kind == OP_READ_DONTCACHE)
		program->read_bytes += op->bytes;
	if (op->kind == OP_WRITE || op->kind == OP_WRITE_DIRECT || op->kind == OP_WRITE_DONTCACHE)
		program->written_bytes += op->bytes;
	if (!op_kind_is_of_no_file(op->kind)) {
		stream = lookup_get(&translator->streams, key);
		if (stream == NONE) {
			stream = stream_make(translator, task, path);
			lookup_put(&translator->streams, key, stream);
		}
		with_stream.stream = (uint16_t)stream;
	}
	translator->options.deliver(translator->options.context, &with_stream);
}

/* ---- tasks ---- */

static uint32_t program_of(struct translator *translator, const char *command)
{
	struct program *program;

	for (size_t i = 0; i < translator->programs.count; i++)
		if (strcmp(translator->programs.at[i].command, command) == 0)
			return (uint32_t)i;
	program = array_push(&translator->programs);
	snprintf(program->command, sizeof(program->command), "%s", command);
	return (uint32_t)(translator->programs.count - 1);
}

static uint32_t process_of(struct translator *translator, uint32_t number)
{
	const struct lookup_key key = {number, 0};
	uint32_t process = lookup_get(&translator->processes_by_number, key);

	if (process != NONE)
		return process;
	if (translator->processes_free.count) {
		process = translator->processes_free.at[--translator->processes_free.count];
	} else {
		process = (uint32_t)translator->processes.count;
		(void)array_push(&translator->processes);
	}
	translator->processes.at[process].number = number;
	translator->processes.at[process].threads = 0;
	translator->counts.processes++;
	lookup_put(&translator->processes_by_number, key, process);
	return process;
}

static struct task *task_of(struct translator *translator, const struct record_event *event)
{
	const struct lookup_key key = {event->thread, 0};
	uint32_t at = lookup_get(&translator->tasks_by_thread, key);
	struct task *task;

	if (at != NONE &&
	    translator->processes.at[translator->tasks.at[at].process].number == event->process)
		return &translator->tasks.at[at];
	/* New; or its number is another's now, and its end was lost. */
	at = (uint32_t)translator->tasks.count;
	task = array_push(&translator->tasks);
	task->process = process_of(translator, event->process);
	task->number = ++translator->thread_count;
	task->program = program_of(translator, "?");
	task->directory = NONE;
	translator->processes.at[task->process].threads++;
	translator->counts.threads++;
	lookup_put(&translator->tasks_by_thread, key, at);
	return task;
}

static struct calls_when when_of(struct translator *translator, const struct record_event *event,
				 const struct task *task)
{
	uint64_t start_ns = translator->options.start_ns;

	/* All are of one process to calls.h: the descriptors are ours. */
	return (struct calls_when){
		.time_ns = event->time_ns > start_ns ? event->time_ns - start_ns : 0,
		.tid = task->number,
		.pid = 1,
	};
}

/* ---- files ---- */

static struct lookup_key key_of(const struct record_id *id)
{
	return (struct lookup_key){id->ino, (uint64_t)id->generation << 32 | id->device};
}

static uint32_t file_of(const struct translator *translator, const struct record_id *id)
{
	return id->ino ? lookup_get(&translator->files_by_id, key_of(id)) : NONE;
}

/* Of a file whose name was lost, all but the name is known. */
static uint32_t file_get(struct translator *translator, const struct record_id *id, uint64_t size)
{
	uint32_t at = file_of(translator, id);
	struct seen_file *file;
	char path[64];
	int bytes;

	if (at != NONE || !id->ino)
		return at;
	bytes = snprintf(path, sizeof(path), "/[%u:%u]/inode %llu", id->device >> 20,
			 id->device & 0xfffff, (unsigned long long)id->ino);
	at = (uint32_t)translator->files.count;
	file = array_push(&translator->files);
	*file = (struct seen_file){
		.id = *id,
		.path = arena_text(&translator->texts, path, (size_t)bytes),
		.size = size,
		.size_now = size,
		.mapped = NONE,
		.is_left_out =
			translator->options.device && id->device != translator->options.device,
	};
	lookup_put(&translator->files_by_id, key_of(id), at);
	return at;
}

/* In the path, what is above the root of the one file system that is recorded. */
static const char *path_inside(const struct translator *translator, const char *path)
{
	const char *root = translator->options.root;
	size_t bytes = root ? strlen(root) : 0;

	if (!translator->options.device || strncmp(path, root, bytes) != 0 ||
	    (path[bytes] != '/' && path[bytes] != '\0'))
		return path;
	return path[bytes] ? path + bytes : "/";
}

static void name_take(struct translator *translator, const struct record_name *name)
{
	bool is_new = file_of(translator, &name->id) == NONE;
	uint32_t at = file_get(translator, &name->id, name->size);
	struct seen_file *file;
	char whole[CANONICAL_BYTES], deleted[512];
	const char *path = whole;

	(void)mount_table_path(translator->options.mounts, name->id.device, name->text,
			       name->text_bytes, whole, sizeof(whole));
	if (translator->options.device == name->id.device)
		path = path_inside(translator, whole);
	translator->counts.names++;
	if (at == NONE)
		return;
	file = &translator->files.at[at];
	/* What had lost its name before we came has it no more: its directory may be another's now. */
	if (name->links == 0 && !(name->flags & RECORD_IS_OPENED)) {
		snprintf(deleted, sizeof(deleted), "/(deleted)/%u:%u inode %llu %.200s",
			 name->id.device >> 20, name->id.device & 0xfffff,
			 (unsigned long long)name->id.ino, strrchr(path, '/') + 1);
		path = deleted;
	}
	if (is_new || strcmp(file->path, path) != 0)
		file->path = arena_text(&translator->texts, path, strlen(path));
	file->is_directory = name->flags & RECORD_IS_DIRECTORY;
	file->size_now = name->size;
	if (is_new && !(name->flags & RECORD_IS_CREATED) && !file->is_directory &&
	    name->cached_pages && !file->is_left_out) {
		translator->counts.cached_pages += name->cached_pages;
		translator->counts.files_cached++;
	}
}

static struct calls_facts facts_of(const struct seen_file *file, uint64_t size)
{
	return (struct calls_facts){
		.type = file->is_directory ? CALLS_DIRECTORY : CALLS_REGULAR,
		.path = file->path,
		.path_bytes = strlen(file->path),
		.has_inode = true,
		.device = file->id.device,
		.inode = file->id.ino ^ (uint64_t)file->id.generation << 32,
		.has_size = !file->is_directory,
		.size_bytes = size,
	};
}

/* ---- open files ---- */

static uint32_t handle_add(struct translator *translator, uint64_t pointer, uint32_t file)
{
	struct handle *handle;
	uint32_t at;

	if (translator->handles_free.count) {
		at = translator->handles_free.at[--translator->handles_free.count];
	} else {
		at = (uint32_t)translator->handles.count;
		(void)array_push(&translator->handles);
	}
	handle = &translator->handles.at[at];
	handle->pointer = pointer;
	handle->file = file;
	handle->flags = CALLS_O_WRITE;
	handle->is_live = true;
	handle->processes.count = 0;
	if (pointer)
		lookup_put(&translator->handles_by_pointer, (struct lookup_key){pointer, 0}, at);
	return at;
}

static void handle_remove(struct translator *translator, uint32_t at)
{
	struct handle *handle = &translator->handles.at[at];

	if (handle->pointer)
		lookup_remove(&translator->handles_by_pointer,
			      (struct lookup_key){handle->pointer, 0});
	else
		translator->files.at[handle->file].mapped = NONE;
	handle->is_live = false;
	*array_push(&translator->handles_free) = at;
}

static void handle_close(struct translator *translator, const struct calls_when *when, uint32_t at)
{
	calls_close(translator->calls, when, (int)at, 0);
	handle_remove(translator, at);
}

/* This process uses it: it closes it by ending, should nobody else have it. */
static void handle_used(struct translator *translator, uint32_t at, uint32_t process)
{
	struct handle *handle = &translator->handles.at[at];

	for (size_t i = handle->processes.count; i-- > 0;)
		if (handle->processes.at[i] == process)
			return;
	*array_push(&handle->processes) = process;
	*array_push(&translator->processes.at[process].handles) = at;
}

/* The open file that a call is about; one that was open before the start, or lost, is made known. */
static uint32_t handle_get(struct translator *translator, const struct calls_when *when,
			   uint64_t pointer, const struct record_id *id, uint64_t size)
{
	uint32_t file = file_get(translator, id, size), at;
	struct seen_file *seen;

	if (file == NONE)
		return NONE;
	seen = &translator->files.at[file];
	if (seen->is_left_out) {
		translator->counts.left_out++;
		return NONE;
	}
	at = lookup_get(&translator->handles_by_pointer, (struct lookup_key){pointer, 0});
	/* The kernel has used the memory again, and we have not seen the file go. */
	if (at != NONE && translator->handles.at[at].file != file) {
		handle_close(translator, when, at);
		at = NONE;
	}
	if (at == NONE) {
		struct calls_facts facts = facts_of(seen, size);

		at = handle_add(translator, pointer, file);
		facts.has_flags = true;
		facts.flags = CALLS_O_WRITE;
		calls_known_file(translator->calls, when, (int)at, &facts);
	}
	handle_used(translator, at, translator->at->process);
	return at;
}

/* What faults on a file go by: mapped pages have no descriptor any more. */
static uint32_t mapped_get(struct translator *translator, const struct calls_when *when,
			   const struct record_id *id, uint64_t size)
{
	uint32_t file = file_get(translator, id, size);
	struct seen_file *seen;

	if (file == NONE)
		return NONE;
	seen = &translator->files.at[file];
	if (seen->is_left_out) {
		translator->counts.left_out++;
		return NONE;
	}
	if (seen->mapped == NONE) {
		struct calls_facts facts = facts_of(seen, size);

		seen->mapped = handle_add(translator, 0, file);
		calls_known_file(translator->calls, when, (int)seen->mapped, &facts);
	}
	handle_used(translator, seen->mapped, translator->at->process);
	return translator->files.at[file].mapped;
}

static void flags_are(struct translator *translator, const struct calls_when *when, uint32_t at,
		      bool is_direct)
{
	struct handle *handle = &translator->handles.at[at];
	unsigned int flags = handle->flags & ~(unsigned int)CALLS_O_DIRECT;

	if (is_direct)
		flags |= CALLS_O_DIRECT;
	if (flags == handle->flags)
		return;
	handle->flags = flags;
	calls_set_flags(translator->calls, when, (int)at, flags);
}

/* ---- a thread comes, changes, goes ---- */

static void process_ended(struct translator *translator, const struct calls_when *when, uint32_t at)
{
	struct process *process = &translator->processes.at[at];

	for (size_t i = 0; i < process->handles.count; i++) {
		uint32_t number = process->handles.at[i];
		struct handle *handle = &translator->handles.at[number];

		for (size_t j = 0; j < handle->processes.count && handle->is_live; j++) {
			if (handle->processes.at[j] != at)
				continue;
			handle->processes.at[j] = handle->processes.at[--handle->processes.count];
			if (handle->processes.count == 0)
				handle_close(translator, when, number);
			break;
		}
	}
	process->handles.count = 0;
	lookup_remove(&translator->processes_by_number, (struct lookup_key){process->number, 0});
	*array_push(&translator->processes_free) = at;
}

static void task_ended(struct translator *translator, const struct record_event *event)
{
	const struct lookup_key key = {event->thread, 0};
	struct task *task = task_of(translator, event);
	const struct calls_when when = when_of(translator, event, task);

	translator->at = task;
	if (--translator->processes.at[task->process].threads == 0)
		process_ended(translator, &when, task->process);
	lookup_remove(&translator->tasks_by_thread, key);
}

static void task_told(struct translator *translator, const struct record_task *event)
{
	char command[RECORD_COMMAND_BYTES + 1] = "";
	struct task *task = task_of(translator, &event->event);
	const struct calls_when when = when_of(translator, &event->event, task);
	uint32_t program = file_of(translator, &event->program);

	memcpy(command, event->command, RECORD_COMMAND_BYTES);
	task->program = program_of(translator, command[0] ? command : "?");
	task->directory = file_of(translator, &event->directory);
	translator->at = task;
	if (event->is_exec && program != NONE && !translator->files.at[program].is_left_out) {
		const char *path = translator->files.at[program].path;
		const struct calls_name name = {CALLS_CWD, path, strlen(path)};

		calls_look_up(translator->calls, &when, &name, true, 0, NULL);
	}
}

/* No call of files: past calls.h. */
static void deliver_of_no_file(struct translator *translator, const struct record_event *event,
			       enum op_kind kind, uint64_t bytes)
{
	const struct calls_when when = when_of(translator, event, translator->at);
	const struct op op = {
		.kind = (uint8_t)kind,
		.time_ns = when.time_ns,
		.thread = when.tid,
		.path = path_intern(translator->options.paths, ".", 1),
		.bytes = bytes,
	};

	deliver(translator, &op);
}

static void memory_take(struct translator *translator, const struct record_memory *event)
{
	translator->at = task_of(translator, &event->event);
	/* A machine has it from the first one on that nothing else sums them. */
	if (translator->options.tells_of_sums && !translator->has_told_sums)
		deliver_of_no_file(translator, &event->event, OP_SUM_STATISTICS, 0);
	translator->has_told_sums = true;
	deliver_of_no_file(translator, &event->event, OP_PIN, bytes_from_pages(event->pages));
}

/* Whoever sums them is not recorded: it counts as done by whoever did something last. */
static void summed_take(struct translator *translator, const struct record_event *event)
{
	if (translator->at)
		deliver_of_no_file(translator, event, OP_SUM_STATISTICS, 0);
}

/* ---- data ---- */

static unsigned int rwf_of(uint32_t flags)
{
	return flags & RECORD_IS_DONTCACHE ? CALLS_RWF_DONTCACHE : 0;
}

static void transfer_take(struct translator *translator, const struct record_transfer *event,
			  const struct calls_when *when)
{
	uint32_t at = handle_get(translator, when, event->handle, &event->id, event->size);
	unsigned int rwf = rwf_of(event->flags);

	if (at == NONE)
		return;
	flags_are(translator, when, at, event->flags & RECORD_IS_DIRECT);
	if (event->flags & RECORD_IS_WRITE)
		calls_write(translator->calls, when, (int)at, event->offset, event->bytes, rwf,
			    (int64_t)event->bytes);
	else
		calls_read(translator->calls, when, (int)at, event->offset, event->bytes, rwf,
			   (int64_t)event->bytes);
}

/*
 * A range that shares another file's blocks: it is on the disk, and not in memory. There is no op for
 * that but a direct write, which leaves the caches as they are then; what it costs the device is too
 * much.
 */
static void clone_take(struct translator *translator, const struct calls_when *when, uint32_t at,
		       uint64_t offset, uint64_t bytes, uint64_t size)
{
	if (bytes == 0)
		return;
	flags_are(translator, when, at, true);
	calls_write(translator->calls, when, (int)at, offset, bytes, 0, (int64_t)bytes);
	flags_are(translator, when, at, false);
	if (offset + bytes == size && size % SECTOR_BYTES)
		calls_ftruncate(translator->calls, when, (int)at, size, 0);
	calls_unseen(translator->calls, CALLS_UNSEEN_CLONE_RANGE, 1);
}

/* Where file systems share blocks, the kernel tries that first, and moves no data. */
static bool is_cloned(const struct translator *translator, const struct record_copy *event)
{
	const char *name = syscall_name(event->event.number);
	const char *filesystem =
		mount_table_filesystem(translator->options.mounts, event->from.device);

	return event->from.device == event->to.device && event->inserted_pages == 0 && name &&
	       strcmp(name, "copy_file_range") == 0 && filesystem &&
	       (strcmp(filesystem, "btrfs") == 0 || strcmp(filesystem, "xfs") == 0);
}

static void copy_take(struct translator *translator, const struct record_copy *event,
		      const struct calls_when *when)
{
	uint32_t from = NONE, to = NONE;
	int64_t bytes = (int64_t)event->bytes;

	if (event->from.ino)
		from = handle_get(translator, when, event->from_handle, &event->from,
				  event->from_size);
	if (event->to.ino)
		to = handle_get(translator, when, event->to_handle, &event->to, event->to_size);
	if (from != NONE && to != NONE && is_cloned(translator, event)) {
		uint64_t end = event->to_offset + event->bytes;

		clone_take(translator, when, to, event->to_offset, event->bytes,
			   end > event->to_size ? end : event->to_size);
	} else if (from != NONE && to != NONE) {
		const struct calls_transfer transfer = {
			.from = (int)from,
			.to = (int)to,
			.from_offset = event->from_offset,
			.to_offset = event->to_offset,
			.asked = event->bytes,
		};

		calls_transfer(translator->calls, when, &transfer, bytes);
	} else if (from != NONE) {
		calls_read(translator->calls, when, (int)from, event->from_offset, event->bytes, 0,
			   bytes);
	} else if (to != NONE) {
		calls_write(translator->calls, when, (int)to, event->to_offset, event->bytes, 0,
			    bytes);
	}
}

/* Several events may be of one fault, as when it is tried again: they count once. */
static bool is_of_same_fault(struct task *task, const struct record_fault *event)
{
	bool is_write = event->flags & RECORD_IS_WRITE;
	bool is_same = task->fault == event->fault && task->fault_id.ino == event->id.ino &&
		       task->fault_id.device == event->id.device &&
		       event->index >= task->fault_index &&
		       event->index + event->pages <= task->fault_index + task->fault_pages &&
		       (task->fault_is_write || !is_write);

	task->fault = event->fault;
	task->fault_id = event->id;
	task->fault_index = event->index;
	task->fault_pages = event->pages;
	task->fault_is_write = is_write;
	return is_same;
}

static void fault_take(struct translator *translator, struct task *task,
		       const struct record_fault *event, const struct calls_when *when)
{
	bool is_exec = event->event.type == RECORD_TYPE_KERNEL_READ;
	uint64_t offset = event->index * PAGE_BYTES, bytes = event->pages * PAGE_BYTES;
	uint32_t at;

	if (!is_exec && is_of_same_fault(task, event))
		return;
	translator->counts.faults++;
	at = mapped_get(translator, when, &event->id, event->size);
	if (at == NONE || offset >= event->size)
		return;
	if (bytes > event->size - offset)
		bytes = event->size - offset;
	if (is_exec)
		calls_read(translator->calls, when, (int)at, offset, bytes, 0, (int64_t)bytes);
	else
		calls_touch_file(translator->calls, when, (int)at, offset, bytes,
				 event->flags & RECORD_IS_WRITE);
}

/* ---- calls ---- */

static enum record_meaning uring_meaning(uint32_t opcode)
{
	switch (opcode) {
	case RECORD_URING_FSYNC:
		return MEANING_FSYNC;
	case RECORD_URING_FALLOCATE:
		return MEANING_FALLOCATE;
	case RECORD_URING_FADVISE:
		return MEANING_ADVISE;
	default:
		return MEANING_NONE;
	}
}

/* Of an open file. */
static void file_call_take(struct translator *translator, const struct record_call *event,
			   enum record_meaning meaning, const struct calls_when *when)
{
	struct calls *calls = translator->calls;
	const uint64_t *arguments = event->arguments;
	uint32_t at = handle_get(translator, when, event->handle, &event->id, event->size);
	int64_t result = event->result;
	int fd = (int)at;

	if (at == NONE)
		return;
	switch (meaning) {
	case MEANING_CLOSE:
		handle_close(translator, when, at);
		break;
	case MEANING_FSYNC:
		/* IORING_FSYNC_DATASYNC is 1. */
		calls_fsync(calls, when, fd, event->flags & RECORD_IS_IO_URING && arguments[4] & 1,
			    result);
		break;
	case MEANING_FDATASYNC:
		calls_fsync(calls, when, fd, true, result);
		break;
	case MEANING_SYNCFS:
		calls_syncfs(calls, when, fd, result);
		break;
	case MEANING_SYNC_RANGE:
		calls_sync_range(calls, when, fd, arguments[1], arguments[2],
				 (unsigned int)arguments[3], result);
		break;
	case MEANING_ADVISE:
		calls_advise(calls, when, fd, arguments[1], arguments[2], (int)arguments[3],
			     result);
		break;
	case MEANING_READAHEAD:
		calls_advise(calls, when, fd, arguments[1], arguments[2], 3, result);
		break;
	case MEANING_FALLOCATE:
		if (event->flags & RECORD_IS_IO_URING)
			calls_fallocate(calls, when, fd, (unsigned int)arguments[3], arguments[1],
					arguments[2], result);
		else
			calls_fallocate(calls, when, fd, (unsigned int)arguments[1], arguments[2],
					arguments[3], result);
		break;
	case MEANING_FTRUNCATE:
		calls_ftruncate(calls, when, fd, arguments[1], result);
		break;
	case MEANING_LIST:
		calls_list(calls, when, fd, result);
		break;
	case MEANING_CLONE_RANGE:
		if (result == 0 && arguments[3] < event->size)
			clone_take(translator, when, at, arguments[3],
				   arguments[4] ? arguments[4] : event->size - arguments[3],
				   event->size);
		break;
	case MEANING_MSYNC:
		if (arguments[2] & 4) /* MS_SYNC */
			calls_fsync(calls, when, fd, true, 0);
		break;
	case MEANING_MADVISE:
		calls_advise(calls, when, fd, arguments[0], arguments[1], 3, 0);
		break;
	default:
		break;
	}
}

static void open_take(struct translator *translator, const struct record_call *event,
		      const struct calls_when *when)
{
#ifdef __aarch64__
	const bool is_arm64 = true;
#else
	const bool is_arm64 = false;
#endif
	unsigned int flags = calls_open_flags(event->asked_flags, is_arm64);
	uint32_t file = file_get(translator, &event->id, event->size), at;
	struct seen_file *seen;
	struct calls_facts facts;
	struct calls_name name;

	if (file == NONE)
		return;
	seen = &translator->files.at[file];
	if (seen->is_left_out) {
		translator->counts.left_out++;
		return;
	}
	at = lookup_get(&translator->handles_by_pointer, (struct lookup_key){event->handle, 0});
	if (at != NONE)
		handle_close(translator, when, at);
	/* What the kernel says of it, not what was asked for. */
	flags &= ~(unsigned int)(CALLS_O_CREATE | CALLS_O_EXCLUSIVE);
	if (event->flags & RECORD_IS_CREATED)
		flags |= CALLS_O_CREATE | CALLS_O_EXCLUSIVE;
	facts = facts_of(seen, event->size);
	name = (struct calls_name){CALLS_CWD, facts.path, facts.path_bytes};
	at = handle_add(translator, event->handle, file);
	translator->handles.at[at].flags = flags;
	handle_used(translator, at, translator->at->process);
	calls_open(translator->calls, when, &name, flags, (int64_t)at, &facts);
}

/* Where a relative path begins, on the whole machine. */
static bool directory_path(const struct translator *translator, const struct record_id *id,
			   char path[CANONICAL_BYTES])
{
	uint32_t at = file_of(translator, id);
	const struct seen_file *file;

	if (at == NONE)
		return false;
	file = &translator->files.at[at];
	if (!translator->options.device || file->is_left_out)
		snprintf(path, CANONICAL_BYTES, "%s", file->path);
	else
		snprintf(path, CANONICAL_BYTES, "%s%s", translator->options.root,
			 strcmp(file->path, "/") ? file->path : "");
	return true;
}

/* The path that the call wrote; false: not known, or on a file system that is not recorded. */
static bool path_of(struct translator *translator, const struct record_call *event, int which,
		    bool follows, char path[CANONICAL_BYTES])
{
	const char *text = event->text + (which ? event->path_bytes[0] : 0), *inside;
	const struct record_id *directory = which ? &event->directory_to : &event->directory;
	char above[CANONICAL_BYTES] = "/", of_process[CANONICAL_BYTES + 32];

	if (event->path_bytes[which] <= 1)
		return false;
	/* Not ourselves. */
	if (strncmp(text, "/proc/self/", 11) == 0) {
		snprintf(of_process, sizeof(of_process), "/proc/%u/%.4000s", event->event.process,
			 text + 11);
		text = of_process;
	}
	if ((text[0] != '/' && !directory_path(translator, directory, above)) ||
	    !canonical_path(&translator->canonical, above, text, follows, path)) {
		translator->counts.names_unknown++;
		return false;
	}
	if (!translator->options.device)
		return mount_table_is_recorded(translator->options.mounts, path);
	inside = path_inside(translator, path);
	if (inside == path)
		return false;
	memmove(path, inside, strlen(inside) + 1);
	return true;
}

static bool follows_link(enum record_meaning meaning, const struct record_call *event,
			 uint32_t flags_argument)
{
	switch (meaning) {
	case MEANING_LOOK_UP:
	case MEANING_TRUNCATE:
	case MEANING_OPEN:
		return true;
	case MEANING_LOOK_UP_AT:
		return !(event->arguments[flags_argument] & AT_IS_SYMLINK_NOFOLLOW);
	default:
		return false;
	}
}

static void look_up(struct translator *translator, const struct calls_when *when,
		    const struct calls_name *name, bool follows, int64_t result)
{
	const char *root = translator->options.device ? translator->options.root : "";
	struct calls_facts facts = {0};
	char whole[2 * CANONICAL_BYTES];
	struct stat status;

	snprintf(whole, sizeof(whole), "%s%s", root, name->text);
	/* What it is, if it is still there. */
	if (result >= 0 && (follows ? stat : lstat)(whole, &status) == 0) {
		facts.type = S_ISDIR(status.st_mode)   ? CALLS_DIRECTORY
			     : S_ISREG(status.st_mode) ? CALLS_REGULAR
			     : S_ISLNK(status.st_mode) ? CALLS_SYMLINK
						       : CALLS_OTHER;
		facts.has_size = S_ISREG(status.st_mode);
		facts.size_bytes = (uint64_t)status.st_size;
		calls_look_up(translator->calls, when, name, follows, result, &facts);
		return;
	}
	calls_look_up(translator->calls, when, name, follows, result, NULL);
}

/*
 * A file that was open and had no name got this one (linkat with AT_EMPTY_PATH, or of what is below
 * /proc/self/fd): which of the open ones?
 */
static bool open_named(struct translator *translator, const char *path, struct calls_name *name)
{
	const char *root = translator->options.device ? translator->options.root : "";
	char whole[2 * CANONICAL_BYTES];
	struct stat status;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	if (lstat(whole, &status) != 0)
		return false;
	for (size_t i = 0; i < translator->handles.count; i++) {
		const struct handle *handle = &translator->handles.at[i];

		if (!handle->is_live ||
		    translator->files.at[handle->file].id.ino != (uint64_t)status.st_ino)
			continue;
		*name = (struct calls_name){(int)i, "", 0};
		return true;
	}
	return false;
}

static void two_paths_take(struct translator *translator, const struct record_call *event,
			   enum record_meaning meaning, const struct calls_when *when)
{
	char from[CANONICAL_BYTES], to[CANONICAL_BYTES];
	struct calls_name name, name_to;

	if (!path_of(translator, event, 1, false, to))
		return;
	name_to = (struct calls_name){CALLS_CWD, to, strlen(to)};
	if (meaning == MEANING_SYMLINK) {
		calls_symlink(translator->calls, when, event->text, event->path_bytes[0] - 1,
			      &name_to, event->result);
		canonical_forget(&translator->canonical);
		return;
	}
	if (path_of(translator, event, 0, false, from))
		name = (struct calls_name){CALLS_CWD, from, strlen(from)};
	else if (meaning != MEANING_LINK || !open_named(translator, to, &name))
		return;
	if (meaning == MEANING_LINK) {
		calls_link(translator->calls, when, &name, &name_to, false, event->result);
	} else {
		bool is_exchange =
			meaning == MEANING_RENAME_FLAGS && event->arguments[4] & RENAME_IS_EXCHANGE;

		calls_rename(translator->calls, when, &name, &name_to, is_exchange, event->result);
		canonical_moved(&translator->canonical, from, to);
	}
}

static void path_call_take(struct translator *translator, const struct record_call *event,
			   const struct record_syscall *call, const struct calls_when *when)
{
	enum record_meaning meaning = call->meaning;
	bool follows = follows_link(meaning, event, call->detail);
	struct calls *calls = translator->calls;
	char path[CANONICAL_BYTES];
	struct calls_name name;
	int64_t result = event->result;

	if (call->path_to != RECORD_NO_ARGUMENT) {
		two_paths_take(translator, event, meaning, when);
		return;
	}
	if (!path_of(translator, event, 0, follows, path))
		return;
	name = (struct calls_name){CALLS_CWD, path, strlen(path)};
	switch (meaning) {
	case MEANING_TRUNCATE:
		calls_truncate(calls, when, &name, event->arguments[1], result);
		break;
	case MEANING_UNLINK:
	case MEANING_UNLINK_AT:
		if (meaning == MEANING_UNLINK_AT && event->arguments[2] & AT_IS_REMOVEDIR)
			calls_rmdir(calls, when, &name, result);
		else
			calls_unlink(calls, when, &name, result);
		break;
	case MEANING_RMDIR:
		calls_rmdir(calls, when, &name, result);
		break;
	case MEANING_MKDIR:
		calls_mkdir(calls, when, &name, result);
		break;
	case MEANING_MKNOD:
		calls_mknod(calls, when, &name,
			    S_ISREG(event->arguments[call->detail]) ||
					    !(event->arguments[call->detail] & S_IFMT)
				    ? CALLS_REGULAR
				    : CALLS_OTHER,
			    result);
		break;
	default:
		look_up(translator, when, &name, follows, result);
		break;
	}
}

static void call_take(struct translator *translator, const struct record_call *event,
		      const struct calls_when *when)
{
	static struct record_syscall syscalls[RECORD_SYSCALLS_MAX];
	const struct record_syscall *call;

	if (!syscalls[0].shape)
		syscalls_fill(syscalls);
	call = &syscalls[event->event.number & (RECORD_SYSCALLS_MAX - 1)];
	translator->counts.calls++;
	if (event->flags & RECORD_IS_IO_URING)
		file_call_take(translator, event, uring_meaning(event->event.number), when);
	else if (call->meaning == MEANING_SYNC)
		calls_sync(translator->calls, when);
	else if (call->shape == RECORD_OPEN && event->result >= 0)
		open_take(translator, event, when);
	else if (event->id.ino)
		file_call_take(translator, event, call->meaning, when);
	else
		path_call_take(translator, event, call, when);
}

/* ---- all of it ---- */

void translate(struct translator *translator, const struct record_event *event)
{
	struct calls_when when;
	struct task *task;

	translator->counts.events++;
	if (event->time_ns < translator->time_ns)
		translator->counts.late++;
	else
		translator->time_ns = event->time_ns;
	switch (event->type) {
	case RECORD_TYPE_NAME:
		name_take(translator, (const struct record_name *)event);
		return;
	case RECORD_TYPE_TASK:
		task_told(translator, (const struct record_task *)event);
		return;
	case RECORD_TYPE_TASK_EXIT:
		task_ended(translator, event);
		return;
	case RECORD_TYPE_MEMORY:
		memory_take(translator, (const struct record_memory *)event);
		return;
	case RECORD_TYPE_SUMMED:
		summed_take(translator, event);
		return;
	default:
		break;
	}
	task = task_of(translator, event);
	translator->at = task;
	when = when_of(translator, event, task);
	switch (event->type) {
	case RECORD_TYPE_TRANSFER:
		transfer_take(translator, (const struct record_transfer *)event, &when);
		translator->counts.calls++;
		break;
	case RECORD_TYPE_COPY:
		copy_take(translator, (const struct record_copy *)event, &when);
		translator->counts.calls++;
		break;
	case RECORD_TYPE_CALL:
		call_take(translator, (const struct record_call *)event, &when);
		break;
	case RECORD_TYPE_FAULT:
	case RECORD_TYPE_KERNEL_READ:
		fault_take(translator, task, (const struct record_fault *)event, &when);
		break;
	default:
		break;
	}
}

struct translator *translator_create(const struct translate_options *options)
{
	struct translator *translator = memory_alloc(1, sizeof(*translator));
	const struct calls_options calls = {
		.paths = options->paths, .deliver = deliver, .context = translator};

	translator->options = *options;
	translator->calls = calls_create(&calls);
	canonical_init(&translator->canonical);
	return translator;
}

void translator_destroy(struct translator *translator)
{
	if (!translator)
		return;
	/* What is open then is not closed by ops. */
	translator->options.deliver = NULL;
	calls_destroy(translator->calls);
	canonical_deinit(&translator->canonical);
	for (size_t i = 0; i < translator->handles.count; i++)
		array_deinit(&translator->handles.at[i].processes);
	for (size_t i = 0; i < translator->processes.count; i++)
		array_deinit(&translator->processes.at[i].handles);
	array_deinit(&translator->files);
	array_deinit(&translator->handles);
	array_deinit(&translator->handles_free);
	array_deinit(&translator->processes);
	array_deinit(&translator->processes_free);
	array_deinit(&translator->tasks);
	array_deinit(&translator->programs);
	lookup_deinit(&translator->files_by_id);
	lookup_deinit(&translator->handles_by_pointer);
	lookup_deinit(&translator->processes_by_number);
	lookup_deinit(&translator->tasks_by_thread);
	lookup_deinit(&translator->streams);
	arena_deinit(&translator->texts);
	memory_free(translator);
}

struct calls *translator_calls(struct translator *translator)
{
	return translator->calls;
}

void translator_counts(const struct translator *translator, struct translate_counts *counts)
{
	*counts = translator->counts;
}

size_t translator_program_count(const struct translator *translator)
{
	return translator->programs.count;
}

void translator_program(const struct translator *translator, size_t index,
			struct translate_program *program)
{
	const struct program *at = &translator->programs.at[index];

	*program =
		(struct translate_program){at->command, at->ops, at->read_bytes, at->written_bytes};
}
