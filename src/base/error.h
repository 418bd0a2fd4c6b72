/*
 * error: what went wrong, where, and what was expected instead
 *
 * The world failed (input, file, kernel): a function returns false and fills a `struct error`;
 * callers add context and never print. `cli` alone prints it. A function that takes a `struct error
 * *` never accepts NULL. All functions that fill an error return false, so that `return
 * error_set(...)` reads as what it does.
 */
#ifndef REFAULT_BASE_ERROR_H
#define REFAULT_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the excerpt, in characters: with the line's number before it, it fits 100 columns. */
enum { EXCERPT_COLUMNS_MAX = 86 };

enum error_kind {
	ERROR_NONE,
	ERROR_INPUT,  /* the arguments or the input are wrong: exit 2 */
	ERROR_FAILED, /* the run failed (system call, memory, device): exit 1 */
};

struct error {
	enum error_kind kind;
	uint64_t line;     /* 1-based; 0: no place in the input */
	uint64_t column;   /* 1-based, in bytes; 0: the whole line */
	uint64_t columns;  /* how many bytes are wrong, for the ^^^^ under them; 0: unknown */
	char file[256];    /* the input's name as the user gave it; "": none */
	char message[512]; /* one sentence without a full stop */
	char excerpt[352]; /* the line itself, cut to fit and made printable; "": none */
	uint64_t
		/* where in `excerpt` the ^^^^ begin, in characters from 1; 0: nowhere */
		excerpt_column;
	uint64_t excerpt_columns; /* how many ^ to draw; at least 1 if excerpt_column is set */
};

/* The input is wrong, at no particular place. Returns false. */
bool error_input(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The input is wrong at `line` and `column` (both 1-based, 0: unknown) of `file`. Returns false. */
bool error_at(struct error *error, const char *file, uint64_t line, uint64_t column,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The run failed. Returns false. */
bool error_failed(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A system call failed: appends ": " and strerror(errno). Returns false. */
bool error_system(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Put "format: " in front of the message already there; kind and place stay. Returns false. */
bool error_context(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Keep the wrong line itself (`bytes` long, need not end in NUL) for the reader to see. Uses
 * `column` and `columns`, so set them before: a long line is cut around the wrong bytes, with "..."
 * where something is left out, and excerpt_column(s) say where they are in what is left. Bytes that
 * a terminal would not show are kept as '?' (in messages and file names as well). Returns false.
 */
bool error_excerpt(struct error *error, const char *line, size_t bytes);

#endif
