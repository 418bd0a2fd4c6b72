/*
 * From what fio measured to a profile: the numbers of the kinds `flash` and `disk`, one by one. What
 * fio cannot show from outside (a cache's size, the layout of cells) is a guess, and says so.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/size.h"
#include "machine/model/device.h"
#include "machine/model/device/profile.h"
#include "study/device_measure.h"
#include "study/device_trial.h"

/* A single random read that takes longer than this has waited for an arm. Flash, even far away behind
 * a network, takes less than 2 ms; the fastest disks (15,000 revolutions) take more than 5. */
#define DISK_READ_NS (3 * NS_PER_MS)

/* Reads beside writes that take less than this much longer are not disturbed: a tenth. */
enum { DISTURBED_TENTHS = 1, PROGRAM_RUN_MAX = 4096 };

struct fitted {
	const struct device_measured *measured;
	const char *path;
	uint64_t program_run; /* 0: reads never meet a program */
	FILE *out;
};

/* ---- lines ---- */

/* KEY: VALUE, and where it comes from, in a column. */
static void line(struct fitted *fitted, const char *comment, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void line(struct fitted *fitted, const char *comment, const char *format, ...)
{
	char text[120];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(fitted->out, "%-32s # %s\n", text, comment);
}

static void line_time(struct fitted *fitted, const char *key, uint64_t ns, const char *comment)
{
	/* A profile takes no time above a second: whatever took longer was no device. */
	if (ns > NS_PER_SECOND)
		ns = NS_PER_SECOND;
	line(fitted, comment, "%s: %" PRIu64 ".%03uus", key, ns / 1000, (unsigned)(ns % 1000));
}

static void line_rate(struct fitted *fitted, const char *key, uint64_t bytes_per_s,
		      const char *comment)
{
	line(fitted, comment, "%s: %" PRIu64 "MB/s", key,
	     bytes_per_s < 1500000 ? 1 : (bytes_per_s + 500000) / 1000000);
}

/* A path may have anything in it. */
static void print_path(FILE *out, const char *path)
{
	for (; *path; path++)
		fputc((unsigned char)*path < ' ' || *path == '"' || *path == '\\' || *path == 0x7f
			      ? '?'
			      : *path,
		      out);
}

static void print_side(FILE *out, const char *what, const struct fio_side *side)
{
	char count[2 * SIZE_TEXT_BYTES], mean[SIZE_TEXT_BYTES], median[SIZE_TEXT_BYTES];
	char p99[SIZE_TEXT_BYTES], p9999[SIZE_TEXT_BYTES];

	if (!side->requests)
		return;
	fprintf(out, "#   %-9s %s", what, side->per_s ? count_format(count, side->per_s) : "");
	fprintf(out, "%smean %s, median %s, 99 %% %s, 99.99 %% %s", side->per_s ? "/s, " : "",
		time_format(mean, side->mean_ns), time_format(median, side->median_ns),
		time_format(p99, side->p99_ns), time_format(p9999, side->p9999_ns));
	if (side->bytes_per_s)
		fprintf(out, ", %" PRIu64 ".%u MB/s", side->bytes_per_s / 1000000,
			(unsigned)(side->bytes_per_s / 100000 % 10));
	fputc('\n', out);
}

static void print_measured(struct fitted *fitted, const char *kind)
{
	const struct device_measured *measured = fitted->measured;
	char size[SIZE_TEXT_BYTES];

	fprintf(fitted->out, "# Measured by `refault device measure` with %s on ", measured->fio);
	print_path(fitted->out, fitted->path);
	fprintf(fitted->out, " (%s, %s of it).\n#\n",
		measured->is_block_device ? "a block device"
		: measured->made_file     ? "a file made for it"
					  : "a file",
		size_format(size, measured->size_bytes));
	for (enum device_question q = 0; q < QUESTION_COUNT; q++) {
		if (!measured->asked[q])
			continue;
		fprintf(fitted->out, "# %s\n", device_question_text(q));
		print_side(fitted->out, "read", &measured->read[q]);
		print_side(fitted->out, "write", &measured->write[q]);
		print_side(fitted->out, "fdatasync", &measured->sync[q]);
	}
	if (!measured->wrote)
		fprintf(fitted->out, "#\n# Nothing was written: what the profile says of writes is "
				     "a guess (--write).\n");
	fprintf(fitted->out, "kind: %s\nsummary: \"measured with %s: ", kind, measured->fio);
	print_path(fitted->out, fitted->path);
	fprintf(fitted->out, "\"\n\n");
}

/* ---- flash ---- */

/* ln: halved until it is below 2, then by the series of the inverse hyperbolic tangent. */
static double logarithm(double value)
{
	double sum = 0, power, y;

	assert(value > 0);
	for (; value > 2; value /= 2)
		sum += 0.693147180559945309;
	y = (value - 1) / (value + 1);
	power = y;
	for (int i = 1; i < 60; i += 2, power *= y * y)
		sum += 2 * power / i;
	return sum;
}

/* Of a lognormal distribution: 99 % are below the median times e^(2.326 sigma). */
static double sigma_of(const struct fio_side *side)
{
	double sigma = side->median_ns && side->p99_ns > side->median_ns
			       ? logarithm((double)side->p99_ns / (double)side->median_ns) / 2.326
			       : 0;

	return sigma > 2 ? 2 : sigma;
}

static uint64_t most_reads_per_s(const struct device_measured *measured)
{
	static const enum device_question all[] = {QUESTION_READ, QUESTION_READS_8,
						   QUESTION_READS_32};
	uint64_t most = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (measured->read[all[i]].per_s > most)
			most = measured->read[all[i]].per_s;
	}
	return most;
}

/* So many requests at once make the most reads a second that there were, at the time of one. */
static uint64_t channels_of(const struct device_measured *measured)
{
	uint64_t busy_ns = most_reads_per_s(measured) * measured->read[QUESTION_READ].mean_ns;
	uint64_t channels = (busy_ns + NS_PER_SECOND / 2) / NS_PER_SECOND;

	return channels < 1 ? 1 : channels > PROFILE_CHANNELS_MAX ? PROFILE_CHANNELS_MAX : channels;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

enum { TAIL_MILLIONTHS = 200 };

/*
 * The tail: what one read in ten thousand takes beyond 99.99 % (3.719 deviations) of a lognormal
 * distribution that has the others' spread. 0: no more than twice that.
 */
static uint64_t tail_of(const struct fio_side *read)
{
	double x = 3.719 * sigma_of(read), term = 1,
	       power = 1; /* e^x by its series: x is below 8 */

	for (int i = 1; i < 60; i++) {
		term *= x / i;
		power += term;
	}
	return (double)read->p9999_ns < 2 * power * (double)read->median_ns
		       ? 0
		       : read->p9999_ns - read->median_ns;
}

static void print_read(struct fitted *fitted, const struct fio_side *read)
{
	uint64_t tail_ns = tail_of(read), of_mean_ns = tail_ns * TAIL_MILLIONTHS / 1000000;

	line_time(fitted, "read_latency",
		  larger(read->mean_ns > of_mean_ns ? read->mean_ns - of_mean_ns : 0, 1),
		  tail_ns ? "mean of random reads, one after the other, less the tail"
			  : "mean of random reads, one after the other");
	line(fitted, "their 99 % against their median", "read_sigma: %.3f", sigma_of(read));
	if (!tail_ns)
		return;
	line(fitted, "one read in 5,000 is slower, and half of those beyond 99.99 %",
	     "tail_probability: 0.000%d", TAIL_MILLIONTHS);
	line_time(fitted, "tail_time", tail_ns, "99.99 % less the median");
}

static void print_flash_writes(struct fitted *fitted)
{
	const struct device_measured *measured = fitted->measured;
	const struct fio_side *write = &measured->write[QUESTION_WRITE_SYNC];
	const struct fio_side *sync = &measured->sync[QUESTION_WRITE_SYNC];
	uint64_t stream = measured->write[QUESTION_STREAM_WRITE].bytes_per_s;
	uint64_t channels = channels_of(measured);

	line_time(fitted, "write_latency", larger(write->mean_ns, 1000),
		  "mean of random writes, without the fdatasync");
	line(fitted, "their 99 % against their median", "write_sigma: %.3f", sigma_of(write));
	line_rate(fitted, "write_bandwidth", stream, "writes in a row");
	line(fitted, "a guess", "cache: 64MiB");
	line_rate(fitted, "drain", stream, "as write_bandwidth");
	line_time(fitted, "flush_time", sync->mean_ns, "mean of fdatasync after a write");
	if (!fitted->program_run)
		return;
	line(fitted, "a guess: less than that disturbs nobody", "drain_begin: 16MiB");
	line(fitted, "a guess that lets the channels keep up with the drain",
	     "program_size: %" PRIu64,
	     (uint64_t)((unsigned __int128)stream * 11 / 10 / 1000 / channels / (4 * KIB) + 1) *
		     (4 * KIB));
	line(fitted, "as TLC cells have it", "program_time_min: 0.5ms");
	line(fitted, "likewise", "program_time_max: 1.5ms");
	line(fitted, "fitted: reads beside 100 MB/s of writes then take what they took",
	     "program_run: %" PRIu64, fitted->program_run);
}

static void print_flash(struct fitted *fitted)
{
	const struct device_measured *measured = fitted->measured;
	const struct fio_side *read = &measured->read[QUESTION_READ];
	uint64_t read_8 = measured->read[QUESTION_READS_8].per_s;
	uint64_t read_32 = measured->read[QUESTION_READS_32].per_s;
	uint64_t stream = larger(measured->read[QUESTION_STREAM_READ].bytes_per_s,
				 most_reads_per_s(measured) * 4 * KIB);

	print_measured(fitted, "flash");
	line(fitted, "the most random reads a second, at the time of a single one",
	     "channels: %" PRIu64, channels_of(measured));
	print_read(fitted, read);
	line_rate(fitted, "read_bandwidth", stream, "reads in a row, or many at random");
	if (read_32 < read_8 * 3 / 2)
		line(fitted, "32 at once are not much faster than 8", "read_iops: %" PRIu64,
		     larger(most_reads_per_s(measured), 1));
	if (measured->wrote) {
		print_flash_writes(fitted);
		return;
	}
	line_time(fitted, "write_latency", read->mean_ns, "not measured: as a read");
	line_rate(fitted, "write_bandwidth", stream, "not measured: as read_bandwidth");
	line(fitted, "not measured", "flush_time: 0s");
}

/* ---- disk ---- */

static void print_disk(struct fitted *fitted)
{
	/* Revolutions a minute, and up to which mean time of a read: what such disks' sheets say. */
	static const struct {
		uint64_t most_ns, rpm;
	} speeds[] = {{6 * NS_PER_MS, 15000},
		      {9 * NS_PER_MS, 10000},
		      {15 * NS_PER_MS, 7200},
		      {UINT64_MAX, 5400}};
	const struct device_measured *measured = fitted->measured;
	uint64_t read_ns = measured->read[QUESTION_READ].mean_ns, revolution_ns, seek_ns;
	const uint64_t least_ns = NS_PER_MS / 2;
	uint64_t write_ns = measured->write[QUESTION_WRITE_SYNC].mean_ns;
	size_t i = 0;

	while (read_ns > speeds[i].most_ns)
		i++;
	revolution_ns = 60 * NS_PER_SECOND / speeds[i].rpm;
	seek_ns = larger(read_ns - revolution_ns / 2, least_ns);
	print_measured(fitted, "disk");
	line(fitted, "what was measured: seeks are those within it", "capacity: %" PRIu64,
	     larger(measured->size_bytes, GIB));
	line_time(fitted, "seek_min", least_ns, "a guess");
	line_time(fitted, "seek_full", least_ns + (seek_ns - least_ns) * 1000 / 533,
		  "so that a random seek and half a revolution make the mean read");
	line(fitted, "a guess, from the mean read", "revolution: %" PRIu64 "ns", revolution_ns);
	line_rate(fitted, "outer_rate",
		  larger(measured->read[QUESTION_STREAM_READ].bytes_per_s, 2 * MIB),
		  "reads in a row, from the beginning");
	line_rate(fitted, "inner_rate",
		  larger(measured->read[QUESTION_STREAM_READ].bytes_per_s / 2, 2 * MIB),
		  "a guess: half of it");
	if (measured->wrote && write_ns < DISK_READ_NS) {
		line(fitted,
		     "writes are done before the arm can have been there; its size is a guess",
		     "cache: 64MiB");
		line_time(fitted, "write_latency", write_ns,
			  "mean of random writes, without the fdatasync");
	} else {
		line(fitted,
		     measured->wrote ? "writes take as long as the arm does" : "not measured",
		     "cache: 0");
	}
}

/* ---- the fit ---- */

static char *print(struct fitted *fitted)
{
	char *text = NULL, *copy;
	size_t bytes = 0;

	fitted->out = open_memstream(&text, &bytes);
	assert(fitted->out);
	if (fitted->measured->read[QUESTION_READ].mean_ns >= DISK_READ_NS)
		print_disk(fitted);
	else
		print_flash(fitted);
	fclose(fitted->out);
	copy = memory_alloc(bytes + 1, 1);
	memcpy(copy, text, bytes);
	free(text);
	return copy;
}

/* What a read beside writes takes in the model of this text. */
static uint64_t model_read_beside(const char *text)
{
	const struct device_trial trial = {
		.depth = 1,
		.request_bytes = 4 * KIB,
		.requests = 20000,
		.area_bytes = 8 * GIB,
		.beside_bytes_per_s = 100000000,
		.beside_request_bytes = 128 * KIB,
		.seed = 1,
	};
	struct device_profile *profile;
	struct device_outcome outcome;
	struct error error;

	profile = device_profile_read("measured.yaml", text, strlen(text), &error);
	assert(profile && "what is fitted is within the schema's bounds");
	outcome = device_trial_run(profile, 2 * trial.area_bytes, &trial);
	device_profile_free(profile);
	return outcome.mean_ns;
}

static uint64_t model_with(struct fitted *fitted, uint64_t program_run)
{
	char *text;
	uint64_t ns;

	fitted->program_run = program_run;
	text = print(fitted);
	ns = model_read_beside(text);
	memory_free(text);
	return ns;
}

/* The smallest program_run with which a read beside writes takes as long as it did. */
static uint64_t program_run_fit(struct fitted *fitted, uint64_t wanted_ns)
{
	uint64_t low = 1, high = PROGRAM_RUN_MAX;

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (model_with(fitted, middle) < wanted_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

char *device_fit(const struct device_measured *measured, const char *path)
{
	struct fitted fitted = {.measured = measured, .path = path};
	uint64_t alone_ns = measured->read[QUESTION_READ].mean_ns;
	uint64_t beside_ns = measured->read[QUESTION_READ_BESIDE].mean_ns;

	if (alone_ns < DISK_READ_NS && measured->asked[QUESTION_READ_BESIDE] &&
	    beside_ns > alone_ns + alone_ns * DISTURBED_TENTHS / 10)
		fitted.program_run = program_run_fit(&fitted, beside_ns);
	return print(&fitted);
}
