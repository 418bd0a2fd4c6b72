#include "cli/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>

#include "cli/command.h"
#include "report/top.h"

static SCREEN *opened;

/* Colours are a second signal: what they say stands there as well. */
enum { PAIR_ALARM = 1, PAIR_HEADING, PAIR_STRONG };

bool terminal_is_ascii(void)
{
	setlocale(LC_CTYPE, "");
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static void colours_begin(void)
{
	if (!command_may_colour(stdout) || !has_colors() || start_color() != OK)
		return;
	use_default_colors();
	init_pair(PAIR_ALARM, COLOR_RED, -1);
	init_pair(PAIR_HEADING, COLOR_BLACK, COLOR_CYAN);
	init_pair(PAIR_STRONG, COLOR_CYAN, -1);
}

bool terminal_open(struct error *error)
{
	const char *kind = getenv("TERM");

	terminal_is_ascii();
	opened = newterm(NULL, stdout, stdin);
	if (!opened)
		return error_failed(error,
				    "cannot draw on a terminal of the kind %.100s: --once prints "
				    "what would be there",
				    kind ? kind : "(TERM is not set)");
	colours_begin();
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, true);
	nodelay(stdscr, true);
	set_escdelay(50);
	return true;
}

void terminal_close(void)
{
	if (!opened)
		return;
	endwin();
	delscreen(opened);
	opened = NULL;
}

void terminal_size(size_t *rows, size_t *columns)
{
	int height, width;

	getmaxyx(stdscr, height, width);
	*rows = height > 0 ? (size_t)height : TOP_ROWS_MIN;
	*columns = width > 0 ? (size_t)width : TOP_COLUMNS_MIN;
}

static attr_t attributes_of(enum top_style style)
{
	const bool has_pairs = command_may_colour(stdout) && has_colors();

	switch (style) {
	case TOP_DIM:
		return A_DIM;
	case TOP_STRONG:
		return A_BOLD | (has_pairs ? (attr_t)COLOR_PAIR(PAIR_STRONG) : 0);
	case TOP_HEADING:
		return has_pairs ? (attr_t)COLOR_PAIR(PAIR_HEADING) : A_REVERSE;
	case TOP_ALARM:
		return A_BOLD | (has_pairs ? (attr_t)COLOR_PAIR(PAIR_ALARM) : A_REVERSE);
	case TOP_PLAIN:
		break;
	}
	return A_NORMAL;
}

void terminal_draw(const struct top_screen *screen)
{
	erase();
	for (size_t i = 0; i < screen->pieces.count; i++) {
		const struct top_piece *piece = &screen->pieces.at[i];

		attrset((int)attributes_of(piece->style));
		mvaddstr((int)piece->row, (int)piece->column, piece->text);
	}
	attrset(A_NORMAL);
	refresh();
}

void terminal_forget(void)
{
	clearok(curscr, true);
}

int terminal_wait(int timeout_ms)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	int key = getch(), ready;

	if (key == ERR) {
		ready = poll(&input, 1, timeout_ms);
		/* A size that changed comes as a signal, and is a key to ncurses. */
		if (ready == 0 || (ready < 0 && errno != EINTR))
			return TERMINAL_NOTHING;
		key = getch();
		if (key == ERR)
			return ready > 0 && input.revents & (POLLHUP | POLLERR | POLLNVAL)
				       ? TERMINAL_GONE
				       : TERMINAL_NOTHING;
	}
	return key == KEY_RESIZE ? TERMINAL_RESIZED : key;
}
