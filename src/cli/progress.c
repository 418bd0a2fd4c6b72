#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/glyph.h"
#include "base/size.h"
#include "cli/command.h"

enum { BAR_COLUMNS = 25, BAR_COLUMNS_MIN = 5, PART_BYTES = 48, PARTS = 4 };

static const uint64_t first_ns = NS_PER_SECOND / 2;
static const uint64_t every_ns = NS_PER_SECOND / 10;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

void progress_begin(struct progress *progress, const char *what)
{
	const char *terminal = getenv("TERM");

	*progress = (struct progress){
		.what = what,
		/* A terminal that cannot go back in its line gets no bar. */
		.wanted = isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0),
		.colour = command_may_colour(stderr),
	};
	if (!progress->wanted)
		return;
	progress->start_ns = now();
	progress->next_ns = progress->start_ns + first_ns;
}

static size_t terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* A bar in eighths of a column. */
static void bar(uint64_t done, uint64_t total, unsigned int columns)
{
	unsigned int filled = (unsigned int)((unsigned __int128)done * columns * 8 / total);
	unsigned int column = 0;

	for (; column < filled / 8; column++)
		fputs(glyph(GLYPH_FULL), stderr);
	if (filled % 8) {
		fputs(glyph_eighths(filled % 8), stderr);
		column++;
	}
	fprintf(stderr, "%*s", (int)(columns - column), "");
}

/* "   18.4 M ops", "   12.1 M/s". */
static void millions(char part[PART_BYTES], double count, const char *unit)
{
	if (count >= 1e6)
		snprintf(part, PART_BYTES, "   %.1f M%s", count / 1e6, unit);
	else
		snprintf(part, PART_BYTES, "   %.0f k%s", count / 1e3, unit);
}

void progress_update(void *context, uint64_t done, uint64_t total, uint64_t ops,
		     uint64_t reread_bytes)
{
	struct progress *progress = context;
	uint64_t time_ns;
	double seconds;
	char size[SIZE_TEXT_BYTES], parts[PARTS][PART_BYTES] = {{0}};
	size_t columns = terminal_columns(), used, shown = 0;

	if (!progress->wanted)
		return;
	time_ns = now();
	if (time_ns < progress->next_ns)
		return;
	progress->next_ns = time_ns + every_ns;
	progress->drawn = true;
	seconds = (double)(time_ns - progress->start_ns) / 1e9;
	if (done > total)
		done = total;

	/* What it says, most important first: as much as fits the line, and then the bar. */
	millions(parts[0], (double)ops, " ops");
	millions(parts[1], (double)ops / seconds, "/s");
	/* What comes before (a database that is read once) says nothing of how fast it goes. */
	if (done && !progress->base_done) {
		progress->base_ns = time_ns;
		progress->base_done = done;
	}
	if (total && done > progress->base_done) {
		uint64_t left =
			(uint64_t)((double)(time_ns - progress->base_ns) / 1e9 *
				   (double)(total - done) / (double)(done - progress->base_done));

		snprintf(parts[2], PART_BYTES, "   %" PRIu64 ":%02u:%02u left", left / 3600,
			 (unsigned int)(left / 60 % 60), (unsigned int)(left % 60));
	}
	if (reread_bytes)
		snprintf(parts[3], PART_BYTES, "   again %s", size_format(size, reread_bytes));
	used = strlen(progress->what) + (total ? strlen("   100 %") + BAR_COLUMNS_MIN : 0) + 2;
	for (; shown < PARTS && used + strlen(parts[shown]) < columns; shown++)
		used += strlen(parts[shown]);

	fprintf(stderr, "\r%s  ", progress->what);
	if (total) {
		size_t spare = columns > used ? columns - used - 1 : 0;
		unsigned int width = BAR_COLUMNS_MIN;

		width += (unsigned int)(spare < BAR_COLUMNS - BAR_COLUMNS_MIN
						? spare
						: BAR_COLUMNS - BAR_COLUMNS_MIN);
		fputs(progress->colour ? "\033[36m" : "", stderr);
		bar(done, total, width);
		fputs(progress->colour ? "\033[0m" : "", stderr);
		fprintf(stderr, " %3u %%", (unsigned int)((unsigned __int128)done * 100 / total));
	}
	for (size_t i = 0; i < shown; i++)
		fputs(parts[i], stderr);
	fputs("\033[K", stderr);
	fflush(stderr);
}

void progress_reading(void *context, uint64_t done, uint64_t total)
{
	progress_update(context, done, total, 0, 0);
}

void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->wanted = progress->drawn = false;
}
