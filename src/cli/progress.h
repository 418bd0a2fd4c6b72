/*
 * progress: a bar on standard error for work that takes long
 *
 * Drawn only on a terminal, not before half a second has gone by, and taken away when the work is
 * done: what is printed then is the answer alone.
 */
#ifndef REFAULT_CLI_PROGRESS_H
#define REFAULT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* "replaying" */
	bool wanted;      /* standard error is a terminal */
	bool drawn;
	bool colour;
	uint64_t start_ns, next_ns;
	uint64_t base_ns, base_done; /* when something was done for the first time, and how much */
};

void progress_begin(struct progress *progress, const char *what);

/*
 * As model_options.progress calls it; `context` is the struct progress. total 0: how long it will
 * be is not known.
 */
void progress_update(void *context, uint64_t done, uint64_t total, uint64_t ops,
		     uint64_t reread_bytes);

/* The same as trace_options.progress calls it. */
void progress_reading(void *context, uint64_t done, uint64_t total);

void progress_end(struct progress *progress);

#endif
