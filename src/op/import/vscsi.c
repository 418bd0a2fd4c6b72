/*
 * vscsi: the binary traces of VMware's vscsiStats, as CloudPhysics gave them away
 *
 * Little-endian records without a header.
 *     version 1, 32 bytes: u32 number | u32 bytes | u32 nSG | u16 command | u16 version | u64 block |
 *                          u64 time
 *     version 2, 40 bytes: u16 command | u16 version | u32 number | u32 bytes | u32 nSG | u64 block |
 *                          u64 time | u64 response time
 *
 * Source     libCacheSim, libCacheSim/traceReader/include/vscsi.h: the version is the upper byte of
 *            its field; times are in microseconds, a block is 512 bytes. SCSI commands: SBC-3.
 * Files      "disk": a trace is of one virtual disk.
 */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "op/import.h"
#include "op/rows/request.h"

enum { BLOCK_BYTES = 512, V1_BYTES = 32, V2_BYTES = 40, BATCH_BYTES = 64 * 1024 };

struct vscsi {
	struct requests requests;
	unsigned int record_bytes;
	uint32_t path;
};

struct record {
	unsigned int command, version;
	uint32_t bytes;
	uint64_t block, time_us, response_us;
};

static uint64_t little_endian(const unsigned char *from, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << (8 * i);
	return value;
}

static struct record record_at(const unsigned char *at, unsigned int record_bytes)
{
	if (record_bytes == V1_BYTES)
		return (struct record){
			.bytes = (uint32_t)little_endian(at + 4, 4),
			.command = (unsigned int)little_endian(at + 12, 2),
			.version = (unsigned int)little_endian(at + 14, 2),
			.block = little_endian(at + 16, 8),
			.time_us = little_endian(at + 24, 8),
		};
	return (struct record){
		.command = (unsigned int)little_endian(at, 2),
		.version = (unsigned int)little_endian(at + 2, 2),
		.bytes = (uint32_t)little_endian(at + 8, 4),
		.block = little_endian(at + 16, 8),
		.time_us = little_endian(at + 24, 8),
		.response_us = little_endian(at + 32, 8),
	};
}

/* READ and WRITE of 6, 10, 12 and 16 bytes; what discards and what flushes; all else moves no data. */
static enum request_kind kind_of(unsigned int command)
{
	switch (command) {
	case 0x08:
	case 0x28:
	case 0xa8:
	case 0x88:
		return REQUEST_READ;
	case 0x0a: /* WRITE */
	case 0x2a:
	case 0xaa:
	case 0x8a:
	case 0x2e: /* WRITE AND VERIFY */
	case 0xae:
	case 0x8e:
		return REQUEST_WRITE;
	case 0x42: /* UNMAP */
		return REQUEST_DISCARD;
	case 0x35: /* SYNCHRONIZE CACHE */
	case 0x91:
		return REQUEST_FLUSH;
	default:
		return REQUEST_OTHER;
	}
}

/* How many of the records in sight say that they are of this version. */
static bool all_are(const unsigned char *head, size_t bytes, unsigned int record_bytes)
{
	unsigned int version = record_bytes == V1_BYTES ? 1 : 2;
	size_t count = bytes / record_bytes;

	for (size_t i = 0; i < count; i++) {
		struct record record = record_at(head + i * record_bytes, record_bytes);

		if (record.version >> 8 != version || record.command > 0xff)
			return false;
	}
	return count > 0;
}

static unsigned int record_bytes_of(const unsigned char *head, size_t bytes)
{
	return all_are(head, bytes, V1_BYTES)   ? V1_BYTES
	       : all_are(head, bytes, V2_BYTES) ? V2_BYTES
						: 0;
}

static enum import_match vscsi_match(const unsigned char *head, size_t bytes, bool whole)
{
	unsigned int record_bytes = record_bytes_of(head, bytes);

	if (!record_bytes || (bytes < 2 * record_bytes && !whole) || import_is_text(head, bytes))
		return IMPORT_NO;
	return bytes < 4 * record_bytes ? IMPORT_PERHAPS : IMPORT_LIKELY;
}

static bool vscsi_begin(struct import *import, struct error *error)
{
	struct vscsi *state = import->state;
	struct input *input = import->input;
	struct error unreadable;

	(void)input_fill(input, IMPORT_HEAD_BYTES, &unreadable);
	state->record_bytes = record_bytes_of(input->at, input_visible(input) < IMPORT_HEAD_BYTES
								 ? input_visible(input)
								 : IMPORT_HEAD_BYTES);
	if (!state->record_bytes)
		return error_at(error, input->name, 0, 0,
				"its records say neither version 1 (32 bytes) nor 2 (40 bytes) of "
				"vscsi");
	state->requests.tick_ns = NS_PER_US;
	state->requests.may_wrap = true;
	state->path = path_intern(import->source.paths, "disk", 4);
	return true;
}

/* Read the record at input->at and move on behind it. */
static bool record_read(struct import *import, struct op *op, bool *is_op, struct error *error)
{
	struct vscsi *state = import->state;
	struct record record = record_at(import->input->at, state->record_bytes);
	struct request request = {
		.kind = kind_of(record.command),
		.stamp = record.time_us,
		.bytes = record.bytes,
		.path = state->path,
		.has_response = state->record_bytes == V2_BYTES,
	};

	*is_op = false;
	import->input->at += state->record_bytes;
	if (record.version >> 8 != (state->record_bytes == V1_BYTES ? 1 : 2))
		return error_at(error, import->input->name, 0, 0,
				"record %" PRIu64 " says version %u, the first %u",
				import->rows + 1, record.version >> 8,
				state->record_bytes == V1_BYTES ? 1 : 2);
	if (__builtin_mul_overflow(record.block, UINT64_C(512), &request.offset))
		request.offset = UINT64_MAX; /* which is refused */
	if (__builtin_mul_overflow(record.response_us, NS_PER_US, &request.response_ns))
		request.has_response = false;
	if (!request_read(import, &state->requests, &request, NULL, op, is_op, error))
		return false;
	import->rows++;
	return true;
}

static bool vscsi_next(struct import *import, struct op *ops, size_t count, size_t *got,
		       struct error *error)
{
	struct vscsi *state = import->state;
	struct input *input = import->input;

	*got = 0;
	while (*got < count) {
		bool is_op;

		if (input_visible(input) < state->record_bytes && !input->last &&
		    !input_fill(input, BATCH_BYTES, error) &&
		    input_visible(input) < state->record_bytes)
			return false;
		if (input_visible(input) == 0)
			return true;
		if (input_visible(input) < state->record_bytes) {
			input->cut_off = true;
			return error_at(error, input->name, 0, 0,
					"cut off after %" PRIu64
					" records: %zu of the next one's %u bytes are there",
					import->rows, input_visible(input), state->record_bytes);
		}
		if (record_read(import, &ops[*got], &is_op, error))
			*got += is_op;
		else if (!import_row_wrong(import, error))
			return false;
	}
	return true;
}

const struct import_format format_vscsi = {
	.about = {.name = "vscsi", .summary = "vscsiStats' binary records, versions 1 and 2"},
	.readings = IMPORT_TWICE_FOR_FILES,
	.state_bytes = sizeof(struct vscsi),
	.match = vscsi_match,
	.begin = vscsi_begin,
	.next = vscsi_next,
};
