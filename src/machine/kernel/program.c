#include "machine/kernel/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- where it lies ---- */

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Look into folders separated by colons. NULL: not there. */
static const char *find_in(const char *folders, const char *name, struct arena *arena)
{
	while (*folders) {
		size_t bytes = strcspn(folders, ":");
		char *path = arena_alloc(arena, bytes + strlen(name) + 3);

		sprintf(path, "%.*s/%s", bytes ? (int)bytes : 1, bytes ? folders : ".", name);
		if (is_program(path))
			return path;
		folders += bytes + (folders[bytes] == ':');
	}
	return NULL;
}

bool program_find(const char **path, const char *name, const char *package, struct arena *arena,
		  struct error *error)
{
	const char *folders = getenv("PATH");

	*path = folders ? find_in(folders, name, arena) : NULL;
	if (!*path)
		*path = find_in("/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin", name, arena);
	return *path ||
	       error_failed(error, "no program %s here (Debian package %s)", name, package);
}

/* ---- who loads it ---- */

static bool read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* The loader's path, in `arena`, or NULL: a static program has none. */
static bool loader_read(const char **loader, int fd, const char *path, struct arena *arena,
			struct error *error)
{
	Elf64_Ehdr header;
	Elf64_Phdr part;

	*loader = NULL;
	if (!read_at(fd, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
		return error_failed(error, "%s is not a program for x86-64", path);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (!read_at(fd, &part, sizeof(part), header.e_phoff + i * sizeof(part)))
			return error_failed(error, "%s is cut off", path);
		if (part.p_type == PT_INTERP && part.p_filesz > 0 && part.p_filesz <= 4096) {
			char *text = arena_alloc(arena, part.p_filesz + 1);

			*loader = text;
			return read_at(fd, text, part.p_filesz, part.p_offset) ||
			       error_failed(error, "%s is cut off", path);
		}
	}
	return true;
}

static bool loader_find(const char **loader, const char *path, struct arena *arena,
			struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found;

	if (fd < 0)
		return error_system(error, "cannot open %s", path);
	found = loader_read(loader, fd, path, arena, error);
	close(fd);
	return found;
}

bool program_must_be_static(const char *path, struct error *error)
{
	struct arena arena = {0};
	const char *loader;
	bool is_static =
		loader_find(&loader, path, &arena, error) &&
		(!loader || error_failed(error, "%s is not a static program: it is loaded by %s",
					 path, loader));

	arena_deinit(&arena);
	return is_static;
}

/* ---- running it ---- */

/* Start it with its output `fd` going into a pipe, whose other end is *output; the rest goes nowhere. */
static bool start(pid_t *pid, int *output, int fd, const char *const *words)
{
	posix_spawn_file_actions_t actions;
	int ends[2], wrong;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (fd != STDOUT_FILENO)
		posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], fd);
	wrong = posix_spawn(pid, words[0], &actions, NULL, (char *const *)(uintptr_t)words,
			    environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*output = ends[0];
	if (wrong)
		close(ends[0]);
	errno = wrong;
	return !wrong;
}

/* Wait for its end. Did it exit with 0? */
static bool end_is_good(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool program_run(const char *const *words, struct error *error)
{
	char complaint[256] = "";
	ssize_t got;
	int output;
	pid_t pid;

	if (!start(&pid, &output, STDERR_FILENO, words))
		return error_system(error, "cannot run %s", words[0]);
	got = read(output, complaint, sizeof(complaint) - 1);
	complaint[got > 0 ? got : 0] = '\0';
	complaint[strcspn(complaint, "\n")] = '\0';
	close(output);
	return end_is_good(pid) || error_failed(error, "%s failed: %s", words[0], complaint);
}

/* ---- what it loads ---- */

/*
 * A line of the loader's list is "libz.so.1 => /lib/libz.so.1 (0x...)", or for the loader itself
 * "/lib64/ld.so (0x...)", or for what the kernel brings along "linux-vdso.so.1 (0x...)", or
 * "libz.so.1 => not found".
 */
static bool line_read(struct program_parts *parts, char *line, const char *path,
		      struct arena *arena, struct error *error)
{
	const char *arrow = strstr(line, "=> ");
	const char *file = arrow ? arrow + strlen("=> ") : line + strspn(line, " \t");
	size_t bytes = strcspn(file, " ");

	if (strncmp(file, "not found", strlen("not found")) == 0)
		return error_failed(error, "a library of %s is missing: %s", path,
				    line + strspn(line, " \t"));
	if (*file != '/')
		return true;
	if (parts->count == PROGRAM_PARTS_MAX)
		return error_failed(error, "%s loads more than %d libraries", path,
				    PROGRAM_PARTS_MAX);
	parts->at[parts->count++] = arena_text(arena, file, bytes);
	return true;
}

bool program_parts_list(struct program_parts *parts, const char *path, struct arena *arena,
			struct error *error)
{
	const char *loader;
	char line[4096 + 256];
	bool fine = true, is_good;
	FILE *output;
	int fd;
	pid_t pid;

	parts->count = 0;
	if (!loader_find(&loader, path, arena, error))
		return false;
	if (!loader)
		return true;
	parts->at[parts->count++] = loader;
	if (!start(&pid, &fd, STDOUT_FILENO, (const char *const[]){loader, "--list", path, NULL}))
		return error_system(error, "cannot ask %s what %s loads", loader, path);
	output = fdopen(fd, "re");
	while (output && fine && fgets(line, sizeof(line), output)) {
		line[strcspn(line, "\n")] = '\0';
		fine = line_read(parts, line, path, arena, error);
	}
	if (output)
		fclose(output);
	else
		close(fd);
	is_good = end_is_good(pid);
	if (fine && (!output || !is_good))
		return error_failed(error, "%s cannot say what %s loads", loader, path);
	return fine;
}
