/*
 * wal_init_zero: PostgreSQL's setting, in a scenario that runs its model
 *
 * Source     docs/pgbench.md; PostgreSQL's documentation of it
 * Differs    Of a trace nobody knows what its program would have done: it is left out.
 */
#include "study/remedy.h"

extern const struct remedy remedy_wal_init_zero;

const struct remedy remedy_wal_init_zero = {
	.id = "wal-init-zero",
	.summary = "PostgreSQL: new journal segments are holes, not zeros",
	.since = "PostgreSQL 12",
	.risk = "the journal's own writes allocate blocks, and each flush writes metadata",
	.ease = 100,
	.propose = remedy_propose_setting,
	.setting =
		{"wal_init_zero", "no", "wal_init_zero = off",
		 "psql -c \"ALTER SYSTEM SET wal_init_zero = off\" -c \"SELECT pg_reload_conf()\""},
};
