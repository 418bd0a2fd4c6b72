/*
 * slabtop: the caches of kernel objects, as slabtop shows them
 *
 *       OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME
 *      88389  88200  99%    0.19K   4209       21     16836K dentry
 *
 * Entries   a cache: its SLAB_... values (state/slab.h)
 * Source    procps-ng 3.3 to 4.0, slabtop.c: sizes with K are KiB; that of an object is rounded to
 *           hundredths of one
 * Differs   1. pages of a slab are not shown: SLAB_BYTES is the cache's size; 2. also read: `vmstat -m`
 *              (cache, active, objects, size, objects a slab), whose bytes are objects times size
 */
#include "state/dump.h"

#include <string.h>

#include "state/slab.h"

static const char *const files[] = {"slabtop", NULL};

static bool is_summary(const struct row *row)
{
	return row->field_count > 4 && word_is(&row->fields[1], "/") &&
	       (word_is(&row->fields[0], "Active") || word_is(&row->fields[0], "Minimum"));
}

static bool is_heading(const struct row *row)
{
	return row->field_count >= 6 && word_is(&row->fields[0], "OBJS") &&
	       word_is(&row->fields[1], "ACTIVE");
}

static bool is_vmstat_heading(const struct row *row)
{
	return row->field_count == 5 && word_is(&row->fields[0], "Cache") &&
	       word_is(&row->fields[1], "Num") && word_is(&row->fields[2], "Total");
}

/* "16836K", in KiB; also with M or G. */
static bool size_of(const struct field *field, uint64_t *bytes)
{
	struct field number = {field->at, field->bytes ? field->bytes - 1 : 0};
	char unit = field->bytes ? field->at[field->bytes - 1] : 0;
	uint64_t hundredths;
	unsigned int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;

	if (shift == 0 || !word_hundredths(&number, &hundredths) || hundredths >> 40)
		return false;
	*bytes = (hundredths << shift) / 100;
	return true;
}

static bool is_percent(const struct field *field)
{
	struct field number = {field->at, field->bytes - 1};
	uint64_t value;

	return field->bytes > 1 && field->at[field->bytes - 1] == '%' &&
	       word_number(&number, &value);
}

static bool is_row(const struct row *row)
{
	uint64_t value;

	return row->field_count >= 8 && word_number(&row->fields[0], &value) &&
	       is_percent(&row->fields[2]);
}

static enum row_match slabtop_match(const struct row *row, const struct dump *open)
{
	uint64_t value;

	if (is_summary(row))
		return open && open->entries.count == 0 ? ROW_YES : ROW_BEGINS;
	if (is_heading(row))
		return ROW_YES;
	if (is_vmstat_heading(row))
		return open && open->own[0] ? ROW_YES : ROW_BEGINS;
	if (open && open->own[0])
		return row->field_count == 5 && word_number(&row->fields[1], &value) ? ROW_YES
										     : ROW_NO;
	return is_row(row) ? ROW_YES : ROW_NO;
}

static bool slabtop_resembles(const struct row *row)
{
	uint64_t value;

	return row->field_count >= 3 && word_number(&row->fields[0], &value) &&
	       (is_percent(&row->fields[2]) || word_number(&row->fields[1], &value));
}

static bool vmstat_row_read(struct state *state, struct dump *dump, const struct row *row,
			    struct error *error)
{
	uint64_t v[5];
	struct entry *entry;

	for (size_t i = 1; i < 5; i++) {
		if (!word_number(&row->fields[i], &v[i]) || v[i] >> 40)
			return dump_row_wrong(row, i, "a whole number", error);
	}
	entry = dump_add(state, dump, row, row->fields[0].at, row->fields[0].bytes);
	entry->values[SLAB_ACTIVE] = v[1];
	entry->values[SLAB_OBJECTS] = v[2];
	entry->values[SLAB_SIZE] = v[3];
	entry->values[SLAB_PER_SLAB] = v[4];
	entry->values[SLAB_SLABS] = v[4] ? (v[2] + v[4] - 1) / v[4] : 0;
	if (__builtin_mul_overflow(v[2], v[3], &entry->values[SLAB_BYTES]))
		entry->values[SLAB_BYTES] = 0;
	entry->value_count = SLAB_VALUES;
	return true;
}

static bool slabtop_read(struct state *state, struct dump *dump, const struct row *row,
			 struct error *error)
{
	uint64_t objects, active, size, slabs, per_slab, bytes;
	struct entry *entry;

	if (is_vmstat_heading(row)) {
		dump->own[0] = 1;
		return true;
	}
	if (dump->own[0])
		return vmstat_row_read(state, dump, row, error);
	if (is_summary(row) || is_heading(row))
		return true;
	if (!word_number(&row->fields[0], &objects))
		return dump_row_wrong(row, 0, "a whole number", error);
	if (!word_number(&row->fields[1], &active))
		return dump_row_wrong(row, 1, "a whole number", error);
	if (!size_of(&row->fields[3], &size))
		return dump_row_wrong(row, 3, "a size with K", error);
	if (!word_number(&row->fields[4], &slabs))
		return dump_row_wrong(row, 4, "a whole number", error);
	if (!word_number(&row->fields[5], &per_slab))
		return dump_row_wrong(row, 5, "a whole number", error);
	if (!size_of(&row->fields[6], &bytes))
		return dump_row_wrong(row, 6, "a size with K", error);
	entry = dump_add(state, dump, row, row->fields[7].at,
			 (size_t)(row->raw + row->raw_bytes - row->fields[7].at));
	entry->values[SLAB_ACTIVE] = active;
	entry->values[SLAB_OBJECTS] = objects;
	entry->values[SLAB_SIZE] = size;
	entry->values[SLAB_PER_SLAB] = per_slab;
	entry->values[SLAB_SLABS] = slabs;
	entry->values[SLAB_BYTES] = bytes;
	entry->value_count = SLAB_VALUES;
	return true;
}

const struct dump_kind dump_kind_slabtop = {
	.id = DUMP_SLABTOP,
	.name = "slabtop",
	.title = "slabtop",
	.files = files,
	.match = slabtop_match,
	.resembles = slabtop_resembles,
	.read = slabtop_read,
};
