#include "state/diagnosis.h"

#include <string.h>

bool state_has_system(const struct state *state)
{
	for (size_t i = 0; i < state->series.count; i++) {
		if (!state->series.at[i].cgroup)
			return true;
	}
	return false;
}

/* ---- all rules ---- */

static void judge_all(struct findings *findings, const struct view *view)
{
	const struct finding_rule *rule;

	for (size_t i = 0; (rule = finding_rule_at(i)); i++) {
		if (view->cgroup ? rule->of_cgroups : rule->of_system)
			rule->judge(findings, view);
	}
}

/* Before the other? Same: as the rules said them. */
static bool is_before(const struct finding *a, const struct finding *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->severity > b->severity;
}

static void sort(struct findings *findings)
{
	for (size_t i = 1; i < findings->list.count; i++) {
		struct finding *finding = findings->list.at[i];
		size_t at = i;

		for (; at > 0 && is_before(finding, findings->list.at[at - 1]); at--)
			findings->list.at[at] = findings->list.at[at - 1];
		findings->list.at[at] = finding;
	}
}

/* ---- what is not shown ---- */

static void gap_add(struct diagnosis *diagnosis, const char *what, const char *needs)
{
	*array_push(&diagnosis->gaps) = (struct gap){what, needs};
}

static bool has(const struct state *state, enum dump_id id)
{
	for (size_t i = 0; i < state->series.count; i++) {
		if (state->series.at[i].id == id)
			return true;
	}
	return false;
}

/* A finding's own, once. */
static void gaps_of_findings(struct diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->findings.list.count; i++) {
		const struct finding *finding = diagnosis->findings.list.at[i];
		bool is_new = finding->kind == FINDING_CANNOT_TELL;

		for (size_t j = 0; is_new && j < diagnosis->gaps.count; j++)
			is_new = strcmp(diagnosis->gaps.at[j].what, finding->title) != 0;
		if (is_new)
			gap_add(diagnosis, finding->title, finding->remedy);
	}
}

static void gaps_find(struct diagnosis *diagnosis)
{
	const struct state *state = diagnosis->state;
	const struct view view = {.state = state};
	struct quantity read = quantity_now(&view, QUANTITY_read);
	bool has_system = state_has_system(state);

	gaps_of_findings(diagnosis);
	gap_add(diagnosis,
		"Which files are read again, which processes read them, and who pushed them out",
		"a recording: `refault record --all -o live.rft --duration 30s`, then `refault "
		"replay`");
	gap_add(diagnosis, "How much memory would be enough",
		"a recording, and `refault lint` or `refault replay` with several memory sizes");
	if (has_system)
		gap_add(diagnosis,
			"How often the page cache had what was asked for: the kernel counts no "
			"hits, and no "
			"touches of mapped pages that are there",
			"a recording");
	if (read.known)
		gap_add(diagnosis,
			"Reads from network file systems and through FUSE: pgpgin counts block "
			"devices "
			"alone",
			"/proc/self/mountstats, or a recording");
	if (state->cgroups.count)
		gap_add(diagnosis,
			"Who uses the pages that are charged here, and who is charged for those "
			"used here: a "
			"shared file is charged to whoever touched it first",
			"a recording of all who use it");
	if (has_system && !has(state, DUMP_LOSETUP))
		gap_add(diagnosis,
			"Whether something is cached twice: images on loop devices, or layers of "
			"FUSE",
			"`losetup`: DIO 0 is buffered");
	if (has_system && !has(state, DUMP_SLABINFO) && !has(state, DUMP_SLABTOP))
		gap_add(diagnosis, "Which kernel objects the slab is",
			"/proc/slabinfo (as root), or slabtop");
}

/* ---- the answer ---- */

static const struct finding *first_of(const struct findings *findings, enum finding_kind kind)
{
	for (size_t i = 0; i < findings->list.count; i++) {
		if (findings->list.at[i]->kind == kind)
			return findings->list.at[i];
	}
	return NULL;
}

/* What decides whether evicted pages matter: refaults, of pages or of blocks; else who waits. */
static const struct finding *exoneration(const struct findings *findings)
{
	static const char *const ids[] = {"file-thrash", "arc-ghosts", "pressure"};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		for (size_t j = 0; j < findings->list.count; j++) {
			const struct finding *finding = findings->list.at[j];

			if (finding->kind == FINDING_RULED_OUT && strcmp(finding->id, ids[i]) == 0)
				return finding;
		}
	}
	return NULL;
}

/* What looks like a problem, and is explained: it is what people ask about. */
static const struct finding *explanation(const struct findings *findings)
{
	static const char *const ids[] = {"working-set", "cgroup-limit", "cgroup-slab",
					  "free-memory"};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		for (size_t j = 0; j < findings->list.count; j++) {
			const struct finding *finding = findings->list.at[j];

			if (finding->kind == FINDING_EXPLANATION &&
			    strcmp(finding->id, ids[i]) == 0)
				return finding;
		}
	}
	return NULL;
}

static const char *whose(struct state *state, const struct finding *finding)
{
	return finding->cgroup && finding->cgroup[0] ? state_text(state, " (%s)", finding->cgroup)
						     : "";
}

static void answer(struct diagnosis *diagnosis)
{
	const struct finding *problem = first_of(&diagnosis->findings, FINDING_PROBLEM);
	const struct finding *elsewhere = first_of(&diagnosis->findings, FINDING_ELSEWHERE);
	const struct finding *innocent = exoneration(&diagnosis->findings);
	const struct finding *explained = explanation(&diagnosis->findings);
	struct state *state = diagnosis->state;

	if (problem && (!elsewhere || problem->severity >= elsewhere->severity)) {
		diagnosis->verdict = VERDICT_CACHING;
		diagnosis->summary =
			state_text(state, "%s%s", problem->title, whose(state, problem));
	} else if (elsewhere) {
		diagnosis->verdict = VERDICT_ELSEWHERE;
		diagnosis->summary = state_text(state, "This is not a caching problem. %s%s",
						elsewhere->title, whose(state, elsewhere));
	} else if (innocent) {
		diagnosis->verdict = VERDICT_NONE;
		diagnosis->summary =
			state_text(state, "This is not a caching problem. %s%s%s%s",
				   innocent->title, whose(state, innocent), explained ? ". " : "",
				   explained ? explained->title : "");
	} else if (explained) {
		diagnosis->verdict = VERDICT_UNKNOWN;
		diagnosis->summary = state_text(
			state,
			"%s%s. No problem is to be seen, but whether evicted pages are read "
			"again these dumps cannot show",
			explained->title, whose(state, explained));
	} else {
		diagnosis->verdict = VERDICT_UNKNOWN;
		diagnosis->summary =
			"No problem is to be seen, but whether evicted pages are read again "
			"these dumps cannot show";
	}
}

void diagnosis_make(struct diagnosis *diagnosis, struct state *state)
{
	*diagnosis = (struct diagnosis){.state = state, .findings.state = state};
	if (state_has_system(state)) {
		const struct view view = {.state = state};

		judge_all(&diagnosis->findings, &view);
	}
	for (size_t i = 0; i < state->cgroups.count; i++) {
		const struct view view = {.state = state, .cgroup = state->cgroups.at[i]};

		judge_all(&diagnosis->findings, &view);
	}
	sort(&diagnosis->findings);
	gaps_find(diagnosis);
	answer(diagnosis);
}

void diagnosis_deinit(struct diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->findings.list.count; i++) {
		array_deinit(&diagnosis->findings.list.at[i]->figures);
		array_deinit(&diagnosis->findings.list.at[i]->evidence);
	}
	array_deinit(&diagnosis->findings.list);
	array_deinit(&diagnosis->gaps);
}
