/*
 * If this fails, what fio measured is read wrongly, or the profile made of it does not do what was measured.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/size.h"
#include "machine/model/device.h"
#include "machine/model/device/profile.h"
#include "study/device_measure.h"
#include "study/device_trial.h"
#include "study/fio.h"

/* ---- fio's JSON ---- */

/* What fio 3.33 says of 2 s of --rw=randwrite --fdatasync=1, shortened; and a line of text that it puts before. */
static const char canned[] =
	"fio: this platform does not support process shared mutexes\n"
	"{\n  \"fio version\" : \"fio-3.33\",\n  \"timestamp\" : 1796062490,\n  \"jobs\" : [\n    "
	"{\n"
	"      \"jobname\" : \"it\",\n      \"groupid\" : 0,\n      \"error\" : 0,\n"
	"      \"read\" : {\n        \"io_bytes\" : 0,\n        \"bw_bytes\" : 0,\n"
	"        \"iops\" : 0.000000,\n        \"total_ios\" : 0,\n"
	"        \"clat_ns\" : {\n          \"min\" : 0,\n          \"max\" : 0,\n"
	"          \"mean\" : 0.000000,\n          \"stddev\" : 0.000000,\n          \"N\" : 0\n"
	"        }\n      },\n      \"write\" : {\n        \"io_bytes\" : 12828672,\n"
	"        \"bw_bytes\" : 6407928,\n        \"iops\" : 1564.435564,\n"
	"        \"total_ios\" : 3132,\n        \"clat_ns\" : {\n          \"min\" : 1190,\n"
	"          \"max\" : 5185327,\n          \"mean\" : 31587.538761,\n          \"N\" : "
	"3132,\n"
	"          \"percentile\" : {\n            \"50.000000\" : 17024,\n"
	"            \"99.000000\" : 64768,\n            \"99.990000\" : 5210112\n          }\n"
	"        }\n      },\n      \"sync\" : {\n        \"total_ios\" : 0,\n        \"lat_ns\" : "
	"{\n"
	"          \"min\" : 23115,\n          \"max\" : 9187715,\n"
	"          \"mean\" : 631792.943806,\n          \"N\" : 3132,\n"
	"          \"percentile\" : {\n            \"50.000000\" : 33536,\n"
	"            \"99.000000\" : 4079616,\n            \"99.990000\" : 9240576\n          }\n"
	"        }\n      }\n    }\n  ],\n  \"disk_util\" : [ ]\n}\n";

static void an_answer_of_fio_is_read(void **state)
{
	struct fio_answer answer;
	const struct fio_job *job;
	struct error error;

	(void)state;
	assert_true(fio_answer_read(&answer, canned, strlen(canned), &error));
	assert_string_equal(answer.version, "fio-3.33");
	assert_int_equal(answer.count, 1);
	job = fio_job(&answer, "it");
	assert_non_null(job);
	assert_null(fio_job(&answer, "beside"));
	assert_int_equal(job->read.requests, 0);
	assert_int_equal(job->write.requests, 3132);
	assert_int_equal(job->write.per_s, 1564);
	assert_int_equal(job->write.bytes_per_s, 6407928);
	assert_int_equal(job->write.mean_ns, 31588);
	assert_int_equal(job->write.median_ns, 17024);
	assert_int_equal(job->write.p99_ns, 64768);
	assert_int_equal(job->write.p9999_ns, 5210112);
	assert_int_equal(job->write.least_ns, 1190);
	assert_int_equal(job->write.most_ns, 5185327);
	assert_int_equal(job->sync.requests, 3132);
	assert_int_equal(job->sync.mean_ns, 631793);
	assert_int_equal(job->sync.p99_ns, 4079616);
}

static void wrong_answer(const char *text, const char *says)
{
	struct fio_answer answer;
	struct error error = {0};

	assert_false(fio_answer_read(&answer, text, strlen(text), &error));
	assert_int_equal(error.kind, ERROR_FAILED);
	if (!strstr(error.message, says))
		fail_msg("%s\nand not: %s", error.message, says);
}

static void what_is_no_answer_is_refused(void **state)
{
	(void)state;
	wrong_answer("", "is not JSON");
	wrong_answer("fio: unrecognized option", "is not JSON");
	wrong_answer("{\"fio version\": \"fio-3.33\", \"jobs\": [", "is not JSON: line 1");
	wrong_answer("{\"fio version\": \"fio-3.33\"}", "no \"jobs\"");
	wrong_answer("{\"fio version\": \"fio-3.33\", \"jobs\": []}", "no \"jobs\"");
	wrong_answer("{\"jobs\": [{}]}", "no \"fio version\"");
	wrong_answer("{\"fio version\": \"x\", \"jobs\": [{\"jobname\": \"it\"}]}",
		     "without \"read\"");
	wrong_answer("{\"fio version\": \"x\", \"jobs\": [{\"jobname\": \"it\", \"error\": 5, "
		     "\"read\": {}}]}",
		     "job it failed: Input/output error");
	wrong_answer("{\"fio version\": \"x\", \"jobs\": [{}, {}, {}, {}, {}]}", "has 5 jobs");
}

/* ---- the fit ---- */

static struct fio_side side(uint64_t per_s, uint64_t bytes_per_s, uint64_t mean_ns,
			    uint64_t median_ns, uint64_t p99_ns)
{
	return (struct fio_side){.requests = 1000,
				 .per_s = per_s,
				 .bytes_per_s = bytes_per_s,
				 .mean_ns = mean_ns,
				 .median_ns = median_ns,
				 .p99_ns = p99_ns,
				 .p9999_ns = 2 * p99_ns,
				 .most_ns = 3 * p99_ns};
}

static struct device_measured measured_flash(void)
{
	struct device_measured measured = {
		.fio = "fio-3.33", .size_bytes = GIB, .made_file = true, .wrote = true};

	for (enum device_question q = 0; q < QUESTION_COUNT; q++)
		measured.asked[q] = true;
	measured.read[QUESTION_READ] = side(9900, 40500000, 100000, 99000, 140000);
	measured.read[QUESTION_READS_8] = side(79000, 320000000, 101000, 99000, 140000);
	measured.read[QUESTION_READS_32] = side(98000, 400000000, 320000, 320000, 400000);
	measured.read[QUESTION_STREAM_READ] = side(4100, 540000000, 1900000, 1900000, 2000000);
	measured.write[QUESTION_STREAM_WRITE] = side(3900, 500000000, 2000000, 2000000, 2100000);
	measured.write[QUESTION_WRITE_SYNC] = side(1500, 6100000, 25000, 24000, 40000);
	measured.sync[QUESTION_WRITE_SYNC] = side(0, 0, 630000, 600000, 900000);
	measured.read[QUESTION_READ_BESIDE] = side(3000, 12000000, 330000, 100000, 9000000);
	measured.write[QUESTION_READ_BESIDE] = side(760, 100000000, 400000, 400000, 500000);
	return measured;
}

static struct device_profile *fitted(const struct device_measured *measured, const char *path)
{
	char *text = device_fit(measured, path);
	struct error error;
	struct device_profile *profile =
		device_profile_read("mine.yaml", text, strlen(text), &error);

	if (!profile)
		fail_msg("%" PRIu64 ":%" PRIu64 ": %s\n%s", error.line, error.column, error.message,
			 text);
	memory_free(text);
	return profile;
}

static void within(const char *what, uint64_t value, uint64_t wanted, unsigned percent)
{
	if (value * 100 < wanted * (100 - percent) || value * 100 > wanted * (100 + percent))
		fail_msg("%s: %" PRIu64 ", measured %" PRIu64, what, value, wanted);
}

static void a_fitted_ssd_does_what_was_measured(void **state)
{
	struct device_measured measured = measured_flash();
	struct device_profile *profile = fitted(&measured, "/srv/a \"strange\"\npath");
	struct device_trial beside = {.depth = 1,
				      .request_bytes = 4 * KIB,
				      .requests = 50000,
				      .area_bytes = 8 * GIB,
				      .beside_bytes_per_s = 100000000,
				      .beside_request_bytes = 128 * KIB,
				      .seed = 5};
	struct device_figures figures;

	(void)state;
	assert_string_equal(device_profile_kind(profile), "flash");
	assert_string_equal(device_profile_summary(profile),
			    "measured with fio-3.33: /srv/a ?strange??path");
	device_figures(&figures, profile);
	within("read", figures.read.mean_ns, 100000, 1);
	within("99 %", figures.read.p99_ns, 140000, 3);
	within("many reads", figures.reads.per_s, 98000, 3);
	within("reads in a row", figures.stream_read.bytes_per_s, 540000000, 1);
	within("writes in a row, for long", figures.stream_write_long.bytes_per_s, 500000000, 2);
	within("write and flush", figures.sync.mean_ns, 655000, 5);
	within("reads beside writes",
	       device_trial_run(profile, 2 * beside.area_bytes, &beside).mean_ns, 330000, 15);
	device_profile_free(profile);
}

static void what_is_not_disturbed_gets_no_programs(void **state)
{
	struct device_measured measured = measured_flash();
	char *text;

	(void)state;
	measured.read[QUESTION_READ_BESIDE] = side(9800, 40000000, 104000, 99000, 150000);
	text = device_fit(&measured, "/srv/x");
	assert_null(strstr(text, "program"));
	memory_free(text);
}

static void a_slow_read_makes_a_disk(void **state)
{
	struct device_measured measured = measured_flash();
	struct device_profile *profile;
	struct device_figures figures;

	(void)state;
	measured.size_bytes = UINT64_C(4000000000000);
	measured.read[QUESTION_READ] = side(80, 330000, 12400000, 12300000, 20600000);
	measured.read[QUESTION_READS_32] = side(180, 700000, 170000000, 120000000, 500000000);
	measured.read[QUESTION_STREAM_READ] = side(1600, 208000000, 5000000, 5000000, 6000000);
	measured.write[QUESTION_WRITE_SYNC] = side(80, 330000, 110000, 100000, 200000);
	profile = fitted(&measured, "/dev/sdb");
	assert_string_equal(device_profile_kind(profile), "disk");
	device_figures(&figures, profile);
	within("read", figures.read.mean_ns, 12400000, 2);
	within("99 %", figures.read.p99_ns, 20600000, 5);
	within("many reads", figures.reads.per_s, 180, 12);
	within("reads in a row", figures.stream_read.bytes_per_s, 208000000, 3);
	device_profile_free(profile);
}

static void what_was_not_written_is_called_a_guess(void **state)
{
	struct device_measured measured = measured_flash();
	struct device_profile *profile;
	char *text;

	(void)state;
	measured.wrote = measured.made_file = false;
	for (enum device_question q = 0; q < QUESTION_COUNT; q++) {
		if (measured.write[q].requests) {
			measured.asked[q] = false;
			measured.read[q] = measured.write[q] = measured.sync[q] =
				(struct fio_side){0};
		}
	}
	text = device_fit(&measured, "/dev/nvme0n1");
	assert_non_null(strstr(text, "Nothing was written"));
	assert_non_null(strstr(text, "not measured: as a read"));
	profile = fitted(&measured, "/dev/nvme0n1");
	device_profile_free(profile);
	memory_free(text);
}

/* Whatever fio finds, the profile is one that loads. */
static void every_measurement_makes_a_profile_that_loads(void **state)
{
	static const uint64_t times[] = {1, 900, 50000, 2999999, 3000000, 40000000, 900000000};
	static const uint64_t rates[] = {0, 1, 1000, 30000000000};

	(void)state;
	for (size_t t = 0; t < sizeof(times) / sizeof(times[0]); t++) {
		for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
			struct device_measured measured = measured_flash();

			for (enum device_question q = 0; q < QUESTION_COUNT; q++) {
				measured.read[q] = side(rates[r] / 4096, rates[r], times[t],
							times[t] / 3, times[t] * 4);
				measured.write[q] = measured.read[q];
				measured.sync[q] = side(0, 0, times[t], times[t], times[t]);
			}
			measured.read[QUESTION_READ_BESIDE].mean_ns = times[t] * (r + 1);
			device_profile_free(fitted(&measured, "/x"));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_of_fio_is_read),
		cmocka_unit_test(what_is_no_answer_is_refused),
		cmocka_unit_test(a_fitted_ssd_does_what_was_measured),
		cmocka_unit_test(what_is_not_disturbed_gets_no_programs),
		cmocka_unit_test(a_slow_read_makes_a_disk),
		cmocka_unit_test(what_was_not_written_is_called_a_guess),
		cmocka_unit_test(every_measurement_makes_a_profile_that_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
