#include "source/shipped.h"

#include "base/memory.h"
#include "base/nearest.h"
#include "source/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef REFAULT_SHAREDIR
#define REFAULT_SHAREDIR "/usr/local/share"
#endif

enum { FOLDERS_MAX = 16, SHIPPED_MAX = 1000 };

static const char ending[] = ".yaml";

/* What is found by name, and the list of it. */
struct shelf {
	const char *noun; /* "scenario" */
	const char
		*plural; /* "scenarios": its folder in the tree, and what `refault list` calls it */
	const char *variable; /* of the environment: folders of the user's own */
	struct shipped *list; /* made when first asked for, and kept */
	size_t count;
	bool is_listed;
};

static struct shelf scenarios = {
	.noun = "scenario", .plural = "scenarios", .variable = "REFAULT_SCENARIOS"};
static struct shelf devices = {
	.noun = "device", .plural = "devices", .variable = "REFAULT_DEVICES"};

struct folders {
	char at[FOLDERS_MAX][PATH_MAX];
	size_t count;
};

static void folder_add(struct folders *folders, const char *path, size_t bytes, const char *below)
{
	if (folders->count == FOLDERS_MAX || bytes == 0 || bytes + strlen(below) >= PATH_MAX)
		return;
	memcpy(folders->at[folders->count], path, bytes);
	strcpy(folders->at[folders->count] + bytes, below);
	folders->count++;
}

/*
 * Where the program's own files may be, beginning at the folder it lies in: build/refault,
 * build/check/refault, build/test/source/test_x, PREFIX/bin/refault. `below` is what it is called
 * in the tree, `installed` below PREFIX/share.
 */
static void own_places(struct folders *folders, const char *below, const char *installed)
{
	static const char *const ways[] = {"/", "/../", "/../../", "/../../../", "/../../../../"};
	char program[PATH_MAX], end[200];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	size_t bytes;

	if (length > 0) {
		program[length] = '\0';
		bytes = (size_t)(strrchr(program, '/') - program);
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
			snprintf(end, sizeof(end), "%s%s", ways[i], below);
			folder_add(folders, program, bytes, end);
		}
		snprintf(end, sizeof(end), "/../share/%s", installed);
		folder_add(folders, program, bytes, end);
	}
	snprintf(end, sizeof(end), "/%s", installed);
	folder_add(folders, REFAULT_SHAREDIR, strlen(REFAULT_SHAREDIR), end);
}

static void folders_find(struct folders *folders, const struct shelf *shelf)
{
	const char *wanted = getenv(shelf->variable);
	char installed[64];

	folders->count = 0;
	while (wanted && *wanted) {
		size_t bytes = strcspn(wanted, ":");

		folder_add(folders, wanted, bytes, "");
		wanted += bytes;
		wanted += *wanted == ':';
	}
	snprintf(installed, sizeof(installed), "refault/%s", shelf->plural);
	own_places(folders, shelf->plural, installed);
}

static bool text_read(const struct shelf *shelf, char **text, size_t *bytes, const char *path,
		      size_t bytes_max, struct error *error)
{
	FILE *file = fopen(path, "rbe");
	struct stat status;
	bool ok = false;

	*text = NULL;
	if (!file)
		return error_input(error, "cannot read %s %s: %s", shelf->noun, path,
				   strerror(errno));
	if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
		error_input(error, "cannot read %s %s: it is a directory", shelf->noun, path);
		goto out;
	}
	*text = memory_alloc(bytes_max + 2, 1);
	*bytes = fread(*text, 1, bytes_max + 1, file);
	if (ferror(file))
		error_input(error, "cannot read %s %s: %s", shelf->noun, path, strerror(errno));
	else if (*bytes > bytes_max)
		error_input(error, "%s has more than %zu bytes: that is no %s", path, bytes_max,
			    shelf->noun);
	else
		ok = true;
out:
	fclose(file);
	if (!ok) {
		memory_free(*text);
		*text = NULL;
	}
	return ok;
}

/* A scenario is read for each of its settings, and standard input once. */
static bool standard_read(char **text, size_t *bytes, size_t bytes_max, struct error *error)
{
	static char *kept;
	static size_t kept_bytes;

	if (!kept) {
		kept = memory_alloc(bytes_max + 2, 1);
		kept_bytes = fread(kept, 1, bytes_max + 1, stdin);
	}
	if (kept_bytes > bytes_max)
		return error_input(error,
				   "standard input has more than %zu bytes: that is no scenario",
				   bytes_max);
	if (kept_bytes == 0)
		return error_input(error, "standard input is empty: there is no scenario");
	*text = memory_alloc(bytes_max + 2, 1);
	memcpy(*text, kept, kept_bytes);
	*bytes = kept_bytes;
	return true;
}

bool shipped_read(char **text, size_t *bytes, const char *path, size_t bytes_max,
		  struct error *error)
{
	if (strcmp(path, "-") == 0)
		return standard_read(text, bytes, bytes_max, error);
	return text_read(&scenarios, text, bytes, path, bytes_max, error);
}

bool shipped_device_read(char **text, size_t *bytes, const char *path, size_t bytes_max,
			 struct error *error)
{
	return text_read(&devices, text, bytes, path, bytes_max, error);
}

/* ---- the list ---- */

static int shipped_compare(const void *a, const void *b)
{
	const char *one = ((const struct shipped *)a)->name;
	const char *other = ((const struct shipped *)b)->name;
	int below = (strchr(one, '/') != NULL) - (strchr(other, '/') != NULL);

	return below ? below : strcmp(one, other);
}

static const char *summary_read(struct arena *arena, const char *path)
{
	struct yaml yaml;
	struct error error;
	struct yaml_node *node;
	char *text;
	size_t bytes;
	bool ok;

	if (!shipped_read(&text, &bytes, path, YAML_BYTES_MAX, &error))
		return "(cannot be read)";
	ok = yaml_parse(&yaml, arena, path, text, bytes, &error);
	memory_free(text);
	node = ok ? yaml_get(yaml.root, "summary") : NULL;
	return !ok ? "(is not YAML)" : node && node->kind == YAML_SCALAR ? node->text : "";
}

static bool shelf_has(const struct shelf *shelf, const char *name)
{
	for (size_t i = 0; i < shelf->count; i++) {
		if (strcmp(shelf->list[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), bytes = strlen(end);

	return length > bytes && strcmp(text + length - bytes, end) == 0;
}

/* What lies in `folder`, and in the folders in it: those are called BELOW/NAME. */
static void folder_list(struct shelf *shelf, struct arena *arena, const char *folder,
			const char *below)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX + 300], name[2 * NAME_MAX + 2];

	while (directory && (entry = readdir(directory))) {
		size_t bytes;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!*below && entry->d_type == DT_DIR)
			folder_list(shelf, arena, path, entry->d_name);
		if (!ends_with(entry->d_name, ending))
			continue;
		bytes = (size_t)snprintf(name, sizeof(name), "%s%s%s", below, *below ? "/" : "",
					 entry->d_name);
		bytes -= strlen(ending);
		name[bytes] = '\0';
		if (shelf->count == SHIPPED_MAX || shelf_has(shelf, name))
			continue;
		shelf->list[shelf->count++] = (struct shipped){
			.name = arena_text(arena, name, bytes),
			.summary = summary_read(arena, path),
			.path = arena_text(arena, path, strlen(path)),
		};
	}
	if (directory)
		closedir(directory);
}

static const struct shipped *shelf_at(struct shelf *shelf, size_t index)
{
	static struct arena arena; /* as long as the program */

	if (!shelf->is_listed) {
		struct folders *folders = memory_alloc(1, sizeof(*folders));

		shelf->list = arena_alloc(&arena, SHIPPED_MAX * sizeof(*shelf->list));
		folders_find(folders, shelf);
		for (size_t i = 0; i < folders->count; i++)
			folder_list(shelf, &arena, folders->at[i], "");
		qsort(shelf->list, shelf->count, sizeof(shelf->list[0]), shipped_compare);
		memory_free(folders);
		shelf->is_listed = true;
	}
	return index < shelf->count ? &shelf->list[index] : NULL;
}

const struct shipped *scenario_at(size_t index)
{
	return shelf_at(&scenarios, index);
}

const struct shipped *shipped_device_at(size_t index)
{
	return shelf_at(&devices, index);
}

static const char *scenario_name_at(const void *context, size_t index)
{
	const struct shipped *shipped = scenario_at(index);

	(void)context;
	return shipped ? shipped->name : NULL;
}

static const char *device_name_at(const void *context, size_t index)
{
	const struct shipped *shipped = shipped_device_at(index);

	(void)context;
	return shipped ? shipped->name : NULL;
}

/* ---- finding one ---- */

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_there(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0;
}

/* .../build/../scenarios/x.yaml is shown in messages: without the detour. */
static void detour_remove(char *path, size_t bytes)
{
	char *plain = realpath(path, NULL);

	if (plain && strlen(plain) < bytes)
		strcpy(path, plain);
	free(plain);
}

static bool shelf_find(const struct shelf *shelf, char *path, size_t bytes, const char *name,
		       struct error *error)
{
	struct folders *folders;
	const char *near;
	bool found = false;

	if (ends_with(name, ".yaml") || ends_with(name, ".yml") || name[0] == '/' ||
	    name[0] == '.' || (strchr(name, '/') && is_there(name))) {
		if (snprintf(path, bytes, "%s", name) >= (int)bytes)
			return error_input(error, "the path of the %s is too long", shelf->noun);
		return true;
	}
	if (strlen(name) > PATH_MAX / 4)
		return error_input(error, "no %s has a name as long as that", shelf->noun);
	folders = memory_alloc(1, sizeof(*folders));
	folders_find(folders, shelf);
	for (size_t i = 0; i < folders->count && !found; i++) {
		snprintf(path, bytes, "%s/%s%s", folders->at[i], name, ending);
		found = is_file(path);
	}
	memory_free(folders);
	if (found) {
		detour_remove(path, bytes);
		return true;
	}
	if (is_file(name)) {
		snprintf(path, bytes, "%s", name);
		return true;
	}
	near = nearest_word(name, shelf == &scenarios ? scenario_name_at : device_name_at, NULL);
	return error_input(error, "no %s \"%.80s\"%s%s%s. `refault list %s` shows all.",
			   shelf->noun, name, near ? " (nearest: " : "", near ? near : "",
			   near ? ")" : "", shelf->plural);
}

bool shipped_find(char *path, size_t bytes, const char *name, struct error *error)
{
	if (strcmp(name, "-") == 0) {
		snprintf(path, bytes, "-");
		return true;
	}
	return shelf_find(&scenarios, path, bytes, name, error);
}

bool shipped_device_find(char *path, size_t bytes, const char *name, struct error *error)
{
	return shelf_find(&devices, path, bytes, name, error);
}

const char *shipped_manual(char *path, size_t bytes)
{
	struct folders *folders = memory_alloc(1, sizeof(*folders));

	own_places(folders, "docs/scenarios.md", "doc/refault/scenarios.md");
	snprintf(path, bytes, "docs/scenarios.md");
	for (size_t i = 0; i < folders->count; i++) {
		if (strlen(folders->at[i]) < bytes && is_file(folders->at[i])) {
			strcpy(path, folders->at[i]);
			detour_remove(path, bytes);
			break;
		}
	}
	memory_free(folders);
	return path;
}
