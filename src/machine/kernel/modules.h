/*
 * modules: which modules a kernel must load before it can do something, and in which order
 *
 * What depmod(8) and modprobe(8) know, for a handful of modules, from an unpacked package that
 * depmod has never seen: a module names in its .modinfo what it depends on ("depends="), and what
 * it will ask for while it runs ("softdep=pre:"), the latter often by an alias ("crc32c"). Those
 * that are built into the kernel are listed in modules.builtin and, with their aliases, in
 * modules.builtin.modinfo.
 */
#ifndef REFAULT_MACHINE_KERNEL_MODULES_H
#define REFAULT_MACHINE_KERNEL_MODULES_H

#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"

struct module {
	const char *name;      /* as the kernel spells it, with underscores */
	unsigned char *object; /* its ELF file, unpacked */
	size_t bytes;
	/*
	 * One that was only asked for softly, which may refuse this machine (crc32c_intel without
	 * SSE 4.2).
	 */
	bool is_optional;
};

struct module_list {
	ARRAY(struct module) modules; /* in the order in which to load them */
	struct arena arena;           /* names, objects */
};

/*
 * Find the modules of the kernel `release` ("6.1.0-57-cloud-amd64"): *directory is the folder that
 * depmod calls /lib/modules/RELEASE, in `arena`. `given` is that folder or one above it (the root
 * of an unpacked package); a `given` of NULL means that it is looked for near the kernel's image at
 * `kernel`, as an unpacked package has it, and *directory is NULL when there is none: then
 * everything must be built in. Fails (ERROR_INPUT) when what is given is not there.
 */
bool modules_locate(const char **directory, const char *given, const char *kernel,
		    const char *release, struct arena *arena, struct error *error);

/*
 * Read the modules `wanted` (names, ended by NULL, with '-' or '_') and all they need. One that is
 * built in is skipped; so is one that is nowhere if `directory` has no modules.builtin to tell.
 * Fails (ERROR_INPUT) naming the module that is neither there nor built in, and on files that are
 * none. Free with module_list_deinit(), after a failure too.
 */
bool modules_list(struct module_list *list, const char *directory, const char *const *wanted,
		  struct error *error);
void module_list_deinit(struct module_list *list);

#endif
