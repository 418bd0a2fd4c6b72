#include "machine/kernel/janitor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "machine/kernel/cgroup.h"
#include "machine/kernel/scratch.h"
#include "machine/kernel/text_file.h"

#define FOLDERS "/run/refault"

typedef void removed_function(void *context, const char *path, bool is_gone);

static void nobody_asks(void *context, const char *path, bool is_gone)
{
	(void)context;
	(void)path;
	(void)is_gone;
}

/* All that the list names, then the folder. Returns how much is still there. */
static size_t folder_clean(const char *folder, removed_function *removed, void *context)
{
	char path[PATH_MAX + 16];
	char *list, *rest, *line;
	size_t left = 0;

	snprintf(path, sizeof(path), "%s/list", folder);
	rest = list = text_file_read(path);
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *what = strchr(line, ' ') ? strchr(line, ' ') + 1 : "";
		bool is_gone = true;

		if (access(what, F_OK) != 0)
			continue;
		if (strncmp(line, "cgroup ", 7) == 0)
			is_gone = cgroup_remove(what);
		else if (strncmp(line, "tree ", 5) == 0)
			scratch_remove_tree(what), is_gone = access(what, F_OK) != 0;
		else
			continue;
		left += !is_gone;
		removed(context, what, is_gone);
	}
	memory_free(list);
	if (left)
		return left;
	scratch_remove_tree(folder);
	(void)rmdir(FOLDERS); /* the last one turns off the light */
	return 0;
}

static _Noreturn void janitor_main(struct janitor *janitor, int alive_fd)
{
	struct pollfd wait = {.fd = alive_fd, .events = POLLIN};

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "refault-janitor");
	close(janitor->alive_fd);
	/* Nobody's output waits for us. */
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	while (poll(&wait, 1, -1) < 0 && errno == EINTR)
		;
	folder_clean(janitor->folder, nobody_asks, NULL);
	_exit(0);
}

static bool folder_make(struct janitor *janitor, struct error *error)
{
	char path[PATH_MAX + 16];

	if (geteuid() != 0)
		return error_failed(error,
				    "running on the kernel needs root (sudo), to make a memory "
				    "cgroup and to mount a file system; another kernel in a "
				    "guest does not: --guest VMLINUZ");
	if (mkdir(FOLDERS, 0700) != 0 && errno != EEXIST)
		return error_system(error, "cannot make " FOLDERS);
	for (int number = 0; number < 10000; number++) {
		snprintf(janitor->name, sizeof(janitor->name), "refault-%d.%d", (int)getpid(),
			 number);
		snprintf(janitor->folder, sizeof(janitor->folder), FOLDERS "/%s", janitor->name);
		if (mkdir(janitor->folder, 0700) == 0)
			break;
		/* Somebody cleans up just now: the folder of folders may have gone. */
		if (errno == ENOENT)
			(void)mkdir(FOLDERS, 0700);
		else if (errno != EEXIST)
			return error_system(error, "cannot make %s", janitor->folder);
	}
	snprintf(janitor->mountpoint, sizeof(janitor->mountpoint), "%.*s/mnt", PATH_MAX - 16,
		 janitor->folder);
	snprintf(path, sizeof(path), "%s/list", janitor->folder);
	janitor->list_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (janitor->list_fd >= 0 && mkdir(janitor->mountpoint, 0700) == 0 &&
	    flock(janitor->list_fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	return error_system(error, "cannot use %s", janitor->folder);
}

bool janitor_start(struct janitor *janitor, struct error *error)
{
	int ends[2];

	*janitor = (struct janitor){.list_fd = -1, .alive_fd = -1};
	if (!folder_make(janitor, error))
		goto fail;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		error_system(error, "no pipe");
		goto fail;
	}
	janitor->alive_fd = ends[1];
	janitor->pid = fork();
	if (janitor->pid == 0)
		janitor_main(janitor, ends[0]);
	close(ends[0]);
	if (janitor->pid > 0)
		return true;
	error_system(error, "cannot start a process");
	close(janitor->alive_fd);
	janitor->alive_fd = -1;
fail:
	if (janitor->folder[0])
		scratch_remove_tree(janitor->folder);
	if (janitor->list_fd >= 0)
		close(janitor->list_fd);
	(void)rmdir(FOLDERS);
	janitor->folder[0] = '\0';
	return false;
}

bool janitor_note(struct janitor *janitor, enum janitor_kind kind, const char *path,
		  struct error *error)
{
	char line[PATH_MAX + 16];
	int bytes = snprintf(line, sizeof(line), "%s %s\n",
			     kind == JANITOR_CGROUP ? "cgroup" : "tree", path);

	return write(janitor->list_fd, line, (size_t)bytes) == bytes ||
	       error_system(error, "cannot write to %s", janitor->folder);
}

void janitor_stop(struct janitor *janitor)
{
	int status;

	if (!janitor->folder[0])
		return;
	close(janitor->alive_fd);
	while (waitpid(janitor->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(janitor->list_fd);
	janitor->folder[0] = '\0';
}

size_t janitor_clean(removed_function *removed, void *context)
{
	DIR *folders = opendir(FOLDERS);
	struct dirent *entry;
	size_t left = 0;

	while (folders && (entry = readdir(folders)) != NULL) {
		char folder[PATH_MAX], path[PATH_MAX + 16];
		int list;

		if (strncmp(entry->d_name, "refault-", 8) != 0)
			continue;
		snprintf(folder, sizeof(folder), FOLDERS "/%s", entry->d_name);
		snprintf(path, sizeof(path), "%s/list", folder);
		list = open(path, O_RDONLY | O_CLOEXEC);
		/* Locked: its run goes on. */
		if (list >= 0 && flock(list, LOCK_EX | LOCK_NB) != 0) {
			close(list);
			continue;
		}
		left += folder_clean(folder, removed, context);
		removed(context, folder, access(folder, F_OK) != 0);
		if (list >= 0)
			close(list);
	}
	if (folders)
		closedir(folders);
	return left;
}
