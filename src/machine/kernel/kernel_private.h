/*
 * kernel_private: one run, for the files that make it up
 *
 * prepare.c makes all that it needs, carry_out.c has the ops carried out, kernel.c begins and ends it.
 */
#ifndef REFAULT_MACHINE_KERNEL_KERNEL_PRIVATE_H
#define REFAULT_MACHINE_KERNEL_KERNEL_PRIVATE_H

#include "base/array.h"
#include "machine/kernel/cgroup.h"
#include "machine/kernel/janitor.h"
#include "machine/kernel/kernel.h"
#include "machine/kernel/meter.h"
#include "machine/kernel/player.h"
#include "machine/kernel/scratch.h"
#include "machine/kernel/script.h"
#include "measure/recorder.h"

struct probe;

/* A file that is there before the start. */
struct existing {
	uint64_t bytes;
	uint32_t path, line;
	bool is_sparse;
};

struct run {
	const struct kernel_options *options;
	struct op_source *source;
	ARRAY(struct existing) existing;
	struct janitor janitor;
	struct scratch scratch;
	struct cgroup cgroup;
	struct script *script;
	struct probe *probe; /* NULL: `no_probe` says why */
	struct error no_probe;
	struct player *player;
	uint32_t worker_count;
	struct meter meter;
	struct recorder recorder;
	bool has_begun;
	bool drops_pages; /* others than the player drop pages, because the ops want it */
	uint64_t op_count, file_count;
	uint64_t next_progress;
	uint64_t
		device_free_ns; /* on the scenario's clock: when the device can begin the next request */
	uint64_t read_bytes, write_bytes; /* by the player, when the op before this was done */
	uint64_t start_ns;                /* on the real one */
};

/* Clients side by side, each a thread? */
bool run_is_concurrent(const struct run *run);

/* Has somebody asked it to end? */
static inline bool run_is_interrupted(const struct run *run)
{
	return run->options->interrupted && *run->options->interrupted;
}

/* This op cannot be: put what is wrong with it at its place. Returns false. */
bool run_op_error(struct run *run, const struct op *op, struct error *error, const char *what);

/* What the player could not do. Returns false. */
bool run_player_error(struct run *run, struct error *error);

/* A file that is there before the start: remembered until run_begin(). */
bool run_exists(struct run *run, const struct op *op, struct error *error);

/*
 * All that is there before the start is known: make it, cold, and let the player wait in its cgroup.
 */
bool run_begin(struct run *run, struct error *error);

/* Carry out all ops of the source, to their end. */
bool run_ops(struct run *run, struct error *error);

#endif
