/*
 * kept: the runs that a command's operands name
 */
#ifndef REFAULT_CLI_KEPT_H
#define REFAULT_CLI_KEPT_H

#include "cli/command.h"
#include "store/store.h"

struct kept {
	struct store *store;
	uint64_t *numbers; /* in the order of the operands; one that is named twice is there once */
	size_t count;
};

/* How every --help says it. */
#define KEPT_NAMES                                                                                 \
	"A RUN is named by its id or the beginning of it (`refault list runs`), by @last, or by "  \
	"@-2 for the last but one."

/* `db` NULL: the default store. False: ERROR_INPUT for a wrong name; nothing to close. */
bool kept_open(struct kept *kept, const char *db, enum store_access access,
	       const struct text_list *names, struct error *error);
void kept_close(struct kept *kept);

/* `refault list runs`: the exit code. */
int kept_list(const char *db, bool only_names, bool json);

#endif
