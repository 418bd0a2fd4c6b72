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
	if (name->directory != CALLS_CWD && name->text[0] != '/' && directory >= NAME_ROOT_COUNT)
		becomes_directory(calls, directory);
	return name_resolve(calls, directory, name->text, name->bytes, follows);
}

/* ---- to be there ---- */

static void directory_appears(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	struct name *at = &calls->names.at[name];

	at->kind = NAME_DIRECTORY;
	at->is_made = true;
	if (!at->is_in_ops)
		emit_name(calls, when, OP_MKDIR, name, 0);
	at->is_in_ops = true;
}

/* Its size is what it was found to have in the end; its pages were written by who made it. */
static void file_appears(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	struct name *at = &calls->names.at[name];
	uint32_t file;

	at->kind = NAME_FILE;
	at->is_made = true;
	file = file_add(calls, name);
	if (calls->files.at[file].is_directory) {
		directory_appears(calls, when, name);
		return;
	}
	if (!at->is_in_ops) {
		emit(calls, when, OP_CREATE, file, 0, 0);
		if (calls->files.at[file].size)
			emit(calls, when, OP_TRUNCATE, file, 0, calls->files.at[file].size);
		emit(calls, when, OP_CLOSE, file, 0, 0);
	}
	calls->names.at[name].is_in_ops = true;
}

void parents_present(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	uint32_t parent = calls->names.at[name].parent;

	if (parent != NONE && parent >= NAME_ROOT_COUNT &&
	    calls->names.at[parent].kind != NAME_DIRECTORY)
		name_present(calls, when, parent, NAME_DIRECTORY);
}

uint32_t name_present(struct calls *calls, const struct calls_when *when, uint32_t name,
		      enum name_kind kind)
{
	struct name *at = &calls->names.at[name];

	if (name < NAME_ROOT_COUNT || at->is_pseudo)
		return NONE;
	parents_present(calls, when, name);
	at = &calls->names.at[name];
	switch ((enum name_kind)at->kind) {
	case NAME_UNKNOWN:
		if (name_could_exist(calls, name)) {
			at->existed = at->is_in_ops = true;
			at->kind = (uint8_t)kind;
			at->was_directory = kind == NAME_DIRECTORY;
			if (kind != NAME_DIRECTORY) {
				uint32_t file = file_add(calls, name);

				calls->files.at[file].existed = true;
				if (calls->files.at[file].is_directory)
					becomes_directory(calls, name);
			}
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
		if (kind == NAME_DIRECTORY)
			becomes_directory(calls, name);
		else if (at->file == NONE)
			(void)file_add(calls, name);
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
	struct name_place place = name_place(calls, name);
	uint32_t other = name_make_deleted(calls, place.parent, place.text, place.bytes);

	calls->names.at[other].kind = NAME_ABSENT;
	if (calls->names.at[name].is_in_ops) {
		opens_hold(calls, when, file, name);
		emit_two(calls, when, OP_RENAME, name, other);
		emit_name(calls, when, OP_UNLINK, other, 0);
	}
	opens_rename(calls, file, name, other);
	file_remove_name(calls, file, name);
	if (calls->files.at[file].link_count == 0) {
		calls->files.at[file].name = other;
		calls->files.at[file].is_deleted = true;
	}
}

/* `kind`: how, an UNLINK or RMDIR; or RENAME: another takes its place, and the op for that comes. */
void name_gone(struct calls *calls, const struct calls_when *when, uint32_t name, enum op_kind kind)
{
	uint32_t file = calls->names.at[name].file;

	if (file != NONE && !calls->files.at[file].is_directory && is_open_as(calls, file, name)) {
		goes_on(calls, when, name, file);
	} else {
		if (kind != OP_RENAME && calls->names.at[name].is_in_ops)
			emit_name(calls, when, kind, name, 0);
		if (file != NONE) {
			file_remove_name(calls, file, name);
			if (calls->files.at[file].link_count == 0)
				calls->files.at[file].is_deleted = true;
		}
	}
	calls->names.at[name].kind = NAME_ABSENT;
	calls->names.at[name].is_in_ops = false;
	calls->names.at[name].target = NULL;
	if (file != NONE)
		file_let_go(calls, file);
}

void name_absent(struct calls *calls, const struct calls_when *when, uint32_t name)
{
	struct name *at = &calls->names.at[name];

	if (name < NAME_ROOT_COUNT || at->is_pseudo)
		return;
	if ((at->kind == NAME_FILE || at->kind == NAME_SYMLINK) &&
	    !(at->file != NONE && calls->files.at[at->file].is_directory)) {
		calls->counts.changes_unseen++;
		name_gone(calls, when, name, OP_UNLINK);
	} else {
		/* By the ops a directory stays: what is in it would have to go first. */
		calls->counts.changes_unseen += at->kind == NAME_DIRECTORY;
		at->kind = NAME_ABSENT;
		if (at->file != NONE)
			file_remove_name(calls, at->file, name);
	}
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
	enum name_kind kind =
		old == NONE ? NAME_UNKNOWN : (enum name_kind)calls->names.at[old].kind;
	bool is_there = kind == NAME_FILE || kind == NAME_DIRECTORY || kind == NAME_SYMLINK;

	if (result == CALLS_EEXIST) {
		name_failed(calls, when, new, result);
	} else if (result != CALLS_ENOENT || !is_there) {
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

	if (facts->type == CALLS_OTHER)
		at->is_no_file = true;
	if (facts->type == CALLS_DIRECTORY) {
		at->is_directory = true;
		calls->names.at[at->name].kind = NAME_DIRECTORY;
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

void calls_mkdir(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 int64_t result)
{
	uint32_t found = name_of(calls, when, name, false);

	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	parents_present(calls, when, found);
	if (calls->names.at[found].kind == NAME_FILE)
		name_absent(calls, when, found);
	directory_appears(calls, when, found);
}

void calls_rmdir(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 int64_t result)
{
	uint32_t found = name_of(calls, when, name, false);

	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	name_present(calls, when, found, NAME_DIRECTORY);
	name_gone(calls, when, found, OP_RMDIR);
}

void calls_unlink(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		  int64_t result)
{
	uint32_t found = name_of(calls, when, name, false);

	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	name_present(calls, when, found, NAME_FILE);
	if (calls->names.at[found].kind != NAME_DIRECTORY)
		name_gone(calls, when, found, OP_UNLINK);
}

static void places_swap(struct calls *calls, uint32_t one, uint32_t other)
{
	struct name_place first = name_place(calls, one), second = name_place(calls, other);
	const struct name_place aside = {.parent = NAME_NOWHERE, .text = "\n", .bytes = 1};
	bool in_ops = calls->names.at[one].is_in_ops;

	name_move(calls, one, &aside);
	name_move(calls, other, &first);
	name_move(calls, one, &second);
	calls->names.at[one].is_in_ops = calls->names.at[other].is_in_ops;
	calls->names.at[other].is_in_ops = in_ops;
}

static void exchange(struct calls *calls, const struct calls_when *when, uint32_t from, uint32_t to)
{
	uint32_t aside;

	name_present(calls, when, to, NAME_FILE);
	aside = name_make_unique(calls, NAME_NOWHERE, "(exchanged)", 11);
	calls->names.at[aside].kind = NAME_ABSENT;
	emit_two(calls, when, OP_RENAME, from, aside);
	emit_two(calls, when, OP_RENAME, to, from);
	emit_two(calls, when, OP_RENAME, aside, to);
	places_swap(calls, from, to);
	calls->names.at[from].is_in_ops = calls->names.at[to].is_in_ops = true;
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
	if (calls->names.at[new].file != NONE)
		name_gone(calls, when, new, OP_RENAME);
	emit_two(calls, when, OP_RENAME, old, new);
	calls->names.at[new].kind = NAME_ABSENT;
	places_swap(calls, old, new);
	calls->names.at[old].is_in_ops = true;
	calls->names.at[new].is_in_ops = false;
}

/* A file without a name gets one: of an O_TMPFILE, or one that was unlinked. */
static void file_named_again(struct calls *calls, const struct calls_when *when, uint32_t file,
			     uint32_t name)
{
	struct file *at = &calls->files.at[file];
	uint32_t before = at->name;

	at->is_linked_again = true;
	at->is_deleted = false;
	if (calls->names.at[before].is_in_ops) {
		emit_two(calls, when, OP_RENAME, before, name);
		calls->names.at[before].is_in_ops = false;
		opens_rename(calls, file, before, name);
		file_add_name(calls, file, name);
		return;
	}
	/* It is unlinked already by the ops: what goes on is another, of the same size. */
	file_add_name(calls, file, name);
	calls->counts.changes_unseen++;
	emit(calls, when, OP_CREATE, file, 0, 0);
	if (at->size)
		emit(calls, when, OP_TRUNCATE, file, 0, at->size);
	emit(calls, when, OP_CLOSE, file, 0, 0);
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
	if (new == NONE || new < NAME_ROOT_COUNT || calls->names.at[new].is_pseudo)
		return;
	parents_present(calls, when, new);
	if (calls->names.at[new].file != NONE)
		name_absent(calls, when, new);
	calls->names.at[new].is_made = true;
	file = open != NONE ? calls->opens.at[open].file : NONE;
	if (old != NONE)
		file = name_present(calls, when, old, NAME_FILE);
	if (file == NONE) {
		file_appears(calls, when, new);
		return;
	}
	if (calls->files.at[file].link_count == 0 || calls->files.at[file].is_deleted) {
		file_named_again(calls, when, file, new);
	} else {
		emit_two(calls, when, OP_LINK, old != NONE ? old : calls->files.at[file].name, new);
		file_add_name(calls, file, new);
	}
	calls->names.at[new].kind = NAME_FILE;
	calls->names.at[new].is_in_ops = true;
}

void calls_symlink(struct calls *calls, const struct calls_when *when, const char *target,
		   size_t target_bytes, const struct calls_name *name, int64_t result)
{
	uint32_t found = name_of(calls, when, name, false);

	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	parents_present(calls, when, found);
	if (calls->names.at[found].file != NONE)
		name_absent(calls, when, found);
	calls->names.at[found].is_made = true;
	if (!calls->names.at[found].is_in_ops)
		emit_name(calls, when, OP_SYMLINK, found, target_bytes);
	calls->names.at[found].is_in_ops = true;
	if (target && target_bytes)
		name_link_is(calls, found, target, target_bytes);
	else
		calls->names.at[found].kind = NAME_SYMLINK;
}

void calls_mknod(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 enum calls_type type, int64_t result)
{
	uint32_t found = name_of(calls, when, name, false), file;

	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (found == NONE || found < NAME_ROOT_COUNT || calls->names.at[found].is_pseudo)
		return;
	parents_present(calls, when, found);
	if (calls->names.at[found].kind != NAME_UNKNOWN)
		name_absent(calls, when, found);
	file_appears(calls, when, found);
	file = calls->names.at[found].file;
	if (file != NONE && type == CALLS_OTHER)
		calls->files.at[file].is_no_file = true;
}
