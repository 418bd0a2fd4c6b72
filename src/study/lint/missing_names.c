/*
 * missing_names: names that do not exist, looked up by the thousand
 *
 * Idea       Each new one leaves a negative dentry, which takes memory from inodes and file pages until it is
 *            reclaimed. Names made up anew each time (health checks, search paths) are never asked for again.
 * Source     fs/namei.c, lookup_open() and lookup_slow(); behaviour case C24: some 200 bytes each
 * Constants  NAMES: a thousand, a megabyte in five; ours
 */
#include "study/lint_tally.h"

#include <string.h>

#include "base/size.h"
#include "machine/model/filesystem.h"
#include "op/path.h"

enum { NAMES = 1000, FOLDER_BYTES_MAX = 60 };

struct missing {
	struct tallies tallies; /* by stream alone; counts[0]: different names */
	struct page_map seen;   /* (stream + 1, path): 1 */
	uint32_t first_path[STREAM_COUNT_MAX + 1];
};

extern const struct lint lint_missing_names;

static void after(struct lint_run *run, void *state, const struct model_moment *moment)
{
	struct missing *missing = state;
	struct tally *tally;

	(void)run;
	if (moment->op->kind != OP_STAT || moment->file)
		return;
	tally = tally_get(&missing->tallies, 0, moment->stream, 0);
	if (tally->times++ == 0) {
		tally->first = lint_where_of(moment);
		missing->first_path[moment->stream] = moment->op->path;
	}
	if (page_map_get(&missing->seen, moment->stream + 1, moment->op->path))
		return;
	page_map_set(&missing->seen, moment->stream + 1, moment->op->path, 1);
	tally->counts[0]++;
}

/* "etc/ssl/certs/" of the first. */
static const char *folder_of(struct lint_run *run, uint32_t path)
{
	const char *text = path_text(run->source->paths, path), *slash = strrchr(text, '/');

	if (!slash)
		return "the top folder";
	if (slash - text < FOLDER_BYTES_MAX)
		return lint_text_of(run, "%.*s/", (int)(slash - text), text);
	return lint_text_of(run, "...%.*s/", FOLDER_BYTES_MAX - 4, slash - (FOLDER_BYTES_MAX - 4));
}

static void end(struct lint_run *run, void *state)
{
	struct missing *missing = state;

	for (size_t i = 0; i < missing->tallies.list.count; i++) {
		const struct tally *tally = &missing->tallies.list.at[i];
		uint32_t path = missing->first_path[tally->stream];
		uint64_t bytes = tally->counts[0] * run->options->filesystem->core.dentry_bytes;
		struct lint_finding *finding;

		if (tally->counts[0] < NAMES)
			continue;
		finding = lint_add(run, &lint_missing_names, path, tally->stream);
		finding->times = tally->times;
		lint_title(run, finding,
			   "%s look-ups of %s names that do not exist, the first in %s",
			   lint_count(run, tally->times), lint_count(run, tally->counts[0]),
			   folder_of(run, path));
		lint_text(run, finding,
			  "Each name leaves a negative dentry: %s, as long as there is room, taken "
			  "from "
			  "inodes and file pages.",
			  lint_bytes(run, bytes));
		lint_figure(finding, "failed_lookups", (double)tally->times, LINT_COUNT);
		lint_figure(finding, "different_names", (double)tally->counts[0], LINT_COUNT);
		lint_figure(finding, "negative_dentry_bytes", (double)bytes, LINT_BYTES);
		lint_remedy(run, finding,
			    "look for fewer names, or for names that are there; a cgroup of its "
			    "own keeps the "
			    "cost to whoever does it");
		lint_place(finding, tally->first, "the first");
	}
	tallies_deinit(&missing->tallies);
	page_map_deinit(&missing->seen);
}

const struct lint lint_missing_names = {
	.id = "missing-names",
	.summary = "names that do not exist, looked up by the thousand",
	.state_bytes = sizeof(struct missing),
	.after = after,
	.end = end,
};
