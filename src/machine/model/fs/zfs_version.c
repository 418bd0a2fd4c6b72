#include "machine/model/fs/zfs_version.h"

#include "base/size.h"

static const struct zfs_version versions[] = {
	[ARC_CLASSIC] =
		{
			/* of 2018; zfsonlinux 0.7.9, May 2018 */
			.name = "0.7",
			.space =
				{
					/* vdev.c, vdev_metaslab_set_size() */
					.metaslab_shift = 0,
					/* metaslab.c, metaslab_block_picker() */
					.search_bytes = 0,
					/* zio.c, zio_alloc_zil(): the normal class alone */
					.has_log_metaslab = false,
					/* metaslab.c, metaslab_group_alloc_normal() */
					.stays_active = true,
					.copies_are_far = true,
					/* metaslab_unload_delay = TXG_SIZE * 2 */
					.unload_txgs = 8,
					/* metaslab_preload_limit = SPA_DVAS_PER_BP */
					.preloads = 3,
					/* space_map.c, space_map_blksz */
					.map_block_bytes = 4096,
				},
			/* dsl_pool.c, zfs_dirty_data_sync */
			.close_bytes = 64 << 20,
			/* zfs_vnops.c, zfs_write(): max_blksz; so that zfs_log_write() sees parts */
			.writes_by_record = true,
			/* zil.c, zil_block_buckets */
			.log_sizes = {{4 << 10, 4 << 10},
				      {12 << 10, 12 << 10},
				      {36 << 10, 36 << 10}},
			/* zil.c, zil_commit(): zl_writer, zl_cv_batch */
			.commits_take_turns = true,
			/* zil.c, zil_lwb_write_start(): dmu_tx_assign(tx, TXG_WAIT) */
			.commits_are_throttled = true,
			.allocators = 1,
		},
	[ARC_2_2] =
		{
			.name = "2.2",
			.space =
				{
					/* vdev.c, zfs_vdev_default_ms_shift */
					.metaslab_shift = 29,
					/* metaslab.c, metaslab_df_max_search, _min_search_count */
					.search_bytes = 16 << 20,
					.search_segments = 100,
					/* spa_misc.c, spa_embedded_log_class() */
					.has_log_metaslab = true,
					/* metaslab.c, metaslab_group_alloc_normal(): mga_primary */
					.stays_active = false,
					/* metaslab.c, metaslab_is_unique() */
					.copies_are_far = false,
					/* metaslab.c, metaslab_unload_delay, _delay_ms */
					.unload_txgs = 32,
					.unload_ns = 600 * NS_PER_SECOND,
					/* metaslab.c, metaslab_preload_limit */
					.preloads = 10,
					/* spa_log_spacemap.c */
					.map_block_bytes = 0,
				},
			/* dsl_pool.c, zfs_dirty_data_sync_percent */
			.close_percent = 20,
			/* zfs_vnops.c, zfs_write(): DMU_MAX_ACCESS / 2 */
			.writes_by_record = false,
			/* zil.c, zil_block_buckets */
			.log_sizes = {{4 << 10, 4 << 10},
				      {12 << 10, 12 << 10},
				      {36 << 10, 36 << 10},
				      {68 << 10, 68 << 10},
				      {128 << 10, 128 << 10},
				      {132 << 10, 68 << 10}},
			/* zil.c, zil_lwb_write_issue(), and TXG_NOTHROTTLE there */
			.commits_take_turns = false,
			.commits_are_throttled = false,
			/* spa_misc.c, spa_allocators */
			.allocators = 4,
		},
};

const struct zfs_version *zfs_version_of(enum arc_rules rules)
{
	return &versions[rules];
}
