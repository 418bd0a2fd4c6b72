#include "cli/nearest.h"

#include <string.h>

enum { NAME_BYTES_MAX = 63 };

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many letters must be put in, taken out, changed or swapped with their neighbour (optimal
 * string alignment).
 */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][NAME_BYTES_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];
	size_t a_bytes = strlen(a), b_bytes = strlen(b);

	for (size_t j = 0; j <= b_bytes; j++)
		before[j] = last[j] = j;
	for (size_t i = 1; i <= a_bytes; i++) {
		size_t *free_row = before;

		now[0] = i;
		for (size_t j = 1; j <= b_bytes; j++) {
			size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);

			now[j] = smaller(change, smaller(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = smaller(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = free_row;
	}
	return last[b_bytes];
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	size_t wanted_bytes = strlen(nearest->wanted), found;

	if (wanted_bytes > NAME_BYTES_MAX || strlen(name) > NAME_BYTES_MAX)
		return;
	found = distance(nearest->wanted, name);
	/*
	 * A third of the letters wrong is still a slip; more is another word. The beginning of a
	 * name always is one.
	 */
	if (found > (wanted_bytes + 2) / 3 &&
	    (wanted_bytes < 3 || strncmp(nearest->wanted, name, wanted_bytes) != 0))
		return;
	if (nearest->best && nearest->best_distance <= found)
		return;
	nearest->best = name;
	nearest->best_distance = found;
}
