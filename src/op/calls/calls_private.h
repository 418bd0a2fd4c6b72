/*
 * What the files of calls/ share; everybody else uses op/calls/calls.h.
 *
 * Four tables, each of structs that are named by their index: names (a tree), files, open files, and
 * tasks. `NONE` is no index. Nothing is ever removed from names and files: their numbers are for
 * good.
 */
#ifndef REFAULT_OP_CALLS_PRIVATE_H
#define REFAULT_OP_CALLS_PRIVATE_H

#include "base/array.h"
#include "base/memory.h"
#include "op/calls/calls.h"
#include "op/number_map.h"

#define NONE NUMBER_MAP_NONE

/* ---- name.c: a tree of names ---- */

enum name_kind {
	NAME_UNKNOWN,
	NAME_ABSENT, /* found not to be there, or gone */
	NAME_FILE,
	NAME_DIRECTORY,
	NAME_SYMLINK,
};

/* Names without a parent. */
enum {
	NAME_ROOT,      /* "/" */
	NAME_SOMEWHERE, /* the working directory that nobody told */
	NAME_NOWHERE,   /* above names that are of no directory: "pid 4100 fd 7" */
	NAME_ROOT_COUNT,
};

struct name {
	const char *text; /* not ended by NUL */
	uint32_t bytes;
	uint32_t parent;
	uint32_t hash, next_in_bucket;
	uint32_t first_child, next_child, previous_child;
	uint32_t file;         /* NONE: none is known */
	uint32_t next_of_file; /* another name of the same file */
	uint32_t path;         /* its id, if of this generation */
	uint32_t path_generation;
	uint32_t first_parent; /* where it was before anything was renamed */
	uint32_t first_bytes;
	const char *first_text;
	const char *target; /* NAME_SYMLINK */
	uint32_t target_bytes;
	uint32_t namesakes;   /* "(2)", "(3)", ... that were made of it */
	uint32_t linked_file; /* it was there before the start as another name of this file; NONE */
	uint8_t kind;
	bool was_directory; /* before the start */
	bool has_deleted;   /* files that are open and whose names were in it */
	bool existed;       /* there before the start */
	bool is_made;       /* not there before the start: made later */
	bool is_pseudo;     /* in /proc, /sys or /dev: of no disk */
};

struct name_place {
	uint32_t parent;
	const char *text;
	uint32_t bytes;
};

/* ---- file.c ---- */

struct file {
	uint64_t size, initial;      /* at least */
	uint64_t appended;           /* bytes, at an end that is not known */
	uint64_t run_start, run_end; /* of the last writes, one behind the other */
	uint64_t device, inode;
	struct calls_sum sum;
	uint32_t name;       /* one that it has, or its last one; NONE: never had one */
	uint32_t first_name; /* at first sight */
	uint64_t key;        /* the step, and which file in it: the same in each reading */
	uint32_t learned;    /* NONE: nothing is */
	uint32_t first_open; /* list of open files */
	uint32_t link_count; /* names known */
	bool is_size_exact, is_initial_exact;
	bool has_inode;
	bool existed;    /* before the start */
	bool is_unknown; /* a descriptor's, of which nothing else is known */
	bool is_unnamed; /* likewise, but its opening was seen */
	bool is_deleted; /* without a name but the one that it got here */
	bool is_directory;
	bool is_made;   /* as a file, and its making was seen */
	bool has_bytes; /* some came or went */
	bool is_no_file;
	bool is_assumed_new;
	bool has_ops;
	bool is_linked_again; /* had no name, and got one: O_TMPFILE and linkat */
};

/* Of the reading before. */
struct learned {
	uint64_t initial;
	bool is_initial_exact, existed, is_directory, is_no_file, is_linked_again;
};

/* ---- task.c ---- */

struct open_file {
	uint64_t position;
	uint64_t aside; /* the same for offsets that are not told, one behind the other */
	uint32_t file;  /* NONE: of no file */
	uint32_t name;  /* by which it was asked for or told; NONE: by none */
	uint32_t
		op_name; /* by which the ops have it open: one of the file's, or what became of that */
	uint32_t next_of_file;
	uint32_t references; /* descriptors and mappings; 0: this slot is free */
	unsigned int flags;  /* CALLS_O_... */
	bool is_position_known;
	bool is_listed;        /* a directory whose entries are being read */
	ARRAY(uint32_t) users; /* threads for whom ops have opened it */
};

struct descriptor {
	int fd;
	uint32_t open;
	bool is_cloexec;
};

struct range {
	uint32_t first, last;
};

struct table { /* files_struct */
	uint32_t references;
	ARRAY(struct descriptor) descriptors; /* by fd */
	/*
	 * Descriptors that were open before anything was seen, as they are found out: of all tables
	 * that were copied from the first one, which has them unless it has closed them since.
	 */
	struct table *before; /* NULL: this is one */
	ARRAY(struct range) gone;
	uint32_t pid; /* of `before`: the first process */
};

struct place { /* fs_struct */
	uint32_t references;
	uint32_t directory; /* a name */
};

struct mapping {
	uint64_t address, bytes, offset;
	uint32_t open;
	bool is_shared;
};

struct memory { /* mm_struct */
	uint32_t references;
	ARRAY(struct mapping) mappings; /* of files; in no order */
};

struct task {
	uint32_t tid, pid; /* pid: of the first thread, as far as known */
	struct table *table;
	struct place *place;
	struct memory *memory;
	bool is_alive;
};

/* ---- all of it ---- */

struct calls {
	struct calls_options options;
	ARRAY(struct name) names;
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t generation; /* of paths: a directory was renamed */
	struct arena texts;
	char *chunk; /* the rest of the newest piece of `texts` */
	size_t chunk_bytes;
	bool has_relative;    /* a name below NAME_SOMEWHERE was used while that was not known */
	uint32_t somewhere;   /* what NAME_SOMEWHERE has turned out to be; NONE: not yet */
	char *somewhere_text; /* its path, from the reading before; NULL: not known */
	char *path;           /* room for one that is put together */

	ARRAY(struct file) files;
	ARRAY(struct learned) learned;
	struct number_map learned_by_key;
	uint64_t step;
	uint32_t step_files; /* found in this step */
	struct number_map inodes;

	ARRAY(struct open_file) opens;
	uint32_t open_free; /* list by next_of_file */

	ARRAY(struct task) tasks;
	ARRAY(uint32_t) tasks_free;
	struct number_map tids;

	uint64_t time_ns; /* the latest */
	struct calls_counts counts;
};

/* name.c */
void names_init(struct calls *calls);
void names_deinit(struct calls *calls);
char *text_keep(struct calls *calls, const char *text, size_t bytes);
uint32_t name_get(struct calls *calls, uint32_t parent, const char *text, size_t bytes);
uint32_t name_find(const struct calls *calls, uint32_t parent, const char *text, size_t bytes);
uint32_t name_resolve(struct calls *calls, uint32_t directory, const char *text, size_t bytes,
		      bool follows);
uint32_t name_path(struct calls *calls, uint32_t name);       /* its path's id */
uint32_t name_first_path(struct calls *calls, uint32_t name); /* before anything was renamed */
void name_move(struct calls *calls, uint32_t name, const struct name_place *place);
struct name_place name_place(const struct calls *calls, uint32_t name);
uint32_t name_make_unique(struct calls *calls, uint32_t parent, const char *text, size_t bytes);
uint32_t name_make_deleted(struct calls *calls, uint32_t parent, const char *text, size_t bytes);
void name_somewhere_is(struct calls *calls, uint32_t name);
bool name_could_exist(const struct calls *calls, uint32_t name);

/* file.c */
uint32_t file_add(struct calls *calls, uint32_t name);
void file_add_name(struct calls *calls, uint32_t file, uint32_t name);
void file_remove_name(struct calls *calls, uint32_t file, uint32_t name);
uint32_t file_path(struct calls *calls, uint32_t file);
void file_has_inode(struct calls *calls, uint32_t file, uint64_t device, uint64_t inode);
uint32_t file_of_inode(const struct calls *calls, uint64_t device, uint64_t inode);
void file_size_is(struct file *file, uint64_t bytes); /* exactly */
void file_was_read(struct calls *calls, struct file *file, uint64_t offset, uint64_t end);
void file_was_written(struct file *file, uint64_t offset, uint64_t end);
void file_let_go(struct calls *calls, uint32_t file); /* of its inode, if it is gone */

/* calls.c: ops */
void emit(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t file,
	  uint64_t offset, uint64_t bytes);
void emit_name(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t name,
	       uint64_t bytes);
void emit_two(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t from,
	      uint32_t to);
void emit_as(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t file,
	     uint32_t name, uint64_t offset, uint64_t bytes);
void emit_reached(struct calls *calls, const struct calls_when *when, enum op_kind kind,
		  uint32_t file, uint32_t name, uint64_t offset, uint64_t bytes);
/* Likewise, of an open file, which this thread has open from then on. */
void emit_open(struct calls *calls, const struct calls_when *when, enum op_kind kind, uint32_t open,
	       uint64_t offset, uint64_t bytes);

/* task.c */
struct task *task_get(struct calls *calls, const struct calls_when *when);
void tasks_deinit(struct calls *calls);
struct descriptor *descriptor_find(const struct table *table, int fd);
void descriptor_put(struct calls *calls, const struct calls_when *when, struct table *table, int fd,
		    uint32_t open, bool is_cloexec);
void descriptor_remove(struct calls *calls, const struct calls_when *when, struct table *table,
		       int fd);
/* `name`: by which the ops open it; NONE: whichever the file has. */
uint32_t open_add(struct calls *calls, uint32_t file, uint32_t name, unsigned int flags);
void open_put(struct calls *calls, const struct calls_when *when, uint32_t open);
void open_used(struct calls *calls, uint32_t open, uint32_t tid);
/* What the descriptor leads to; one that is not known becomes a file of its own. NONE: fd below 0. */
void descriptor_gone(struct calls *calls, const struct calls_when *when, struct table *table,
		     uint32_t first, uint32_t last);
uint32_t open_of(struct calls *calls, const struct calls_when *when, int fd);
uint32_t open_known(struct calls *calls, const struct calls_when *when, int fd); /* or NONE */
/* What "/proc/self/fd/7" and its like lead to, or "" of a descriptor; NONE: the name is another. */
uint32_t open_of_name(struct calls *calls, const struct calls_when *when,
		      const struct calls_name *name);

/* change.c: names come and go */
uint32_t name_of(struct calls *calls, const struct calls_when *when, const struct calls_name *name,
		 bool follows);
/* It is there: a file if nothing else is known. Returns its file, NONE for a directory. */
uint32_t name_present(struct calls *calls, const struct calls_when *when, uint32_t name,
		      enum name_kind kind);
void name_absent(struct calls *calls, const struct calls_when *when, uint32_t name);
bool name_is_there(const struct calls *calls, uint32_t name);
bool file_is_sure(const struct file *file); /* surely no directory */
/* By the ops somebody has it open by this name. */
bool file_is_held(const struct calls *calls, uint32_t file, uint32_t name);
void deleted_made(struct calls *calls, const struct calls_when *when, uint32_t file, uint32_t name);
void name_link_is(struct calls *calls, uint32_t name, const char *target, size_t bytes);
void parents_present(struct calls *calls, const struct calls_when *when, uint32_t name);
/* A call on a name failed: counted, and looked up. */
void name_failed(struct calls *calls, const struct calls_when *when, uint32_t name, int64_t result);
/* Would the file be known by this fact? */
void file_facts(struct calls *calls, uint32_t file, const struct calls_facts *facts);

/* memory.c */
void memory_put(struct calls *calls, const struct calls_when *when, struct memory *memory);

#endif
