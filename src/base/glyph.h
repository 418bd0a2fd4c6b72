/*
 * glyph: the characters beyond ASCII that text for people is drawn with, and what stands for them where a terminal has none
 *
 * Set once, at the program's start; UTF-8 until then. What is read by programs (JSON, HTML) is always UTF-8.
 */
#ifndef REFAULT_BASE_GLYPH_H
#define REFAULT_BASE_GLYPH_H

#include <stdbool.h>

enum glyph {
	GLYPH_ELLIPSIS,   /* one column */
	GLYPH_PLUS_MINUS, /* one or two */
	GLYPH_ARROW,      /* one or two */
	GLYPH_MICRO,      /* one */
	GLYPH_FULL,       /* one: a bar's whole column */
	GLYPH_EMPTY,      /* one: beside it */
};

enum { GLYPH_LEVELS = 8, GLYPH_EIGHTHS = 8 };

void glyphs_use_ascii(bool is_ascii);
/* Does the environment (LC_ALL, LC_CTYPE, LANG) ask for a locale that is not UTF-8's? None at all is "C". */
bool glyphs_environment_is_ascii(void);

const char *glyph(enum glyph glyph);
/* 0 (least) .. GLYPH_LEVELS - 1: a column of a line of bars. */
const char *glyph_level(unsigned int level);
/* 1 .. GLYPH_EIGHTHS: the last column of a bar that lies. */
const char *glyph_eighths(unsigned int eighths);

#endif
