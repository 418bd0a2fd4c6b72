/*
 * wal_recycle: PostgreSQL's setting, in a scenario that runs its model
 *
 * Source     docs/pgbench.md; PostgreSQL's documentation of it
 * Differs    Of a trace nobody knows what its program would have done: it is left out.
 */
#include <string.h>

#include "study/remedy.h"

extern const struct remedy remedy_wal_recycle;

/* What the job has now: only what is said in the scenario is known, the rest is the program's. */
static bool has_already(const struct scenario_job *job)
{
	const struct yaml_node *node = yaml_get(job->node, "wal_recycle");

	return node && node->kind == YAML_SCALAR && strcmp(node->text, "no") == 0;
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
			remedy_text(proposals->advice, "jobs.%s.wal_recycle=no", job->name);
		attempt->title = remedy_text(proposals->advice, "%s: wal_recycle = off", job->name);
		attempt->how = "wal_recycle = off in postgresql.conf";
		any = true;
	}
	if (!any)
		remedy_leave_out(proposals, "there is no PostgreSQL in a scenario to set it in");
}

const struct remedy remedy_wal_recycle = {
	.id = "wal-recycle",
	.summary = "PostgreSQL: journal segments are removed and made anew, not used again",
	.since = "PostgreSQL 12",
	.risk = "new segments have to be made, and filled with zeros (wal_init_zero): on fast "
		"devices that may cost more than it saves",
	.ease = 100,
	.propose = propose,
};
