/*
 * device_trial: what a device does when it is asked the usual questions
 *
 * A workload as fio would have it: so many requests under way at once, one kind of request, at random
 * or one after the other, beside a stream of writes if wanted. It is put to the device's model; what
 * fio finds on a real one has the same form.
 */
#ifndef REFAULT_STUDY_DEVICE_TRIAL_H
#define REFAULT_STUDY_DEVICE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

struct device_profile;

struct trial {
	uint64_t depth; /* requests under way at once */
	uint64_t request_bytes;
	bool is_write, is_sequential;
	bool flushes;      /* each write is followed by a flush, and done with that */
	uint64_t requests; /* how many, after as many as warm it up */
	uint64_t warm_up;
	uint64_t area_bytes; /* of the device, from its beginning */
	/* beside it, in the background: so many bytes of writes a second, in requests of so many */
	uint64_t beside_bytes_per_s, beside_request_bytes;
	uint64_t seed;
};

struct trial_outcome {
	uint64_t requests, elapsed_ns;
	uint64_t mean_ns, median_ns, p99_ns, p999_ns, p99999_ns, most_ns;
	uint64_t per_s;       /* requests */
	uint64_t bytes_per_s; /* of them */
};

/* Carry it out on the model of `profile`, a device of `size_bytes`. */
struct trial_outcome trial_run(const struct device_profile *profile, uint64_t size_bytes,
			       const struct trial *trial);

/* The questions that `refault device show` and docs/devices.md answer. */
struct trial_figures {
	struct trial_outcome read;    /* 4 KiB at random, one at a time */
	struct trial_outcome read_8k; /* 8 KiB */
	struct trial_outcome reads;   /* 4 KiB, 256 at a time: 32 for a disk or a volume */
	struct trial_outcome write;   /* 4 KiB at random, one at a time, no flush */
	struct trial_outcome writes;  /* as many as reads */
	struct trial_outcome stream_read, stream_write; /* 128 KiB in a row, 8 at a time */
	struct trial_outcome sync; /* 8 KiB in a row, and a flush: what fdatasync() waits for */
	struct trial_outcome read_beside; /* as `read`, beside 100 MB/s of writes */
};

void trial_figures(struct trial_figures *figures, const struct device_profile *profile);

#endif
