/*
 * sweep_file: the cells of a sweep that are done, in a file
 *
 * A line of JSON says what was asked (`question`: which cells there are, in their order, and of what), and a line for each cell that is done has
 * its outcome. Lines are added whole, as cells are done, so that whoever is killed leaves those that were; half a last line is nothing. So the
 * same file is what a sweep goes on from (--resume), what one shard of it hands over, and what `refault merge` puts together. When all is done it is written
 * anew in the order of the cells: the same bytes whoever did what.
 */
#ifndef REFAULT_STUDY_SWEEP_FILE_H
#define REFAULT_STUDY_SWEEP_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A sweep as far as it is known. */
struct sweep_cells {
	json_t *question;  /* an object; its array "cells" says how many there are */
	json_t **outcomes; /* by cell, objects; NULL: not there */
	bool *done;        /* by cell: there is an outcome */
	size_t count, done_count;
};

/* Nothing done. A new reference of the question is taken. */
void sweep_cells_init(struct sweep_cells *cells, json_t *question);
void sweep_cells_deinit(struct sweep_cells *cells);

/* Equal for the same question. */
uint64_t sweep_question_hash(const json_t *question);

/* An outcome as text; what is no JSON object is none. False: it is none, or is there already and differs. */
bool sweep_cells_add(struct sweep_cells *cells, size_t cell, const char *text);

/* Read a file. False: it cannot be read (ERROR_FAILED) or is none (ERROR_INPUT). Free with sweep_cells_deinit() if true. */
bool sweep_cells_read(struct sweep_cells *cells, const char *path, struct error *error);

/* Of the same question: take what `other` has. False (ERROR_INPUT): it is another one, or they contradict each other. */
bool sweep_cells_take(struct sweep_cells *cells, const struct sweep_cells *other, const char *path,
		      struct error *error);

/* All of it, in the order of the cells; never half-written. */
bool sweep_cells_write(const struct sweep_cells *cells, const char *path, struct error *error);

struct sweep_file; /* opaque: open to add to */

/*
 * Make it, or, if `resume` and it is there, take what is done of the same question and go on behind that. Nobody else may have it open: ERROR_FAILED.
 */
struct sweep_file *sweep_file_open(const char *path, bool resume, struct sweep_cells *cells,
				   struct error *error);

/* False: the disk is full, or the like. */
bool sweep_file_add(struct sweep_file *file, size_t cell, const char *outcome, struct error *error);
void sweep_file_close(struct sweep_file *file); /* NULL is fine */

#endif
