/*
 * image: a large file without a name, which is gone with the last process that has it open
 */
#ifndef REFAULT_MACHINE_KERNEL_IMAGE_H
#define REFAULT_MACHINE_KERNEL_IMAGE_H

#include <stdint.h>

#include "base/error.h"

/* The folder that images are made in: this one, or if it is NULL $TMPDIR or /var/tmp. */
const char *image_folder(const char *folder);

/*
 * A file of so many bytes, all hole, open for reading and writing as *fd, in
 * image_folder(folder). False, and *fd is -1: ERROR_INPUT if the folder is not there, ERROR_FAILED
 * else.
 */
bool image_make(int *fd, const char *folder, uint64_t bytes, struct error *error);

#endif
