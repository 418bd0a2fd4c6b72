/*
 * wal_level: PostgreSQL's setting, in a scenario that runs its model
 *
 * Source     docs/pgbench.md; PostgreSQL's documentation of it
 * Differs    Of a trace nobody knows what its program would have done: it is left out.
 */
#include <string.h>

#include "study/remedy.h"

extern const struct remedy remedy_wal_level;

/* What the job has now: only what is said in the scenario is known, the rest is the program's. */
static bool has_already(const struct scenario_job *job)
{
	const struct yaml_node *node = yaml_get(job->node, "wal_level");

	return node && node->kind == YAML_SCALAR && strcmp(node->text, "minimal") == 0;
}

static void propose(struct remedy_proposals *proposals)
{
	const struct scenario *scenario = proposals->facts->scenario;
	bool any = false;

	for (size_t i = 0; scenario && i < scenario->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[i];
		struct remedy_try *attempt;

		if (!job->workload_name || strcmp(job->workload_name, "pgbench") != 0 ||
		    has_already(job))
			continue;
		attempt = remedy_propose(proposals);
		attempt->sets[attempt->set_count++] =
			remedy_text(proposals->advice, "jobs.%s.wal_level=minimal", job->name);
		attempt->title =
			remedy_text(proposals->advice,
				    "%s: wal_level = minimal (max_wal_senders = 0)", job->name);
		attempt->how = "wal_level = minimal (max_wal_senders = 0) in postgresql.conf";
		any = true;
	}
	if (!any)
		remedy_leave_out(proposals, "there is no PostgreSQL in a scenario to set it in");
}

const struct remedy remedy_wal_level = {
	.id = "wal-level",
	.summary = "PostgreSQL: nobody reads the journal, and the server drops its segments from "
		   "the cache",
	.since = "PostgreSQL 9.0",
	.risk = "no archiving, no replication, no base backup",
	.ease = 100,
	.propose = propose,
};
