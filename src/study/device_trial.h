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

struct device_trial {
	uint64_t depth;    /* requests under way at once */
	uint64_t think_ns; /* mean time between the end of one and the next in its place */
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

struct device_outcome {
	uint64_t requests, elapsed_ns;
	uint64_t mean_ns, median_ns, p99_ns, p999_ns, p99999_ns, most_ns;
	uint64_t per_s;       /* requests */
	uint64_t bytes_per_s; /* of them */
};

/* Carry it out on the model of `profile`, a device of `size_bytes`. */
struct device_outcome device_trial_run(const struct device_profile *profile, uint64_t size_bytes,
				       const struct device_trial *trial);

/*
 * The questions that `refault device show` and docs/devices.md answer. At once: 256 requests for
 * flash, 32 for the others.
 */
struct device_figures {
	uint64_t at_once;
	struct device_outcome read;        /* 4 KiB at random, one after the other */
	struct device_outcome read_8k;     /* 8 KiB, likewise */
	struct device_outcome reads;       /* 4 KiB at random, many at once */
	struct device_outcome write;       /* 4 KiB at random, one after the other, no flush */
	struct device_outcome writes;      /* many at once */
	struct device_outcome stream_read; /* 128 KiB in a row, 8 at once */
	struct device_outcome stream_write;
	struct device_outcome stream_write_long; /* when 16 GiB are written already */
	struct device_outcome sync; /* 8 KiB in a row and a flush, as fdatasync() has it */
	/*
	 * What the clients of a database see beside 100 MB/s of writes: 32 of them, each reading
	 * 8 KiB about every 13 ms. So it was in Freund's runs (11,800 transactions a second, a read
	 * in 0.21 of them).
	 */
	struct device_outcome read_beside;
	struct device_outcome read_alone; /* the same without the writes */
};

void device_figures(struct device_figures *figures, const struct device_profile *profile);

#endif
