/*
 * text_file: the small text files in which a kernel speaks (/proc, /sys, cgroups)
 */
#ifndef REFAULT_MACHINE_KERNEL_TEXT_FILE_H
#define REFAULT_MACHINE_KERNEL_TEXT_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* All of it, ended by NUL; NULL (and errno) if it cannot be read. Free with memory_free(). */
char *text_file_read(const char *path);

/* The number that it begins with. False: there is none. */
bool text_file_number(const char *path, uint64_t *value);

/* False (and errno): refused. */
bool text_file_write(const char *path, const char *value);

/* The number in the line "NAME VALUE" or "NAME: VALUE" of `text`. False: there is no such line. */
bool text_field(const char *text, const char *name, uint64_t *value);

#endif
