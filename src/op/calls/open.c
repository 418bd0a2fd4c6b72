/*
 * open: descriptors come, lead somewhere, and go
 *
 * Which file is it? In this order: the one with the inode that is told; the one of the path that is
 * told; the one that the name leads to. A name that led to another file before leads to this one from
 * now on.
 */
#include "op/calls/calls_private.h"

#include <stdio.h>
#include <string.h>

#include "op/path.h"

unsigned int calls_open_flags(uint64_t flags, bool is_arm64)
{
	/* include/uapi/asm-generic/fcntl.h; arch/arm64/include/uapi/asm/fcntl.h has four others. */
	const uint64_t directory = is_arm64 ? 040000 : 0200000;
	const uint64_t no_follow = is_arm64 ? 0100000 : 0400000;
	const uint64_t direct = is_arm64 ? 0200000 : 040000;
	const struct {
		uint64_t theirs;
		unsigned int ours;
	} table[] = {
		{0100, CALLS_O_CREATE},         {0200, CALLS_O_EXCLUSIVE},
		{01000, CALLS_O_TRUNCATE},      {02000, CALLS_O_APPEND},
		{010000, CALLS_O_DSYNC},        {04010000, CALLS_O_SYNC},
		{02000000, CALLS_O_CLOEXEC},    {010000000, CALLS_O_PATH},
		{directory, CALLS_O_DIRECTORY}, {020000000 | directory, CALLS_O_TMPFILE},
		{no_follow, CALLS_O_NOFOLLOW},  {direct, CALLS_O_DIRECT},
	};
	unsigned int ours = flags & 3 ? CALLS_O_WRITE : 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if ((flags & table[i].theirs) == table[i].theirs)
			ours |= table[i].ours;
	return ours;
}

/* ---- which file ---- */

/*
 * `name`, as it was asked for, turned out to be at `real`. What differs before the parts at their ends
 * that are the same must be a symbolic link (or another root, which comes to the same).
 */
static void alias_learn(struct calls *calls, uint32_t name, uint32_t real)
{
	const struct name *one = &calls->names.at[name], *other = &calls->names.at[real];
	uint32_t path;

	while (one->parent != NONE && other->parent != NONE && one->bytes == other->bytes &&
	       memcmp(one->text, other->text, one->bytes) == 0 && one->parent != NAME_ROOT &&
	       other->parent != NAME_ROOT && one->parent != other->parent) {
		name = one->parent;
		real = other->parent;
		one = &calls->names.at[name];
		other = &calls->names.at[real];
	}
	if (name == NAME_SOMEWHERE) {
		name_somewhere_is(calls, real);
		return;
	}
	if (name < NAME_ROOT_COUNT || real < NAME_ROOT_COUNT || one->is_pseudo ||
	    one->kind == NAME_SYMLINK || one->file != NONE || one->is_made)
		return;
	path = name_path(calls, real);
	if (path_text(calls->options.paths, path)[0] != '/')
		return;
	name_link_is(calls, name, path_text(calls->options.paths, path),
		     path_bytes(calls->options.paths, path));
}

/* The path that is told, as a name. */
static uint32_t told_name(struct calls *calls, const struct calls_facts *facts)
{
	if (!facts || !facts->path || facts->path_bytes == 0 || facts->path[0] != '/')
		return NONE;
	return name_resolve(calls, NAME_ROOT, facts->path, facts->path_bytes, false);
}

/* The name leads to another inode than it did: somebody unseen has put another file there. */
static void name_replaced(struct calls *calls, const struct calls_when *when, uint32_t name,
			  const struct calls_facts *facts)
{
	uint32_t file = calls->names.at[name].file;
	const struct file *at = file == NONE ? NULL : &calls->files.at[file];

	if (at && at->has_inode && (at->device != facts->device || at->inode != facts->inode))
		name_absent(calls, when, name);
}

/* A file that is known leads by this name, too: a hard link, or a rename that nobody saw. */
static void name_added(struct calls *calls, const struct calls_when *when, uint32_t file,
		       uint32_t name)
{
	bool was_there = name_could_exist(calls, name);
	uint32_t other = calls->files.at[file].name;

	parents_present(calls, when, name);
	if (calls->files.at[file].is_deleted || calls->files.at[file].is_directory)
		return;
	if (was_there) {
		calls->names.at[name].existed = true;
		calls->names.at[name].linked_file = file;
	} else {
		emit_two(calls, when, OP_LINK, other, name);
	}
	calls->names.at[name].kind = NAME_FILE;
	calls->names.at[name].is_in_ops = true;
	file_add_name(calls, file, name);
}

/* The file that has this name, which is there. NONE: a directory that nobody opened, or of no disk. */
static uint32_t file_named(struct calls *calls, const struct calls_when *when, uint32_t name,
			   const struct calls_facts *facts)
{
	bool has_inode = facts && facts->has_inode;
	uint32_t file;

	/* What is open is no link: somebody unseen has put a file there. */
	if (calls->names.at[name].kind == NAME_SYMLINK && calls->names.at[name].is_made)
		name_absent(calls, when, name);
	if (has_inode) {
		name_replaced(calls, when, name, facts);
		file = file_of_inode(calls, facts->device, facts->inode);
		if (file != NONE && calls->names.at[name].file == NONE &&
		    !calls->names.at[name].is_pseudo)
			name_added(calls, when, file, name);
		if (file != NONE)
			return file;
	}
	file = name_present(calls, when, name,
			    facts && facts->type == CALLS_DIRECTORY ? NAME_DIRECTORY : NAME_FILE);
	if (file == NONE && calls->names.at[name].kind == NAME_DIRECTORY) {
		file = file_add(calls, name);
		calls->files.at[file].existed = calls->names.at[name].existed;
	}
	if (file != NONE && calls->names.at[name].kind == NAME_DIRECTORY)
		calls->files.at[file].is_directory = true;
	return file;
}

/* A file of no disk that is open: its bytes are counted, and nothing else comes of it. */
static uint32_t open_other(struct calls *calls, unsigned int flags)
{
	return open_add(calls, NONE, NONE, flags);
}

/* "/proc/self/fd/7", "/proc/4100/fd/7", "/dev/fd/7" */
static bool is_descriptor_path(const char *text, size_t bytes, int *fd)
{
	static const char *const beginnings[] = {"/proc/self/fd/", "/dev/fd/",
						 "/proc/thread-self/fd/"};
	size_t at = 0;
	int number = 0;

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]) && !at; i++)
		if (bytes > strlen(beginnings[i]) &&
		    memcmp(text, beginnings[i], strlen(beginnings[i])) == 0)
			at = strlen(beginnings[i]);
	if (at == 0 || bytes - at > 9)
		return false;
	for (; at < bytes; at++) {
		if (text[at] < '0' || text[at] > '9')
			return false;
		number = number * 10 + (text[at] - '0');
	}
	*fd = number;
	return true;
}

uint32_t open_of_name(struct calls *calls, const struct calls_when *when,
		      const struct calls_name *name)
{
	int fd;

	if (!name || !name->text)
		return NONE;
	if (name->bytes == 0 && name->directory >= 0)
		return open_of(calls, when, name->directory);
	if (is_descriptor_path(name->text, name->bytes, &fd))
		return open_of(calls, when, fd);
	return NONE;
}

/* ---- opening ---- */

/* A new open file of a new file without a name. */
static uint32_t open_nameless(struct calls *calls, const struct calls_when *when,
			      uint32_t directory, unsigned int flags,
			      const struct calls_facts *facts)
{
	uint32_t told = told_name(calls, facts), name, file, open;

	if (told != NONE && told >= NAME_ROOT_COUNT) {
		/* "/data/db/#1048707" */
		struct name_place place = name_place(calls, told);

		directory = place.parent;
		name_present(calls, when, directory, NAME_DIRECTORY);
		name = name_make_deleted(calls, directory, place.text, place.bytes);
	} else {
		if (directory != NONE)
			name_present(calls, when, directory, NAME_DIRECTORY);
		else
			directory = NAME_NOWHERE;
		name = name_make_deleted(calls, directory, "#tmpfile", 8);
	}
	file = file_add(calls, name);
	calls->names.at[name].kind = NAME_FILE;
	calls->names.at[name].is_made = true;
	calls->files.at[file].is_size_exact = calls->files.at[file].is_initial_exact = true;
	calls->names.at[name].is_in_ops = true;
	open = open_add(calls, file, name, flags);
	emit_open(calls, when, OP_CREATE, open, 0, 0);
	if (!calls->files.at[file].is_linked_again) {
		emit_name(calls, when, OP_UNLINK, name, 0);
		calls->names.at[name].is_in_ops = false;
		calls->names.at[name].kind = NAME_ABSENT;
	}
	file_remove_name(calls, file, name);
	calls->files.at[file].is_deleted = true;
	return open;
}

/* O_CREAT, and nothing that is known of this name: it is taken for new, unless more is found. */
static uint32_t open_created(struct calls *calls, const struct calls_when *when, uint32_t name,
			     unsigned int flags)
{
	struct name *at = &calls->names.at[name];
	bool could_exist = name_could_exist(calls, name) && !(flags & CALLS_O_EXCLUSIVE);
	uint32_t file, open;
	bool existed;

	parents_present(calls, when, name);
	file = file_add(calls, name);
	existed = could_exist && file < calls->learned.count && calls->learned.at[file].existed;
	at = &calls->names.at[name];
	at->kind = NAME_FILE;
	at->existed |= existed;
	at->is_made |= !existed;
	at->is_in_ops = true;
	calls->files.at[file].existed = existed;
	calls->files.at[file].is_assumed_new = could_exist && !(flags & CALLS_O_TRUNCATE);
	if (!could_exist || flags & CALLS_O_TRUNCATE) {
		calls->files.at[file].size = calls->files.at[file].initial = 0;
		calls->files.at[file].is_size_exact = calls->files.at[file].is_initial_exact = true;
	}
	open = open_add(calls, file, name, flags);
	emit_open(calls, when, OP_CREATE, open, 0, 0);
	return open;
}

static uint32_t open_present(struct calls *calls, const struct calls_when *when, uint32_t name,
			     unsigned int flags, const struct calls_facts *facts)
{
	uint32_t file = file_named(calls, when, name, facts), open;

	if (file == NONE)
		return open_other(calls, flags);
	if (flags & CALLS_O_DIRECTORY)
		file_facts(calls, file, &(struct calls_facts){.type = CALLS_DIRECTORY});
	open = open_add(calls, file, name, flags);
	if (flags & CALLS_O_PATH) {
		emit_name(calls, when, OP_STAT, name, 0);
		return open;
	}
	emit_open(calls, when, flags & CALLS_O_CREATE ? OP_CREATE : OP_OPEN, open, 0, 0);
	if (flags & CALLS_O_TRUNCATE && flags & CALLS_O_WRITE) {
		if (calls->files.at[file].size || !calls->files.at[file].is_size_exact)
			emit(calls, when, OP_TRUNCATE, file, 0, 0);
		file_size_is(&calls->files.at[file], 0);
	}
	return open;
}

static uint32_t open_unnamed(struct calls *calls, const struct calls_when *when, unsigned int flags,
			     int fd)
{
	uint32_t open;

	open = open_of(calls, when, fd);
	calls->files.at[calls->opens.at[open].file].is_unknown = false;
	calls->files.at[calls->opens.at[open].file].is_unnamed = true;
	calls->opens.at[open].flags = flags;
	calls->opens.at[open].is_position_known = true;
	if (flags & CALLS_O_DIRECTORY)
		file_facts(calls, calls->opens.at[open].file,
			   &(struct calls_facts){.type = CALLS_DIRECTORY});
	if (flags & (CALLS_O_TRUNCATE | CALLS_O_TMPFILE))
		file_size_is(&calls->files.at[calls->opens.at[open].file], 0);
	return open;
}

/* The same file once more, at its beginning; its name may be gone. */
static uint32_t open_again(struct calls *calls, const struct calls_when *when, uint32_t before,
			   unsigned int flags)
{
	uint32_t open = open_add(calls, calls->opens.at[before].file, NONE, flags);

	calls->opens.at[open].op_name = calls->opens.at[before].op_name;
	for (size_t i = 0; i < calls->opens.at[before].users.count; i++)
		open_used(calls, open, calls->opens.at[before].users.at[i]);
	emit_open(calls, when, OP_OPEN, open, 0, 0);
	return open;
}

void calls_open(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		unsigned int flags, int64_t result, const struct calls_facts *facts)
{
	bool follows =
		!(flags & CALLS_O_NOFOLLOW) && (flags & (CALLS_O_CREATE | CALLS_O_EXCLUSIVE)) !=
						       (CALLS_O_CREATE | CALLS_O_EXCLUSIVE);
	uint32_t found = name_of(calls, when, name, follows), told = told_name(calls, facts);
	struct table *table = task_get(calls, when)->table;
	uint32_t open = result < 0 ? NONE : open_of_name(calls, when, name);
	bool is_cloexec = flags & CALLS_O_CLOEXEC;
	int fd = (int)result;

	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (result > INT32_MAX)
		return;
	descriptor_remove(calls, when, table, fd); /* its close() was not seen */
	if (open != NONE && calls->opens.at[open].file != NONE) {
		open = open_again(calls, when, open, flags);
	} else if (facts && facts->type == CALLS_OTHER) {
		open = open_other(calls, flags);
	} else if (flags & CALLS_O_TMPFILE) {
		open = open_nameless(calls, when, found, flags, facts);
	} else {
		if (told != NONE && facts->is_deleted)
			told = NONE; /* it was unlinked meanwhile; its name was the one asked for */
		if (told != NONE && found != NONE && told != found)
			alias_learn(calls, found, told);
		if (told != NONE)
			found = told;
		if (found == NONE) {
			open = open_unnamed(calls, when, flags, fd);
			descriptor_find(table, fd)->is_cloexec = is_cloexec;
			return;
		}
		if (calls->names.at[found].is_pseudo)
			open = open_other(calls, flags);
		else if (flags & CALLS_O_CREATE && calls->names.at[found].file == NONE &&
			 calls->names.at[found].kind != NAME_DIRECTORY &&
			 found >= NAME_ROOT_COUNT &&
			 !(facts && facts->has_inode &&
			   file_of_inode(calls, facts->device, facts->inode) != NONE))
			open = open_created(calls, when, found, flags);
		else
			open = open_present(calls, when, found, flags, facts);
	}
	calls->opens.at[open].name = found;
	if (facts && calls->opens.at[open].file != NONE)
		file_facts(calls, calls->opens.at[open].file, facts);
	descriptor_put(calls, when, table, fd, open, is_cloexec);
}

/* ---- what is told of one ---- */

/* The file with this inode, of which no name is told: it has one of its own. */
static uint32_t file_numbered(struct calls *calls, const struct calls_facts *facts)
{
	uint32_t file = file_of_inode(calls, facts->device, facts->inode), name;
	char text[96];
	int bytes;

	if (file != NONE)
		return file;
	bytes = snprintf(text, sizeof(text), "dev %u:%u ino 0x%llx",
			 (unsigned int)(facts->device >> 32), (unsigned int)facts->device,
			 (unsigned long long)facts->inode);
	name = name_make_unique(calls, NAME_NOWHERE, text, (size_t)bytes);
	calls->names.at[name].kind = NAME_FILE;
	calls->names.at[name].existed = calls->names.at[name].is_in_ops = true;
	file = file_add(calls, name);
	calls->files.at[file].existed = true;
	file_has_inode(calls, file, facts->device, facts->inode);
	return file;
}

/* A descriptor that was known by its number only is told from others now. */
static void unknown_named(struct calls *calls, const struct calls_when *when, int fd,
			  const struct calls_facts *facts, uint32_t name)
{
	struct table *table = task_get(calls, when)->table;
	struct descriptor *at = descriptor_find(table, fd);
	const struct open_file before = calls->opens.at[at->open];
	bool is_cloexec = at->is_cloexec;
	uint32_t file, open;

	if (facts->is_deleted)
		return;
	file = name == NONE ? file_numbered(calls, facts) : file_named(calls, when, name, facts);
	open = file == NONE ? open_other(calls, before.flags)
			    : open_add(calls, file, name, before.flags);
	calls->opens.at[open].position = before.position;
	calls->opens.at[open].is_position_known = before.is_position_known;
	calls->opens.at[open].name = name;
	if (descriptor_find(table->before, fd) &&
	    descriptor_find(table->before, fd)->open == at->open)
		descriptor_put(calls, when, table->before, fd, open, false);
	descriptor_put(calls, when, table, fd, open, is_cloexec);
}

/* It was open before anything was seen. */
static void known_anew(struct calls *calls, const struct calls_when *when, int fd,
		       const struct calls_facts *facts, uint32_t name)
{
	struct table *table = task_get(calls, when)->table;
	uint32_t file = NONE, open;

	if (facts->type == CALLS_OTHER || (name != NONE && calls->names.at[name].is_pseudo)) {
		open = open_other(calls, CALLS_O_WRITE);
	} else if (name == NONE) {
		open = open_of(calls, when, fd);
		file_facts(calls, calls->opens.at[open].file, facts);
	} else if (facts->is_deleted) {
		/* Its name is "path (deleted)"; the path itself may be another's. */
		struct name_place place = name_place(calls, name);
		uint32_t other;

		parents_present(calls, when, name);
		other = name_make_deleted(
			calls, place.parent == NONE ? (uint32_t)NAME_NOWHERE : place.parent,
			place.text, place.bytes);
		calls->names.at[other].kind = NAME_FILE;
		calls->names.at[other].existed = calls->names.at[other].is_in_ops = true;
		file = file_add(calls, other);
		calls->files.at[file].existed = calls->files.at[file].is_deleted = true;
		open = open_add(calls, file, other, CALLS_O_WRITE);
	} else {
		file = file_named(calls, when, name, facts);
		open = file == NONE ? open_other(calls, CALLS_O_WRITE)
				    : open_add(calls, file, name, CALLS_O_WRITE);
	}
	calls->opens.at[open].is_position_known = false;
	calls->opens.at[open].name = name;
	if (!descriptor_find(table, fd))
		descriptor_put(calls, when, table, fd, open, false);
}

static bool has_no_name(const struct file *file)
{
	return file->is_unknown || file->is_unnamed;
}

/* Does it lead there by all that is known, so that there is nothing to do? */
static bool leads_there(const struct calls *calls, uint32_t open, uint32_t name,
			const struct calls_facts *facts)
{
	const struct open_file *at = &calls->opens.at[open];
	const struct file *file = at->file == NONE ? NULL : &calls->files.at[at->file];

	if (facts->type == CALLS_OTHER)
		return !file || file->is_no_file || !has_no_name(file);
	if (name == NONE && !(facts->has_inode && file && has_no_name(file)))
		return true;
	if (name == at->name && !(file && has_no_name(file)))
		return true;
	if (!file)
		return calls->names.at[name].is_pseudo;
	if (has_no_name(file))
		return false;
	if (facts->has_inode && file->has_inode)
		return file->device == facts->device && file->inode == facts->inode;
	/* Renamed or unlinked since, by somebody unseen: the descriptor follows its file. */
	return facts->is_deleted || calls->names.at[name].file == at->file || file->is_deleted;
}

void calls_known_file(struct calls *calls, const struct calls_when *when, int fd,
		      const struct calls_facts *facts)
{
	uint32_t name, open;
	struct open_file *at;

	if (fd < 0)
		return;
	name = told_name(calls, facts);
	open = open_known(calls, when, fd);
	if (open == NONE) {
		known_anew(calls, when, fd, facts, name);
	} else if (!leads_there(calls, open, name, facts)) {
		const struct open_file *known = &calls->opens.at[open];

		if (known->file != NONE && has_no_name(&calls->files.at[known->file]) &&
		    facts->type != CALLS_OTHER) {
			unknown_named(calls, when, fd, facts, name);
		} else if (known->file != NONE && facts->type == CALLS_OTHER) {
			file_facts(calls, known->file, facts);
		} else {
			/* It was closed and opened again, and nobody saw it. */
			descriptor_remove(calls, when, task_get(calls, when)->table, fd);
			known_anew(calls, when, fd, facts, name);
		}
	}
	open = open_known(calls, when, fd);
	if (open == NONE)
		return;
	at = &calls->opens.at[open];
	at->name = name;
	if (facts->has_position) {
		at->position = facts->position;
		at->is_position_known = true;
	}
	if (facts->has_flags)
		at->flags = facts->flags;
	if (at->file != NONE)
		file_facts(calls, at->file, facts);
}

/* ---- the rest ---- */

void calls_other(struct calls *calls, const struct calls_when *when, int64_t result)
{
	if (result < 0 || result > INT32_MAX) {
		calls->counts.failed_others += result < 0;
		return;
	}
	descriptor_put(calls, when, task_get(calls, when)->table, (int)result,
		       open_other(calls, CALLS_O_WRITE), false);
}

void calls_dup(struct calls *calls, const struct calls_when *when, int fd, int64_t result,
	       bool is_cloexec)
{
	uint32_t open;

	if (result < 0 || result > INT32_MAX) {
		calls->counts.failed_others += result < 0;
		return;
	}
	open = open_of(calls, when, fd);
	if (open != NONE && fd != (int)result)
		descriptor_put(calls, when, task_get(calls, when)->table, (int)result, open,
			       is_cloexec);
}

void calls_set_cloexec(struct calls *calls, const struct calls_when *when, int fd, bool is_cloexec)
{
	struct descriptor *at = descriptor_find(task_get(calls, when)->table, fd);

	if (at)
		at->is_cloexec = is_cloexec;
}

void calls_set_flags(struct calls *calls, const struct calls_when *when, int fd, unsigned int flags)
{
	/* fs/fcntl.c, SETFL_MASK; O_DSYNC and O_SYNC cannot be changed. */
	const unsigned int mask = CALLS_O_APPEND | CALLS_O_DIRECT;
	uint32_t open = open_known(calls, when, fd);

	if (open != NONE)
		calls->opens.at[open].flags =
			(calls->opens.at[open].flags & ~mask) | (flags & mask);
}

void calls_close(struct calls *calls, const struct calls_when *when, int fd, int64_t result)
{
	/* Whatever close() says, the descriptor is gone, unless there was none: fs/open.c. */
	if (result < 0)
		calls->counts.failed_others++;
	if (result == CALLS_EBADF || fd < 0)
		return;
	descriptor_gone(calls, when, task_get(calls, when)->table, (uint32_t)fd, (uint32_t)fd);
	descriptor_remove(calls, when, task_get(calls, when)->table, fd);
}

void calls_close_range(struct calls *calls, const struct calls_when *when, uint32_t first,
		       uint32_t last, bool is_cloexec, bool is_unshared, int64_t result)
{
	struct table *table;

	if (result < 0) {
		calls->counts.failed_others++;
		return;
	}
	if (is_unshared)
		calls_unshare(calls, when, CALLS_CLONE_FILES);
	table = task_get(calls, when)->table;
	if (!is_cloexec)
		descriptor_gone(calls, when, table, first, last);
	for (size_t i = table->descriptors.count; i-- > 0;) {
		uint32_t fd = (uint32_t)table->descriptors.at[i].fd;

		if (fd < first || fd > last)
			continue;
		if (is_cloexec)
			table->descriptors.at[i].is_cloexec = true;
		else
			descriptor_remove(calls, when, table, (int)fd);
	}
}
