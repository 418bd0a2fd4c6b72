/*
 * refault curve: how many look-ups miss, over the size of a plain cache
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glyph.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/policy_list.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "cli/trace_input.h"
#include "report/miss_curve.h"
#include "report/report.h"
#include "study/miss_curve.h"
#include "study/sizes.h"

enum { JOBS_MAX = 4096, POLICIES_MAX = 64, NAME_BYTES = 512 };

/* FAST '15 finds errors of this order; what it may be when nobody says. */
static const double error_wanted = 0.001;

struct curve_arguments {
	struct text_list traces, policies, sizes;
	struct given points, max_keys, seed, jobs, trace_memory;
	const char *rate, *error, *key, *svg;
	bool csv, json, ascii;
	struct trace_input_arguments trace;
};

#define FIELD(name) offsetof(struct curve_arguments, name)

static const struct option options[] = {
	{"policy", 0, "NAME,...",
	 "the policies, between commas (`refault list policies`); lru when not given", OPTION_TEXTS,
	 FIELD(policies), COMPLETE_POLICY},
	{"pages", 0, "NUMBERS",
	 "the sizes, as in 1000..1000000:x10; when not given, --points of them, up to all pages "
	 "there are",
	 OPTION_TEXTS, FIELD(sizes), COMPLETE_NONE},
	{"points", 0, "N", "how many sizes; 32 when not given", OPTION_NUMBER, FIELD(points),
	 COMPLETE_NONE},
	{"sample", 0, "RATE",
	 "of a sample of the pages, as in 0.01: an estimate, with its error. If the error is more "
	 "than "
	 "--max-error, the rate is raised",
	 OPTION_TEXT, FIELD(rate), COMPLETE_NONE},
	{"sample-size", 0, "N",
	 "of a sample of at most so many pages: memory stays the same, however long the trace is",
	 OPTION_NUMBER, FIELD(max_keys), COMPLETE_NONE},
	{"max-error", 0, "X",
	 "the mean absolute error of the miss ratio that --sample may have; 0.001 when not given, "
	 "0: any",
	 OPTION_TEXT, FIELD(error), COMPLETE_NONE},
	{"key", 0, "page4k|lbn",
	 "what is looked up: each 4 KiB page of a request's range (when not given), or one thing a "
	 "request, "
	 "named by its start",
	 OPTION_TEXT, FIELD(key), COMPLETE_WORDS},
	TRACE_INPUT_OPTIONS(curve_arguments, trace),
	{"seed", 0, "N", "which sample is drawn; 1 when not given", OPTION_NUMBER, FIELD(seed),
	 COMPLETE_NONE},
	{"jobs", 0, "N",
	 "so many runs at once, of policies other than lru; as many as there are processors when "
	 "not given. "
	 "The answer does not depend on it",
	 OPTION_NUMBER, FIELD(jobs), COMPLETE_NONE},
	{"trace-memory", 0, "SIZE",
	 "how much memory the trace may take, for runs of policies other than lru; half of what is "
	 "there when "
	 "not given. A larger one is read again for each run",
	 OPTION_SIZE, FIELD(trace_memory), COMPLETE_NONE},
	{"svg", 0, "FILE", "draw it there, too, as a picture", OPTION_TEXT, FIELD(svg),
	 COMPLETE_FILE},
	{"ascii", 0, NULL, "draw the chart with letters alone", OPTION_FLAG, FIELD(ascii),
	 COMPLETE_NONE},
	{"csv", 0, NULL, "print CSV: a line for each policy and size", OPTION_FLAG, FIELD(csv),
	 COMPLETE_NONE},
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

struct plan {
	const struct curve_arguments *arguments;
	const char *trace;
	struct miss_curve_options options;
	struct policy_options policies[POLICIES_MAX];
	const char *names[POLICIES_MAX];
	struct sizes sizes;
	struct progress progress;
	char *input; /* as the trace's reader names it */
	bool is_warned;
	struct arena arena;
};

/* ---- the trace ---- */

static struct op_source *source_open(void *context, struct error *error)
{
	struct plan *plan = context;
	struct trace_options how = trace_input_options(&plan->arguments->trace);

	how.is_bare = true;
	return trace_open(plan->trace, &how, error);
}

static void source_read(void *context, const struct op_source *source)
{
	struct plan *plan = context;

	if (!plan->is_warned)
		trace_input_warn(source);
	plan->is_warned = true;
	if (!plan->input)
		plan->input = arena_text(&plan->arena, source->name, strlen(source->name));
}

/* ---- arguments ---- */

static bool policies_read(struct plan *plan, struct error *error)
{
	size_t count;
	const char *fallback[] = {"lru"};
	const char **names = policy_list_split(&plan->arguments->policies, &count, &plan->arena);

	if (count == 0) {
		names = fallback;
		count = 1;
	}
	if (count > POLICIES_MAX)
		return error_input(error, "more than %d policies", POLICIES_MAX);
	for (size_t i = 0; i < count; i++) {
		char name[NAME_BYTES];

		if (!policy_options_parse(&plan->policies[i], names[i], error))
			return false;
		policy_options_format(name, sizeof(name), &plan->policies[i]);
		plan->names[i] = arena_text(&plan->arena, name, strlen(name));
	}
	plan->options.policies = plan->policies;
	plan->options.policy_count = count;
	return true;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool sizes_read(struct plan *plan, struct error *error)
{
	const struct curve_arguments *arguments = plan->arguments;

	if (arguments->sizes.count && arguments->points.given)
		return error_input(error, "--pages says which sizes: leave out --points");
	for (size_t i = 0; i < arguments->sizes.count; i++)
		if (!sizes_add(&plan->sizes, arguments->sizes.at[i], SIZES_NUMBER, "--pages",
			       error))
			return false;
	if (plan->sizes.count > 0) {
		qsort(plan->sizes.at, plan->sizes.count, sizeof(*plan->sizes.at), by_number);
		plan->options.sizes = plan->sizes.at;
		plan->options.size_count = plan->sizes.count;
	}
	if (arguments->points.given && arguments->points.value < 2)
		return error_input(error, "--points is from 2 to %d", MISS_CURVE_POINTS_MAX);
	return subject_number(&plan->options.point_count, arguments->points, MISS_CURVE_POINTS,
			      MISS_CURVE_POINTS_MAX, "--points", error);
}

static bool sample_read(struct plan *plan, struct error *error)
{
	const struct curve_arguments *arguments = plan->arguments;
	struct miss_curve_options *it = &plan->options;

	it->error_wanted = error_wanted;
	if (arguments->rate && arguments->max_keys.given)
		return error_input(error,
				   "--sample (a rate) and --sample-size (so many pages) are two "
				   "different samples: give one");
	if (!arguments->rate && arguments->error)
		return error_input(error, "--max-error is for --sample RATE");
	if (arguments->rate && !decimal_parse(&it->rate, arguments->rate, "--sample", error))
		return false;
	if (arguments->rate && !(it->rate > 0 && it->rate <= 1))
		return error_input(error, "--sample %.40s: a rate is above 0, and 1 at most",
				   arguments->rate);
	if (arguments->error &&
	    !decimal_parse(&it->error_wanted, arguments->error, "--max-error", error))
		return false;
	if (arguments->max_keys.given &&
	    (arguments->max_keys.value < 256 || arguments->max_keys.value > UINT64_C(1) << 30))
		return error_input(error, "--sample-size is from 256 to %llu", 1ULL << 30);
	it->max_keys = arguments->max_keys.value;
	return true;
}

static bool plan_make(struct plan *plan, struct error *error)
{
	static const char *const keys[] = {"page4k", "lbn", NULL};
	const struct curve_arguments *arguments = plan->arguments;
	struct miss_curve_options *it = &plan->options;
	long processors = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
	size_t key = 0;

	if (arguments->json && arguments->csv)
		return error_input(error, "give either --json or --csv");
	if ((arguments->key && !subject_word(&key, arguments->key, keys, "key", error)) ||
	    !policies_read(plan, error) || !sizes_read(plan, error) || !sample_read(plan, error) ||
	    !subject_number(&it->threads, arguments->jobs, processors > 0 ? (size_t)processors : 1,
			    JOBS_MAX, "--jobs", error))
		return false;
	it->key = key ? BARE_KEY_LBN : BARE_KEY_PAGE4K;
	it->seed = arguments->seed.given ? arguments->seed.value : 1;
	it->held_bytes_max = arguments->trace_memory.given ? arguments->trace_memory.value
			     : pages > 0                   ? (uint64_t)pages * PAGE_BYTES / 2
							   : GIB;
	it->open = source_open;
	it->read = source_read;
	it->is_once = strcmp(plan->trace, "-") == 0;
	it->context = plan;
	return true;
}

/* ---- the answer ---- */

static bool svg_write(const char *path, const struct curve_drawing *drawing, struct error *error)
{
	FILE *file = fopen(path, "we");

	if (file)
		miss_curve_svg(file, drawing);
	return (file && fclose(file) == 0) || error_system(error, "cannot write %.200s", path);
}

static bool answer(const struct plan *plan, const struct miss_curves *curves, struct error *error)
{
	const struct curve_arguments *arguments = plan->arguments;
	struct drawn_curve *drawn = memory_alloc(curves->policy_count, sizeof(*drawn));
	struct curve_drawing drawing = {
		.input = plan->input ? plan->input : plan->trace,
		.is_lbn = plan->options.key == BARE_KEY_LBN,
		.sizes = curves->sizes,
		.size_count = curves->size_count,
		.curves = drawn,
		.count = curves->policy_count,
		.accesses = curves->accesses,
		.pages = curves->pages,
		.is_sampled = curves->is_sampled,
		.rate_asked = curves->rate_asked,
		.rate = curves->rate,
		.error_wanted = plan->options.error_wanted,
		.sampled_accesses = curves->sampled_accesses,
		.sampled_pages = curves->sampled_pages,
		.seed = plan->options.seed,
		.passes = curves->passes,
		.is_ascii = arguments->ascii || glyphs_environment_is_ascii(),
		.colour = command_may_colour(stdout),
	};
	bool done;

	for (size_t i = 0; i < curves->policy_count; i++)
		drawn[i] = (struct drawn_curve){.name = plan->names[i],
						.misses = curves->curves[i].misses,
						.deviation = curves->curves[i].deviation,
						.mean_error = curves->curves[i].mean_error,
						.knee = curves->curves[i].knee,
						.failure = curves->curves[i].failure};
	if (arguments->ascii)
		glyphs_use_ascii(true);
	done = !arguments->svg || svg_write(arguments->svg, &drawing, error);
	if (done && arguments->csv)
		miss_curve_csv(stdout, &drawing);
	else if (done && arguments->json)
		report_json_print(stdout, miss_curve_json(&drawing));
	else if (done)
		miss_curve_text(stdout, &drawing);
	memory_free(drawn);
	return done;
}

static int curve(const void *values)
{
	const struct curve_arguments *arguments = values;
	struct plan plan = {.arguments = arguments, .trace = arguments->traces.at[0]};
	struct miss_curves curves = {0};
	struct error error;
	bool done;

	done = plan_make(&plan, &error);
	if (done) {
		plan.options.interrupted = interrupt_begin();
		progress_begin(&plan.progress, "looking up");
		plan.options.progress = plan.progress.wanted ? progress_reading : NULL;
		plan.options.progress_context = &plan.progress;
		done = miss_curves_make(&curves, &plan.options, &error);
		progress_end(&plan.progress);
		if (done && curves.accesses == 0)
			done = error_at(&error, plan.trace, 0, 0,
					"looks no page up: there is nothing to draw");
		done = done && answer(&plan, &curves, &error);
		interrupt_end();
	}
	miss_curves_deinit(&curves);
	sizes_deinit(&plan.sizes);
	arena_deinit(&plan.arena);
	return done ? 0 : command_fail(&error);
}

static const char *const usage[] = {
	"curve TRACE [--policy NAME,...] [--pages NUMBERS | --points N] [--svg FILE] "
	"[--csv|--json]",
	"curve TRACE --sample RATE [--max-error X] | --sample-size N",
	NULL,
};

static const struct example examples[] = {
	{"curve block.bin", "misses of LRU at all sizes, exactly, in one pass"},
	{"curve block.bin --policy lru,arc,fifo --points 12 --svg curve.svg",
	 "three policies, by a run for each size, and a picture"},
	{"curve big.rft --sample 0.01",
	 "from a hundredth of the pages, or as many as it takes to be good"},
	{"curve big.rft --sample-size 20000 --csv",
	 "in the same memory, however large the trace is"},
	{0},
};

const struct command command_curve = {
	.usage = usage,
	.description = "Draw the miss ratio of a plain cache over its size: one look-up a page and "
		       "nothing else, as `refault replay --bare`. LRU is exact at all sizes "
		       "in one pass over the trace, by stack distances; any other policy is run "
		       "once for each size.\n\n"
		       "With --sample or --sample-size it is an estimate from the look-ups of a "
		       "part of the pages, chosen by their hash: distances of "
		       "LRU are scaled, and other policies run on caches that are as much smaller. "
		       "The estimate's error is told, as it is found by "
		       "taking the sample apart; with --sample the rate is raised until it is "
		       "small enough, and if a sample would be more than half of the "
		       "pages, the answer is exact. docs/sweep.md tells how, and how well it does.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct curve_arguments),
	.operands_offset = FIELD(traces),
	.operand = "TRACE",
	.operands_min = 1,
	.operands_max = 1,
	.operand_complete = COMPLETE_FILE,
	.run = curve,
};
