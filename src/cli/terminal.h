/*
 * terminal: a whole terminal to draw on, and its keys (ncurses)
 *
 * One at a time, from the thread that opened it. Signals that end the program must be handled before it
 * is opened (interrupt.h): then ncurses leaves them alone.
 */
#ifndef REFAULT_CLI_TERMINAL_H
#define REFAULT_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct top_screen;

/* Can this locale show no more than ASCII? Sets the locale's character type. */
bool terminal_is_ascii(void);

/* Take standard output's terminal. False: it cannot be drawn on. */
bool terminal_open(struct error *error);

/* Give it back as it was. */
void terminal_close(void);

void terminal_size(size_t *rows, size_t *columns);
void terminal_draw(const struct top_screen *screen);

/* Draw everything anew, next time. */
void terminal_forget(void);

enum { TERMINAL_NOTHING = -1, TERMINAL_RESIZED = -2, TERMINAL_GONE = -3 };

/* A key, or what else happened within the time. A signal ends it early. */
int terminal_wait(int timeout_ms);

#endif
