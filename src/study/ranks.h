/*
 * ranks: processes that a launcher has started together, and how they speak with rank 0
 *
 * mpirun and srun tell each process which one it is, in its environment. That is all we take from them: there is no libmpi in this program, so
 * that it starts where there is none, and under any of them. (MPI itself ends a whole job with the first process that is lost; a sweep can
 * do without it.) Rank 0 listens on a TCP port and writes where, with a secret drawn for this job, into a file that only its owner can read, in a folder
 * that the ranks share; the others look for it, prove that they know the secret, and that they have the same question.
 *
 * Then, on each connection: rank 0 sends the number of a cell, the other its outcome, and so on. A connection that breaks is a lost rank.
 */
#ifndef REFAULT_STUDY_RANKS_H
#define REFAULT_STUDY_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct launcher {
	const char *name; /* "mpirun", "srun" */
	uint32_t rank, size;
	uint32_t local_size; /* ranks on this machine; 0: not known */
	char job[96];        /* tells jobs apart; "": nothing does */
};

/*
 * Who started this process? False: nobody that tells, or it is alone. OMPI_COMM_WORLD_* (Open MPI's mpirun), PMI_* (MPICH's and Intel's), SLURM_*
 * of a step (srun).
 */
bool launcher_find(struct launcher *launcher);

struct ranks; /* opaque */

/* `folder` is where they meet, `question` what they must agree on. Rank 0 listens from now on. NULL: failed. */
struct ranks *ranks_open(const struct launcher *launcher, const char *folder, uint64_t question,
			 struct error *error);
void ranks_close(struct ranks *ranks); /* NULL is fine */

uint32_t ranks_rank(const struct ranks *ranks);
uint32_t ranks_size(const struct ranks *ranks);

/* ---- rank 0 ---- */

struct rank_peer {
	int fd;
	uint32_t rank;
};

/*
 * Somebody came who knows the secret and has the same question; waits at most `wait_ms`. False: nobody. Those with another question are turned away, and *strangers
 * counts them.
 */
bool ranks_accept(struct ranks *ranks, struct rank_peer *peer, int wait_ms,
		  unsigned int *strangers);

/* How many of the others have come at least once, strangers too. */
uint32_t ranks_seen(const struct ranks *ranks);

/* Have a cell done there: false: the rank is lost, or interrupted. *outcome is to be freed with free(). */
bool rank_peer_run(const struct rank_peer *peer, uint64_t cell, char **outcome,
		   const volatile int *interrupted);
/* There is no more to do. */
void rank_peer_dismiss(struct rank_peer *peer);

/* ---- the others ---- */

/* A connection of this rank's own; -1: failed. */
int ranks_connect(struct ranks *ranks, const volatile int *interrupted, struct error *error);

/* False: it is over; *lost: because rank 0 is gone. */
bool rank_next_cell(int fd, uint64_t *cell, bool *lost, const volatile int *interrupted);
bool rank_send_outcome(int fd, const char *outcome);

#endif
