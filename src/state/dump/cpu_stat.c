/*
 * cpu_stat: what the processors did
 *
 *     cpu  10132153 290696 3084719 46828483 16683 0 25195 0 0 0
 *
 * Entries   "cpu": ticks of user, nice, system, idle, iowait, irq, softirq, steal
 * Source    fs/proc/stat.c, show_stat(); a tick is 10 ms on nearly all machines, and only shares
 *           are taken of it
 * Differs   1. single processors, interrupts and process counts are passed over
 */
#include "state/dump.h"

static const char *const files[] = {"proc/stat", NULL};

static const char *const others[] = {"intr",          "ctxt",          "btime",   "processes",
				     "procs_running", "procs_blocked", "softirq", "page",
				     "swap",          "disk_io:",      NULL};

static bool is_cpu(const struct row *row)
{
	uint64_t value;

	return word_starts(&row->fields[0], "cpu") && row->field_count >= 5 &&
	       word_number(&row->fields[1], &value);
}

static enum row_match stat_match(const struct row *row, const struct dump *open)
{
	uint64_t value;

	if (is_cpu(row))
		return ROW_YES;
	return open && word_is_among(&row->fields[0], others) && row->field_count > 1 &&
			       word_number(&row->fields[1], &value)
		       ? ROW_YES
		       : ROW_NO;
}

static bool stat_resembles(const struct row *row)
{
	return word_starts(&row->fields[0], "cpu");
}

static bool stat_read(struct state *state, struct dump *dump, const struct row *row,
		      struct error *error)
{
	uint64_t values[8] = {0};
	struct entry *entry;

	if (!word_is(&row->fields[0], "cpu"))
		return true;
	for (size_t i = 1; i < row->field_count && i <= 8; i++) {
		if (!word_number(&row->fields[i], &values[i - 1]))
			return dump_row_wrong(row, i, "a whole number of ticks", error);
	}
	entry = dump_add(state, dump, row, row->fields[0].at, row->fields[0].bytes);
	for (size_t i = 0; i < 8; i++)
		entry->values[i] = values[i];
	entry->value_count = 8;
	return true;
}

const struct dump_kind dump_kind_cpu_stat = {
	.id = DUMP_CPU_STAT,
	.name = "stat",
	.title = "/proc/stat",
	.files = files,
	.match = stat_match,
	.resembles = stat_resembles,
	.read = stat_read,
};
