#include "op/calls/syscall.h"

#include <stdlib.h>
#include <string.h>

#include "op/path.h"

typedef void teller(struct calls *calls, const struct calls_when *when, const struct syscall *call);

struct syscall_kind {
	const char *name;
	teller *tell;
};

/* F_..., AT_..., and the like: include/uapi/linux. */
enum {
	DUPFD = 0,
	SETFD = 2,
	GETFL = 3,
	SETFL = 4,
	DUPFD_CLOEXEC = 1030,
	FD_IS_CLOEXEC = 1,
	AT_NO_FOLLOW = 0x100,
	AT_REMOVES_DIRECTORY = 0x200,
	AT_FOLLOWS = 0x400,
	EXCHANGES = 2,
	RANGE_UNSHARES = 2,
	RANGE_CLOEXECS = 4,
	TYPE_MASK = 0170000,
	TYPE_FIFO = 010000,
	TYPE_DIRECTORY = 040000,
	TYPE_REGULAR = 0100000,
	TYPE_SYMLINK = 0120000,
	NAME_BYTES = PATH_BYTES_MAX + 1,
	WILLNEED = 3,
};

/* ---- arguments, with what is told beside them ---- */

/* The descriptor, after what stands beside it was made known. -1: it is none. */
static int fd_at(struct calls *calls, const struct calls_when *when, const struct syscall *call,
		 unsigned int index)
{
	char path[NAME_BYTES];
	struct calls_facts facts;
	int fd;

	if (!argument_fd(call, index, &fd))
		return -1;
	if (!annotation_read(&call->arguments[index], path, PATH_BYTES_MAX, &facts))
		return fd;
	if (fd == CALLS_CWD)
		calls_cwd_is(calls, when, facts.path, facts.path_bytes);
	else if (call->result != CALLS_EBADF)
		calls_known_file(calls, when, fd, &facts);
	return fd;
}

/* A name, relative to the descriptor at `directory` (below 0: there is none). */
static struct calls_name name_at(struct calls *calls, const struct calls_when *when,
				 const struct syscall *call, int directory, unsigned int index,
				 char text[NAME_BYTES])
{
	struct calls_name name = {.directory = CALLS_CWD};

	if (directory >= 0)
		name.directory = fd_at(calls, when, call, (unsigned int)directory);
	if (argument_string(call, index, text, PATH_BYTES_MAX, &name.bytes))
		name.text = text;
	else
		name.bytes = 0;
	return name;
}

static bool ends_with(const char *name, const char *end)
{
	size_t bytes = strlen(name), end_bytes = strlen(end);

	return bytes >= end_bytes && strcmp(name + bytes - end_bytes, end) == 0;
}

/* "openat" has a directory before the name, "open" has none; nor have "stat" and "creat". */
static bool is_at(const struct syscall *call)
{
	const char *name = call->kind->name;

	if (ends_with(name, "stat") || ends_with(name, "creat"))
		return ends_with(name, "fstatat");
	return ends_with(name, "at") || ends_with(name, "at2") || ends_with(name, "statat64");
}

/* Of a call with a name, or two: rename(FROM, TO), renameat(DIRECTORY, FROM, DIRECTORY, TO). */
static struct calls_name first_name(struct calls *calls, const struct calls_when *when,
				    const struct syscall *call, char text[NAME_BYTES])
{
	return name_at(calls, when, call, is_at(call) ? 0 : -1, is_at(call), text);
}

static struct calls_name second_name(struct calls *calls, const struct calls_when *when,
				     const struct syscall *call, char text[NAME_BYTES])
{
	return name_at(calls, when, call, is_at(call) ? 2 : -1, is_at(call) ? 3 : 1, text);
}

static bool is_named(const struct syscall *call, const char *name)
{
	return strcmp(call->kind->name, name) == 0;
}

static uint64_t number_at(const struct syscall *call, unsigned int index, uint64_t otherwise)
{
	uint64_t value;

	return argument_number(call, index, &value) ? value : otherwise;
}

/* "[65536]": an offset of its own. "NULL": the position. A pointer: nobody followed it. */
static uint64_t offset_at(const struct syscall *call, unsigned int index)
{
	const struct syscall_text *text = &call->arguments[index];
	uint64_t value = number_at(call, index, 0);

	if (index >= call->argument_count || value == 0) {
		bool is_shown = index < call->argument_count && text->bytes &&
				memchr(text->at, '[', text->bytes);

		return is_shown ? 0 : CALLS_AT_POSITION;
	}
	return memchr(text->at, '[', text->bytes) ? value : CALLS_NOT_TOLD;
}

static unsigned int open_flags(const struct syscall *call, const struct syscall_text *text)
{
	uint64_t flags = flags_read(text, call->is_hexadecimal);

	return calls_open_flags(flags, call->machine == MACHINE_ARM64);
}

/* What "{st_mode=S_IFREG|0644, st_size=1048576, ...}" says. False: nothing. */
static bool stat_read(const struct syscall *call, unsigned int index, struct calls_facts *facts)
{
	struct syscall_text text;
	uint64_t mode, major, minor;

	*facts = (struct calls_facts){0};
	if (!argument_member(call, index, "st_mode", &text) &&
	    !argument_member(call, index, "stx_mode", &text))
		return false;
	mode = flags_read(&text, false) & TYPE_MASK;
	facts->type = mode == TYPE_REGULAR     ? CALLS_REGULAR
		      : mode == TYPE_DIRECTORY ? CALLS_DIRECTORY
		      : mode == TYPE_SYMLINK   ? CALLS_SYMLINK
					       : CALLS_OTHER;
	if (argument_member(call, index, "st_size", &text) ||
	    argument_member(call, index, "stx_size", &text))
		facts->has_size = text_number(&text, false, &facts->size_bytes);
	if (argument_member(call, index, "st_ino", &text) ||
	    argument_member(call, index, "stx_ino", &text))
		facts->has_inode = text_number(&text, false, &facts->inode);
	if (argument_member(call, index, "stx_dev_major", &text) &&
	    text_number(&text, false, &major) &&
	    argument_member(call, index, "stx_dev_minor", &text) &&
	    text_number(&text, false, &minor)) {
		facts->device = major << 32 | minor;
	} else if (argument_member(call, index, "st_dev", &text) && text.bytes > 8 &&
		   memcmp(text.at, "makedev(", 8) == 0) {
		struct syscall_text one = {.at = text.at + 8};
		const char *comma = memchr(text.at, ',', text.bytes);
		struct syscall_text other;

		if (!comma) {
			facts->has_inode = false;
			return true;
		}
		one.bytes = (size_t)(comma - one.at);
		other.at = comma + 1;
		other.bytes = (size_t)(text.at + text.bytes - other.at);
		if (!text_number(&one, false, &major) || !text_number(&other, false, &minor))
			facts->has_inode = false;
		else
			facts->device = major << 32 | minor;
	} else {
		facts->has_inode = false;
	}
	return true;
}

/* ---- data ---- */

/* What the vectors have room for, where all are shown. */
static uint64_t vectors_asked(const struct syscall *call)
{
	const struct syscall_text *text = &call->arguments[1];
	const char *at = text->at, *end = at + text->bytes;
	uint64_t sum = 0, one;

	if (call->argument_count < 2 || memmem(at, text->bytes, "], ...", 6) ||
	    memmem(at, text->bytes, ", ...]", 6))
		return CALLS_ASKED_UNKNOWN;
	while ((at = memmem(at, (size_t)(end - at), "iov_len=", 8))) {
		struct syscall_text number = {.at = at + 8};
		const char *stop = number.at;

		while (stop < end && *stop >= '0' && *stop <= '9')
			stop++;
		number.bytes = (size_t)(stop - number.at);
		if (!text_number(&number, false, &one) || one > INT64_MAX - sum)
			return CALLS_ASKED_UNKNOWN;
		sum += one;
		at = stop;
	}
	return sum ? sum : CALLS_ASKED_UNKNOWN;
}

struct transfer {
	int fd;
	uint64_t offset, asked;
	unsigned int rwf;
};

static struct transfer transfer_of(struct calls *calls, const struct calls_when *when,
				   const struct syscall *call)
{
	const char *name = call->kind->name;
	bool is_vector = strchr(name, 'v') != NULL;
	struct transfer transfer = {
		.fd = fd_at(calls, when, call, 0),
		.offset = CALLS_AT_POSITION,
		.asked = is_vector ? vectors_asked(call) : number_at(call, 2, CALLS_ASKED_UNKNOWN),
	};

	if (name[0] == 'p')
		transfer.offset = number_at(call, 3, CALLS_AT_POSITION);
	/* Raw, the offset is in two halves, of which the second is not used on 64 bits. */
	if (name[strlen(name) - 1] == '2')
		transfer.rwf = (unsigned int)argument_flags(call, call->argument_count > 5 ? 5 : 4);
	return transfer;
}

static void tell_read(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	struct transfer read = transfer_of(calls, when, call);

	calls_read(calls, when, read.fd, read.offset, read.asked, read.rwf, call->result);
}

/* "3" to /proc/sys/vm/drop_caches */
static void drop_caches_tell(struct calls *calls, const struct calls_when *when,
			     const struct syscall *call, int fd)
{
	char text[16];
	size_t bytes;

	if (!argument_string(call, 1, text, sizeof(text), &bytes) || bytes == 0 ||
	    !calls_is_drop_caches(calls, when, fd))
		return;
	calls_drop_caches(calls, when, (unsigned int)(text[0] - '0'));
}

static void tell_write(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	struct transfer write = transfer_of(calls, when, call);

	if (call->result > 0 && call->result < 16)
		drop_caches_tell(calls, when, call, write.fd);
	calls_write(calls, when, write.fd, write.offset, write.asked, write.rwf, call->result);
}

static void tell_sendfile(struct calls *calls, const struct calls_when *when,
			  const struct syscall *call)
{
	const struct calls_transfer transfer = {
		.to = fd_at(calls, when, call, 0),
		.from = fd_at(calls, when, call, 1),
		.from_offset = offset_at(call, 2),
		.to_offset = CALLS_AT_POSITION,
		.asked = number_at(call, 3, CALLS_ASKED_UNKNOWN),
	};

	calls_transfer(calls, when, &transfer, call->result);
}

/* splice and copy_file_range take the same: from, offset, to, offset, bytes, flags. */
static void tell_copy(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	const struct calls_transfer transfer = {
		.from = fd_at(calls, when, call, 0),
		.from_offset = offset_at(call, 1),
		.to = fd_at(calls, when, call, 2),
		.to_offset = offset_at(call, 3),
		.asked = number_at(call, 4, CALLS_ASKED_UNKNOWN),
	};

	calls_transfer(calls, when, &transfer, call->result);
}

static void tell_splice(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	tell_copy(calls, when, call);
}

/* lseek's result is where it stands; _llseek's is in its third argument. */
static void tell_seek(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	bool is_long = is_named(call, "_llseek");
	int fd = fd_at(calls, when, call, 0);
	int64_t offset = (int64_t)number_at(call, 1, 0), result = call->result;
	int whence = (int)argument_flags(call, is_long ? 3 : 2);

	if (is_long && result >= 0)
		result = (int64_t)number_at(call, 2, 0);
	calls_seek(calls, when, fd, offset, whence, result);
}

static void tell_truncate(struct calls *calls, const struct calls_when *when,
			  const struct syscall *call)
{
	char text[NAME_BYTES];
	struct calls_name name = name_at(calls, when, call, -1, 0, text);

	calls_truncate(calls, when, &name, number_at(call, 1, 0), call->result);
}

static void tell_ftruncate(struct calls *calls, const struct calls_when *when,
			   const struct syscall *call)
{
	calls_ftruncate(calls, when, fd_at(calls, when, call, 0), number_at(call, 1, 0),
			call->result);
}

static void tell_fallocate(struct calls *calls, const struct calls_when *when,
			   const struct syscall *call)
{
	calls_fallocate(calls, when, fd_at(calls, when, call, 0),
			(unsigned int)argument_flags(call, 1), number_at(call, 2, 0),
			number_at(call, 3, 0), call->result);
}

static void tell_sync_file(struct calls *calls, const struct calls_when *when,
			   const struct syscall *call)
{
	calls_fsync(calls, when, fd_at(calls, when, call, 0), is_named(call, "fdatasync"),
		    call->result);
}

static void tell_sync(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	(void)call;
	calls_sync(calls, when);
}

static void tell_syncfs(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	calls_syncfs(calls, when, fd_at(calls, when, call, 0), call->result);
}

/* With a 2 at its end (arm, powerpc) the flags come second. */
static void tell_sync_range(struct calls *calls, const struct calls_when *when,
			    const struct syscall *call)
{
	unsigned int flags = is_named(call, "sync_file_range") ? 3 : 1;
	unsigned int offset = flags == 3 ? 1 : 2;

	calls_sync_range(calls, when, fd_at(calls, when, call, 0), number_at(call, offset, 0),
			 number_at(call, offset + 1, 0), (unsigned int)argument_flags(call, flags),
			 call->result);
}

static void tell_advise(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	bool advice_first = is_named(call, "arm_fadvise64_64");

	calls_advise(calls, when, fd_at(calls, when, call, 0), number_at(call, 1 + advice_first, 0),
		     number_at(call, 2 + advice_first, 0),
		     (int)argument_flags(call, advice_first ? 1 : 3), call->result);
}

/* Linux mm/readahead.c, ksys_readahead(): the same as POSIX_FADV_WILLNEED. */
static void tell_readahead(struct calls *calls, const struct calls_when *when,
			   const struct syscall *call)
{
	calls_advise(calls, when, fd_at(calls, when, call, 0), number_at(call, 1, 0),
		     number_at(call, 2, 0), WILLNEED, call->result);
}

static void tell_list(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	calls_list(calls, when, fd_at(calls, when, call, 0), call->result);
}

static void tell_io_uring(struct calls *calls, const struct calls_when *when,
			  const struct syscall *call)
{
	(void)when;
	if (call->result > 0)
		calls_unseen(calls, CALLS_UNSEEN_IO_URING, (uint64_t)call->result);
}

/* One control block: "{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, ...}". */
static bool control_block_tell(struct calls *calls, const struct calls_when *when,
			       const struct syscall *block)
{
	struct syscall_text opcode = {0}, fd, bytes, offset;
	struct syscall as = *block;
	uint64_t asked, at;
	bool is_read;

	if (!argument_member(block, 0, "aio_fildes", &fd) ||
	    !argument_member(block, 0, "aio_nbytes", &bytes) ||
	    !argument_member(block, 0, "aio_offset", &offset) ||
	    !argument_member(block, 0, "aio_lio_opcode", &opcode) ||
	    !text_number(&bytes, false, &asked) || !text_number(&offset, false, &at) ||
	    asked > INT64_MAX)
		return false;
	as.arguments[0] = fd;
	is_read = memmem(opcode.at, opcode.bytes, "READ", 4);
	if (is_read)
		calls_read(calls, when, fd_at(calls, when, &as, 0), at, asked, 0, (int64_t)asked);
	else if (memmem(opcode.at, opcode.bytes, "WRITE", 5))
		calls_write(calls, when, fd_at(calls, when, &as, 0), at, asked, 0, (int64_t)asked);
	else if (memmem(opcode.at, opcode.bytes, "SYNC", 4))
		calls_fsync(calls, when, fd_at(calls, when, &as, 0),
			    memmem(opcode.at, opcode.bytes, "FD", 2), 0);
	return true;
}

/* io_submit(context, count, [{...}, {...}]) = submitted: each is taken to move all that it asks for. */
static void tell_aio(struct calls *calls, const struct calls_when *when, const struct syscall *call)
{
	struct syscall block = *call;
	const char *at, *end, *close;
	int64_t left = call->result;

	if (call->result <= 0 || call->argument_count < 3)
		return;
	at = call->arguments[2].at;
	end = at + call->arguments[2].bytes;
	while (left > 0 && (at = memchr(at, '{', (size_t)(end - at))) &&
	       (close = memchr(at, '}', (size_t)(end - at)))) {
		block.arguments[0] = (struct syscall_text){at, (size_t)(close + 1 - at)};
		block.argument_count = 1;
		if (control_block_tell(calls, when, &block))
			left--;
		at = close;
	}
	calls_unseen(calls, CALLS_UNSEEN_AIO, (uint64_t)left);
}

/* ---- descriptors ---- */

static void tell_open(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	char text[NAME_BYTES], real[NAME_BYTES];
	bool has_directory = is_at(call), is_new = is_named(call, "openat2");
	struct calls_name name = {.directory = CALLS_CWD};
	struct calls_facts facts;
	unsigned int flags = CALLS_O_CREATE | CALLS_O_TRUNCATE | CALLS_O_WRITE;
	struct syscall_text member;
	bool is_told;

	if (!is_named(call, "open_by_handle_at"))
		name = name_at(calls, when, call, has_directory ? 0 : -1, has_directory, text);
	if (is_new && argument_member(call, 2, "flags", &member))
		flags = open_flags(call, &member);
	else if (!is_new && !is_named(call, "creat") && call->argument_count > 1u + has_directory)
		flags = open_flags(call, &call->arguments[1 + has_directory]);
	else if (is_new)
		flags = 0;
	is_told = annotation_read(&call->tail, real, PATH_BYTES_MAX, &facts);
	calls_open(calls, when, &name, flags, call->result, is_told ? &facts : NULL);
}

static void tell_close(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	calls_close(calls, when, fd_at(calls, when, call, 0), call->result);
}

static void tell_close_range(struct calls *calls, const struct calls_when *when,
			     const struct syscall *call)
{
	uint64_t flags = argument_flags(call, 2);

	calls_close_range(calls, when, (uint32_t)number_at(call, 0, 0),
			  (uint32_t)number_at(call, 1, UINT32_MAX), flags & RANGE_CLOEXECS,
			  flags & RANGE_UNSHARES, call->result);
}

static void tell_dup(struct calls *calls, const struct calls_when *when, const struct syscall *call)
{
	const uint64_t cloexec = 02000000; /* dup3's O_CLOEXEC */

	calls_dup(calls, when, fd_at(calls, when, call, 0), call->result,
		  argument_flags(call, 2) & cloexec);
}

static void tell_fcntl(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	uint64_t command = argument_flags(call, 1);
	int fd = fd_at(calls, when, call, 0);
	struct calls_facts facts = {.has_flags = true};

	switch (command) {
	case DUPFD:
	case DUPFD_CLOEXEC:
		/* A command that is not known here is 0, too. */
		if (command == DUPFD &&
		    !memmem(call->arguments[1].at, call->arguments[1].bytes, "F_DUPFD", 7) &&
		    !argument_number(call, 1, &command))
			return;
		calls_dup(calls, when, fd, call->result, command == DUPFD_CLOEXEC);
		break;
	case SETFD:
		if (call->result >= 0)
			calls_set_cloexec(calls, when, fd, argument_flags(call, 2) & FD_IS_CLOEXEC);
		break;
	case SETFL:
		if (call->result >= 0 && call->argument_count > 2)
			calls_set_flags(calls, when, fd, open_flags(call, &call->arguments[2]));
		break;
	case GETFL:
		if (call->result < 0)
			break;
		facts.flags =
			calls_open_flags((uint64_t)call->result, call->machine == MACHINE_ARM64);
		calls_known_file(calls, when, fd, &facts);
		break;
	default:
		break;
	}
}

static void other_is(struct calls *calls, const struct calls_when *when, int fd)
{
	const struct calls_facts facts = {.type = CALLS_OTHER};

	calls_known_file(calls, when, fd, &facts);
}

/* Terminals answer to T..., files to FICLONE and its like: include/uapi/linux/fs.h. */
static void tell_ioctl(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	const struct syscall_text *command = &call->arguments[1];
	int fd = fd_at(calls, when, call, 0);
	uint64_t number = number_at(call, 1, 0);

	if (call->argument_count < 2 || call->result < 0)
		return;
	if (memmem(command->at, command->bytes, "FICLONE", 7) ||
	    memmem(command->at, command->bytes, "FIDEDUPERANGE", 13) || number == 0x40049409 ||
	    number == 0x4020940d || number == 0xc0189436)
		calls_unseen(calls, CALLS_UNSEEN_CLONE_RANGE, 1);
	else if ((command->bytes > 2 && command->at[0] == 'T' &&
		  (command->at[1] == 'C' || command->at[1] == 'I')) ||
		 (number >= 0x5401 && number <= 0x5418 && number != 0x5411))
		other_is(calls, when, fd);
}

static void tell_other(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	if (is_named(call, "bpf") && call->result == 0)
		return; /* most of its commands return no descriptor */
	calls_other(calls, when, call->result);
}

/* The "[3, 4]" of pipe(), pipe2() and socketpair(), with or without what is told of them. */
static void tell_pair(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	unsigned int index = is_named(call, "socketpair") ? 3 : 0;
	const char *at, *end;

	if (call->result < 0 || index >= call->argument_count)
		return;
	at = memchr(call->arguments[index].at, '[', call->arguments[index].bytes);
	end = call->arguments[index].at + call->arguments[index].bytes;
	for (int i = 0; at && i < 2; i++) {
		struct syscall_text one = {.at = at + 1};
		uint64_t fd;

		for (at = one.at; at < end && ((*at >= '0' && *at <= '9') || *at == ' ');)
			at++;
		one.bytes = (size_t)(at - one.at);
		if (text_number(&one, false, &fd) && fd <= INT32_MAX)
			calls_other(calls, when, (int64_t)fd);
		at = memchr(at, ',', (size_t)(end - at));
	}
}

/* A socket's name is looked up like any other. */
static void socket_looked_up(struct calls *calls, const struct calls_when *when,
			     const struct syscall *call)
{
	char text[NAME_BYTES];
	struct calls_name name = {.directory = CALLS_CWD, .text = text};
	struct syscall path = *call;

	if (argument_member(call, 1, "sun_path", &path.arguments[0]) &&
	    argument_string(&path, 0, text, PATH_BYTES_MAX, &name.bytes) && name.bytes)
		calls_look_up(calls, when, &name, true, CALLS_ENOENT, NULL);
}

static void tell_socket(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	if (call->result >= 0)
		other_is(calls, when, fd_at(calls, when, call, 0));
	else if (call->result == CALLS_ENOENT && is_named(call, "connect"))
		socket_looked_up(calls, when, call);
}

/* Descriptors that come with a message: what they lead to is not told. */
static void tell_receive(struct calls *calls, const struct calls_when *when,
			 const struct syscall *call)
{
	struct syscall_text data;

	tell_socket(calls, when, call);
	if (call->result < 0 || call->argument_count < 2 ||
	    !memmem(call->arguments[1].at, call->arguments[1].bytes, "SCM_RIGHTS", 10))
		return;
	calls_unseen(calls, CALLS_UNSEEN_PASSED, 1);
	if (argument_member(call, 1, "cmsg_data", &data)) {
		uint64_t fd;

		if (text_number(&data, false, &fd) && fd <= INT32_MAX)
			calls_close(calls, when, (int)fd, 0);
	}
}

static void tell_passed(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	if (call->result < 0)
		return;
	calls_unseen(calls, CALLS_UNSEEN_PASSED, 1);
	if (call->result <= INT32_MAX)
		calls_close(calls, when, (int)call->result, 0);
}

/* A regular file cannot be added: EPERM. */
static void tell_epoll(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	if (call->result == 0 && argument_flags(call, 1) == 1)
		other_is(calls, when, fd_at(calls, when, call, 2));
}

/* ---- memory ---- */

static void tell_map(struct calls *calls, const struct calls_when *when, const struct syscall *call)
{
	struct calls_mapping mapping = {
		.bytes = number_at(call, 1, 0),
		.protection = (unsigned int)argument_flags(call, 2),
		.flags = (unsigned int)argument_flags(call, 3),
		.fd = fd_at(calls, when, call, 4),
		.offset = number_at(call, 5, 0),
	};

	calls_map(calls, when, &mapping, call->result);
}

static void tell_unmap(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	calls_unmap(calls, when, number_at(call, 0, 0), number_at(call, 1, 0), call->result);
}

static void tell_remap(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	calls_remap(calls, when, number_at(call, 0, 0), number_at(call, 1, 0),
		    number_at(call, 2, 0), call->result);
}

static void tell_msync(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	calls_msync(calls, when, number_at(call, 0, 0), number_at(call, 1, 0),
		    (unsigned int)argument_flags(call, 2), call->result);
}

static void tell_madvise(struct calls *calls, const struct calls_when *when,
			 const struct syscall *call)
{
	calls_madvise(calls, when, number_at(call, 0, 0), number_at(call, 1, 0),
		      (int)argument_flags(call, 2), call->result);
}

/* ---- names ---- */

static void tell_stat(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	char text[NAME_BYTES];
	bool has_directory = is_at(call);
	struct calls_name name = first_name(calls, when, call, text);
	bool follows = has_directory ? !(argument_flags(call, 3) & AT_NO_FOLLOW)
				     : !strstr(call->kind->name, "lstat");
	struct calls_facts facts;
	bool is_told = stat_read(call, 1 + has_directory, &facts);

	calls_look_up(calls, when, &name, follows, call->result, is_told ? &facts : NULL);
}

static void tell_statx(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	char text[NAME_BYTES];
	struct calls_name name = name_at(calls, when, call, 0, 1, text);
	bool follows = !(argument_flags(call, 2) & AT_NO_FOLLOW);
	struct calls_facts facts;
	bool is_told = stat_read(call, 4, &facts);

	calls_look_up(calls, when, &name, follows, call->result, is_told ? &facts : NULL);
}

static void tell_fstat(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	struct calls_facts facts;
	bool is_told = stat_read(call, 1, &facts);

	calls_fstat(calls, when, fd_at(calls, when, call, 0), call->result,
		    is_told ? &facts : NULL);
}

/* All that only look a name up, for whatever they do with what they find. */
static void tell_look_up(struct calls *calls, const struct calls_when *when,
			 const struct syscall *call)
{
	char text[NAME_BYTES];
	bool has_directory = is_at(call) || is_named(call, "inotify_add_watch");
	struct calls_name name =
		name_at(calls, when, call, has_directory ? 0 : -1, has_directory, text);

	if (is_named(call, "inotify_add_watch"))
		name.directory = CALLS_CWD;
	/* utimensat(3, NULL, ...) is of the descriptor. */
	if (name.text)
		calls_look_up(calls, when, &name, call->kind->name[0] != 'l', call->result, NULL);
	else if (call->result < 0)
		calls_look_up(calls, when, &name, true, call->result, NULL);
}

static void tell_readlink(struct calls *calls, const struct calls_when *when,
			  const struct syscall *call)
{
	char text[NAME_BYTES], target[NAME_BYTES];
	bool has_directory = is_at(call);
	struct calls_name name = first_name(calls, when, call, text);
	size_t bytes;

	if (call->result > 0 &&
	    argument_string(call, 1 + has_directory, target, PATH_BYTES_MAX, &bytes))
		calls_link_leads(calls, when, &name, target, bytes);
	calls_look_up(calls, when, &name, false, call->result, NULL);
}

static void tell_mkdir(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	char text[NAME_BYTES];
	struct calls_name name = first_name(calls, when, call, text);

	calls_mkdir(calls, when, &name, call->result);
}

static void tell_rmdir(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	char text[NAME_BYTES];
	struct calls_name name = name_at(calls, when, call, -1, 0, text);

	calls_rmdir(calls, when, &name, call->result);
}

static void tell_unlink(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	char text[NAME_BYTES];
	bool has_directory = is_at(call);
	struct calls_name name = first_name(calls, when, call, text);

	if (has_directory && argument_flags(call, 2) & AT_REMOVES_DIRECTORY)
		calls_rmdir(calls, when, &name, call->result);
	else
		calls_unlink(calls, when, &name, call->result);
}

static void tell_rename(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	char from_text[NAME_BYTES], to_text[NAME_BYTES];
	struct calls_name from = first_name(calls, when, call, from_text);
	struct calls_name to = second_name(calls, when, call, to_text);

	calls_rename(calls, when, &from, &to, argument_flags(call, 4) & EXCHANGES, call->result);
}

static void tell_link(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	char from_text[NAME_BYTES], to_text[NAME_BYTES];
	struct calls_name from = first_name(calls, when, call, from_text);
	struct calls_name to = second_name(calls, when, call, to_text);

	calls_link(calls, when, &from, &to, argument_flags(call, 4) & AT_FOLLOWS, call->result);
}

static void tell_symlink(struct calls *calls, const struct calls_when *when,
			 const struct syscall *call)
{
	char target[NAME_BYTES], text[NAME_BYTES];
	bool has_directory = is_at(call);
	struct calls_name name =
		name_at(calls, when, call, has_directory ? 1 : -1, has_directory ? 2 : 1, text);
	size_t bytes;
	bool is_told = argument_string(call, 0, target, PATH_BYTES_MAX, &bytes);

	calls_symlink(calls, when, is_told ? target : NULL, is_told ? bytes : 0, &name,
		      call->result);
}

static void tell_mknod(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	char text[NAME_BYTES];
	bool has_directory = is_at(call);
	struct calls_name name = first_name(calls, when, call, text);
	uint64_t type = argument_flags(call, 1 + has_directory) & TYPE_MASK;

	calls_mknod(calls, when, &name,
		    type == TYPE_REGULAR || type == 0 ? CALLS_REGULAR : CALLS_OTHER, call->result);
}

/* ---- tasks ---- */

static void tell_chdir(struct calls *calls, const struct calls_when *when,
		       const struct syscall *call)
{
	char text[NAME_BYTES];
	struct calls_name name = name_at(calls, when, call, -1, 0, text);

	calls_chdir(calls, when, &name, call->result);
}

static void tell_fchdir(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	calls_fchdir(calls, when, fd_at(calls, when, call, 0), call->result);
}

static void tell_getcwd(struct calls *calls, const struct calls_when *when,
			const struct syscall *call)
{
	char text[NAME_BYTES];
	size_t bytes;

	if (call->result > 0 && argument_string(call, 0, text, PATH_BYTES_MAX, &bytes))
		calls_cwd_is(calls, when, text, bytes);
}

static void tell_fork(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	struct syscall_text all = call->arguments[0];

	if (call->result <= 0 || call->result > UINT32_MAX)
		return;
	if (call->argument_count > 0) {
		const struct syscall_text *last = &call->arguments[call->argument_count - 1];

		all.bytes = (size_t)(last->at + last->bytes - all.at);
	}
	calls_fork(calls, when, (uint32_t)call->result,
		   syscall_fork_flags(call->kind, &all, call->is_hexadecimal));
}

static void tell_exec(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	char text[NAME_BYTES];
	struct calls_name name = first_name(calls, when, call, text);

	calls_exec(calls, when, &name, call->result);
}

static void tell_exit(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	calls_exit(calls, when, is_named(call, "exit_group"));
}

/* It is gone unless it was only stopped. */
static void tell_wait(struct calls *calls, const struct calls_when *when,
		      const struct syscall *call)
{
	uint64_t child = (uint64_t)call->result;
	struct syscall_text text;

	if (call->result < 0 || call->argument_count < 2)
		return;
	if (is_named(call, "waitid")) {
		if (!argument_member(call, 2, "si_pid", &text) ||
		    !text_number(&text, false, &child) ||
		    memmem(call->arguments[2].at, call->arguments[2].bytes, "CLD_STOPPED", 11) ||
		    memmem(call->arguments[2].at, call->arguments[2].bytes, "CLD_CONTINUED", 13))
			return;
	} else if (memmem(call->arguments[1].at, call->arguments[1].bytes, "WIFSTOPPED(", 11) ||
		   memmem(call->arguments[1].at, call->arguments[1].bytes, "WIFCONTINUED", 12)) {
		return;
	}
	if (child && child <= UINT32_MAX)
		calls_reaped(calls, when, (uint32_t)child);
}

static void tell_unshare(struct calls *calls, const struct calls_when *when,
			 const struct syscall *call)
{
	if (call->result >= 0)
		calls_unshare(calls, when, (unsigned int)argument_flags(call, 0));
}

/* ---- the table ---- */

static const struct syscall_kind kinds[] = {
#define SYSCALL(name, teller) {#name, teller},
#define X86_64(number, name)
#define ARM64(number, name)
#include "op/calls/syscalls.def"
#undef SYSCALL
#undef X86_64
#undef ARM64
};

enum kind_index {
#define SYSCALL(name, teller) KIND_##name,
#define X86_64(number, name)
#define ARM64(number, name)
#include "op/calls/syscalls.def"
#undef SYSCALL
#undef X86_64
#undef ARM64
};

static const uint8_t by_x86_64[] = {
#define SYSCALL(name, teller)
#define X86_64(number, name) [number] = KIND_##name + 1,
#define ARM64(number, name)
#include "op/calls/syscalls.def"
#undef X86_64
#undef ARM64
};

static const uint8_t by_arm64[] = {
#define X86_64(number, name)
#define ARM64(number, name) [number] = KIND_##name + 1,
#include "op/calls/syscalls.def"
#undef SYSCALL
#undef X86_64
#undef ARM64
};

static int kind_compare(const void *key, const void *element)
{
	const struct syscall_text *name = key;
	const struct syscall_kind *kind = element;
	int order = strncmp(name->at, kind->name, name->bytes);

	return order ? order : kind->name[name->bytes] ? -1 : 0;
}

const struct syscall_kind *syscall_named(const char *name, size_t bytes)
{
	const struct syscall_text key = {name, bytes};

	if (bytes == 0 || memchr(name, '\0', bytes))
		return NULL;
	return bsearch(&key, kinds, sizeof(kinds) / sizeof(kinds[0]), sizeof(kinds[0]),
		       kind_compare);
}

const struct syscall_kind *syscall_numbered(uint64_t number, enum syscall_machine machine)
{
	const uint8_t *by = machine == MACHINE_ARM64 ? by_arm64 : by_x86_64;
	size_t count = machine == MACHINE_ARM64 ? sizeof(by_arm64) : sizeof(by_x86_64);

	return number < count && by[number] ? &kinds[by[number] - 1] : NULL;
}

void syscall_tell(struct calls *calls, const struct calls_when *when, const struct syscall *call)
{
	struct syscall whole = *call;

	/* What is not shown is empty, and somewhere. */
	for (unsigned int i = call->argument_count; i < SYSCALL_ARGUMENTS_MAX; i++)
		whole.arguments[i] = (struct syscall_text){"", 0};
	if (!whole.tail.at)
		whole.tail = (struct syscall_text){"", 0};
	call->kind->tell(calls, when, &whole);
}

bool syscall_is_fork(const struct syscall_kind *kind)
{
	return kind->tell == tell_fork;
}

/* "flags=CLONE_VM|..." somewhere, or the first argument's number (clone; clone3's is a pointer). */
unsigned int syscall_fork_flags(const struct syscall_kind *kind, const struct syscall_text *shown,
				bool is_hexadecimal)
{
	struct syscall all = {.argument_count = 1};
	struct syscall_text flags;
	const char *comma;

	if (strcmp(kind->name, "vfork") == 0)
		return CALLS_CLONE_VM | CALLS_CLONE_VFORK;
	if (strcmp(kind->name, "fork") == 0 || shown->bytes == 0)
		return 0;
	all.arguments[0] = *shown;
	if (argument_member(&all, 0, "flags", &flags))
		return (unsigned int)flags_read(&flags, is_hexadecimal);
	/* Its flags are behind a pointer. What calls it is pthread_create(), nearly always. */
	if (strcmp(kind->name, "clone3") == 0)
		return CALLS_CLONE_VM | CALLS_CLONE_FS | CALLS_CLONE_FILES | CALLS_CLONE_THREAD;
	flags = *shown;
	comma = memchr(shown->at, ',', shown->bytes);
	if (comma)
		flags.bytes = (size_t)(comma - flags.at);
	return (unsigned int)flags_read(&flags, is_hexadecimal);
}

bool syscall_is_wait(const struct syscall_kind *kind)
{
	return kind->tell == tell_wait;
}

bool syscall_is_exit(const struct syscall_kind *kind)
{
	return kind->tell == tell_exit;
}

enum syscall_way syscall_way(const struct syscall_kind *kind)
{
	if (kind->tell == tell_read)
		return SYSCALL_READS;
	return kind->tell == tell_write ? SYSCALL_WRITES : SYSCALL_MOVES_NOTHING;
}

int64_t syscall_error_named(const char *name, size_t bytes)
{
	static const struct {
		const char *name;
		int64_t error;
	} table[] = {
		{"ENOENT", CALLS_ENOENT},   {"EBADF", CALLS_EBADF},   {"EEXIST", CALLS_EEXIST},
		{"ENOTDIR", CALLS_ENOTDIR}, {"EISDIR", CALLS_EISDIR}, {"ESPIPE", CALLS_ESPIPE},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strlen(table[i].name) == bytes && memcmp(table[i].name, name, bytes) == 0)
			return table[i].error;
	return CALLS_FAILED;
}
