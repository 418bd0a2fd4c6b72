/*
 * msr: the block traces of Microsoft Research Cambridge
 *
 *     131487204001234567,web,0,Read,1610645504,32768,1207
 *
 * Source     SNIA IOTTA, "MSR Cambridge Traces": Timestamp (100 ns since 1601, the Windows file
 *            time), Hostname, DiskNumber, Type, Offset and Size in bytes, ResponseTime (100 ns). No
 *            header.
 * Accepts    besides: a header, no response time, more columns behind it, ; or tabs instead of
 *            commas, Read and Write in any case.
 * Files      "HOST,DISK"
 */
#include "op/rows/request_columns.h"

static const struct request_columns columns = {
	.place = {[COLUMN_TIME] = 1,
		  [COLUMN_DEVICE] = 2,
		  [COLUMN_DEVICE_TOO] = 3,
		  [COLUMN_OP] = 4,
		  [COLUMN_OFFSET] = 5,
		  [COLUMN_BYTES] = 6,
		  [COLUMN_RESPONSE] = 7},
	.least = 6,
	.time_unit_ns = 100,
	.time_tick_ns = 100,
	.response_unit_ns = 100,
	.offset_unit_bytes = 1,
	.bytes_unit_bytes = 1,
	.reads = "read|r",
	.writes = "write|w",
	.device = "",
	.header = "timestamp,hostname,disknumber,type,offset,size,responsetime",
};

static enum import_match msr_match(const unsigned char *head, size_t bytes, bool whole)
{
	return request_columns_match(&columns, head, bytes, whole);
}

static bool msr_begin(struct import *import, struct error *error)
{
	(void)error;
	request_columns_begin(import, &columns);
	return true;
}

const struct import_format format_msr = {
	.about = {.name = "msr",
		  .summary = "MSR Cambridge CSV: Windows "
			     "time,host,disk,Read|Write,offset,size,response"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct request_reader),
	.match = msr_match,
	.begin = msr_begin,
	.next = request_columns_next,
};
