#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { BEGINNING_BYTES_MIN = 3 };

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(char a, char b)
{
	return lower(a) == lower(b);
}

/*
 * How many letters must be put in, taken out, changed or swapped with their neighbour (optimal
 * string alignment).
 */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][NEAREST_BYTES_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];
	size_t a_bytes = strlen(a), b_bytes = strlen(b);

	for (size_t j = 0; j <= b_bytes; j++)
		before[j] = last[j] = j;
	for (size_t i = 1; i <= a_bytes; i++) {
		size_t *free_row = before;

		now[0] = i;
		for (size_t j = 1; j <= b_bytes; j++) {
			size_t change = last[j - 1] + !is_same(a[i - 1], b[j - 1]);

			now[j] = smaller(change, smaller(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) &&
			    is_same(a[i - 2], b[j - 1]))
				now[j] = smaller(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = free_row;
	}
	return last[b_bytes];
}

static bool is_beginning(const char *wanted, size_t bytes, const char *name)
{
	if (bytes < BEGINNING_BYTES_MIN || strlen(name) <= bytes)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		if (!is_same(wanted[i], name[i]))
			return false;
	}
	return true;
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	size_t wanted_bytes = strlen(nearest->wanted), found;

	if (wanted_bytes > NEAREST_BYTES_MAX || strlen(name) > NEAREST_BYTES_MAX)
		return;
	/*
	 * The beginning of a name is nearer than any slip, so that "linux" is linux-6.18 rather
	 * than another word of five letters. A third of the letters wrong is still a slip; more is
	 * another word.
	 */
	found = 2 * distance(nearest->wanted, name);
	if (is_beginning(nearest->wanted, wanted_bytes, name))
		found = 1;
	else if (found / 2 > (wanted_bytes + 2) / 3)
		return;
	if (nearest->best && nearest->best_distance <= found)
		return;
	nearest->best = name;
	nearest->best_distance = found;
}

const char *nearest_word(const char *word, const char *(*at)(const void *context, size_t index),
			 const void *context)
{
	struct nearest nearest = {.wanted = word};
	const char *name;

	for (size_t i = 0; (name = at(context, i)); i++)
		nearest_offer(&nearest, name);
	return nearest.best;
}
