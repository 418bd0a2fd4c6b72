/*
 * noreuse: POSIX_FADV_NOREUSE before Linux 6.3 does nothing
 *
 * Source     mm/fadvise.c, generic_fadvise(): a case without a statement until 6.3; since then, use through
 *            mappings of the file does not count, and reads are as before
 */
#include "study/lint_tally.h"

struct noreuse {
	struct tallies tallies;
};

extern const struct lint lint_noreuse;

static void after(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct noreuse *noreuse = state;
	struct tally *tally;

	(void)run;
	if (moment->op->kind != OP_FADVISE_NOREUSE)
		return;
	tally = tally_get(&noreuse->tallies, moment->op->path, moment->stream, 0);
	if (tally->times++ == 0)
		tally->first = lint_where_of(moment);
}

static void end(struct lint_run *run, void *state)
{
	struct noreuse *noreuse = state;
	bool is_ignored = run->options->policy.switches.value[SWITCH_noreuse] == 0;

	tallies_merge(&noreuse->tallies);
	for (size_t i = 0; i < noreuse->tallies.list.count; i++) {
		const struct tally *tally = &noreuse->tallies.list.at[i];
		struct lint_finding *finding =
			lint_add(run, &lint_noreuse, tally->path, tally->stream);

		finding->times = tally->times;
		lint_title(run, finding,
			   is_ignored
				   ? "NOREUSE on %s does nothing: Linux before 6.3 ignores it"
				   : "NOREUSE on %s does nothing for read() and write(): only use "
				     "through mappings is not counted",
			   tally_files(run, tally));
		lint_figure(finding, "advices", (double)tally->times, LINT_COUNT);
		lint_remedy(run, finding,
			    "DONTNEED behind what has been read, or RWF_DONTCACHE (Linux 6.14)");
		lint_place(finding, tally->first, "the advice");
	}
	tallies_deinit(&noreuse->tallies);
}

const struct lint lint_noreuse = {
	.id = "noreuse",
	.summary = "NOREUSE, which does nothing for reads",
	.state_bytes = sizeof(struct noreuse),
	.after = after,
	.end = end,
};
