/*
 * systor: the block traces of SYSTOR '17
 *
 *     Timestamp,Response,IOType,LUN,Offset,Size
 *     1456095145.133076000,0.000806000,R,0,899056122368,131072
 *
 * Source     SNIA IOTTA, "Systor '17 Traces" (Lee et al., "Understanding storage traffic
 *            characteristics on enterprise virtual desktop infrastructure"): times in seconds, offset
 *            and size in bytes. The response time can be missing.
 * Files      "lun,N"
 */
#include "base/size.h"
#include "op/rows/request_columns.h"

static const struct request_columns columns = {
	.place = {[COLUMN_TIME] = 1,
		  [COLUMN_RESPONSE] = 2,
		  [COLUMN_OP] = 3,
		  [COLUMN_DEVICE] = 4,
		  [COLUMN_OFFSET] = 5,
		  [COLUMN_BYTES] = 6},
	.least = 6,
	.time_unit_ns = NS_PER_SECOND,
	.time_tick_ns = 1,
	.response_unit_ns = NS_PER_SECOND,
	.offset_unit_bytes = 1,
	.bytes_unit_bytes = 1,
	.reads = "r|read",
	.writes = "w|write",
	.device = "lun,",
	.header = "timestamp,response,iotype,lun,offset,size",
};

/* Without its header, an op CSV without its own would look the same but for the words. */
static enum import_match systor_match(const unsigned char *head, size_t bytes, bool whole)
{
	struct request_columns letters = columns;

	letters.reads = "r";
	letters.writes = "w";
	if (request_columns_match(&columns, head, bytes, whole) == IMPORT_YES)
		return IMPORT_YES;
	return request_columns_match(&letters, head, bytes, whole);
}

static bool systor_begin(struct import *import, struct error *error)
{
	(void)error;
	request_columns_begin(import, &columns);
	return true;
}

const struct import_format format_systor = {
	.about = {.name = "systor17",
		  .summary = "SYSTOR '17 CSV: seconds,response,R|W,LUN,offset,size",
		  .alias = "systor"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct request_reader),
	.match = systor_match,
	.begin = systor_begin,
	.next = request_columns_next,
};
