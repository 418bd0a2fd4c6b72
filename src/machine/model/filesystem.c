#include "machine/model/filesystem.h"

static void add(struct filesystem_mount *mount, enum io_kind kind, uint64_t offset, uint64_t bytes,
		bool is_metadata)
{
	struct io *io = io_add(mount->io, kind, offset, bytes);

	io->is_metadata = is_metadata;
	io->is_background = mount->is_background;
}

void mount_read(struct filesystem_mount *mount, uint64_t offset, uint64_t bytes)
{
	cache_read_outside(mount->cache, bytes);
	if (mount->io)
		add(mount, IO_READ, offset, bytes, true);
}

void mount_write(struct filesystem_mount *mount, uint64_t offset, uint64_t bytes)
{
	if (!mount->io)
		return;
	cache_write_outside(mount->cache, bytes);
	add(mount, IO_WRITE, offset, bytes, true);
}

void mount_flush(struct filesystem_mount *mount)
{
	if (mount->io && !mount->options.no_barriers)
		add(mount, IO_FLUSH, 0, 0, true);
}

void mount_then(struct filesystem_mount *mount)
{
	if (mount->io)
		io_then(mount->io);
}

void mount_write_durable(struct filesystem_mount *mount, uint64_t offset, uint64_t bytes)
{
	mount_then(mount);
	mount_flush(mount);
	mount_then(mount);
	mount_write(mount, offset, bytes);
	mount_then(mount);
	mount_flush(mount);
	mount_then(mount);
}

void mount_await(struct filesystem_mount *mount, uint64_t reached)
{
	if (!mount->io)
		return;
	mount->awaits++;
	mount_then(mount);
	add(mount, IO_AWAIT, reached, 0, true);
	mount_then(mount);
}

void mount_cpu(struct filesystem_mount *mount, uint64_t ns)
{
	if (mount->io)
		mount->io->cpu_ns += ns;
}

void mount_cpu_aside(struct filesystem_mount *mount, uint64_t ns)
{
	if (mount->io)
		mount->io->aside_ns += ns;
}

void mount_data(struct filesystem_mount *mount, enum io_kind kind, uint64_t offset, uint64_t bytes)
{
	add(mount, kind, offset, bytes, false);
}
