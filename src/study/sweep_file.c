#include "study/sweep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"

enum { SWEEP_FILE_VERSION = 1, CELLS_MAX = 1 << 24 };

/* ---- in memory ---- */

void sweep_cells_init(struct sweep_cells *cells, json_t *question)
{
	size_t count = json_array_size(json_object_get(question, "cells"));

	*cells = (struct sweep_cells){
		.question = json_incref(question),
		.outcomes = memory_alloc(count + 1, sizeof(*cells->outcomes)),
		.done = memory_alloc(count + 1, sizeof(*cells->done)),
		.count = count,
	};
}

void sweep_cells_deinit(struct sweep_cells *cells)
{
	for (size_t i = 0; i < cells->count; i++)
		json_decref(cells->outcomes[i]);
	memory_free(cells->outcomes);
	memory_free(cells->done);
	json_decref(cells->question);
	*cells = (struct sweep_cells){0};
}

uint64_t sweep_question_hash(const json_t *question)
{
	char *text = json_dumps(question, JSON_COMPACT | JSON_SORT_KEYS);
	uint64_t hash = text ? XXH64(text, strlen(text), 0) : 0;

	free(text);
	return hash;
}

/* Takes `outcome` over. */
static bool cell_set(struct sweep_cells *cells, size_t cell, json_t *outcome)
{
	if (!json_is_object(outcome) || cell >= cells->count ||
	    (cells->outcomes[cell] && !json_equal(cells->outcomes[cell], outcome))) {
		json_decref(outcome);
		return false;
	}
	if (cells->outcomes[cell]) {
		json_decref(outcome);
		return true;
	}
	cells->outcomes[cell] = outcome;
	cells->done[cell] = true;
	cells->done_count++;
	return true;
}

bool sweep_cells_add(struct sweep_cells *cells, size_t cell, const char *text)
{
	return cell_set(cells, cell, json_loads(text, JSON_REJECT_DUPLICATES, NULL));
}

bool sweep_cells_take(struct sweep_cells *cells, const struct sweep_cells *other, const char *path,
		      struct error *error)
{
	if (!json_equal(cells->question, other->question))
		return error_at(error, path, 0, 0,
				"is of another sweep: another input, other cells, other options or "
				"another refault");
	for (size_t i = 0; i < other->count; i++)
		if (other->outcomes[i] && !cell_set(cells, i, json_incref(other->outcomes[i])))
			return error_at(
				error, path, 0, 0,
				"has cell %zu with another outcome than the files before it",
				i + 1);
	return true;
}

/* ---- lines ---- */

static char *head_text(const json_t *question)
{
	json_t *head =
		json_pack("{s:i, s:O}", "refault_sweep", SWEEP_FILE_VERSION, "question", question);
	char *text = json_dumps(head, JSON_COMPACT);

	json_decref(head);
	return text;
}

static bool cell_print(FILE *out, size_t cell, const char *outcome)
{
	return fprintf(out, "{\"cell\":%zu,\"outcome\":%s}\n", cell, outcome) > 0;
}

static bool head_take(struct sweep_cells *cells, json_t *head, const char *path,
		      struct error *error)
{
	json_t *question = json_object_get(head, "question");
	json_int_t version = json_integer_value(json_object_get(head, "refault_sweep"));
	size_t count = json_array_size(json_object_get(question, "cells"));

	if (version == 0 || !json_is_object(question) || count == 0 || count > CELLS_MAX)
		return error_at(error, path, 1, 0,
				"is no file of a sweep: expected what `refault sweep -o` wrote");
	if (version != SWEEP_FILE_VERSION)
		return error_at(error, path, 1, 0,
				"is in version %lld of the file; this refault reads version %d",
				(long long)version, SWEEP_FILE_VERSION);
	sweep_cells_init(cells, question);
	return true;
}

static bool line_take(struct sweep_cells *cells, const char *line, uint64_t number,
		      const char *path, struct error *error)
{
	json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	json_t *index = json_object_get(json, "cell");
	bool done;

	if (number == 1) {
		done = head_take(cells, json, path, error);
	} else {
		done = json_is_integer(index) && json_integer_value(index) >= 0 &&
		       cell_set(cells, (size_t)json_integer_value(index),
				json_incref(json_object_get(json, "outcome")));
		if (!done)
			error_at(error, path, number, 0, "is no cell of this sweep");
	}
	json_decref(json);
	return done;
}

/* *whole: bytes of the lines that are whole. */
static bool lines_read(struct sweep_cells *cells, FILE *file, const char *path, uint64_t *whole,
		       struct error *error)
{
	char *line = NULL;
	size_t room = 0;
	uint64_t number = 0;
	ssize_t bytes;
	bool done = true;

	*whole = 0;
	*cells = (struct sweep_cells){0};
	while (done && (bytes = getline(&line, &room, file)) > 0 && line[bytes - 1] == '\n') {
		done = line_take(cells, line, ++number, path, error);
		*whole += (uint64_t)bytes;
	}
	free(line);
	if (done && ferror(file))
		done = error_system(error, "cannot read %.200s", path);
	if (done && number == 0)
		done = error_at(error, path, 0, 0, "is no file of a sweep: it has no whole line");
	if (!done)
		sweep_cells_deinit(cells);
	return done;
}

bool sweep_cells_read(struct sweep_cells *cells, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	uint64_t whole;
	bool done;

	if (!file) {
		error_system(error, "cannot open %.200s", path);
		error->kind = ERROR_INPUT;
		return false;
	}
	done = lines_read(cells, file, path, &whole, error);
	fclose(file);
	return done;
}

static bool cells_print(FILE *out, const struct sweep_cells *cells)
{
	char *text = head_text(cells->question);
	bool done = text && fprintf(out, "%s\n", text) > 0;

	free(text);
	for (size_t i = 0; done && i < cells->count; i++) {
		if (!cells->outcomes[i])
			continue;
		text = json_dumps(cells->outcomes[i], JSON_COMPACT);
		done = text && cell_print(out, i, text);
		free(text);
	}
	return done && fflush(out) == 0;
}

bool sweep_cells_write(const struct sweep_cells *cells, const char *path, struct error *error)
{
	size_t bytes = strlen(path) + 32;
	char *name = memory_alloc(bytes, 1);
	FILE *file;
	bool done;

	snprintf(name, bytes, "%s.%ld.new", path, (long)getpid());
	file = fopen(name, "we");
	done = file && cells_print(file, cells) && fsync(fileno(file)) == 0;
	if (!done)
		error_system(error, "cannot write %.200s", path);
	if (file && fclose(file) != 0 && done)
		done = error_system(error, "cannot write %.200s", path);
	if (done && rename(name, path) != 0)
		done = error_system(error, "cannot write %.200s", path);
	if (!done)
		unlink(name);
	memory_free(name);
	return done;
}

/* ---- open to add to ---- */

struct sweep_file {
	FILE *file;
	char *path;
};

/* What is in it already. *keeps: it is of this question, and its first *whole bytes are good. */
static bool resume_from(struct sweep_file *file, struct sweep_cells *cells, bool *keeps,
			uint64_t *whole, struct error *error)
{
	struct sweep_cells before;
	struct stat status;
	bool done;

	*keeps = false;
	if (fstat(fileno(file->file), &status) != 0)
		return error_system(error, "cannot read %.200s", file->path);
	if (status.st_size == 0)
		return true;
	if (!lines_read(&before, file->file, file->path, whole, error))
		return false;
	done = sweep_cells_take(cells, &before, file->path, error);
	*keeps = done;
	sweep_cells_deinit(&before);
	return done;
}

static bool begin(struct sweep_file *file, const struct sweep_cells *cells, bool keeps,
		  uint64_t whole, struct error *error)
{
	int fd = fileno(file->file);
	char *text;
	bool done;

	if (ftruncate(fd, keeps ? (off_t)whole : 0) != 0 || fseeko(file->file, 0, SEEK_END) != 0)
		return error_system(error, "cannot write %.200s", file->path);
	if (keeps)
		return true;
	text = head_text(cells->question);
	done = text && fprintf(file->file, "%s\n", text) > 0 && fflush(file->file) == 0;
	free(text);
	return done || error_system(error, "cannot write %.200s", file->path);
}

struct sweep_file *sweep_file_open(const char *path, bool resume, struct sweep_cells *cells,
				   struct error *error)
{
	struct sweep_file *file = memory_alloc(1, sizeof(*file));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	bool keeps = false, done = false;
	uint64_t whole = 0;

	file->path = memory_alloc(strlen(path) + 1, 1);
	strcpy(file->path, path);
	file->file = fd < 0 ? NULL : fdopen(fd, "r+");
	if (!file->file) {
		error_system(error, "cannot write %.200s", path);
		if (fd >= 0)
			close(fd);
	} else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		error_failed(error, "another sweep is writing %.200s", path);
	} else {
		done = (!resume || resume_from(file, cells, &keeps, &whole, error)) &&
		       begin(file, cells, keeps, whole, error);
	}
	if (done)
		return file;
	sweep_file_close(file);
	return NULL;
}

bool sweep_file_add(struct sweep_file *file, size_t cell, const char *outcome, struct error *error)
{
	/* With the line's end it is out of this process: who is killed after that has kept it. */
	return (cell_print(file->file, cell, outcome) && fflush(file->file) == 0) ||
	       error_system(error, "cannot write %.200s", file->path);
}

void sweep_file_close(struct sweep_file *file)
{
	if (!file)
		return;
	if (file->file)
		fclose(file->file);
	memory_free(file->path);
	memory_free(file);
}
