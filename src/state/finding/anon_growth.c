/*
 * anon_growth: processes' memory grew between two dumps, and the cache made room for it
 *
 * Idea       A leak, or a job that needs memory: the file cache shrinks because of it. If what it gave up
 *            is not read again, nothing was lost.
 * Constants  GROWTH in percent of memory: ours; below it, it may be anything
 */
#include "state/finding.h"

#include "base/size.h"

enum { GROWTH = 2 };

extern const struct finding_rule finding_anon_growth;

static struct quantity memory_of(const struct view *view)
{
	struct quantity memory = quantity_memory(view);

	return memory.known ? memory : quantity_now(view, QUANTITY_usage);
}

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity before, after, cached_before, cached;
	struct quantity refaults = quantity_change(view, QUANTITY_refaults_file);
	struct quantity memory = memory_of(view);
	bool has_cached = quantity_pair(view, QUANTITY_cached, &cached_before, &cached);
	struct finding *finding;
	uint64_t growth;

	if (!quantity_pair(view, QUANTITY_anon, &before, &after) || !memory.known ||
	    after.value <= before.value)
		return;
	growth = after.value - before.value;
	if (!is_share_at_least(growth, memory.value, GROWTH))
		return;
	finding = finding_add(findings, &finding_anon_growth, view, FINDING_ELSEWHERE,
			      is_share_at_least(growth, memory.value, 5 * GROWTH) ? SEVERITY_MEDIUM
										  : SEVERITY_LOW);
	finding_title(findings, finding,
		      "Processes' own memory grew by %s, from %s to %s, between the two dumps",
		      bytes_text(findings, growth), bytes_text(findings, before.value),
		      bytes_text(findings, after.value));
	if (has_cached && cached.value < cached_before.value)
		finding_text(findings, finding,
			     "The page cache shrank by %s meanwhile: it makes room.",
			     bytes_text(findings, cached_before.value - cached.value));
	if (refaults.known && refaults.value == 0)
		finding_text(findings, finding, "What it gave up has not been read again.");
	finding_text(findings, finding,
		     "If that goes on it is a leak of a process, not of the cache.");
	finding_figure(findings, finding, "anon_growth_bytes", (double)growth, UNIT_BYTES,
		       "anonymous memory after - before");
	finding_quantity(findings, finding, "anon_bytes_before", &before);
	finding_quantity(findings, finding, "anon_bytes", &after);
	finding_rests_on(finding, &cached_before);
	finding_rests_on(finding, &cached);
	finding_rule_is(findings, finding, "at least %d %% of memory (ours)", GROWTH);
	finding_remedy(findings, finding,
		       "compare RssAnon in /proc/PID/status of the processes over "
		       "time");
}

const struct finding_rule finding_anon_growth = {
	.id = "anon-growth",
	.summary = "processes' memory that grew",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
