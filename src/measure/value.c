#include "measure/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "measure/result.h"

#define PER_WORK "/work"

struct value {
	double number;
	enum value_unit unit;
};

/* How long `name` is without "/work". */
static size_t base_bytes(const char *name)
{
	size_t bytes = strlen(name), end = strlen(PER_WORK);

	return bytes > end && strcmp(name + bytes - end, PER_WORK) == 0 ? bytes - end : bytes;
}

enum value_unit value_unit_of_name(const char *name)
{
	static const struct {
		const char *end;
		enum value_unit unit;
	} units[] = {
		{"_bytes", VALUE_BYTES},           {"_ns", VALUE_NS},
		{"_per_second", VALUE_PER_SECOND}, {"_per_s", VALUE_PER_SECOND},
		{"tps", VALUE_PER_SECOND},         {".count", VALUE_COUNT},
	};
	size_t bytes = base_bytes(name);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t end = strlen(units[i].end);

		if (bytes >= end && strncmp(name + bytes - end, units[i].end, end) == 0)
			return units[i].unit;
	}
	return strncmp(name, "latency.", 8) == 0 ? VALUE_NS : VALUE_COUNT;
}

/* ---- the names that are there in every result ---- */

#define LATENCY(name)                                                                              \
	"latency." name ".mean", "latency." name ".deviation", "latency." name ".p50",             \
		"latency." name ".p90", "latency." name ".p95", "latency." name ".p99",            \
		"latency." name ".p99.9", "latency." name ".p99.99", "latency." name ".min",       \
		"latency." name ".max", "latency." name ".count",

/* What a series has, for each part of it. */
#define SERIES(part)                                                                               \
	part ".ops", part ".work", part ".read_bytes", part ".write_bytes", part ".flushes",       \
		part ".active_file_pages", part ".inactive_file_pages", part ".dirty_pages",       \
		part ".slab_bytes", part ".free_bytes", part ".arc_bytes", part ".free_run_bytes", \
		part ".allocation_ns", part ".group_waits",

static const char *const names[] = {
#define COUNTER(name, unit, meaning) #name,
#define LEVEL(name, unit, meaning)   #name,
#include "cache/counters.def"
#undef COUNTER
#undef LEVEL
	"elapsed_ns",
	"work",
	"work_per_second",
	"tps",
	"ops_per_second",
	"cpu.busy_ns",
	"cpu.count",
	"device.size_bytes",
	"device.reads",
	"device.writes",
	"device.flushes",
	"device.read_bytes",
	"device.write_bytes",
	"device.metadata_read_bytes",
	"device.metadata_write_bytes",
	"device.busy_ns",
	"mean.active_file_pages",
	"mean.inactive_file_pages",
	"mean.dirty_pages",
	"mean.slab_bytes",
	"mean.free_bytes",
	"mean.arc_bytes",
	"mean.free_run_bytes",
	SERIES("first") SERIES("middle") SERIES("last") SERIES("least") SERIES("most")
	/* the last is the workloads' own */
	LATENCY("transaction")
#define OP(name, NAME, takes, help) LATENCY(name)
#include "op/ops.def"
#undef OP
};

enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

#undef LATENCY
#undef SERIES

/* ---- the values ---- */

static bool counter_value(const struct result *result, const char *name, struct value *value)
{
	for (enum counter_id id = 0; id < COUNTER_COUNT; id++) {
		if (strcmp(counter_name(id), name) != 0)
			continue;
		*value = (struct value){
			.number = (double)counter_get(&result->totals, id),
			.unit = counter_unit(id) == COUNTER_UNIT_BYTES ? VALUE_BYTES : VALUE_COUNT,
		};
		return result->known >> id & 1;
	}
	return false;
}

static bool time_value(const struct result *result, const char *name, struct value *value)
{
	bool per_work = strcmp(name, "work_per_second") == 0 || strcmp(name, "tps") == 0;

	if (result->elapsed_ns == 0)
		return false;
	if (strcmp(name, "elapsed_ns") == 0)
		*value = (struct value){(double)result->elapsed_ns, VALUE_NS};
	else if (strcmp(name, "ops_per_second") == 0)
		*value = (struct value){result_ops_per_second(result), VALUE_PER_SECOND};
	else if (per_work && result->work)
		*value = (struct value){result_work_per_second(result), VALUE_PER_SECOND};
	else if (strcmp(name, "cpu.busy_ns") == 0 && result->cpu_count)
		*value = (struct value){(double)result->cpu_ns, VALUE_NS};
	else if (strcmp(name, "cpu.count") == 0 && result->cpu_count)
		*value = (struct value){(double)result->cpu_count, VALUE_COUNT};
	else
		return false;
	return true;
}

static bool device_value(const struct result *result, const char *name, struct value *value)
{
	if (!result->device.name || strncmp(name, "device.", 7) != 0)
		return false;
	name += 7;
	for (const struct result_field *field = result_device_fields; field->name; field++) {
		if (strcmp(field->name, name) != 0)
			continue;
		*value = (struct value){(double)result_field_get(&result->device, field),
					value_unit_of_name(name)};
		return true;
	}
	return false;
}

/* What is asked of a latency; false: there is no such thing. */
static bool statistic_value(const struct histogram *ns, const char *what, struct value *value)
{
	uint64_t number = 0;
	bool found = true;

	value->unit = VALUE_NS;
	if (strcmp(what, "mean") == 0) {
		number = histogram_mean(ns);
	} else if (strcmp(what, "deviation") == 0) {
		number = histogram_deviation(ns);
	} else if (strcmp(what, "min") == 0) {
		number = ns->least;
	} else if (strcmp(what, "max") == 0) {
		number = ns->most;
	} else if (strcmp(what, "count") == 0) {
		number = ns->count;
		value->unit = VALUE_COUNT;
	} else {
		const struct result_quantile *quantile = result_quantiles;

		while (quantile->name && strcmp(quantile->name, what) != 0)
			quantile++;
		found = quantile->name != NULL;
		if (found)
			number = histogram_quantile(ns, quantile->millionths);
	}
	value->number = (double)number;
	return found;
}

/* "latency.NAME.WHAT" taken apart; false: it is none. */
static bool latency_parse(const char *name, char latency[VALUE_NAME_BYTES], const char **what)
{
	const char *end;

	if (strncmp(name, "latency.", 8) != 0)
		return false;
	name += 8;
	end = strchr(name, '.');
	if (!end || end == name || (size_t)(end - name) >= VALUE_NAME_BYTES)
		return false;
	snprintf(latency, VALUE_NAME_BYTES, "%.*s", (int)(end - name), name);
	*what = end + 1;
	return true;
}

static bool latency_value(const struct result *result, const char *name, struct value *value)
{
	const struct result_latency *found;
	char latency[VALUE_NAME_BYTES];
	const char *what;

	if (!latency_parse(name, latency, &what))
		return false;
	found = result_latency_find(result, latency);
	return found && found->ns.count && statistic_value(&found->ns, what, value);
}

static bool figure_value(const struct result *result, const char *name, struct value *value)
{
	for (size_t i = 0; i < result->figure_count; i++) {
		if (strcmp(result->figures[i].name, name) == 0) {
			if (!isfinite(result->figures[i].value))
				return false;
			*value = (struct value){result->figures[i].value, value_unit_of_name(name)};
			return true;
		}
	}
	return false;
}

/* ---- of the series ---- */

enum { TWELFTHS = 12 };

/* Which part of the run: twelfths of it. */
static const struct part {
	const char *name;
	uint32_t first, end;
	bool takes_sums; /* and not only levels */
} parts[] = {
	{"mean.", 0, 12, false},
	{"first.", 0, 4, true},
	{"middle.", 4, 8, true},
	{"last.", 8, 12, true},
};

static const struct result_field *field_find(const char *name)
{
	const struct result_field *field = result_interval_fields;

	while (field->name && strcmp(field->name, name) != 0)
		field++;
	return field->name ? field : NULL;
}

/* The mean of a level; a second's worth of anything else. */
static double part_number(const struct result *result, const struct result_field *field,
			  uint32_t first_twelfth, uint32_t end_twelfth)
{
	size_t first = result->interval_count * first_twelfth / TWELFTHS,
	       end = result->interval_count * end_twelfth / TWELFTHS;
	double sum = 0;

	/* Of a short run several parts are the same interval. */
	if (end == first)
		end = first + 1;
	for (size_t i = first; i < end; i++) {
		uint64_t number = result_field_get(&result->intervals[i], field);

		/* The last interval may be shorter. */
		sum += field->is_level ? (double)number
				       : result_interval_per_second(result, i, number);
	}
	return sum / (double)(end - first);
}

static double extreme_number(const struct result *result, const struct result_field *field,
			     bool is_least)
{
	double extreme = part_number(result, field, 0, 1);

	for (uint32_t i = 1; i < TWELFTHS; i++) {
		double number = part_number(result, field, i, i + 1);

		if (is_least ? number < extreme : number > extreme)
			extreme = number;
	}
	return extreme;
}

/* "mean.LEVEL", "first.FIELD" and so on; "least.FIELD", "most.FIELD" of any twelfth. */
static bool series_value(const struct result *result, const char *name, struct value *value)
{
	const char *dot = strchr(name, '.');
	const struct result_field *field = dot ? field_find(dot + 1) : NULL;
	bool is_least = strncmp(name, "least.", 6) == 0;

	if (!field || result->interval_count == 0)
		return false;
	value->unit = value_unit_of_name(name);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strncmp(name, parts[i].name, strlen(parts[i].name)) != 0 ||
		    (!field->is_level && !parts[i].takes_sums))
			continue;
		value->number = part_number(result, field, parts[i].first, parts[i].end);
		return true;
	}
	if (!is_least && strncmp(name, "most.", 5) != 0)
		return false;
	value->number = extreme_number(result, field, is_least);
	return true;
}

static bool work_value(const struct result *result, const char *name, struct value *value)
{
	if (!result->work || strcmp(name, "work") != 0)
		return false;
	*value = (struct value){(double)result->work_count, VALUE_COUNT};
	return true;
}

/* "A:B": what A has for one of B. */
static bool ratio_value(const struct result *result, const char *name, const char *colon,
			double *value, enum value_unit *unit)
{
	char first[VALUE_NAME_BYTES];
	double divisor;

	if ((size_t)(colon - name) >= sizeof(first))
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)(colon - name), name);
	if (!result_value(result, first, value, unit) ||
	    !result_value(result, colon + 1, &divisor, unit) || divisor == 0)
		return false;
	*value /= divisor;
	*unit = VALUE_COUNT;
	return true;
}

bool result_value(const struct result *result, const char *name, double *value,
		  enum value_unit *unit)
{
	const char *colon = strchr(name, ':');
	size_t bytes = base_bytes(name);
	char base[VALUE_NAME_BYTES];
	struct value found;

	if (colon)
		return ratio_value(result, name, colon, value, unit);
	if (bytes >= sizeof(base))
		return false;
	snprintf(base, sizeof(base), "%.*s", (int)bytes, name);
	if (!counter_value(result, base, &found) && !time_value(result, base, &found) &&
	    !device_value(result, base, &found) && !latency_value(result, base, &found) &&
	    !series_value(result, base, &found) && !work_value(result, base, &found) &&
	    !figure_value(result, base, &found))
		return false;
	if (name[bytes]) {
		if (!result->work || result->work_count == 0)
			return false;
		found.number /= (double)result->work_count;
	}
	*value = found.number;
	*unit = found.unit;
	return true;
}

/* ---- names ---- */

const char *value_name_at(const struct result *result, size_t index)
{
	if (result && index < result->figure_count)
		return result->figures[index].name;
	index -= result ? result->figure_count : 0;
	return index < NAME_COUNT ? names[index] : NULL;
}

bool value_name_exists(const char *name)
{
	static const struct histogram nothing;
	const char *colon = strchr(name, ':');
	size_t bytes = base_bytes(name);
	char base[VALUE_NAME_BYTES], latency[VALUE_NAME_BYTES];
	const char *what;
	struct value value;

	if (colon && (size_t)(colon - name) < sizeof(base)) {
		snprintf(base, sizeof(base), "%.*s", (int)(colon - name), name);
		return value_name_exists(base) && value_name_exists(colon + 1);
	}
	if (bytes >= sizeof(base))
		return false;
	snprintf(base, sizeof(base), "%.*s", (int)bytes, name);
	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (strcmp(names[i], base) == 0)
			return true;
	}
	/* A workload gives its latencies what names it likes. */
	return latency_parse(base, latency, &what) && statistic_value(&nothing, what, &value);
}

static const char *name_at(const void *result, size_t index)
{
	return value_name_at(result, index);
}

const char *value_name_nearest(char text[VALUE_NAME_BYTES], const struct result *result,
			       const char *name)
{
	size_t bytes = base_bytes(name);
	const char *near;

	if (bytes >= VALUE_NAME_BYTES)
		return NULL;
	snprintf(text, VALUE_NAME_BYTES, "%.*s", (int)bytes, name);
	near = nearest_word(text, name_at, result);
	if (!near)
		return NULL;
	snprintf(text, VALUE_NAME_BYTES, "%s%s", near, name + bytes);
	return text;
}
