/*
 * refault device: what a profile does, and a profile from the device at hand
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "machine/model/device.h"
#include "machine/model/device/profile.h"
#include "report/report.h"
#include "report/table.h"
#include "source/shipped.h"
#include "source/yaml.h"
#include "study/device_measure.h"
#include "study/device_trial.h"

struct device_arguments {
	struct text_list words;
	const char *output, *runtime;
	struct given size;
	bool write, json;
};

#define FIELD(name) offsetof(struct device_arguments, name)

static const struct option options[] = {
	{"output", 'o', "PROFILE.yaml", "measure: the profile to write", OPTION_TEXT, FIELD(output),
	 COMPLETE_FILE},
	{"size", 0, "SIZE",
	 "measure: how large the file is that it makes (1GiB if not given), or how much of what is "
	 "there is used (all)",
	 OPTION_SIZE, FIELD(size), COMPLETE_NONE},
	{"write", 0, NULL,
	 "measure: write to PATH although it is there already: what is in it is destroyed",
	 OPTION_FLAG, FIELD(write), COMPLETE_NONE},
	{"runtime", 0, "TIME", "measure: how long each of the seven questions takes (5s)",
	 OPTION_TEXT, FIELD(runtime), COMPLETE_NONE},
	{"json", 0, NULL, "print JSON", OPTION_FLAG, FIELD(json), COMPLETE_NONE},
	{0},
};

/* ---- what the model says of it ---- */

struct figure {
	const char *name, *meaning;
	size_t offset;
};

#define FIGURE(field, meaning_)                                                                    \
	{                                                                                          \
#field, meaning_, offsetof(struct device_figures, field)                           \
	}
static const struct figure all_figures[] = {
	FIGURE(read, "random read of 4 KiB"),
	FIGURE(read_8k, "random read of 8 KiB"),
	FIGURE(reads, "random reads of 4 KiB, many at once"),
	FIGURE(write, "random write of 4 KiB"),
	FIGURE(writes, "random writes of 4 KiB, many at once"),
	FIGURE(stream_read, "reads in a row"),
	FIGURE(stream_write, "writes in a row"),
	FIGURE(stream_write_long, "writes in a row, after 16 GiB"),
	FIGURE(sync, "write of 8 KiB and a flush (fdatasync)"),
	FIGURE(read_alone, "read of 8 KiB, 32 clients"),
	FIGURE(read_beside, "the same beside 100 MB/s of writes"),
};

enum { FIGURE_COUNT = sizeof(all_figures) / sizeof(all_figures[0]) };

static const struct device_outcome *figure_of(const struct device_figures *figures, size_t i)
{
	return (const struct device_outcome *)(const void *)((const char *)figures +
							     all_figures[i].offset);
}

static json_t *outcome_json(const struct device_outcome *outcome)
{
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "requests", (json_int_t)outcome->requests,
		"latency_ns_mean", (json_int_t)outcome->mean_ns, "latency_ns_median",
		(json_int_t)outcome->median_ns, "latency_ns_p99", (json_int_t)outcome->p99_ns,
		"latency_ns_p99999", (json_int_t)outcome->p99999_ns, "requests_per_s",
		outcome->per_s ? json_integer((json_int_t)outcome->per_s) : json_null(),
		"bytes_per_s",
		outcome->bytes_per_s ? json_integer((json_int_t)outcome->bytes_per_s)
				     : json_null());
}

static json_t *figures_json(const struct device_figures *figures)
{
	json_t *object = json_object();

	json_object_set_new(object, "at_once", json_integer((json_int_t)figures->at_once));
	for (size_t i = 0; i < FIGURE_COUNT; i++)
		json_object_set_new(object, all_figures[i].name,
				    outcome_json(figure_of(figures, i)));
	return object;
}

static void figures_print(const struct device_figures *figures)
{
	struct table *table = table_create();

	table_column(table, "what the model does", TABLE_LEFT, TABLE_KEEP);
	table_column(table, "mean", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "99 %", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "a second", TABLE_RIGHT, TABLE_KEEP);
	table_column(table, "MB/s", TABLE_RIGHT, TABLE_KEEP);
	for (size_t i = 0; i < FIGURE_COUNT; i++) {
		const struct device_outcome *outcome = figure_of(figures, i);
		char time[SIZE_TEXT_BYTES], count[2 * SIZE_TEXT_BYTES], rate[SIZE_TEXT_BYTES];

		table_text(table, all_figures[i].meaning);
		table_text(table, time_format(time, outcome->mean_ns));
		table_text(table, time_format(time, outcome->p99_ns));
		table_text(table, outcome->per_s ? count_format(count, outcome->per_s) : "");
		snprintf(rate, sizeof(rate), "%.1f", (double)outcome->bytes_per_s / 1e6);
		table_text(table, outcome->bytes_per_s ? rate : "");
	}
	table_print(stdout, table, 2, command_may_colour(stdout));
	table_destroy(table);
	printf("\n  many at once: %" PRIu64 "; in a row: 128 KiB, 8 at once\n", figures->at_once);
}

static int show(const struct device_arguments *arguments)
{
	const char *name = arguments->words.at[1];
	struct device_figures figures;
	struct device_profile *profile;
	struct error error;
	char path[4096], *text = NULL;
	size_t bytes;

	profile = device_profile_load(name, &error);
	if (!profile || !shipped_device_find(path, sizeof(path), name, &error) ||
	    !shipped_device_read(&text, &bytes, path, YAML_BYTES_MAX, &error)) {
		device_profile_free(profile);
		return command_fail(&error);
	}
	device_figures(&figures, profile);
	if (arguments->json) {
		report_json_print(stdout, json_pack("{s:s, s:s, s:s, s:o}", "name",
						    device_profile_name(profile), "kind",
						    device_profile_kind(profile), "summary",
						    device_profile_summary(profile), "figures",
						    figures_json(&figures)));
	} else {
		fwrite(text, 1, bytes, stdout);
		putchar('\n');
		figures_print(&figures);
	}
	memory_free(text);
	device_profile_free(profile);
	return 0;
}

/* ---- measuring ---- */

struct measuring {
	const volatile int *interrupted;
	bool speaks;
	unsigned count;
};

static bool measuring_begin(void *context, enum device_question question)
{
	struct measuring *measuring = context;

	if (measuring->speaks)
		fprintf(stderr, "  %u. %s\n", ++measuring->count, device_question_text(question));
	return !*measuring->interrupted;
}

/* The text under a name beside it, then under its own: nobody ever sees half of it. */
static bool file_write(const char *path, const char *text, struct error *error)
{
	char *beside = memory_alloc(strlen(path) + 32, 1);
	bool fine;
	FILE *file;

	sprintf(beside, "%s.%ld.new", path, (long)getpid());
	file = fopen(beside, "wxe");
	if (!file) {
		error_system(error, "cannot write %s", beside);
		memory_free(beside);
		return false;
	}
	fine = fputs(text, file) >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
	fine = fclose(file) == 0 && fine && rename(beside, path) == 0;
	if (!fine) {
		error_system(error, "cannot write %s", path);
		unlink(beside);
	}
	memory_free(beside);
	return fine;
}

static json_t *side_json(const struct fio_side *side)
{
	if (!side->requests)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "requests",
			 (json_int_t)side->requests, "requests_per_s", (json_int_t)side->per_s,
			 "bytes_per_s", (json_int_t)side->bytes_per_s, "latency_ns_mean",
			 (json_int_t)side->mean_ns, "latency_ns_median",
			 (json_int_t)side->median_ns, "latency_ns_p99", (json_int_t)side->p99_ns,
			 "latency_ns_p9999", (json_int_t)side->p9999_ns);
}

static json_t *measured_json(const struct device_measured *measured)
{
	json_t *list = json_array();

	for (enum device_question q = 0; q < QUESTION_COUNT; q++) {
		if (measured->asked[q])
			json_array_append_new(list,
					      json_pack("{s:s, s:o, s:o, s:o}", "question",
							device_question_text(q), "read",
							side_json(&measured->read[q]), "write",
							side_json(&measured->write[q]), "fdatasync",
							side_json(&measured->sync[q])));
	}
	return list;
}

static void measured_print(const struct device_arguments *arguments,
			   const struct device_measured *measured, const char *text,
			   const struct device_profile *profile)
{
	struct device_figures figures;

	device_figures(&figures, profile);
	if (arguments->json) {
		report_json_print(stdout,
				  json_pack("{s:s, s:s, s:s, s:b, s:I, s:o, s:o}", "profile",
					    arguments->output, "kind", device_profile_kind(profile),
					    "fio", measured->fio, "wrote", measured->wrote,
					    "size_bytes", (json_int_t)measured->size_bytes,
					    "measured", measured_json(measured), "figures",
					    figures_json(&figures)));
		return;
	}
	printf("%s\n", text);
	figures_print(&figures);
	printf("\n  %s is written: `--device %s%s`\n", arguments->output,
	       strchr(arguments->output, '/') ? "" : "./", arguments->output);
}

static bool measure_options(struct device_measure_options *to,
			    const struct device_arguments *arguments, struct error *error)
{
	if (!arguments->output)
		return error_input(error, "device measure needs -o PROFILE.yaml: where to write");
	to->path = arguments->words.at[1];
	to->size_bytes = arguments->size.value;
	to->may_write = arguments->write;
	to->runtime_ns = 5 * NS_PER_SECOND;
	if (arguments->runtime &&
	    !time_parse(&to->runtime_ns, arguments->runtime, "--runtime", error))
		return false;
	if (to->runtime_ns < 100 * NS_PER_MS || to->runtime_ns > 3600 * NS_PER_SECOND)
		return error_input(error, "--runtime must be between 100ms and 1h");
	return true;
}

static bool measure_all(const struct device_arguments *arguments, struct error *error)
{
	struct measuring measuring = {.interrupted = interrupt_begin(),
				      .speaks = isatty(STDERR_FILENO)};
	struct device_measure_options to = {.begin = measuring_begin, .context = &measuring};
	struct device_measured measured;
	struct device_profile *profile;
	char *text;
	bool fine;

	if (!measure_options(&to, arguments, error) || !device_measure(&measured, &to, error))
		return false;
	text = device_fit(&measured, to.path);
	profile = device_profile_read(arguments->output, text, strlen(text), error);
	fine = profile && file_write(arguments->output, text, error);
	if (fine)
		measured_print(arguments, &measured, text, profile);
	device_profile_free(profile);
	memory_free(text);
	return fine;
}

static int measure(const struct device_arguments *arguments)
{
	struct error error;
	bool fine = measure_all(arguments, &error);

	interrupt_end();
	return fine ? 0 : command_fail(&error);
}

/* ---- the command ---- */

static int device(const void *values)
{
	const struct device_arguments *arguments = values;
	const char *verb = arguments->words.at[0];
	struct nearest nearest = {.wanted = verb};
	struct error error;

	if (strcmp(verb, "measure") == 0)
		return measure(arguments);
	if (strcmp(verb, "show") == 0 && (arguments->output || arguments->size.given ||
					  arguments->write || arguments->runtime)) {
		error_input(&error, "device show takes no option but --json");
		return command_fail(&error);
	}
	if (strcmp(verb, "show") == 0)
		return show(arguments);
	nearest_offer(&nearest, "show");
	nearest_offer(&nearest, "measure");
	error_input(&error, "device does not \"%.60s\"%s%s%s. It shows or measures.", verb,
		    nearest.best ? " (nearest: " : "", nearest.best ? nearest.best : "",
		    nearest.best ? ")" : "");
	return command_fail(&error);
}

static const char *const usage[] = {
	"device show NAME [--json]",
	"device measure PATH -o PROFILE.yaml [--size SIZE] [--write] [--runtime TIME] [--json]",
	NULL,
};

static const struct example examples[] = {
	{"device show sata-ssd", "the profile, and what the model makes of it"},
	{"device measure /srv/try -o mine.yaml",
	 "make the file /srv/try, measure the device it lies on, remove it"},
	{"device measure /dev/nvme0n1 -o mine.yaml", "reads alone: what is on it stays"},
	{0},
};

const struct command command_device = {
	.usage = usage,
	.description =
		"`show` prints a profile (`refault list devices`, or a file) and what the model "
		"says that such a device does.\n\n"
		"`measure` has fio ask the device that PATH is, or lies on, and writes a profile "
		"for it, which `--device ./PROFILE.yaml` then takes. If PATH does not exist, it is "
		"made as a file, measured with reads and writes, and removed. A block device or a "
		"file that is there already is only read, unless --write is given: then all that "
		"is in it is destroyed. A block device that is mounted is never written. The file "
		"system must know direct I/O; who reads a block device must be allowed to.",
	.options = options,
	.examples = examples,
	.arguments_bytes = sizeof(struct device_arguments),
	.operands_offset = FIELD(words),
	.operand = "show NAME or measure PATH",
	.operands_min = 2,
	.operands_max = 2,
	.operand_complete = COMPLETE_FILE,
	.run = device,
};
