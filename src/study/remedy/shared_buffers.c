/*
 * shared_buffers: PostgreSQL's own cache, half and double
 *
 * Idea       What is in shared_buffers is pinned, and most of it is in the page cache, too: which of both a block is in
 *            decides who misses it. More of it is less for the kernel, and fewer writes of the same block.
 * Source     PostgreSQL's documentation, resource consumption; docs/pgbench.md
 * Differs    Only of scenarios that run PostgreSQL's model. The machine's pinned memory, of which it is a part, goes with it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "cache/cache.h"
#include "study/remedy.h"

#define DEFAULT_BYTES (128 * MIB)

extern const struct remedy remedy_shared_buffers;

static uint64_t said_bytes(const struct scenario_job *job)
{
	const struct yaml_node *node = yaml_get(job->node, "shared_buffers");
	uint64_t bytes;
	struct error error;

	return node && node->kind == YAML_SCALAR &&
			       size_parse(&bytes, node->text, "shared_buffers", &error)
		       ? bytes
		       : DEFAULT_BYTES;
}

static void try_it(struct remedy_proposals *proposals, const struct scenario_job *job, uint64_t now,
		   uint64_t bytes)
{
	const struct model_options *model = proposals->facts->model;
	struct advice *advice = proposals->advice;
	uint64_t pinned = model->pinned_bytes + bytes - now;
	struct remedy_try *attempt;

	if (bytes < 16 * MIB || model->pinned_bytes < now ||
	    pinned + CACHE_MEMORY_BYTES_MIN + model->memory_bytes / 10 > model->memory_bytes)
		return;
	attempt = remedy_propose(proposals);
	attempt->model.pinned_bytes = pinned;
	attempt->sets[attempt->set_count++] = remedy_text(advice, "jobs.%s.shared_buffers=%s",
							  job->name, remedy_size(advice, bytes));
	attempt->title =
		remedy_text(advice, "%s: shared_buffers = %" PRIu64 "MB", job->name, bytes / MIB);
	attempt->command = remedy_text(advice,
				       "psql -c \"ALTER SYSTEM SET shared_buffers = '%" PRIu64
				       "MB'\"  # and a restart",
				       bytes / MIB);
}

static void propose(struct remedy_proposals *proposals)
{
	const struct scenario *scenario = proposals->facts->scenario;

	for (size_t i = 0; scenario && i < scenario->job_count; i++) {
		const struct scenario_job *job = &scenario->jobs[i];
		uint64_t now;

		if (!job->workload_name || strcmp(job->workload_name, "pgbench") != 0)
			continue;
		now = said_bytes(job);
		try_it(proposals, job, now, now / 2 / MIB * MIB);
		try_it(proposals, job, now, now * 2);
	}
	if (!proposals->list.count)
		remedy_leave_out(proposals,
				 scenario ? "there is no PostgreSQL whose shared_buffers are "
					    "a part of what is pinned"
					  : "there is no PostgreSQL in a scenario to set "
					    "it in");
}

const struct remedy remedy_shared_buffers = {
	.id = "shared-buffers",
	.summary = "PostgreSQL: shared_buffers, half and double",
	.risk = "a restart; what it has the page cache has not",
	.ease = 90,
	.propose = propose,
};
