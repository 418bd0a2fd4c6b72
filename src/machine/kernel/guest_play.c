#include "machine/kernel/guest_play.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/kernel/program.h"

bool guest_player_find(const char **path, struct arena *arena, struct error *error)
{
	static const char *const places[] = {"refault-static", "../lib/refault/refault-static"};
	char folder[4096];
	ssize_t bytes = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	folder[bytes > 0 ? bytes : 0] = '\0';
	*(strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder) = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *found = arena_alloc(arena, strlen(folder) + strlen(places[i]) + 1);

		strcat(strcpy(found, folder), places[i]);
		*path = found;
		if (access(found, X_OK) == 0)
			return true;
	}
	return error_failed(error, "no refault-static beside refault, nor in ../lib/refault: a "
				   "guest runs it (make builds it)");
}

struct parts {
	ARRAY(struct guest_file) files;
	ARRAY(const char *) command;
	struct arena arena;
};

static void file_add(struct parts *parts, const char *host_path, const char *guest_path,
		     enum guest_file_kind kind)
{
	*array_push(&parts->files) = (struct guest_file){host_path, guest_path, kind};
}

/* The programs: ours, and the one that makes the file system. mke2fs has its defaults in a file. */
static bool programs_add(struct parts *parts, const char *filesystem, struct error *error)
{
	static const char configuration[] = "/etc/mke2fs.conf";
	const char *package = strcmp(filesystem, "xfs") == 0     ? "xfsprogs"
			      : strcmp(filesystem, "btrfs") == 0 ? "btrfs-progs"
								 : "e2fsprogs";
	const char *player, *mkfs;
	char name[64], *guest_path = arena_alloc(&parts->arena, 128);

	snprintf(name, sizeof(name), "mkfs.%.50s", filesystem);
	sprintf(guest_path, "/sbin/%s", name);
	if (!guest_player_find(&player, &parts->arena, error) ||
	    !program_must_be_static(player, error) ||
	    !program_find(&mkfs, name, package, &parts->arena, error))
		return false;
	file_add(parts, player, "/bin/refault", GUEST_PROGRAM);
	file_add(parts, mkfs, guest_path, GUEST_PROGRAM);
	if (access(configuration, R_OK) == 0)
		file_add(parts, configuration, configuration, GUEST_FILE);
	return true;
}

/* The input keeps its name: what is said about it should be about the file that the user knows. */
static void command_make(struct parts *parts, const struct guest_play *play)
{
	static const char *const end[] = {
		"--on", "kernel", "--block-device", GUEST_DISK, "--no-store", "--json", NULL};
	const char *slash = strrchr(play->input, '/'), *name = slash ? slash + 1 : play->input;
	char *input = arena_alloc(&parts->arena, strlen("/refault/") + strlen(name) + 1);

	sprintf(input, "/refault/%s", name);
	file_add(parts, play->input, input, GUEST_FILE);
	*array_push(&parts->command) = "refault";
	*array_push(&parts->command) = play->subcommand;
	*array_push(&parts->command) = name;
	for (size_t i = 0; play->words && play->words[i]; i++)
		*array_push(&parts->command) = play->words[i];
	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++)
		*array_push(&parts->command) = end[i];
}

bool guest_play(const struct guest_play *play, struct guest_outcome *outcome, struct error *error)
{
	const char *const modules[] = {play->filesystem, NULL};
	struct guest_options options = {
		.kernel = play->kernel,
		.wanted_modules = modules,
		.acceleration = play->acceleration,
		.memory_bytes = play->memory_bytes,
		.disk_bytes = play->disk_bytes ? play->disk_bytes : 6 * GIB,
		.timeout_ns = play->timeout_ns,
	};
	struct parts parts = {0};
	bool done;

	*outcome = (struct guest_outcome){0};
	command_make(&parts, play);
	done = programs_add(&parts, play->filesystem, error);
	if (done) {
		options.command = parts.command.at;
		options.files = parts.files.at;
		options.file_count = parts.files.count;
		done = guest_run(&options, outcome, error);
	}
	array_deinit(&parts.files);
	array_deinit(&parts.command);
	arena_deinit(&parts.arena);
	return done;
}
