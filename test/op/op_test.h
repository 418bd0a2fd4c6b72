/*
 * What the tests of op/ share: a folder for their files, and whole traces in memory.
 */
#ifndef REFAULT_TEST_OP_TEST_H
#define REFAULT_TEST_OP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "op/path.h"
#include "op/trace.h"

#define UNUSED __attribute__((unused))

struct op_list {
	ARRAY(struct op) ops;
	struct op_source *source; /* still open: it owns the paths */
	uint64_t skipped;
	bool is_cut_off;
};

static char test_folder[64];

static UNUSED int folder_create(void **state)
{
	(void)state;
	strcpy(test_folder, "/tmp/refault-test-XXXXXX");
	return mkdtemp(test_folder) ? 0 : -1;
}

/* How many files are in the folder; they are removed on the way if asked for. */
static UNUSED int folder_count(int and_remove)
{
	DIR *directory = opendir(test_folder);
	struct dirent *entry;
	int count = 0;

	while (directory && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		if (and_remove)
			unlinkat(dirfd(directory), entry->d_name, 0);
	}
	if (directory)
		closedir(directory);
	return count;
}

static UNUSED int folder_destroy(void **state)
{
	(void)state;
	folder_count(1);
	return rmdir(test_folder);
}

/* A name in the folder; good until the fourth call from now. */
static UNUSED const char *file_name(const char *name)
{
	static char names[4][200];
	static int next;
	char *text = names[next++ % 4];

	snprintf(text, sizeof(names[0]), "%s/%s", test_folder, name);
	return text;
}

static UNUSED const char *file_write(const char *name, const void *bytes, size_t count)
{
	const char *path = file_name(name);
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
	return path;
}

static UNUSED unsigned char *file_read(const char *path, size_t *count)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*count = (size_t)ftell(file);
	rewind(file);
	bytes = memory_alloc(*count + 1, 1);
	assert_int_equal(fread(bytes, 1, *count, file), *count);
	fclose(file);
	return bytes;
}

/* A file that other projects' data or ours lies in, outside of this tree; NULL: not on this machine. */
static UNUSED const char *shared_file(const char *name)
{
	static char path[512];
	const char *folder = getenv("REFAULT_SHARED");

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "../shared", name);
	return access(path, R_OK) == 0 ? path : NULL;
}

static UNUSED void op_list_deinit(struct op_list *list)
{
	array_deinit(&list->ops);
	op_source_destroy(list->source);
	list->source = NULL;
}

/* All ops of a trace; false: an error, and the ops before it. Batches of odd sizes, so that ends fall everywhere. */
static UNUSED bool trace_read(struct op_list *list, const char *path,
			      const struct trace_options *options, struct error *error)
{
	struct op ops[257];
	size_t got, batch = 1;

	*list = (struct op_list){0};
	*error = (struct error){0};
	list->source = trace_open(path, options, error);
	if (!list->source)
		return false;
	for (;;) {
		if (!op_source_next(list->source, ops, batch, &got, error)) {
			struct error again = {0};

			assert_int_equal(got, 0);
			assert_false(op_source_next(list->source, ops, batch, &got, &again));
			assert_string_equal(again.message, error->message);
			list->skipped = trace_skipped(list->source);
			list->is_cut_off = trace_is_cut_off(list->source);
			return false;
		}
		if (got == 0)
			break;
		for (size_t i = 0; i < got; i++)
			*array_push(&list->ops) = ops[i];
		batch = batch + 16 <= 257 ? batch + 16 : 1;
	}
	list->skipped = trace_skipped(list->source);
	list->is_cut_off = trace_is_cut_off(list->source);
	return true;
}

static UNUSED struct op_list csv_read(const char *rows)
{
	static const char header[] = "time_ns,thread,op,path,offset,bytes\n";
	size_t bytes = sizeof(header) + strlen(rows);
	char *text = memory_alloc(bytes, 1);
	struct op_list list;
	struct error error;

	snprintf(text, bytes, "%s%s", header, rows);
	if (!trace_read(&list, file_write("rows.csv", text, bytes - 1), NULL, &error))
		fail_msg("%llu:%llu: %s", (unsigned long long)error.line,
			 (unsigned long long)error.column, error.message);
	memory_free(text);
	return list;
}

static UNUSED const char *list_path(const struct op_list *list, uint32_t path)
{
	return path_text(list->source->paths, path);
}

/* The same ops on the same paths, whatever numbers the paths have. */
static UNUSED void op_lists_are_equal(const struct op_list *a, const struct op_list *b)
{
	assert_int_equal(a->ops.count, b->ops.count);
	for (size_t i = 0; i < a->ops.count; i++) {
		const struct op *one = &a->ops.at[i], *other = &b->ops.at[i];

		if (one->time_ns != other->time_ns || one->offset != other->offset ||
		    one->bytes != other->bytes || one->thread != other->thread ||
		    one->kind != other->kind || one->stream != other->stream ||
		    strcmp(list_path(a, one->path), list_path(b, other->path)) != 0)
			fail_msg("op %zu differs", i);
		if (op_kind_has_two_paths(one->kind) &&
		    strcmp(list_path(a, one->path_to), list_path(b, other->path_to)) != 0)
			fail_msg("op %zu renames to another name", i);
	}
}

static UNUSED void op_list_write(const struct op_list *list, const char *path)
{
	struct error error = {0};
	struct trace_writer *writer = trace_writer_create(path, &error);

	if (!writer)
		fail_msg("%s", error.message);
	for (size_t i = 0; i < list->ops.count; i += 1000) {
		size_t count = list->ops.count - i < 1000 ? list->ops.count - i : 1000;

		assert_true(trace_write(writer, list->source, &list->ops.at[i], count, &error));
	}
	if (!trace_writer_close(writer, &error))
		fail_msg("%s", error.message);
}

#endif
