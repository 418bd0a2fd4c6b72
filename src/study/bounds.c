#include "study/bounds.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/size.h"
#include "measure/advice.h"
#include "measure/result.h"
#include "study/remedy.h"

/*
 * From so much on it is a limit: of what there is, nine in ten (little is left to take); of the waiting, the larger part. Ours.
 */
static const double full = 0.9, larger_part = 0.5;

static const struct {
	const char *id, *name;
} names[] = {
	{"processors", "processor time"},
	{"locks", "locks of the workload's own"},
	{"dirty-limit", "the limit of dirty pages"},
	{"flushes", "the device's flushes"},
	{"reads", "reads from the device"},
	{"device", "the device's bandwidth"},
};

static void add(struct advice *advice, const char *id, double share, double limit, const char *text)
{
	*array_push(&advice->bounds) = (struct advice_bound){
		.id = id, .text = text, .share = share, .is_limit = share >= limit};
}

static bool is_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

/* What operations of these names took; NULL: of all there are. */
static void took(struct histogram *sum, const struct result *result, const char *const *list)
{
	for (size_t i = 0; i < result->latency_count; i++) {
		const char *name = result->latencies[i].name;
		bool is_op = false;

		/* The workload's own units (a transaction) are made of operations. */
		for (int kind = 0; kind < OP_KIND_COUNT && !is_op; kind++)
			is_op = strcmp(op_kind_name((enum op_kind)kind), name) == 0;
		if (is_op && (!list || is_of(name, list)))
			histogram_merge(sum, &result->latencies[i].ns);
	}
}

static double seconds_share(const struct histogram *part, const struct histogram *whole)
{
	return whole->sum ? (double)part->sum / (double)whole->sum : 0;
}

static void calls_bound(struct advice *advice, const struct result *result, const char *id,
			const char *what, const char *const *list, const struct histogram *all)
{
	struct histogram part = {0};
	char mean[SIZE_TEXT_BYTES], p99[SIZE_TEXT_BYTES], count[2 * SIZE_TEXT_BYTES];

	took(&part, result, list);
	if (part.count)
		add(advice, id, seconds_share(&part, all), larger_part,
		    remedy_text(advice,
				"%s: %.0f %% of the time in calls: %s, %s on average, p99 %s", what,
				100 * seconds_share(&part, all), count_format(count, part.count),
				time_format(mean, histogram_mean(&part)),
				time_format(p99, histogram_quantile(&part, 990000))));
	histogram_deinit(&part);
}

static void stopped_bound(struct advice *advice, const struct result *result,
			  const struct histogram *all)
{
	char count[2 * SIZE_TEXT_BYTES], time[SIZE_TEXT_BYTES];
	double share = all->sum ? (double)result->stopped.ns / (double)all->sum : 0;

	if (result->stopped.count)
		add(advice, "dirty-limit", share, larger_part,
		    remedy_text(
			    advice,
			    "writers stopped at the limit of dirty pages: %.0f %% of the time in "
			    "calls: %s times, %s in all",
			    100 * share, count_format(count, result->stopped.count),
			    time_format(time, result->stopped.ns)));
}

static void locks_bound(struct advice *advice, const struct result *result)
{
	const struct result_latency *work = result_latency_find(result, "transaction");
	char time[SIZE_TEXT_BYTES];

	for (size_t i = 0; work && i < result->figure_count; i++) {
		const struct result_figure *figure = &result->figures[i];
		double share;

		if (strcmp(figure->name, "row_lock_wait_ns") != 0 || figure->value <= 0 ||
		    !work->ns.sum)
			continue;
		share = figure->value / (double)work->ns.sum;
		add(advice, "locks", share, larger_part,
		    remedy_text(advice,
				"waiting for rows' locks: %.0f %% of all transactions' time, %s",
				100 * share, time_format(time, (uint64_t)figure->value)));
	}
}

static void device_bound(struct advice *advice, const struct result *result)
{
	const struct result_device *device = &result->device;
	char read[SIZE_TEXT_BYTES], written[SIZE_TEXT_BYTES], flushes[2 * SIZE_TEXT_BYTES];
	double seconds = (double)result->elapsed_ns / 1e9,
	       share = (double)device->busy_ns / (double)result->elapsed_ns;

	add(advice, "device", share, full,
	    remedy_text(advice,
			"device %s: busy %.0f %% of the time: %s/s read, %s/s written, %s flushes",
			device->name, 100 * share,
			size_format(read, (uint64_t)((double)device->read_bytes / seconds)),
			size_format(written, (uint64_t)((double)device->write_bytes / seconds)),
			count_format(flushes, device->flushes)));
}

static void processors_bound(struct advice *advice, const struct result *result)
{
	double share =
		(double)result->cpu_ns / ((double)result->elapsed_ns * (double)result->cpu_count);

	add(advice, "processors", share, full,
	    remedy_text(advice, "processors: %.0f %% of %" PRIu64 " busy", 100 * share,
			result->cpu_count));
}

/* Limits first; of those the order of `names`, which goes from what is above to what is below. */
static void sort(struct advice *advice)
{
	struct advice_bound *at = advice->bounds.at;

	for (size_t i = 1; i < advice->bounds.count; i++)
		for (size_t k = i; k > 0 && at[k].is_limit && !at[k - 1].is_limit; k--) {
			struct advice_bound moved = at[k];

			at[k] = at[k - 1];
			at[k - 1] = moved;
		}
}

void bounds_find(struct advice *advice, const struct result *result)
{
	static const char *const flushes[] = {"fsync", "fdatasync", "sync", NULL};
	static const char *const reads[] = {"read", "read_direct", "read_dontcache", "mmap_read",
					    NULL};
	struct histogram all = {0};

	if (!result->elapsed_ns || !result->device.name || !result->cpu_count)
		return;
	took(&all, result, NULL);
	processors_bound(advice, result);
	locks_bound(advice, result);
	stopped_bound(advice, result, &all);
	calls_bound(advice, result, "flushes", "waiting for fsync and fdatasync", flushes, &all);
	calls_bound(advice, result, "reads", "waiting for reads", reads, &all);
	device_bound(advice, result);
	histogram_deinit(&all);
	sort(advice);
}

const char *bounds_name(const struct advice *advice)
{
	const struct advice_bound *first = advice->bounds.count ? &advice->bounds.at[0] : NULL;

	for (size_t i = 0; first && first->is_limit && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].id, first->id) == 0)
			return names[i].name;
	return NULL;
}
