#include "report/figure.h"

#include "report/comparison.h"
#include "report/report_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What is larger does not fit in 64 bits. */
#define WHOLE_MAX 1.8e19

/* Of 0 or more, and far below what 64 bits hold: rounded to the nearest. */
static uint64_t whole(double number)
{
	return (uint64_t)(number + 0.5);
}

/* Counters are, as long as they are below 2^53. */
static bool is_whole(double number)
{
	return number >= 0 && number < 9007199254740992.0 && number == (double)(uint64_t)number;
}

const struct result_stream *result_stream_find(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->stream_count; i++) {
		if (strcmp(result->streams[i].name, name) == 0)
			return &result->streams[i];
	}
	return NULL;
}

/* Whether or not any result knows it. */
enum value_unit figure_unit(const struct comparison_row *row)
{
	if (row->value)
		return value_unit_of_name(row->value);
	return counter_unit(row->counter) == COUNTER_UNIT_BYTES ? VALUE_BYTES : VALUE_COUNT;
}

struct figure figure_value(const struct comparison_row *row, const struct result *result)
{
	struct figure value = {.known = true, .unit = figure_unit(row)};

	if (row->value) {
		value.known = result_value(result, row->value, &value.number, &value.unit);
		return value;
	}
	if (row->stream_count == 0) {
		value.number = (double)counter_get(&result->totals, row->counter);
		value.known = result_knows(result, row->counter);
		return value;
	}
	for (size_t i = 0; i < row->stream_count; i++) {
		const struct result_stream *stream = result_stream_find(result, row->streams[i]);

		if (!stream)
			continue; /* did nothing */
		if (!(stream->known >> row->counter & 1))
			value.known = false;
		value.number += (double)counter_get(
			row->whole_passes ? &stream->at_pass : &stream->counters, row->counter);
	}
	return value;
}

/* "27.3 GB": three digits, powers of ten. */
static const char *decimal_size(char text[FIGURE_TEXT_BYTES], uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	uint64_t one = 1, tenths;
	size_t unit = 0;

	if (bytes == 0)
		return strcpy(text, "0");
	for (; unit < 6 && bytes / one >= 1000; unit++)
		one *= 1000;
	tenths = (uint64_t)(((unsigned __int128)bytes * 10 + one / 2) / one);
	if (unit == 0)
		snprintf(text, FIGURE_TEXT_BYTES, "%" PRIu64 " B", bytes);
	else
		snprintf(text, FIGURE_TEXT_BYTES, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10,
			 tenths % 10, units[unit]);
	return text;
}

/* So many parts of `last` that `first` has one of, rounded to the nearest. */
static uint64_t parts(double last, double first, uint64_t scale)
{
	if (is_whole(last) && is_whole(first))
		return (uint64_t)(((unsigned __int128)last * scale + (uint64_t)first / 2) /
				  (uint64_t)first);
	return whole(last / first * (double)scale);
}

const char *figure_format(char text[FIGURE_TEXT_BYTES], const struct comparison_row *row,
			  struct figure value)
{
	uint64_t hundredths;

	if (!value.known)
		return strcpy(text, "?");
	if (row->per_bytes && value.number >= 0 &&
	    value.number / (double)row->per_bytes < WHOLE_MAX / 100) {
		hundredths = parts(value.number, (double)row->per_bytes, 100);
		snprintf(text, FIGURE_TEXT_BYTES, "%" PRIu64 ".%02" PRIu64, hundredths / 100,
			 hundredths % 100);
		return text;
	}
	if (value.unit == VALUE_BYTES && value.number >= 0 && value.number < WHOLE_MAX &&
	    (is_whole(value.number) || value.number >= 1000))
		return decimal_size(text, whole(value.number));
	if (value.unit == VALUE_BYTES) {
		number_format(text, value.number, VALUE_COUNT);
		return strcat(text, " B");
	}
	return number_format(text, value.number, value.unit);
}

/* "0.517"; "-" of nothing. */
const char *figure_ratio_format(char text[FIGURE_TEXT_BYTES], struct figure first,
				struct figure last)
{
	uint64_t thousandths;

	if (!first.known || !last.known || !(first.number > 0) || !(last.number >= 0) ||
	    last.number / first.number >= 1000000)
		return strcpy(text, "-");
	thousandths = parts(last.number, first.number, 1000);
	snprintf(text, FIGURE_TEXT_BYTES, "%" PRIu64 ".%03" PRIu64, thousandths / 1000,
		 thousandths % 1000);
	return text;
}

struct figure figure_published(const struct comparison_row *row, size_t i)
{
	return (struct figure){.number = row->published[i],
			       .known = row->published_known[i],
			       .unit = figure_unit(row)};
}

bool figure_is_published(const struct comparison_row *row, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (row->published_known[i])
			return true;
	}
	return false;
}

json_t *figure_json(struct figure value)
{
	if (!value.known || !isfinite(value.number))
		return json_null();
	return is_whole(value.number) ? json_integer((json_int_t)value.number)
				      : json_real(value.number);
}

json_t *figure_ratio_json(struct figure first, struct figure last)
{
	if (!first.known || !last.known || first.number == 0 ||
	    !isfinite(last.number / first.number))
		return json_null();
	return json_real(last.number / first.number);
}
