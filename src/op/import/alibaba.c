/*
 * alibaba: the block traces of Alibaba's cloud
 *
 *     419,W,8792731648,16384,1577808144360767
 *
 * Source     github.com/alibaba/block-traces: device_id, opcode (R or W), offset and length in bytes,
 *            timestamp in microseconds. No header.
 * Files      "device,ID"
 */
#include "base/size.h"
#include "op/rows/request_columns.h"

static const struct request_columns columns = {
	.place = {[COLUMN_DEVICE] = 1,
		  [COLUMN_OP] = 2,
		  [COLUMN_OFFSET] = 3,
		  [COLUMN_BYTES] = 4,
		  [COLUMN_TIME] = 5},
	.least = 5,
	.time_unit_ns = NS_PER_US,
	.time_tick_ns = NS_PER_US,
	.offset_unit_bytes = 1,
	.bytes_unit_bytes = 1,
	.reads = "r|read",
	.writes = "w|write",
	.device = "device,",
	.header = "device_id,opcode,offset,length,timestamp",
};

static enum import_match alibaba_match(const unsigned char *head, size_t bytes, bool whole)
{
	return request_columns_match(&columns, head, bytes, whole);
}

static bool alibaba_begin(struct import *import, struct error *error)
{
	(void)error;
	request_columns_begin(import, &columns);
	return true;
}

const struct import_format format_alibaba = {
	.about = {.name = "alibaba",
		  .summary = "Alibaba block CSV: device,R|W,offset,bytes,microseconds"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct request_reader),
	.match = alibaba_match,
	.begin = alibaba_begin,
	.next = request_columns_next,
};
