/*
 * max_wal_size: PostgreSQL's setting, four times as much
 *
 * Idea       After a checkpoint the first change of each block puts all of it into the journal. Fewer checkpoints write
 *            fewer of these, and each block once for more changes; but there are more segments, which take cache.
 * Source     PostgreSQL's documentation, WAL configuration; docs/pgbench.md
 * Differs    Only of scenarios that run PostgreSQL's model.
 * Constants  four times
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "study/remedy.h"

enum { TIMES = 4 };

extern const struct remedy remedy_max_wal_size;

static void propose(struct remedy_proposals *proposals)
{
	const struct scenario *scenario = proposals->facts->scenario;
	struct advice *advice = proposals->advice;

	for (size_t i = 0; scenario && i < scenario->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[i];
		const struct yaml_node *node = yaml_get(job->node, "max_wal_size");
		uint64_t bytes = GIB;
		struct error error;
		struct remedy_try *attempt;

		if (!job->workload_name || strcmp(job->workload_name, "pgbench") != 0 ||
		    (node && (node->kind != YAML_SCALAR ||
			      !size_parse(&bytes, node->text, "max_wal_size", &error))))
			continue;
		bytes *= TIMES;
		attempt = remedy_propose(proposals);
		attempt->sets[attempt->set_count++] = remedy_text(
			advice, "jobs.%s.max_wal_size=%s", job->name, remedy_size(advice, bytes));
		attempt->title = remedy_text(advice, "%s: max_wal_size = %" PRIu64 "MB", job->name,
					     bytes / MIB);
		attempt->command = remedy_text(advice,
					       "psql -c \"ALTER SYSTEM SET max_wal_size = '%" PRIu64
					       "MB'\" -c \"SELECT pg_reload_conf()\"",
					       bytes / MIB);
	}
	if (!proposals->list.count)
		remedy_leave_out(proposals, "there is no PostgreSQL in a scenario to set it in");
}

const struct remedy remedy_max_wal_size = {
	.id = "max-wal-size",
	.summary = "PostgreSQL: max_wal_size, four times as much",
	.since = "PostgreSQL 9.5",
	.risk = "as much more space, and longer recovery after a crash",
	.ease = 100,
	.propose = propose,
};
