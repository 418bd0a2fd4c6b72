/*
 * syscall: a system call as a trace shows it, told to calls.h
 *
 * strace, perf and ftrace print the same thing in three ways: a name or a number, arguments in the
 * kernel's order, a result. Who reads them takes a line apart into such a `struct syscall`; what the
 * arguments mean is known here, once for all of them: "O_RDWR|O_CREAT" and 0x42, "3</data/x>" and
 * 0x3, "[65536]" and a pointer. A pointer that the trace did not follow leaves a name or an offset
 * not known.
 */
#ifndef REFAULT_OP_CALLS_SYSCALL_H
#define REFAULT_OP_CALLS_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/calls/calls.h"

enum { SYSCALL_ARGUMENTS_MAX = 8 };

/* A piece of the trace's text. */
struct syscall_text {
	const char *at;
	size_t bytes;
};

enum syscall_machine { MACHINE_X86_64, MACHINE_ARM64 };

struct syscall {
	const struct syscall_kind *kind;
	struct syscall_text arguments[SYSCALL_ARGUMENTS_MAX];
	unsigned int argument_count;
	int64_t result;           /* below 0: -errno, or CALLS_FAILED */
	struct syscall_text tail; /* what follows the result: "</data/x>", "(flags O_RDWR)" */
	bool is_hexadecimal;      /* numbers are, also without 0x */
	enum syscall_machine machine;
};

/* NULL: none that matters here. */
const struct syscall_kind *syscall_named(const char *name, size_t bytes);
const struct syscall_kind *syscall_numbered(uint64_t number, enum syscall_machine machine);

/* It has returned. `when->line` is its (last) line. */
void syscall_tell(struct calls *calls, const struct calls_when *when, const struct syscall *call);

/* Does it begin a thread? Then, what that shares with it: CALLS_CLONE_... of what is shown so far. */
bool syscall_is_fork(const struct syscall_kind *kind);
unsigned int syscall_fork_flags(const struct syscall_kind *kind, const struct syscall_text *shown,
				bool is_hexadecimal);

/* Does it return when a child is gone? */
bool syscall_is_wait(const struct syscall_kind *kind);

/* Does it end a thread, so that it never returns? */
bool syscall_is_exit(const struct syscall_kind *kind);

/* Does it move bytes of files, and which way? For latencies. */
enum syscall_way { SYSCALL_MOVES_NOTHING, SYSCALL_READS, SYSCALL_WRITES };
enum syscall_way syscall_way(const struct syscall_kind *kind);

/* "ENOENT" as CALLS_ENOENT; CALLS_FAILED for those that do not matter. */
int64_t syscall_error_named(const char *name, size_t bytes);

/*
 * Where the "<...>" that begins at `at` ends (behind its '>'): "</data/we\"ird>", "<pipe:[123]>",
 * "</dev/null<char 1:3>>"; old versions leave a '>' in a name as it is. NULL: it does not end.
 */
const char *syscall_annotation_end(const char *at, const char *end);

/* ---- for syscall.c and its like: what an argument says ---- */

/* A number; of "[65536]" and "[0] => [65536]" the first one. False: it is none. */
bool argument_number(const struct syscall *call, unsigned int index, uint64_t *value);
bool argument_fd(const struct syscall *call, unsigned int index, int *fd);
/* Flags by their names and numbers, as x86-64 counts them. */
uint64_t argument_flags(const struct syscall *call, unsigned int index);
uint64_t flags_read(const struct syscall_text *text, bool is_hexadecimal);
/* After "NAME=" somewhere in it. False: it is not there. */
bool argument_member(const struct syscall *call, unsigned int index, const char *name,
		     struct syscall_text *value);
bool text_number(const struct syscall_text *text, bool is_hexadecimal, uint64_t *value);
/* A string, unescaped into `to` (at most `most` bytes). False: it is none, or was cut off. */
bool argument_string(const struct syscall *call, unsigned int index, char *to, size_t most,
		     size_t *bytes);
/* What stands in "<...>" behind a descriptor: `path` is unescaped into `to`. False: nothing. */
bool annotation_read(const struct syscall_text *text, char *to, size_t most,
		     struct calls_facts *facts);

#endif
