/*
 * device_measure: a profile for the device at hand, from what fio measures on it
 *
 * Asked is what the profile needs (device_question), and no more is written than was allowed: a file
 * that is made for it, or whatever lies at the path if the caller says so. From the answers a profile
 * is fitted, as text; each number says in a comment what it comes from, or that it is a guess.
 */
#ifndef REFAULT_STUDY_DEVICE_MEASURE_H
#define REFAULT_STUDY_DEVICE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "study/fio.h"

enum device_question {
	QUESTION_STREAM_WRITE, /* 128 KiB in a row, 8 at once; first, because it fills the file */
	QUESTION_READ,         /* 4 KiB at random, one after the other */
	QUESTION_READS_8,      /* 8 at once */
	QUESTION_READS_32,     /* 32 at once */
	QUESTION_STREAM_READ,  /* 128 KiB in a row, 8 at once */
	QUESTION_WRITE_SYNC,   /* 4 KiB written at random, and fdatasync(), one after the other */
	QUESTION_READ_BESIDE,  /* as QUESTION_READ, beside 100 MB/s of writes */
	QUESTION_COUNT,
};

/* "random reads of 4 KiB, one after the other" */
const char *device_question_text(enum device_question question);

struct device_measure_options {
	const char *path;
	uint64_t
		size_bytes; /* of the file to make, or of the part to use; 0: 1 GiB, or all there is */
	uint64_t runtime_ns; /* for each question */
	bool may_write;      /* into what is there already: it is destroyed */
	/* called before each question; returns false to stop. NULL: nobody is told */
	bool (*begin)(void *context, enum device_question question);
	void *context;
};

struct device_measured {
	char fio[32]; /* its version */
	uint64_t size_bytes;
	bool made_file, wrote, is_block_device;
	bool asked[QUESTION_COUNT];
	struct fio_side read[QUESTION_COUNT], write[QUESTION_COUNT], sync[QUESTION_COUNT];
};

/*
 * Ask. A file that was made for it is removed again, also after a failure. Fails (ERROR_INPUT) if the
 * path is neither a file, a block device, nor free; or is a block device that somebody uses and would
 * be written; (ERROR_FAILED) if fio is not here or fails, or if `begin` stopped it.
 */
bool device_measure(struct device_measured *measured, const struct device_measure_options *options,
		    struct error *error);

/* The profile's text, in memory of its own (memory_free()). `path`: for its summary. */
char *device_fit(const struct device_measured *measured, const char *path);

#endif
