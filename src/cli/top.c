/*
 * refault top: what the page cache of this machine, of a file system or of a cgroup does, live
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/glyph.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "record/sampler.h"
#include "report/report.h"
#include "report/table.h"
#include "report/top.h"

enum { HISTORY_MAX = TOP_COLUMNS_MAX, FILES_DEFAULT = 20, FILES_MAX = 10000 };
static const uint64_t interval_least = 100 * NS_PER_MS;
static const uint64_t interval_most = 24 * 3600 * NS_PER_SECOND;

struct top_arguments {
	struct text_list files;
	const char *cgroup, *mount, *interval, *sort;
	struct given count, rows;
	bool once, json;
};

#define FIELD(name) offsetof(struct top_arguments, name)

static const struct option options[] = {
	{"cgroup", 0, "PATH",
	 "a memory cgroup, of version 1 or 2, with those below it: a path below /sys/fs/cgroup",
	 OPTION_TEXT, FIELD(cgroup), COMPLETE_FILE},
	{"mount", 0, "PATH", "the files of the file system that PATH is on", OPTION_TEXT,
	 FIELD(mount), COMPLETE_FILE},
	{"interval", 0, "TIME", "how often to look; 1s if not given", OPTION_TEXT, FIELD(interval),
	 COMPLETE_NONE},
	{"count", 0, "N", "end after so many looks", OPTION_NUMBER, FIELD(count), COMPLETE_NONE},
	{"once", 0, NULL, "look for one interval, print the whole screen, and end", OPTION_FLAG,
	 FIELD(once), COMPLETE_NONE},
	{"sort", 0, "resident|refaults|misses|accesses|evicted",
	 "which files come first; resident if not given", OPTION_TEXT, FIELD(sort), COMPLETE_WORDS},
	{"files", 0, "N", "with --once or --json: at most so many files; 20 if not given",
	 OPTION_NUMBER, FIELD(rows), COMPLETE_NONE},
	{"json", 0, NULL, "print JSON: with --once an object, else one a line", OPTION_FLAG,
	 FIELD(json), COMPLETE_NONE},
	{0},
};

/* What is going on. */
struct top {
	const struct top_arguments *arguments;
	struct sampler *sampler;
	uint64_t interval_ns;
	size_t rows; /* of files, where there is no screen */
	enum top_sort sort;
	struct top_sample before, after;
	struct top_view view;
	bool has_view, is_paused, is_help, is_ascii;
	uint64_t looks;
	uint32_t history[HISTORY_MAX];
	size_t history_count;
	char system[160];
	const volatile int *interrupted;
};

/* ---- arguments ---- */

static bool sort_find(enum top_sort *sort, const char *name, struct error *error)
{
	for (int i = 0; i < TOP_SORTS; i++) {
		*sort = (enum top_sort)i;
		if (strcmp(top_sort_name(*sort), name) == 0)
			return true;
	}
	return error_input(error,
			   "--sort %.40s: expected resident, refaults, misses, accesses or evicted",
			   name);
}

static bool arguments_check(struct top *top, bool is_screen, struct error *error)
{
	const struct top_arguments *arguments = top->arguments;

	top->interval_ns = NS_PER_SECOND;
	if (arguments->interval &&
	    !time_parse(&top->interval_ns, arguments->interval, "--interval", error))
		return false;
	if (top->interval_ns < interval_least || top->interval_ns > interval_most)
		return error_input(error, "--interval %.40s: expected from 100ms to 1d",
				   arguments->interval);
	if (arguments->cgroup && arguments->mount)
		return error_input(error, "--cgroup and --mount: only one of them");
	if (arguments->count.given && arguments->once)
		return error_input(error, "--count with --once, which is a count of 1");
	if (arguments->count.given && !arguments->count.value)
		return error_input(error, "--count 0: expected at least 1");
	if (arguments->sort && !sort_find(&top->sort, arguments->sort, error))
		return false;
	top->rows = arguments->rows.given ? arguments->rows.value : FILES_DEFAULT;
	if (top->rows > FILES_MAX)
		return error_input(error, "--files: at most %d", FILES_MAX);
	if (arguments->rows.given && is_screen)
		return error_input(error, "--files is for --once and --json: here as many are "
					  "shown as fit the terminal");
	if ((arguments->rows.given || arguments->sort || arguments->files.count) && !is_screen &&
	    !arguments->json && !arguments->once)
		return error_input(error,
				   "a line has no files in it: --sort, --files and FILEs are for "
				   "a terminal, for --once and for --json");
	return true;
}

/* ---- looking ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void view_make(struct top *top, size_t rows)
{
	top_view_deinit(&top->view);
	top_view_make(&top->view, &top->before, &top->after, top->sort);
	sampler_measure(top->sampler, &top->view, rows, top->interval_ns / 10);
	top->has_view = true;
}

static void history_add(struct top *top)
{
	struct top_amount ppm = top_ppm(&top->view.hits, top->view.counts.accesses);

	if (top->history_count == HISTORY_MAX) {
		memmove(top->history, top->history + 1, sizeof(top->history) - sizeof(uint32_t));
		top->history_count--;
	}
	top->history[top->history_count++] = ppm.known ? (uint32_t)ppm.value : TOP_NO_RATIO;
}

static bool look(struct top *top, size_t rows, struct error *error)
{
	top_sample_deinit(&top->before);
	top->before = top->after;
	top->after = (struct top_sample){0};
	if (!sampler_take(top->sampler, &top->after, error))
		return false;
	view_make(top, rows);
	history_add(top);
	top->looks++;
	return true;
}

static bool is_done(const struct top *top)
{
	const struct top_arguments *arguments = top->arguments;

	return *top->interrupted || (arguments->once && top->looks) ||
	       (arguments->count.given && top->looks >= arguments->count.value);
}

static struct top_shown shown_make(const struct top *top, const char *time_text)
{
	return (struct top_shown){
		.view = top->has_view ? &top->view : NULL,
		.target = sampler_target(top->sampler),
		.note = sampler_note(top->sampler),
		.system = top->system,
		.time = time_text,
		.every_ns = top->interval_ns,
		.sort = top->sort,
		.is_paused = top->is_paused,
		.is_help = top->is_help,
		.is_ascii = top->is_ascii,
		.history = top->history,
		.history_count = top->history_count,
	};
}

enum { TIME_BYTES = 40 };

static const char *time_now(char text[TIME_BYTES], bool is_json)
{
	time_t now = time(NULL);
	struct tm parts;

	if (is_json)
		strftime(text, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
	else
		strftime(text, TIME_BYTES, "%H:%M:%S", localtime_r(&now, &parts));
	return text;
}

/* ---- on a terminal ---- */

static void draw(const struct top *top)
{
	char time_text[TIME_BYTES];
	struct top_shown shown = shown_make(top, time_now(time_text, false));
	struct top_screen screen;
	size_t rows, columns;

	shown.has_keys = true;
	terminal_size(&rows, &columns);
	top_screen_draw(&screen, &shown, rows, columns);
	terminal_draw(&screen);
	top_screen_deinit(&screen);
}

static void interval_change(struct top *top, bool is_longer)
{
	uint64_t changed = is_longer ? top->interval_ns * 2 : top->interval_ns / 2;

	if (changed >= interval_least && changed <= interval_most)
		top->interval_ns = changed;
}

/* False: to end. */
static bool key_take(struct top *top, int key)
{
	static const struct {
		char key;
		enum top_sort sort;
	} sorts[] = {
		{'m', TOP_BY_RESIDENT}, {'a', TOP_BY_ACCESSES}, {'s', TOP_BY_MISSES},
		{'r', TOP_BY_REFAULTS}, {'e', TOP_BY_EVICTED},
	};
	size_t rows, columns;

	switch (key) {
	case 'q':
	case 'Q':
	case TERMINAL_GONE:
		return false;
	case 'p':
	case ' ':
		top->is_paused = !top->is_paused;
		break;
	case 'h':
	case '?':
		top->is_help = !top->is_help;
		break;
	case 033:
		top->is_help = false;
		break;
	case '+':
	case '-':
		interval_change(top, key == '+');
		break;
	case 'L' - '@':
		terminal_forget();
		break;
	}
	for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
		if (key != sorts[i].key || top->sort == sorts[i].sort)
			continue;
		top->sort = sorts[i].sort;
		terminal_size(&rows, &columns);
		if (top->has_view)
			view_make(top, top_files_shown(rows));
	}
	return true;
}

static bool screen_run(struct top *top, struct error *error)
{
	uint64_t last_ns = now_ns();
	size_t rows, columns;
	bool done = true;

	if (!terminal_open(error))
		return false;
	while (!is_done(top)) {
		uint64_t due_ns = last_ns + top->interval_ns, at_ns;
		int key;

		draw(top);
		at_ns = now_ns();
		/* A while after the time, so that a clock that was set forward does not spin. */
		key = terminal_wait(top->is_paused   ? 1000
				    : due_ns > at_ns ? (int)((due_ns - at_ns) / NS_PER_MS) + 1
						     : 0);
		if (!key_take(top, key))
			break;
		if (top->is_paused || *top->interrupted || now_ns() < last_ns + top->interval_ns)
			continue;
		last_ns = now_ns();
		terminal_size(&rows, &columns);
		done = look(top, top_files_shown(rows), error);
		if (!done)
			break;
	}
	terminal_close();
	return done;
}

/* ---- elsewhere ---- */

/* False: interrupted. */
static bool wait_until(const struct top *top, uint64_t due_ns)
{
	while (!*top->interrupted) {
		uint64_t at_ns = now_ns(), left = due_ns > at_ns ? due_ns - at_ns : 0;
		struct timespec pause = {
			.tv_nsec = (long)(left < 100 * NS_PER_MS ? left : 100 * NS_PER_MS)};

		if (!left)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void print(const struct top *top)
{
	const struct top_arguments *arguments = top->arguments;
	char time_text[TIME_BYTES];
	const struct top_shown shown = shown_make(top, time_now(time_text, arguments->json));
	const size_t files = top->view.files.count < top->rows ? top->view.files.count : top->rows;
	struct top_screen screen;
	json_t *json;

	if (arguments->json && arguments->once) {
		report_json_print(stdout, top_json(&shown, top->rows));
	} else if (arguments->json) {
		json = top_json(&shown, top->rows);
		json_dumpf(json, stdout, JSON_COMPACT);
		fputc('\n', stdout);
		json_decref(json);
	} else if (arguments->once) {
		top_screen_draw(&screen, &shown, top_rows_for(files), TABLE_WIDTH_MAX);
		top_screen_print(stdout, &screen);
		top_screen_deinit(&screen);
	} else {
		if (top->looks == 1)
			top_line_heading(stdout);
		top_line_print(stdout, &shown);
	}
	fflush(stdout);
}

static bool stream_run(struct top *top, struct error *error)
{
	uint64_t due_ns = now_ns();

	while (!is_done(top)) {
		due_ns += top->interval_ns;
		if (!wait_until(top, due_ns))
			break;
		if (!look(top, top->rows, error))
			return false;
		print(top);
		if (ferror(stdout))
			return error_failed(error, "cannot write what was seen");
		/* What was missed is not made up for. */
		if (now_ns() > due_ns + top->interval_ns)
			due_ns = now_ns();
	}
	return true;
}

static void system_name(struct top *top)
{
	struct utsname name;

	if (uname(&name) == 0)
		snprintf(top->system, sizeof(top->system), "%.64s %.64s", name.sysname,
			 name.release);
}

static int top_command(const void *values)
{
	const struct top_arguments *arguments = values;
	const bool is_screen = !arguments->once && !arguments->json && isatty(STDOUT_FILENO) &&
			       isatty(STDIN_FILENO);
	struct top top = {.arguments = arguments, .interrupted = interrupt_begin()};
	const struct sampler_options look_at = {
		.cgroup = arguments->cgroup,
		.mount = arguments->mount,
		.files = arguments->files.at,
		.file_count = arguments->files.count,
	};
	struct error error;
	int code = 0;

	system_name(&top);
	/* A terminal is drawn on in the locale that there is, whatever the environment asks for. */
	top.is_ascii = is_screen ? terminal_is_ascii() : glyphs_environment_is_ascii();
	if (is_screen)
		glyphs_use_ascii(top.is_ascii);
	if (arguments_check(&top, is_screen, &error))
		top.sampler = sampler_open(&look_at, &error);
	/* The screen and JSON have a place for it. */
	if (top.sampler && !is_screen && !arguments->json && !arguments->once &&
	    sampler_note(top.sampler)[0])
		fprintf(stderr, "refault: %s\n", sampler_note(top.sampler));
	if (!top.sampler || !sampler_take(top.sampler, &top.after, &error) ||
	    !(is_screen ? screen_run(&top, &error) : stream_run(&top, &error)))
		code = command_fail(&error);
	top_view_deinit(&top.view);
	top_sample_deinit(&top.before);
	top_sample_deinit(&top.after);
	sampler_close(top.sampler);
	interrupt_forget();
	return code;
}

static const char *const usage[] = {
	"top [--cgroup PATH | --mount PATH] [--interval TIME] [--count N] [--sort WORD] [FILE...]",
	"top --once [--json] [--files N] ...",
	NULL,
};

static const struct example examples[] = {
	{"top", "this machine, every second; q ends it, h tells the keys"},
	{"top --cgroup /system.slice/postgresql.service --sort refaults",
	 "a memory cgroup, and which of its files come back after their eviction"},
	{"top --mount /var/lib/postgresql --once --interval 10s --json",
	 "what the files of a file system do in ten seconds, for programs"},
	{"top --interval 5s --count 12 | tee top.txt", "a line every five seconds, for a minute"},
	{0},
};

const struct command command_top = {
	.usage = usage,
	.description =
		"Show what the page cache does while it does it: the hit ratio of reads, pages "
		"that "
		"come in, come back after their eviction, and go, the lists' sizes, slab, and the "
		"files that have most in memory, or come back most. On a terminal this is a screen "
		"that follows its size; elsewhere it is a line each time.\n\n"
		"Accesses are the pages that buffered reads ask for, each once a call, whatever "
		"the "
		"call; misses are those of them that had come into the cache and are asked for the "
		"first time, whether the read waited for the device or readahead was faster. Pages "
		"that are written, or marked as accessed, are neither. Each time the counts are "
		"held "
		"against the kernel's own statistics: pages that came less pages that went must be "
		"what the file pages grew by, within what can change while both are read. Where "
		"that "
		"does not hold there is no ratio. Accesses through mappings cannot be seen, and "
		"are "
		"in no ratio; direct reads pass the page cache by.\n\n"
		"Counting needs root, BTF and Linux 6.12. Without them the ratio and the counts "
		"are "
		"not known, and the rest is shown.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct top_arguments),
	.operands_offset = FIELD(files),
	.operand = "FILE",
	.operands_min = 0,
	.operands_max = 1000,
	.operand_complete = COMPLETE_FILE,
	.run = top_command,
};
