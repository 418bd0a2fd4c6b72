/*
 * fuzz_import: any bytes as every foreign format there is
 *
 * The first byte chooses the format by its place in the list (`refault list formats`), the rest is the file; with a first byte
 * that is no format's, it is recognised. REFAULT_FUZZ_FORMAT=NAME in the environment has all of them be that one. What is read of a file, of a pipe, and for a plain cache must be the same; a format that
 * reads twice must know before what was there; and its summary must not fall over anything.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdlib.h>

#include "fuzz_op.h"
#include "op/summary.h"

/* Bytes of a range that a summary would go through page by page for seconds. */
#define BYTES_SUMMED_MAX (UINT64_C(1) << 28)

static bool is_small(const struct fuzz_ops *list)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < list->ops.count; i++) {
		if (list->ops.at[i].bytes > BYTES_SUMMED_MAX - bytes)
			return false;
		bytes += list->ops.at[i].bytes;
	}
	return true;
}

static void summary_try(const struct fuzz_ops *list)
{
	struct trace_summary summary;

	trace_summary_init(&summary);
	trace_summary_add(&summary, list->ops.at, list->ops.count);
	trace_summary_finish(&summary);
	assert(summary.read.distinct_bytes <= summary.read.bytes);
	assert(summary.write.distinct_bytes <= summary.write.bytes);
	assert(summary.cold_read_pages <= summary.distinct_pages);
	assert(summary.distinct_pages <= summary.read.pages + summary.write.pages);
	trace_summary_deinit(&summary);
}

/* The ops of `bare` are those of `list` behind what was there before, if that was found by reading twice. */
static void bare_try(const char *path, const char *format, const struct fuzz_ops *list)
{
	struct trace_options options = {.format = format, .lenient = true, .is_bare = true};
	struct error error = {0};
	struct op ops[61];
	struct op_source *source = trace_open(path, &options, &error);
	size_t got = 1, at = 0;

	while (at < list->ops.count && list->ops.at[at].kind == OP_EXISTS)
		at++;
	while (source && got && op_source_next(source, ops, 61, &got, &error)) {
		for (size_t i = 0; i < got && ops[i].kind != OP_EXISTS && at < list->ops.count;
		     i++) {
			assert(ops[i].kind == list->ops.at[at].kind);
			assert(ops[i].offset == list->ops.at[at].offset);
			assert(ops[i].time_ns == list->ops.at[at].time_ns);
			at++;
		}
	}
	op_source_destroy(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct trace_format *format;
	const char *name;
	struct fuzz_file file;
	struct fuzz_ops strict, mild;

	if (bytes == 0)
		return 0;
	format = trace_format_at(data[0]);
	name = format && !format->takes_columns ? format->name : NULL;
	if (getenv("REFAULT_FUZZ_FORMAT"))
		name = getenv("REFAULT_FUZZ_FORMAT");
	fuzz_file_create(&file, data + 1, bytes - 1);
	fuzz_ops_read(&strict, file.path, name, false);
	fuzz_ops_read(&mild, file.path, name, true);
	if (strict.fine)
		fuzz_ops_equal(&strict, &mild);
	if (mild.fine) {
		bare_try(file.path, name, &mild);
		if (is_small(&mild))
			summary_try(&mild);
	}
	fuzz_ops_deinit(&strict);
	fuzz_ops_deinit(&mild);
	close(file.fd);
	return 0;
}
