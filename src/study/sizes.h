/*
 * sizes: lists of sizes as people write them: "1GiB..64GiB:x2", "4GiB..8GiB:+512MiB", "1GiB,3GiB"
 */
#ifndef REFAULT_STUDY_SIZES_H
#define REFAULT_STUDY_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SIZES_MAX = 4096 };

struct sizes {
	uint64_t *at; /* as they were written, each once */
	size_t count;
};

enum sizes_unit { SIZES_BYTES, SIZES_NUMBER };

/*
 * Parts between commas; a part is a size, or A..B with what leads from one to the next: :xK times K (K with decimals), :+S plus S; x2 when not
 * said. It ends with the last that is not beyond B. Bytes between A and B are in whole pages of 4 KiB. `option` is for messages. False: ERROR_INPUT,
 * nothing to free. Else free with sizes_deinit().
 */
bool sizes_parse(struct sizes *sizes, const char *text, enum sizes_unit unit, const char *option,
		 struct error *error);

/* Such a list several times over is one. */
bool sizes_add(struct sizes *sizes, const char *text, enum sizes_unit unit, const char *option,
	       struct error *error);
void sizes_deinit(struct sizes *sizes);

#endif
