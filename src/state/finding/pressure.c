/*
 * pressure: what tasks wait for, memory, I/O or a processor
 *
 * Idea       "some": the share of time in which at least one task waited; "full": in which all that were not
 *            idle did. Waiting for a page that was evicted counts as memory; reading one for the first time
 *            as I/O alone.
 * Source     kernel/sched/psi.c; Documentation/accounting/psi.rst (Linux 4.20); a wait for a refault of an
 *            active page is memory's: mm/filemap.c, folio_wait_bit_common()
 * Constants  FULL and SOME, LITTLE in hundredths of a percent: rules of thumb. REFAULTS_PER_SECOND as in
 *            file_thrash.c
 * Differs    with a pair and its interval, the totals are compared; else the average over 10 s is taken
 */
#include "state/finding.h"

#include <string.h>

#include "base/size.h"

enum { FULL = 1000, SOME = 5000, LITTLE = 100, REFAULTS_PER_SECOND = 100 };

extern const struct finding_rule finding_pressure;

struct waiting {
	bool known, has_full;
	uint64_t some, full; /* hundredths of a percent */
	const struct entry *evidence[4];
	const char *how;
};

/* The share of the interval; false: the total went back, or nobody knows the interval. */
static bool share_of(const struct series *series, const char *name, uint64_t *hundredths)
{
	const struct entry *before = dump_entry(series->first, name);
	const struct entry *after = dump_entry(series->last, name);

	if (!before || !after || series->first == series->last || !series->has_interval ||
	    series->interval_ns == 0 || after->values[3] < before->values[3])
		return false;
	*hundredths = (uint64_t)((unsigned __int128)(after->values[3] - before->values[3]) *
				 NS_PER_US * 10000 / series->interval_ns);
	if (*hundredths > 10000)
		*hundredths = 10000;
	return true;
}

static struct waiting waiting_of(const struct view *view, const char *resource)
{
	const struct series *series =
		state_series(view->state, DUMP_PRESSURE, view->cgroup, resource);
	struct waiting waiting = {0};
	const struct entry *some, *full;

	if (!series)
		return waiting;
	some = dump_entry(series->last, "some");
	full = dump_entry(series->last, "full");
	if (!some)
		return waiting;
	waiting.known = true;
	waiting.has_full = full != NULL;
	waiting.some = some->values[0];
	waiting.full = full ? full->values[0] : 0;
	waiting.evidence[0] = some;
	waiting.evidence[1] = full;
	waiting.how = "avg10";
	if (share_of(series, "some", &waiting.some)) {
		waiting.how = "total: after - before, over the interval";
		waiting.evidence[2] = dump_entry(series->first, "some");
		waiting.evidence[3] = dump_entry(series->first, "full");
		(void)share_of(series, "full", &waiting.full);
	}
	return waiting;
}

static void figures(struct findings *findings, struct finding *finding, const char *resource,
		    const struct waiting *waiting)
{
	if (!waiting->known)
		return;
	finding_figure(findings, finding, state_text(findings->state, "%s_some", resource),
		       (double)waiting->some / 100, UNIT_PERCENT, "%s", waiting->how);
	if (waiting->has_full)
		finding_figure(findings, finding, state_text(findings->state, "%s_full", resource),
			       (double)waiting->full / 100, UNIT_PERCENT, "%s", waiting->how);
	for (size_t i = 0; i < 4; i++)
		finding_rests_on_entry(finding, waiting->evidence[i]);
}

static struct finding *add(struct findings *findings, const struct view *view,
			   enum finding_kind kind, enum finding_severity severity)
{
	struct finding *finding = finding_add(findings, &finding_pressure, view, kind, severity);

	finding_rule_is(
		findings, finding,
		"memory or I/O: all tasks waiting at least %d %% of the time; a processor: some at "
		"least %d %% (rules of thumb)",
		FULL / 100, SOME / 100);
	return finding;
}

/* Is it known that hardly any evicted file page comes back? Then it is not the cache that is waited for. */
static bool is_cache_innocent(const struct view *view)
{
	struct quantity refaults = quantity_change(view, QUANTITY_refaults_file);

	return refaults.known &&
	       (refaults.value == 0 ||
		(refaults.has_interval &&
		 !is_rate_at_least(refaults.value, refaults.interval_ns, REFAULTS_PER_SECOND)));
}

static void judge_memory(struct findings *findings, const struct view *view,
			 const struct waiting *memory)
{
	struct finding *finding;

	if (memory->full >= FULL) {
		bool is_innocent = is_cache_innocent(view);

		finding = add(findings, view, is_innocent ? FINDING_ELSEWHERE : FINDING_PROBLEM,
			      SEVERITY_HIGH);
		finding_title(findings, finding, "All tasks wait for memory %.1f %% of the time%s",
			      (double)memory->full / 100,
			      is_innocent ? ", and not for file pages that were evicted" : "");
		finding_text(findings, finding,
			     is_innocent ? "Reclaim and swapping are counted here: memory is short "
					   "for processes."
					 : "Reclaim, swapping in, and reading again what was "
					   "evicted are counted "
					   "here.");
	} else if (memory->some < LITTLE) {
		finding = add(findings, view, FINDING_RULED_OUT, SEVERITY_NONE);
		finding_title(findings, finding,
			      "Hardly anybody waits for memory: %.2f %% of the time",
			      (double)memory->some / 100);
	} else {
		finding = add(findings, view, FINDING_EXPLANATION, SEVERITY_NONE);
		finding_title(findings, finding,
			      "Some task waits for memory %.1f %% of the time, all of them %.1f %%",
			      (double)memory->some / 100, (double)memory->full / 100);
	}
	figures(findings, finding, "memory", memory);
}

static void judge(struct findings *findings, const struct view *view)
{
	struct waiting memory = waiting_of(view, "memory"), io = waiting_of(view, "io");
	struct waiting cpu = waiting_of(view, "cpu"), unknown = waiting_of(view, "");
	struct finding *finding;

	if (memory.known)
		judge_memory(findings, view, &memory);
	if (io.known && io.full >= FULL && memory.known && memory.full < FULL) {
		finding = add(findings, view, FINDING_ELSEWHERE, SEVERITY_MEDIUM);
		finding_title(
			findings, finding,
			"Tasks wait for I/O %.1f %% of the time, and not for memory (%.1f %%)",
			(double)io.full / 100, (double)memory.full / 100);
		finding_text(findings, finding,
			     "The device is slow or busy with what no cache spares: "
			     "first reads, writes, fsync().");
		figures(findings, finding, "io", &io);
		figures(findings, finding, "memory", &memory);
	}
	if (cpu.known && cpu.some >= SOME && (!memory.known || memory.some < FULL)) {
		finding = add(findings, view, FINDING_ELSEWHERE, SEVERITY_MEDIUM);
		finding_title(findings, finding, "Tasks wait for a processor %.1f %% of the time",
			      (double)cpu.some / 100);
		figures(findings, finding, "cpu", &cpu);
		figures(findings, finding, "memory", &memory);
	}
	if (unknown.known) {
		finding = add(findings, view, FINDING_CANNOT_TELL, SEVERITY_NONE);
		finding_title(findings, finding, "What these lines of pressure are about");
		figures(findings, finding, "pressure", &unknown);
		finding_remedy(findings, finding,
			       "the file's name above them: /proc/pressure/memory, io or "
			       "cpu");
	}
}

const struct finding_rule finding_pressure = {
	.id = "pressure",
	.summary = "what tasks wait for",
	.of_system = true,
	.of_cgroups = true,
	.judge = judge,
};
