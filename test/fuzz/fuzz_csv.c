/*
 * fuzz_csv: any bytes as an op CSV, plain or packed
 *
 * Beyond not crashing: lenient delivers at least what strict does before its error; and a file that is right, written
 * again with every field in quotes, which the careful half of the reader reads, gives the same ops.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <inttypes.h>
#include <stdlib.h>

#include "fuzz_op.h"

/* A name inside quotes: quotes doubled, and in a rename the arrows. */
static void name_print(FILE *file, const char *name, bool arrows)
{
	for (; *name; name++) {
		if (*name == '"' || (arrows && *name == '>'))
			fputc(*name, file);
		fputc(*name, file);
	}
}

static char *quoted_csv(const struct fuzz_ops *list, size_t *bytes)
{
	const struct path_table *paths = list->source->paths;
	char *text = NULL;
	FILE *file = open_memstream(&text, bytes);

	assert(file);
	fputs("\"time_ns\",\"thread\",\"op\",\"path\",\"offset\",\"bytes\"\n", file);
	for (size_t i = 0; i < list->ops.count; i++) {
		const struct op *op = &list->ops.at[i];
		bool rename = op_kind_has_two_paths(op->kind);

		fprintf(file, "\"%" PRIu64 "\",\"%" PRIu32 "\",\"%s\",\"", op->time_ns, op->thread,
			op_kind_name((enum op_kind)op->kind));
		name_print(file, path_text(paths, op->path), rename);
		if (rename) {
			fputc('>', file);
			name_print(file, path_text(paths, op->path_to), true);
		}
		fprintf(file, "\",\"%" PRIu64 "\",\"%" PRIu64 "\"\n", op->offset, op->bytes);
	}
	fclose(file);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_file file;
	struct fuzz_ops strict, mild;

	fuzz_file_create(&file, data, bytes);
	fuzz_ops_read(&strict, file.path, "csv", false);
	fuzz_ops_read(&mild, file.path, "csv", true);
	fuzz_ops_equal(&strict, &mild);
	close(file.fd);
	if (strict.fine && strict.ops.count < 10000) {
		struct fuzz_ops again;
		size_t quoted_bytes;
		char *quoted = quoted_csv(&strict, &quoted_bytes);

		fuzz_file_create(&file, quoted, quoted_bytes);
		fuzz_ops_read(&again, file.path, "csv", false);
		assert(again.ops.count == strict.ops.count);
		fuzz_ops_equal(&strict, &again);
		close(file.fd);
		free(quoted);
		fuzz_ops_deinit(&again);
	}
	fuzz_ops_deinit(&strict);
	fuzz_ops_deinit(&mild);
	return 0;
}
