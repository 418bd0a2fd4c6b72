/*
 * file: what is on the disk, whatever its names are; and how large it must have been
 *
 * A size is a least one until something tells it exactly. `initial` is what it was before the start:
 * a read beyond all that is known shows that it was larger, since what was written is known. When a
 * size is told exactly, the bytes that were appended meanwhile, at an end nobody knew, come off it.
 */
#include "op/calls/calls_private.h"

#include <assert.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint32_t file_add(struct calls *calls, uint32_t name)
{
	uint32_t number = (uint32_t)calls->files.count;
	struct file *file = array_push(&calls->files);

	assert(number < NONE - 1);
	*file = (struct file){.name = NONE, .first_name = name, .first_open = NONE};
	if (number < calls->learned.count) {
		const struct learned *learned = &calls->learned.at[number];

		file->is_directory = learned->is_directory;
		file->is_no_file = learned->is_no_file;
		file->initial = file->size = learned->initial;
		file->is_initial_exact = file->is_size_exact = learned->is_initial_exact;
	}
	file_add_name(calls, number, name);
	return number;
}

void file_add_name(struct calls *calls, uint32_t file, uint32_t name)
{
	struct file *at = &calls->files.at[file];

	assert(calls->names.at[name].file == NONE);
	calls->names.at[name].file = file;
	calls->names.at[name].next_of_file = at->link_count ? at->name : NONE;
	at->name = name;
	at->link_count++;
}

void file_remove_name(struct calls *calls, uint32_t file, uint32_t name)
{
	struct file *at = &calls->files.at[file];
	uint32_t *link = &at->name;

	while (*link != name)
		link = &calls->names.at[*link].next_of_file;
	at->link_count--;
	/* The last one stays as what it was called. */
	if (at->link_count)
		*link = calls->names.at[name].next_of_file;
	calls->names.at[name].file = NONE;
	calls->names.at[name].next_of_file = NONE;
}

uint32_t file_path(struct calls *calls, uint32_t file)
{
	return name_path(calls, calls->files.at[file].name);
}

/* ---- by inode ---- */

static uint64_t inode_key(uint64_t device, uint64_t inode)
{
	const uint64_t both[2] = {device, inode};

	return XXH3_64bits(both, sizeof(both));
}

void file_has_inode(struct calls *calls, uint32_t file, uint64_t device, uint64_t inode)
{
	struct file *at = &calls->files.at[file];

	if (at->has_inode && at->device == device && at->inode == inode)
		return;
	if (at->has_inode)
		number_map_remove(&calls->inodes, inode_key(at->device, at->inode));
	at->has_inode = true;
	at->device = device;
	at->inode = inode;
	number_map_put(&calls->inodes, inode_key(device, inode), file);
}

uint32_t file_of_inode(const struct calls *calls, uint64_t device, uint64_t inode)
{
	uint32_t file = number_map_get(&calls->inodes, inode_key(device, inode));
	const struct file *at;

	if (file == NONE)
		return NONE;
	at = &calls->files.at[file];
	return at->has_inode && at->device == device && at->inode == inode ? file : NONE;
}

/* A file without names and descriptors is gone, and its inode may become another's. */
void file_let_go(struct calls *calls, uint32_t file)
{
	struct file *at = &calls->files.at[file];

	if (at->link_count || at->first_open != NONE || !at->has_inode)
		return;
	if (file_of_inode(calls, at->device, at->inode) == file)
		number_map_remove(&calls->inodes, inode_key(at->device, at->inode));
	at->has_inode = false;
}

/* ---- sizes ---- */

void file_size_is(struct file *file, uint64_t bytes)
{
	if (!file->is_initial_exact && !file->is_size_exact) {
		if (file->appended) {
			/* What was appended lies behind what was there. */
			if (bytes >= file->appended && bytes - file->appended > file->initial)
				file->initial = bytes - file->appended;
			file->is_initial_exact = true;
		} else if (bytes > file->size) {
			file->initial = bytes;
			file->is_initial_exact = true;
		} else if (file->size == file->initial) {
			file->is_initial_exact = true; /* and no write went beyond it */
		}
	}
	file->size = bytes;
	file->is_size_exact = true;
	file->appended = 0;
}

/*
 * These bytes were read. More than there can be: the size before the start, if that is not known, was
 * larger; else somebody unseen has written since, which is the same to a cache. In a file that was
 * there before, what was not written in one piece at its end was there, too.
 */
void file_was_read(struct calls *calls, struct file *file, uint64_t offset, uint64_t end)
{
	if (end > file->size) {
		if (file->is_size_exact)
			calls->counts.changes_unseen++;
		file->size = end;
		if (end > file->initial)
			file->initial = end;
	} else if (file->existed && !file->is_initial_exact && end > file->initial &&
		   (offset < file->run_start || end > file->run_end)) {
		file->initial = end;
	}
}

void file_was_written(struct file *file, uint64_t offset, uint64_t end)
{
	if (offset != file->run_end || file->run_start == file->run_end)
		file->run_start = offset;
	file->run_end = end;
	if (end > file->size)
		file->size = end;
}
