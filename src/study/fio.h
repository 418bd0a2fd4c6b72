/*
 * fio: questions to a real device, put by the program fio, and what it answers
 *
 * fio is called by its command line and answers in JSON; nothing of it is linked.
 */
#ifndef REFAULT_STUDY_FIO_H
#define REFAULT_STUDY_FIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* One direction of one job. Times are from submission to completion (clat). */
struct fio_side {
	uint64_t requests; /* 0: none were made, and nothing else is known */
	uint64_t per_s, bytes_per_s;
	uint64_t mean_ns, median_ns, p99_ns, p9999_ns, least_ns, most_ns;
};

struct fio_job {
	char name[32];
	struct fio_side read, write, sync; /* sync: fdatasync() after a write */
};

enum { FIO_JOBS_MAX = 4 };

struct fio_answer {
	char version[32]; /* "fio-3.33" */
	struct fio_job jobs[FIO_JOBS_MAX];
	size_t count;
};

/*
 * Read fio's JSON, which may have lines of other text before it. Fails (ERROR_FAILED) if it is not
 * that, or says that a job failed.
 */
bool fio_answer_read(struct fio_answer *answer, const char *text, size_t bytes,
		     struct error *error);

/* The job of this name, or NULL. */
const struct fio_job *fio_job(const struct fio_answer *answer, const char *name);

/*
 * Run fio with these options (NULL ends them) and read its answer. Fails (ERROR_FAILED) if it is not
 * here (the Debian package is named), cannot be run, or complains.
 */
bool fio_run(struct fio_answer *answer, const char *const *options, struct error *error);

#endif
