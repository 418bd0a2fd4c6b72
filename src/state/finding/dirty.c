/*
 * dirty: are writers being held back, because too much is dirty?
 *
 * Idea       Above the middle between the background threshold and the limit, whoever writes is made to sleep,
 *            so that the device can follow. What counts is dirty pages and those being written.
 * Source     mm/page-writeback.c, balance_dirty_pages(), dirty_freerun_ceiling(): (limit + background) / 2.
 *            The thresholds are shares of *dirtyable* memory, free and file pages, not of all memory
 *            (global_dirtyable_memory(); Linux 3.2); they are in /proc/vmstat since 2.6.37. A version 2
 *            cgroup has limits of its own from its file pages and what is left of its memory (Linux 4.2)
 * Constants  without a background threshold: half of the limit, as 10 and 20 % are set by default. AT_LIMIT in
 *            percent of the limit: ours
 */
#include "state/finding.h"

#include "base/size.h"

enum { AT_LIMIT = 95, RATIO = 20, BACKGROUND_RATIO = 10 };

extern const struct finding_rule finding_dirty;

struct dirt {
	struct quantity dirty, writeback, unstable, limit, background;
	uint64_t sum, limit_bytes, ceiling;
	bool is_estimate; /* the limit, from what the defaults would make it */
	bool is_known;
};

/* What a limit would be from the settings, or their defaults. */
static bool limit_estimate(const struct view *view, struct dirt *dirt)
{
	struct quantity ratio = quantity_now(view, QUANTITY_dirty_ratio);
	struct quantity background = quantity_now(view, QUANTITY_dirty_background_ratio);
	struct quantity cache = quantity_file_cache(view);
	struct quantity memory = quantity_memory(view), free = quantity_now(view, QUANTITY_free);
	struct quantity usage = quantity_now(view, QUANTITY_usage);
	uint64_t dirtyable, limit_percent = ratio.known ? ratio.value : RATIO;
	uint64_t background_percent = background.known ? background.value : BACKGROUND_RATIO;

	if (!cache.known || limit_percent > 100 || background_percent > 100)
		return false;
	if (view->cgroup && (!memory.known || !usage.known))
		return false;
	if (!view->cgroup && !free.known)
		return false;
	dirtyable = cache.value + (!view->cgroup                ? free.value
				   : memory.value > usage.value ? memory.value - usage.value
								: 0);
	dirt->limit_bytes = dirtyable / 100 * limit_percent;
	dirt->ceiling = dirtyable / 200 * (limit_percent + background_percent);
	dirt->is_estimate = true;
	return true;
}

static struct dirt dirt_of(const struct view *view)
{
	struct dirt dirt = {
		.dirty = quantity_now(view, QUANTITY_dirty),
		.writeback = quantity_now(view, QUANTITY_writeback),
		.unstable = quantity_now(view, QUANTITY_unstable),
		.limit = quantity_now(view, QUANTITY_dirty_threshold),
		.background = quantity_now(view, QUANTITY_dirty_background),
	};

	dirt.sum = quantity_or_zero(&dirt.dirty) + quantity_or_zero(&dirt.writeback) +
		   quantity_or_zero(&dirt.unstable);
	if (!dirt.dirty.known)
		return dirt;
	if (dirt.limit.known && dirt.limit.value) {
		dirt.limit_bytes = dirt.limit.value;
		dirt.ceiling = dirt.background.known
				       ? (dirt.limit.value + dirt.background.value) / 2
				       : dirt.limit.value / 4 * 3;
		dirt.is_known = true;
	} else {
		dirt.is_known = limit_estimate(view, &dirt);
	}
	return dirt;
}

static void figures(struct findings *findings, struct finding *finding, const struct dirt *dirt)
{
	finding_quantity(findings, finding, "dirty_bytes", &dirt->dirty);
	finding_quantity(findings, finding, "writeback_bytes", &dirt->writeback);
	if (dirt->unstable.known && dirt->unstable.value)
		finding_quantity(findings, finding, "unstable_bytes", &dirt->unstable);
	if (dirt->is_estimate) {
		finding_figure(findings, finding, "dirty_limit_bytes_estimated",
			       (double)dirt->limit_bytes, UNIT_BYTES,
			       "free and file pages * vm.dirty_ratio (20 %% if not said)");
	} else {
		finding_quantity(findings, finding, "dirty_limit_bytes", &dirt->limit);
		finding_quantity(findings, finding, "dirty_background_bytes", &dirt->background);
	}
	finding_figure(findings, finding, "throttled_from_bytes", (double)dirt->ceiling, UNIT_BYTES,
		       "(limit + background) / 2");
	finding_figure(findings, finding, "dirty_share_of_limit",
		       share_percent(dirt->sum, dirt->limit_bytes), UNIT_PERCENT,
		       "dirty + being written, of the limit");
}

static void add_throttled(struct findings *findings, const struct view *view,
			  const struct dirt *dirt)
{
	bool is_at_limit = is_share_at_least(dirt->sum, dirt->limit_bytes, AT_LIMIT);
	struct quantity written = quantity_change(view, QUANTITY_pages_written);
	struct finding *finding =
		finding_add(findings, &finding_dirty, view, FINDING_PROBLEM,
			    is_at_limit && !dirt->is_estimate ? SEVERITY_HIGH : SEVERITY_MEDIUM);

	finding_title(findings, finding,
		      "Writers are%s held back: %s are dirty or being written, %s of the limit",
		      dirt->is_estimate ? " probably" : "", bytes_text(findings, dirt->sum),
		      percent_text(findings, dirt->sum, dirt->limit_bytes));
	finding_text(
		findings, finding,
		"Above %s a process that writes sleeps until the device has caught up. That is a "
		"device slower than its writers, not a cache that is too small.",
		bytes_text(findings, dirt->ceiling));
	if (view->cgroup)
		finding_text(findings, finding,
			     "The group goes on at the device's speed; it is not killed for dirty "
			     "pages of "
			     "files on disks, which can be written (on tmpfs they cannot).");
	if (written.known && written.has_interval && written.value)
		finding_figure(findings, finding, "drain_seconds",
			       (double)dirt->sum / per_second(pages_bytes(view, written.value),
							      written.interval_ns),
			       UNIT_COUNT,
			       "dirty and being written, over what is written a second");
	figures(findings, finding, dirt);
	finding_rests_on(finding, &written);
	finding_rule_is(findings, finding,
			"dirty + writeback at or over (limit + background) / 2: "
			"mm/page-writeback.c, dirty_freerun_ceiling()%s",
			dirt->is_estimate ? "; limits from the ratios, 20 and 10 % by default"
					  : "");
	finding_remedy(
		findings, finding,
		"let it begin earlier and hold less: vm.dirty_background_bytes and vm.dirty_bytes, "
		"a second's and a few seconds' worth of what the device writes");
}

static void judge(struct findings *findings, const struct view *view)
{
	struct dirt dirt = dirt_of(view);
	struct finding *finding;

	if (!dirt.dirty.known)
		return;
	if (!dirt.is_known || dirt.limit_bytes == 0) {
		finding = finding_add(findings, &finding_dirty, view, FINDING_CANNOT_TELL,
				      SEVERITY_NONE);
		finding_title(findings, finding, "Whether %s of dirty pages hold writers back",
			      bytes_text(findings, dirt.sum));
		finding_rests_on(finding, &dirt.dirty);
		finding_remedy(findings, finding,
			       view->cgroup
				       ? "memory.max, memory.current and file pages of memory.stat"
				       : "/proc/vmstat of the same time: nr_dirty_threshold");
		return;
	}
	/* A few pages are nobody's problem, whatever they are a share of. */
	if (dirt.sum >= dirt.ceiling && dirt.sum >= MIB) {
		add_throttled(findings, view, &dirt);
		return;
	}
	finding = finding_add(findings, &finding_dirty, view, FINDING_RULED_OUT, SEVERITY_NONE);
	finding_title(
		findings, finding,
		"Writing is not the problem: %s are dirty or being written, %s of the limit (%s)",
		dirt.sum ? bytes_text(findings, dirt.sum) : "no pages",
		percent_text(findings, dirt.sum, dirt.limit_bytes),
		bytes_text(findings, dirt.limit_bytes));
	figures(findings, finding, &dirt);
	finding_rule_is(findings, finding,
			"below (limit + background) / 2: mm/page-writeback.c, "
			"dirty_freerun_ceiling()");
}

const struct finding_rule finding_dirty = {
	.id = "dirty",
	.summary = "writers that are held back because too much is dirty",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
