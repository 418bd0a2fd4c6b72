/*
 * pressure: how much of the time tasks waited for a resource
 *
 *     some avg10=0.00 avg60=1.25 avg300=0.40 total=16044935
 *
 * Entries   some and full: the three averages in hundredths of a percent, then the total in us
 * Source    Documentation/accounting/psi.rst, Linux 4.20; the cpu's "full" since 5.13
 * Differs   whose pressure it is stands in the file's name alone: without one it is ""
 */
#include "state/dump.h"

#include <string.h>

static const char *const files[] = {"pressure/memory", "memory.pressure", "pressure/io",
				    "io.pressure",     "pressure/cpu",    "cpu.pressure",
				    "pressure/irq",    "irq.pressure",    NULL};

/* "avg10=": the number behind it. */
static bool after(const struct field *field, const char *key, struct field *value)
{
	if (!word_starts(field, key))
		return false;
	*value = (struct field){field->at + strlen(key), field->bytes - strlen(key)};
	return true;
}

static bool pressure_resembles(const struct row *row)
{
	struct field value;

	return (word_is(&row->fields[0], "some") || word_is(&row->fields[0], "full")) &&
	       row->field_count > 1 && after(&row->fields[1], "avg10=", &value);
}

static enum row_match pressure_match(const struct row *row, const struct dump *open)
{
	(void)open;
	return pressure_resembles(row) && row->field_count == 5 ? ROW_YES : ROW_NO;
}

static bool pressure_read(struct state *state, struct dump *dump, const struct row *row,
			  struct error *error)
{
	static const char *const keys[] = {"avg10=", "avg60=", "avg300=", "total="};
	uint64_t values[4];
	struct entry *entry;

	for (size_t i = 0; i < 4; i++) {
		struct field value;

		if (!after(&row->fields[i + 1], keys[i], &value))
			return dump_row_wrong(row, i + 1, keys[i], error);
		if (!(i < 3 ? word_hundredths(&value, &values[i])
			    : word_number(&value, &values[i])))
			return dump_row_wrong(row, i + 1, i < 3 ? "a percentage" : "microseconds",
					      error);
	}
	entry = dump_add(state, dump, row, row->fields[0].at, row->fields[0].bytes);
	memcpy(entry->values, values, sizeof(values));
	entry->value_count = 4;
	return true;
}

static const char *pressure_which(const char *called)
{
	static const char *const resources[] = {"memory", "io", "cpu", "irq"};

	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		if (strstr(called, resources[i]))
			return resources[i];
	}
	return "";
}

const struct dump_kind dump_kind_pressure = {
	.id = DUMP_PRESSURE,
	.name = "pressure",
	.title = "/proc/pressure",
	.files = files,
	.match = pressure_match,
	.resembles = pressure_resembles,
	.read = pressure_read,
	.which = pressure_which,
};
