#include "op/op.h"

#include <assert.h>
#include <string.h>

struct kind_facts {
	const char *name;
	uint8_t bytes; /* of the name */
	uint8_t takes; /* enum op_takes */
};

static const struct kind_facts kinds[OP_KIND_COUNT] = {
#define OP(name, NAME, takes, help) [OP_##NAME] = {name, sizeof(name) - 1, takes},
#include "op/ops.def"
#undef OP
};

static_assert(sizeof(struct op) == 48, "batches of ops are copied about: keep them small");
static_assert(OP_KIND_COUNT <= UINT8_MAX, "a kind fits its field");

const char *op_kind_name(enum op_kind kind)
{
	assert(kind < OP_KIND_COUNT);
	return kinds[kind].name;
}

enum op_takes op_kind_takes(enum op_kind kind)
{
	assert(kind < OP_KIND_COUNT);
	return (enum op_takes)kinds[kind].takes;
}

bool op_kind_from_name(enum op_kind *kind, const char *text, size_t bytes)
{
	for (unsigned int i = 0; i < OP_KIND_COUNT; i++) {
		if (kinds[i].bytes == bytes && memcmp(kinds[i].name, text, bytes) == 0) {
			*kind = (enum op_kind)i;
			return true;
		}
	}
	return false;
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/*
 * How many letters to change, add, leave out or swap with a neighbour (optimal string alignment),
 * case aside.
 */
static unsigned int distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	enum { BYTES_MAX = 32 };
	unsigned int row[3][BYTES_MAX + 1];

	assert(a_bytes <= BYTES_MAX && b_bytes <= BYTES_MAX);
	for (size_t j = 0; j <= b_bytes; j++)
		row[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= a_bytes; i++) {
		unsigned int *now = row[i % 3], *before = row[(i + 2) % 3];
		unsigned int *earlier = row[(i + 1) % 3];

		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_bytes; j++) {
			unsigned int differ = lower(a[i - 1]) != lower(b[j - 1]);

			now[j] = min3(before[j] + 1, now[j - 1] + 1, before[j - 1] + differ);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) && earlier[j - 2] + 1 < now[j])
				now[j] = earlier[j - 2] + 1;
		}
	}
	return row[a_bytes % 3][b_bytes];
}

const char *op_kind_nearest(const char *text, size_t bytes)
{
	const char *nearest = NULL;
	unsigned int least;

	if (bytes == 0 || bytes > 24)
		return NULL;
	/* Further than about a third of the word away is not a typing mistake but another word. */
	least = (unsigned int)bytes / 3 + 2;
	for (unsigned int i = 0; i < OP_KIND_COUNT; i++) {
		unsigned int far = distance(text, bytes, kinds[i].name, kinds[i].bytes);

		if (far < least) {
			least = far;
			nearest = kinds[i].name;
		}
	}
	return nearest;
}
