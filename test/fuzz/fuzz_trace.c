/*
 * fuzz_trace: any bytes as a trace of whatever format they seem to be: native, oracleGeneral, CSV, packed or not
 *
 * Native blocks carry checksums, which random bytes never meet: so each input is tried twice, as it is, and with its
 * checksums made right, so that what is behind them is tried too. A trace that is right, written as a native one, must give the
 * same ops again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdlib.h>

#include "fuzz_op.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "op/native.h"

/* Make the checksums right as far as there are blocks; false: it is not a native trace. */
static bool checksums_mend(uint8_t *data, size_t bytes)
{
	size_t at = NATIVE_FILE_HEADER_BYTES;

	if (bytes < NATIVE_FILE_HEADER_BYTES || memcmp(data, NATIVE_MAGIC, 4) != 0)
		return false;
	memcpy(data, NATIVE_MAGIC, NATIVE_MAGIC_BYTES);
	native_put32(data + 8, NATIVE_VERSION);
	native_put32(data + 12, (uint32_t)XXH64(data, 12, 0));
	while (bytes - at >= NATIVE_BLOCK_HEADER_BYTES) {
		uint8_t *header = data + at, *body = header + NATIVE_BLOCK_HEADER_BYTES;
		size_t body_bytes = native_get32(header + NATIVE_AT_BODY_BYTES);

		if (body_bytes > bytes - at - NATIVE_BLOCK_HEADER_BYTES)
			break;
		native_put64(header + NATIVE_AT_CHECKSUM,
			     native_checksum(header, body, body_bytes));
		at += NATIVE_BLOCK_HEADER_BYTES + body_bytes;
	}
	return true;
}

static void rewrite_try(const struct fuzz_ops *list)
{
	char folder[] = "/tmp/refault-fuzz-XXXXXX", path[64];
	struct error error = {0};
	struct trace_writer *writer;
	struct fuzz_ops again;
	bool fine;

	if (!mkdtemp(folder))
		return;
	snprintf(path, sizeof(path), "%s/a.rft", folder);
	writer = trace_writer_create(path, &error);
	assert(writer);
	fine = trace_write(writer, list->source, list->ops.at, list->ops.count, &error);
	assert(fine);
	fine = trace_writer_close(writer, &error);
	assert(fine);
	fuzz_ops_read(&again, path, NULL, false);
	assert(again.fine && again.ops.count == list->ops.count);
	fuzz_ops_equal(list, &again);
	fuzz_ops_deinit(&again);
	unlink(path);
	rmdir(folder);
}

static void bytes_try(const uint8_t *data, size_t bytes)
{
	struct fuzz_file file;
	struct fuzz_ops strict, mild;

	fuzz_file_create(&file, data, bytes);
	fuzz_ops_read(&strict, file.path, NULL, false);
	fuzz_ops_read(&mild, file.path, NULL, true);
	fuzz_ops_equal(&strict, &mild);
	close(file.fd);
	/* Not each time: it goes to a disk. */
	if (strict.fine && strict.ops.count < 10000 && bytes % 16 == 0)
		rewrite_try(&strict);
	fuzz_ops_deinit(&strict);
	fuzz_ops_deinit(&mild);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *mended = memory_alloc(bytes + 1, 1);

	memcpy(mended, data, bytes);
	bytes_try(data, bytes);
	if (checksums_mend(mended, bytes))
		bytes_try(mended, bytes);
	memory_free(mended);
	return 0;
}
