#include "op/consistent.h"

#include <string.h>

#include "base/array.h"
#include "op/number_map.h"
#include "op/path.h"

enum { ROOT = 0 };

enum kind { NOTHING, FILE_KIND, DIRECTORY, SYMLINK };

/* A name. */
struct node {
	uint32_t parent, component;
	uint32_t file; /* names of one file have the same; 0: nothing is here */
	uint32_t entries;
	enum kind kind;
	enum kind gone;          /* what was here last */
	ARRAY(uint32_t) threads; /* that have it open, the newest last; its name may be gone */
};

struct consistent {
	const struct path_table *paths;
	struct path_table *components;
	ARRAY(struct node) nodes;
	struct number_map by_place; /* parent << 32 | component */
	ARRAY(uint32_t) by_path;    /* node + 1 */
	uint32_t file_count;
	bool has_begun; /* an op that is no exists came */
};

struct consistent *consistent_create(const struct path_table *paths)
{
	struct consistent *consistent = memory_alloc(1, sizeof(*consistent));

	consistent->paths = paths;
	consistent->components = path_table_create();
	*array_push(&consistent->nodes) =
		(struct node){.kind = DIRECTORY, .file = ++consistent->file_count};
	return consistent;
}

void consistent_destroy(struct consistent *consistent)
{
	if (!consistent)
		return;
	for (size_t i = 0; i < consistent->nodes.count; i++)
		array_deinit(&consistent->nodes.at[i].threads);
	array_deinit(&consistent->nodes);
	array_deinit(&consistent->by_path);
	number_map_deinit(&consistent->by_place);
	path_table_destroy(consistent->components);
	memory_free(consistent);
}

/* ---- names ---- */

static uint64_t place(uint32_t parent, uint32_t component)
{
	return (uint64_t)parent << 32 | component;
}

static uint32_t resolve(struct consistent *consistent, const char *path)
{
	uint32_t node = ROOT;

	for (size_t bytes; *path; path += bytes) {
		uint32_t component, next;

		path += strspn(path, "/");
		bytes = strcspn(path, "/");
		if (bytes == 0 || (bytes == 1 && *path == '.'))
			continue;
		component = path_intern(consistent->components, path, bytes);
		next = number_map_get(&consistent->by_place, place(node, component));
		if (next == NUMBER_MAP_NONE) {
			next = (uint32_t)consistent->nodes.count;
			*array_push(&consistent->nodes) =
				(struct node){.parent = node, .component = component};
			number_map_put(&consistent->by_place, place(node, component), next);
		}
		node = next;
	}
	return node;
}

static uint32_t node_of(struct consistent *consistent, uint32_t path)
{
	while (consistent->by_path.count <= path)
		*array_push(&consistent->by_path) = 0;
	if (!consistent->by_path.at[path])
		consistent->by_path.at[path] =
			resolve(consistent, path_text(consistent->paths, path)) + 1;
	return consistent->by_path.at[path] - 1;
}

static struct node *at(const struct consistent *consistent, uint32_t node)
{
	return &consistent->nodes.at[node];
}

static bool has_directory(const struct consistent *consistent, uint32_t node)
{
	return at(consistent, at(consistent, node)->parent)->kind == DIRECTORY;
}

static void appear(struct consistent *consistent, uint32_t node, enum kind kind, uint32_t file)
{
	at(consistent, node)->kind = kind;
	at(consistent, node)->file = file ? file : ++consistent->file_count;
	at(consistent, at(consistent, node)->parent)->entries++;
}

static void vanish(struct consistent *consistent, uint32_t node)
{
	at(consistent, node)->gone = at(consistent, node)->kind;
	at(consistent, node)->kind = NOTHING;
	at(consistent, node)->file = 0;
	at(consistent, at(consistent, node)->parent)->entries--;
}

/* ---- open files ---- */

/* The thread uses it, and so has it open. */
static void used(struct consistent *consistent, uint32_t node, uint32_t thread)
{
	struct node *file = at(consistent, node);

	/* Without a name, another thread's will do. */
	if (file->kind == NOTHING)
		return;
	for (size_t i = file->threads.count; i-- > 0;)
		if (file->threads.at[i] == thread)
			return;
	*array_push(&file->threads) = thread;
}

static bool closed(struct consistent *consistent, uint32_t node, uint32_t thread)
{
	struct node *file = at(consistent, node);
	size_t i = file->threads.count;

	if (i == 0)
		return false;
	while (i-- > 0 && file->threads.at[i] != thread)
		;
	if (i == SIZE_MAX)
		i = file->threads.count - 1;
	memmove(&file->threads.at[i], &file->threads.at[i + 1],
		(file->threads.count - i - 1) * sizeof(*file->threads.at));
	file->threads.count--;
	return true;
}

/* ---- ops ---- */

static bool exists(struct consistent *consistent, uint32_t node)
{
	uint32_t above = at(consistent, node)->parent;

	if (consistent->has_begun || at(consistent, node)->kind != NOTHING)
		return false;
	while (at(consistent, above)->kind == NOTHING)
		above = at(consistent, above)->parent;
	if (at(consistent, above)->kind != DIRECTORY)
		return false;
	for (above = at(consistent, node)->parent; at(consistent, above)->kind == NOTHING;
	     above = at(consistent, above)->parent)
		appear(consistent, above, DIRECTORY, 0);
	appear(consistent, node, FILE_KIND, 0);
	return true;
}

static bool made(struct consistent *consistent, uint32_t node, const struct op *op)
{
	enum kind kind = at(consistent, node)->kind;

	if (!has_directory(consistent, node))
		return false;
	if (kind != NOTHING && op->kind != OP_CREATE)
		return false;
	if (kind == SYMLINK || kind == DIRECTORY)
		return false;
	if (kind == NOTHING) {
		at(consistent, node)->threads.count = 0;
		appear(consistent, node,
		       op->kind == OP_CREATE  ? FILE_KIND
		       : op->kind == OP_MKDIR ? DIRECTORY
					      : SYMLINK,
		       0);
	}
	if (op->kind == OP_CREATE)
		used(consistent, node, op->thread);
	return true;
}

/* All below goes along: the node itself moves, and paths are looked up anew. */
static bool directory_renamed(struct consistent *consistent, uint32_t from, uint32_t to)
{
	struct node *moved = at(consistent, from), *target = at(consistent, to);

	for (uint32_t up = to; up != ROOT; up = at(consistent, up)->parent)
		if (up == from)
			return false;
	if (target->kind != NOTHING && (target->kind != DIRECTORY || target->entries > 0))
		return false;
	if (target->kind != NOTHING)
		vanish(consistent, to);
	target->threads.count = 0;
	at(consistent, moved->parent)->entries--;
	number_map_remove(&consistent->by_place, place(moved->parent, moved->component));
	moved->parent = target->parent;
	moved->component = target->component;
	number_map_put(&consistent->by_place, place(moved->parent, moved->component), from);
	at(consistent, moved->parent)->entries++;
	for (size_t i = 0; i < consistent->by_path.count; i++)
		consistent->by_path.at[i] = 0;
	return true;
}

static bool renamed(struct consistent *consistent, uint32_t from, uint32_t to)
{
	struct node *moved = at(consistent, from), *target = at(consistent, to);

	if (from == ROOT || to == ROOT)
		return false;
	if (from == to)
		return true;
	if (!has_directory(consistent, to))
		return false;
	if (moved->kind == DIRECTORY)
		return directory_renamed(consistent, from, to);
	if (target->kind == DIRECTORY)
		return false;
	if (moved->file == target->file)
		return true;
	if (target->kind != NOTHING)
		vanish(consistent, to);
	appear(consistent, to, moved->kind, moved->file);
	vanish(consistent, from);
	target->threads.count = 0;
	for (size_t i = 0; i < moved->threads.count; i++)
		*array_push(&target->threads) = moved->threads.at[i];
	moved->threads.count = 0;
	return true;
}

static bool linked(struct consistent *consistent, uint32_t from, uint32_t to)
{
	if (at(consistent, from)->kind == DIRECTORY || !has_directory(consistent, to) ||
	    at(consistent, to)->kind != NOTHING)
		return false;
	at(consistent, to)->threads.count = 0;
	appear(consistent, to, at(consistent, from)->kind, at(consistent, from)->file);
	return true;
}

/* What is done to the name of a thing that is there. */
static bool named_taken(struct consistent *consistent, uint32_t node, const struct op *op)
{
	const struct node *it = at(consistent, node);

	if (it->kind == NOTHING)
		return false;
	if (op->kind == OP_RENAME)
		return renamed(consistent, node, node_of(consistent, op->path_to));
	if (op->kind == OP_LINK)
		return linked(consistent, node, node_of(consistent, op->path_to));
	if ((op->kind != OP_UNLINK && it->kind != DIRECTORY) ||
	    (node == ROOT && op->kind != OP_READDIR))
		return false;
	if (op->kind == OP_READDIR)
		return true;
	if (it->kind == DIRECTORY && it->entries > 0)
		return false;
	vanish(consistent, node);
	return true;
}

static bool opened_taken(struct consistent *consistent, uint32_t node, const struct op *op)
{
	const struct node *it = at(consistent, node);
	enum kind kind = it->kind != NOTHING     ? it->kind
			 : it->threads.count > 0 ? it->gone
						 : NOTHING;

	if (kind == NOTHING || kind == SYMLINK)
		return false;
	if (kind == DIRECTORY && op->kind != OP_OPEN && op->kind != OP_FSYNC &&
	    op->kind != OP_FDATASYNC)
		return false;
	if (op->kind != OP_TRUNCATE && op->kind != OP_FALLOCATE)
		used(consistent, node, op->thread);
	return true;
}

bool consistent_take(struct consistent *consistent, const struct op *op)
{
	uint32_t node;

	if (op->kind == OP_MARK || op_kind_is_of_no_file(op->kind)) {
		consistent->has_begun |= op->kind == OP_SYNC || op->kind == OP_DROP_CACHES;
		return true;
	}
	node = node_of(consistent, op->path);
	if (op->kind == OP_EXISTS || op->kind == OP_EXISTS_SPARSE)
		return exists(consistent, node);
	consistent->has_begun = true;
	switch ((enum op_kind)op->kind) {
	case OP_STAT:
		return true;
	case OP_CREATE:
	case OP_MKDIR:
	case OP_SYMLINK:
		return made(consistent, node, op);
	case OP_CLOSE:
		return closed(consistent, node, op->thread);
	case OP_UNLINK:
	case OP_RMDIR:
	case OP_READDIR:
	case OP_RENAME:
	case OP_LINK:
		return named_taken(consistent, node, op);
	default:
		return opened_taken(consistent, node, op);
	}
}
