/*
 * arc_ghosts: blocks are asked for again soon after the ARC evicted them
 *
 * Idea       A ghost list remembers about as many blocks as the ARC is large. A miss that finds its block there
 *            would have been a hit in an ARC of up to twice the size: what a refault is to the page cache.
 * Source     module/zfs/arc.c, arc_access(): mru_ghost_hits, mfu_ghost_hits; Megiddo and Modha, ARC (FAST 2003)
 * Constants  GHOSTS_PER_SECOND as in file_thrash.c; SHARE in percent of misses: ours
 */
#include "state/finding.h"

enum { GHOSTS_PER_SECOND = 100, SHARE = 10 };

extern const struct finding_rule finding_arc_ghosts;

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity ghosts = quantity_change(view, QUANTITY_arc_ghost_hits);
	struct quantity misses = quantity_change(view, QUANTITY_arc_misses);
	struct quantity size = quantity_now(view, QUANTITY_arc_size);
	bool is_problem;
	struct finding *finding;

	if (!size.known)
		return;
	if (!ghosts.known || !misses.known) {
		finding = finding_add(findings, &finding_arc_ghosts, view, FINDING_CANNOT_TELL,
				      SEVERITY_NONE);
		finding_title(findings, finding,
			      "Whether the ARC reads again what it evicted, now");
		finding_remedy(findings, finding, "arcstats twice, some seconds apart");
		return;
	}
	is_problem = ghosts.value && is_share_at_least(ghosts.value, misses.value, SHARE) &&
		     (!ghosts.has_interval ||
		      is_rate_at_least(ghosts.value, ghosts.interval_ns, GHOSTS_PER_SECOND));
	finding = finding_add(findings, &finding_arc_ghosts, view,
			      is_problem ? FINDING_PROBLEM : FINDING_RULED_OUT,
			      is_problem ? SEVERITY_MEDIUM : SEVERITY_NONE);
	if (is_problem)
		finding_title(findings, finding,
			      "The ARC is too small for what is used: %s of %s misses%s were of "
			      "blocks it had "
			      "just evicted",
			      count_text(findings, ghosts.value),
			      count_text(findings, misses.value), within_text(findings, &misses));
	else
		finding_title(findings, finding,
			      "The ARC hardly misses what it evicted: %s of %s misses%s were of "
			      "such blocks",
			      count_text(findings, ghosts.value),
			      count_text(findings, misses.value), within_text(findings, &misses));
	finding_quantity(findings, finding, "ghost_hits", &ghosts);
	finding_quantity(findings, finding, "misses", &misses);
	finding_figure(findings, finding, "ghost_share_of_misses",
		       share_percent(ghosts.value, misses.value), UNIT_PERCENT,
		       "ghost hits of misses");
	finding_quantity(findings, finding, "arc_bytes", &size);
	finding_rule_is(findings, finding,
			"at least %d/s (as for refaults) and %d %% of misses (ours)",
			GHOSTS_PER_SECOND, SHARE);
	if (is_problem)
		finding_remedy(findings, finding,
			       "a larger zfs_arc_max, up to twice this ARC, would have had "
			       "them");
}

const struct finding_rule finding_arc_ghosts = {
	.id = "arc-ghosts",
	.summary = "blocks asked for again soon after the ARC evicted them",
	.of_system = true,
	.judge = judge,
};
