/*
 * shelf: the file systems that filesystems.def lists, declared
 */
#ifndef REFAULT_MACHINE_MODEL_FS_SHELF_H
#define REFAULT_MACHINE_MODEL_FS_SHELF_H

#include "machine/model/filesystem.h"

#define FILESYSTEM(symbol) extern const struct filesystem filesystem_##symbol;
#include "machine/model/fs/filesystems.def"
#undef FILESYSTEM

#endif
