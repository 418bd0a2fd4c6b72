/*
 * Source  Linux include/trace/events/syscalls.h ("NR %ld (%lx, ...)", "NR %ld = %ld");
 *         kernel/trace/trace_syscalls.c ("sys_openat(dfd: 0xffffff9c, ...)", " -> 0x3"; perf and
 *         trace-cmd print the same arguments after the event's name); trace_output.c
 *         (trace_print_context: task, number, CPU, flags, time); tools/perf/builtin-script.c.
 */
#include "op/calls/kernel_events.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/import.h"

enum { TEXT_BYTES = 512, NUMBERS_MAX = 6, TASK_BYTES = 16 };

/* A thread, and the call that it is in. */
struct kernel_thread {
	uint32_t tid;
	uint32_t child; /* the thread that this call is taken to have begun; 0: none */
	const struct syscall_kind *kind;
	bool is_in_call, is_raw;
	bool was_seen;       /* an event was its own */
	unsigned int inodes; /* whose pages this call has touched: 0, 1, or several */
	uint64_t device, inode;
	uint64_t time_ns, line;
	size_t bytes;
	char task[TASK_BYTES];
	char text[TEXT_BYTES]; /* its arguments */
};

static const struct import_remark lost = {
	.key = "lost_events",
	.one = "event was lost: all figures are lower bounds",
	.many = "events were lost: all figures are lower bounds",
	.is_warning = true,
};

static const struct import_remark losses = {
	.key = "losses",
	.one = "place where events were lost, it is not said how many: all figures are lower "
	       "bounds",
	.many = "places where events were lost, it is not said how many: all figures are lower "
		"bounds",
	.is_warning = true,
};

static const struct import_remark unreturned = {
	.key = "calls_not_returned",
	.one = "call did not return within the trace: left out",
	.many = "calls did not return within the trace: left out",
};

static const struct import_remark unbegun = {
	.key = "calls_not_begun",
	.one = "call returned of which the beginning is not in the trace: left out",
	.many = "calls returned of which the beginnings are not in the trace: left out",
};

static const struct import_remark back_steps = {
	.key = "lines_out_of_order",
	.one = "line is out of time order",
	.many = "lines are out of time order",
};

static const struct import_remark others = {
	.key = "other_events",
	.one = "event of another kind",
	.many = "events of other kinds",
};

static const struct import_remark io_uring = {
	.key = "io_uring_requests",
	.one = "request to io_uring: what it reads or writes is not told",
	.many = "requests to io_uring: what they read and write is not told",
	.is_warning = true,
};

static const struct import_remark no_names = {
	.key = "no_names",
	.one = "names are pointers in this trace: files are told apart by descriptors, and by "
	       "inode "
	       "where the page cache shows one",
	.is_warning = true,
};

/* ---- a line ---- */

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static const char *blanks_skip(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Digits, backwards from `at`: the first of them; `at`: there are none. */
static const char *digits_back(const char *from, const char *at)
{
	while (at > from && is_digit(at[-1]))
		at--;
	return at;
}

static const char *blanks_back(const char *from, const char *at)
{
	while (at > from && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at;
}

static bool id_read(const char *at, const char *end, uint32_t *id)
{
	struct syscall_text text = {at, (size_t)(end - at)};
	uint64_t value;

	if (at == end || text.bytes > 10)
		return false;
	/* Not octal, however it begins. */
	while (text.bytes > 1 && text.at[0] == '0') {
		text.at++;
		text.bytes--;
	}
	if (!text_number(&text, false, &value) || value > UINT32_MAX)
		return false;
	*id = (uint32_t)value;
	return true;
}

/*
 * The task and its number, which end at `end`: "page cleaner 31597", "page cleaner 31597/31600",
 * "dbwriter-3956", "dbwriter-3956  (   3950)".
 */
static bool task_read(const char *from, const char *end, char separator, struct kernel_event *event)
{
	const char *at = blanks_back(from, end), *digits;
	uint32_t first;

	event->pid = 0;
	if (separator == '-' && at > from && at[-1] == ')') {
		digits = digits_back(from, at - 1);
		if (digits < at - 1 && !id_read(digits, at - 1, &event->pid))
			return false;
		while (at > from && at[-1] != '(')
			at--;
		if (at == from)
			return false;
		at = blanks_back(from, at - 1);
	}
	digits = digits_back(from, at);
	if (!id_read(digits, at, &event->tid))
		return false;
	at = digits;
	if (separator == ' ' && at > from && at[-1] == '/') {
		digits = digits_back(from, at - 1);
		if (!id_read(digits, at - 1, &first))
			return false;
		event->pid = first;
		at = digits;
	}
	if (at == from || (at[-1] != separator && !(separator == ' ' && at[-1] == '\t')))
		return false;
	from = blanks_skip(from, at - 1);
	at = separator == ' ' ? blanks_back(from, at) : at - 1;
	event->task = (struct syscall_text){from, (size_t)(at - from)};
	return true;
}

/* "1163.377547:", and what follows: NULL: it is none. */
static const char *time_read(const char *at, const char *end, uint64_t *ns)
{
	uint64_t number = 0, unit = NS_PER_SECOND / 10;
	const char *from = at;
	bool has_point = false;

	for (; at < end && is_digit(*at); at++)
		if (__builtin_mul_overflow(number, UINT64_C(10), &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return NULL;
	if (at == from)
		return NULL;
	if (at < end && (*at == '.' || *at == ',')) {
		has_point = true;
		if (__builtin_mul_overflow(number, NS_PER_SECOND, &number))
			return NULL;
		for (at++; at < end && is_digit(*at); at++, unit /= 10)
			number += (uint64_t)(*at - '0') * unit;
	}
	/* Other clocks count, and it is not said what. */
	(void)has_point;
	if (at == end || *at != ':' || number > OP_TIME_MAX)
		return NULL;
	*ns = number;
	return at + 1;
}

/* "mm_filemap_add_to_page_cache: dev ...", "syscalls:sys_exit_read: 0x10", "sys_read -> 0x10" */
static bool event_name_read(const char *at, const char *end, struct kernel_event *event)
{
	const char *from, *skip = at = blanks_skip(at, end);

	/* perf's period. */
	while (skip < end && is_digit(*skip))
		skip++;
	if (skip > at && skip < end && *skip == ' ')
		at = blanks_skip(skip, end);
	from = at;
	while (at < end &&
	       (is_digit(*at) || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
		*at == '_' || *at == '-' || (*at == ':' && at + 1 < end && at[1] != ' ')))
		at++;
	if (at == from)
		return false;
	event->name = (struct syscall_text){from, (size_t)(at - from)};
	if (at < end && *at == ':')
		at++;
	at = blanks_skip(at, end);
	event->text = (struct syscall_text){at, (size_t)(end - at)};
	return true;
}

/* From behind "[000]": flags, or none, and the time. */
static bool rest_read(const char *at, const char *end, struct kernel_event *event)
{
	for (int words = 0; words < 2; words++) {
		const char *behind;

		at = blanks_skip(at, end);
		behind = time_read(at, end, &event->time_ns);
		if (behind)
			return event_name_read(behind, end, event);
		while (at < end && *at != ' ')
			at++;
	}
	return false;
}

/* perf without a CPU: "COMM 4100 1163.377547: ..." */
static bool split_without_cpu(const char *from, const char *end, struct kernel_event *event)
{
	for (const char *at = from; (at = memchr(at, ':', (size_t)(end - at))); at++) {
		const char *digits = digits_back(from, at);

		if (digits == at || digits == from || (digits[-1] != '.' && digits[-1] != ','))
			continue;
		digits = digits_back(from, digits - 1);
		if (digits > from && time_read(digits, end, &event->time_ns) &&
		    task_read(from, digits, ' ', event))
			return event_name_read(at + 1, end, event);
	}
	return false;
}

bool kernel_event_split(const struct row *row, char separator, struct kernel_event *event)
{
	const char *from = (const char *)row->at, *end = (const char *)row->end;

	*event = (struct kernel_event){.line = row->line};
	/* A task may be called anything: the first bracket that makes sense is the CPU's. */
	for (const char *at = from; (at = memchr(at, '[', (size_t)(end - at))); at++) {
		const char *digits = at + 1;

		while (digits < end && is_digit(*digits))
			digits++;
		if (digits > at + 1 && digits < end && *digits == ']' &&
		    task_read(from, at, separator, event) && rest_read(digits + 1, end, event))
			return true;
	}
	return separator == ' ' && split_without_cpu(from, end, event);
}

/* ---- threads ---- */

static struct kernel_thread *thread_get(struct kernel_events *events, uint32_t tid)
{
	uint32_t index = number_map_get(&events->tids, tid);
	struct kernel_thread *thread;

	if (index != NUMBER_MAP_NONE)
		return &events->threads.at[index];
	number_map_put(&events->tids, tid, (uint32_t)events->threads.count);
	thread = array_push(&events->threads);
	thread->tid = tid;
	return thread;
}

static void task_keep(struct kernel_thread *thread, const struct syscall_text *task)
{
	size_t bytes = task->bytes < TASK_BYTES ? task->bytes : TASK_BYTES;

	memset(thread->task, 0, TASK_BYTES);
	memcpy(thread->task, task->at, bytes);
}

static unsigned int fork_flags(const struct kernel_thread *thread)
{
	const struct syscall_text text = {thread->text, thread->bytes};

	return syscall_fork_flags(thread->kind, &text, true);
}

/*
 * A thread is seen for the first time: it is the child of one that is in a fork and is called the
 * same, if there is one.
 */
static void thread_appears(struct kernel_events *events, const struct kernel_event *event)
{
	struct kernel_thread *parent = NULL;
	struct calls_when when = {.time_ns = events->last_ns - events->first_ns,
				  .line = event->line <= UINT32_MAX ? (uint32_t)event->line : 0};
	char task[TASK_BYTES] = {0};

	memcpy(task, event->task.at,
	       event->task.bytes < TASK_BYTES ? event->task.bytes : (size_t)TASK_BYTES);
	for (size_t i = 0; i < events->threads.count; i++) {
		struct kernel_thread *at = &events->threads.at[i];

		if (at->is_in_call && at->kind && syscall_is_fork(at->kind) && !at->child &&
		    memcmp(at->task, task, TASK_BYTES) == 0 && (!parent || at->line < parent->line))
			parent = at;
	}
	if (!parent)
		return;
	parent->child = event->tid;
	when.tid = parent->tid;
	calls_fork(events->ops.calls, &when, event->tid, fork_flags(parent));
}

static struct calls_when when_of(const struct kernel_events *events,
				 const struct kernel_event *event, uint64_t time_ns)
{
	return (struct calls_when){
		.time_ns = time_ns > events->first_ns ? time_ns - events->first_ns : 0,
		.tid = event->tid,
		.pid = event->pid,
		.line = event->line <= UINT32_MAX ? (uint32_t)event->line : 0,
	};
}

/* ---- calls ---- */

static bool begins(const struct syscall_text *text, const char *beginning)
{
	size_t bytes = strlen(beginning);

	return text->bytes >= bytes && memcmp(text->at, beginning, bytes) == 0;
}

static struct syscall_text behind(const struct syscall_text *text, size_t bytes)
{
	return (struct syscall_text){text->at + bytes, text->bytes - bytes};
}

/* "NR 257 (ffffff9c, ...)" or "NR 257 = 3": the number, and the rest from its '(' or '=' on. */
static bool number_split(const struct syscall_text *text, uint64_t *number,
			 struct syscall_text *rest)
{
	const char *at = text->at, *end = at + text->bytes, *from;
	struct syscall_text digits;

	if (!begins(text, "NR "))
		return false;
	from = at = blanks_skip(at + 3, end);
	if (at < end && *at == '-')
		at++;
	while (at < end && is_digit(*at))
		at++;
	digits = (struct syscall_text){from, (size_t)(at - from)};
	if (!text_number(&digits, false, number))
		return false;
	at = blanks_skip(at, end);
	*rest = (struct syscall_text){at, (size_t)(end - at)};
	return rest->bytes > 0;
}

/* Arguments at commas, each without its "name: ". */
static void arguments_split(struct syscall *call, const char *text, size_t bytes)
{
	const char *at = text, *end = text + bytes;

	call->argument_count = 0;
	while (at < end && call->argument_count < SYSCALL_ARGUMENTS_MAX) {
		const char *stop = at, *colon;
		bool in_string = false;

		for (; stop < end && (in_string || *stop != ','); stop++) {
			if (*stop == '\\' && in_string && stop + 1 < end)
				stop++;
			else if (*stop == '"')
				in_string = !in_string;
		}
		colon = memmem(at, (size_t)(stop - at), ": ", 2);
		if (colon)
			at = colon + 2;
		at = blanks_skip(at, stop);
		call->arguments[call->argument_count++] =
			(struct syscall_text){at, (size_t)(stop - at)};
		at = stop < end ? stop + 1 : end;
	}
}

static bool call_begins(struct kernel_events *events, struct import *import,
			const struct kernel_event *event, const struct syscall_kind *kind,
			struct syscall_text arguments)
{
	struct kernel_thread *thread = thread_get(events, event->tid);

	if (arguments.bytes && arguments.at[0] == '(')
		arguments = behind(&arguments, 1);
	if (arguments.bytes && arguments.at[arguments.bytes - 1] == ')')
		arguments.bytes--;
	if (thread->is_in_call && thread->kind && !syscall_is_exit(thread->kind))
		import_note(import, &unreturned, 1, thread->line);
	thread->is_in_call = true;
	thread->kind = kind;
	thread->child = 0;
	thread->inodes = 0;
	thread->time_ns = event->time_ns;
	thread->line = event->line;
	thread->bytes = arguments.bytes < TEXT_BYTES ? arguments.bytes : (size_t)TEXT_BYTES;
	memcpy(thread->text, arguments.at, thread->bytes);
	task_keep(thread, &event->task);
	if (kind && syscall_is_exit(kind)) {
		struct syscall call = {.kind = kind};
		struct calls_when when = when_of(events, event, event->time_ns);

		syscall_tell(events->ops.calls, &when, &call);
	}
	return true;
}

/* It has begun another thread, which may have been heard of already. */
static bool child_is_known(struct kernel_events *events, const struct kernel_thread *thread,
			   int64_t result)
{
	return result > 0 && result <= UINT32_MAX && thread->child == (uint32_t)result &&
	       number_map_get(&events->tids, (uint32_t)result) != NUMBER_MAP_NONE;
}

/*
 * While it read or wrote, pages of one inode only were used or came: then that is what its
 * descriptor leads to.
 */
static void file_tell(struct kernel_events *events, const struct calls_when *when,
		      const struct syscall *call, const struct kernel_thread *thread)
{
	const struct calls_facts facts = {
		.has_inode = true, .device = thread->device, .inode = thread->inode};
	int fd;

	if (call->result > 0 && argument_fd(call, 0, &fd))
		calls_known_file(events->ops.calls, when, fd, &facts);
}

static bool call_ends(struct kernel_events *events, struct import *import,
		      const struct kernel_event *event, const struct syscall_kind *kind,
		      int64_t result)
{
	struct kernel_thread *thread = thread_get(events, event->tid);
	struct syscall call = {.kind = kind, .result = result, .is_hexadecimal = true};
	struct calls_when when = when_of(events, event, thread->time_ns);
	enum syscall_way way;

	if (!thread->is_in_call || thread->kind != kind) {
		/* The child of a fork returns from what its parent began. */
		if (kind && !(syscall_is_fork(kind) && result == 0))
			import_note(import, &unbegun, 1, event->line);
		thread->is_in_call = false;
		return true;
	}
	thread->is_in_call = false;
	if (!kind)
		return true;
	call.machine = events->machine;
	way = syscall_way(kind);
	if (way != SYSCALL_MOVES_NOTHING && result > 0 && event->time_ns >= thread->time_ns)
		import_response(import, way == SYSCALL_WRITES, event->time_ns - thread->time_ns);
	if (syscall_is_fork(kind)) {
		if (child_is_known(events, thread, result))
			return true;
		if (result > 0 && result <= UINT32_MAX)
			(void)thread_get(events, (uint32_t)result);
		thread = thread_get(events, event->tid);
	}
	arguments_split(&call, thread->text, thread->bytes);
	if (way != SYSCALL_MOVES_NOTHING && thread->inodes == 1)
		file_tell(events, &when, &call, thread);
	syscall_tell(events->ops.calls, &when, &call);
	return true;
}

/* "0x3", "3", "-2", "0xfffffffffffffffe" */
static bool result_read(const struct syscall_text *text, int64_t *result)
{
	struct syscall_text number = *text;
	uint64_t value;
	const char *blank;

	while (number.bytes && number.at[0] == ' ')
		number = behind(&number, 1);
	blank = memchr(number.at, ' ', number.bytes);
	if (blank)
		number.bytes = (size_t)(blank - number.at);
	if (!text_number(&number, false, &value))
		return false;
	*result = (int64_t)value;
	return true;
}

/* "raw_syscalls:sys_enter", "sys_enter": by number. */
static bool raw_take(struct kernel_events *events, struct import *import,
		     const struct kernel_event *event, bool is_end)
{
	struct syscall_text rest;
	uint64_t number;
	const struct syscall_kind *kind;
	int64_t result;

	if (!number_split(&event->text, &number, &rest))
		return false;
	kind = syscall_numbered(number, events->machine);
	if (!is_end)
		return call_begins(events, import, event, kind, rest);
	rest = behind(&rest, 1);
	return result_read(&rest, &result) && call_ends(events, import, event, kind, result);
}

/* "sys_enter_read", "sys_exit_read"; or ftrace's own "sys_read(fd: 3, ...)" and "sys_read -> 0x10". */
static bool named_take(struct kernel_events *events, struct import *import,
		       const struct kernel_event *event, const struct syscall_text *name)
{
	struct syscall_text call, text = event->text;
	bool is_own = begins(&text, "(") || begins(&text, "->"), is_end = begins(&text, "->");
	int64_t result;

	call = behind(name, 4);
	if (!is_own && begins(name, "sys_enter_")) {
		call = behind(name, 10);
	} else if (!is_own && begins(name, "sys_exit_")) {
		call = behind(name, 9);
		is_end = true;
	}
	if (!is_end)
		return call_begins(events, import, event, syscall_named(call.at, call.bytes), text);
	if (is_own)
		text = behind(&text, 2);
	return result_read(&text, &result) &&
	       call_ends(events, import, event, syscall_named(call.at, call.bytes), result);
}

/* ---- events ---- */

static struct syscall_text without_system(const struct syscall_text *name, const char *system)
{
	return begins(name, system) ? behind(name, strlen(system)) : *name;
}

static bool is_name(const struct syscall_text *name, const char *text)
{
	return name->bytes == strlen(text) && memcmp(name->at, text, name->bytes) == 0;
}

/* Pages of this inode were used within the thread's call, if it is in one. */
static void inode_keep(struct kernel_events *events, const struct kernel_event *event)
{
	const struct filemap *filemap = &events->filemap;
	uint32_t index = number_map_get(&events->tids, event->tid);
	struct kernel_thread *thread;

	if (index == NUMBER_MAP_NONE)
		return;
	thread = &events->threads.at[index];
	if (!thread->is_in_call || (thread->inodes && thread->device == filemap->last_device &&
				    thread->inode == filemap->last_inode))
		return;
	thread->inodes++;
	thread->device = filemap->last_device;
	thread->inode = filemap->last_inode;
}

static bool filemap_take(struct kernel_events *events, struct import *import,
			 const struct kernel_event *event, enum filemap_kind kind)
{
	struct op op = {.thread = event->tid};
	bool is_op;

	if (!filemap_read(&events->filemap, import, kind, &event->text, &event->task, &op, &is_op))
		return false;
	if (kind == FILEMAP_ADDED || kind == FILEMAP_USED)
		inode_keep(events, event);
	if (is_op && import->is_second && !events->has_calls) {
		op.time_ns = events->last_ns - events->first_ns;
		op.line = event->line <= UINT32_MAX ? (uint32_t)event->line : 0;
		*array_push(&events->ops.queue) = op;
	}
	return true;
}

static void time_take(struct kernel_events *events, struct import *import,
		      const struct kernel_event *event)
{
	import_stamp(import, event->time_ns);
	if (!events->any)
		events->first_ns = events->last_ns = event->time_ns;
	events->any = true;
	if (event->time_ns < events->last_ns)
		import_note(import, &back_steps, 1, event->line);
	else
		events->last_ns = event->time_ns;
}

bool kernel_event_take(struct kernel_events *events, struct import *import,
		       const struct kernel_event *event)
{
	struct syscall_text raw = without_system(&event->name, "raw_syscalls:");
	struct syscall_text name = without_system(&event->name, "syscalls:");
	enum filemap_kind kind = filemap_event(&event->name);

	calls_step(events->ops.calls, event->line);
	events->filemap.last_pages = 0;
	time_take(events, import, event);
	if (kind != FILEMAP_OTHER)
		return filemap_take(events, import, event, kind);
	if (!begins(&raw, "sys_") && !begins(&name, "sys_")) {
		if (memmem(event->name.at, event->name.bytes, "io_uring_submit", 15))
			events->io_uring_events++;
		else
			events->other_events++;
		return true;
	}
	events->calls++;
	if (!thread_get(events, event->tid)->was_seen)
		thread_appears(events, event);
	thread_get(events, event->tid)->was_seen = true;
	if (is_name(&raw, "sys_enter") || is_name(&raw, "sys_exit"))
		return raw_take(events, import, event, is_name(&raw, "sys_exit"));
	return named_take(events, import, event, &name);
}

void kernel_events_lost(struct import *import, uint64_t count, uint64_t line)
{
	if (count)
		import_note(import, &lost, count, line);
	else
		import_note(import, &losses, 1, line);
}

void kernel_events_finish(struct kernel_events *events, struct import *import)
{
	if (events->is_finished)
		return;
	events->is_finished = true;
	for (size_t i = 0; i < events->threads.count; i++) {
		const struct kernel_thread *thread = &events->threads.at[i];

		if (thread->is_in_call && thread->kind && !syscall_is_exit(thread->kind))
			import_note(import, &unreturned, 1, thread->line);
	}
	if (events->calls) {
		import_note(import, &no_names, 1, 0);
		import_note(import, &call_ops_cannot_see, 1, 0);
	}
	if (events->io_uring_events)
		import_note(import, &io_uring, events->io_uring_events, 0);
	if (events->other_events)
		import_note(import, &others, events->other_events, 0);
	filemap_note(&events->filemap, import, events->has_calls);
	if (events->calls)
		call_ops_finish(&events->ops, import);
	else if (!import->is_second)
		filemap_found(&events->filemap, import);
}

/* ---- two readings ---- */

void kernel_events_begin(struct kernel_events *events, struct import *import)
{
	*events = (struct kernel_events){0};
	call_ops_begin(&events->ops, import);
}

static void threads_deinit(struct kernel_events *events)
{
	array_deinit(&events->threads);
	number_map_deinit(&events->tids);
}

void kernel_events_again(struct kernel_events *events, struct import *import)
{
	struct call_ops ops = events->ops;
	struct filemap filemap = events->filemap;
	bool has_calls = events->calls > 0;

	threads_deinit(events);
	*events = (struct kernel_events){.ops = ops, .filemap = filemap, .has_calls = has_calls};
	filemap_again(&events->filemap);
	call_ops_again(&events->ops, import);
}

void kernel_events_deinit(struct kernel_events *events)
{
	threads_deinit(events);
	filemap_deinit(&events->filemap);
	call_ops_deinit(&events->ops);
}
