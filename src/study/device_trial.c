#include "study/device_trial.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "base/size.h"
#include "machine/model/device.h"
#include "machine/model/agenda.h"

/* Tags: twice the number of the request, and 1 more for its flush; or this. */
#define TAG_BESIDE UINT64_MAX

struct course {
	const struct device_trial *trial;
	struct device *device;
	struct random random;
	struct agenda thinking; /* who begins a request when */
	uint64_t now_ns;
	uint64_t begun;
	uint64_t next_offset, beside_offset, beside_due_ns, beside_gap_ns;
	uint64_t *since_ns; /* by request; its time once it is done */
	uint64_t done;
	uint64_t measured_from_ns;
};

static void submit(struct course *course, uint64_t number, uint8_t op)
{
	const struct device_trial *trial = course->trial;
	struct device_request request = {.op = op, .tag = number};

	if (op != DEVICE_FLUSH) {
		uint64_t places = trial->area_bytes / trial->request_bytes;

		request.bytes = trial->request_bytes;
		if (trial->is_sequential) {
			request.offset = course->next_offset;
			course->next_offset =
				(request.offset + request.bytes) % (places * trial->request_bytes);
		} else {
			request.offset =
				random_below(&course->random, places) * trial->request_bytes;
		}
	}
	device_submit(course->device, course->now_ns, &request);
}

static void begin(struct course *course)
{
	if (course->begun == course->trial->warm_up + course->trial->requests)
		return;
	course->since_ns[course->begun] = course->now_ns;
	submit(course, course->begun++ << 1, course->trial->is_write ? DEVICE_WRITE : DEVICE_READ);
}

/* As long as the mean on average, evenly from nothing to twice as long. */
static void think(struct course *course)
{
	uint64_t mean_ns = course->trial->think_ns;

	if (mean_ns)
		agenda_add(&course->thinking,
			   course->now_ns + random_below(&course->random, 2 * mean_ns + 1), 0, 0);
	else
		begin(course);
}

/* The background's writes lie behind what the trial touches, one after the other. */
static void beside(struct course *course)
{
	struct device_request request = {
		.op = DEVICE_WRITE,
		.offset = course->trial->area_bytes + course->beside_offset,
		.bytes = course->trial->beside_request_bytes,
		.tag = TAG_BESIDE,
		.is_background = true,
	};

	course->beside_offset = (course->beside_offset + request.bytes) % course->trial->area_bytes;
	course->beside_due_ns += course->beside_gap_ns;
	device_submit(course->device, course->now_ns, &request);
}

static void end(struct course *course, uint64_t tag)
{
	uint64_t number = tag >> 1;

	if (tag == TAG_BESIDE)
		return;
	if (course->trial->flushes && !(tag & 1)) {
		submit(course, tag | 1, DEVICE_FLUSH);
		return;
	}
	course->since_ns[number] = course->now_ns - course->since_ns[number];
	if (++course->done == course->trial->warm_up)
		course->measured_from_ns = course->now_ns;
	think(course);
}

static void course_run(struct course *course)
{
	const struct device_trial *trial = course->trial;
	uint64_t tags[64];
	size_t count;

	for (uint64_t i = 0; i < trial->depth; i++)
		think(course);
	while (course->done < trial->warm_up + trial->requests) {
		uint64_t due_ns = course->beside_gap_ns ? course->beside_due_ns : UINT64_MAX;
		uint64_t thought_ns = agenda_next_ns(&course->thinking);
		uint64_t next_ns = device_next_ns(course->device);

		next_ns = thought_ns < next_ns ? thought_ns : next_ns;
		next_ns = due_ns < next_ns ? due_ns : next_ns;
		assert(next_ns != UINT64_MAX);
		course->now_ns = next_ns;
		do {
			count = device_advance(course->device, next_ns, tags, 64);
			for (size_t i = 0; i < count; i++)
				end(course, tags[i]);
		} while (count == 64);
		if (due_ns <= next_ns)
			beside(course);
		for (; agenda_next_ns(&course->thinking) <= next_ns; begin(course))
			(void)agenda_take(&course->thinking);
	}
	agenda_deinit(&course->thinking);
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

struct device_outcome device_trial_run(const struct device_profile *profile, uint64_t size_bytes,
				       const struct device_trial *trial)
{
	struct course course = {.trial = trial};
	struct device_outcome outcome = {.requests = trial->requests};
	uint64_t *times, sum = 0, count = trial->requests;

	assert(trial->depth <= trial->warm_up + trial->requests && count > 0);
	course.device = device_create(profile, size_bytes, trial->seed);
	random_init(&course.random, trial->seed, 1);
	course.since_ns = memory_alloc(trial->warm_up + count, sizeof(*course.since_ns));
	if (trial->beside_bytes_per_s)
		course.beside_gap_ns =
			trial->beside_request_bytes * NS_PER_SECOND / trial->beside_bytes_per_s;
	course_run(&course);
	times = course.since_ns + trial->warm_up;
	for (uint64_t i = 0; i < count; i++)
		sum += times[i];
	qsort(times, count, sizeof(*times), compare);
	outcome.elapsed_ns = course.now_ns - course.measured_from_ns;
	outcome.mean_ns = sum / count;
	outcome.median_ns = times[count / 2];
	outcome.p99_ns = times[count * 99 / 100];
	outcome.p999_ns = times[count / 1000 * 999];
	outcome.p99999_ns = times[count - 1 - count / 100000];
	outcome.most_ns = times[count - 1];
	if (outcome.elapsed_ns) {
		unsigned __int128 per = (unsigned __int128)count * NS_PER_SECOND;

		outcome.per_s = (uint64_t)(per / outcome.elapsed_ns);
		outcome.bytes_per_s = (uint64_t)(per * trial->request_bytes / outcome.elapsed_ns);
	}
	device_destroy(course.device);
	memory_free(course.since_ns);
	return outcome;
}

/* About as many as `seconds` of the device have room for, in whole thousands. */
static uint64_t requests_for(const struct device_outcome *probe, uint64_t seconds)
{
	uint64_t count = probe->per_s * seconds / 1000 * 1000;

	return count < 10000 ? 10000 : count > 200000 ? 200000 : count;
}

void device_figures(struct device_figures *figures, const struct device_profile *profile)
{
	uint64_t size = device_profile_size(profile) ? device_profile_size(profile) : 400 * GIB;
	uint64_t at_once = strcmp(device_profile_kind(profile), "flash") == 0 ? 256 : 32;
	struct device_trial plain = {.depth = 1,
				     .request_bytes = 4 * KIB,
				     .requests = 200,
				     .area_bytes = size / (8 * KIB) * (8 * KIB),
				     .seed = 1};
	struct device_outcome probe = device_trial_run(profile, size, &plain);
	struct device_trial trial;

	plain.requests = requests_for(&probe, 60);
	figures->at_once = at_once;
	figures->read = device_trial_run(profile, size, &plain);
	trial = plain;
	trial.request_bytes = 8 * KIB;
	figures->read_8k = device_trial_run(profile, size, &trial);
	trial = plain;
	trial.depth = trial.warm_up = at_once;
	figures->reads = device_trial_run(profile, size, &trial);
	trial.is_write = true;
	trial.warm_up = at_once == 256 ? at_once : 50000; /* more than a disk's cache holds */
	figures->writes = device_trial_run(profile, size, &trial);
	trial = plain;
	trial.is_write = true;
	figures->write = device_trial_run(profile, size, &trial);
	trial = (struct device_trial){.depth = 8,
				      .request_bytes = 128 * KIB,
				      .is_sequential = true,
				      .requests = 8000,
				      .warm_up = 8,
				      .area_bytes = plain.area_bytes / (128 * KIB) * (128 * KIB),
				      .seed = 1};
	figures->stream_read = device_trial_run(profile, size, &trial);
	trial.is_write = true;
	figures->stream_write = device_trial_run(profile, size, &trial);
	trial.warm_up = 16 * GIB / trial.request_bytes;
	figures->stream_write_long = device_trial_run(profile, size, &trial);
	trial = plain;
	trial.request_bytes = 8 * KIB;
	trial.is_sequential = trial.is_write = trial.flushes = true;
	figures->sync = device_trial_run(profile, size, &trial);
	trial = plain;
	trial.request_bytes = 8 * KIB;
	trial.depth = 32;
	trial.think_ns = 13 * NS_PER_MS;
	trial.area_bytes /= 2;
	figures->read_alone = device_trial_run(profile, size, &trial);
	trial.beside_bytes_per_s = 100000000;
	trial.beside_request_bytes = 128 * KIB;
	figures->read_beside = device_trial_run(profile, size, &trial);
}
