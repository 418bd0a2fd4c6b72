/*
 * Source  Linux include/trace/events/filemap.h: 3.16 has page=%p pfn=%lu, 5.11 page=%p pfn=0x%lx, 6.x
 *         pfn=0x%lx and order=%u: one event is of 2^order pages. The inode is hexadecimal without 0x,
 *         ofs is in bytes. 6.12 adds mm_filemap_get_pages and mm_filemap_map_pages ("dev=253:3 ino=c
 *         ofs=0-4095") and mm_filemap_fault ("dev=253:3 ino=c ofs=0").
 */
#include "op/calls/filemap.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "op/import.h"

enum {
	PAGE_KEY_BITS = 40, /* 4 PiB a file */
	ORDER_MAX = 20,
	STATE_RESIDENT = 1,
	STATE_GONE = 2,
	STATE_CAME_AGAIN = 4,
};

static const struct import_remark insertions = {
	.key = "page_cache_insertions",
	.one = "insertion into the page cache: each stands for a read of its pages",
	.many = "insertions into the page cache: each stands for a read of its pages, whoever read "
		"or wrote them",
};

static const struct import_remark insertions_counted = {
	.key = "page_cache_insertions",
	.one = "insertion into the page cache: counted, and no operation of its own",
	.many = "insertions into the page cache: counted, and no operations of their own",
};

static const struct import_remark inserted_pages = {
	.key = "inserted_pages",
	.one = "page inserted",
	.many = "pages inserted (an event of order n is of 2^n)",
};

static const struct import_remark deletions = {
	.key = "page_cache_deletions",
	.one = "deletion from the page cache: it is no operation",
	.many = "deletions from the page cache: they are no operations",
};

static const struct import_remark deleted_pages = {
	.key = "deleted_pages",
	.one = "page deleted",
	.many = "pages deleted",
};

static const struct import_remark reinsertions = {
	.key = "pages_inserted_again",
	.one = "page insertion after the page was deleted in the trace",
	.many = "page insertions after the pages were deleted in the trace",
};

static const struct import_remark distinct_reinsertions = {
	.key = "distinct_pages_inserted_again",
	.one = "page was inserted again, once or more",
	.many = "pages were inserted again, once or more",
};

static const struct import_remark resident_pages = {
	.key = "resident_pages",
	.one = "page is in the cache at the end, of those seen to come",
	.many = "pages are in the cache at the end, of those seen to come",
};

static const struct import_remark pages_before = {
	.key = "pages_cached_before",
	.one = "page was deleted that was never seen to come: it was cached before the trace",
	.many = "pages were deleted that were never seen to come: they were cached before the "
		"trace",
};

static const struct import_remark cached_uses = {
	.key = "page_cache_uses",
	.one = "use of cached or missing pages (mm_filemap_get_pages, _fault, _map_pages): the "
	       "operations",
	.many = "uses of cached or missing pages (mm_filemap_get_pages, _fault, _map_pages): the "
		"operations",
};

static const struct import_remark cached_uses_counted = {
	.key = "page_cache_uses",
	.one = "use of cached or missing pages (mm_filemap_get_pages, _fault, _map_pages): counted",
	.many = "uses of cached or missing pages (mm_filemap_get_pages, _fault, _map_pages): "
		"counted",
};

static const struct import_remark by_advice = {
	.key = "pages_deleted_by_advice",
	.one = "page was deleted by fadvise, as its call chain shows",
	.many = "pages were deleted by fadvise, as the call chains show",
};

static const struct import_remark by_reclaim = {
	.key = "pages_deleted_by_reclaim",
	.one = "page was deleted by reclaim, as its call chain or task shows",
	.many = "pages were deleted by reclaim, as the call chains or tasks show",
};

static const struct import_remark by_death = {
	.key = "pages_deleted_by_truncation",
	.one = "page was deleted because its file was truncated or removed",
	.many = "pages were deleted because their files were truncated or removed",
};

static const struct import_remark no_pages = {
	.key = "page_cache_only",
	.one = "this is a trace of the page cache: hits are not in it, nor whether a page was read "
	       "or written",
	.is_warning = true,
};

/* ---- the text ---- */

enum filemap_kind filemap_event(const struct syscall_text *name)
{
	static const struct {
		const char *name;
		enum filemap_kind kind;
	} table[] = {
		{"mm_filemap_add_to_page_cache", FILEMAP_ADDED},
		{"mm_filemap_delete_from_page_cache", FILEMAP_DELETED},
		{"mm_filemap_get_pages", FILEMAP_USED},
		{"mm_filemap_map_pages", FILEMAP_MAPPED},
		{"mm_filemap_fault", FILEMAP_MAPPED},
	};
	struct syscall_text bare = *name;

	if (bare.bytes > 8 && memcmp(bare.at, "filemap:", 8) == 0) {
		bare.at += 8;
		bare.bytes -= 8;
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strlen(table[i].name) == bare.bytes &&
		    memcmp(bare.at, table[i].name, bare.bytes) == 0)
			return table[i].kind;
	return FILEMAP_OTHER;
}

/* What follows "NAME " or "NAME=", up to the next blank. False: it is not there. */
static bool value_of(const struct syscall_text *text, const char *name, struct syscall_text *value)
{
	size_t bytes = strlen(name);
	const char *at = text->at, *end = at + text->bytes;

	while ((at = memmem(at, (size_t)(end - at), name, bytes))) {
		const char *before = at;

		at += bytes;
		if ((before != text->at && before[-1] != ' ') || at == end ||
		    (*at != ' ' && *at != '='))
			continue;
		value->at = ++at;
		while (at < end && *at != ' ')
			at++;
		value->bytes = (size_t)(at - value->at);
		return value->bytes > 0;
	}
	return false;
}

struct event {
	uint64_t major, minor, inode, offset, pages;
};

/* "253:3" */
static bool device_read(const struct syscall_text *text, struct event *event)
{
	const char *colon = memchr(text->at, ':', text->bytes);
	struct syscall_text major, minor;

	if (!colon)
		return false;
	major = (struct syscall_text){text->at, (size_t)(colon - text->at)};
	minor.at = colon + 1;
	minor.bytes = text->bytes - major.bytes - 1;
	return text_number(&major, false, &event->major) &&
	       text_number(&minor, false, &event->minor);
}

static bool event_read(const struct syscall_text *text, struct event *event)
{
	struct syscall_text device, inode, offset, order, last;
	uint64_t number;
	const char *dash;

	event->pages = 1;
	if (!value_of(text, "dev", &device) || !value_of(text, "ino", &inode) ||
	    !value_of(text, "ofs", &offset) || !device_read(&device, event) ||
	    !text_number(&inode, true, &event->inode))
		return false;
	dash = memchr(offset.at, '-', offset.bytes);
	last.at = dash ? dash + 1 : offset.at + offset.bytes;
	last.bytes = (size_t)(offset.at + offset.bytes - last.at);
	offset.bytes -= dash ? last.bytes + 1 : 0;
	if (!text_number(&offset, false, &event->offset) || event->offset >= OP_END_MAX)
		return false;
	event->offset &= ~(PAGE_BYTES - 1);
	if (dash &&
	    (!text_number(&last, false, &number) || number < event->offset || number >= OP_END_MAX))
		return false;
	if (dash)
		event->pages = pages_from_bytes_up(number + 1 - event->offset);
	if (value_of(text, "order", &order)) {
		if (!text_number(&order, false, &number) || number > ORDER_MAX)
			return false;
		event->pages = UINT64_C(1) << number;
	}
	return event->pages << PAGE_SHIFT <= OP_END_MAX - event->offset;
}

/* ---- what it means ---- */

static void pages_came(struct filemap *filemap, uint32_t path, const struct event *event)
{
	uint64_t first = (uint64_t)path << PAGE_KEY_BITS | event->offset >> PAGE_SHIFT;

	filemap->inserted++;
	filemap->inserted_pages += event->pages;
	for (uint64_t page = first; page < first + event->pages; page++) {
		uint32_t state = number_map_get(&filemap->pages, page);

		if (state == NUMBER_MAP_NONE)
			state = 0;
		if (state & STATE_GONE) {
			filemap->again++;
			filemap->distinct_again += !(state & STATE_CAME_AGAIN);
			state |= STATE_CAME_AGAIN;
		}
		filemap->resident += !(state & STATE_RESIDENT);
		number_map_put(&filemap->pages, page, (state & STATE_CAME_AGAIN) | STATE_RESIDENT);
	}
}

static void pages_left(struct filemap *filemap, uint32_t path, const struct event *event)
{
	uint64_t first = (uint64_t)path << PAGE_KEY_BITS | event->offset >> PAGE_SHIFT;

	filemap->deleted++;
	filemap->deleted_pages += event->pages;
	filemap->last_pages = event->pages;
	for (uint64_t page = first; page < first + event->pages; page++) {
		uint32_t state = number_map_get(&filemap->pages, page);

		if (state == NUMBER_MAP_NONE || !(state & STATE_RESIDENT)) {
			filemap->before++;
			state = state == NUMBER_MAP_NONE ? 0 : state;
		} else {
			filemap->resident--;
		}
		number_map_put(&filemap->pages, page, (state & STATE_CAME_AGAIN) | STATE_GONE);
	}
}

static void cause_is(struct filemap *filemap, enum filemap_cause cause)
{
	filemap->causes[cause] += filemap->last_pages;
	filemap->last_pages = 0;
}

void filemap_called_by(struct filemap *filemap, const char *symbol, size_t bytes)
{
	static const struct {
		const char *part;
		enum filemap_cause cause;
	} table[] = {
		{"fadvise", CAUSE_ADVICE},
		{"shrink_folio_list", CAUSE_RECLAIM},
		{"shrink_page_list", CAUSE_RECLAIM},
		{"shrink_lruvec", CAUSE_RECLAIM},
		{"truncate_inode_pages", CAUSE_DEATH},
		{"truncate_pagecache", CAUSE_DEATH},
		{"evict", CAUSE_DEATH},
	};

	for (size_t i = 0; filemap->last_pages && i < sizeof(table) / sizeof(table[0]); i++)
		if (memmem(symbol, bytes, table[i].part, strlen(table[i].part)))
			cause_is(filemap, table[i].cause);
}

static void end_keep(struct filemap *filemap, uint32_t path, uint64_t end)
{
	while (filemap->ends.count <= path)
		*array_push(&filemap->ends) = 0;
	if (filemap->ends.at[path] < end)
		filemap->ends.at[path] = end;
}

void filemap_found(const struct filemap *filemap, struct import *import)
{
	for (uint32_t i = 0; i < filemap->ends.count; i++)
		if (filemap->ends.at[i])
			import_file_found(import, i, filemap->ends.at[i]);
}

bool filemap_read(struct filemap *filemap, struct import *import, enum filemap_kind kind,
		  const struct syscall_text *text, const struct syscall_text *task, struct op *op,
		  bool *is_op)
{
	struct event event;
	char name[96];
	int bytes;
	bool is_use = kind == FILEMAP_USED || kind == FILEMAP_MAPPED;

	*is_op = false;
	filemap->last_pages = 0;
	if (!event_read(text, &event) || (!is_use && event.pages >> ORDER_MAX > 1))
		return false;
	filemap->last_device = event.major << 32 | (event.minor & UINT32_MAX);
	filemap->last_inode = event.inode;
	bytes = snprintf(name, sizeof(name), "dev %llu:%llu ino 0x%llx",
			 (unsigned long long)event.major, (unsigned long long)event.minor,
			 (unsigned long long)event.inode);
	op->path = path_intern(import->source.paths, name, (size_t)bytes);
	if (event.offset >> PAGE_SHIFT >> PAGE_KEY_BITS)
		return false;
	end_keep(filemap, op->path, event.offset + bytes_from_pages(event.pages));
	switch (kind) {
	case FILEMAP_ADDED:
		pages_came(filemap, op->path, &event);
		break;
	case FILEMAP_DELETED:
		pages_left(filemap, op->path, &event);
		/* The thread that reclaims in the background can be known by its name. */
		if (task->bytes >= 6 && memcmp(task->at, "kswapd", 6) == 0)
			cause_is(filemap, CAUSE_RECLAIM);
		return true;
	default:
		filemap->uses++;
		break;
	}
	*is_op = is_use == filemap->has_uses;
	op->kind = kind == FILEMAP_MAPPED ? OP_MMAP_READ : OP_READ;
	op->offset = event.offset;
	op->bytes = bytes_from_pages(event.pages);
	return true;
}

/* ---- what is told ---- */

static void note(struct import *import, const struct import_remark *remark, uint64_t count)
{
	if (count)
		import_note(import, remark, count, 0);
}

void filemap_note(const struct filemap *filemap, struct import *import, bool with_calls)
{
	bool are_ops = !with_calls && !filemap->has_uses;

	if (filemap->inserted + filemap->deleted + filemap->uses == 0)
		return;
	note(import, are_ops ? &insertions : &insertions_counted, filemap->inserted);
	note(import, &inserted_pages, filemap->inserted_pages);
	note(import, &deletions, filemap->deleted);
	note(import, &deleted_pages, filemap->deleted_pages);
	note(import, &reinsertions, filemap->again);
	note(import, &distinct_reinsertions, filemap->distinct_again);
	note(import, &resident_pages, filemap->resident);
	note(import, &pages_before, filemap->before);
	note(import, &by_advice, filemap->causes[CAUSE_ADVICE]);
	note(import, &by_reclaim, filemap->causes[CAUSE_RECLAIM]);
	note(import, &by_death, filemap->causes[CAUSE_DEATH]);
	note(import, with_calls ? &cached_uses_counted : &cached_uses, filemap->uses);
	if (are_ops)
		import_note(import, &no_pages, 1, 0);
}

void filemap_again(struct filemap *filemap)
{
	bool has_uses = filemap->uses > 0;

	filemap_deinit(filemap);
	filemap->has_uses = has_uses;
}

void filemap_deinit(struct filemap *filemap)
{
	number_map_deinit(&filemap->pages);
	array_deinit(&filemap->ends);
	*filemap = (struct filemap){0};
}
