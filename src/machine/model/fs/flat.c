/*
 * flat: files and nothing else
 *
 * Idea       data is where it is: no metadata to read, none to cache, single pages only. To see
 *            what the page cache does by itself, and as the shelf's smallest whole example.
 * Source     ours; object sizes as ext4's on Linux 6.18
 */
#include "machine/model/filesystem.h"

static void nothing(struct filesystem_mount *mount)
{
	(void)mount;
}

static void nothing_at(struct filesystem_mount *mount, uint32_t node)
{
	(void)mount;
	(void)node;
}

const struct filesystem filesystem_flat = {
	.name = "flat",
	.summary = "data without metadata, single pages",
	.core =
		{
			.folios = CACHE_FOLIOS_NEVER,
			.dentry_bytes = 200,
			.inline_name_bytes = 39,
			.long_name_bytes = 104,
			.inode_bytes = 1136,
			.node_bytes = 592,
		},
	.device_io_pages = 320,
	.mount = nothing,
	.unmount = nothing,
	.lookup = nothing_at,
	.inode_read = nothing_at,
	.create = nothing_at,
	.remove = nothing_at,
};
