/*
 * change: names that are found, come, go, and lead elsewhere
 *
 * By the ops a name is there or not (`is_in_ops`), and no op may contradict that: a file that turns
 * up where none can have been is made on the spot, one that is missing is unlinked. Somebody unseen
 * did it; it is counted.
 */
#include "op/calls/calls_private.h"

#include <string.h>

#include "op/path.h"

/* ---- to find ---- */

bool name_is_there(const struct calls *calls, uint32_t name)
{
	enum name_kind kind = (enum name_kind)calls->names.at[name].kind;

	return kind == NAME_FILE || kind == NAME_DIRECTORY || kind == NAME_SYMLINK;
}

static void becomes_directory(struct calls *calls, uint32_t name)
{
	struct name *at = &calls->names.at[name];

	at->kind = NAME_DIRECTORY;
	at->was_directory |= at->existed && !at->is_made;
	if (at->file != NONE)
		calls->files.at[at->file].is_directory = true;
}

static uint32_t directory_of(struct calls *calls, const struct calls_when *when, int fd)
{
	uint32_t open, file;

	if (fd == CALLS_CWD)
		return task_get(calls, when)->place->directory;
	open = open_of(calls, when, fd);
	file = open == NONE ? NONE : calls->opens.at[open].file;
	return file == NONE ? NONE : calls->files.at[file].name;
}

uint32_t name_of(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 bool follows)
{
	uint32_t directory = NAME_ROOT;

	if (!name || !name->text)
		return NONE;
	if (name->bytes == 0 && name->directory == CALLS_CWD)
		return NONE;
	if (name->bytes == 0 || name->text[0] != '/')
		directory = directory_of(calls, when, name->directory);
	if (directory == NONE || name->bytes == 0)
		return directory;
	/* Nothing is found in a directory that is gone: this is another, and nobody saw it opened. */
	if (name->text[0] != '/' && directory >= NAME_ROOT_COUNT &&
	    calls->names.at[directory].kind == NAME_ABSENT)
		return NONE;
	if (name->directory != CALLS_CWD && name->text[0] != '/' && directory >= NAME_ROOT_COUNT) {
		uint32_t file = calls->names.at[directory].file;

		if (file != NONE && file_is_sure(&calls->files.at[file]))
			return NONE;
		if (name_is_there(calls, directory))
			becomes_directory(calls, directory);
	}
	return name_resolve(calls, directory, name->text, name->bytes, follows);
}

/* ---- to be there ---- */

static void directory_appears(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	calls->names.at[name].kind = NAME_DIRECTORY;
	calls->names.at[name].is_made = true;
	emit_name(calls, when, OP_MKDIR, name, 0);
}

/* Its size is what it was found to have in the end; its pages were written by who made it. */
static void emit_made(struct calls *calls, const struct calls_when *when, uint32_t file,
		      uint32_t name)
{
	emit_name(calls, when, OP_CREATE, name, 0);
	if (calls->files.at[file].size)
		emit_name(calls, when, OP_TRUNCATE, name, calls->files.at[file].size);
}

static void file_appears(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	uint32_t file = file_add(calls, name);

	if (calls->files.at[file].is_directory) {
		directory_appears(calls, when, name);
		return;
	}
	calls->names.at[name].kind = NAME_FILE;
	calls->names.at[name].is_made = true;
	emit_made(calls, when, file, name);
	emit_name(calls, when, OP_CLOSE, name, 0);
}

void parents_present(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	uint32_t parent = calls->names.at[name].parent;

	if (parent != NONE && parent >= NAME_ROOT_COUNT &&
	    calls->names.at[parent].kind != NAME_DIRECTORY)
		name_present(calls, when, parent, NAME_DIRECTORY);
}

/* It was made as a file, or read or written: what is a directory there now is another. */
bool file_is_sure(const struct file *file)
{
	return file->is_made || file->has_bytes;
}

/* It is there, and was before the start. */
static void name_found(struct calls *calls, uint32_t name, enum name_kind kind)
{
	struct name *at = &calls->names.at[name];
	uint32_t file;

	at->existed = true;
	at->kind = (uint8_t)kind;
	at->was_directory = kind == NAME_DIRECTORY;
	if (kind == NAME_DIRECTORY)
		return;
	file = file_add(calls, name);
	calls->files.at[file].existed = true;
	if (calls->files.at[file].is_directory)
		becomes_directory(calls, name);
}

uint32_t name_present(struct calls *calls, const struct calls_when *when, uint32_t name,
		      enum name_kind kind)
{
	if (name < NAME_ROOT_COUNT || calls->names.at[name].is_pseudo)
		return NONE;
	parents_present(calls, when, name);
	switch ((enum name_kind)calls->names.at[name].kind) {
	case NAME_UNKNOWN:
		if (name_could_exist(calls, name)) {
			name_found(calls, name, kind);
			break;
		}
		__attribute__((fallthrough));
	case NAME_ABSENT:
		calls->counts.changes_unseen++;
		if (kind == NAME_DIRECTORY)
			directory_appears(calls, when, name);
		else
			file_appears(calls, when, name);
		break;
	case NAME_FILE:
	case NAME_SYMLINK:
		if (kind == NAME_DIRECTORY && calls->names.at[name].file != NONE &&
		    file_is_sure(&calls->files.at[calls->names.at[name].file])) {
			name_absent(calls, when, name);
			directory_appears(calls, when, name);
		} else if (kind == NAME_DIRECTORY) {
			becomes_directory(calls, name);
		} else if (calls->names.at[name].file == NONE) {
			(void)file_add(calls, name);
		}
		break;
	case NAME_DIRECTORY:
		break;
	}
	return calls->names.at[name].file;
}

/* ---- to be gone ---- */

static bool is_open_as(const struct calls *calls, uint32_t file, uint32_t name)
{
	uint32_t open = calls->files.at[file].first_open;

	while (open != NONE && calls->opens.at[open].op_name != name)
		open = calls->opens.at[open].next_of_file;
	return open != NONE;
}

bool file_is_held(const struct calls *calls, uint32_t file, uint32_t name)
{
	uint32_t open = calls->files.at[file].first_open;

	while (open != NONE &&
	       (calls->opens.at[open].op_name != name || calls->opens.at[open].users.count == 0))
		open = calls->opens.at[open].next_of_file;
	return open != NONE;
}

/* Who has it open by this name has it open by that one now, in the ops. */
static void opens_rename(struct calls *calls, uint32_t file, uint32_t from, uint32_t to)
{
	uint32_t open = calls->files.at[file].first_open;

	for (; open != NONE; open = calls->opens.at[open].next_of_file)
		if (calls->opens.at[open].op_name == from)
			calls->opens.at[open].op_name = to;
}

/* Who has it open by this name and has done nothing with it holds it, too. */
static void opens_hold(struct calls *calls, const struct calls_when *when, uint32_t file,
		       uint32_t name)
{
	uint32_t open = calls->files.at[file].first_open;

	for (; open != NONE; open = calls->opens.at[open].next_of_file)
		if (calls->opens.at[open].op_name == name && calls->opens.at[open].users.count == 0)
			emit_open(calls, when, OP_OPEN, open, 0, 0);
}

/* The file goes on, for who has it open by this name, under one that nobody else can have. */
static void goes_on(struct calls *calls, const struct calls_when *when, uint32_t name,
		    uint32_t file)
{
	bool is_directory = calls->names.at[name].kind == NAME_DIRECTORY;
	struct name_place place = name_place(calls, name);
	uint32_t other = name_make_deleted(calls, place.parent, place.text, place.bytes);

	calls->names.at[other].kind = NAME_ABSENT;
	calls->names.at[other].is_made = true;
	opens_hold(calls, when, file, name);
	emit_two(calls, when, OP_RENAME, name, other);
	emit_name(calls, when, is_directory ? OP_RMDIR : OP_UNLINK, other, 0);
	opens_rename(calls, file, name, other);
	file_remove_name(calls, file, name);
	if (calls->files.at[file].link_count == 0) {
		calls->files.at[file].name = other;
		calls->files.at[file].is_deleted = true;
	}
}

/*
 * By the ops the file is made once more, of the same size, and without a name: for all who have it
 * open by this one, as this thread.
 */
void deleted_made(struct calls *calls, const struct calls_when *when, uint32_t file, uint32_t name)
{
	uint32_t open = calls->files.at[file].first_open;

	parents_present(calls, when, name);
	emit_made(calls, when, file, name);
	emit_name(calls, when, OP_UNLINK, name, 0);
	for (; open != NONE; open = calls->opens.at[open].next_of_file)
		if (calls->opens.at[open].op_name == name) {
			calls->opens.at[open].users.count = 0;
			open_used(calls, open, when->tid);
		}
}

/*
 * A directory goes that deleted files are in by the ops, which could be lost with it: they become
 * others, of the same size, that are in none.
 */
static void deleted_move(struct calls *calls, const struct calls_when *when, uint32_t directory)
{
	calls->names.at[directory].has_deleted = false;
	for (uint32_t open = 0; open < calls->opens.count; open++) {
		uint32_t before = calls->opens.at[open].op_name, file = calls->opens.at[open].file;
		struct name_place place;
		uint32_t name;

		if (calls->opens.at[open].references == 0 || file == NONE ||
		    calls->names.at[before].parent != directory ||
		    calls->names.at[before].kind != NAME_ABSENT)
			continue;
		place = name_place(calls, before);
		name = name_make_unique(calls, NAME_NOWHERE, place.text, place.bytes);
		calls->names.at[name].kind = NAME_ABSENT;
		calls->names.at[name].is_made = true;
		opens_rename(calls, file, before, name);
		if (calls->files.at[file].name == before)
			calls->files.at[file].name = name;
		deleted_made(calls, when, file, name);
	}
}

/*
 * The name, which is there, goes, and all that is still below it. `by_rename`: another takes its
 * place, and the op for that comes.
 */
static void name_goes(struct calls *calls, const struct calls_when *when, uint32_t name,
		      bool by_rename)
{
	bool is_directory = calls->names.at[name].kind == NAME_DIRECTORY;
	uint32_t file = calls->names.at[name].file;

	for (uint32_t child = calls->names.at[name].first_child, next; child != NONE;
	     child = next) {
		next = calls->names.at[child].next_child;
		if (name_is_there(calls, child)) {
			calls->counts.changes_unseen++;
			name_goes(calls, when, child, false);
		}
	}
	if (calls->names.at[name].has_deleted)
		deleted_move(calls, when, name);
	if (file != NONE && is_open_as(calls, file, name)) {
		goes_on(calls, when, name, file);
	} else {
		if (!by_rename)
			emit_name(calls, when, is_directory ? OP_RMDIR : OP_UNLINK, name, 0);
		if (file != NONE) {
			file_remove_name(calls, file, name);
			calls->files.at[file].is_deleted |= calls->files.at[file].link_count == 0;
		}
	}
	calls->names.at[name].kind = NAME_ABSENT;
	calls->names.at[name].target = NULL;
	if (file != NONE)
		file_let_go(calls, file);
}

/* It is not there: if it was, somebody unseen has removed it. */
void name_absent(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	if (name < NAME_ROOT_COUNT || calls->names.at[name].is_pseudo)
		return;
	if (name_is_there(calls, name)) {
		calls->counts.changes_unseen++;
		name_goes(calls, when, name, false);
	}
	calls->names.at[name].kind = NAME_ABSENT;
}

void name_failed(struct calls *calls, const struct calls_when *when, uint32_t name, int64_t result)
{
	if (result == CALLS_ENOENT && !(name != NONE && calls->names.at[name].is_pseudo))
		calls->counts.failed_lookups++;
	else
		calls->counts.failed_others++;
	if (name == NONE)
		return;
	if (result == CALLS_ENOENT)
		name_absent(calls, when, name);
	else if (result == CALLS_EEXIST)
		name_present(calls, when, name, NAME_FILE);
	else if (result == CALLS_EISDIR)
		name_present(calls, when, name, NAME_DIRECTORY);
	else
		return;
	emit_name(calls, when, OP_STAT, name, 0);
}

/* Of two names, one was not there: the first, unless that is known to be. */
static void two_failed(struct calls *calls, const struct calls_when *when, uint32_t old,
		       uint32_t new, int64_t result)
{
	if (result == CALLS_EEXIST || result == CALLS_EISDIR) {
		name_failed(calls, when, new, result);
	} else if (result != CALLS_ENOENT || old == NONE || !name_is_there(calls, old)) {
		name_failed(calls, when, old, result);
	} else {
		calls->counts.failed_lookups++;
		if (new != NONE)
			emit_name(calls, when, OP_STAT, new, 0);
	}
}

/* ---- the calls ---- */

void file_facts(struct calls *calls, uint32_t file, const struct calls_facts *facts)
{
	struct file *at = &calls->files.at[file];

	if (facts->type == CALLS_OTHER && !at->is_made)
		at->is_no_file = true;
	if (facts->type == CALLS_DIRECTORY && !file_is_sure(at)) {
		at->is_directory = true;
		if (name_is_there(calls, at->name))
			becomes_directory(calls, at->name);
	}
	if (facts->has_inode)
		file_has_inode(calls, file, facts->device, facts->inode);
	if (facts->has_size && (facts->type == CALLS_REGULAR || facts->type == CALLS_TYPE_UNKNOWN))
		file_size_is(at, facts->size_bytes);
}

void calls_look_up(struct calls *calls, const struct calls_when *when,
		   const struct calls_name *name, bool follows, int64_t result,
		   const struct calls_facts *facts)
{
	enum name_kind kind = NAME_FILE;
	uint32_t found, file;

	if (name->text && name->bytes == 0 && name->directory != CALLS_CWD) {
		calls_fstat(calls, when, name->directory, result, facts);
		return;
	}
	found = name_of(calls, when, name, follows);
	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (found == NONE)
		return;
	if (facts && facts->type == CALLS_DIRECTORY)
		kind = NAME_DIRECTORY;
	file = name_present(calls, when, found, kind);
	if (file != NONE && facts && facts->type != CALLS_SYMLINK)
		file_facts(calls, file, facts);
	emit_name(calls, when, OP_STAT, found, 0);
}

void calls_fstat(struct calls *calls, const struct calls_when *when, int fd, int64_t result,
		 const struct calls_facts *facts)
{
	uint32_t open;

	if (result < 0) {
		calls->counts.failed_others++;
		return;
	}
	if (!facts || fd < 0)
		return;
	open = open_of(calls, when, fd);
	if (calls->opens.at[open].file != NONE)
		file_facts(calls, calls->opens.at[open].file, facts);
}

void name_link_is(struct calls *calls, uint32_t name, const char *target, size_t bytes)
{
	struct name *at = &calls->names.at[name];
	char *kept = text_keep(calls, target, bytes);

	at = &calls->names.at[name];
	at->kind = NAME_SYMLINK;
	at->target = kept;
	at->target_bytes = (uint32_t)bytes;
}

void calls_link_leads(struct calls *calls, const struct calls_when *when,
		      const struct calls_name *name, const char *target, size_t bytes)
{
	uint32_t found = name_of(calls, when, name, false);

	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	name_present(calls, when, found, NAME_FILE);
	if (bytes && calls->names.at[found].kind != NAME_DIRECTORY)
		name_link_is(calls, found, target, bytes);
}

/* NONE: the call failed, which is told, or nobody knows where the name is. */
static uint32_t name_changed(struct calls *calls, const struct calls_when *when,
			     const struct calls_name *name, int64_t result)
{
	uint32_t found = name_of(calls, when, name, false);

	if (result >= 0)
		return found;
	name_failed(calls, when, found, result);
	return NONE;
}

void calls_mkdir(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 int64_t result)
{
	uint32_t found = name_changed(calls, when, name, result);

	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	parents_present(calls, when, found);
	name_absent(calls, when, found);
	directory_appears(calls, when, found);
}

void calls_rmdir(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 int64_t result)
{
	uint32_t found = name_changed(calls, when, name, result);

	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	name_present(calls, when, found, NAME_DIRECTORY);
	name_goes(calls, when, found, false);
}

void calls_unlink(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		  int64_t result)
{
	uint32_t found = name_changed(calls, when, name, result);

	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	name_present(calls, when, found, NAME_FILE);
	name_goes(calls, when, found, false);
}

static void places_swap(struct calls *calls, uint32_t one, uint32_t other)
{
	struct name_place first = name_place(calls, one), second = name_place(calls, other);
	const struct name_place aside = {.parent = NAME_NOWHERE, .text = "\n", .bytes = 1};

	name_move(calls, one, &aside);
	name_move(calls, other, &first);
	name_move(calls, one, &second);
}

static void exchange(struct calls *calls, const struct calls_when *when, uint32_t from, uint32_t to)
{
	uint32_t aside;

	name_present(calls, when, to, NAME_FILE);
	aside = name_make_unique(calls, NAME_NOWHERE, "(exchanged)", 11);
	calls->names.at[aside].kind = NAME_ABSENT;
	calls->names.at[aside].is_made = true;
	emit_two(calls, when, OP_RENAME, from, aside);
	emit_two(calls, when, OP_RENAME, to, from);
	emit_two(calls, when, OP_RENAME, aside, to);
	places_swap(calls, from, to);
}

/* What is at the new name goes: by the op, if that can replace it. */
static void replaced(struct calls *calls, const struct calls_when *when, uint32_t old, uint32_t new)
{
	bool alike = (calls->names.at[old].kind == NAME_DIRECTORY) ==
		     (calls->names.at[new].kind == NAME_DIRECTORY);

	if (name_is_there(calls, new))
		name_goes(calls, when, new, alike);
	else if (calls->names.at[new].has_deleted)
		deleted_move(calls, when, new);
	calls->names.at[new].kind = NAME_ABSENT;
}

static bool is_below(const struct calls *calls, uint32_t name, uint32_t above)
{
	for (; name != NONE; name = calls->names.at[name].parent)
		if (name == above)
			return true;
	return false;
}

void calls_rename(struct calls *calls, const struct calls_when *when, const struct calls_name *from,
		  const struct calls_name *to, bool is_exchange, int64_t result)
{
	uint32_t old = name_of(calls, when, from, false), new = name_of(calls, when, to, false);
	uint32_t file;

	if (result < 0) {
		two_failed(calls, when, old, new, result);
		return;
	}
	if (old == NONE || new == NONE) {
		/* One of them is not told: what was there is elsewhere, or another is there. */
		calls->counts.changes_unseen++;
		if (old != NONE)
			name_absent(calls, when, old);
		return;
	}
	if (old == new || old < NAME_ROOT_COUNT || new < NAME_ROOT_COUNT ||
	    calls->names.at[old].is_pseudo || calls->names.at[new].is_pseudo ||
	    is_below(calls, new, old) || is_below(calls, old, new))
		return;
	file = name_present(calls, when, old, NAME_FILE);
	parents_present(calls, when, new);
	if (is_exchange) {
		exchange(calls, when, old, new);
		return;
	}
	/* Two names of one file: nothing happens (POSIX rename()). */
	if (file != NONE && calls->names.at[new].file == file)
		return;
	replaced(calls, when, old, new);
	emit_two(calls, when, OP_RENAME, old, new);
	places_swap(calls, old, new);
}

/* A file without a name gets one: of an O_TMPFILE, or one that was unlinked. */
static void file_named_again(struct calls *calls, const struct calls_when *when, uint32_t file,
			     uint32_t name)
{
	uint32_t before = calls->files.at[file].name;

	calls->files.at[file].is_linked_again = true;
	calls->files.at[file].is_deleted = false;
	if (name_is_there(calls, before)) {
		emit_two(calls, when, OP_RENAME, before, name);
		calls->names.at[before].kind = NAME_ABSENT;
		opens_rename(calls, file, before, name);
		file_add_name(calls, file, name);
		calls->names.at[name].kind = NAME_FILE;
		return;
	}
	/* It is unlinked already by the ops: what goes on is another, of the same size. */
	calls->counts.changes_unseen++;
	file_add_name(calls, file, name);
	calls->names.at[name].kind = NAME_FILE;
	emit_made(calls, when, file, name);
	emit_name(calls, when, OP_CLOSE, name, 0);
}

/* Nothing is there, and its directory is. False: it is of no disk, or not told. */
static bool is_free(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	if (name == NONE || name < NAME_ROOT_COUNT || calls->names.at[name].is_pseudo)
		return false;
	parents_present(calls, when, name);
	name_absent(calls, when, name);
	calls->names.at[name].is_made = true;
	return true;
}

/* A symbolic link that has another name leads where it led. */
static void link_copy(struct calls *calls, uint32_t old, uint32_t new)
{
	struct name *to = &calls->names.at[new];
	const struct name *from = &calls->names.at[old];

	to->kind = from->kind;
	to->target = from->target;
	to->target_bytes = from->target_bytes;
}

void calls_link(struct calls *calls, const struct calls_when *when, const struct calls_name *from,
		const struct calls_name *to, bool follows, int64_t result)
{
	uint32_t new = name_of(calls, when, to, false), old, file, open;

	open = open_of_name(calls, when, from);
	old = open == NONE ? name_of(calls, when, from, follows) : NONE;
	if (result < 0) {
		two_failed(calls, when, old, new, result);
		return;
	}
	if (old == new || !is_free(calls, when, new))
		return;
	file = open != NONE ? calls->opens.at[open].file : NONE;
	if (old != NONE && calls->names.at[old].kind == NAME_DIRECTORY)
		name_absent(calls, when, old); /* it is none any more */
	if (old != NONE)
		file = name_present(calls, when, old, NAME_FILE);
	if (file == NONE || calls->files.at[file].is_directory) {
		file_appears(calls, when, new);
	} else if (calls->files.at[file].link_count == 0) {
		file_named_again(calls, when, file, new);
	} else {
		if (old == NONE)
			old = calls->files.at[file].name;
		emit_two(calls, when, OP_LINK, old, new);
		file_add_name(calls, file, new);
		link_copy(calls, old, new);
	}
}

void calls_symlink(struct calls *calls, const struct calls_when *when, const char *target,
		   size_t target_bytes, const struct calls_name *name, int64_t result)
{
	uint32_t found = name_changed(calls, when, name, result);

	if (!is_free(calls, when, found))
		return;
	emit_name(calls, when, OP_SYMLINK, found, target_bytes);
	if (target && target_bytes)
		name_link_is(calls, found, target, target_bytes);
	else
		calls->names.at[found].kind = NAME_SYMLINK;
}

void calls_mknod(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 enum calls_type type, int64_t result)
{
	uint32_t found = name_changed(calls, when, name, result), file;

	if (!is_free(calls, when, found))
		return;
	file_appears(calls, when, found);
	file = calls->names.at[found].file;
	if (file != NONE && type == CALLS_OTHER)
		calls->files.at[file].is_no_file = true;
}
