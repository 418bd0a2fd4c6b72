#include "base/radix.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static inline uint32_t digit_of(uint64_t value, uint32_t bit)
{
	return (uint32_t)(value >> bit) & (DIGITS - 1);
}

/* False: all have the same digit there, and nothing was copied. */
static bool pass(const uint64_t *from, uint64_t *to, size_t count, uint32_t bit)
{
	size_t next[DIGITS] = {0}, before = 0;

	for (size_t i = 0; i < count; i++)
		next[digit_of(from[i], bit)]++;
	if (next[digit_of(from[0], bit)] == count)
		return false;
	for (uint32_t digit = 0; digit < DIGITS; digit++) {
		size_t here = next[digit];

		next[digit] = before;
		before += here;
	}
	for (size_t i = 0; i < count; i++)
		to[next[digit_of(from[i], bit)]++] = from[i];
	return true;
}

void radix_sort(uint64_t *at, size_t count, uint32_t from_bit)
{
	uint64_t *spare, *from = at, *to;

	if (count < 2)
		return;
	spare = to = memory_alloc(count, sizeof(*spare));
	for (uint32_t bit = from_bit; bit < 64; bit += DIGIT_BITS) {
		uint64_t *sorted = to;

		if (!pass(from, to, count, bit))
			continue;
		to = from;
		from = sorted;
	}
	if (from != at)
		memcpy(at, from, count * sizeof(*at));
	memory_free(spare);
}
