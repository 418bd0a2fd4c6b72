#include "record/target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"

/* ---- a command ---- */

/* As execvp() does, but before anything is recorded: what it tries is not the command's. */
static bool program_find(char path[PATH_MAX], const char *name)
{
	const char *at = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return true;
	}
	if (!at)
		at = "/bin:/usr/bin";
	for (;; at++) {
		size_t bytes = strcspn(at, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", (int)bytes, at, bytes ? "/" : "", name);
		if (access(path, X_OK) == 0)
			return true;
		at += bytes;
		if (!*at)
			break;
	}
	errno = ENOENT;
	return false;
}

/* In the new process; errno goes to the old one if the program cannot be run. */
static void run(const struct target_command *target, struct tracer *tracer, char *const *command,
		const char *directory)
{
	static const int defaults[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	char path[PATH_MAX], go;
	struct error error;
	int why;

	if (read(target->go_fd, &go, 1) != 1)
		_exit(127);
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		signal(defaults[i], SIG_DFL);
	if ((!directory || chdir(directory) == 0) && program_find(path, command[0])) {
		/* Once in vain, so that our own pages are there and do not fault when recorded. */
		execv("", command);
		if (tracer_add(tracer, getpid(), &error))
			execv(path, command);
	}
	why = errno;
	(void)!write(target->failed_fd, &why, sizeof(why));
	_exit(127);
}

bool target_start(struct target_command *target, struct tracer *tracer, char *const *command,
		  const char *directory, struct error *error)
{
	int go[2], failed[2];

	*target = (struct target_command){.go_fd = -1, .failed_fd = -1};
	if (pipe2(go, O_CLOEXEC) != 0)
		return error_system(error, "cannot start %.80s", command[0]);
	if (pipe2(failed, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return error_system(error, "cannot start %.80s", command[0]);
	}
	fflush(NULL);
	target->pid = fork();
	if (target->pid == 0) {
		const struct target_command mine = {.go_fd = go[0], .failed_fd = failed[1]};

		close(go[1]);
		run(&mine, tracer, command, directory);
	}
	close(go[0]);
	close(failed[1]);
	target->go_fd = go[1];
	target->failed_fd = failed[0];
	if (target->pid > 0)
		return true;
	error_system(error, "cannot start %.80s", command[0]);
	target->pid = 0;
	target_stop(target);
	return false;
}

bool target_go(struct target_command *target, const char *name, struct error *error)
{
	int why = 0;
	bool went = write(target->go_fd, "", 1) == 1;

	/* Closed by exec, when it works. */
	if (went && read(target->failed_fd, &why, sizeof(why)) == sizeof(why)) {
		target_stop(target);
		return error_input(error, "cannot run %.200s: %s", name, strerror(why));
	}
	if (!went)
		return error_system(error, "cannot start %.200s", name);
	return true;
}

void target_stop(struct target_command *target)
{
	if (target->go_fd >= 0)
		close(target->go_fd);
	if (target->failed_fd >= 0)
		close(target->failed_fd);
	target->go_fd = target->failed_fd = -1;
	if (target->pid > 0) {
		kill(target->pid, SIGKILL);
		waitpid(target->pid, NULL, 0);
	}
	target->pid = 0;
}

/* ---- what runs ---- */

struct running {
	pid_t process, parent;
};

/* "4711 (a name (with) brackets) S 1 ...": the parent's number. */
static pid_t parent_of(pid_t process)
{
	char path[64], text[512], *bracket;
	size_t bytes;
	FILE *file;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
	file = fopen(path, "re");
	if (!file)
		return 0;
	bytes = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[bytes] = '\0';
	bracket = strrchr(text, ')');
	if (!bracket || sscanf(bracket + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static bool add_below(struct tracer *tracer, const struct running *all, size_t count, pid_t process,
		      struct error *error)
{
	if (!tracer_add(tracer, process, error))
		return false;
	for (size_t i = 0; i < count; i++)
		if (all[i].parent == process && all[i].process != process &&
		    !add_below(tracer, all, count, all[i].process, error))
			return false;
	return true;
}

bool target_add_tree(struct tracer *tracer, pid_t process, struct error *error)
{
	ARRAY(struct running) all = {0};
	struct dirent *entry;
	DIR *folder;
	bool done;

	if (!target_is_alive(process))
		return error_input(error, "--pid %d: there is no such process", (int)process);
	/* First the process itself: what it starts while we look is recorded by that. */
	if (!tracer_add(tracer, process, error))
		return false;
	folder = opendir("/proc");
	if (!folder)
		return error_system(error, "cannot read /proc");
	while ((entry = readdir(folder))) {
		pid_t number = (pid_t)atoi(entry->d_name);

		if (isdigit((unsigned char)entry->d_name[0]))
			*array_push(&all) = (struct running){number, parent_of(number)};
	}
	closedir(folder);
	done = add_below(tracer, all.at, all.count, process, error);
	array_deinit(&all);
	return done;
}

bool target_is_alive(pid_t process)
{
	return kill(process, 0) == 0 || errno == EPERM;
}
