/*
 * wal_level: PostgreSQL's setting, in a scenario that runs its model
 *
 * Source     docs/pgbench.md; PostgreSQL's documentation of it
 * Differs    Of a trace nobody knows what its program would have done: it is left out.
 */
#include "study/remedy.h"

extern const struct remedy remedy_wal_level;

const struct remedy remedy_wal_level = {
	.id = "wal-level",
	.summary = "PostgreSQL: nobody reads the journal, and the server drops its segments from "
		   "the cache",
	.since = "PostgreSQL 9.0",
	.risk = "a restart; no archiving, no replication, no base backup",
	.ease = 100,
	.propose = remedy_propose_setting,
	.setting = {"wal_level", "minimal", "wal_level = minimal (max_wal_senders = 0)",
		    "psql -c \"ALTER SYSTEM SET wal_level = minimal\" -c \"ALTER SYSTEM SET "
		    "max_wal_senders = 0\""},
};
