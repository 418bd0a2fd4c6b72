#include "machine/kernel/script.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#include "base/array.h"
#include "machine/kernel/player.h"

/* A file name that the trace has used, in its one spelling. */
struct name {
	uint32_t opens; /* the first descriptor on it; 0: none */
	bool is_gone;   /* unlinked, but for what is still open */
	uint32_t
		linked; /* names of one file have this in common; 0: the only one, as far as we know */
};

/* An open descriptor. [0] is none. */
struct open {
	uint32_t thread;
	uint32_t slot;
	uint32_t next; /* of the same name */
};

struct script {
	const struct path_table *paths; /* as the source spells them */
	struct path_table *names;       /* as they are; ids number `by_name` */
	ARRAY(uint32_t) name_of;        /* by source path: name id + 1 */
	ARRAY(struct name) by_name;
	ARRAY(struct open) opens;
	uint32_t free_open;
	uint32_t linked_last;
	uint32_t root; /* the name of the root directory, which has no text of its own */
	struct player *player;
};

/* What is under way: the op, and the call that its first part becomes. */
struct turn {
	struct script *script;
	const struct op *op;
	uint32_t worker;
	struct call call;
};

struct script *script_create(const struct path_table *paths)
{
	struct script *script = memory_alloc(1, sizeof(*script));

	script->paths = paths;
	script->names = path_table_create();
	script->root = path_intern(script->names, "/", 1);
	(void)array_push(&script->by_name);
	(void)array_push(&script->opens);
	return script;
}

void script_destroy(struct script *script)
{
	if (!script)
		return;
	path_table_destroy(script->names);
	array_deinit(&script->name_of);
	array_deinit(&script->by_name);
	array_deinit(&script->opens);
	memory_free(script);
}

void script_player(struct script *script, struct player *player)
{
	script->player = player;
}

/* ---- names ---- */

/* One spelling: no empty parts, no ".", and ".." takes the part before away, if there is one. */
static size_t path_tidy(const char *path, char *tidy)
{
	size_t bytes = 0;

	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == 2 && path[0] == '.' && path[1] == '.') {
			while (bytes > 0 && tidy[--bytes] != '/')
				;
		} else if (part > 0 && !(part == 1 && path[0] == '.')) {
			if (bytes > 0)
				tidy[bytes++] = '/';
			memcpy(tidy + bytes, path, part);
			bytes += part;
		}
		path += part + (path[part] == '/');
	}
	tidy[bytes] = '\0';
	return bytes;
}

static uint32_t name_of(struct script *script, uint32_t path)
{
	char tidy[PATH_BYTES_MAX + 1];
	size_t bytes;
	uint32_t name;

	while (script->name_of.count <= path)
		*array_push(&script->name_of) = 0;
	if (script->name_of.at[path])
		return script->name_of.at[path] - 1;
	bytes = path_tidy(path_text(script->paths, path), tidy);
	name = bytes ? path_intern(script->names, tidy, bytes) : script->root;
	while (script->by_name.count <= name)
		(void)array_push(&script->by_name);
	script->name_of.at[path] = name + 1;
	return name;
}

static const char *name_text(const struct script *script, uint32_t name)
{
	return name == script->root ? "." : path_text(script->names, name);
}

const char *script_path(struct script *script, uint32_t path)
{
	uint32_t name = name_of(script, path);

	return name == script->root ? "" : path_text(script->names, name);
}

/* ---- sending ---- */

static bool send(struct turn *turn, enum call_kind kind, uint32_t slot, const char *path,
		 const char *path_to)
{
	bool sent;

	turn->call.kind = (uint16_t)kind;
	turn->call.slot = slot;
	sent = player_send(turn->script->player, turn->worker, &turn->call, path, path_to);
	turn->call.flags = 0; /* whatever follows is not the first */
	return sent;
}

static bool send_path(struct turn *turn, enum call_kind kind, uint32_t name)
{
	return send(turn, kind, SLOT_NONE, name_text(turn->script, name), NULL);
}

/* ---- descriptors ---- */

static uint32_t *open_find(struct script *script, uint32_t name, uint32_t thread)
{
	uint32_t *link = &script->by_name.at[name].opens;

	while (*link && script->opens.at[*link].thread != thread)
		link = &script->opens.at[*link].next;
	return link;
}

static bool open_close(struct turn *turn, uint32_t *link)
{
	struct script *script = turn->script;
	uint32_t id = *link, slot = script->opens.at[id].slot;

	*link = script->opens.at[id].next;
	script->opens.at[id].next = script->free_open;
	script->free_open = id;
	player_slot_free(script->player, turn->worker, slot);
	return send(turn, CALL_CLOSE, slot, NULL, NULL);
}

static bool open_close_all(struct turn *turn, uint32_t name)
{
	while (turn->script->by_name.at[name].opens)
		if (!open_close(turn, &turn->script->by_name.at[name].opens))
			return false;
	return true;
}

static bool open_add(struct turn *turn, uint32_t name, bool create, uint32_t *slot,
		     struct error *error)
{
	struct script *script = turn->script;
	uint32_t id = script->free_open;

	*slot = player_slot_take(script->player, turn->worker);
	if (*slot == SLOT_NONE)
		return error_input(error, "more files are open than can be");
	if (id)
		script->free_open = script->opens.at[id].next;
	else
		id = (uint32_t)((void)array_push(&script->opens), script->opens.count - 1);
	script->opens.at[id] = (struct open){
		.thread = turn->op->thread, .slot = *slot, .next = script->by_name.at[name].opens};
	script->by_name.at[name].opens = id;
	if (create)
		turn->call.flags |= CALL_CREATE;
	return send(turn, CALL_OPEN, *slot, name_text(script, name), NULL);
}

/* This thread's descriptor of the file, opening it if it is not open. */
static bool open_get(struct turn *turn, uint32_t name, uint32_t *slot, struct error *error)
{
	struct script *script = turn->script;
	uint32_t id = *open_find(script, name, turn->op->thread);

	if (!id && script->by_name.at[name].is_gone)
		id = script->by_name.at[name].opens; /* unlinked: another thread's will do */
	if (!id)
		return open_add(turn, name, false, slot, error);
	*slot = script->opens.at[id].slot;
	return true;
}

/* ---- ops that are more than a call ---- */

static bool create(struct turn *turn, uint32_t name, struct error *error)
{
	struct name *at = &turn->script->by_name.at[name];
	uint32_t slot;

	/* Descriptors of an unlinked file of this name can no longer be named: they end here. */
	if (at->is_gone && !open_close_all(turn, name))
		return false;
	if (at->is_gone)
		at->linked = 0;
	at->is_gone = false;
	if (*open_find(turn->script, name, turn->op->thread))
		return true;
	return open_add(turn, name, true, &slot, error);
}

static bool close_one(struct turn *turn, uint32_t name, struct error *error)
{
	uint32_t *link = open_find(turn->script, name, turn->op->thread);

	/* Somebody else may have opened it: threads of one process share descriptors. */
	if (!*link)
		link = &turn->script->by_name.at[name].opens;
	if (!*link)
		return error_input(error, "it is not open");
	return open_close(turn, link);
}

static void opens_move(struct script *script, uint32_t from, uint32_t to)
{
	uint32_t linked = script->by_name.at[to].linked;

	script->by_name.at[to] = script->by_name.at[from];
	script->by_name.at[to].linked = linked ? linked : script->by_name.at[from].linked;
	script->by_name.at[from] = (struct name){0};
}

/* A directory's name was changed: so were those of all below it. */
static void opens_move_below(struct script *script, const char *from, const char *to)
{
	size_t from_bytes = strlen(from), to_bytes = strlen(to);
	uint32_t count = (uint32_t)script->by_name.count;

	for (uint32_t name = 1; name < count; name++) {
		const char *text = path_text(script->names, name);
		size_t bytes = path_bytes(script->names, name);
		char moved[2 * PATH_BYTES_MAX];
		uint32_t there;

		if (!script->by_name.at[name].opens || bytes <= from_bytes ||
		    memcmp(text, from, from_bytes) != 0 || text[from_bytes] != '/' ||
		    to_bytes + bytes - from_bytes > PATH_BYTES_MAX)
			continue;
		memcpy(moved, to, to_bytes);
		memcpy(moved + to_bytes, text + from_bytes, bytes - from_bytes);
		there = path_intern(script->names, moved, to_bytes + bytes - from_bytes);
		while (script->by_name.count <= there)
			(void)array_push(&script->by_name);
		opens_move(script, name, there);
	}
}

static bool rename_file(struct turn *turn, uint32_t from)
{
	struct script *script = turn->script;
	uint32_t to = name_of(script, turn->op->path_to);
	bool sent;

	if (from == to)
		return true;
	/* Two names of one file stay what they are: rename(2). */
	if (script->by_name.at[from].linked && !script->by_name.at[to].is_gone &&
	    script->by_name.at[from].linked == script->by_name.at[to].linked)
		return send(turn, CALL_RENAME, SLOT_NONE, name_text(script, from),
			    name_text(script, to));
	if (!open_close_all(turn, to))
		return false;
	script->by_name.at[to].linked = script->by_name.at[from].linked;
	script->by_name.at[from].linked = 0;
	sent = send(turn, CALL_RENAME, SLOT_NONE, name_text(script, from), name_text(script, to));
	if (script->by_name.at[from].opens)
		opens_move(script, from, to);
	else
		opens_move_below(script, name_text(script, from), name_text(script, to));
	script->by_name.at[to].is_gone = false;
	return sent;
}

static bool link_file(struct turn *turn, uint32_t from)
{
	struct script *script = turn->script;
	uint32_t to = name_of(script, turn->op->path_to);

	/* As for a file that is made there. */
	if (script->by_name.at[to].is_gone && !open_close_all(turn, to))
		return false;
	if (!script->by_name.at[from].linked)
		script->by_name.at[from].linked = ++script->linked_last;
	script->by_name.at[to].linked = script->by_name.at[from].linked;
	script->by_name.at[to].is_gone = false;
	return send(turn, CALL_LINK, SLOT_NONE, name_text(script, from), name_text(script, to));
}

/* The calls on a descriptor. */
static bool on_slot(struct turn *turn, uint32_t name, enum call_kind kind, struct error *error)
{
	uint32_t slot;

	return open_get(turn, name, &slot, error) && send(turn, kind, slot, NULL, NULL);
}

static bool move(struct turn *turn, uint32_t name, enum call_kind kind, enum call_way way,
		 struct error *error)
{
	turn->call.advice = way;
	return on_slot(turn, name, kind, error);
}

static bool advise(struct turn *turn, uint32_t name, uint32_t advice, struct error *error)
{
	turn->call.advice = advice;
	return on_slot(turn, name, CALL_ADVISE, error);
}

/* By its name, as the model does it, unless there is none any more. */
static bool truncate_file(struct turn *turn, uint32_t name)
{
	struct script *script = turn->script;
	uint32_t id = script->by_name.at[name].is_gone ? script->by_name.at[name].opens : 0;

	if (id)
		return send(turn, CALL_TRUNCATE, script->opens.at[id].slot, NULL, NULL);
	return send_path(turn, CALL_TRUNCATE, name);
}

static bool allocate(struct turn *turn, uint32_t name)
{
	struct script *script = turn->script;
	uint32_t id = script->by_name.at[name].opens;

	return send(turn, CALL_ALLOCATE, id ? script->opens.at[id].slot : SLOT_NONE,
		    name_text(script, name), NULL);
}

bool script_is_shared(struct script *script, const struct op *op)
{
	uint32_t name = name_of(script, op->path);

	if (op->kind == OP_LINK)
		name = name_of(script, op->path_to);
	if (op->kind == OP_CREATE || op->kind == OP_LINK)
		return script->by_name.at[name].is_gone && script->by_name.at[name].opens;
	return op->kind == OP_RENAME;
}

bool script_op(struct script *script, const struct op *op, uint32_t stream, uint32_t worker,
	       uint64_t op_number, struct error *error)
{
	uint32_t name = op_kind_is_of_no_file(op->kind) ? script->root : name_of(script, op->path);
	struct turn turn = {
		.script = script,
		.op = op,
		.worker = worker,
		.call = {.flags = CALL_OP_BEGINS,
			 .op_kind = op->kind,
			 .op_number = op_number,
			 .path = op->path,
			 .line = op->line,
			 .stream = stream,
			 .offset = op->offset,
			 .bytes = op->bytes},
	};
	uint32_t slot;

	*error = (struct error){0};
	assert(script->player);
	switch ((enum op_kind)op->kind) {
	case OP_OPEN:
		return open_get(&turn, name, &slot, error);
	case OP_CREATE:
		return create(&turn, name, error);
	case OP_CLOSE:
		return close_one(&turn, name, error);
	case OP_READ:
		return move(&turn, name, CALL_READ, CALL_BUFFERED, error);
	case OP_WRITE:
		return move(&turn, name, CALL_WRITE, CALL_BUFFERED, error);
	case OP_READ_DIRECT:
		return move(&turn, name, CALL_READ, CALL_DIRECT, error);
	case OP_WRITE_DIRECT:
		return move(&turn, name, CALL_WRITE, CALL_DIRECT, error);
	case OP_READ_DONTCACHE:
		return move(&turn, name, CALL_READ, CALL_DONTCACHE, error);
	case OP_WRITE_DONTCACHE:
		return move(&turn, name, CALL_WRITE, CALL_DONTCACHE, error);
	case OP_FSYNC:
		return on_slot(&turn, name, CALL_FSYNC, error);
	case OP_FDATASYNC:
		return on_slot(&turn, name, CALL_DATASYNC, error);
	case OP_STAT:
		return send_path(&turn, CALL_STAT, name);
	case OP_UNLINK:
		script->by_name.at[name].is_gone = true;
		script->by_name.at[name].linked = 0;
		return send_path(&turn, CALL_UNLINK, name);
	case OP_MKDIR:
		return send_path(&turn, CALL_MKDIR, name);
	case OP_RENAME:
		return rename_file(&turn, name);
	case OP_TRUNCATE:
		return truncate_file(&turn, name);
	case OP_FALLOCATE:
		return allocate(&turn, name);
	case OP_FADVISE_DONTNEED:
		return advise(&turn, name, POSIX_FADV_DONTNEED, error);
	case OP_FADVISE_RANDOM:
		return advise(&turn, name, POSIX_FADV_RANDOM, error);
	case OP_FADVISE_SEQUENTIAL:
		return advise(&turn, name, POSIX_FADV_SEQUENTIAL, error);
	case OP_FADVISE_WILLNEED:
		return advise(&turn, name, POSIX_FADV_WILLNEED, error);
	case OP_FADVISE_NOREUSE:
		return advise(&turn, name, POSIX_FADV_NOREUSE, error);
	case OP_MMAP_READ:
		return on_slot(&turn, name, CALL_TOUCH, error);
	case OP_MMAP_WRITE:
		turn.call.advice = CALL_WRITTEN_TO;
		return on_slot(&turn, name, CALL_TOUCH, error);
	case OP_MADVISE_RANDOM:
		turn.call.advice = CALL_MAP_RANDOM;
		return on_slot(&turn, name, CALL_TOUCH, error);
	case OP_SYNC:
		return send(&turn, CALL_SYNC, SLOT_NONE, NULL, NULL);
	case OP_SYNC_FILE_RANGE:
		return on_slot(&turn, name, CALL_SYNC_RANGE, error);
	case OP_COMPUTE:
		if (op->bytes > OP_COMPUTE_NS_MAX)
			return error_input(error, "it computes for more than 30 days");
		return send(&turn, CALL_COMPUTE, SLOT_NONE, NULL, NULL);
	case OP_PIN:
		return send(&turn, CALL_PIN, SLOT_NONE, NULL, NULL);
	case OP_READDIR:
		return send_path(&turn, CALL_LIST, name);
	case OP_RMDIR:
		script->by_name.at[name].is_gone = true;
		return send_path(&turn, CALL_RMDIR, name);
	case OP_LINK:
		return link_file(&turn, name);
	case OP_SYMLINK:
		if (op->bytes > PATH_BYTES_MAX)
			return error_input(error, "a target's name has at most 4095 bytes");
		return send_path(&turn, CALL_SYMLINK, name);
	case OP_DROP_CACHES:
	case OP_SUM_STATISTICS:
	case OP_EXISTS:
	case OP_EXISTS_SPARSE:
	case OP_MARK:
	case OP_KIND_COUNT:
		break;
	}
	return error_input(error, "not an operation of this machine");
}
