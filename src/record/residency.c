#include "record/residency.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/size.h"

/* Of all architectures but alpha (include/uapi/asm-generic/unistd.h). */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

/* As in include/uapi/linux/mman.h. */
struct range {
	uint64_t offset, bytes; /* 0 bytes: to the end */
};

struct answer {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

static bool by_cachestat(struct residency *residency, int fd)
{
	const struct range all = {0};
	struct answer answer = {0};

	if (syscall(SYS_cachestat, fd, &all, &answer, 0) != 0)
		return false;
	*residency = (struct residency){
		.pages = answer.cached,
		.is_whole = true,
		.dirty_pages = answer.dirty,
		.writeback_pages = answer.writeback,
		.evicted_pages = answer.evicted,
		.recently_evicted_pages = answer.recently_evicted,
	};
	return true;
}

/* A window after the other: a byte a page, and mapped at a time. */
static const uint64_t window_bytes = 1 * GIB;

/*
 * Of a file that is not one's own and cannot be written to, mincore() says that all is there
 * (mm/mincore.c, can_do_mincore()).
 */
static bool may_ask_mincore(const char *path, const struct stat *status)
{
	return geteuid() == 0 || geteuid() == status->st_uid ||
	       faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

static bool by_mincore(struct residency *residency, int fd, uint64_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned char *is_in = memory_alloc(window_bytes / page, 1);
	bool done = true;

	*residency = (struct residency){0};
	for (uint64_t at = 0; at < size && done; at += window_bytes) {
		uint64_t bytes = size - at < window_bytes ? size - at : window_bytes;
		void *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)at);

		if (mapped == MAP_FAILED) {
			done = false;
			break;
		}
		done = mincore(mapped, bytes, is_in) == 0;
		for (uint64_t i = 0; done && i < (bytes + page - 1) / page; i++)
			residency->pages += is_in[i] & 1;
		munmap(mapped, bytes);
	}
	memory_free(is_in);
	return done;
}

bool residency_look(struct residency *residency, const char *path, uint64_t ino)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct stat status;
	int fd;
	bool done;

	/* Opening what is no file may do something. */
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	fd = open(path, flags | O_NOATIME);
	if (fd < 0)
		fd = open(path, flags);
	if (fd < 0)
		return false;
	done = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       (!ino || status.st_ino == ino) &&
	       (by_cachestat(residency, fd) ||
		(errno == ENOSYS && may_ask_mincore(path, &status) &&
		 by_mincore(residency, fd, (uint64_t)status.st_size)));
	close(fd);
	return done;
}
