/*
 * arc: the .lis traces of the ARC paper
 *
 *     230027 8 0 0
 *
 * Source     Megiddo and Modha, "ARC", FAST 2003: starting page, number of pages, 0, number of the
 *            request; each line asks for those pages in order. What a page is differs by trace
 *            (P1 .. P14: 512 bytes, OLTP: a database's): here it is 4 KiB, so that a cache of N pages
 *            is the paper's.
 * Files      "pages"; without times. All are reads: the traces do not tell writes.
 */
#include "base/size.h"
#include "op/rows/request_columns.h"

static const struct request_columns columns = {
	.separator = ' ',
	.place = {[COLUMN_OFFSET] = 1, [COLUMN_BYTES] = 2},
	.least = 4,
	.most = 4,
	.offset_unit_bytes = PAGE_BYTES,
	.bytes_unit_bytes = PAGE_BYTES,
	.device = "pages",
};

static enum import_match arc_match(const unsigned char *head, size_t bytes, bool whole)
{
	return request_columns_match(&columns, head, bytes, whole);
}

static bool arc_begin(struct import *import, struct error *error)
{
	(void)error;
	request_columns_begin(import, &columns);
	return true;
}

const struct import_format format_arc = {
	.about = {.name = "arc",
		  .summary = "the ARC paper's .lis: page pages 0 request",
		  .alias = "lis"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct request_reader),
	.match = arc_match,
	.begin = arc_begin,
	.next = request_columns_next,
};
