/*
 * strided: every Nth item, leaving out those between
 *
 * A pass ends behind the last item; with `count` it goes round.
 */
#include "source/generator.h"

#include "source/scenario.h"

struct strided_options {
	uint64_t stride;
};

static const struct schema_key strided_keys[] = {
	{.section = SCHEMA_STEP,
	 .name = "stride",
	 .type = SCHEMA_NUMBER,
	 .offset = offsetof(struct strided_options, stride),
	 .fallback = "2",
	 .low = 1,
	 .high = SCENARIO_COUNT_MAX,
	 .meaning = "take one request or file in so many"},
};

static uint64_t strided_pass_items(const void *options, uint64_t item_count)
{
	const struct strided_options *strided = options;

	return (item_count - 1) / strided->stride + 1;
}

static void strided_begin(struct walk *walk)
{
	walk->cursor = 0;
}

static uint64_t strided_next(struct walk *walk)
{
	const struct strided_options *strided = walk->options;
	uint64_t item = walk->cursor;

	walk->cursor += strided->stride;
	if (walk->cursor >= walk->item_count)
		walk->cursor = 0;
	return item;
}

extern const struct generator generator_strided;
const struct generator generator_strided = {
	.name = "strided",
	.summary = "one in `stride`, from the first to the last",
	.keys = strided_keys,
	.key_count = sizeof(strided_keys) / sizeof(strided_keys[0]),
	.options_bytes = sizeof(struct strided_options),
	.pass_items = strided_pass_items,
	.begin = strided_begin,
	.next = strided_next,
};
