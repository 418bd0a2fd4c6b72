#include "machine/model/watch.h"

#include "machine/model/model_private.h"

static struct model_moment moment_of(struct model *model, const struct op *op, uint32_t stream)
{
	bool is_of_file = op->kind != OP_MARK && !op_kind_is_of_no_file(op->kind);

	return (struct model_moment){
		.cache = model->cache,
		.source = model->source,
		.op = op,
		.number = model->op_count,
		.stream = stream,
		.file = is_of_file ? operation_resolve(model, op) : 0,
	};
}

void watch_before(struct model *model, const struct op *op, uint32_t stream)
{
	const struct model_watch *watch = model->options->watch;

	model->is_watched = true;
	model->watched = moment_of(model, op, stream);
	cache_returns_clear(model->cache);
	watch->before(watch->context, &model->watched);
}

void watch_fetched(struct model *model)
{
	const struct model_watch *watch = model->options->watch;

	watch->fetched(watch->context, &model->watched, model->plan.fetch, model->plan.fetch_count);
}

void watch_after(struct model *model, const struct op *op)
{
	const struct model_watch *watch = model->options->watch;
	struct model_moment moment = moment_of(model, op, model->watched.stream);

	model->is_watched = false;
	watch->after(watch->context, &moment);
}
