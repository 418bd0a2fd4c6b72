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
	"@-2 for the last but one. With a + behind it, it is all runs of that command: @last+ is " \
	"the last sweep."

/* `db` NULL: the default store. False: ERROR_INPUT for a wrong name; nothing to close. */
bool kept_open(struct kept *kept, const char *db, enum store_access access,
	       const struct text_list *names, struct error *error);
void kept_close(struct kept *kept);

/*
 * The runs that each of these names means, all at one moment: nobody's new run comes between @last and @-2. numbers[] is to be freed with memory_free(); names[i]
 * has counts[i] of them. False: ERROR_INPUT, and nothing to free.
 */
bool kept_numbers(struct store *store, const char *const *names, size_t count, uint64_t **numbers,
		  size_t *counts, struct error *error);

/* `refault list runs`: the exit code. */
int kept_list(const char *db, bool only_names, bool json);

#endif
