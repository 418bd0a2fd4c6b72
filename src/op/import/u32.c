/*
 * u32: a 32-bit number a request, little-endian, and nothing else
 *
 * Idea       how some keep a trace of keys (CloudPhysics' w traces in Caffeine's simulator): each is
 *            a read of a page of 4 KiB of the file "pages".
 * Differs    any file whose length is a multiple of 4 could be one: it is read only when named.
 */
#include <inttypes.h>

#include "base/size.h"
#include "op/import.h"

enum { KEY_BYTES = 4, BATCH_BYTES = 64 * 1024 };

struct u32 {
	uint32_t path;
};

static enum import_match u32_match(const unsigned char *head, size_t bytes, bool whole)
{
	(void)head;
	(void)bytes;
	(void)whole;
	return IMPORT_NO;
}

static bool u32_begin(struct import *import, struct error *error)
{
	struct u32 *state = import->state;

	(void)error;
	state->path = path_intern(import->source.paths, "pages", 5);
	return true;
}

static bool u32_next(struct import *import, struct op *ops, size_t count, size_t *got,
		     struct error *error)
{
	const struct u32 *state = import->state;
	struct input *input = import->input;

	*got = 0;
	while (*got < count) {
		uint64_t key = 0;

		if (input_visible(input) < KEY_BYTES && !input->last &&
		    !input_fill(input, BATCH_BYTES, error) && input_visible(input) < KEY_BYTES)
			return false;
		if (input_visible(input) == 0)
			return true;
		if (input_visible(input) < KEY_BYTES) {
			input->cut_off = true;
			return error_at(error, input->name, 0, 0,
					"cut off after %" PRIu64
					" keys: %zu of the next one's 4 bytes are there",
					import->rows, input_visible(input));
		}
		for (unsigned int i = 0; i < KEY_BYTES; i++)
			key |= (uint64_t)input->at[i] << (8 * i);
		input->at += KEY_BYTES;
		import->rows++;
		ops[*got] = (struct op){
			.offset = key << PAGE_SHIFT,
			.bytes = PAGE_BYTES,
			.path = state->path,
			.kind = OP_READ,
		};
		import_file_found(import, state->path, ops[*got].offset + PAGE_BYTES);
		++*got;
	}
	return true;
}

const struct import_format format_u32 = {
	.about = {.name = "u32", .summary = "32-bit page numbers, binary; only when named"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct u32),
	.match = u32_match,
	.begin = u32_begin,
	.next = u32_next,
};
