/*
 * accuracy: the model beside the real kernel, case by case
 *
 *     build/bench/accuracy [--mglru] [DIRECTORY] [CASE...]
 *
 * Without a DIRECTORY: ../shared/truth, or what comes with the project, test/truth/cases.
 *
 * For each row of DIRECTORY/measured.jsonl that a two-list kernel made with fresh statistics:
 * read_bytes at each mark, as the model has it and as the kernel had it. The error is |model -
 * kernel| / max(kernel, 4 MiB). Exit 1 when the median is over 2 % or the worst over 10 %.
 *
 * With --mglru: the rows of kernels with MGLRU, and beside read_bytes the refaults (in bytes) and
 * what is active and inactive, of which the error is relative to the limit, as they are parts of it.
 * Exit 1 when a counter's median is over 5 % or its worst over 15 %; exit 77 when there is no row. What
 * depends on time, which a trace without stamps does not have, is told and not judged: is_judged().
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/size.h"
#include "machine/model/model.h"
#include "op/trace.h"

enum figure { READ_BYTES, REFAULTS, ACTIVE_FILE, INACTIVE_FILE, FIGURE_COUNT };

static const char *const figure_names[] = {"read_bytes", "refault_file", "active_file",
					   "inactive_file"};

struct measured {
	char kernel[16], name[64], filesystem[16], mark[64];
	uint64_t limit_bytes, bytes[FIGURE_COUNT];
};

static ARRAY(struct measured) rows;
static ARRAY(double) errors[FIGURE_COUNT];
static bool mglru;
static int figure_count = 1;

static bool same_run(const struct measured *a, const struct measured *b)
{
	return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->filesystem, b->filesystem) == 0 && a->limit_bytes == b->limit_bytes;
}

static void rows_load(const char *directory)
{
	char path[4096], line[65536];
	FILE *file;

	snprintf(path, sizeof(path), "%s/measured.jsonl", directory);
	file = fopen(path, "r");
	if (!file) {
		perror(path);
		exit(2);
	}
	while (fgets(line, sizeof(line), file)) {
		json_t *json = json_loads(line, 0, NULL);
		struct measured row = {0};

		if (!json || json_is_true(json_object_get(json, "mglru")) != mglru ||
		    strcmp(json_string_value(json_object_get(json, "statistics")), "fresh") != 0) {
			json_decref(json);
			continue;
		}
		snprintf(row.kernel, sizeof(row.kernel), "%s",
			 json_string_value(json_object_get(json, "kernel")));
		snprintf(row.name, sizeof(row.name), "%s",
			 json_string_value(json_object_get(json, "case")));
		snprintf(row.filesystem, sizeof(row.filesystem), "%s",
			 json_string_value(json_object_get(json, "filesystem")));
		snprintf(row.mark, sizeof(row.mark), "%s",
			 json_string_value(json_object_get(json, "mark")));
		row.limit_bytes =
			(uint64_t)json_integer_value(json_object_get(json, "cgroup_limit_bytes"));
		for (int i = 0; i < figure_count; i++)
			row.bytes[i] = (uint64_t)json_integer_value(
					       json_object_get(json, figure_names[i])) *
				       (i == REFAULTS ? PAGE_BYTES : 1);
		*array_push(&rows) = row;
		json_decref(json);
	}
	fclose(file);
}

static uint64_t figure_of(const struct counters *counters, int figure)
{
	switch (figure) {
	case READ_BYTES:
		return counters->read_bytes;
	case REFAULTS:
		return counters->refaults * PAGE_BYTES;
	case ACTIVE_FILE:
		return counters->active_file_pages * PAGE_BYTES;
	default:
		return counters->inactive_file_pages * PAGE_BYTES;
	}
}

static double error_of(uint64_t model, const struct measured *row, int figure)
{
	uint64_t kernel = row->bytes[figure], floor = kernel > 4 * MIB ? kernel : 4 * MIB;

	if (figure >= ACTIVE_FILE)
		floor = row->limit_bytes;
	return ((double)model - (double)kernel) / (double)floor;
}

/*
 * With MGLRU nobody wakes the flusher from 6.3 to 6.12. In storm, 40 MiB of inode tables become dirty
 * that cannot be evicted until it has been by, and from k160000 on there is room for nothing else. It
 * comes after 30 s of the kernel's time; the trace takes 0.6 s by its stamps.
 */
static bool is_judged(const struct measured *row, size_t mark)
{
	return !mglru || strcmp(row->name, "storm") != 0 || mark <= 4;
}

/* The errors of one figure at the rows first .. end - 1; the worst is told. */
static void figure_print(const struct result *result, size_t first, size_t end, int figure)
{
	double worst = 0;
	size_t worst_mark = first;

	for (size_t i = first; i < end; i++) {
		const struct counters *counters = i - first < result->mark_count
							  ? &result->marks[i - first].counters
							  : &result->totals;
		double off = error_of(figure_of(counters, figure), &rows.at[i], figure);
		double size = off < 0 ? -off : off;

		if (!is_judged(&rows.at[i], i - first)) {
			printf(" (%+.1f)", off * 100);
			continue;
		}
		*array_push(&errors[figure]) = size;
		if (size >= worst) {
			worst = size;
			worst_mark = i;
		}
		printf(" %+.1f", off * 100);
	}
	printf("   worst %s: model %.2f kernel %.2f MiB\n", rows.at[worst_mark].mark,
	       (double)figure_of(worst_mark - first < result->mark_count
					 ? &result->marks[worst_mark - first].counters
					 : &result->totals,
				 figure) /
		       (double)MIB,
	       (double)rows.at[worst_mark].bytes[figure] / (double)MIB);
}

/* One run of the model; its marks against the rows first .. end - 1, in order. */
static void run_case(const char *directory, size_t first, size_t end)
{
	const struct measured *row = &rows.at[first];
	struct model_options options = {.memory_bytes = row->limit_bytes, .is_cgroup = true};
	struct trace_options trace_options = {0};
	struct op_source *source;
	struct result result;
	struct error error;
	char path[4096], policy[64];

	snprintf(path, sizeof(path), "%s/%s.csv.zst", directory, row->name);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), "%s/%s.rft", directory, row->name);
	snprintf(policy, sizeof(policy), "linux-%s%s,statistics=fresh", row->kernel,
		 mglru ? "-mglru" : "");
	options.filesystem = filesystem_find(row->filesystem);
	if (!policy_options_parse(&options.policy, policy, &error) || !options.filesystem ||
	    !(source = trace_open(path, &trace_options, &error))) {
		fprintf(stderr, "%s: %s\n", path, error.message);
		exit(2);
	}
	options.streams = stream_map_create(STREAM_BY_CLASS);
	if (!model_run(&options, source, &result, &error)) {
		printf("%-5s %-24s %-6s  FAILED: %s\n", row->kernel, row->name, row->filesystem,
		       error.message);
		*array_push(&errors[READ_BYTES]) = 1;
		goto out;
	}
	for (int i = 0; i < figure_count; i++) {
		printf("%-5s %-24s %-6s", row->kernel, row->name, row->filesystem);
		if (figure_count > 1)
			printf(" %-13s", figure_names[i]);
		figure_print(&result, first, end, i);
	}
	result_deinit(&result);
out:
	op_source_destroy(source);
	stream_map_destroy(options.streams);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median and worst of one figure; are they small enough? */
static bool figure_judge(int figure, double median_most, double worst_most)
{
	size_t count = errors[figure].count;
	double median, worst;

	if (count == 0)
		return false;
	qsort(errors[figure].at, count, sizeof(*errors[figure].at), by_size);
	median = errors[figure].at[count / 2];
	worst = errors[figure].at[count - 1];
	if (figure_count > 1)
		printf("%s: ", figure_names[figure]);
	printf("%zu marks: median error %.2f %%, worst %.1f %%%s", count, median * 100, worst * 100,
	       figure + 1 < figure_count ? "; " : "\n");
	return median <= median_most && worst <= worst_most;
}

int main(int argc, char **argv)
{
	const char *directory;
	bool is_good = true;

	if (argc > 1 && strcmp(argv[1], "--mglru") == 0) {
		mglru = true;
		figure_count = FIGURE_COUNT;
		argc--;
		argv++;
	}
	directory = argc > 1                               ? argv[1]
		    : access("../shared/truth", R_OK) == 0 ? "../shared/truth"
							   : "test/truth/cases";
	rows_load(directory);
	if (mglru && rows.count == 0)
		return 77;
	printf("kernel case                   fs      error at each mark, %%\n");
	for (size_t first = 0, end; first < rows.count; first = end) {
		bool wanted = argc <= 2;

		for (end = first + 1; end < rows.count && same_run(&rows.at[first], &rows.at[end]);
		     end++)
			;
		for (int i = 2; i < argc; i++)
			wanted |= strcmp(argv[i], rows.at[first].name) == 0;
		if (wanted)
			run_case(directory, first, end);
		fflush(stdout);
	}
	if (errors[READ_BYTES].count == 0)
		return 2;
	for (int i = 0; i < figure_count; i++)
		is_good &= mglru ? figure_judge(i, 0.05, 0.15) : figure_judge(i, 0.02, 0.10);
	return is_good ? 0 : 1;
}
