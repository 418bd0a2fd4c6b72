/*
 * fuzz_text: any bytes as a text, and any bytes as what is said of its columns
 *
 * The first line is --columns, the rest the text.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdlib.h>

#include "fuzz_op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const uint8_t *newline = memchr(data, '\n', bytes);
	struct trace_options options = {0};
	struct error error = {0};
	struct fuzz_file file;
	struct fuzz_ops list = {0};
	struct op ops[97];
	char *columns;
	size_t got = 1;

	if (!newline)
		return 0;
	columns = memory_alloc((size_t)(newline - data) + 1, 1);
	memcpy(columns, data, (size_t)(newline - data));
	options.columns = columns;
	options.lenient = data[0] & 1;
	fuzz_file_create(&file, newline + 1, bytes - (size_t)(newline + 1 - data));
	list.source = trace_open(file.path, &options, &error);
	list.fine = list.source != NULL;
	while (list.fine && got && list.ops.count < 100000) {
		list.fine = op_source_next(list.source, ops, 97, &got, &error);
		for (size_t i = 0; i < got; i++)
			*array_push(&list.ops) = ops[i];
	}
	assert(list.fine || (error.kind != ERROR_NONE && error.message[0]));
	fuzz_ops_check(&list);
	fuzz_ops_deinit(&list);
	close(file.fd);
	memory_free(columns);
	return 0;
}
