/*
 * program: other programs that the kernel machine uses: where they lie, and what they need to run
 * elsewhere
 */
#ifndef REFAULT_MACHINE_KERNEL_PROGRAM_H
#define REFAULT_MACHINE_KERNEL_PROGRAM_H

#include "base/array.h"
#include "base/error.h"

/*
 * The path of the program `name`: from PATH, or else from the places for root's programs, which are
 * not in everybody's PATH. In `arena`. Fails (ERROR_FAILED), naming the Debian package that has it.
 */
bool program_find(const char **path, const char *name, const char *package, struct arena *arena,
		  struct error *error);

/*
 * Does the program at `path` run without a loader and libraries? Fails (ERROR_FAILED) if it does
 * not, cannot be read, or is no program of this machine's kind.
 */
bool program_must_be_static(const char *path, struct error *error);

/*
 * Run it to its end, words[0] being its path and NULL ending them. It reads nothing, and what it
 * prints is dropped. Fails (ERROR_FAILED) with the first line that it complains with, unless it exits
 * with 0.
 */
bool program_run(const char *const *words, struct error *error);

/* Absolute paths: the loader and the libraries. At most as many as anybody's program has. */
enum { PROGRAM_PARTS_MAX = 64 };
struct program_parts {
	size_t count;
	const char *at[PROGRAM_PARTS_MAX]; /* [0 .. count - 1]; in the arena */
};

/*
 * What the program at `path` loads when it starts: none for a static one. Asks its loader, as
 * ldd(1) does, so that the answer is that of this machine's configuration. Fails (ERROR_FAILED)
 * when a library is missing.
 */
bool program_parts_list(struct program_parts *parts, const char *path, struct arena *arena,
			struct error *error);

#endif
