/*
 * setting: what somebody set: vm sysctls, parameters of the zfs module, the multi-generational LRU
 *
 *     vm.dirty_ratio = 20          or the number alone, under a heading that names the file
 *
 * Entries   the last part of its name, "dirty_ratio"; "lru_gen" for /sys/kernel/mm/lru_gen/enabled
 * Source    Documentation/admin-guide/sysctl/vm.rst; man/man4/zfs.4
 */
#include "state/dump.h"

#include <string.h>

static const char *const files[] = {"dirty_ratio",
				    "dirty_background_ratio",
				    "dirty_bytes",
				    "dirty_background_bytes",
				    "dirty_expire_centisecs",
				    "dirty_writeback_centisecs",
				    "swappiness",
				    "vfs_cache_pressure",
				    "min_free_kbytes",
				    "watermark_scale_factor",
				    "zone_reclaim_mode",
				    "overcommit_memory",
				    "nr_hugepages",
				    "zfs_arc_max",
				    "zfs_arc_min",
				    "zfs_arc_meta_limit",
				    "zfs_arc_meta_limit_percent",
				    "zfs_arc_dnode_limit_percent",
				    "zfs_arc_shrinker_limit",
				    "lru_gen/enabled",
				    NULL};

/* The name that a field ends with, after a dot or a slash; NULL: none of ours. */
static const char *setting_named(const struct field *field)
{
	for (size_t i = 0; files[i]; i++) {
		size_t bytes = strlen(files[i]);
		size_t rest = field->bytes - bytes;

		if (field->bytes < bytes || memcmp(field->at + rest, files[i], bytes) != 0)
			continue;
		if (rest == 0 || field->at[rest - 1] == '.' || field->at[rest - 1] == '/')
			return files[i];
	}
	return NULL;
}

/* "20", "0x0007", "y", "N" */
static bool value_of(const struct field *field, uint64_t *value)
{
	if (word_number(field, value))
		return true;
	if (field->bytes == 1 && strchr("yYnN", field->at[0])) {
		*value = field->at[0] == 'y' || field->at[0] == 'Y';
		return true;
	}
	if (field->bytes < 3 || field->bytes > 18 || !word_starts(field, "0x"))
		return false;
	*value = 0;
	for (size_t i = 2; i < field->bytes; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = memchr(digits, field->at[i] | 0x20, 16);

		if (!digit)
			return false;
		*value = *value << 4 | (uint64_t)(digit - digits);
	}
	return true;
}

/* Which setting, and which field its value is in; NULL: none. */
static const char *setting_of(const struct row *row, size_t *at)
{
	const struct field called = {row->called, strlen(row->called)};
	struct field name = row->fields[0];

	*at = row->field_count - 1;
	if (row->field_count == 1)
		return setting_named(&called);
	if (row->field_count == 3 && word_is(&row->fields[1], "="))
		return setting_named(&name);
	if (row->field_count == 2 && name.bytes > 1 && name.at[name.bytes - 1] == ':') {
		name.bytes--;
		return setting_named(&name);
	}
	return NULL;
}

static enum row_match setting_match(const struct row *row, const struct dump *open)
{
	uint64_t value;
	size_t at;

	(void)open;
	return setting_of(row, &at) && value_of(&row->fields[at], &value) ? ROW_BEGINS : ROW_NO;
}

static bool setting_resembles(const struct row *row)
{
	size_t at;

	return setting_of(row, &at) != NULL;
}

static bool setting_read(struct state *state, struct dump *dump, const struct row *row,
			 struct error *error)
{
	size_t at;
	const char *name = setting_of(row, &at);
	struct field field = {name, name ? strlen(name) : 0};
	uint64_t value;

	if (!name || !value_of(&row->fields[at], &value))
		return dump_row_wrong(row, at, "a setting's value", error);
	if (strcmp(name, "lru_gen/enabled") == 0)
		field.bytes = strlen("lru_gen");
	dump->own_text = name;
	dump_add_value(state, dump, row, &field, value);
	return true;
}

const struct dump_kind dump_kind_setting = {
	.id = DUMP_SETTING,
	.name = "setting",
	.title = "sysctls and module parameters",
	.files = files,
	.match = setting_match,
	.resembles = setting_resembles,
	.read = setting_read,
};
