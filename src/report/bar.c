#include "report/bar.h"

#include <assert.h>
#include <string.h>

#include "base/glyph.h"

const char *bar_format(char text[BAR_TEXT_BYTES], uint64_t value, uint64_t most,
		       unsigned int columns)
{
	char *end = text;
	uint64_t eighths;

	assert(columns <= BAR_COLUMNS_MAX && value <= most);
	eighths =
		most ? (uint64_t)(((unsigned __int128)value * columns * GLYPH_EIGHTHS + most / 2) /
				  most)
		     : 0;
	if (value && !eighths)
		eighths = 1;
	for (; eighths >= GLYPH_EIGHTHS; eighths -= GLYPH_EIGHTHS)
		end = stpcpy(end, glyph(GLYPH_FULL));
	if (eighths)
		end = stpcpy(end, glyph_eighths((unsigned int)eighths));
	*end = '\0';
	return text;
}
