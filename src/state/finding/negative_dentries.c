/*
 * negative_dentries: memory that remembers names that do not exist
 *
 * Idea       A look-up that fails leaves a dentry, so that the next one is cheap. Names that are made up anew
 *            each time (health checks, search paths) never are looked up again, and fill memory.
 * Source     fs/dcache.c, nr_dentry_negative (Linux 5.0): those on LRU lists; before, the field is always 0
 * Constants  SHARE in percent of all dentries, and MEMORY_SHARE, PROBLEM_SHARE of memory: ours. DENTRY_BYTES:
 *            192, what a dentry is on 64-bit kernels, when no slabinfo says it
 */
#include "state/finding.h"

#include "base/size.h"
#include "state/slab.h"

enum { SHARE = 50, MEMORY_SHARE = 1, PROBLEM_SHARE = 10, DENTRY_BYTES = 192 };

extern const struct finding_rule finding_negative_dentries;

static const struct entry *dentry_cache(const struct view *view)
{
	const struct dump *dump = slab_dump(view->state);

	return dump_entry(dump, "dentry") ? dump_entry(dump, "dentry")
					  : dump_entry(dump, "dentry_cache");
}

/* Does its kernel count them, so that 0 means none? Since 5.0; 5.9 brought refaults of anonymous pages. */
static bool has_counter(const struct view *view)
{
	const struct series *series = state_series(view->state, DUMP_VERSION, NULL, NULL);
	const struct entry *release = series ? dump_entry(series->last, "release") : NULL;

	if (release)
		return release->values[0] >= 5;
	return quantity_now(view, QUANTITY_refaults_anon).known;
}

static void cannot_tell(struct findings *findings, const struct view *view)
{
	struct finding *finding = finding_add(findings, &finding_negative_dentries, view,
					      FINDING_CANNOT_TELL, SEVERITY_NONE);

	finding_title(findings, finding, "How many of the dentries are of names that do not exist");
	finding_remedy(findings, finding,
		       "/proc/sys/fs/dentry-state of Linux 5.0 or later, whose fifth "
		       "number it is");
}

static void judge(struct findings *findings, const struct view *view)
{
	struct quantity negative = quantity_now(view, QUANTITY_dentries_negative);
	struct quantity all = quantity_now(view, QUANTITY_dentries);
	struct quantity memory = quantity_memory(view);
	const struct entry *cache = dentry_cache(view);
	uint64_t object =
		cache && cache->values[SLAB_PAGES] ? cache->values[SLAB_SIZE] : DENTRY_BYTES;
	uint64_t bytes;
	bool is_many, is_problem;
	struct finding *finding;

	if (!view_is_linux(view))
		return;
	if (!all.known || !negative.known || (negative.value == 0 && !has_counter(view))) {
		cannot_tell(findings, view);
		return;
	}
	if (__builtin_mul_overflow(negative.value, object, &bytes))
		return;
	is_many = is_share_at_least(negative.value, all.value, SHARE) &&
		  (!memory.known || is_share_at_least(bytes, memory.value, MEMORY_SHARE));
	is_problem =
		is_many && memory.known && is_share_at_least(bytes, memory.value, PROBLEM_SHARE);
	finding = finding_add(findings, &finding_negative_dentries, view,
			      is_problem ? FINDING_PROBLEM
			      : is_many  ? FINDING_EXPLANATION
					 : FINDING_RULED_OUT,
			      is_problem ? SEVERITY_MEDIUM : SEVERITY_NONE);
	finding_title(
		findings, finding, "%s of %s dentries (%s) are of names that do not exist: %s",
		count_text(findings, negative.value), count_text(findings, all.value),
		percent_text(findings, negative.value, all.value), bytes_text(findings, bytes));
	if (is_many)
		finding_text(findings, finding,
			     "Each failed look-up of a new name leaves one. They are reclaimed "
			     "like other "
			     "dentries, and until then take memory from inodes and file pages.");
	finding_quantity(findings, finding, "negative_dentries", &negative);
	finding_quantity(findings, finding, "dentries", &all);
	finding_figure(findings, finding, "negative_share",
		       share_percent(negative.value, all.value), UNIT_PERCENT, "%s of %s",
		       count_text(findings, negative.value), count_text(findings, all.value));
	finding_figure(findings, finding, "negative_bytes", (double)bytes, UNIT_BYTES,
		       "%s * %s bytes%s", count_text(findings, negative.value),
		       count_text(findings, object),
		       cache ? " an object" : ", a dentry of a 64-bit kernel");
	if (cache)
		finding_rests_on_entry(finding, cache);
	finding_rule_is(
		findings, finding,
		"many: at least %d %% of dentries and %d %% of memory; a problem: %d %% of memory "
		"(ours)",
		SHARE, MEMORY_SHARE, PROBLEM_SHARE);
	if (is_many)
		finding_remedy(
			findings, finding,
			"find who looks for them: `refault record --all` shows failed look-ups by "
			"process");
}

const struct finding_rule finding_negative_dentries = {
	.id = "negative-dentries",
	.summary = "names that do not exist, remembered",
	.of_system = true,
	.judge = judge,
};
