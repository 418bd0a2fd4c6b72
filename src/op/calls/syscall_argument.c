/*
 * What an argument of a system call says, in the ways in which strace (4.x to 6.x), perf and ftrace
 * print one.
 *
 * Source  strace's src/util.c: printfd(), print_quoted_string_ex(), and its xlat/ *.in; the numbers
 *         are those of Linux include/uapi (asm-generic, and x86 where machines differ).
 */
#include "op/calls/syscall.h"

#include <stdlib.h>
#include <string.h>

#include "op/path.h"

/* ---- numbers ---- */

static int digit_of(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'F')
		return byte - 'A' + 10;
	return 16;
}

static struct syscall_text trimmed(struct syscall_text text)
{
	while (text.bytes && (text.at[0] == ' ' || text.at[0] == '\t')) {
		text.at++;
		text.bytes--;
	}
	while (text.bytes && (text.at[text.bytes - 1] == ' ' || text.at[text.bytes - 1] == '\t'))
		text.bytes--;
	return text;
}

/* What follows a number must not go on as one, or as a name. */
static bool number_ends(const char *at, const char *end)
{
	return at == end || !((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
			      (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == '.');
}

bool text_number(const struct syscall_text *text, bool is_hexadecimal, uint64_t *value)
{
	struct syscall_text inner = trimmed(*text);
	const char *at = inner.at, *end = at + inner.bytes;
	bool is_negative = false, any = false;
	int base = is_hexadecimal ? 16 : 10;

	while (at < end && (*at == '[' || *at == '{' || *at == ' '))
		at++;
	if (end - at >= 4 && memcmp(at, "NULL", 4) == 0) {
		*value = 0;
		return true;
	}
	if (at < end && *at == '-') {
		is_negative = true;
		at++;
	}
	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		base = 16;
		at += 2;
	} else if (!is_hexadecimal && end - at > 1 && at[0] == '0') {
		base = 8; /* "0644" */
	}
	*value = 0;
	for (; at < end && digit_of(*at) < base; at++, any = true) {
		if (__builtin_mul_overflow(*value, (uint64_t)base, value) ||
		    __builtin_add_overflow(*value, (uint64_t)digit_of(*at), value))
			return false;
	}
	if (is_negative)
		*value = 0 - *value;
	return any && number_ends(at, end);
}

bool argument_number(const struct syscall *call, unsigned int index, uint64_t *value)
{
	return index < call->argument_count &&
	       text_number(&call->arguments[index], call->is_hexadecimal, value);
}

bool argument_fd(const struct syscall *call, unsigned int index, int *fd)
{
	struct syscall_text text;
	const char *bracket;
	uint64_t value;

	if (index >= call->argument_count)
		return false;
	text = trimmed(call->arguments[index]);
	if (text.bytes >= 8 && memcmp(text.at, "AT_FDCWD", 8) == 0) {
		*fd = CALLS_CWD;
		return true;
	}
	bracket = memchr(text.at, '<', text.bytes);
	if (bracket)
		text.bytes = (size_t)(bracket - text.at);
	if (!text_number(&text, call->is_hexadecimal, &value))
		return false;
	/* It is an int: 0xffffff9c is AT_FDCWD. */
	*fd = (int)(uint32_t)value;
	return true;
}

/* ---- flags ---- */

struct flag {
	const char *name;
	uint64_t value;
};

/* In the order of strcmp(). */
static const struct flag flags[] = {
	{"AT_EMPTY_PATH", 0x1000},
	{"AT_REMOVEDIR", 0x200},
	{"AT_SYMLINK_FOLLOW", 0x400},
	{"AT_SYMLINK_NOFOLLOW", 0x100},
	{"CLONE_FILES", 0x400},
	{"CLONE_FS", 0x200},
	{"CLONE_THREAD", 0x10000},
	{"CLONE_VFORK", 0x4000},
	{"CLONE_VM", 0x100},
	{"CLOSE_RANGE_CLOEXEC", 4},
	{"CLOSE_RANGE_UNSHARE", 2},
	{"EPOLL_CTL_ADD", 1},
	{"FALLOC_FL_COLLAPSE_RANGE", 8},
	{"FALLOC_FL_INSERT_RANGE", 0x20},
	{"FALLOC_FL_KEEP_SIZE", 1},
	{"FALLOC_FL_NO_HIDE_STALE", 4},
	{"FALLOC_FL_PUNCH_HOLE", 2},
	{"FALLOC_FL_UNSHARE_RANGE", 0x40},
	{"FALLOC_FL_ZERO_RANGE", 0x10},
	{"FD_CLOEXEC", 1},
	{"F_DUPFD", 0},
	{"F_DUPFD_CLOEXEC", 1030},
	{"F_GETFL", 3},
	{"F_SETFD", 2},
	{"F_SETFL", 4},
	{"MADV_POPULATE_READ", 22},
	{"MADV_POPULATE_WRITE", 23},
	{"MADV_RANDOM", 1},
	{"MADV_SEQUENTIAL", 2},
	{"MADV_WILLNEED", 3},
	{"MAP_ANON", 0x20},
	{"MAP_ANONYMOUS", 0x20},
	{"MAP_POPULATE", 0x8000},
	{"MAP_PRIVATE", 2},
	{"MAP_SHARED", 1},
	{"MAP_SHARED_VALIDATE", 3},
	{"MS_ASYNC", 1},
	{"MS_INVALIDATE", 2},
	{"MS_SYNC", 4},
	{"O_APPEND", 02000},
	{"O_CLOEXEC", 02000000},
	{"O_CREAT", 0100},
	{"O_DIRECT", 040000},
	{"O_DIRECTORY", 0200000},
	{"O_DSYNC", 010000},
	{"O_EXCL", 0200},
	{"O_NOFOLLOW", 0400000},
	{"O_PATH", 010000000},
	{"O_RDONLY", 0},
	{"O_RDWR", 2},
	{"O_RSYNC", 04010000},
	{"O_SYNC", 04010000},
	{"O_TMPFILE", 020200000},
	{"O_TRUNC", 01000},
	{"O_WRONLY", 1},
	{"POSIX_FADV_DONTNEED", 4},
	{"POSIX_FADV_NOREUSE", 5},
	{"POSIX_FADV_NORMAL", 0},
	{"POSIX_FADV_RANDOM", 1},
	{"POSIX_FADV_SEQUENTIAL", 2},
	{"POSIX_FADV_WILLNEED", 3},
	{"PROT_EXEC", 4},
	{"PROT_READ", 1},
	{"PROT_WRITE", 2},
	{"RENAME_EXCHANGE", 2},
	{"RENAME_NOREPLACE", 1},
	{"RENAME_WHITEOUT", 4},
	{"RWF_APPEND", 0x10},
	{"RWF_DONTCACHE", 0x80},
	{"RWF_DSYNC", 2},
	{"RWF_HIPRI", 1},
	{"RWF_NOWAIT", 8},
	{"RWF_SYNC", 4},
	{"SEEK_CUR", 1},
	{"SEEK_DATA", 3},
	{"SEEK_END", 2},
	{"SEEK_HOLE", 4},
	{"SEEK_SET", 0},
	{"SYNC_FILE_RANGE_WAIT_AFTER", 4},
	{"SYNC_FILE_RANGE_WAIT_BEFORE", 1},
	{"SYNC_FILE_RANGE_WRITE", 2},
	{"SYNC_FILE_RANGE_WRITE_AND_WAIT", 7},
	{"S_IFBLK", 060000},
	{"S_IFCHR", 020000},
	{"S_IFDIR", 040000},
	{"S_IFIFO", 010000},
	{"S_IFLNK", 0120000},
	{"S_IFREG", 0100000},
	{"S_IFSOCK", 0140000},
};

static int flag_compare(const void *key, const void *element)
{
	const struct syscall_text *name = key;
	const struct flag *flag = element;
	int order = strncmp(name->at, flag->name, name->bytes);

	return order ? order : flag->name[name->bytes] ? -1 : 0;
}

static bool is_name_byte(char byte)
{
	return (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
	       (byte >= 'a' && byte <= 'z') || byte == '?';
}

/* "O_RDWR|O_CREAT|0x8000", "0x80 (RWF_???)", "~[...]" is none; names that do not matter are 0. */
uint64_t flags_read(const struct syscall_text *text, bool is_hexadecimal)
{
	const char *at = text->at, *end = at + text->bytes;
	uint64_t all = 0, value;

	while (at < end && (*at == ' ' || *at == '{' || *at == '['))
		at++;
	for (;;) {
		struct syscall_text name = {.at = at};
		const struct flag *flag;

		while (at < end && is_name_byte(*at))
			at++;
		name.bytes = (size_t)(at - name.at);
		if (name.bytes == 0)
			return all;
		flag = bsearch(&name, flags, sizeof(flags) / sizeof(flags[0]), sizeof(flags[0]),
			       flag_compare);
		if (flag)
			all |= flag->value;
		else if (text_number(&name, is_hexadecimal, &value))
			all |= value;
		if (at == end || *at != '|')
			return all;
		at++;
	}
}

uint64_t argument_flags(const struct syscall *call, unsigned int index)
{
	if (index >= call->argument_count)
		return 0;
	return flags_read(&call->arguments[index], call->is_hexadecimal);
}

bool argument_member(const struct syscall *call, unsigned int index, const char *name,
		     struct syscall_text *value)
{
	size_t bytes = strlen(name);
	const char *at, *end;

	if (index >= call->argument_count)
		return false;
	at = call->arguments[index].at;
	end = at + call->arguments[index].bytes;
	for (;;) {
		at = memmem(at, (size_t)(end - at), name, bytes);
		if (!at)
			return false;
		if ((at == call->arguments[index].at || !is_name_byte(at[-1])) &&
		    (size_t)(end - at) > bytes && at[bytes] == '=')
			break;
		at += bytes;
	}
	value->at = at + bytes + 1;
	for (at = value->at; at < end && *at != ',' && *at != '}' && *at != ']'; at++)
		if (*at == '(') /* makedev(0xfe, 0x1) */
			while (at + 1 < end && *at != ')')
				at++;
	value->bytes = (size_t)(at - value->at);
	return true;
}

/* ---- strings ---- */

/* One byte after a backslash at `at`; moves on behind it. */
static char unescape(const char **at, const char *end)
{
	static const char letters[] = "abtnvfr"; /* from 7 on */
	const char *letter;
	char byte = **at;
	int value = 0;

	if (byte == 'x') {
		++*at;
		for (int i = 0; i < 2 && *at < end && digit_of(**at) < 16; i++)
			value = value * 16 + digit_of(*(*at)++);
		return (char)value;
	}
	if (byte >= '0' && byte <= '7') {
		for (int i = 0; i < 3 && *at < end && **at >= '0' && **at <= '7'; i++)
			value = value * 8 + digit_of(*(*at)++);
		return (char)value;
	}
	++*at;
	letter = byte ? strchr(letters, byte) : NULL;
	return letter ? (char)(7 + (letter - letters)) : byte;
}

bool argument_string(const struct syscall *call, unsigned int index, char *to, size_t most,
		     size_t *bytes)
{
	struct syscall_text text;
	const char *at, *end;

	*bytes = 0;
	if (index >= call->argument_count)
		return false;
	text = trimmed(call->arguments[index]);
	/* ftrace of Linux 6.19: a pointer, and then what it points to. */
	at = memchr(text.at, '"', text.bytes);
	end = text.at + text.bytes;
	if (!at || (at > text.at && digit_of(text.at[0]) == 16))
		return false;
	for (at++; at < end && *at != '"';) {
		char byte = *at++;

		if (byte == '\\' && at < end)
			byte = unescape(&at, end);
		if (*bytes == most)
			return false;
		to[(*bytes)++] = byte ? byte : '?'; /* no path holds one */
	}
	return at < end && !(end - at > 3 && memcmp(at + 1, "...", 3) == 0);
}

/* ---- what is told beside a descriptor ---- */

/* May this follow the '>' of an annotation? */
static bool is_after_annotation(const char *at, const char *end)
{
	return at == end || strchr(" ,)]}|&=", *at) ||
	       (end - at >= 9 && memcmp(at, "(deleted)", 9) == 0);
}

const char *syscall_annotation_end(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		else if (*at == '>' && is_after_annotation(at + 1, end))
			return at + 1;
	}
	return NULL;
}

static bool begins(const char *text, size_t bytes, const char *beginning)
{
	return bytes >= strlen(beginning) && memcmp(text, beginning, strlen(beginning)) == 0;
}

/* Names that the kernel prints for what no disk has: fs/d_path.c, dynamic_dname(); mm/shmem.c. */
static bool is_no_file(const char *path, size_t bytes)
{
	static const char *const beginnings[] = {"/memfd:",       "/SYSV",          "/[aio]",
						 "/dev/zero",     "/anon_hugepage", "/i915",
						 "/drm mm object"};

	if (bytes == 0 || path[0] != '/')
		return true;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (begins(path, bytes, beginnings[i]))
			return true;
	return false;
}

bool annotation_read(const struct syscall_text *text, char *to, size_t most,
		     struct calls_facts *facts)
{
	static const char deleted[] = " (deleted)";
	const char *end = text->at + text->bytes, *at, *close, *kind;
	size_t bytes = 0;

	at = text->bytes ? memchr(text->at, '<', text->bytes) : NULL;
	if (!at)
		return false;
	close = syscall_annotation_end(at, end);
	if (!close || close - at <= 2)
		return false;
	*facts = (struct calls_facts){0};
	if (end - close >= 9 && memcmp(close, "(deleted)", 9) == 0)
		facts->is_deleted = true;
	close--;
	/* -yy: "<char 1:3>" or "<block 8:0>" at the end. */
	if (close[-1] == '>') {
		kind = memrchr(at + 1, '<', (size_t)(close - at - 1));
		if (kind && begins(kind, (size_t)(close - kind), "<char "))
			facts->type = CALLS_OTHER;
		if (kind &&
		    (facts->type == CALLS_OTHER || begins(kind, (size_t)(close - kind), "<block ")))
			close = kind;
	}
	for (at++; at < close && bytes < most;) {
		char byte = *at++;

		if (byte == '\\' && at < close)
			byte = unescape(&at, close);
		to[bytes++] = byte ? byte : '?';
	}
	/* Before strace 5.19 that stood inside. */
	if (bytes > sizeof(deleted) - 1 &&
	    memcmp(to + bytes - (sizeof(deleted) - 1), deleted, sizeof(deleted) - 1) == 0) {
		bytes -= sizeof(deleted) - 1;
		facts->is_deleted = true;
	}
	facts->path = to;
	facts->path_bytes = bytes;
	if (is_no_file(to, bytes))
		facts->type = CALLS_OTHER;
	return true;
}
