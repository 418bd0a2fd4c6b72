#include "machine/kernel/modules.h"

#include <dirent.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "op/input.h"

/* ---- the folder ---- */

static const char *join(const char *folder, const char *rest, struct arena *arena)
{
	char *path = arena_alloc(arena, strlen(folder) + strlen(rest) + 2);

	sprintf(path, "%s/%s", folder, rest);
	return path;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* What depmod's folder has: the modules under "kernel", or at least their order. */
static bool has_modules(const char *path, struct arena *arena)
{
	return is_folder(join(path, "kernel", arena)) ||
	       access(join(path, "modules.order", arena), F_OK) == 0;
}

/* `top` itself, or where under it modules of this release lie; NULL: nowhere. */
static const char *locate_under(const char *top, const char *release, struct arena *arena)
{
	static const char *const ways[] = {"", "lib/modules/", "usr/lib/modules/", "modules/"};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const char *path = join(join(top, ways[i], arena), release, arena);

		if (has_modules(path, arena))
			return path;
	}
	return NULL;
}

/* Without "..": it is going to be read by people. */
static const char *path_tidy(const char *path, struct arena *arena)
{
	char *tidy = realpath(path, NULL);
	const char *kept = tidy ? arena_text(arena, tidy, strlen(tidy)) : path;

	free(tidy);
	return kept;
}

bool modules_locate(const char **directory, const char *given, const char *kernel,
		    const char *release, struct arena *arena, struct error *error)
{
	const char *slash = strrchr(kernel, '/');
	const char *beside = slash ? arena_text(arena, kernel, (size_t)(slash - kernel) + 1) : ".";

	if (given) {
		*directory =
			has_modules(given, arena) ? given : locate_under(given, release, arena);
		return *directory ||
		       error_input(error, "no modules of Linux %s in %s or in its lib/modules/%s",
				   release, given, release);
	}
	*directory = locate_under(join(beside, "..", arena), release, arena);
	if (!*directory)
		*directory = locate_under(beside, release, arena);
	if (*directory)
		*directory = path_tidy(*directory, arena);
	return true;
}

/* ---- what is there ---- */

/* A module's name, or an alias that we understand. */
struct name {
	const char *text;
	bool is_built_in;
	const char *path; /* of the module's file; NULL: built in, or only an alias */
};

struct index {
	ARRAY(struct name) names;
	bool knows_built_in;
	bool knows_aliases; /* crypto modules have been read for theirs */
	struct arena arena;

	/* While the list is made. */
	struct module_list *list;
	ARRAY(const char *) visited;
};

/* As the kernel spells it: up to `bytes` of `text`, with underscores. */
static const char *name_make(struct index *index, const char *text, size_t bytes)
{
	char *name = arena_text(&index->arena, text, bytes);

	for (char *at = name; *at; at++) {
		if (*at == '-')
			*at = '_';
	}
	return name;
}

static const struct name *name_find(const struct index *index, const char *text)
{
	for (size_t i = 0; i < index->names.count; i++) {
		if (strcmp(index->names.at[i].text, text) == 0)
			return &index->names.at[i];
	}
	return NULL;
}

/* ".ko", ".ko.xz" and so on; the name's bytes before it, or 0. */
static size_t stem_bytes(const char *file)
{
	static const char *const ends[] = {".ko", ".ko.xz", ".ko.zst", ".ko.gz"};
	size_t bytes = strlen(file);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end_bytes = strlen(ends[i]);

		if (bytes > end_bytes && strcmp(file + bytes - end_bytes, ends[i]) == 0)
			return bytes - end_bytes;
	}
	return 0;
}

static int entry_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Symbolic links are not followed: "build" and "source" lead out of the folder, into whole kernel
 * trees.
 */
static void folder_read(struct index *index, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, entry_order);

	for (int i = 0; i < count; i++) {
		const char *file = entries[i]->d_name;
		const char *below = join(path, file, &index->arena);
		size_t bytes = stem_bytes(file);
		struct stat status;

		if (file[0] == '.' || lstat(below, &status) != 0)
			status.st_mode = 0;
		if (S_ISDIR(status.st_mode))
			folder_read(index, below);
		else if (S_ISREG(status.st_mode) && bytes)
			*array_push(&index->names) =
				(struct name){.text = name_make(index, file, bytes), .path = below};
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* modules.builtin: a path a line, "kernel/fs/ext4/ext4.ko". */
static void built_in_read(struct index *index, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[4096];

	index->knows_built_in = file != NULL;
	while (file && fgets(line, sizeof(line), file)) {
		const char *slash = strrchr(line, '/');
		const char *base = slash ? slash + 1 : line;

		line[strcspn(line, "\n")] = '\0';
		if (stem_bytes(base))
			*array_push(&index->names) =
				(struct name){.text = name_make(index, base, stem_bytes(base)),
					      .is_built_in = true};
	}
	if (file)
		fclose(file);
}

/* modules.builtin.modinfo: "crc32c_generic.alias=crc32c" and the like, each ended by NUL. */
static void built_in_aliases_read(struct index *index, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	while (file && getdelim(&text, &room, '\0', file) > 0) {
		const char *alias = strstr(text, ".alias=");

		if (alias) {
			alias += strlen(".alias=");
			*array_push(&index->names) =
				(struct name){.text = name_make(index, alias, strlen(alias)),
					      .is_built_in = true};
		}
	}
	free(text);
	if (file)
		fclose(file);
}

static void index_read(struct index *index, const char *directory)
{
	folder_read(index, directory);
	built_in_read(index, join(directory, "modules.builtin", &index->arena));
	built_in_aliases_read(index, join(directory, "modules.builtin.modinfo", &index->arena));
}

static void index_deinit(struct index *index)
{
	array_deinit(&index->names);
	array_deinit(&index->visited);
	arena_deinit(&index->arena);
}

/* ---- a module's own words ---- */

/* The whole file, unpacked, in `arena`. */
static bool object_read(struct module *module, const char *path, struct arena *arena,
			struct error *error)
{
	enum { OBJECT_BYTES_MAX = 256 << 20 };
	struct input *input = input_open(path, error);
	bool fine = input != NULL;

	while (fine && !input->last && input_visible(input) < OBJECT_BYTES_MAX)
		fine = input_fill(input, 2 * input_visible(input) + INPUT_WINDOW_BYTES, error);
	if (fine && !input->last)
		fine = error_input(error, "%s is too large for a module", path);
	if (fine) {
		module->bytes = input_visible(input);
		module->object =
			(unsigned char *)arena_text(arena, (const char *)input->at, module->bytes);
	}
	input_close(input);
	return fine;
}

/* The section .modinfo: "key=value" texts, each ended by NUL. Points into the object. */
static bool modinfo_find(const char **modinfo, size_t *bytes, const struct module *module,
			 const char *path, struct error *error)
{
	Elf *elf;
	size_t names;
	bool found = false;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)module->object, module->bytes);
	if (elf && elf_kind(elf) == ELF_K_ELF && elf_getshdrstrndx(elf, &names) == 0) {
		for (Elf_Scn *section = elf_nextscn(elf, NULL); section && !found;
		     section = elf_nextscn(elf, section)) {
			const Elf64_Shdr *header = elf64_getshdr(section);
			const char *name = header ? elf_strptr(elf, names, header->sh_name) : NULL;

			if (!name || strcmp(name, ".modinfo") != 0 ||
			    header->sh_offset > module->bytes ||
			    header->sh_size > module->bytes - header->sh_offset)
				continue;
			*modinfo = (const char *)module->object + header->sh_offset;
			*bytes = header->sh_size;
			found = *bytes > 0 && (*modinfo)[*bytes - 1] == '\0';
		}
	}
	elf_end(elf);
	return found || error_input(error, "%s is not a kernel module", path);
}

/* The text after "key=" from `*at` on, or NULL; *at moves behind it. */
static const char *modinfo_next(const char **at, const char *end, const char *key)
{
	size_t key_bytes = strlen(key);

	while (*at < end) {
		const char *text = *at;

		*at += strlen(text) + 1;
		if (strncmp(text, key, key_bytes) == 0 && text[key_bytes] == '=')
			return text + key_bytes + 1;
	}
	return NULL;
}

/*
 * Who answers to a name that no file has? Those are names of algorithms ("crc32c"), and who has
 * them lies where the kernel keeps its cryptography: to unpack and read all other modules as well
 * would take seconds.
 */
static void crypto_aliases_read(struct index *index)
{
	size_t count = index->names.count;

	index->knows_aliases = true;
	for (size_t i = 0; i < count; i++) {
		const char *path = index->names.at[i].path, *alias, *at, *modinfo;
		struct arena arena = {0};
		struct module module = {0};
		struct error ignored;
		size_t bytes;

		if (path && (strstr(path, "/crypto/") || strstr(path, "/lib/crc")) &&
		    object_read(&module, path, &arena, &ignored) &&
		    modinfo_find(&modinfo, &bytes, &module, path, &ignored)) {
			at = modinfo;
			while ((alias = modinfo_next(&at, modinfo + bytes, "alias")))
				*array_push(&index->names) = (struct name){
					.text = name_make(index, alias, strlen(alias)),
					.path = path};
		}
		arena_deinit(&arena);
	}
}

/* ---- the order ---- */

static bool module_add(struct index *index, const struct name *name, bool is_optional,
		       struct error *error);

/* Who needs a module that was only asked for softly so far makes it indispensable. */
static void module_need(struct module_list *list, const char *name)
{
	for (size_t i = 0; i < list->modules.count; i++) {
		if (strcmp(list->modules.at[i].name, name) == 0)
			list->modules.at[i].is_optional = false;
	}
}

static bool was_visited(struct index *index, const char *path)
{
	for (size_t i = 0; i < index->visited.count; i++) {
		if (strcmp(index->visited.at[i], path) == 0)
			return true;
	}
	*array_push(&index->visited) = path;
	return false;
}

/* By the name of the module itself: it must be there. */
static bool name_add(struct index *index, const char *text, bool is_optional, struct error *error)
{
	const struct name *name = name_find(index, text);

	if (name)
		return name->is_built_in || module_add(index, name, is_optional, error);
	return !index->knows_built_in ||
	       error_input(error, "no module %s, and it is not built into this kernel", text);
}

/*
 * By any name, softly: all who answer to it, unless one is built in. If nobody does, whoever said
 * so can do without, or will say itself what it lacks.
 */
static bool soft_name_add(struct index *index, const char *text, struct error *error)
{
	size_t count;

	if (!name_find(index, text) && !index->knows_aliases)
		crypto_aliases_read(index);
	count = index->names.count;
	for (size_t i = 0; i < count; i++) {
		if (index->names.at[i].is_built_in && strcmp(index->names.at[i].text, text) == 0)
			return true;
	}
	for (size_t i = 0; i < count; i++) {
		if (strcmp(index->names.at[i].text, text) == 0 &&
		    !module_add(index, &index->names.at[i], true, error))
			return false;
	}
	return true;
}

/* "libcrc32c,xor": each before the one that says so. */
static bool depends_add(struct index *index, const char *text, bool is_optional,
			struct error *error)
{
	while (*text) {
		size_t bytes = strcspn(text, ",");

		if (bytes && !name_add(index, name_make(index, text, bytes), is_optional, error))
			return false;
		text += bytes + (text[bytes] == ',');
	}
	return true;
}

/* "pre: crc32c xxhash64 post: other": what stands after "pre:". */
static bool softdep_add(struct index *index, const char *text, struct error *error)
{
	bool is_before = false;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t bytes = strcspn(text, " ");

		if (text[bytes - 1] == ':')
			is_before = strncmp(text, "pre:", bytes) == 0;
		else if (is_before && !soft_name_add(index, name_make(index, text, bytes), error))
			return false;
		text += bytes;
	}
	return true;
}

/* The module's file, after all that it needs. */
static bool module_add(struct index *index, const struct name *name, bool is_optional,
		       struct error *error)
{
	struct arena *arena = &index->list->arena;
	struct module module = {.is_optional = is_optional};
	const char *path = name->path, *text, *at, *modinfo, *base = strrchr(path, '/') + 1;
	size_t bytes;

	text = name_make(index, base, stem_bytes(base));
	if (was_visited(index, path)) {
		if (!is_optional)
			module_need(index->list, text);
		return true;
	}
	module.name = arena_text(arena, text, strlen(text));
	if (!object_read(&module, path, arena, error) ||
	    !modinfo_find(&modinfo, &bytes, &module, path, error))
		return false;
	for (at = modinfo; (text = modinfo_next(&at, modinfo + bytes, "softdep"));) {
		if (!softdep_add(index, text, error))
			return false;
	}
	for (at = modinfo; (text = modinfo_next(&at, modinfo + bytes, "depends"));) {
		if (!depends_add(index, text, is_optional, error))
			return error_context(error, "module %s", module.name);
	}
	*array_push(&index->list->modules) = module;
	return true;
}

bool modules_list(struct module_list *list, const char *directory, const char *const *wanted,
		  struct error *error)
{
	struct index index = {.list = list};
	bool fine = true;

	*list = (struct module_list){0};
	index_read(&index, directory);
	for (size_t i = 0; fine && wanted[i]; i++)
		fine = name_add(&index, name_make(&index, wanted[i], strlen(wanted[i])), false,
				error);
	if (!fine)
		error_context(error, "modules in %s", directory);
	index_deinit(&index);
	return fine;
}

void module_list_deinit(struct module_list *list)
{
	array_deinit(&list->modules);
	arena_deinit(&list->arena);
}
