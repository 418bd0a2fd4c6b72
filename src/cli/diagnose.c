/*
 * refault diagnose: what dumps of /proc and of a memory cgroup show, and what they cannot show
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "report/diagnosis.h"
#include "report/report.h"
#include "state/diagnosis.h"
#include "state/system.h"

struct diagnose_arguments {
	struct text_list files;
	const char *cgroup, *interval, *save;
	struct given page_size;
	bool lenient, json;
};

#define FIELD(name) offsetof(struct diagnose_arguments, name)

static const struct option options[] = {
	{"interval", 0, "TIME",
	 "without FILEs: read this machine twice, so far apart, so that rates can be told; with "
	 "FILEs: "
	 "how far apart two dumps of one kind are, when their headings do not say it",
	 OPTION_TEXT, FIELD(interval), COMPLETE_NONE},
	{"cgroup", 0, "PATH",
	 "without FILEs: a memory cgroup of this machine as well, a path below /sys/fs/cgroup; "
	 "with "
	 "FILEs: whose memory.stat and the like are, when no path in them says it",
	 OPTION_TEXT, FIELD(cgroup), COMPLETE_NONE},
	{"page-size", 0, "SIZE",
	 "of the machine that the dumps are from; found out when not given, else 4KiB", OPTION_SIZE,
	 FIELD(page_size), COMPLETE_NONE},
	{"save", 0, "FILE", "without FILEs: write what was read there, to be diagnosed elsewhere",
	 OPTION_TEXT, FIELD(save), COMPLETE_FILE},
	{"lenient", 0, NULL, "leave out rows that cannot be read, and count them", OPTION_FLAG,
	 FIELD(lenient), COMPLETE_NONE},
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

static bool options_make(const struct diagnose_arguments *arguments, struct state_options *made,
			 struct error *error)
{
	uint64_t page = arguments->page_size.value;

	*made = (struct state_options){.lenient = arguments->lenient};
	if (arguments->interval) {
		if (!time_parse(&made->interval_ns, arguments->interval, "--interval", error))
			return false;
		if (made->interval_ns == 0)
			return error_input(error, "--interval 0: two dumps are some time apart");
	}
	if (arguments->page_size.given && (page < 4096 || page > MIB || (page & (page - 1))))
		return error_input(error, "--page-size is a power of two from 4KiB to 1MiB");
	made->page_bytes = page;
	if (arguments->files.count == 0) {
		/* What time really passes is measured. */
		if (made->interval_ns > 24 * 3600 * NS_PER_SECOND)
			return error_input(error, "--interval is at most a day");
		if (arguments->page_size.given)
			return error_input(error,
					   "--page-size is for dumps of another machine: name "
					   "their files");
		return true;
	}
	if (arguments->save)
		return error_input(error,
				   "--save is for what is read from this machine: no FILEs with "
				   "it");
	made->cgroup = arguments->cgroup;
	return true;
}

/* ---- this machine ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Until the time has passed, or Ctrl-C: then what has passed is the interval. */
static void wait_until(uint64_t end_ns)
{
	const volatile int *interrupted = interrupt_begin();

	while (!*interrupted) {
		uint64_t now = now_ns(), left = end_ns > now ? end_ns - now : 0;
		const struct timespec pause = {
			.tv_sec = 0,
			.tv_nsec = (long)(left < 100 * NS_PER_MS ? left : 100 * NS_PER_MS),
		};

		if (left == 0)
			break;
		nanosleep(&pause, NULL);
	}
}

static bool machine_read(struct state *state, const struct diagnose_arguments *arguments,
			 struct error *error)
{
	uint64_t interval_ns = state->options.interval_ns, began_ns = now_ns();
	FILE *copy = NULL;
	bool done;

	/* The pair's own times say how far apart it is. */
	state->options.interval_ns = 0;
	if (arguments->save) {
		copy = fopen(arguments->save, "we");
		if (!copy)
			return error_system(error, "cannot write %.200s", arguments->save);
	}
	done = system_read(state, arguments->cgroup, 0, copy, error);
	if (done && interval_ns) {
		wait_until(began_ns + interval_ns);
		done = system_read(state, arguments->cgroup, now_ns() - began_ns, copy, error);
	}
	if (copy && fclose(copy) != 0 && done)
		return error_system(error, "cannot write %.200s", arguments->save);
	return done;
}

static bool all_read(struct state *state, const struct diagnose_arguments *arguments,
		     struct error *error)
{
	if (arguments->files.count == 0)
		return machine_read(state, arguments, error);
	for (size_t i = 0; i < arguments->files.count; i++) {
		if (!state_read(state, arguments->files.at[i], error))
			return false;
	}
	return true;
}

static void print(const struct diagnose_arguments *arguments, struct state *state)
{
	const struct diagnosis_options report = {
		.colour = command_may_colour(stdout),
		.is_live = arguments->files.count == 0,
		.has_interval = arguments->interval != NULL,
		.cgroup = arguments->cgroup,
	};
	struct diagnosis diagnosis;

	diagnosis_make(&diagnosis, state);
	if (arguments->json)
		report_json_print(stdout, diagnosis_json(&diagnosis));
	else
		diagnosis_text(stdout, &diagnosis, &report);
	diagnosis_deinit(&diagnosis);
}

static int diagnose(const void *values)
{
	const struct diagnose_arguments *arguments = values;
	struct state_options state_options;
	struct state *state;
	struct error error;
	int code = 0;

	if (!options_make(arguments, &state_options, &error))
		return command_fail(&error);
	state = state_create(&state_options);
	if (all_read(state, arguments, &error) && state_finish(state, &error)) {
		print(arguments, state);
	} else {
		code = command_fail(&error);
		if (error.line && error.excerpt[0] && !arguments->lenient && state->dumps.count)
			fputs("Nothing was diagnosed. `--lenient` leaves such rows out and counts "
			      "them.\n",
			      stderr);
	}
	state_destroy(state);
	if (arguments->files.count == 0 && arguments->interval)
		interrupt_end();
	return code;
}

static const char *const usage[] = {
	"diagnose [--interval TIME] [--cgroup PATH] [--save FILE] [--json]",
	"diagnose FILE... [--interval TIME] [--page-size SIZE] [--cgroup NAME] [--lenient] "
	"[--json]",
	NULL,
};

static const struct example examples[] = {
	{"diagnose --interval 10s", "what this machine's caches do, as root for slabinfo too"},
	{"diagnose --interval 10s --cgroup /system.slice/postgresql.service",
	 "the machine, and a memory cgroup in it"},
	{"diagnose before.txt after.txt --interval 30s",
	 "what somebody has sent: /proc/vmstat and the like, before and after"},
	{"diagnose dumps/* --json", "any number of dumps, in any order, for programs"},
	{0},
};

const struct command command_diagnose = {
	.usage = usage,
	.description =
		"Read dumps of a running system, and say what they show: file pages that come back "
		"after "
		"their eviction, working set against file cache, slab, dirty pages, swap, ZFS's "
		"ARC, a "
		"cgroup at its limit; and what they cannot show. Each finding has its figures with "
		"their "
		"formulas, the lines it rests on, and where its threshold comes from. That this is "
		"no "
		"caching problem is a possible answer.\n\n"
		"A FILE holds any of /proc/meminfo, vmstat, slabinfo (or slabtop's text), "
		"zoneinfo, "
		"buddyinfo, pressure, stat, uptime, sys/fs/dentry-state and inode-state, ZFS's "
		"arcstats "
		"(or FreeBSD's sysctl), losetup's list, vm sysctls, and a memory cgroup's "
		"memory.stat, "
		"memory.events and the files beside it, of version 1 or 2. They are recognised by "
		"what "
		"they hold. Several may stand in one file, one after the other, with prompts, "
		"headings or "
		"==> name <== between them; a heading that names the file or the time (t=30, a "
		"date) is "
		"heeded. Two dumps of one kind are compared. Without FILEs this machine is read.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct diagnose_arguments),
	.operands_offset = FIELD(files),
	.operand = "FILE",
	.operands_min = 0,
	.operands_max = 10000,
	.operand_complete = COMPLETE_FILE,
	.run = diagnose,
};
