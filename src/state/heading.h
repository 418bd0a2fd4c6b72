/*
 * heading: the lines between dumps: whose is it, and when was it?
 *
 *     ### t=30 /proc/vmstat
 *     ==> /sys/fs/cgroup/db/memory.stat <==
 *     root@db1:~# sleep 30; cat /proc/meminfo
 *     Mon Jan  5 10:11:12 UTC 2026
 */
#ifndef REFAULT_STATE_HEADING_H
#define REFAULT_STATE_HEADING_H

#include "state/state.h"

enum { HEADING_NAMES_MAX = 16 };

struct heading {
	/* what dumps are called by, in their order; constant texts */
	const char *names[HEADING_NAMES_MAX];
	size_t name_count;
	bool is_of_another; /* it names a file whose rows look like a dump's, and are none */
	const char *cgroup; /* in the arena; NULL: it does not say */
	enum state_clock clock;
	uint64_t time_ns;
	uint64_t sleep_ns; /* that passed before what is dumped next; 0: it does not say */
	bool is_marked;    /* #, =, a prompt: no row begins like that */
};

/* Read what a line says. `text` is trimmed. */
void heading_read(struct state *state, struct heading *heading, const char *text);

/* "memory.stat" in "dumps/memory.stat.1"; NULL: no dump is called so. *at: where it begins. */
const char *heading_name_in(const char *text, size_t bytes, size_t *at);

#endif
