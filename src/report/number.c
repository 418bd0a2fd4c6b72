#include "report/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

static_assert((int)NUMBER_TEXT_BYTES >= 2 * (int)SIZE_TEXT_BYTES, "a count fits");

/* Where whole numbers end that 64 bits hold. */
#define WHOLE_MAX 1.8e19

/* Of 0 or more: whole numbers as they are, else three digits that say something. */
static void count_write(char text[NUMBER_TEXT_BYTES], double value, bool is_rate)
{
	if (value >= WHOLE_MAX)
		snprintf(text, NUMBER_TEXT_BYTES, "%.3g", value);
	else if (value >= 999.95 || value == (double)(uint64_t)value)
		count_format(text, (uint64_t)(value + 0.5));
	else if (value < 0.0005)
		strcpy(text, "<0.001");
	else if (value < 9.9995)
		snprintf(text, NUMBER_TEXT_BYTES, "%.*f", is_rate ? 2 : 3, value);
	else
		snprintf(text, NUMBER_TEXT_BYTES, "%.*f", value < 99.95 ? 1 + !is_rate : 1, value);
}

const char *number_format(char text[NUMBER_TEXT_BYTES], double value, enum value_unit unit)
{
	char *at = text;

	if (!isfinite(value))
		return strcpy(text, "?");
	if (value < 0) {
		/* The unsigned rest leaves room for it. */
		number_format(text, -value, unit);
		memmove(text + 1, text, strlen(text) + 1);
		text[0] = '-';
		return text;
	}
	if (value < WHOLE_MAX && unit == VALUE_NS)
		return time_format(text, (uint64_t)(value + 0.5));
	if (value < WHOLE_MAX && unit == VALUE_BYTES)
		return size_format(text, (uint64_t)(value + 0.5));
	count_write(text, value, unit == VALUE_PER_SECOND);
	at += strlen(text);
	if (unit == VALUE_PER_SECOND)
		strcpy(at, " /s");
	return text;
}
