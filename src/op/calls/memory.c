/*
 * memory: which file lies where in whose memory
 *
 * A mapping holds its open file as the kernel's does, so that what is mapped and closed is still
 * open. Only what is asked of the kernel is seen: that a range is wanted, done with, or to be written
 * back. Touches are not, unless the caller sees faults (calls_touch).
 */
#include "op/calls/calls_private.h"

/* The kernel's numbers; include/uapi/asm-generic/mman-common.h, linux/mman.h. */
enum {
	PROT_WRITING = 2,
	MAP_IS_SHARED = 1, /* also of MAP_SHARED_VALIDATE, 3 */
	MAP_IS_ANONYMOUS = 0x20,
	MAP_IS_POPULATED = 0x8000,
	MS_IS_SYNC = 4,
	MADV_IS_RANDOM = 1,
	MADV_IS_SEQUENTIAL = 2,
	MADV_IS_WILLNEED = 3,
	MADV_IS_POPULATE_READ = 22,
	MADV_IS_POPULATE_WRITE = 23,
};

static uint64_t end_of(uint64_t begin, uint64_t bytes)
{
	return bytes < UINT64_MAX - begin ? begin + bytes : UINT64_MAX;
}

/* Take [begin, end) out of all mappings. */
static void unmap(struct calls *calls, const struct calls_when *when, struct memory *memory,
		  uint64_t begin, uint64_t end)
{
	for (size_t i = memory->mappings.count; i-- > 0;) {
		struct mapping *at = &memory->mappings.at[i];
		uint64_t at_end = at->address + at->bytes;

		if (at->address >= end || at_end <= begin)
			continue;
		if (at_end > end) {
			struct mapping rest = *at;

			rest.address = end;
			rest.bytes = at_end - end;
			rest.offset += end - at->address;
			calls->opens.at[rest.open].references++;
			*array_push(&memory->mappings) = rest;
			at = &memory->mappings.at[i];
		}
		if (at->address < begin) {
			at->bytes = begin - at->address;
		} else {
			uint32_t open = at->open;

			*at = memory->mappings.at[--memory->mappings.count];
			open_put(calls, when, open);
		}
	}
}

void calls_map(struct calls *calls, const struct calls_when *when,
	       const struct calls_mapping *mapping, int64_t result)
{
	struct memory *memory = task_get(calls, when)->memory;
	uint64_t address = (uint64_t)result, bytes = mapping->bytes;
	uint32_t open = NONE;

	/* An error is a small negative number; addresses may be large. */
	if (result < 0 && result >= CALLS_FAILED) {
		calls->counts.failed_others++;
		return;
	}
	bytes = (bytes + 4095) & ~UINT64_C(4095);
	if (bytes == 0 || end_of(address, bytes) == UINT64_MAX ||
	    end_of(mapping->offset, bytes) > OP_END_MAX)
		return;
	if (mapping->fd >= 0 && !(mapping->flags & MAP_IS_ANONYMOUS))
		open = open_of(calls, when, mapping->fd);
	if (open != NONE)
		calls->opens.at[open].references++;
	unmap(calls, when, memory, address, address + bytes);
	if (open == NONE)
		return;
	if (calls->opens.at[open].file == NONE ||
	    calls->files.at[calls->opens.at[open].file].is_no_file) {
		open_put(calls, when, open);
		return;
	}
	calls->files.at[calls->opens.at[open].file].has_bytes = true; /* no directory has any */
	*array_push(&memory->mappings) = (struct mapping){
		.address = address,
		.bytes = bytes,
		.offset = mapping->offset,
		.open = open,
		.is_shared = mapping->flags & MAP_IS_SHARED,
	};
	calls->counts.unseen[CALLS_UNSEEN_MAPPED]++;
	calls->counts.mapped_bytes += mapping->bytes;
	if (mapping->flags & MAP_IS_POPULATED)
		emit_open(calls, when,
			  mapping->flags & MAP_IS_SHARED && mapping->protection & PROT_WRITING
				  ? OP_MMAP_WRITE
				  : OP_MMAP_READ,
			  open, mapping->offset, mapping->bytes);
}

void calls_unmap(struct calls *calls, const struct calls_when *when, uint64_t address,
		 uint64_t bytes, int64_t result)
{
	if (result < 0)
		calls->counts.failed_others++;
	else
		unmap(calls, when, task_get(calls, when)->memory, address,
		      end_of(address, (bytes + 4095) & ~UINT64_C(4095)));
}

static struct mapping *mapping_at(const struct memory *memory, uint64_t address)
{
	for (size_t i = memory->mappings.count; i-- > 0;) {
		struct mapping *at = &memory->mappings.at[i];

		if (address >= at->address && address - at->address < at->bytes)
			return at;
	}
	return NULL;
}

void calls_remap(struct calls *calls, const struct calls_when *when, uint64_t address,
		 uint64_t bytes, uint64_t new_bytes, int64_t result)
{
	struct memory *memory = task_get(calls, when)->memory;
	const struct mapping *at = mapping_at(memory, address);
	struct mapping moved;

	if (result < 0 && result >= CALLS_FAILED) {
		calls->counts.failed_others++;
		return;
	}
	new_bytes = (new_bytes + 4095) & ~UINT64_C(4095);
	if (at) {
		moved = *at;
		moved.offset += address - at->address;
		moved.address = (uint64_t)result;
		moved.bytes = new_bytes;
		calls->opens.at[moved.open].references++;
	}
	unmap(calls, when, memory, address, end_of(address, (bytes + 4095) & ~UINT64_C(4095)));
	unmap(calls, when, memory, (uint64_t)result, end_of((uint64_t)result, new_bytes));
	if (!at)
		return;
	if (new_bytes && end_of(moved.address, new_bytes) < UINT64_MAX &&
	    end_of(moved.offset, new_bytes) <= OP_END_MAX)
		*array_push(&memory->mappings) = moved;
	else
		open_put(calls, when, moved.open);
}

/* This op for each piece of a file that lies in this range. How many pieces there are. */
static unsigned int each_piece(struct calls *calls, const struct calls_when *when, uint64_t address,
			       uint64_t bytes, enum op_kind kind)
{
	struct memory *memory = task_get(calls, when)->memory;
	uint64_t end = end_of(address, bytes);
	unsigned int found = 0;

	for (size_t i = 0; i < memory->mappings.count; i++) {
		const struct mapping *at = &memory->mappings.at[i];
		uint64_t from = address > at->address ? address : at->address;
		uint64_t to = end < at->address + at->bytes ? end : at->address + at->bytes;

		if (from >= to)
			continue;
		found++;
		if (kind == OP_FDATASYNC)
			emit_open(calls, when, kind, at->open, 0, 0);
		else
			emit_open(calls, when, kind, at->open, at->offset + (from - at->address),
				  to - from);
	}
	return found;
}

/* Linux mm/msync.c: MS_SYNC is vfs_fsync_range() of the data; MS_ASYNC does nothing. */
void calls_msync(struct calls *calls, const struct calls_when *when, uint64_t address,
		 uint64_t bytes, unsigned int flags, int64_t result)
{
	if (result < 0)
		calls->counts.failed_others++;
	else if (flags & MS_IS_SYNC)
		calls->counts.fsyncs += each_piece(calls, when, address, bytes, OP_FDATASYNC);
}

/* MADV_DONTNEED unmaps pages and leaves them cached: mm/madvise.c, madvise_dontneed_single_vma(). */
void calls_madvise(struct calls *calls, const struct calls_when *when, uint64_t address,
		   uint64_t bytes, int advice, int64_t result)
{
	if (result < 0) {
		calls->counts.failed_others++;
		return;
	}
	switch (advice) {
	case MADV_IS_RANDOM:
		each_piece(calls, when, address, bytes, OP_MADVISE_RANDOM);
		break;
	case MADV_IS_SEQUENTIAL:
		each_piece(calls, when, address, bytes, OP_FADVISE_SEQUENTIAL);
		break;
	case MADV_IS_WILLNEED:
		each_piece(calls, when, address, bytes, OP_FADVISE_WILLNEED);
		break;
	case MADV_IS_POPULATE_READ:
		each_piece(calls, when, address, bytes, OP_MMAP_READ);
		break;
	case MADV_IS_POPULATE_WRITE:
		each_piece(calls, when, address, bytes, OP_MMAP_WRITE);
		break;
	default:
		break;
	}
}

bool calls_touch(struct calls *calls, const struct calls_when *when, uint64_t address,
		 uint64_t bytes, bool is_write)
{
	const struct mapping *at = mapping_at(task_get(calls, when)->memory, address);

	/* A private page is written to memory of its own; the file's is only read. */
	return each_piece(calls, when, address, bytes,
			  is_write && at && at->is_shared ? OP_MMAP_WRITE : OP_MMAP_READ) > 0;
}

void calls_touch_file(struct calls *calls, const struct calls_when *when, int fd, uint64_t offset,
		      uint64_t bytes, bool is_write)
{
	uint32_t open = open_of(calls, when, fd);

	if (open != NONE)
		emit_open(calls, when, is_write ? OP_MMAP_WRITE : OP_MMAP_READ, open, offset,
			  bytes);
}
