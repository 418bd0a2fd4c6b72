/*
 * accuracy: the model beside the real kernel, case by case
 *
 *     build/bench/accuracy [DIRECTORY] [CASE...]
 *
 * Without a DIRECTORY: ../shared/truth, or what comes with the project, test/truth/cases.
 *
 * For each row of DIRECTORY/measured.jsonl that a two-list kernel made with fresh statistics:
 * read_bytes at each mark, as the model has it and as the kernel had it. The error is |model -
 * kernel| / max(kernel, 4 MiB). Exit 1 when the median is over 2 % or the worst over 10 %.
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

struct measured {
	char kernel[16], name[64], filesystem[16], mark[64];
	uint64_t limit_bytes, read_bytes;
};

static ARRAY(struct measured) rows;
static ARRAY(double) errors;

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

		if (!json || json_is_true(json_object_get(json, "mglru")) ||
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
		row.read_bytes = (uint64_t)json_integer_value(json_object_get(json, "read_bytes"));
		*array_push(&rows) = row;
		json_decref(json);
	}
	fclose(file);
}

static double error_of(uint64_t model, uint64_t kernel)
{
	double floor = (double)(kernel > 4 * MIB ? kernel : 4 * MIB);

	return ((double)model - (double)kernel) / floor;
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
	double worst = 0;
	size_t worst_mark = 0;

	snprintf(path, sizeof(path), "%s/%s.csv.zst", directory, row->name);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), "%s/%s.rft", directory, row->name);
	snprintf(policy, sizeof(policy), "linux-%s,statistics=fresh", row->kernel);
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
		*array_push(&errors) = 1;
		goto out;
	}
	printf("%-5s %-24s %-6s", row->kernel, row->name, row->filesystem);
	for (size_t i = first; i < end; i++) {
		uint64_t model = i - first < result.mark_count
					 ? result.marks[i - first].counters.read_bytes
					 : result.totals.read_bytes;
		double off = error_of(model, rows.at[i].read_bytes), size = off < 0 ? -off : off;

		*array_push(&errors) = size;
		if (size >= worst) {
			worst = size;
			worst_mark = i;
		}
		printf(" %+.1f", off * 100);
	}
	{
		uint64_t model = worst_mark - first < result.mark_count
					 ? result.marks[worst_mark - first].counters.read_bytes
					 : result.totals.read_bytes;

		printf("   worst %s: model %.2f kernel %.2f MiB\n", rows.at[worst_mark].mark,
		       (double)model / (double)MIB,
		       (double)rows.at[worst_mark].read_bytes / (double)MIB);
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

int main(int argc, char **argv)
{
	const char *directory = argc > 1                               ? argv[1]
				: access("../shared/truth", R_OK) == 0 ? "../shared/truth"
								       : "test/truth/cases";
	double median, worst;

	rows_load(directory);
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
	if (errors.count == 0)
		return 2;
	qsort(errors.at, errors.count, sizeof(*errors.at), by_size);
	median = errors.at[errors.count / 2];
	worst = errors.at[errors.count - 1];
	printf("%zu marks: median error %.2f %%, worst %.1f %%\n", errors.count, median * 100,
	       worst * 100);
	return median <= 0.02 && worst <= 0.10 ? 0 : 1;
}
