/*
 * canonical: a name as a process wrote it, as the path that the kernel would print
 *
 * Symbolic links on the way are followed as they are now, a moment after the call; what is not there
 * is put together from its letters. What was found is remembered, till canonical_forget().
 */
#ifndef REFAULT_RECORD_CANONICAL_H
#define REFAULT_RECORD_CANONICAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

struct path_table;

struct canonical {
	struct path_table *directories; /* as written; ids index `real` */
	ARRAY(const char *) real;
	struct path_table *plain; /* paths that are no symbolic link */
	struct arena texts;
};

enum { CANONICAL_BYTES = 4096 };

void canonical_init(struct canonical *canonical);
void canonical_deinit(struct canonical *canonical);

/*
 * `directory` (absolute, canonical) is where a relative `name` begins; `follows`: a link at the end.
 * False: it is too long.
 */
bool canonical_path(struct canonical *canonical, const char *directory, const char *name,
		    bool follows, char path[CANONICAL_BYTES]);

/* A link was made: look again. */
void canonical_forget(struct canonical *canonical);

/* What was at one path is at another: if it is a directory, or takes a link's place, look again. */
void canonical_moved(struct canonical *canonical, const char *from, const char *to);

#endif
