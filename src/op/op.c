#include "op/op.h"

#include <assert.h>
#include <string.h>

#include "base/nearest.h"

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

static const char *kind_name_at(const void *context, size_t index)
{
	(void)context;
	return index < OP_KIND_COUNT ? kinds[index].name : NULL;
}

const char *op_kind_nearest(const char *text, size_t bytes)
{
	char word[NEAREST_BYTES_MAX + 1];

	if (bytes > NEAREST_BYTES_MAX || memchr(text, '\0', bytes))
		return NULL;
	memcpy(word, text, bytes);
	word[bytes] = '\0';
	return nearest_word(word, kind_name_at, NULL);
}
