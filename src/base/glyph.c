#include "base/glyph.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

static bool uses_ascii;

void glyphs_use_ascii(bool is_ascii)
{
	uses_ascii = is_ascii;
}

bool glyphs_environment_is_ascii(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		/* The first that is set, and not empty, counts: setlocale(3). */
		for (; value && *value; value++)
			if (strncasecmp(value, "utf-8", 5) == 0 ||
			    strncasecmp(value, "utf8", 4) == 0)
				return false;
		if (value && value != getenv(names[i]))
			return true;
	}
	return true;
}

const char *glyph(enum glyph glyph)
{
	static const char *const glyphs[][2] = {
		[GLYPH_ELLIPSIS] = {"…", "~"}, [GLYPH_PLUS_MINUS] = {"±", "+-"},
		[GLYPH_ARROW] = {"→", "->"},   [GLYPH_MICRO] = {"µ", "u"},
		[GLYPH_FULL] = {"█", "#"},     [GLYPH_EMPTY] = {"·", "."},
	};

	return glyphs[glyph][uses_ascii];
}

const char *glyph_level(unsigned int level)
{
	static const char *const levels[][2] = {{"▁", "_"}, {"▂", "."}, {"▃", "-"}, {"▄", "="},
						{"▅", "+"}, {"▆", "*"}, {"▇", "%"}, {"█", "#"}};

	assert(level < GLYPH_LEVELS);
	return levels[level][uses_ascii];
}

const char *glyph_eighths(unsigned int eighths)
{
	static const char *const parts[][2] = {{"▏", "."}, {"▎", "."}, {"▍", "-"}, {"▌", "-"},
					       {"▋", "="}, {"▊", "="}, {"▉", "#"}, {"█", "#"}};

	assert(eighths >= 1 && eighths <= GLYPH_EIGHTHS);
	return parts[eighths - 1][uses_ascii];
}
