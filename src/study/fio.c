#include "study/fio.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "machine/kernel/program.h"

enum { FIO_OPTIONS_MAX = 60, FIO_ANSWER_BYTES_MAX = 4 << 20 };

/* ---- the answer ---- */

static uint64_t number(const json_t *object, const char *key)
{
	double value = json_number_value(json_object_get(object, key));

	return value > 0 && value < 1e18 ? (uint64_t)(value + 0.5) : 0;
}

/* Keys are "99.000000": so many, with six digits. */
static uint64_t percentile(const json_t *times, const char *key)
{
	return number(json_object_get(times, "percentile"), key);
}

static void times_read(struct fio_side *side, const json_t *times)
{
	side->mean_ns = number(times, "mean");
	side->least_ns = number(times, "min");
	side->most_ns = number(times, "max");
	side->median_ns = percentile(times, "50.000000");
	side->p99_ns = percentile(times, "99.000000");
	side->p9999_ns = percentile(times, "99.990000");
}

static void side_read(struct fio_side *side, const json_t *job, const char *key)
{
	const json_t *object = json_object_get(job, key);

	side->requests = number(object, "total_ios");
	side->per_s = number(object, "iops");
	side->bytes_per_s = number(object, "bw_bytes");
	times_read(side, json_object_get(object, "clat_ns"));
}

static bool job_read(struct fio_job *to, const json_t *job, struct error *error)
{
	const char *name = json_string_value(json_object_get(job, "jobname"));
	const json_t *sync = json_object_get(json_object_get(job, "sync"), "lat_ns");

	if (!name || !json_is_object(json_object_get(job, "read")))
		return error_failed(error, "fio's answer has a job without a name or without "
					   "\"read\"");
	if (number(job, "error"))
		return error_failed(error, "fio's job %.30s failed: %s", name,
				    strerror((int)number(job, "error")));
	*to = (struct fio_job){0};
	snprintf(to->name, sizeof(to->name), "%s", name);
	side_read(&to->read, job, "read");
	side_read(&to->write, job, "write");
	/* Of these, fio 3 counts none in total_ios. */
	to->sync.requests = number(sync, "N");
	times_read(&to->sync, sync);
	return true;
}

static bool jobs_read(struct fio_answer *answer, const json_t *root, struct error *error)
{
	const json_t *jobs = json_object_get(root, "jobs");
	const char *version = json_string_value(json_object_get(root, "fio version"));

	if (!version || !json_is_array(jobs) || json_array_size(jobs) == 0)
		return error_failed(error, "fio's answer has no \"fio version\" or no \"jobs\"");
	if (json_array_size(jobs) > FIO_JOBS_MAX)
		return error_failed(error, "fio's answer has %zu jobs, at most %d were asked for",
				    json_array_size(jobs), FIO_JOBS_MAX);
	*answer = (struct fio_answer){0};
	snprintf(answer->version, sizeof(answer->version), "%s", version);
	for (; answer->count < json_array_size(jobs); answer->count++) {
		if (!job_read(&answer->jobs[answer->count], json_array_get(jobs, answer->count),
			      error))
			return false;
	}
	return true;
}

bool fio_answer_read(struct fio_answer *answer, const char *text, size_t bytes, struct error *error)
{
	const char *begin = memchr(text, '{', bytes);
	json_error_t where;
	json_t *root;
	bool fine;

	if (!begin)
		return error_failed(error, "fio's answer is not JSON");
	root = json_loadb(begin, bytes - (size_t)(begin - text), JSON_DISABLE_EOF_CHECK, &where);
	if (!root)
		return error_failed(error, "fio's answer is not JSON: line %d: %s", where.line,
				    where.text);
	fine = jobs_read(answer, root, error);
	json_decref(root);
	return fine;
}

const struct fio_job *fio_job(const struct fio_answer *answer, const char *name)
{
	for (size_t i = 0; i < answer->count; i++) {
		if (strcmp(answer->jobs[i].name, name) == 0)
			return &answer->jobs[i];
	}
	return NULL;
}

/* ---- running it ---- */

static bool output_read(struct fio_answer *answer, int fd, struct error *error)
{
	char *text = memory_alloc(FIO_ANSWER_BYTES_MAX, 1);
	ssize_t bytes = pread(fd, text, FIO_ANSWER_BYTES_MAX, 0);
	bool fine = bytes >= 0 ? fio_answer_read(answer, text, (size_t)bytes, error)
			       : error_system(error, "cannot read what fio has written");

	memory_free(text);
	return fine;
}

bool fio_run(struct fio_answer *answer, const char *const *options, struct error *error)
{
	const char *words[FIO_OPTIONS_MAX + 4], *folder = getenv("TMPDIR");
	char path[4096], output[4096 + 20];
	struct arena arena = {0};
	size_t count = 0;
	bool fine;
	int fd;

	if (!program_find(&words[count++], "fio", "fio", &arena, error)) {
		arena_deinit(&arena);
		return false;
	}
	snprintf(path, sizeof(path), "%s/refault-fio-XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0) {
		arena_deinit(&arena);
		return error_system(error, "cannot make a file for fio's answer (%s)", path);
	}
	snprintf(output, sizeof(output), "--output=%s", path);
	words[count++] = output;
	words[count++] = "--output-format=json";
	for (; *options && count < FIO_OPTIONS_MAX + 3; options++)
		words[count++] = *options;
	words[count] = NULL;
	fine = program_run(words, error) && output_read(answer, fd, error);
	close(fd);
	unlink(path);
	arena_deinit(&arena);
	return fine;
}
