/*
 * lirs: a page number a line, as the authors of LIRS (and many after them) wrote their traces
 *
 *     1842745
 *     1842746
 *     *
 *
 * Source     Jiang and Zhang, "LIRS", SIGMETRICS 2002, and the traces that came with it; empty lines
 *            and lines with a * are none.
 * Idea       each is a read of a page of 4 KiB of the file "pages"; without times.
 */
#include "base/size.h"
#include "op/rows/request_columns.h"

static const struct request_columns columns = {
	.separator = ' ',
	.place = {[COLUMN_OFFSET] = 1},
	.least = 1,
	.most = 1,
	.offset_unit_bytes = PAGE_BYTES,
	.bytes_fixed = PAGE_BYTES,
	.device = "pages",
	.comments = "*",
};

static enum import_match lirs_match(const unsigned char *head, size_t bytes, bool whole)
{
	return request_columns_match(&columns, head, bytes, whole);
}

static bool lirs_begin(struct import *import, struct error *error)
{
	(void)error;
	request_columns_begin(import, &columns);
	return true;
}

const struct import_format format_lirs = {
	.about = {.name = "lirs", .summary = "a page number a line, as in the LIRS traces"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct request_reader),
	.match = lirs_match,
	.begin = lirs_begin,
	.next = request_columns_next,
};
