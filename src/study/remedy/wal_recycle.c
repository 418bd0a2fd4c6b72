/*
 * wal_recycle: PostgreSQL's setting, in a scenario that runs its model
 *
 * Source     docs/pgbench.md; PostgreSQL's documentation of it
 * Differs    Of a trace nobody knows what its program would have done: it is left out.
 */
#include "study/remedy.h"

extern const struct remedy remedy_wal_recycle;

const struct remedy remedy_wal_recycle = {
	.id = "wal-recycle",
	.summary = "PostgreSQL: journal segments are removed and made anew, not used again",
	.since = "PostgreSQL 12",
	.risk = "new segments have to be made, and filled with zeros (wal_init_zero): on fast "
		"devices that may cost more than it saves",
	.ease = 100,
	.propose = remedy_propose_setting,
	.setting =
		{"wal_recycle", "no", "wal_recycle = off",
		 "psql -c \"ALTER SYSTEM SET wal_recycle = off\" -c \"SELECT pg_reload_conf()\""},
};
