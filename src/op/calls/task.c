/*
 * task: who has which descriptors, where he stands, and what he has mapped
 *
 * Tables, places and memories are shared by counting, as the kernel shares files_struct, fs_struct
 * and mm_struct. An open file lives as long as a descriptor or a mapping leads to it; then its
 * `close` is delivered, for each thread that has it open by the ops, and for none that has the same
 * file open through another.
 */
#include "op/calls/calls_private.h"

#include <stdio.h>
#include <string.h>

/* ---- open files ---- */

uint32_t open_add(struct calls *calls, uint32_t file, uint32_t name, unsigned int flags)
{
	bool is_its = file != NONE && name != NONE && calls->names.at[name].file == file;
	uint32_t op_name = is_its || file == NONE ? name : calls->files.at[file].name;
	uint32_t open = calls->open_free;
	struct open_file *at;

	if (open == NONE) {
		open = (uint32_t)calls->opens.count;
		(void)array_push(&calls->opens);
	} else {
		calls->open_free = calls->opens.at[open].next_of_file;
	}
	at = &calls->opens.at[open];
	*at = (struct open_file){
		.file = file,
		.name = NONE,
		.op_name = op_name,
		.next_of_file = NONE,
		.flags = flags,
		.is_position_known = true,
	};
	if (file != NONE) {
		at->next_of_file = calls->files.at[file].first_open;
		calls->files.at[file].first_open = open;
	}
	return open;
}

static bool is_user(const struct open_file *open, uint32_t tid)
{
	for (size_t i = open->users.count; i-- > 0;)
		if (open->users.at[i] == tid)
			return true;
	return false;
}

void open_used(struct calls *calls, uint32_t open, uint32_t tid)
{
	if (!is_user(&calls->opens.at[open], tid))
		*array_push(&calls->opens.at[open].users) = tid;
}

/* By this name, through another open file. */
static bool has_it_open(const struct calls *calls, uint32_t file, uint32_t name, uint32_t tid)
{
	uint32_t open = calls->files.at[file].first_open;

	for (; open != NONE; open = calls->opens.at[open].next_of_file)
		if (calls->opens.at[open].op_name == name && is_user(&calls->opens.at[open], tid))
			return true;
	return false;
}

static void open_remove(struct calls *calls, const struct calls_when *when, uint32_t open)
{
	struct open_file *at = &calls->opens.at[open];
	uint32_t file = at->file;

	if (file != NONE) {
		uint32_t *link = &calls->files.at[file].first_open;

		while (*link != open)
			link = &calls->opens.at[*link].next_of_file;
		*link = at->next_of_file;
		for (size_t i = 0; i < at->users.count; i++) {
			struct calls_when closing = *when;

			closing.tid = at->users.at[i];
			if (!has_it_open(calls, file, at->op_name, closing.tid))
				emit_as(calls, &closing, OP_CLOSE, file, at->op_name, 0, 0);
		}
		file_let_go(calls, file);
	}
	array_deinit(&at->users);
	at->next_of_file = calls->open_free;
	calls->open_free = open;
}

void open_put(struct calls *calls, const struct calls_when *when, uint32_t open)
{
	if (--calls->opens.at[open].references == 0)
		open_remove(calls, when, open);
}

/* ---- descriptors ---- */

/* Where it is, or where it belongs. Tables have few holes: a descriptor often is where it says. */
static size_t descriptor_slot(const struct table *table, int fd)
{
	size_t low = 0, high = table->descriptors.count;

	if ((size_t)fd < high && table->descriptors.at[fd].fd == fd)
		return (size_t)fd;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->descriptors.at[middle].fd < fd)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct descriptor *descriptor_find(const struct table *table, int fd)
{
	size_t slot = fd >= 0 ? descriptor_slot(table, fd) : table->descriptors.count;

	if (slot == table->descriptors.count || table->descriptors.at[slot].fd != fd)
		return NULL;
	return &table->descriptors.at[slot];
}

void descriptor_put(struct calls *calls, const struct calls_when *when, struct table *table, int fd,
		    uint32_t open, bool is_cloexec)
{
	struct descriptor *at;
	size_t slot;

	calls->opens.at[open].references++;
	/* It was closed, and nobody saw it; or dup2() closes it. */
	descriptor_remove(calls, when, table, fd);
	slot = descriptor_slot(table, fd);
	(void)array_push(&table->descriptors);
	at = &table->descriptors.at[slot];
	memmove(at + 1, at, (table->descriptors.count - 1 - slot) * sizeof(*at));
	*at = (struct descriptor){.fd = fd, .open = open, .is_cloexec = is_cloexec};
}

void descriptor_remove(struct calls *calls, const struct calls_when *when, struct table *table,
		       int fd)
{
	struct descriptor *at = descriptor_find(table, fd);
	uint32_t open;

	if (!at)
		return;
	open = at->open;
	table->descriptors.count--;
	memmove(at, at + 1,
		(size_t)(table->descriptors.at + table->descriptors.count - at) * sizeof(*at));
	open_put(calls, when, open);
}

uint32_t open_known(struct calls *calls, const struct calls_when *when, int fd)
{
	const struct descriptor *at = descriptor_find(task_get(calls, when)->table, fd);

	return at ? at->open : NONE;
}

static bool is_gone(const struct table *table, int fd)
{
	for (size_t i = table->gone.count; i-- > 0;)
		if ((uint32_t)fd >= table->gone.at[i].first &&
		    (uint32_t)fd <= table->gone.at[i].last)
			return true;
	return false;
}

uint32_t open_of(struct calls *calls, const struct calls_when *when, int fd)
{
	struct table *table = task_get(calls, when)->table;
	const struct descriptor *at = descriptor_find(table, fd);
	uint32_t name, file, open;
	char text[64];
	int bytes;

	if (at || fd < 0)
		return at ? at->open : NONE;
	at = is_gone(table, fd) ? NULL : descriptor_find(table->before, fd);
	if (at) {
		open = at->open;
		descriptor_put(calls, when, table, fd, open, false);
		return open;
	}
	if (table->before->pid)
		bytes = snprintf(text, sizeof(text), "pid %u fd %d", table->before->pid, fd);
	else
		bytes = snprintf(text, sizeof(text), "fd %d", fd);
	name = name_make_unique(calls, NAME_NOWHERE, text, (size_t)bytes);
	calls->names.at[name].kind = NAME_FILE;
	calls->names.at[name].existed = true;
	calls->names.at[name].is_in_ops = true;
	file = file_add(calls, name);
	calls->files.at[file].existed = true;
	calls->files.at[file].is_unknown = true;
	open = open_add(calls, file, name, CALLS_O_WRITE);
	calls->opens.at[open].is_position_known = false;
	descriptor_put(calls, when, table, fd, open, false);
	if (!is_gone(table, fd))
		descriptor_put(calls, when, table->before, fd, open, false);
	return open;
}

void descriptor_gone(struct calls *calls, const struct calls_when *when, struct table *table,
		     uint32_t first, uint32_t last)
{
	if (first == last && descriptor_find(table, (int)first) &&
	    !descriptor_find(table->before, (int)first))
		return; /* it was opened since */
	if (first == last && is_gone(table, (int)first))
		return;
	*array_push(&table->gone) = (struct range){first, last};
	/* Nobody else can have it. */
	for (size_t i = table->before->references == 1 ? table->before->descriptors.count : 0;
	     i-- > 0;) {
		int fd = table->before->descriptors.at[i].fd;

		if ((uint32_t)fd >= first && (uint32_t)fd <= last)
			descriptor_remove(calls, when, table->before, fd);
	}
}

/* ---- what is shared ---- */

static struct table *table_copy(struct calls *calls, const struct table *from)
{
	struct table *table = memory_alloc(1, sizeof(*table));

	table->references = 1;
	table->before = from ? from->before : memory_alloc(1, sizeof(*table));
	table->before->references++;
	for (size_t i = 0; from && i < from->gone.count; i++)
		*array_push(&table->gone) = from->gone.at[i];
	for (size_t i = 0; from && i < from->descriptors.count; i++) {
		*array_push(&table->descriptors) = from->descriptors.at[i];
		calls->opens.at[from->descriptors.at[i].open].references++;
	}
	return table;
}

static void table_put(struct calls *calls, const struct calls_when *when, struct table *table)
{
	if (--table->references)
		return;
	for (size_t i = 0; i < table->descriptors.count; i++)
		open_put(calls, when, table->descriptors.at[i].open);
	if (table->before)
		table_put(calls, when, table->before);
	array_deinit(&table->descriptors);
	array_deinit(&table->gone);
	memory_free(table);
}

static struct place *place_copy(const struct place *from)
{
	struct place *place = memory_alloc(1, sizeof(*place));

	*place = (struct place){.references = 1,
				.directory = from ? from->directory : (uint32_t)NAME_SOMEWHERE};
	return place;
}

static void place_put(struct place *place)
{
	if (--place->references == 0)
		memory_free(place);
}

static struct memory *memory_copy(struct calls *calls, const struct memory *from)
{
	struct memory *memory = memory_alloc(1, sizeof(*memory));

	memory->references = 1;
	for (size_t i = 0; from && i < from->mappings.count; i++) {
		*array_push(&memory->mappings) = from->mappings.at[i];
		calls->opens.at[from->mappings.at[i].open].references++;
	}
	return memory;
}

void memory_put(struct calls *calls, const struct calls_when *when, struct memory *memory)
{
	if (--memory->references)
		return;
	for (size_t i = 0; i < memory->mappings.count; i++)
		open_put(calls, when, memory->mappings.at[i].open);
	array_deinit(&memory->mappings);
	memory_free(memory);
}

/* ---- tasks ---- */

enum { ALL_SHARED = CALLS_CLONE_FILES | CALLS_CLONE_FS | CALLS_CLONE_VM };

static uint32_t task_add(struct calls *calls, uint32_t tid, uint32_t pid)
{
	uint32_t task;

	if (calls->tasks_free.count) {
		task = calls->tasks_free.at[--calls->tasks_free.count];
	} else {
		task = (uint32_t)calls->tasks.count;
		(void)array_push(&calls->tasks);
	}
	calls->tasks.at[task] = (struct task){.tid = tid, .pid = pid, .is_alive = true};
	number_map_put(&calls->tids, tid, task);
	calls->counts.threads++;
	calls->counts.processes += tid == pid;
	return task;
}

/* All three are taken from `from`, which may be nobody, or shared with it. */
static void task_inherit(struct calls *calls, struct task *task, const struct task *from,
			 unsigned int flags)
{
	bool files = flags & CALLS_CLONE_FILES, place = flags & CALLS_CLONE_FS;
	bool memory = flags & CALLS_CLONE_VM;

	task->table = from && files ? from->table : table_copy(calls, from ? from->table : NULL);
	task->place = from && place ? from->place : place_copy(from ? from->place : NULL);
	task->memory =
		from && memory ? from->memory : memory_copy(calls, from ? from->memory : NULL);
	if (from && files)
		task->table->references++;
	if (from && place)
		task->place->references++;
	if (from && memory)
		task->memory->references++;
}

static void task_release(struct calls *calls, const struct calls_when *when, struct task *task)
{
	table_put(calls, when, task->table);
	place_put(task->place);
	memory_put(calls, when, task->memory);
}

static void task_remove(struct calls *calls, const struct calls_when *when, uint32_t task)
{
	struct task *at = &calls->tasks.at[task];

	if (!at->is_alive)
		return;
	at->is_alive = false;
	number_map_remove(&calls->tids, at->tid);
	*array_push(&calls->tasks_free) = task;
	task_release(calls, when, at);
}

struct task *task_get(struct calls *calls, const struct calls_when *when)
{
	uint32_t task = number_map_get(&calls->tids, when->tid), leader = NONE;
	struct calls_when of_leader = *when;

	if (task != NONE)
		return &calls->tasks.at[task];
	if (when->pid && when->pid != when->tid) {
		of_leader.tid = when->pid;
		(void)task_get(calls, &of_leader);
		leader = number_map_get(&calls->tids, when->pid);
	} else {
		calls->counts.tasks_before++;
	}
	task = task_add(calls, when->tid, when->pid ? when->pid : when->tid);
	task_inherit(calls, &calls->tasks.at[task],
		     leader != NONE ? &calls->tasks.at[leader] : NULL, ALL_SHARED);
	if (leader == NONE)
		calls->tasks.at[task].table->before->pid = calls->tasks.at[task].pid;
	return &calls->tasks.at[task];
}

void tasks_deinit(struct calls *calls)
{
	const struct calls_when when = {.time_ns = calls->time_ns};

	for (uint32_t i = 0; i < calls->tasks.count; i++)
		task_remove(calls, &when, i);
	for (size_t i = 0; i < calls->opens.count; i++)
		array_deinit(&calls->opens.at[i].users);
	array_deinit(&calls->opens);
	array_deinit(&calls->tasks);
	array_deinit(&calls->tasks_free);
	number_map_deinit(&calls->tids);
}

void calls_fork(struct calls *calls, const struct calls_when *when, uint32_t child,
		unsigned int flags)
{
	uint32_t parent, old = number_map_get(&calls->tids, child), task;

	(void)task_get(calls, when);
	parent = number_map_get(&calls->tids, when->tid);
	if (old == parent)
		return;
	/* Its number is another's now: that one is gone, and nobody saw it. */
	if (old != NONE)
		task_remove(calls, when, old);
	task = task_add(calls, child,
			flags & CALLS_CLONE_THREAD ? calls->tasks.at[parent].pid : child);
	task_inherit(calls, &calls->tasks.at[task], &calls->tasks.at[parent], flags);
}

void calls_renumber(struct calls *calls, uint32_t tid, uint32_t new_tid)
{
	uint32_t task = number_map_get(&calls->tids, tid);

	if (task == NONE || number_map_get(&calls->tids, new_tid) != NONE)
		return;
	number_map_remove(&calls->tids, tid);
	number_map_put(&calls->tids, new_tid, task);
	if (calls->tasks.at[task].pid == tid)
		calls->tasks.at[task].pid = new_tid;
	if (calls->tasks.at[task].table->before->pid == tid)
		calls->tasks.at[task].table->before->pid = new_tid;
	calls->tasks.at[task].tid = new_tid;
}

void calls_same_process(struct calls *calls, uint32_t tid, uint32_t of_tid)
{
	const struct calls_when when = {.time_ns = calls->time_ns, .tid = tid};
	const struct calls_when of = {.time_ns = calls->time_ns, .tid = of_tid};
	struct task *task, *other;
	struct task before;

	if (tid == of_tid)
		return;
	(void)task_get(calls, &of);
	if (number_map_get(&calls->tids, tid) == NONE) {
		calls_fork(calls, &of, tid, ALL_SHARED | CALLS_CLONE_THREAD);
		return;
	}
	task = task_get(calls, &when);
	other = &calls->tasks.at[number_map_get(&calls->tids, of_tid)];
	before = *task;
	task->pid = other->pid;
	task_inherit(calls, task, other, ALL_SHARED);
	task_release(calls, &when, &before);
}

void calls_exec(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		int64_t result)
{
	uint32_t found = name_of(calls, when, name, true);
	struct task *task;
	struct table *table;

	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (found != NONE) {
		name_present(calls, when, found, NAME_FILE);
		emit_name(calls, when, OP_STAT, found, 0);
	}
	calls->counts.unseen[CALLS_UNSEEN_EXEC]++;
	task = task_get(calls, when);
	memory_put(calls, when, task->memory);
	task->memory = memory_copy(calls, NULL);
	/* unshare_files(): what was shared with a parent in vfork(), or with other threads. */
	if (task->table->references > 1) {
		table = table_copy(calls, task->table);
		table_put(calls, when, task->table);
		task->table = table;
	}
	table = task->table;
	for (size_t i = table->descriptors.count; i-- > 0;)
		if (table->descriptors.at[i].is_cloexec)
			descriptor_remove(calls, when, table, table->descriptors.at[i].fd);
}

void calls_exit(struct calls *calls, const struct calls_when *when, bool is_group)
{
	uint32_t task = number_map_get(&calls->tids, when->tid), pid;

	if (task == NONE)
		return;
	pid = calls->tasks.at[task].pid;
	task_remove(calls, when, task);
	for (uint32_t i = 0; is_group && pid && i < calls->tasks.count; i++)
		if (calls->tasks.at[i].is_alive && calls->tasks.at[i].pid == pid)
			task_remove(calls, when, i);
}

void calls_reaped(struct calls *calls, const struct calls_when *when, uint32_t child)
{
	uint32_t task = number_map_get(&calls->tids, child);
	struct calls_when gone = *when;

	if (task == NONE || child == when->tid)
		return;
	gone.tid = child;
	calls_exit(calls, &gone, calls->tasks.at[task].pid == child);
}

/* ---- where they stand ---- */

static void place_is(struct calls *calls, const struct calls_when *when, uint32_t directory)
{
	task_get(calls, when)->place->directory = directory;
}

void calls_chdir(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 int64_t result)
{
	uint32_t found = name_of(calls, when, name, true);

	if (result < 0) {
		name_failed(calls, when, found, result);
		return;
	}
	if (found == NONE) {
		/* Somewhere else, and it is not said where. */
		place_is(calls, when,
			 name_make_unique(calls, NAME_NOWHERE, "unknown directory", 17));
		return;
	}
	name_present(calls, when, found, NAME_DIRECTORY);
	emit_name(calls, when, OP_STAT, found, 0);
	place_is(calls, when, found);
}

void calls_fchdir(struct calls *calls, const struct calls_when *when, int fd, int64_t result)
{
	uint32_t open = result < 0 ? NONE : open_of(calls, when, fd), file;

	if (open == NONE) {
		calls->counts.failed_others += result < 0;
		return;
	}
	file = calls->opens.at[open].file;
	if (file == NONE)
		return;
	name_present(calls, when, calls->files.at[file].name, NAME_DIRECTORY);
	place_is(calls, when, calls->files.at[file].name);
}

void calls_cwd_is(struct calls *calls, const struct calls_when *when, const char *path,
		  size_t bytes)
{
	struct task *task = task_get(calls, when);
	uint32_t directory;

	if (bytes == 0 || path[0] != '/')
		return;
	directory = name_resolve(calls, NAME_ROOT, path, bytes, false);
	if (task->place->directory == directory)
		return;
	if (task->place->directory == NAME_SOMEWHERE)
		name_somewhere_is(calls, directory);
	name_present(calls, when, directory, NAME_DIRECTORY);
	place_is(calls, when, directory);
}

void calls_unshare(struct calls *calls, const struct calls_when *when, unsigned int flags)
{
	struct task *task = task_get(calls, when);

	if (flags & CALLS_CLONE_FILES && task->table->references > 1) {
		struct table *table = table_copy(calls, task->table);

		table_put(calls, when, task->table);
		task->table = table;
	}
	if (flags & CALLS_CLONE_FS && task->place->references > 1) {
		struct place *place = place_copy(task->place);

		place_put(task->place);
		task->place = place;
	}
}
