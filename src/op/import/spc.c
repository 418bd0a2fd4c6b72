/*
 * spc: the format of the Storage Performance Council, and of the traces at UMass
 *
 *     0,303567,3584,w,0.026214
 *
 * Source     SPC Trace File Format Specification, revision 1.0.1: ASU (application-specific unit), LBA,
 *            Size in bytes, Opcode (R or W, in any case), Timestamp in seconds; more columns may
 *            follow. A block is 512 bytes, as in the UMass repository's Financial and WebSearch.
 * Files      "asu,N"
 */
#include "base/size.h"
#include "op/rows/request_columns.h"

static const struct request_columns columns = {
	.place = {[COLUMN_DEVICE] = 1,
		  [COLUMN_OFFSET] = 2,
		  [COLUMN_BYTES] = 3,
		  [COLUMN_OP] = 4,
		  [COLUMN_TIME] = 5},
	.least = 5,
	.time_unit_ns = NS_PER_SECOND,
	.time_tick_ns = 1,
	.offset_unit_bytes = 512,
	.bytes_unit_bytes = 1,
	.reads = "r|read",
	.writes = "w|write",
	.device = "asu,",
	.header = "asu,lba,size,opcode,timestamp",
};

static enum import_match spc_match(const unsigned char *head, size_t bytes, bool whole)
{
	return request_columns_match(&columns, head, bytes, whole);
}

static bool spc_begin(struct import *import, struct error *error)
{
	(void)error;
	request_columns_begin(import, &columns);
	return true;
}

const struct import_format format_spc = {
	.about = {.name = "spc",
		  .summary =
			  "SPC, as at UMass (Financial, WebSearch): ASU,block,bytes,R|W,seconds"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct request_reader),
	.match = spc_match,
	.begin = spc_begin,
	.next = request_columns_next,
};
