/*
 * vmstat: the kernel's own counters and levels
 *
 *     nr_free_pages 9874
 *     pgpgin 9120400
 *
 * Entries   a name: the number as it stands there. In pages but for pgpgin and pgpgout, which are in
 *           KiB, and what counts events
 * Source    mm/vmstat.c, vmstat_text[], of Linux 2.6.0 to 6.18
 * Differs   1. whether nr_slab_* are in pages is held against meminfo (page_size.c): there are
 *              kernels that print bytes
 */
#include "state/dump.h"

static const char *const files[] = {"vmstat", NULL};

/* Names that no other file of "name number" has. */
static const char *const own[] = {"nr_free_pages*",
				  "nr_zone_*",
				  "nr_alloc_batch",
				  "nr_inactive*",
				  "nr_active*",
				  "nr_unevictable",
				  "nr_mlock",
				  "nr_bounce",
				  "nr_zspages",
				  "nr_free_cma",
				  "nr_unaccepted",
				  "nr_slab*",
				  "nr_isolated_*",
				  "nr_anon*",
				  "nr_mapped",
				  "nr_file_*",
				  "nr_dirty*",
				  "nr_writeback*",
				  "nr_unstable",
				  "nr_shmem*",
				  "nr_vmscan_*",
				  "nr_dirtied",
				  "nr_written",
				  "nr_throttled_written",
				  "nr_kernel_*",
				  "nr_foll_pin_*",
				  "nr_page_table_pages",
				  "nr_sec_page_table_pages",
				  "nr_iommu_pages",
				  "nr_swapcached",
				  "nr_hugetlb",
				  "nr_balloon_pages",
				  "nr_memmap*",
				  "nr_indirectly_reclaimable",
				  "nr_tlb_*",
				  "nr_shadow_call_stack",
				  "nr_overhead",
				  "nr_ion_*",
				  "nr_gpu_*",
				  "pswpin",
				  "pswpout",
				  "pgalloc*",
				  "allocstall*",
				  "pgskip_*",
				  "pgfree",
				  "pgreuse",
				  "pgrotated",
				  "pageoutrun",
				  "pginodesteal",
				  "slabs_scanned",
				  "kswapd_*",
				  "zone_reclaim_*",
				  "drop_pagecache",
				  "drop_slab",
				  "numa_hit",
				  "numa_miss",
				  "numa_foreign",
				  "numa_interleave",
				  "numa_local",
				  "numa_other",
				  "pgmigrate_*",
				  "compact_*",
				  "htlb_*",
				  "cma_*",
				  "unevictable_pgs_*",
				  "balloon_*",
				  "swap_ra*",
				  "direct_map_*",
				  "vma_lock_*",
				  "kstack_*",
				  "cow_ksm",
				  "ksm_*",
				  "workingset_refault",
				  "pgscan_kswapd_dma*",
				  "pgscan_kswapd_normal",
				  "pgscan_kswapd_high",
				  "pgscan_kswapd_movable",
				  "pgscan_direct_*",
				  "pgsteal_dma*",
				  "pgsteal_normal",
				  "pgsteal_high",
				  "pgsteal_movable",
				  "pgsteal_kswapd_*",
				  "pgsteal_direct_*",
				  "pgrefill_*",
				  "thp_file_*",
				  "thp_split_*",
				  "thp_deferred_*",
				  "thp_zero_*",
				  "thp_scan_*",
				  "thp_migration_*",
				  "thp_fault_fallback*",
				  NULL};

/* Names that other kinds have as well, besides pair_events. */
static const char *const shared[] = {"oom_kill", NULL};

static bool vmstat_resembles(const struct row *row)
{
	return pair_resembles(row) || word_is_among(&row->fields[0], own);
}

static enum row_match vmstat_match(const struct row *row, const struct dump *open)
{
	(void)open;
	if (!pair_is(row))
		return ROW_NO;
	if (word_is_among(&row->fields[0], own))
		return ROW_YES;
	return word_is_among(&row->fields[0], pair_events) || word_is_among(&row->fields[0], shared)
		       ? ROW_LIKELY
		       : ROW_PERHAPS;
}

const struct dump_kind dump_kind_vmstat = {
	.id = DUMP_VMSTAT,
	.name = "vmstat",
	.title = "/proc/vmstat",
	.files = files,
	.match = vmstat_match,
	.resembles = vmstat_resembles,
	.read = pair_read,
};
