#include "report/sparkline.h"

#include "base/glyph.h"

/* The mean of the values that fall in one of `columns` (at most `count`) equal parts. */
static uint64_t sparkline_part(const uint64_t *values, size_t count, size_t part, size_t columns)
{
	size_t first = part * count / columns, end = (part + 1) * count / columns;
	uint64_t sum = 0;

	for (size_t i = first; i < end; i++)
		sum += values[i] / (end - first);
	return sum;
}

uint64_t sparkline_most(const uint64_t *values, size_t count, size_t columns)
{
	uint64_t most = 0;

	for (size_t i = 0; i < columns; i++) {
		uint64_t part = sparkline_part(values, count, i, columns);

		most = part > most ? part : most;
	}
	return most;
}

void sparkline_print(FILE *out, const uint64_t *values, size_t count, size_t columns,
		     uint64_t least, uint64_t most)
{
	uint64_t span = most > least ? most - least : 1;

	for (size_t i = 0; i < columns; i++) {
		uint64_t part = sparkline_part(values, count, i, columns);
		uint64_t above = part > least ? part - least : 0;

		/* The mean of a part, rounded down value by value, can fall below the least. */
		if (above > span)
			above = span;
		fputs(glyph_level((unsigned int)(((unsigned __int128)above * (GLYPH_LEVELS - 1) +
						  span / 2) /
						 span)),
		      out);
	}
}
