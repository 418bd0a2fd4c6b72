#include "study/device_trial.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/random.h"
#include "base/size.h"
#include "machine/model/device.h"

/* Tags: twice the number of the request, and 1 more for its flush; or this. */
#define TAG_BESIDE UINT64_MAX

struct course {
	const struct trial *trial;
	struct device *device;
	struct random random;
	uint64_t now_ns;
	uint64_t begun;
	uint64_t next_offset, beside_offset, beside_due_ns, beside_gap_ns;
	uint64_t *since_ns; /* by request; its time once it is done */
	uint64_t done;
	uint64_t measured_from_ns;
};

static void submit(struct course *course, uint64_t number, uint8_t op)
{
	const struct trial *trial = course->trial;
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
	begin(course);
}

static void course_run(struct course *course)
{
	uint64_t tags[64];
	size_t count;

	while (course->begun < course->trial->depth)
		begin(course);
	while (course->done < course->trial->warm_up + course->trial->requests) {
		uint64_t next_ns = device_next_ns(course->device);

		assert(next_ns != UINT64_MAX || course->beside_gap_ns);
		if (course->beside_gap_ns && course->beside_due_ns < next_ns)
			next_ns = course->beside_due_ns;
		course->now_ns = next_ns;
		do {
			count = device_advance(course->device, next_ns, tags, 64);
			for (size_t i = 0; i < count; i++)
				end(course, tags[i]);
		} while (count == 64);
		if (course->beside_gap_ns && course->beside_due_ns <= next_ns)
			beside(course);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

struct trial_outcome trial_run(const struct device_profile *profile, uint64_t size_bytes,
			       const struct trial *trial)
{
	struct course course = {.trial = trial};
	struct trial_outcome outcome = {.requests = trial->requests};
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
