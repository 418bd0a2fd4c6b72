/*
 * svg: a small writer of pictures
 *
 * A picture is so many units wide and high and scales to what it is put into. Colours are classes, not values:
 * inside the report its style sheet says what they are (light, dark, printed), and a picture that stands alone
 * brings its own.
 *
 *     s0 .. s7   lines and areas of a series     h0 .. h8  fields of a heat map, from nothing to most
 *     axis grid mark                             lines
 *     label title number                         texts
 */
#ifndef REFAULT_REPORT_SVG_H
#define REFAULT_REPORT_SVG_H

#include <stdio.h>

enum { SVG_SERIES = 8, SVG_HEATS = 9 };

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* So many units wide and high. */
struct svg_picture {
	const char *id; /* tells it from others on the page */
	double width, height;
	const char *title, *description; /* for who cannot see it */
};

/*
 * Around what the functions below draw: on a page of HTML, or as a file of its own, for print, which has its title
 * above and brings the colours.
 */
void svg_begin(FILE *out, const struct svg_picture *picture);
void svg_begin_alone(FILE *out, const struct svg_picture *picture);
void svg_end(FILE *out);

void svg_line(FILE *out, const char *class, double x1, double y1, double x2, double y2);
/* `hint`: what a pointer over it shows; NULL: nothing. */
void svg_rect(FILE *out, const char *class, double x, double y, double width, double height,
	      const char *hint);
void svg_text(FILE *out, const char *class, double x, double y, enum svg_anchor anchor,
	      const char *text);

/* The same, going up to the right from there: for what is above narrow columns. */
void svg_text_turned(FILE *out, const char *class, double x, double y, const char *text);

/* A line through points: begin, each of them, end. */
void svg_path_begin(FILE *out, const char *class);
void svg_path_move(FILE *out, double x, double y); /* begins a piece of it */
void svg_path_line(FILE *out, double x, double y);
void svg_path_end(FILE *out);

#endif
