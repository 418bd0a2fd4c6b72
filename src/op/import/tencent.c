/*
 * tencent: the block traces of Tencent's cloud
 *
 *     1538323200,4247200,128,1,1058
 *
 * Source     SNIA IOTTA, "Tencent Block Storage Traces" (Zhang et al., "OSCA", ATC '20): Timestamp in
 *            seconds, Offset and Size in sectors of 512 bytes, IOType (0 a read, 1 a write), VolumeID.
 *            No header.
 * Files      "volume,ID"
 */
#include "base/size.h"
#include "op/rows/request_columns.h"

static const struct request_columns columns = {
	.place = {[COLUMN_TIME] = 1,
		  [COLUMN_OFFSET] = 2,
		  [COLUMN_BYTES] = 3,
		  [COLUMN_OP] = 4,
		  [COLUMN_DEVICE] = 5},
	.least = 5,
	.time_unit_ns = NS_PER_SECOND,
	.time_tick_ns = NS_PER_SECOND,
	.offset_unit_bytes = 512,
	.bytes_unit_bytes = 512,
	.reads = "0",
	.writes = "1",
	.device = "volume,",
	.header = "timestamp,offset,size,iotype,volumeid",
};

static enum import_match tencent_match(const unsigned char *head, size_t bytes, bool whole)
{
	return request_columns_match(&columns, head, bytes, whole);
}

static bool tencent_begin(struct import *import, struct error *error)
{
	(void)error;
	request_columns_begin(import, &columns);
	return true;
}

const struct import_format format_tencent = {
	.about = {.name = "tencent",
		  .summary = "Tencent block CSV: seconds,sector,sectors,0|1,volume"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct request_reader),
	.match = tencent_match,
	.begin = tencent_begin,
	.next = request_columns_next,
};
