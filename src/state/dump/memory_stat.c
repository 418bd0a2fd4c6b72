/*
 * memory_stat: what a memory cgroup's memory is used for
 *
 *     anon 104857600          version 2          total_rss 104857600     version 1
 *
 * Entries   a name: the number as it stands there. Amounts are in bytes; refaults, faults, scans and
 *           pgpgin, pgpgout are in pages, also where vmstat's of that name are in KiB
 * Source    mm/memcontrol.c, memory_stats[] (Linux 4.5 to 6.18); mm/memcontrol-v1.c, memcg1_stats[]
 *           and before 6.11 mm/memcontrol.c, mem_cgroup_stat_names[]; Linux 2.6.25: cache and rss
 */
#include "state/dump.h"

static const char *const files[] = {"memory.stat", NULL};

static const char *const own[] = {"anon",
				  "file",
				  "kernel",
				  "kernel_stack",
				  "pagetables",
				  "sec_pagetables",
				  "percpu",
				  "sock",
				  "vmalloc",
				  "shmem",
				  "zswap",
				  "zswapped",
				  "file_mapped",
				  "file_dirty",
				  "file_writeback",
				  "swapcached",
				  "anon_thp",
				  "file_thp",
				  "shmem_thp",
				  "inactive_anon",
				  "active_anon",
				  "inactive_file",
				  "active_file",
				  "unevictable",
				  "slab_reclaimable",
				  "slab_unreclaimable",
				  "slab",
				  "hugetlb",
				  "cache",
				  "rss",
				  "rss_huge",
				  "mapped_file",
				  "dirty",
				  "writeback",
				  "swap",
				  "hierarchical_*",
				  "total_*",
				  "recent_rotated_*",
				  "recent_scanned_*",
				  NULL};

static enum row_match stat_match(const struct row *row, const struct dump *open)
{
	(void)open;
	if (!pair_is(row))
		return ROW_NO;
	if (word_is_among(&row->fields[0], own))
		return ROW_YES;
	return word_is_among(&row->fields[0], pair_events) ? ROW_LIKELY : ROW_PERHAPS;
}

static bool stat_resembles(const struct row *row)
{
	return pair_resembles(row) || word_is_among(&row->fields[0], own);
}

const struct dump_kind dump_kind_memory_stat = {
	.id = DUMP_MEMORY_STAT,
	.name = "memory.stat",
	.title = "a memory cgroup's memory.stat",
	.files = files,
	.match = stat_match,
	.resembles = stat_resembles,
	.read = pair_read,
};
