/*
 * shipped: finding scenarios, and profiles of devices, by name
 *
 * Looked for in this order: $REFAULT_SCENARIOS (folders between colons), the folder scenarios/ in or
 * beside the program's own folder (a build directory in the source tree: build/refault and
 * scenarios/), and the installed one, REFAULT_SHAREDIR/refault/scenarios. Devices likewise:
 * $REFAULT_DEVICES, devices/, REFAULT_SHAREDIR/refault/devices.
 */
#ifndef REFAULT_SOURCE_SHIPPED_H
#define REFAULT_SOURCE_SHIPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The file of a scenario. A name that ends in .yaml or .yml, begins with / or ., or has a slash and
 * is there, is a path and is returned as it is; so is "-", standard input. Fails (ERROR_INPUT) with the
 * nearest name there is.
 */
bool shipped_find(char *path, size_t bytes, const char *name, struct error *error);

/*
 * The whole file in memory of its own (memory_free()). Fails (ERROR_INPUT) if it cannot be read or
 * has more than `bytes_max`.
 */
bool shipped_read(char **text, size_t *bytes, const char *path, size_t bytes_max,
		  struct error *error);

/*
 * Where docs/scenarios.md, which explains the format, is to be read: in the tree beside the program,
 * or installed. Returns `path`.
 */
const char *shipped_manual(char *path, size_t bytes);

/* A scenario that ships, as `refault list scenarios` shows it. */
struct shipped {
	const char *name;
	const char *summary; /* "": none, or the file is broken (then it says so) */
	const char *path;
};

/*
 * Names are the files', without .yaml; what lies in a folder there is FOLDER/NAME. In alphabetical
 * order, those of folders last; NULL after the last. The list is made once, and kept.
 */
const struct shipped *scenario_at(size_t index);

/* The same of devices. */
bool shipped_device_find(char *path, size_t bytes, const char *name, struct error *error);
bool shipped_device_read(char **text, size_t *bytes, const char *path, size_t bytes_max,
			 struct error *error);
const struct shipped *shipped_device_at(size_t index);

#endif
