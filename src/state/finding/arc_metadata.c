/*
 * arc_metadata: metadata over its limit, and pruning that frees nothing
 *
 * Idea       Over the limit for metadata, or for dnodes, ZFS asks the VFS to drop dentries and inodes (it
 *            prunes). If those are in use, nothing goes and it asks again and again: a processor is busy, and
 *            less data is cached, since data is evicted for it. A smaller ARC makes the limit smaller too.
 * Source     module/zfs/arc.c: arc_adjust_meta_balanced() (0.6.5 to 2.1; arc_meta_limit, 75 % of c_max since
 *            0.7) and arc_evict() since 2.2 (arc_dnode_limit, 10 % of c_max, alone); arc_prune counts
 * Constants  FALLING in percent: metadata that fell by less did not fall; ours
 */
#include "state/finding.h"

#include "base/size.h"

enum { FALLING = 5 };

extern const struct finding_rule finding_arc_metadata;

struct metadata {
	const char *what, *used_name, *limit_name, *remedy;
	struct quantity used, limit, before, prunes;
};

static void add(struct findings *findings, const struct view *view, const struct metadata *m,
		bool has_before)
{
	bool is_pruning = m->prunes.known && m->prunes.value > 0;
	/* Not fallen by a twentieth. */
	bool is_stuck =
		has_before && is_share_at_least(m->used.value, m->before.value, 100 - FALLING);
	bool is_pinned = is_pruning && is_stuck;
	struct finding *finding =
		finding_add(findings, &finding_arc_metadata, view, FINDING_PROBLEM,
			    is_pinned ? SEVERITY_HIGH : SEVERITY_MEDIUM);

	finding_title(
		findings, finding,
		is_pinned
			? "The ARC's %s are over their limit and held: %s of %s, and pruning frees "
			  "nothing"
			: "The ARC's %s are over their limit: %s of %s",
		m->what, bytes_text(findings, m->used.value), bytes_text(findings, m->limit.value));
	if (is_pinned)
		finding_text(
			findings, finding,
			"It was asked to prune %s times meanwhile, and they did not go down: open "
			"files, "
			"watches or NFS exports hold them. That is not too little memory; a lower "
			"zfs_arc_max makes it worse, since the limit goes with it.",
			count_text(findings, m->prunes.value));
	else
		finding_text(findings, finding,
			     "Inodes and dentries of the VFS hold them. When those are dropped "
			     "they go down%s.",
			     has_before ? "" : "; whether they do, a second dump shows");
	if (has_before && m->used.value < m->before.value)
		finding_text(findings, finding, "They fell from %s between the dumps.",
			     bytes_text(findings, m->before.value));
	finding_quantity(findings, finding, m->used_name, &m->used);
	finding_quantity(findings, finding, m->limit_name, &m->limit);
	finding_figure(findings, finding, "times_the_limit",
		       m->limit.value ? (double)m->used.value / (double)m->limit.value : 0,
		       UNIT_TIMES, "used over limit");
	if (has_before)
		finding_quantity(findings, finding,
				 state_text(findings->state, "%s_before", m->used_name),
				 &m->before);
	finding_quantity(findings, finding, "prunes", &m->prunes);
	finding_rule_is(findings, finding,
			"used over limit; held: prunes between two dumps, and used fallen by less "
			"than %d %% "
			"(ours)",
			FALLING);
	finding_remedy(findings, finding, "%s, or find who holds them", m->remedy);
}

static void judge(struct findings *findings, const struct view *view)
{
	struct metadata meta = {
		.what = "metadata",
		.used_name = "arc_metadata_bytes",
		.limit_name = "arc_metadata_limit_bytes",
		.remedy = "zfs_arc_meta_limit at or above what is used "
			  "(zfs_arc_meta_limit_percent=100 stops "
			  "it at once)",
		.used = quantity_now(view, QUANTITY_arc_meta),
		.limit = quantity_now(view, QUANTITY_arc_meta_limit),
		.prunes = quantity_change(view, QUANTITY_arc_prunes),
	};
	struct metadata dnodes = meta;
	bool has_before = quantity_pair(view, QUANTITY_arc_meta, &meta.before, &meta.used);

	if (!has_before)
		meta.used = quantity_now(view, QUANTITY_arc_meta);
	if (meta.used.known && meta.limit.known && meta.used.value > meta.limit.value)
		add(findings, view, &meta, has_before);
	dnodes.what = "dnodes";
	dnodes.used_name = "arc_dnode_bytes";
	dnodes.limit_name = "arc_dnode_limit_bytes";
	dnodes.remedy = "zfs_arc_dnode_limit at or above what is used";
	dnodes.limit = quantity_now(view, QUANTITY_arc_dnode_limit);
	has_before = quantity_pair(view, QUANTITY_arc_dnodes, &dnodes.before, &dnodes.used);
	if (!has_before)
		dnodes.used = quantity_now(view, QUANTITY_arc_dnodes);
	if (dnodes.used.known && dnodes.limit.known && dnodes.limit.value &&
	    dnodes.used.value > dnodes.limit.value)
		add(findings, view, &dnodes, has_before);
}

const struct finding_rule finding_arc_metadata = {
	.id = "arc-metadata",
	.summary = "metadata of the ARC over its limit, held by others",
	.of_system = true,
	.judge = judge,
};
