/*
 * arcstats: ZFS's own cache
 *
 *     size                            4    16824234216        /proc/spl/kstat/zfs/arcstats
 *     kstat.zfs.misc.arcstats.size: 16824234216               FreeBSD's sysctl
 *     zfs:0:arcstats:size     16824234216                     illumos' kstat -p
 *
 * Entries   a name: bytes or events, as it stands there. What is below 0 (memory_available_bytes) is
 *           kept as 2^64 less it
 * Source    module/zfs/arc.c, arc_stats of ZFS 0.6.5 to 2.4; module/os/linux/spl/spl-kstat.c
 * Differs   1. other kstats, which have the same form, are not read: only names of this one begin it
 */
#include "state/dump.h"

#include <string.h>

static const char *const files[] = {"arcstats", NULL};

static const char *const known[] = {"hits",
				    "iohits",
				    "misses",
				    "demand_*",
				    "prefetch_*",
				    "mru_*",
				    "mfu_*",
				    "uncached_*",
				    "deleted",
				    "mutex_miss",
				    "access_skip",
				    "evict_*",
				    "hash_elements*",
				    "hash_collisions",
				    "hash_chain*",
				    "p",
				    "pd",
				    "pm",
				    "meta",
				    "c",
				    "c_min",
				    "c_max",
				    "size",
				    "compressed_size",
				    "uncompressed_size",
				    "overhead_size",
				    "hdr_size",
				    "data_size",
				    "metadata_size",
				    "dbuf_size",
				    "dnode_size",
				    "bonus_size",
				    "other_size",
				    "anon_*",
				    "l2_*",
				    "memory_*",
				    "arc_*",
				    "sync_wait_for_async",
				    "async_upgrade_sync",
				    "predictive_prefetch",
				    "prescient_prefetch",
				    "cached_only_in_progress",
				    "abd_chunk_waste_size",
				    "recycle_miss",
				    "duplicate_*",
				    NULL};

/* "13 1 0x01 123 33456 10861 ..." */
static bool is_header(const struct row *row)
{
	uint64_t value;

	return row->field_count >= 6 && word_number(&row->fields[0], &value) &&
	       word_number(&row->fields[1], &value) && word_starts(&row->fields[2], "0x");
}

static bool is_titles(const struct row *row)
{
	return row->field_count == 3 && word_is(&row->fields[0], "name") &&
	       word_is(&row->fields[1], "type") && word_is(&row->fields[2], "data");
}

static bool number_of(const struct field *field, uint64_t *value)
{
	struct field digits = {field->at + 1, field->bytes - 1};

	if (field->at[0] != '-')
		return word_number(field, value);
	if (!word_number(&digits, value))
		return false;
	*value = 0 - *value;
	return true;
}

/* The name behind "arcstats." or "arcstats:"; false: the field is no such path. */
static bool name_behind_path(const struct field *field, struct field *name)
{
	static const char path[] = "arcstats";
	const char *at = memmem(field->at, field->bytes, path, strlen(path));
	const char *end = field->at + field->bytes;

	if (!at || at == field->at || at + strlen(path) + 1 >= end)
		return false;
	at += strlen(path);
	if (*at != '.' && *at != ':')
		return false;
	at++;
	if (end[-1] == ':' || end[-1] == '=')
		end--;
	*name = (struct field){at, (size_t)(end - at)};
	return name->bytes > 0;
}

/* Where name and number are. The number may be none. */
static bool parts(const struct row *row, struct field *name, size_t *value)
{
	uint64_t type;

	*value = row->field_count - 1;
	if (row->field_count == 2 && name_behind_path(&row->fields[0], name))
		return true;
	if (row->field_count == 3 && word_is(&row->fields[1], "=") &&
	    name_behind_path(&row->fields[0], name))
		return true;
	*name = row->fields[0];
	return row->field_count == 3 && word_is_name(name) && word_number(&row->fields[1], &type) &&
	       type < 10;
}

static enum row_match arcstats_match(const struct row *row, const struct dump *open)
{
	struct field name;
	uint64_t number;
	size_t value;

	if (is_header(row))
		return strcmp(row->called, "arcstats") == 0 || !row->called[0] ? ROW_BEGINS
									       : ROW_NO;
	if (is_titles(row))
		return ROW_YES;
	if (!parts(row, &name, &value) || !number_of(&row->fields[value], &number))
		return ROW_NO;
	if (row->field_count == 2)
		return ROW_YES;
	if (word_is_among(&name, known))
		return open ? ROW_YES : ROW_LIKELY;
	return open ? ROW_PERHAPS : ROW_NO;
}

static bool arcstats_resembles(const struct row *row)
{
	struct field name;
	size_t value;

	return parts(row, &name, &value) || word_is_among(&row->fields[0], known);
}

static bool arcstats_read(struct state *state, struct dump *dump, const struct row *row,
			  struct error *error)
{
	struct field name;
	uint64_t number;
	size_t value;

	if (is_header(row) || is_titles(row))
		return true;
	if (!parts(row, &name, &value))
		return dump_row_wrong(row, 1, "a type from 0 to 9, and a number", error);
	if (!number_of(&row->fields[value], &number))
		return dump_row_wrong(row, value, "a whole number", error);
	dump_add_value(state, dump, row, &name, number);
	return true;
}

const struct dump_kind dump_kind_arcstats = {
	.id = DUMP_ARCSTATS,
	.name = "arcstats",
	.title = "arcstats",
	.files = files,
	.match = arcstats_match,
	.resembles = arcstats_resembles,
	.read = arcstats_read,
};
