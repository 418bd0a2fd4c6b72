#include "base/size.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/glyph.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{"B", 1},
	{"KiB", KIB},
	{"MiB", MIB},
	{"GiB", GIB},
	{"TiB", GIB *KIB},
	{"PiB", GIB *MIB},
	{"K", KIB},
	{"M", MIB},
	{"G", GIB},
	{"T", GIB *KIB},
	{"P", GIB *MIB},
	{"KB", UINT64_C(1000)},
	{"MB", UINT64_C(1000000)},
	{"GB", UINT64_C(1000000000)},
	{"TB", UINT64_C(1000000000000)},
	{"PB", UINT64_C(1000000000000000)},
	{NULL, 0},
};

static const struct unit time_units[] = {
	{"ns", 1},
	{"us", NS_PER_US},
	{"\xc2\xb5s", NS_PER_US}, /* the micro sign */
	{"ms", NS_PER_MS},
	{"s", NS_PER_SECOND},
	{"m", 60 * NS_PER_SECOND},
	{"min", 60 * NS_PER_SECOND},
	{"h", 3600 * NS_PER_SECOND},
	{"d", 24 * 3600 * NS_PER_SECOND},
	{NULL, 0},
};

/* How a kind of quantity is read and what its mistakes are called. */
struct quantity {
	const struct unit *units;
	uint64_t bare_factor;   /* of a number without a unit */
	const char *one;        /* "a size like 4096, ..." */
	const char *small_unit; /* "bytes" */
	const char *known;      /* units, for the message */
};

static const struct quantity size_quantity = {
	.units = size_units,
	.bare_factor = 1,
	.one = "a size (like 4096, 8KiB, 512MiB or 1.5GiB)",
	.small_unit = "bytes",
	.known = "B, KiB, MiB, GiB, TiB, PiB, KB, MB, GB, TB, PB",
};

static const struct quantity time_quantity = {
	.units = time_units,
	.bare_factor = NS_PER_SECOND,
	.one = "a time (like 10ms, 1.5s, 5min or 2h)",
	.small_unit = "nanoseconds",
	.known = "ns, us, ms, s, min, h, d",
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The whole digits at *text, in 64 bits; false: they do not fit. */
static bool digits_read(uint64_t *value, const char **text)
{
	*value = 0;
	for (; is_digit(**text); (*text)++) {
		if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
		    __builtin_add_overflow(*value, (uint64_t)(**text - '0'), value))
			return false;
	}
	return true;
}

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (const struct unit *unit = units; unit->name; unit++) {
		if (strcasecmp(unit->name, name) == 0)
			return unit;
	}
	return NULL;
}

static bool quantity_parse(uint64_t *value, const char *text, const char *what,
			   const struct quantity *quantity, struct error *error)
{
	/*
	 * Nine digits behind the point are enough for nanoseconds of a second; more are read and
	 * left.
	 */
	enum { FRACTION_DIGITS = 9 };
	const char *at = text;
	uint64_t whole, fraction = 0, scale = 1, factor = quantity->bare_factor;
	unsigned __int128 total;
	bool any;

	if (*at == '-')
		return error_input(error, "%s \"%.80s\" is negative", what, text);
	any = is_digit(*at);
	if (!digits_read(&whole, &at))
		return error_input(error, "%s \"%.80s\" is too large", what, text);
	if (*at == '.' && is_digit(at[1])) {
		any = true;
		for (at++; is_digit(*at); at++) {
			if (scale == UINT64_C(1000000000))
				continue;
			fraction = fraction * 10 + (uint64_t)(*at - '0');
			scale *= 10;
		}
		static_assert(FRACTION_DIGITS == 9, "scale ends at 10^9");
	}
	if (!any)
		return error_input(error, "%s \"%.80s\" is not %s", what, text, quantity->one);
	while (*at == ' ')
		at++;
	if (*at) {
		const struct unit *unit = unit_find(quantity->units, at);

		if (!unit &&
		    (is_digit(*at) || *at == '.' || *at == ',' || *at == '-' || *at == '+'))
			return error_input(error, "%s \"%.80s\" is not %s", what, text,
					   quantity->one);
		if (!unit)
			return error_input(error,
					   "%s \"%.80s\" has an unknown unit \"%.40s\" (known: %s)",
					   what, text, at, quantity->known);
		factor = unit->factor;
	}
	if (fraction && factor == 1)
		return error_input(error, "%s \"%.80s\" is not a whole number of %s", what, text,
				   quantity->small_unit);
	total = (unsigned __int128)whole * factor + (unsigned __int128)fraction * factor / scale;
	if (total > UINT64_MAX)
		return error_input(error, "%s \"%.80s\" is too large", what, text);
	*value = (uint64_t)total;
	return true;
}

bool size_parse(uint64_t *bytes, const char *text, const char *what, struct error *error)
{
	return quantity_parse(bytes, text, what, &size_quantity, error);
}

bool time_parse(uint64_t *ns, const char *text, const char *what, struct error *error)
{
	return quantity_parse(ns, text, what, &time_quantity, error);
}

bool number_parse(uint64_t *value, const char *text, const char *what, struct error *error)
{
	const char *at = text;
	uint64_t number;

	if (*at == '-' && is_digit(at[1]))
		return error_input(error, "%s \"%.80s\" is negative", what, text);
	if (!is_digit(*at))
		return error_input(error, "%s \"%.80s\" is not a whole number", what, text);
	if (!digits_read(&number, &at))
		return error_input(error, "%s \"%.80s\" is too large", what, text);
	if (*at)
		return error_input(error, "%s \"%.80s\" is not a whole number", what, text);
	*value = number;
	return true;
}

bool decimal_parse(double *value, const char *text, const char *what, struct error *error)
{
	/* Both parts of the quotient are whole and below 2^53: it is the nearest double. */
	const uint64_t most = UINT64_C(100000000000000);
	uint64_t number = 0, scale = 1;
	bool has_point = false;
	const char *at = text;
	struct error other;

	for (; number < most && scale < most; at++) {
		if (*at == '.' && !has_point && is_digit(at[1])) {
			has_point = true;
			continue;
		}
		if (!is_digit(*at))
			break;
		number = number * 10 + (uint64_t)(*at - '0');
		scale *= has_point ? 10 : 1;
	}
	if (!*at && has_point) {
		*value = (double)number / (double)scale;
		return true;
	}
	if (!size_parse(&number, text, what, error) && !time_parse(&number, text, what, &other))
		return false;
	*value = (double)number;
	return true;
}

const char *size_format(char text[SIZE_TEXT_BYTES], uint64_t bytes)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	uint64_t tenths;
	unsigned int shift = 0, unit = 0;

	if (bytes == 0)
		return strcpy(text, "0");
	while (unit < 6 && bytes >> shift >= 1024) {
		shift += 10;
		unit++;
	}
	for (;;) {
		uint64_t one = UINT64_C(1) << shift;

		/* Rounded to the nearest tenth; 64 bits overflow above 1.8 EiB times ten. */
		tenths = (uint64_t)(((unsigned __int128)bytes * 10 + one / 2) >> shift);
		if (tenths < 10240 || unit == 6)
			break;
		shift += 10;
		unit++;
	}
	if (tenths % 10 == 0)
		snprintf(text, SIZE_TEXT_BYTES, "%" PRIu64 " %s", tenths / 10, names[unit]);
	else
		snprintf(text, SIZE_TEXT_BYTES, "%" PRIu64 ".%u %s", tenths / 10,
			 (unsigned int)(tenths % 10), names[unit]);
	return text;
}

const char *count_format(char text[SIZE_TEXT_BYTES * 2], uint64_t count)
{
	char digits[SIZE_TEXT_BYTES];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
	size_t given = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[given++] = ',';
		text[given++] = digits[i];
	}
	text[given] = '\0';
	return text;
}

/* `ns` in `one` with so many decimals; false if rounding brings it to `below` or more. */
static bool time_try(char *text, uint64_t ns, uint64_t one, unsigned int decimals, uint64_t below,
		     const char *unit)
{
	uint64_t scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
	uint64_t scaled = (uint64_t)(((unsigned __int128)ns * scale + one / 2) / one);

	if (scaled >= below * scale)
		return false;
	if (decimals == 0)
		snprintf(text, SIZE_TEXT_BYTES, "%" PRIu64 " %s", scaled, unit);
	else
		snprintf(text, SIZE_TEXT_BYTES, "%" PRIu64 ".%0*u %s", scaled / scale,
			 (int)decimals, (unsigned int)(scaled % scale), unit);
	return true;
}

const char *time_format(char text[SIZE_TEXT_BYTES], uint64_t ns)
{
	const uint64_t minute = 60 * NS_PER_SECOND;
	char us[8];

	snprintf(us, sizeof(us), "%ss", glyph(GLYPH_MICRO));
	if (ns == 0)
		return strcpy(text, "0");
	if (time_try(text, ns, 1, 0, 1000, "ns") || time_try(text, ns, NS_PER_US, 1, 100, us) ||
	    time_try(text, ns, NS_PER_US, 0, 1000, us) ||
	    time_try(text, ns, NS_PER_MS, 2, 10, "ms") ||
	    time_try(text, ns, NS_PER_MS, 1, 100, "ms") ||
	    time_try(text, ns, NS_PER_MS, 0, 1000, "ms") ||
	    time_try(text, ns, NS_PER_SECOND, 2, 10, "s") ||
	    time_try(text, ns, NS_PER_SECOND, 1, 100, "s") ||
	    time_try(text, ns, NS_PER_SECOND, 0, 600, "s") ||
	    time_try(text, ns, minute, 1, 120, "min"))
		return text;
	time_try(text, ns, 60 * minute, 1, UINT64_MAX / 10, "h");
	return text;
}
