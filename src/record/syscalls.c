#include "record/syscalls.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

/* Calls that newer machines (arm64) never had: the ones that end in "at" do. */
enum { ABSENT = -1 };
#ifndef SYS_open
#define SYS_open     ABSENT
#define SYS_creat    ABSENT
#define SYS_stat     ABSENT
#define SYS_lstat    ABSENT
#define SYS_access   ABSENT
#define SYS_readlink ABSENT
#define SYS_chmod    ABSENT
#define SYS_chown    ABSENT
#define SYS_lchown   ABSENT
#define SYS_utime    ABSENT
#define SYS_utimes   ABSENT
#define SYS_unlink   ABSENT
#define SYS_rmdir    ABSENT
#define SYS_mkdir    ABSENT
#define SYS_mknod    ABSENT
#define SYS_rename   ABSENT
#define SYS_link     ABSENT
#define SYS_symlink  ABSENT
#define SYS_getdents ABSENT
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* on all machines; Linux 6.6 */
#endif

enum { N = RECORD_NO_ARGUMENT };

static const struct {
	const char *name;
	int number;
	struct record_syscall call;
} calls[] = {
#define CALL(name, shape, meaning, fd, path, fd_to, path_to, detail)                               \
	{#name,                                                                                    \
	 SYS_##name,                                                                               \
	 {RECORD_##shape, MEANING_##meaning, fd, fd_to, path, path_to, detail, 0}},
#include "record/syscalls.def"
#undef CALL
};

enum { CALL_COUNT = sizeof(calls) / sizeof(calls[0]) };

void syscalls_fill(struct record_syscall syscalls[RECORD_SYSCALLS_MAX])
{
	memset(syscalls, 0, RECORD_SYSCALLS_MAX * sizeof(*syscalls));
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (calls[i].number >= 0 && calls[i].number < RECORD_SYSCALLS_MAX)
			syscalls[calls[i].number] = calls[i].call;
}

const char *syscall_name(uint32_t number)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (calls[i].number == (int)number)
			return calls[i].name;
	return NULL;
}
