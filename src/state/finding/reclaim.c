/*
 * reclaim: who looks for memory, kswapd in the background, or those who need it?
 *
 * Idea       kswapd keeps some memory free, so that nobody waits. If it does not keep up, processes reclaim
 *            for themselves, and each such stall is time of theirs. If much is scanned for little, what is
 *            there is dirty, mapped, or in use again.
 * Source     mm/vmscan.c: PGSCAN_KSWAPD, PGSCAN_DIRECT, PGSTEAL_...; mm/page_alloc.c counts ALLOCSTALL once a
 *            direct reclaim. Names: by zone before Linux 4.8; kswapd_steal and pgsteal_ZONE, of both, before
 *            3.5; plain pgscan and pgsteal in 2.6.0
 * Constants  STALLS_PER_SECOND and DIRECT_SHARE in percent of what is scanned: rules of thumb. EFFICIENCY in
 *            percent: below a quarter "things are getting into some trouble" (A. Morton on linux-kernel,
 *            2007), a rule of thumb of the one who wrote it. SCANNED_PER_SECOND: 1,000 pages, 4 MiB/s; ours
 */
#include "state/finding.h"

#include "base/size.h"

enum { STALLS_PER_SECOND = 10, DIRECT_SHARE = 20, EFFICIENCY = 25, SCANNED_PER_SECOND = 1000 };

extern const struct finding_rule finding_reclaim;

struct work {
	struct quantity scanned_background, scanned_direct, reclaimed_background, reclaimed_direct;
	struct quantity reclaimed_all, scanned_all, stalls;
	uint64_t scanned, reclaimed;
	bool knows_reclaimed;
};

static struct work work_of(const struct view *view)
{
	struct work work = {
		.scanned_background = quantity_change(view, QUANTITY_scanned_background),
		.scanned_direct = quantity_change(view, QUANTITY_scanned_direct),
		.reclaimed_background = quantity_change(view, QUANTITY_reclaimed_background),
		.reclaimed_direct = quantity_change(view, QUANTITY_reclaimed_direct),
		.reclaimed_all = quantity_change(view, QUANTITY_reclaimed_all),
		.scanned_all = quantity_change(view, QUANTITY_scanned_all),
		.stalls = quantity_change(view, QUANTITY_stalls),
	};

	work.scanned = work.scanned_background.known || work.scanned_direct.known
			       ? quantity_or_zero(&work.scanned_background) +
					 quantity_or_zero(&work.scanned_direct)
			       : quantity_or_zero(&work.scanned_all);
	work.knows_reclaimed = work.reclaimed_direct.known || work.reclaimed_all.known;
	work.reclaimed =
		work.reclaimed_direct.known
			? quantity_or_zero(&work.reclaimed_background) + work.reclaimed_direct.value
			: quantity_or_zero(&work.reclaimed_all);
	return work;
}

static void figures(struct findings *findings, struct finding *finding, const struct work *work)
{
	finding_quantity(findings, finding, "scanned_background_pages", &work->scanned_background);
	finding_quantity(findings, finding, "scanned_direct_pages", &work->scanned_direct);
	if (!work->scanned_background.known)
		finding_quantity(findings, finding, "scanned_pages", &work->scanned_all);
	finding_quantity(findings, finding, "reclaimed_background_pages",
			 &work->reclaimed_background);
	finding_quantity(findings, finding, "reclaimed_direct_pages", &work->reclaimed_direct);
	if (!work->reclaimed_direct.known)
		finding_quantity(findings, finding, "reclaimed_pages", &work->reclaimed_all);
	if (work->scanned && work->scanned_direct.known)
		finding_figure(findings, finding, "direct_share",
			       share_percent(work->scanned_direct.value, work->scanned),
			       UNIT_PERCENT, "scanned directly, of all scanned");
	if (work->scanned && work->knows_reclaimed)
		finding_figure(findings, finding, "reclaimed_of_scanned",
			       share_percent(work->reclaimed, work->scanned), UNIT_PERCENT,
			       "reclaimed of scanned");
	finding_quantity(findings, finding, "stalls", &work->stalls);
}

static bool is_busy(const struct work *work)
{
	const struct quantity *timed =
		work->scanned_background.known ? &work->scanned_background : &work->scanned_all;

	return work->scanned &&
	       (!timed->has_interval ||
		is_rate_at_least(work->scanned, timed->interval_ns, SCANNED_PER_SECOND));
}

static bool has_stalls(const struct work *work)
{
	if (work->stalls.known && work->stalls.has_interval)
		return is_rate_at_least(work->stalls.value, work->stalls.interval_ns,
					STALLS_PER_SECOND);
	return false;
}

static void judge(struct findings *findings, const struct view *view)
{
	struct work work = work_of(view);
	bool is_direct = has_stalls(&work) ||
			 (is_busy(&work) && work.scanned_direct.known &&
			  is_share_at_least(work.scanned_direct.value, work.scanned, DIRECT_SHARE));
	bool is_vain = is_busy(&work) && work.knows_reclaimed &&
		       !is_share_at_least(work.reclaimed, work.scanned, EFFICIENCY);
	struct finding *finding;

	if (!work.scanned_background.known && !work.scanned_all.known && !work.stalls.known)
		return;
	finding = finding_add(findings, &finding_reclaim, view,
			      is_direct || is_vain ? FINDING_PROBLEM
			      : work.scanned       ? FINDING_EXPLANATION
						   : FINDING_RULED_OUT,
			      is_direct || is_vain ? SEVERITY_MEDIUM : SEVERITY_NONE);
	if (is_direct)
		finding_title(
			findings, finding,
			"Processes reclaim memory for themselves: %s pages scanned directly, %s by "
			"kswapd, %s stalls",
			count_text(findings, quantity_or_zero(&work.scanned_direct)),
			count_text(findings, quantity_or_zero(&work.scanned_background)),
			work.stalls.known ? count_text(findings, work.stalls.value) : "?");
	else if (is_vain)
		finding_title(
			findings, finding,
			"Reclaim looks at much for little: %s of %s pages scanned were reclaimed",
			percent_text(findings, work.reclaimed, work.scanned),
			count_text(findings, work.scanned));
	else if (work.scanned)
		finding_title(
			findings, finding,
			"kswapd keeps up: %s pages scanned in the background, %s directly",
			count_text(findings, work.scanned - quantity_or_zero(&work.scanned_direct)),
			count_text(findings, quantity_or_zero(&work.scanned_direct)));
	else
		finding_title(findings, finding, "No memory had to be reclaimed");
	if (is_direct)
		finding_text(findings, finding,
			     "kswapd did not keep up; each stall is a wait of whoever "
			     "needed a page.");
	if (is_vain)
		finding_text(findings, finding,
			     "What is on the lists is dirty, being written, mapped, or "
			     "has been used again.");
	figures(findings, finding, &work);
	finding_rule_is(
		findings, finding,
		"%d stalls/s, or %d %% of what is scanned (and %d pages/s of that); reclaimed of "
		"scanned below %d %% (rules of thumb)",
		STALLS_PER_SECOND, DIRECT_SHARE, SCANNED_PER_SECOND, EFFICIENCY);
	if (is_direct)
		finding_remedy(findings, finding,
			       "vm.watermark_scale_factor (Linux 4.6) lets kswapd begin "
			       "earlier; memory.high does it for a cgroup");
}

const struct finding_rule finding_reclaim = {
	.id = "reclaim",
	.summary = "who reclaims memory, in the background or for themselves",
	.of_system = true,
	.judge = judge,
};
