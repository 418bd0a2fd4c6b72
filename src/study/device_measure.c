#include "study/device_measure.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/size.h"

#define FILE_BYTES_DEFAULT GIB
#define SIZE_BYTES_MIN     (16 * MIB)

const char *device_question_text(enum device_question question)
{
	static const char *const texts[QUESTION_COUNT] = {
		[QUESTION_STREAM_WRITE] = "writes of 128 KiB in a row, 8 at once",
		[QUESTION_READ] = "random reads of 4 KiB, one after the other",
		[QUESTION_READS_8] = "random reads of 4 KiB, 8 at once",
		[QUESTION_READS_32] = "random reads of 4 KiB, 32 at once",
		[QUESTION_STREAM_READ] = "reads of 128 KiB in a row, 8 at once",
		[QUESTION_WRITE_SYNC] =
			"random writes of 4 KiB with fdatasync, one after the other",
		[QUESTION_READ_BESIDE] = "random reads of 4 KiB beside 100 MB/s of writes",
	};

	return texts[question];
}

static bool question_writes(enum device_question question)
{
	return question == QUESTION_STREAM_WRITE || question == QUESTION_WRITE_SYNC ||
	       question == QUESTION_READ_BESIDE;
}

/* ---- what lies there ---- */

/* Nobody has it mounted, or holds it otherwise: O_EXCL on a block device asks for that. */
static bool must_be_unused(const char *path, struct error *error)
{
	int fd = open(path, O_RDWR | O_EXCL | O_CLOEXEC);

	if (fd < 0 && errno == EBUSY)
		return error_input(error,
				   "%s is in use (mounted, or part of something): it is not "
				   "written, not even with --write",
				   path);
	if (fd < 0)
		return error_system(error, "cannot open %s for writing", path);
	close(fd);
	return true;
}

static bool block_device_size(uint64_t *bytes, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool fine;

	if (fd < 0)
		return error_system(error, "cannot open %s", path);
	fine = ioctl(fd, BLKGETSIZE64, bytes) == 0;
	if (!fine)
		error_system(error, "cannot ask %s for its size", path);
	close(fd);
	return fine;
}

/* O_EXCL: what is there by now is somebody else's. */
static bool file_make(const char *path, struct error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_system(error, "cannot make the file %s", path);
	close(fd);
	return true;
}

static bool look(struct device_measured *measured, const struct device_measure_options *options,
		 struct error *error)
{
	uint64_t there = 0;
	struct stat status;

	if (stat(options->path, &status) != 0) {
		if (errno != ENOENT)
			return error_system(error, "cannot look at %s", options->path);
		measured->size_bytes =
			options->size_bytes ? options->size_bytes : FILE_BYTES_DEFAULT;
		if (measured->size_bytes < SIZE_BYTES_MIN)
			return error_input(error, "--size must be at least 16 MiB");
		measured->made_file = measured->wrote = file_make(options->path, error);
		return measured->made_file;
	}
	measured->is_block_device = S_ISBLK(status.st_mode);
	if (!S_ISREG(status.st_mode) && !measured->is_block_device)
		return error_input(error, "%s is neither a file nor a block device", options->path);
	if (!measured->is_block_device)
		there = (uint64_t)status.st_size;
	else if (!block_device_size(&there, options->path, error))
		return false;
	if (there < SIZE_BYTES_MIN)
		return error_input(error, "%s has less than 16 MiB: that is too small to measure",
				   options->path);
	if (options->size_bytes > there)
		return error_input(error, "%s has %" PRIu64 " bytes, less than --size",
				   options->path, there);
	measured->size_bytes = options->size_bytes ? options->size_bytes : there;
	if (measured->size_bytes < SIZE_BYTES_MIN)
		return error_input(error, "--size must be at least 16 MiB");
	measured->wrote = options->may_write;
	return !(measured->wrote && measured->is_block_device) ||
	       must_be_unused(options->path, error);
}

/* ---- asking ---- */

enum { WORDS_MAX = 40, WORD_BYTES = 64 };

struct words {
	char filename[4096 + 20];
	char texts[WORDS_MAX][WORD_BYTES];
	const char *at[WORDS_MAX + 1];
	size_t count;
};

static void word(struct words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void word(struct words *words, const char *format, ...)
{
	va_list arguments;

	assert(words->count < WORDS_MAX);
	va_start(arguments, format);
	vsnprintf(words->texts[words->count], WORD_BYTES, format, arguments);
	va_end(arguments);
	words->at[words->count] = words->texts[words->count];
	words->at[++words->count] = NULL;
}

/* A job: kind of request, bytes, requests at once. */
static void job(struct words *words, const char *name, const char *rw, uint64_t bytes,
		unsigned depth)
{
	word(words, "--name=%s", name);
	word(words, "--rw=%s", rw);
	word(words, "--bs=%" PRIu64, bytes);
	word(words, "--iodepth=%u", depth);
}

static void job_of(struct words *words, enum device_question question)
{
	switch (question) {
	case QUESTION_STREAM_WRITE:
		job(words, "it", "write", 128 * KIB, 8);
		break;
	case QUESTION_READ:
		job(words, "it", "randread", 4 * KIB, 1);
		break;
	case QUESTION_READS_8:
		job(words, "it", "randread", 4 * KIB, 8);
		break;
	case QUESTION_READS_32:
		job(words, "it", "randread", 4 * KIB, 32);
		break;
	case QUESTION_STREAM_READ:
		job(words, "it", "read", 128 * KIB, 8);
		break;
	case QUESTION_WRITE_SYNC:
		job(words, "it", "randwrite", 4 * KIB, 1);
		word(words, "--fdatasync=1");
		break;
	case QUESTION_READ_BESIDE:
		job(words, "it", "randread", 4 * KIB, 1);
		job(words, "beside", "write", 128 * KIB, 4);
		word(words, "--rate=100000000");
		break;
	case QUESTION_COUNT:
		break;
	}
}

/* What is said before the first job holds for all of them. */
static bool ask(struct device_measured *measured, const struct device_measure_options *options,
		enum device_question question, struct error *error)
{
	struct words words = {.count = 0};
	struct fio_answer answer;
	const struct fio_job *it;

	/* fio takes ':' in a name for the border between two. */
	snprintf(words.filename, sizeof(words.filename), "--filename=%s", options->path);
	words.at[words.count++] = words.filename;
	word(&words, "--ioengine=libaio");
	word(&words, "--direct=1");
	word(&words, "--thread");
	word(&words, "--randrepeat=1");
	word(&words, "--size=%" PRIu64, measured->size_bytes);
	if (question == QUESTION_STREAM_WRITE && measured->made_file) {
		word(&words, "--end_fsync=1"); /* once over all of it: it is read afterwards */
	} else {
		word(&words, "--time_based");
		word(&words, "--runtime=%" PRIu64 "ms", options->runtime_ns / NS_PER_MS);
	}
	if (!question_writes(question))
		word(&words, "--readonly");
	job_of(&words, question);
	if (!fio_run(&answer, words.at, error))
		return error_context(error, "%s", device_question_text(question));
	it = fio_job(&answer, "it");
	if (!it)
		return error_failed(error, "fio's answer does not have the job that was asked for");
	snprintf(measured->fio, sizeof(measured->fio), "%s", answer.version);
	measured->asked[question] = true;
	measured->read[question] = it->read;
	measured->write[question] = it->write;
	measured->sync[question] = it->sync;
	if (question == QUESTION_READ_BESIDE && fio_job(&answer, "beside"))
		measured->write[question] = fio_job(&answer, "beside")->write;
	return true;
}

bool device_measure(struct device_measured *measured, const struct device_measure_options *options,
		    struct error *error)
{
	bool fine;

	*measured = (struct device_measured){0};
	if (strpbrk(options->path, ":\\"))
		return error_input(error, "fio cannot have ':' or '\\' in a path: %s",
				   options->path);
	fine = look(measured, options, error);
	for (enum device_question question = 0; fine && question < QUESTION_COUNT; question++) {
		if (question_writes(question) && !measured->wrote)
			continue;
		if (options->begin && !options->begin(options->context, question))
			fine = error_failed(error, "stopped before it was measured");
		else
			fine = ask(measured, options, question, error);
	}
	if (measured->made_file)
		unlink(options->path);
	return fine;
}
