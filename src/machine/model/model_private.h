/*
 * model_private: the model's state, for its own files
 *
 * operation.c carries ops out, model.c runs a source through it and keeps the time (simulation.c
 * with a device), bare_run.c is another machine.
 */
#ifndef REFAULT_MACHINE_MODEL_MODEL_PRIVATE_H
#define REFAULT_MACHINE_MODEL_MODEL_PRIVATE_H

#include "cache/cache.h"
#include "machine/model/filesystem.h"
#include "machine/model/model.h"
#include "machine/model/opens.h"
#include "machine/model/watch.h"
#include "measure/recorder.h"

struct model {
	const struct model_options *options;
	const struct filesystem *fs;
	struct op_source *source;
	struct cache *cache;
	struct tree tree;
	struct filesystem_mount mount;
	struct cache_plan plan;
	struct opens opens;
	bool is_mounted;
	bool is_watched; /* an op is under way, and somebody looks on */
	uint64_t op_count, file_count;
	uint64_t now_ns;         /* traces: the later of the time stamp and the pace */
	uint64_t device_free_ns; /* scenarios: when the device can begin the next request */
	uint64_t op_pages;       /* asked for by the op under way */
	uint64_t plain_count;    /* of RWF_DONTCACHE, where that is not known */
	/*
	 * Nobody keeps time: the page that a RWF_DONTCACHE write left covered in part, whose
	 * write-back the next op begins.
	 */
	uint32_t behind_file;
	uint64_t behind_index;
	/* with a device: */
	struct cache_run asked;        /* the pages that the op under way asks for */
	bool is_syncing;               /* what is written now is waited for */
	bool waits_for_file;           /* the op waits for what is written back of its file */
	struct io_list *background;    /* what nobody waits for */
	struct result_device requests; /* asked of the device since the jobs began */
	uint64_t started_ns, elapsed_ns, busy_ns; /* busy: of all processors */
	struct result_stopped stopped;
	struct recorder recorder;
	struct model_moment watched; /* of the op under way, if somebody looks on */
};

/* Ask the device for what is in the plan: into mount.io. */
void plan_ask(struct model *model);

/* Tell who looks on: before and after an op, and what it fetches (watch.c). */
void watch_before(struct model *model, const struct op *op, uint32_t stream);
void watch_fetched(struct model *model);
void watch_after(struct model *model, const struct op *op);

/* Everything in the plan is done or, if time is kept, asked of the device. */
static inline void plan_done(struct model *model)
{
	if (model->is_watched && model->plan.fetch_count > 0)
		watch_fetched(model);
	if (model->mount.io && model->plan.fetch_count + model->plan.write_count > 0)
		plan_ask(model);
	model->plan.fetch_count = model->plan.write_count = 0;
}

/*
 * One op: the clock goes on to model->now_ns, what is due is written back, the op is carried out.
 * False: the run is over, and `error` says why.
 */
bool model_carry_out(struct model *model, const struct op *op, struct error *error);

/* What the kernel's flusher has to write by now: asked of the device as `background`. */
void model_write_back(struct model *model);

/* The file that an op means, if it is there; 0: none. */
uint32_t operation_file(const struct model *model, const struct op *op);
/* The same, of a path that may not have been looked up yet: what the op itself does first. */
uint32_t operation_resolve(struct model *model, const struct op *op);

/*
 * An op will probably come (op/source.h, op_foresight): a random page costs several misses of the
 * processor's caches, which begin now.
 */
void model_expect(void *model, const struct op *op, enum op_nearness nearness);

/* A sample of the levels, for the recorder. */
void model_sample(struct model *model);

/* Run the source on the event loop, with a device: simulation.c. */
bool simulation_run(struct model *model, struct error *error);

/* Carry one op out. False: it cannot be, and `error` says why and where. */
bool operation_carry_out(struct model *model, const struct op *op, struct error *error);
/* Where time is kept: all that the op waited for is done. */
void operation_end(struct model *model, const struct op *op);

/* Fill in what the options say: input, machine, policy, memory, seed. */
void model_describe(const struct model_options *options, const struct op_source *source,
		    struct result *result);

#endif
