/*
 * meminfo: what memory is used for
 *
 *     MemTotal:         948304 kB
 *     HugePages_Total:       0
 *
 * Entries   a name, without its colon: bytes where it says kB, else the number
 * Source    fs/proc/meminfo.c of Linux 2.6.12 to 6.18; kB are of 1024 bytes
 * Differs   1. the table that Linux 2.4 has above it is passed over
 */
#include "state/dump.h"

#include <string.h>

static const char *const files[] = {"meminfo", NULL};

/* Names that smaps, status and other tables of "Name: N kB" do not have. */
static const char *const known[] = {"MemTotal:",       "MemFree:",        "MemAvailable:",
				    "MemShared:",      "Buffers:",        "Cached:",
				    "SwapCached:",     "Active:",         "Inactive:",
				    "Active(anon):",   "Active(file):",   "Inactive(anon):",
				    "Inactive(file):", "Unevictable:",    "Mlocked:",
				    "HighTotal:",      "HighFree:",       "LowTotal:",
				    "LowFree:",        "SwapTotal:",      "SwapFree:",
				    "Dirty:",          "Writeback:",      "AnonPages:",
				    "Mapped:",         "Shmem:",          "KReclaimable:",
				    "Slab:",           "SReclaimable:",   "SUnreclaim:",
				    "KernelStack:",    "PageTables:",     "NFS_Unstable:",
				    "Bounce:",         "WritebackTmp:",   "CommitLimit:",
				    "Committed_AS:",   "VmallocTotal:",   "VmallocUsed:",
				    "Percpu:",         "HugePages_*",     "Hugepagesize:",
				    "Hugetlb:",        "DirectMap*",      "Zswap:",
				    "Zswapped:",       "Balloon:",        "CmaTotal:",
				    "CmaFree:",        "ShmemHugePages:", NULL};

/* "Name:" or "Name(anon):" */
static bool is_label(const struct field *field)
{
	return field->bytes > 1 && field->at[field->bytes - 1] == ':' &&
	       !memchr(field->at, ':', field->bytes - 1) &&
	       ((field->at[0] >= 'A' && field->at[0] <= 'Z') ||
		(field->at[0] >= 'a' && field->at[0] <= 'z'));
}

static bool meminfo_resembles(const struct row *row)
{
	return is_label(&row->fields[0]) &&
	       (row->field_count <= 3 || word_is_among(&row->fields[0], known));
}

static bool is_row(const struct row *row)
{
	uint64_t value;

	return is_label(&row->fields[0]) && row->field_count >= 2 && row->field_count <= 3 &&
	       word_number(&row->fields[1], &value) &&
	       (row->field_count == 2 || word_is(&row->fields[2], "kB"));
}

/* The table of 2.4: "total: used: free:", "Mem: 1 2 3", "Swap: 1 2 3". */
static bool is_old_table(const struct row *row)
{
	uint64_t value;

	if (word_is(&row->fields[0], "total:") && row->field_count > 2 &&
	    word_is(&row->fields[1], "used:"))
		return true;
	return (word_is(&row->fields[0], "Mem:") || word_is(&row->fields[0], "Swap:")) &&
	       row->field_count >= 4 && word_number(&row->fields[1], &value) && value > 1 << 20;
}

static enum row_match meminfo_match(const struct row *row, const struct dump *open)
{
	if (is_row(row)) {
		if (word_is_among(&row->fields[0], known))
			return ROW_YES;
		return row->field_count == 3 ? ROW_PERHAPS : ROW_NO;
	}
	(void)open;
	return is_old_table(row) ? ROW_YES : ROW_NO;
}

static bool meminfo_read(struct state *state, struct dump *dump, const struct row *row,
			 struct error *error)
{
	struct field name = row->fields[0];
	uint64_t value;

	if (is_old_table(row))
		return true;
	if (row->field_count < 2 || !word_number(&row->fields[1], &value))
		return dump_row_wrong(row, 1, "a whole number", error);
	if (row->field_count == 3 && __builtin_mul_overflow(value, 1024, &value))
		return dump_row_wrong(row, 1, "less than 16 EiB", error);
	name.bytes--;
	dump_add_value(state, dump, row, &name, value);
	return true;
}

const struct dump_kind dump_kind_meminfo = {
	.id = DUMP_MEMINFO,
	.name = "meminfo",
	.title = "/proc/meminfo",
	.files = files,
	.match = meminfo_match,
	.resembles = meminfo_resembles,
	.read = meminfo_read,
};
