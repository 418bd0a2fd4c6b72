/*
 * volume: network storage that is sold by the request and by the byte
 *
 * Idea       A request takes a time drawn by lot, whatever lies beside it; but only so many requests
 *            and so many bytes a second begin. Requests that go on where the last one of their
 *            direction ended share its token, up to `merge_size`; a larger one takes several. What
 *            was not used is kept, up to `burst_requests` and `burst_bytes`.
 * Source     Amazon EBS documentation, "I/O characteristics and monitoring" (merging of sequential
 *            requests up to 256 KiB, tokens) and "General Purpose SSD volumes"; section E of the
 *            database workloads of the design notes.
 * Differs    1. A generic cell rate algorithm stands for the token bucket: the same, in two numbers.
 *            2. No bad minutes: neither the volume nor the network is ever disturbed by others.
 *            3. The instance's own limit of bytes and requests is not there.
 */
#include "machine/model/agenda.h"
#include "machine/model/device/kind.h"
#include "machine/model/device/profile.h"
#include "machine/model/device/queue.h"
#include "machine/model/device/spread.h"

struct volume_parameters {
	uint64_t channels;
	uint64_t read_ns, read_sigma, write_ns, write_sigma, flush_ns;
	uint64_t iops, bytes_per_s, merge_bytes, burst_requests, burst_bytes;
};

#define PARAMETERS struct volume_parameters
static const struct schema_key keys[] = {
	PROFILE_KEY(channels, NUMBER, channels, "64", 1, PROFILE_CHANNELS_MAX,
		    "how many requests it has in hand at once"),
	PROFILE_KEY(read_latency, TIME, read_ns, "required", 1, SPREAD_NS_MAX, "mean of a read"),
	PROFILE_KEY(read_sigma, RATIO, read_sigma, "0", 0, SPREAD_SIGMA_MAX,
		    "deviation of its logarithm"),
	PROFILE_KEY(write_latency, TIME, write_ns, "required", 1, SPREAD_NS_MAX,
		    "mean of a write, which is then durable"),
	PROFILE_KEY(write_sigma, RATIO, write_sigma, "0", 0, SPREAD_SIGMA_MAX,
		    "deviation of its logarithm"),
	PROFILE_KEY(flush_time, TIME, flush_ns, "0", 0, SPREAD_NS_MAX, "of a flush"),
	PROFILE_KEY(iops, NUMBER, iops, "required", 1, PROFILE_IOPS_MAX,
		    "requests a second, reads and writes together"),
	PROFILE_KEY(bandwidth, BANDWIDTH, bytes_per_s, "required", 1, PROFILE_BANDWIDTH_MAX,
		    "bytes a second, reads and writes together"),
	PROFILE_KEY(merge_size, SIZE, merge_bytes, "256KiB", 4 * KIB, GIB,
		    "what one request may be for the count: sequential ones share it, larger ones "
		    "take several"),
	PROFILE_KEY(burst_requests, NUMBER, burst_requests, "0", 0, PROFILE_IOPS_MAX,
		    "how many unused requests it keeps for later"),
	PROFILE_KEY(burst_bytes, SIZE, burst_bytes, "0", 0, PROFILE_BYTES_MAX,
		    "how many unused bytes"),
};

struct volume {
	struct device base;
	const struct volume_parameters *parameters;
	struct random random;
	struct spread read, write;
	struct flights flights;
	struct queue queue;
	struct agenda agenda;
	uint64_t free_channels;
	uint64_t request_ns; /* between two tokens */
	struct pace_of_bytes pace;
	uint64_t request_burst_ns, byte_burst_ns;
	/* when the next token, and the next byte, would come if none had ever been kept */
	uint64_t requests_due_ns, bytes_due_ns;
	bool is_waking; /* a wake-up is on the agenda */
	struct {
		uint64_t end, room; /* where the last one ended, bytes left of its token */
	} last[2];
};

enum { VOLUME_DONE, VOLUME_FLUSHED, VOLUME_WAKE };

static struct device *create(const void *parameters, uint64_t size_bytes, uint64_t seed)
{
	struct volume *volume = memory_alloc(1, sizeof(*volume));
	const struct volume_parameters *p = parameters;

	(void)size_bytes;
	volume->parameters = p;
	random_init(&volume->random, seed, 0);
	spread_init(&volume->read, p->read_ns, p->read_sigma);
	spread_init(&volume->write, p->write_ns, p->write_sigma);
	volume->free_channels = p->channels;
	volume->request_ns = NS_PER_SECOND / p->iops;
	volume->pace = pace_of_bytes(p->bytes_per_s);
	volume->request_burst_ns = p->burst_requests * volume->request_ns;
	volume->byte_burst_ns = pace_ns(volume->pace, p->burst_bytes);
	return &volume->base;
}

static void destroy(struct device *device)
{
	struct volume *volume = (struct volume *)device;

	queue_deinit(&volume->queue);
	agenda_deinit(&volume->agenda);
	array_deinit(&volume->flights.at);
	memory_free(volume);
}

/* How many tokens this request needs besides what the last one has left. */
static uint64_t tokens_needed(const struct volume *volume, const struct flight *flight)
{
	uint64_t merge = volume->parameters->merge_bytes;
	uint64_t room =
		flight->offset == volume->last[flight->op].end ? volume->last[flight->op].room : 0;

	return flight->bytes <= room ? 0 : (flight->bytes - room + merge - 1) / merge;
}

static void start(struct volume *volume, uint64_t now_ns, uint32_t id)
{
	struct flight *flight = &volume->flights.at.at[id];
	uint64_t tokens = tokens_needed(volume, flight);
	uint64_t merge = volume->parameters->merge_bytes, lot = random_next(&volume->random);
	uint64_t room =
		flight->offset == volume->last[flight->op].end ? volume->last[flight->op].room : 0;
	uint64_t kept_ns =
		now_ns > volume->request_burst_ns ? now_ns - volume->request_burst_ns : 0;

	volume->last[flight->op].end = flight->offset + flight->bytes;
	volume->last[flight->op].room = room + tokens * merge - flight->bytes;
	if (tokens)
		volume->requests_due_ns =
			later(volume->requests_due_ns, kept_ns) + tokens * volume->request_ns;
	kept_ns = now_ns > volume->byte_burst_ns ? now_ns - volume->byte_burst_ns : 0;
	volume->bytes_due_ns =
		later(volume->bytes_due_ns, kept_ns) + pace_ns(volume->pace, flight->bytes);
	volume->free_channels--;
	agenda_add(&volume->agenda,
		   now_ns + spread_draw(flight->op == DEVICE_READ ? &volume->read : &volume->write,
					lot),
		   VOLUME_DONE, id);
}

static void dispatch(struct volume *volume, uint64_t now_ns)
{
	while (volume->free_channels && !queue_is_empty(&volume->queue)) {
		const struct flight *flight = &volume->flights.at.at[queue_peek(&volume->queue)];
		uint64_t due_ns = volume->bytes_due_ns;

		if (tokens_needed(volume, flight))
			due_ns = later(due_ns, volume->requests_due_ns);
		if (due_ns > now_ns) {
			if (!volume->is_waking)
				agenda_add(&volume->agenda, due_ns, VOLUME_WAKE, 0);
			volume->is_waking = true;
			return;
		}
		start(volume, now_ns, queue_pop(&volume->queue));
	}
}

static void submit(struct device *device, uint64_t now_ns, const struct device_request *request)
{
	struct volume *volume = (struct volume *)device;
	uint32_t id;

	if (request->op == DEVICE_FLUSH && volume->parameters->flush_ns == 0) {
		device_done(device, now_ns, request->tag);
		return;
	}
	id = flight_take(&volume->flights, request, now_ns);
	if (request->op == DEVICE_FLUSH) {
		agenda_add(&volume->agenda, now_ns + volume->parameters->flush_ns, VOLUME_FLUSHED,
			   id);
		return;
	}
	queue_push(&volume->queue, id, request->is_background);
	dispatch(volume, now_ns);
}

static uint64_t next_ns(const struct device *device)
{
	return agenda_next_ns(&((const struct volume *)device)->agenda);
}

static void run(struct device *device, uint64_t now_ns)
{
	struct volume *volume = (struct volume *)device;

	while (agenda_next_ns(&volume->agenda) <= now_ns) {
		struct agenda_entry entry = agenda_take(&volume->agenda);

		if (entry.what == VOLUME_WAKE) {
			volume->is_waking = false;
		} else {
			device_done(device, entry.ns, volume->flights.at.at[entry.id].tag);
			flight_give_back(&volume->flights, entry.id);
			volume->free_channels += entry.what == VOLUME_DONE;
		}
		dispatch(volume, entry.ns);
	}
}

const struct device_kind device_kind_volume = {
	.name = "volume",
	.summary = "network storage sold by the request and the byte: token buckets",
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.parameters_bytes = sizeof(struct volume_parameters),
	.create = create,
	.destroy = destroy,
	.submit = submit,
	.next_ns = next_ns,
	.run = run,
};
