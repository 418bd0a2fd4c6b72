/*
 * disksim: the ASCII traces of DiskSim and of MQSim
 *
 *     409938513000 4 264719034 16 0
 *
 * Source     DiskSim 4.0 Reference Manual, "Input traces" (ascii): request arrival time in ms (a
 *            decimal number), device, block of 512 bytes, size in blocks, flags (hexadecimal; bit 0
 *            set is a read). MQSim (Tavakkol et al., FAST '18) took the format over with arrival
 *            times in ns (whole numbers), and 1 a read, 0 a write.
 * Differs    which of the two it is, nothing says: a decimal point in the first rows' times is
 *            taken for DiskSim.
 * Files      "disk,N"
 */
#include "base/size.h"
#include "op/rows/request_columns.h"

static const struct request_columns columns = {
	.separator = ' ',
	.place = {[COLUMN_TIME] = 1,
		  [COLUMN_DEVICE] = 2,
		  [COLUMN_OFFSET] = 3,
		  [COLUMN_BYTES] = 4,
		  [COLUMN_OP] = 5},
	.least = 5,
	.time_unit_ns = 1,
	.time_tick_ns = 1,
	.offset_unit_bytes = 512,
	.bytes_unit_bytes = 512,
	.op_bit_reads = true,
	.device = "disk,",
};

static enum import_match disksim_match(const unsigned char *head, size_t bytes, bool whole)
{
	return request_columns_match(&columns, head, bytes, whole);
}

/* Is there a decimal point in one of the first times? */
static bool has_decimals(struct import *import)
{
	const unsigned char *at = import->input->at;
	struct error unreadable;
	struct field time;
	struct row row;

	(void)input_fill(import->input, IMPORT_HEAD_BYTES, &unreadable);
	at = import->input->at;
	while (row_peek(&at, import->input->end, import->input->last, &row)) {
		row_split(&row, ' ', &time, 1);
		for (size_t i = 0; i < time.bytes; i++) {
			if (time.at[i] == '.' || time.at[i] == ',')
				return true;
		}
	}
	return false;
}

static bool disksim_begin(struct import *import, struct error *error)
{
	static const struct import_remark milliseconds = {
		.key = "times_in_milliseconds",
		.one = "times have decimals: read as DiskSim's milliseconds",
	};
	static const struct import_remark nanoseconds = {
		.key = "times_in_nanoseconds",
		.one = "times are whole numbers: read as MQSim's nanoseconds",
	};
	struct request_columns chosen = columns;

	(void)error;
	if (has_decimals(import)) {
		chosen.time_unit_ns = NS_PER_MS;
		import_note(import, &milliseconds, 0, 0);
	} else {
		import_note(import, &nanoseconds, 0, 0);
	}
	request_columns_begin(import, &chosen);
	return true;
}

const struct import_format format_disksim = {
	.about = {.name = "disksim",
		  .summary = "DiskSim and MQSim ASCII: time disk block blocks flags",
		  .alias = "mqsim"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct request_reader),
	.match = disksim_match,
	.begin = disksim_begin,
	.next = request_columns_next,
};
