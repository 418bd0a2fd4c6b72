/*
 * initramfs: what a kernel that was just booted finds in its memory
 *
 * A cpio archive in the "newc" form, the one Linux unpacks (Documentation/driver-api/early-
 * userspace/buffer-format.rst): a header in hexadecimal, the name, the contents, each padded to
 * four bytes. It is written uncompressed: it goes from memory to memory, and to unpack it costs an
 * emulated processor more than to copy it.
 *
 * Everything belongs to root and is dated 1970, so that the same files give the same bytes.
 */
#ifndef REFAULT_MACHINE_KERNEL_INITRAMFS_H
#define REFAULT_MACHINE_KERNEL_INITRAMFS_H

#include <stdint.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"

struct initramfs {
	FILE *file;
	uint64_t bytes;              /* written so far */
	uint32_t inode_last;         /* each entry has its own */
	ARRAY(const char *) present; /* paths that are in it, each once; in `names` */
	struct arena names;
};

/*
 * Begin an archive in the file `fd`, which stays the caller's. Free with initramfs_deinit(), after
 * a failure too: what is in the file is an initramfs only when initramfs_finish() said so.
 */
bool initramfs_init(struct initramfs *initramfs, int fd, struct error *error);
void initramfs_deinit(struct initramfs *initramfs);

/*
 * Add one thing under `path` ("/bin/sh"). Directories above it are made (0755) where they are
 * missing; a path that is there already is left as it is, whatever it was. `mode` are permission
 * bits. Contents have at most 4 GiB - 1: the format has no room for more. initramfs_copy() takes
 * them from a file of the host, following symbolic links.
 */
bool initramfs_directory(struct initramfs *initramfs, const char *path, struct error *error);
bool initramfs_file(struct initramfs *initramfs, const char *path, unsigned mode,
		    const void *contents, size_t bytes, struct error *error);
bool initramfs_copy(struct initramfs *initramfs, const char *path, unsigned mode,
		    const char *host_path, struct error *error);
bool initramfs_symlink(struct initramfs *initramfs, const char *path, const char *target,
		       struct error *error);
bool initramfs_character_device(struct initramfs *initramfs, const char *path, unsigned mode,
				unsigned major_number, unsigned minor_number, struct error *error);

/*
 * Add a program of the host with all that it loads (program.h): it lies at `path`, its loader and
 * its libraries where they lie on the host.
 */
bool initramfs_program(struct initramfs *initramfs, const char *path, const char *host_path,
		       struct error *error);

/* Write the archive's end. Fails when anything before could not be written. */
bool initramfs_finish(struct initramfs *initramfs, struct error *error);

#endif
