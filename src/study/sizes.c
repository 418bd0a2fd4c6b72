#include "study/sizes.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"

enum { PART_BYTES = 128 };

static bool value_parse(uint64_t *value, const char *text, enum sizes_unit unit, const char *option,
			struct error *error)
{
	bool done = unit == SIZES_BYTES ? size_parse(value, text, option, error)
					: number_parse(value, text, option, error);

	return done &&
	       (*value > 0 || error_input(error, "%s %s: expected more than 0", option, text));
}

static bool value_add(struct sizes *sizes, uint64_t value, const char *option, struct error *error)
{
	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->at[i] == value)
			return true;
	if (sizes->count == SIZES_MAX)
		return error_input(error, "%s: more than %d sizes", option, SIZES_MAX);
	sizes->at = memory_resize(sizes->at, sizes->count + 1, sizeof(*sizes->at));
	sizes->at[sizes->count++] = value;
	return true;
}

/* What follows ':' in a range. */
struct step {
	double factor; /* 0: `more` instead */
	uint64_t more;
};

static bool step_parse(struct step *step, const char *text, enum sizes_unit unit,
		       const char *option, struct error *error)
{
	*step = (struct step){.factor = 2};
	if (!text)
		return true;
	if (text[0] == '+') {
		step->factor = 0;
		return value_parse(&step->more, text + 1, unit, option, error);
	}
	if (text[0] != 'x')
		return error_input(
			error,
			"%s: \"%.60s\" leads from no size to the next: expected xFACTOR, as in "
			"1GiB..64GiB:x2, or +SIZE, as in 4GiB..8GiB:+1GiB",
			option, text);
	if (!decimal_parse(&step->factor, text + 1, option, error))
		return false;
	return (step->factor > 1 && step->factor <= 1e6) ||
	       error_input(error,
			   "%s: times %.60s leads nowhere: expected a factor above 1, to 1000000",
			   option, text + 1);
}

/* The next one: a whole number, in bytes of whole pages; 0: beyond all there are. */
static uint64_t step_from(const struct step *step, uint64_t value, enum sizes_unit unit)
{
	uint64_t next;
	double product;

	if (step->factor == 0)
		return value > UINT64_MAX - step->more ? 0 : value + step->more;
	product = (double)value * step->factor;
	if (product >= 0x1p63)
		return 0;
	next = (uint64_t)(product + 0.5);
	if (unit == SIZES_BYTES && step->factor != (double)(uint64_t)step->factor)
		next = (next + PAGE_BYTES / 2) & ~(PAGE_BYTES - 1);
	return next > value ? next : value + (unit == SIZES_BYTES ? PAGE_BYTES : 1);
}

static bool range_add(struct sizes *sizes, const char *first, const char *last, const char *how,
		      enum sizes_unit unit, const char *option, struct error *error)
{
	struct step step;
	uint64_t from, to;

	if (!value_parse(&from, first, unit, option, error) ||
	    !value_parse(&to, last, unit, option, error) ||
	    !step_parse(&step, how, unit, option, error))
		return false;
	if (from > to)
		return error_input(error,
				   "%s: %.40s is more than %.40s: the smaller one comes first",
				   option, first, last);
	for (uint64_t value = from; value && value <= to; value = step_from(&step, value, unit))
		if (!value_add(sizes, value, option, error))
			return false;
	return true;
}

static bool part_add(struct sizes *sizes, char *part, enum sizes_unit unit, const char *option,
		     struct error *error)
{
	char *dots = strstr(part, ".."), *colon = strchr(part, ':');
	uint64_t value;

	if (!dots) {
		if (colon)
			return error_input(error, "%s: \"%.60s\" has a step, and no range A..B",
					   option, part);
		return value_parse(&value, part, unit, option, error) &&
		       value_add(sizes, value, option, error);
	}
	*dots = '\0';
	if (colon)
		*colon = '\0';
	return range_add(sizes, part, dots + 2, colon ? colon + 1 : NULL, unit, option, error);
}

bool sizes_add(struct sizes *sizes, const char *text, enum sizes_unit unit, const char *option,
	       struct error *error)
{
	for (;;) {
		char part[PART_BYTES];
		size_t bytes = strcspn(text, ",");

		if (bytes == 0 || bytes >= sizeof(part))
			return error_input(
				error,
				"%s: expected sizes, as in 1GiB..64GiB:x2 or 1GiB,3GiB, but "
				"\"%.60s\" is given",
				option, text);
		memcpy(part, text, bytes);
		part[bytes] = '\0';
		if (!part_add(sizes, part, unit, option, error))
			return false;
		if (text[bytes] == '\0')
			return true;
		text += bytes + 1;
	}
}

bool sizes_parse(struct sizes *sizes, const char *text, enum sizes_unit unit, const char *option,
		 struct error *error)
{
	*sizes = (struct sizes){0};
	if (sizes_add(sizes, text, unit, option, error))
		return true;
	sizes_deinit(sizes);
	return false;
}

void sizes_deinit(struct sizes *sizes)
{
	memory_free(sizes->at);
	*sizes = (struct sizes){0};
}
