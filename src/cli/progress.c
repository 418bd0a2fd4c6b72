#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "cli/command.h"

enum { BAR_COLUMNS = 25 };

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
	*progress = (struct progress){
		.what = what,
		.wanted = isatty(STDERR_FILENO),
		.colour = command_may_colour(stderr),
	};
	if (!progress->wanted)
		return;
	progress->start_ns = now();
	progress->next_ns = progress->start_ns + first_ns;
}

/* A bar in eighths of a column. */
static void bar(uint64_t done, uint64_t total)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	unsigned int filled = (unsigned int)((unsigned __int128)done * BAR_COLUMNS * 8 / total);
	unsigned int column = 0;

	for (; column < filled / 8; column++)
		fputs("█", stderr);
	if (filled % 8) {
		fputs(eighths[filled % 8], stderr);
		column++;
	}
	fprintf(stderr, "%*s", (int)(BAR_COLUMNS - column), "");
}

/* "18.4 M", of ops. */
static void millions(double count)
{
	if (count >= 1e6)
		fprintf(stderr, "%.1f M", count / 1e6);
	else
		fprintf(stderr, "%.0f k", count / 1e3);
}

void progress_update(void *context, uint64_t done, uint64_t total, uint64_t ops,
		     uint64_t reread_bytes)
{
	struct progress *progress = context;
	uint64_t time_ns;
	double seconds;
	char size[SIZE_TEXT_BYTES];

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

	fprintf(stderr, "\r%s  ", progress->what);
	if (total) {
		fputs(progress->colour ? "\033[36m" : "", stderr);
		bar(done, total);
		fputs(progress->colour ? "\033[0m" : "", stderr);
		fprintf(stderr, " %3u %%   ",
			(unsigned int)((unsigned __int128)done * 100 / total));
	}
	millions((double)ops);
	fputs(" ops   ", stderr);
	millions((double)ops / seconds);
	fputs("/s", stderr);
	if (total && done) {
		uint64_t left = (uint64_t)(seconds * (double)(total - done) / (double)done);

		fprintf(stderr, "   %" PRIu64 ":%02u:%02u left", left / 3600,
			(unsigned int)(left / 60 % 60), (unsigned int)(left % 60));
	}
	if (reread_bytes)
		fprintf(stderr, "   again %s", size_format(size, reread_bytes));
	fputs("\033[K", stderr);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->wanted = progress->drawn = false;
}
