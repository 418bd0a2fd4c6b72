/*
 * strace: the text that strace writes, with -o or to the terminal
 *
 *     4100  1796029365.014275 openat(AT_FDCWD</data>, "a", O_RDWR) = 3</data/a> <0.000011>
 *     [pid  4101] pread64(3,  <unfinished ...>
 *     [pid  4101] <... pread64 resumed>"\0\0"..., 8192, 0) = 8192
 *
 * Idea       a line is a prefix (whose, when), a call, its result, and how long it took; each but the
 *            call may be missing. A call that was interrupted by another's line is put together when
 *            it is resumed, and counts then. What a call means is calls.h's business.
 * Accepts    -f, -ff, -t, -tt, -ttt, -r, -T, -y, -yy, -Y, -x, -xx, -v, -n, -i, -k, -C, -X raw, -e raw,
 *            strings cut by -s, and what strace and its tracees say in between: exits, signals,
 *            attached processes, personalities.
 * Times      of the line on which a call began. -t, -tt: the time of day, which passes midnight when
 *            it goes back by more than 12 hours. -r: the sum. None: all ops are at 0.
 * Threads    a thread that shows up while a fork has not returned yet is taken for its child. One of
 *            which nothing tells where it comes from is a process of its own, unless strace said that
 *            it attached to one with so many threads. Lines without a number are the first process's,
 *            or, when there are others, of the only one left.
 * Terminals  what strace and the traced programs write there comes in the middle of lines: a call that
 *            another process attaches to, or that writes there itself, is put together again.
 * -ff        writes a file for each thread, NAME.PID. Such a file is read alone if it is named itself; NAME, or a directory,
 *            means all of them, in the order of their time stamps (op/file_set.h).
 * Source     strace 4.26 to 6.1: src/strace.c (printleader), src/syscall.c, src/util.c, strace(1).
 */
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/calls/call_ops.h"
#include "op/file_set.h"
#include "op/import.h"
#include "op/number_map.h"
#include "op/rows/rows.h"
#include "op/calls/syscall.h"

enum {
	OUTPUT_LINES_MAX = 10000,          /* in the middle of one call */
	LINE_BYTES_MAX = 64 * 1024 * 1024, /* strings are as long as -s says, times four */
	PID_MAX = 4194304,                 /* Linux include/linux/threads.h, PID_MAX_LIMIT */
	DAY_S = 24 * 3600,
};

/* A call that has begun and not returned. */
struct pending {
	char *text; /* from its name on */
	size_t bytes, capacity;
	uint64_t time_ns, line;
	const struct syscall_kind *kind; /* NULL: none that matters */
	uint32_t child; /* the thread that it is taken to have begun; 0: none yet */
	bool is_there;
};

struct thread {
	uint32_t tid;
	bool is_alive;
	struct pending pending;
};

/*
 * A line that was interrupted on a terminal: by a message of strace's, and then the next line goes on
 * with it, or by what the call itself wrote there, up to a line that ends with a result.
 */
enum broken_by { BROKEN_NOT, BROKEN_BY_MESSAGE, BROKEN_BY_OUTPUT };

struct broken {
	enum broken_by by;
	char *text;
	size_t bytes, capacity;
	uint64_t line, lines;
};

enum clock { CLOCK_UNKNOWN, CLOCK_NONE, CLOCK_DAY, CLOCK_EPOCH, CLOCK_RELATIVE };

struct strace {
	struct rows rows;
	struct input *input; /* the one that is import's own, while rows are another file's */
	struct call_ops ops;
	struct broken broken;
	ARRAY(struct thread) threads;
	struct number_map tids;
	enum clock clock;
	uint64_t first_ns, last_ns; /* as stamped, with the days that have passed */
	uint64_t time_ns;           /* since the first */
	uint64_t days;
	uint32_t main_tid;        /* of lines without a number; 0: not known */
	uint32_t file_tid;        /* likewise, by the name of the file that the row is of */
	uint32_t attached_leader; /* "Process N attached with K threads"; 0: none, or several */
	uint32_t attached_left, attached_count;
	bool has_numbered; /* there were lines with a number */
	bool in_summary;   /* -C: the rest of the file is a table */
	bool is_finished;  /* this reading */
	uint64_t step;     /* rows, of all files */
};

/* A line, taken apart as far as its payload. */
struct line {
	const char *at, *end; /* the payload */
	uint32_t tid;
	bool has_tid;
	bool has_stamp;
	uint64_t number; /* of the row */
};

static const struct import_remark unreturned = {
	.key = "calls_not_returned",
	.one = "call did not return within the trace, or its return was not seen: left out",
	.many = "calls did not return within the trace, or their returns were not seen: left out",
};

static const struct import_remark unbegun = {
	.key = "calls_not_begun",
	.one = "call returned of which the beginning is not in the trace: left out",
	.many = "calls returned of which the beginnings are not in the trace: left out",
};

static const struct import_remark signals = {
	.key = "signals",
	.one = "signal",
	.many = "signals",
};

static const struct import_remark back_steps = {
	.key = "lines_out_of_order",
	.one = "line is out of time order",
	.many = "lines are out of time order",
};

static const struct import_remark no_stamps = {
	.key = "no_time_stamps",
	.one = "there are no time stamps: all operations are at the beginning, in their order",
	.is_warning = true,
};

/* ---- small things ---- */

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

static bool begins(const char *at, const char *end, const char *text)
{
	size_t bytes = strlen(text);

	return (size_t)(end - at) >= bytes && memcmp(at, text, bytes) == 0;
}

static bool ends(const char *at, const char *end, const char *text)
{
	size_t bytes = strlen(text);

	return (size_t)(end - at) >= bytes && memcmp(end - bytes, text, bytes) == 0;
}

/* Digits, as many as there are. False: none, or too many. */
static bool digits_read(const char **at, const char *end, uint64_t *value)
{
	const char *from = *at;

	*value = 0;
	while (*at < end && is_digit(**at))
		if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*(*at)++ - '0'), value))
			return false;
	return *at > from;
}

/* What follows the point: ".014275" in ns. */
static uint64_t fraction_read(const char **at, const char *end)
{
	uint64_t ns = 0, unit = NS_PER_SECOND / 10;

	if (*at == end || (**at != '.' && **at != ','))
		return 0;
	for (++*at; *at < end && is_digit(**at); ++*at, unit /= 10)
		ns += (uint64_t)(**at - '0') * unit;
	return ns;
}

/* ---- prefixes ---- */

/* Behind "<...>" if there is one: the command's name, of -Y. */
static const char *command_skip(const char *at, const char *end)
{
	const char *close = at < end && *at == '<' ? memchr(at, '>', (size_t)(end - at)) : NULL;

	return close ? close + 1 : at;
}

/* "4100 ", "4100<bash> ", "[pid  4100] ". False: there is none. */
static bool pid_read(const char **from, const char *end, uint32_t *pid)
{
	const char *at = *from;
	bool has_bracket = begins(at, end, "[pid ");
	uint64_t value;

	if (has_bracket)
		at = blanks_skip(at + 5, end);
	if (!digits_read(&at, end, &value) || value > PID_MAX)
		return false;
	at = command_skip(at, end);
	if (at == end || *at != (has_bracket ? ']' : ' '))
		return false;
	*pid = (uint32_t)value;
	*from = blanks_skip(at + 1, end);
	return true;
}

struct stamp {
	enum clock clock;
	uint64_t ns;
};

/* "23:59:58", "23:59:58.900112", "1796029365.014275", "0.000123", "(+     0.000123)" */
static bool stamp_read(const char **from, const char *end, struct stamp *stamp)
{
	const char *at = *from;
	bool has_bracket = begins(at, end, "(+");
	uint64_t number, minutes, seconds;

	if (has_bracket)
		at = blanks_skip(at + 2, end);
	if (!digits_read(&at, end, &number))
		return false;
	if (at < end && *at == ':' && !has_bracket) {
		at++;
		if (!digits_read(&at, end, &minutes) || at == end || *at++ != ':' ||
		    !digits_read(&at, end, &seconds) || number > 24 || minutes > 59 || seconds > 60)
			return false;
		*stamp = (struct stamp){CLOCK_DAY, (number * 3600 + minutes * 60 + seconds)};
	} else if (number > PID_MAX || (at < end && (*at == '.' || *at == ','))) {
		/* Nobody ran strace in 1970, or waited three years for a call. */
		*stamp = (struct stamp){number > 100000000 ? CLOCK_EPOCH : CLOCK_RELATIVE, number};
	} else {
		return false;
	}
	if (stamp->ns > OP_TIME_MAX / NS_PER_SECOND - DAY_S)
		return false;
	stamp->ns = stamp->ns * NS_PER_SECOND + fraction_read(&at, end);
	if (has_bracket) {
		if (at == end || *at++ != ')')
			return false;
		stamp->clock = CLOCK_RELATIVE;
	}
	if (at < end && *at != ' ')
		return false;
	*from = blanks_skip(at, end);
	return true;
}

/* "[ 257] " of -n, "[00007f1234] " or "[????????] " of -i. */
static const char *bracket_skip(const char *at, const char *end)
{
	const char *to = at + 1;

	if (at == end || *at != '[')
		return at;
	while (to < end &&
	       (is_digit(*to) || *to == ' ' || *to == '?' || (*to >= 'a' && *to <= 'f')))
		to++;
	return to < end && *to == ']' && to > at + 1 ? blanks_skip(to + 1, end) : at;
}

/* Which of two stamps to go by: a clock's rather than the time since the line before. */
static bool is_better(const struct stamp *stamp, const struct stamp *than)
{
	return than->clock == CLOCK_UNKNOWN || than->clock == CLOCK_RELATIVE ||
	       stamp->clock == than->clock;
}

static struct line line_split(const struct row *row, struct stamp *stamp)
{
	struct line line = {.at = (const char *)row->at, .end = (const char *)row->end};
	struct stamp next;
	uint32_t pid;

	line.number = row->line;
	*stamp = (struct stamp){CLOCK_UNKNOWN, 0};
	line.at = blanks_skip(line.at, line.end);
	if (pid_read(&line.at, line.end, &pid)) {
		line.tid = pid;
		line.has_tid = true;
	}
	while (stamp_read(&line.at, line.end, &next)) {
		if (is_better(&next, stamp))
			*stamp = next;
		line.has_stamp = true;
	}
	line.at = bracket_skip(bracket_skip(line.at, line.end), line.end);
	while (line.end > line.at && (line.end[-1] == ' ' || line.end[-1] == '\t'))
		line.end--;
	return line;
}

/* ---- calls ---- */

enum verdict { CALL_FINE, CALL_UNRETURNED, CALL_WRONG };

/* Behind the string that begins at `at`, which is a quote. NULL: it does not end. */
static const char *string_end(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '"')
			return at + 1;
	}
	return NULL;
}

/* Does the "<" at `at` begin what is told of the descriptor before it? */
static bool is_annotation(const char *at, const char *from)
{
	return at > from && (is_digit(at[-1]) || begins(at - 1, at, "D"));
}

/*
 * Take the arguments apart, from behind the parenthesis. Returns the place behind the closing one;
 * NULL: there is none.
 */
static const char *arguments_split(const char *at, const char *end, struct syscall *call)
{
	const char *from = at, *next;
	unsigned int depth = 0;

	call->argument_count = 0;
	while (at < end) {
		switch (*at) {
		case '"':
			at = string_end(at, end);
			if (!at)
				return NULL;
			continue;
		case '<':
			next = is_annotation(at, from) ? syscall_annotation_end(at, end) : NULL;
			at = next ? next : at + 1;
			continue;
		case '/':
			next = begins(at, end, "/*") ? memmem(at, (size_t)(end - at), "*/", 2)
						     : NULL;
			at = next ? next + 2 : at + 1;
			continue;
		case '(':
		case '[':
		case '{':
			depth++;
			break;
		case ']':
		case '}':
			depth -= depth > 0;
			break;
		case ')':
		case ',':
			if (depth > 0) {
				depth -= *at == ')';
				break;
			}
			if (call->argument_count < SYSCALL_ARGUMENTS_MAX &&
			    (at > from || *at == ','))
				call->arguments[call->argument_count++] =
					(struct syscall_text){from, (size_t)(at - from)};
			if (*at == ')')
				return at + 1;
			from = blanks_skip(at + 1, end);
			break;
		default:
			break;
		}
		at++;
	}
	return NULL;
}

/* "<0.000011>" at the end. */
static bool duration_read(const char *from, const char **end, uint64_t *ns)
{
	const char *open, *at;
	uint64_t seconds;

	if (!ends(from, *end, ">"))
		return false;
	open = memrchr(from, '<', (size_t)(*end - from));
	at = open ? open + 1 : NULL;
	if (!open || !digits_read(&at, *end, &seconds) || at == *end || *at != '.' ||
	    seconds > DAY_S * 1000)
		return false;
	*ns = seconds * NS_PER_SECOND + fraction_read(&at, *end);
	if (at != *end - 1)
		return false;
	while (open > from && open[-1] == ' ')
		open--;
	*end = open;
	return true;
}

/* "-1 ENOENT (No such file or directory)", "-1 (errno 2)" of raw ones. */
static int64_t error_read(const char *at, const char *end)
{
	const char *from = at = blanks_skip(at, end);
	uint64_t number;

	if (begins(at, end, "(errno ")) {
		at += 7;
		return digits_read(&at, end, &number) && number < 4096 ? -(int64_t)number
								       : CALLS_FAILED;
	}
	while (at < end && *at >= 'A' && *at <= 'Z')
		at++;
	return syscall_error_named(from, (size_t)(at - from));
}

/* What stands behind the arguments: " = 3</data/a> <0.000011>". */
static enum verdict result_read(const char *at, const char *end, struct syscall *call,
				uint64_t *duration_ns)
{
	struct syscall_text number;
	const char *from;
	uint64_t value;

	at = blanks_skip(at, end);
	if (at == end || *at != '=')
		return CALL_WRONG;
	from = at = blanks_skip(at + 1, end);
	if (at == end)
		return CALL_WRONG;
	if (*at == '?')
		return CALL_UNRETURNED;
	(void)duration_read(at, &end, duration_ns);
	while (at < end && *at != ' ' && *at != '<' && *at != '(')
		at++;
	number = (struct syscall_text){from, (size_t)(at - from)};
	if (!text_number(&number, false, &value))
		return CALL_WRONG;
	call->result = (int64_t)value;
	call->tail = (struct syscall_text){at, (size_t)(end - at)};
	/* Addresses may look negative; -1 alone is an error. */
	if (*from == '-')
		call->result = error_read(at, end);
	return CALL_FINE;
}

/* The name at `at`, up to its parenthesis. NULL: it is none. */
static const char *name_end(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && (is_digit(*at) || (*at >= 'a' && *at <= 'z') ||
			    (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == '?' || *at == '#'))
		at++;
	return at > from && at < end && *at == '(' && !is_digit(*from) ? at : NULL;
}

static enum verdict call_read(const char *at, const char *end, struct syscall *call,
			      uint64_t *duration_ns)
{
	const char *name = name_end(at, end), *behind;

	if (!name)
		return CALL_WRONG;
	call->kind = syscall_named(at, (size_t)(name - at));
	behind = arguments_split(name + 1, end, call);
	if (!behind)
		return CALL_WRONG;
	return result_read(behind, end, call, duration_ns);
}

/* ---- threads ---- */

static struct thread *thread_find(struct strace *state, uint32_t tid)
{
	uint32_t index = number_map_get(&state->tids, tid);

	return index == NUMBER_MAP_NONE ? NULL : &state->threads.at[index];
}

static struct thread *thread_add(struct strace *state, uint32_t tid)
{
	struct thread *thread = thread_find(state, tid);

	if (!thread) {
		number_map_put(&state->tids, tid, (uint32_t)state->threads.count);
		thread = array_push(&state->threads);
		thread->tid = tid;
	}
	thread->is_alive = true;
	return thread;
}

/* A fork that has begun first, and has no child yet. */
static struct thread *fork_pending(struct strace *state)
{
	struct thread *oldest = NULL;

	for (size_t i = 0; i < state->threads.count; i++) {
		struct thread *at = &state->threads.at[i];

		if (at->pending.is_there && at->pending.kind && !at->pending.child &&
		    syscall_is_fork(at->pending.kind) &&
		    (!oldest || at->pending.line < oldest->pending.line))
			oldest = at;
	}
	return oldest;
}

/* Its text up to now, from behind the parenthesis. */
static unsigned int pending_fork_flags(const struct pending *pending)
{
	const char *open = memchr(pending->text, '(', pending->bytes);
	struct syscall_text shown = {open + 1, pending->bytes - (size_t)(open + 1 - pending->text)};

	return syscall_fork_flags(pending->kind, &shown, false);
}

static struct calls_when when_of(const struct strace *state, uint32_t tid, uint64_t line)
{
	return (struct calls_when){
		.time_ns = state->time_ns,
		.tid = tid,
		.line = line <= UINT32_MAX ? (uint32_t)line : 0,
	};
}

/* A thread that was never heard of: whose child is it? */
static void thread_appears(struct strace *state, uint32_t tid, uint64_t line)
{
	struct thread *parent = fork_pending(state);

	if (parent) {
		struct calls_when when = when_of(state, parent->tid, line);

		parent->pending.child = tid;
		calls_fork(state->ops.calls, &when, tid, pending_fork_flags(&parent->pending));
	} else if (state->attached_left && state->attached_leader &&
		   state->attached_leader != tid) {
		state->attached_left--;
		calls_same_process(state->ops.calls, tid, state->attached_leader);
	}
	(void)thread_add(state, tid);
}

/* The only thread that is left; else the first one. */
static uint32_t unnumbered_tid(struct strace *state)
{
	uint32_t alive = 0, tid = state->main_tid;

	if (!state->has_numbered)
		return state->main_tid;
	for (size_t i = 0; i < state->threads.count && alive < 2; i++)
		if (state->threads.at[i].is_alive) {
			alive++;
			tid = state->threads.at[i].tid;
		}
	return alive == 1 ? tid : state->main_tid;
}

/* The process whose lines had no number has one: this. */
static void main_is(struct strace *state, uint32_t tid)
{
	struct thread *main = thread_find(state, state->main_tid);

	if (!main)
		return;
	calls_renumber(state->ops.calls, state->main_tid, tid);
	/* It is the same thread: what has begun goes on under its number. */
	number_map_remove(&state->tids, state->main_tid);
	number_map_put(&state->tids, tid, (uint32_t)(main - state->threads.at));
	main->tid = tid;
	state->main_tid = tid;
}

static bool is_resumed_line(const struct line *line)
{
	return begins(line->at, line->end, "<... ");
}

/* Whose line is it? */
static uint32_t line_tid(struct strace *state, const struct line *line)
{
	uint32_t tid = line->tid;

	if (!line->has_tid) {
		tid = state->file_tid ? state->file_tid : unnumbered_tid(state);
		if (!thread_find(state, tid))
			(void)thread_add(state, tid);
		return tid;
	}
	if (!state->has_numbered && state->main_tid == 0 && thread_find(state, 0)) {
		struct thread *main = thread_find(state, 0);
		bool forks = main->pending.is_there && main->pending.kind &&
			     syscall_is_fork(main->pending.kind) && !main->pending.child;

		/* The first number is its own, or its first child's. */
		if (!thread_find(state, tid) && (!forks || is_resumed_line(line)))
			main_is(state, tid);
	} else if (state->main_tid == 0 && thread_find(state, 0) && !thread_find(state, tid) &&
		   (!fork_pending(state) || is_resumed_line(line))) {
		main_is(state, tid);
	}
	state->has_numbered = true;
	if (!thread_find(state, tid) || !thread_find(state, tid)->is_alive)
		thread_appears(state, tid, line->number);
	return tid;
}

static void pending_drop(struct import *import, struct thread *thread)
{
	if (thread->pending.is_there && thread->pending.kind &&
	    !syscall_is_exit(thread->pending.kind))
		import_note(import, &unreturned, 1, thread->pending.line);
	thread->pending.is_there = false;
	thread->pending.child = 0;
}

static void thread_exits(struct import *import, uint32_t tid, uint64_t line)
{
	struct strace *state = import->state;
	struct thread *thread = thread_find(state, tid);
	struct calls_when when = when_of(state, tid, line);

	calls_exit(state->ops.calls, &when, false);
	if (!thread)
		return;
	pending_drop(import, thread);
	thread->is_alive = false;
}

static bool is_of_files(const struct import *import)
{
	return import->files && import->files->members.count > 1;
}

/* ---- what a line says ---- */

static void call_tell(struct import *import, uint32_t tid, uint64_t time_ns, uint64_t line,
		      const struct syscall *call, uint64_t duration_ns)
{
	struct strace *state = import->state;
	struct calls_when when = when_of(state, tid, line);
	enum syscall_way way;

	/* In a file of its own a wait stands where it began, before what the child did meanwhile. */
	if (!call->kind || (is_of_files(import) && syscall_is_wait(call->kind)))
		return;
	when.time_ns = time_ns;
	way = syscall_way(call->kind);
	if (way != SYSCALL_MOVES_NOTHING && call->result > 0 && duration_ns != UINT64_MAX)
		import_response(import, way == SYSCALL_WRITES, duration_ns);
	if (syscall_is_fork(call->kind)) {
		struct thread *child = call->result > 0 && call->result <= UINT32_MAX
					       ? thread_find(state, (uint32_t)call->result)
					       : NULL;

		/* It has been heard of since this call began, and was taken for its child then. */
		if (child && child->is_alive &&
		    thread_find(state, tid)->pending.child == child->tid)
			return;
		if (call->result > 0 && call->result <= UINT32_MAX)
			(void)thread_add(state, (uint32_t)call->result);
	}
	syscall_tell(state->ops.calls, &when, call);
}

/* exit() never returns; others were interrupted, and begin again. */
static void unreturned_tell(struct import *import, uint32_t tid, uint64_t line,
			    const struct syscall *call)
{
	struct strace *state = import->state;
	struct calls_when when = when_of(state, tid, line);

	if (call->kind && syscall_is_exit(call->kind))
		syscall_tell(state->ops.calls, &when, call);
	else if (call->kind)
		import_note(import, &unreturned, 1, line);
}

static void pending_keep(struct pending *pending, const char *text, size_t bytes)
{
	if (pending->bytes + bytes > pending->capacity) {
		pending->capacity = (pending->bytes + bytes) * 2;
		pending->text = memory_resize(pending->text, pending->capacity, 1);
	}
	memcpy(pending->text + pending->bytes, text, bytes);
	pending->bytes += bytes;
}

/* "pread64(3,  <unfinished ...>": false: it is no such line. */
static bool unfinished_read(struct import *import, const struct line *line, uint32_t tid)
{
	static const char *const marks[] = {"<unfinished ...>", "<detached ...>"};
	struct strace *state = import->state;
	const char *name = name_end(line->at, line->end), *end = line->end, *mark;
	struct thread *thread = thread_find(state, tid);

	if (!name)
		return false;
	for (size_t i = 0; i < 2 && end == line->end; i++)
		if (ends(line->at, line->end, marks[i]))
			end -= strlen(marks[i]);
	/* "<pid changed to 4100 ...>": a thread's execve goes on as its leader's. */
	mark = ends(line->at, line->end, " ...>") && end == line->end
		       ? memmem(name, (size_t)(end - name), "<pid changed to ", 16)
		       : NULL;
	if (mark) {
		const char *at = mark + 16;
		uint64_t number;

		end = mark;
		if (digits_read(&at, line->end, &number) && number <= PID_MAX) {
			thread->is_alive = false;
			thread = thread_add(state, (uint32_t)number);
		}
	}
	if (end == line->end)
		return false;
	while (end > line->at && end[-1] == ' ')
		end--;
	pending_drop(import, thread);
	thread->pending.is_there = true;
	thread->pending.bytes = 0;
	thread->pending.time_ns = state->time_ns;
	thread->pending.line = line->number;
	thread->pending.kind = syscall_named(line->at, (size_t)(name - line->at));
	pending_keep(&thread->pending, line->at, (size_t)(end - line->at));
	return true;
}

/* "<... pread64 resumed>"\0\0"..., 8192, 0) = 8192": false: it cannot be read. */
static bool resumed_read(struct import *import, const struct line *line, uint32_t tid)
{
	struct strace *state = import->state;
	struct thread *thread = thread_find(state, tid);
	struct pending *pending = &thread->pending;
	const char *name = line->at + 5, *at = name, *behind;
	uint64_t duration_ns = UINT64_MAX;
	struct syscall call = {0};
	enum verdict verdict;

	while (at < line->end && *at != ' ')
		at++;
	behind = memmem(at, (size_t)(line->end - at), "resumed>", 8);
	if (!behind)
		return false;
	behind += 8;
	if (!pending->is_there || pending->bytes <= (size_t)(at - name) ||
	    memcmp(pending->text, name, (size_t)(at - name)) != 0 ||
	    pending->text[at - name] != '(') {
		if (syscall_named(name, (size_t)(at - name)))
			import_note(import, &unbegun, 1, line->number);
		pending_drop(import, thread);
		return true;
	}
	pending_keep(pending, " ", 1);
	pending_keep(pending, behind, (size_t)(line->end - behind));
	verdict = call_read(pending->text, pending->text + pending->bytes, &call, &duration_ns);
	if (verdict == CALL_WRONG)
		return false;
	if (verdict == CALL_FINE)
		call_tell(import, tid, pending->time_ns, line->number, &call, duration_ns);
	else
		unreturned_tell(import, tid, line->number, &call);
	thread = thread_find(state, tid); /* a child may have been added */
	thread->pending.is_there = false;
	thread->pending.child = 0;
	return true;
}

/* "exited with 0", "killed by SIGKILL", "superseded by execve in pid 4101" */
static void end_read(struct import *import, const struct line *line, uint32_t tid)
{
	struct strace *state = import->state;
	const char *at = line->at + 4;
	uint64_t number;

	if (begins(at, line->end, "superseded by execve in pid ")) {
		at += strlen("superseded by execve in pid ");
		/* It lives on: that thread's execve goes on under this number. */
		if (digits_read(&at, line->end, &number) && number <= PID_MAX && number != tid) {
			struct calls_when when = when_of(state, (uint32_t)number, line->number);

			calls_exit(state->ops.calls, &when, false);
		}
		return;
	}
	thread_exits(import, tid, line->number);
}

/* "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=4103, ...} ---" */
static void signal_read(struct import *import, const struct line *line, uint32_t tid)
{
	struct strace *state = import->state;
	size_t bytes = (size_t)(line->end - line->at);
	const char *pid = memmem(line->at, bytes, "si_pid=", 7);
	struct calls_when when = when_of(state, tid, line->number);
	struct thread *child;
	uint64_t number;

	import_note(import, &signals, 1, line->number);
	if (!pid || !begins(line->at, line->end, "--- SIGCHLD"))
		return;
	if (!memmem(line->at, bytes, "CLD_EXITED", 10) &&
	    !memmem(line->at, bytes, "CLD_KILLED", 10) &&
	    !memmem(line->at, bytes, "CLD_DUMPED", 10))
		return;
	pid += 7;
	if (!digits_read(&pid, line->end, &number) || number > PID_MAX)
		return;
	/* One whose own lines are seen says itself when it goes. */
	child = thread_find(state, (uint32_t)number);
	if (!child || !child->is_alive)
		calls_reaped(state->ops.calls, &when, (uint32_t)number);
}

/* "strace: Process 4101 attached", "Process 4101 attached with 3 threads". False: something else. */
static bool attached_read(struct strace *state, const struct line *line)
{
	const char *at = line->at;
	uint64_t pid, count;

	if (begins(at, line->end, "strace: "))
		at += 8;
	if (!begins(at, line->end, "Process "))
		return at != line->at;
	at += 8;
	if (!digits_read(&at, line->end, &pid) || pid > PID_MAX)
		return at != line->at + 8;
	if (!begins(at, line->end, " attached"))
		return true; /* " detached", " suspended", " resumed" */
	if (!thread_find(state, (uint32_t)pid) || !thread_find(state, (uint32_t)pid)->is_alive)
		thread_appears(state, (uint32_t)pid, line->number);
	at += 9;
	if (begins(at, line->end, " with ")) {
		at += 6;
		if (!digits_read(&at, line->end, &count) || count == 0 || count > PID_MAX)
			return true;
		/* Of several, nobody knows whose threads the numbers are that come. */
		state->attached_leader = state->attached_count++ ? 0 : (uint32_t)pid;
		state->attached_left = (uint32_t)count - 1;
	}
	return true;
}

/* What is no call's: frames of -k, personalities, the table of -C. */
static bool is_around(struct strace *state, const struct line *line)
{
	if (begins(line->at, line->end, "% time"))
		state->in_summary = true;
	return state->in_summary || begins(line->at, line->end, "> ") ||
	       begins(line->at, line->end, "[ Process PID=") ||
	       begins(line->at, line->end, "[ Detached ]");
}

static bool payload_read(struct import *import, const struct line *line, uint32_t tid)
{
	struct strace *state = import->state;
	uint64_t duration_ns = UINT64_MAX;
	struct syscall call = {0};

	if (begins(line->at, line->end, "+++ ") && ends(line->at, line->end, " +++")) {
		end_read(import, line, tid);
		return true;
	}
	if (begins(line->at, line->end, "--- ") && ends(line->at, line->end, " ---")) {
		signal_read(import, line, tid);
		return true;
	}
	if (is_resumed_line(line))
		return resumed_read(import, line, tid);
	if (unfinished_read(import, line, tid))
		return true;
	switch (call_read(line->at, line->end, &call, &duration_ns)) {
	case CALL_FINE:
		pending_drop(import, thread_find(state, tid));
		call_tell(import, tid, state->time_ns, line->number, &call, duration_ns);
		return true;
	case CALL_UNRETURNED:
		unreturned_tell(import, tid, line->number, &call);
		return true;
	case CALL_WRONG:
		break;
	}
	return false;
}

/* Is it one of strace's lines? */
static bool is_strace(const struct row *row, bool *is_call)
{
	struct stamp stamp;
	struct line line = line_split(row, &stamp);
	struct syscall call = {0};
	uint64_t duration_ns;

	*is_call = false;
	if (begins(line.at, line.end, "+++ ") || begins(line.at, line.end, "--- SIG") ||
	    begins(line.at, line.end, "strace: Process "))
		return true;
	if (begins(line.at, line.end, "<... "))
		return memmem(line.at, (size_t)(line.end - line.at), " resumed>", 9) != NULL;
	*is_call = name_end(line.at, line.end) &&
		   (ends(line.at, line.end, "<unfinished ...>") ||
		    call_read(line.at, line.end, &call, &duration_ns) != CALL_WRONG);
	return *is_call;
}

/* ---- lines that a terminal broke ---- */

enum broken_state { BROKEN_NONE, BROKEN_LASTS, BROKEN_MENDED, BROKEN_LOST };

static void broken_keep(struct broken *broken, const char *text, size_t bytes)
{
	if (broken->bytes + bytes > broken->capacity) {
		broken->capacity = (broken->bytes + bytes) * 2;
		broken->text = memory_resize(broken->text, broken->capacity, 1);
	}
	memcpy(broken->text + broken->bytes, text, bytes);
	broken->bytes += bytes;
}

/* Where "strace: Process 4101 attached" begins at the line's end; NULL: it does not. */
static const char *message_at_end(const struct line *line)
{
	size_t bytes = (size_t)(line->end - line->at);
	const char *at = memmem(line->at, bytes, "Process ", 8), *digits;
	uint64_t number;

	if (!at)
		return NULL;
	digits = at + 8;
	if (!digits_read(&digits, line->end, &number) ||
	    (!begins(digits, line->end, " attached") && !begins(digits, line->end, " detached")) ||
	    line->end - digits > 40)
		return NULL;
	if (at - line->at >= 8 && memcmp(at - 8, "strace: ", 8) == 0)
		at -= 8;
	return at;
}

/* ")      = 6" at the line's end; NULL: there is none. */
static const char *result_at_end(const char *at, const char *end)
{
	const char *close = end;

	while ((close = memrchr(at, ')', (size_t)(close - at)))) {
		const char *equals = blanks_skip(close + 1, end);

		if (equals > close + 1 && begins(equals, end, "= "))
			return close;
	}
	return NULL;
}

/* Is ")   = 6" at `close` this result? */
static bool is_result(const char *close, const char *end, uint64_t expected)
{
	const char *at = blanks_skip(close + 1, end) + 1;
	uint64_t number;

	at = blanks_skip(at, end);
	return digits_read(&at, end, &number) && number == expected;
}

/* The end of what is its own in a write's line: its third argument's digits. NULL: it is no write. */
static const char *write_cut(const struct line *line)
{
	const char *name = name_end(line->at, line->end), *at;
	const struct syscall_kind *kind =
		name ? syscall_named(line->at, (size_t)(name - line->at)) : NULL;
	struct syscall call = {0};

	if (!kind || syscall_way(kind) != SYSCALL_WRITES)
		return NULL;
	(void)arguments_split(name + 1, line->end, &call);
	if (call.argument_count < 2)
		return NULL;
	at = call.arguments[1].at + call.arguments[1].bytes;
	if (at == line->end || *at != ',')
		return NULL;
	at = blanks_skip(at + 1, line->end);
	if (at == line->end || !is_digit(*at))
		return NULL;
	while (at < line->end && is_digit(*at))
		at++;
	return at;
}

/* A line that is no call as it stands: is it broken? What there is of it is kept. */
static enum broken_state broken_begins(struct broken *broken, const struct row *row,
				       const struct line *line)
{
	const char *from = (const char *)row->at, *cut = message_at_end(line), *close;

	broken->by = cut ? BROKEN_BY_MESSAGE : BROKEN_BY_OUTPUT;
	if (!cut)
		cut = write_cut(line);
	if (!cut || !row->is_ended) {
		broken->by = BROKEN_NOT;
		return BROKEN_NONE;
	}
	broken->line = row->line;
	broken->lines = broken->bytes = 0;
	broken_keep(broken, from, (size_t)(cut - from));
	/*
	 * All of it is in one line, with a parenthesis in what was written, and without a line end:
	 * then the line shows as many bytes as were written.
	 */
	close = broken->by == BROKEN_BY_OUTPUT ? result_at_end(cut, line->end) : NULL;
	if (!close || !is_result(close, line->end, (uint64_t)(close - cut)))
		return BROKEN_LASTS;
	broken_keep(broken, close, (size_t)(line->end - close));
	broken->by = BROKEN_NOT;
	return BROKEN_MENDED;
}

static enum broken_state broken_goes_on(struct broken *broken, const struct row *row)
{
	const char *at = (const char *)row->at, *end = (const char *)row->end, *rest = at;
	bool is_call;

	if (broken->by == BROKEN_NOT)
		return BROKEN_NONE;
	if (broken->by == BROKEN_BY_OUTPUT) {
		rest = begins(blanks_skip(at, end), end, "<unfinished ...>")
			       ? at
			       : result_at_end(at, end);
		if (rest != at && is_strace(row, &is_call) && is_call)
			return BROKEN_LOST;
		if (!rest)
			return ++broken->lines < OUTPUT_LINES_MAX ? BROKEN_LASTS : BROKEN_LOST;
	}
	broken_keep(broken, rest, (size_t)(end - rest));
	return BROKEN_MENDED;
}

/* As if it had been in one piece. */
static struct row broken_row(const struct broken *broken, const struct row *row)
{
	return (struct row){
		.at = (const unsigned char *)broken->text,
		.end = (const unsigned char *)broken->text + broken->bytes,
		.line = broken->line,
		.is_ended = row->is_ended,
	};
}

/* ---- reading ---- */

static void stamp_take(struct import *import, const struct stamp *stamp, uint64_t line)
{
	const uint64_t half_day_ns = DAY_S / 2 * NS_PER_SECOND;
	struct strace *state = import->state;
	uint64_t ns = stamp->ns;

	if (stamp->clock == CLOCK_UNKNOWN)
		return;
	if (state->clock == CLOCK_UNKNOWN) {
		state->clock = stamp->clock;
		state->first_ns = state->last_ns = stamp->clock == CLOCK_RELATIVE ? 0 : ns;
	}
	if (stamp->clock != state->clock)
		return;
	if (state->clock == CLOCK_RELATIVE) {
		if (ns > OP_TIME_MAX - state->last_ns)
			return;
		ns += state->last_ns;
	} else if (state->clock == CLOCK_DAY) {
		ns += state->days * DAY_S * NS_PER_SECOND;
		if (ns + half_day_ns < state->last_ns) {
			state->days++;
			ns += DAY_S * NS_PER_SECOND;
		}
	}
	import_stamp(import, ns);
	if (ns < state->last_ns)
		import_note(import, &back_steps, 1, line);
	else
		state->last_ns = ns;
	state->time_ns = ns > state->first_ns ? ns - state->first_ns : 0;
}

/* `is_mended`: it was in pieces, and its first one was looked at already. */
static bool line_read(struct import *import, const struct row *row, bool is_mended,
		      struct error *error)
{
	struct strace *state = import->state;
	struct stamp stamp;
	struct line line = line_split(row, &stamp);
	struct row whole;
	uint32_t tid;

	if (is_around(state, &line) || attached_read(state, &line))
		return true;
	if (!is_mended)
		stamp_take(import, &stamp, row->line);
	tid = line_tid(state, &line);
	if (payload_read(import, &line, tid)) {
		import->rows++;
		return true;
	}
	switch (is_mended ? BROKEN_NONE : broken_begins(&state->broken, row, &line)) {
	case BROKEN_LASTS:
		return true;
	case BROKEN_MENDED:
		whole = broken_row(&state->broken, row);
		return line_read(import, &whole, true, error);
	default:
		break;
	}
	if (!row->is_ended) {
		import_note(import, &import_last_line_cut, 1, row->line);
		return true;
	}
	return row_wrong(import, row, NULL, error,
			 "a system call was expected, as in \"close(3) = 0\"");
}

static bool row_read(struct import *import, const struct row *row, struct error *error)
{
	struct strace *state = import->state;
	struct broken *broken = &state->broken;
	struct row whole;
	struct error failure;

	if (row->is_too_long)
		return row_wrong(import, row, NULL, error, "the line is longer than 64 MiB");
	switch (broken_goes_on(broken, row)) {
	case BROKEN_NONE:
		return line_read(import, row, false, error);
	case BROKEN_LASTS:
		return true;
	case BROKEN_MENDED:
		broken->by = BROKEN_NOT;
		whole = broken_row(broken, row);
		return line_read(import, &whole, true, error);
	case BROKEN_LOST:
		break;
	}
	broken->by = BROKEN_NOT;
	whole = broken_row(broken, row);
	row_wrong(import, &whole, NULL, &failure, "this call does not end");
	if (!import_row_wrong(import, &failure)) {
		*error = failure;
		return false;
	}
	return line_read(import, row, false, error);
}

/* One file of several was named. */
static void siblings_remark(struct import *import)
{
	size_t bytes = strlen(import->input->name);
	char *stem = memory_alloc(bytes + 1, 1);
	struct file_set *all;

	memcpy(stem, import->input->name, bytes);
	stem[strrchr(stem, '.') - stem] = '\0';
	all = file_set_find(stem);
	if (all && all->members.count > 1)
		import_remark(import, "one_of_files", false, 0,
			      "one of %zu files of strace -ff: %.200s means all of them",
			      all->members.count, stem);
	file_set_destroy(all);
	memory_free(stem);
}

static void reading_finish(struct import *import)
{
	struct strace *state = import->state;

	if (state->broken.by != BROKEN_NOT)
		import_note(import, &import_last_line_cut, 1, state->broken.line);
	for (size_t i = 0; i < state->threads.count; i++)
		pending_drop(import, &state->threads.at[i]);
	if (state->clock == CLOCK_UNKNOWN)
		import_note(import, &no_stamps, 1, 0);
	if (is_of_files(import))
		import_remark(import, "files", false, 0,
			      "%zu files of strace -ff, in the order of their time stamps",
			      import->files->members.count);
	else if (state->main_tid && !state->has_numbered)
		siblings_remark(import);
	import_note(import, &call_ops_cannot_see, 1, 0);
	call_ops_finish(&state->ops, import);
}

/* For file_set.h: of the time of day or since 1970, and no other. */
static bool row_stamp(const struct row *row, uint64_t *ns, bool *is_day)
{
	struct stamp stamp;

	(void)line_split(row, &stamp);
	*ns = stamp.ns;
	*is_day = stamp.clock == CLOCK_DAY;
	return stamp.clock == CLOCK_DAY || stamp.clock == CLOCK_EPOCH;
}

static void threads_deinit(struct strace *state)
{
	for (size_t i = 0; i < state->threads.count; i++)
		memory_free(state->threads.at[i].pending.text);
	array_deinit(&state->threads);
	number_map_deinit(&state->tids);
}

/* "trace.4100", of -ff; 0: the name says nothing. */
static uint32_t name_number(const char *name)
{
	size_t bytes = strlen(name), at = bytes;
	const char *digits;
	uint64_t number;

	while (at > 0 && is_digit(name[at - 1]))
		at--;
	digits = name + at;
	if (at == 0 || name[at - 1] != '.' || !digits_read(&digits, name + bytes, &number) ||
	    number > PID_MAX)
		return 0;
	return (uint32_t)number;
}

/* Nothing is left of a reading before but what its calls have learned. */
static bool reading_begin(struct import *import, struct error *error)
{
	struct strace *state = import->state;
	struct call_ops ops = state->ops;

	threads_deinit(state);
	memory_free(state->broken.text);
	*state = (struct strace){
		.ops = ops,
		.rows.bytes_max = LINE_BYTES_MAX,
		.input = import->input,
		.main_tid = name_number(import->input->name),
	};
	return !is_of_files(import) ||
	       file_set_begin(import->files, LINE_BYTES_MAX, row_stamp, error);
}

static enum row_found row_get(struct import *import, struct row *row, struct error *error)
{
	struct strace *state = import->state;
	enum row_found found;

	if (!is_of_files(import))
		return row_next(&state->rows, import, row, error);
	found = file_set_next(import->files, import, row_stamp, row, &state->file_tid, error);
	if (found != ROW_FOUND)
		import->input = state->input;
	return found;
}

/* Of one of several files nobody could say which line it is. */
static bool row_of_one_read(struct import *import, struct row *row, struct error *error)
{
	struct strace *state = import->state;
	bool fine = row_read(import, row, error) || import_row_wrong(import, error);

	import->input = state->input;
	return fine;
}

static bool strace_next(struct import *import, struct op *ops, size_t count, size_t *got,
			struct error *error)
{
	struct strace *state = import->state;
	struct row row;

	for (;;) {
		*got = call_ops_take(&state->ops, ops, count);
		if (*got)
			return true;
		switch (row_get(import, &row, error)) {
		case ROW_FOUND:
			break;
		case ROW_END:
			if (!state->is_finished && call_ops_once_more(&state->ops, import, error)) {
				if (!reading_begin(import, error))
					return false;
				continue;
			}
			if (!state->is_finished)
				reading_finish(import);
			state->is_finished = true;
			return true;
		case ROW_FAILED:
			return false;
		}
		calls_step(state->ops.calls, ++state->step);
		if (!row_of_one_read(import, &row, error))
			return false;
	}
}

static bool strace_begin(struct import *import, struct error *error)
{
	struct strace *state = import->state;

	call_ops_begin(&state->ops, import);
	return reading_begin(import, error);
}

static bool strace_again(struct import *import, struct error *error)
{
	struct strace *state = import->state;

	call_ops_again(&state->ops, import);
	return reading_begin(import, error);
}

static void strace_end(struct import *import)
{
	struct strace *state = import->state;

	if (!state)
		return;
	threads_deinit(state);
	memory_free(state->broken.text);
	call_ops_deinit(&state->ops);
}

/* Of the lines in sight, a third are strace's as they stand: programs write to the same terminal. */
static enum import_match strace_match(const unsigned char *head, size_t bytes, bool whole)
{
	const unsigned char *at = head;
	unsigned int rows = 0, fine = 0, calls = 0;
	struct row row;

	while (row_peek(&at, head + bytes, whole, &row)) {
		bool is_call;

		rows++;
		fine += is_strace(&row, &is_call);
		calls += is_call;
	}
	return calls && fine * 3 >= rows ? IMPORT_LIKELY : IMPORT_NO;
}

const struct import_format format_strace = {
	.about = {.name = "strace", .summary = "the text that strace writes, with most options"},
	.readings = IMPORT_TWICE,
	.reads_sets = true,
	.state_bytes = sizeof(struct strace),
	.match = strace_match,
	.begin = strace_begin,
	.again = strace_again,
	.next = strace_next,
	.end = strace_end,
};
