/*
 * processor: the processors are busy, or idle while something is read
 *
 * Source     fs/proc/stat.c; iowait is idle time of a processor that has a task waiting for a block device
 * Constants  BUSY in percent of all time: rule of thumb
 */
#include "state/finding.h"

enum { BUSY = 90 };

extern const struct finding_rule finding_processor;

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL };

static void judge(struct findings *findings, const struct view *view)
{
	const struct series *series = state_series(view->state, DUMP_CPU_STAT, NULL, NULL);
	const struct entry *before, *after;
	uint64_t ticks[8], all = 0, busy;
	struct finding *finding;

	if (!series || series->first == series->last || series->order == SERIES_RESET)
		return;
	before = dump_entry(series->first, "cpu");
	after = dump_entry(series->last, "cpu");
	if (!before || !after)
		return;
	for (size_t i = 0; i < 8; i++) {
		/* iowait may go back by itself, says proc(5). */
		ticks[i] = after->values[i] > before->values[i]
				   ? after->values[i] - before->values[i]
				   : 0;
		all += ticks[i];
	}
	if (all == 0)
		return;
	busy = all - ticks[IDLE] - ticks[IOWAIT];
	finding = finding_add(findings, &finding_processor, view,
			      is_share_at_least(busy, all, BUSY) ? FINDING_ELSEWHERE
								 : FINDING_RULED_OUT,
			      is_share_at_least(busy, all, BUSY) ? SEVERITY_MEDIUM : SEVERITY_NONE);
	finding_title(
		findings, finding, "The processors are %s: %s of the time, and %s waiting for I/O",
		finding->kind == FINDING_ELSEWHERE ? "busy" : "not all busy",
		percent_text(findings, busy, all), percent_text(findings, ticks[IOWAIT], all));
	finding_figure(findings, finding, "busy_share", share_percent(busy, all), UNIT_PERCENT,
		       "all ticks but idle and iowait");
	finding_figure(findings, finding, "iowait_share", share_percent(ticks[IOWAIT], all),
		       UNIT_PERCENT, "iowait of all ticks");
	finding_figure(findings, finding, "system_share", share_percent(ticks[SYSTEM], all),
		       UNIT_PERCENT, "system of all ticks");
	finding_rests_on_entry(finding, before);
	finding_rests_on_entry(finding, after);
	finding_rule_is(findings, finding, "at least %d %% (rule of thumb)", BUSY);
}

const struct finding_rule finding_processor = {
	.id = "processor",
	.summary = "processors that are busy",
	.of_system = true,
	.judge = judge,
};
