/*
 * slabinfo: the caches of kernel objects
 *
 *     dentry  88200  88389  192  21  1 : tunables 0 0 0 : slabdata 4209 4209 0
 *
 * Entries   a cache: its SLAB_... values (state/slab.h)
 * Source    mm/slab_common.c, cache_show(); mm/slab.c before 6.8: version 2.1, whose tunables are not
 *           0, and which may have ": globalstat ... : cpustat ..." behind; version 1.1 of Linux 2.4:
 *           active, objects, size, active slabs, slabs, pages a slab
 * Differs   1. the header may be missing; 2. what stands behind the fifth number may be missing: slabs
 *              are then the objects over the objects of one, rounded up
 */
#include "state/dump.h"

#include <string.h>

#include "state/slab.h"

static const char *const files[] = {"slabinfo", NULL};

enum { VERSION_UNKNOWN, VERSION_1, VERSION_2 };

static bool is_version(const struct row *row)
{
	return row->field_count >= 4 && word_is(&row->fields[0], "slabinfo") &&
	       word_is(&row->fields[2], "version:");
}

static bool is_heading(const struct row *row)
{
	return row->field_count > 3 && word_is(&row->fields[0], "#") &&
	       word_is(&row->fields[1], "name") && word_starts(&row->fields[2], "<active_obj");
}

static size_t numbers(const struct row *row)
{
	uint64_t value;
	size_t count = 0;

	while (count + 1 < row->field_count && word_number(&row->fields[count + 1], &value))
		count++;
	return count;
}

static bool is_tail(const struct row *row)
{
	return row->field_count > 7 && word_is(&row->fields[6], ":") &&
	       word_is(&row->fields[7], "tunables");
}

/* Without its tail, a row is a name and numbers that fit together. */
static bool is_plausible(const struct row *row)
{
	uint64_t v[6];

	for (size_t i = 1; i < 6; i++)
		word_number(&row->fields[i], &v[i]);
	return v[1] <= v[2] && v[3] && v[4] && v[5] && v[5] <= 1024 && v[3] <= UINT64_C(1) << 24 &&
	       v[4] <= UINT64_C(1) << 20 && v[3] * v[4] <= v[5] << 18;
}

static enum row_match slabinfo_match(const struct row *row, const struct dump *open)
{
	if (is_version(row))
		return ROW_BEGINS;
	if (is_heading(row))
		return ROW_YES;
	if (numbers(row) >= 5 && is_tail(row))
		return ROW_YES;
	if (open && open->own[0] == VERSION_1 && numbers(row) >= 6)
		return ROW_YES;
	if (numbers(row) == 5 && row->field_count == 6 && is_plausible(row))
		return open ? ROW_YES : ROW_LIKELY;
	return ROW_NO;
}

static bool slabinfo_resembles(const struct row *row)
{
	uint64_t value;

	return row->field_count >= 4 && (is_tail(row) || (word_number(&row->fields[2], &value) &&
							  word_number(&row->fields[3], &value)));
}

/* The slabs' number behind "slabdata"; false: it does not stand there. */
static bool slabs_read(const struct row *row, uint64_t *slabs, bool *is_wrong)
{
	for (size_t i = 6; i < row->field_count; i++) {
		if (!word_is(&row->fields[i], "slabdata"))
			continue;
		*is_wrong = i + 2 >= row->field_count || !word_number(&row->fields[i + 2], slabs);
		return true;
	}
	return false;
}

static bool slabinfo_read(struct state *state, struct dump *dump, const struct row *row,
			  struct error *error)
{
	uint64_t v[7] = {0};
	bool is_wrong = false;
	struct entry *entry;

	if (is_version(row)) {
		dump->own[0] = word_starts(&row->fields[3], "1.") ? VERSION_1 : VERSION_2;
		return true;
	}
	if (is_heading(row))
		return true;
	for (size_t i = 1; i <= (dump->own[0] == VERSION_1 ? 6 : 5); i++) {
		if (i >= row->field_count || !word_number(&row->fields[i], &v[i]))
			return dump_row_wrong(row, i, "a whole number", error);
	}
	if (dump->own[0] == VERSION_1) {
		v[0] = v[5];
		v[5] = v[6];
		v[4] = v[0] ? v[2] / v[0] : 0;
	} else if (!slabs_read(row, &v[0], &is_wrong)) {
		v[0] = v[4] ? v[2] / v[4] + (v[2] % v[4] != 0) : 0;
	}
	if (is_wrong)
		return dump_row_wrong(
			row, row->field_count,
			"\"slabdata\" and how many slabs are active, there, and shared", error);
	entry = dump_add(state, dump, row, row->fields[0].at, row->fields[0].bytes);
	entry->values[SLAB_ACTIVE] = v[1];
	entry->values[SLAB_OBJECTS] = v[2];
	entry->values[SLAB_SIZE] = v[3];
	entry->values[SLAB_PER_SLAB] = v[4];
	entry->values[SLAB_PAGES] = v[5];
	entry->values[SLAB_SLABS] = v[0];
	entry->value_count = SLAB_VALUES;
	return true;
}

const struct dump_kind dump_kind_slabinfo = {
	.id = DUMP_SLABINFO,
	.name = "slabinfo",
	.title = "/proc/slabinfo",
	.files = files,
	.match = slabinfo_match,
	.resembles = slabinfo_resembles,
	.read = slabinfo_read,
};
