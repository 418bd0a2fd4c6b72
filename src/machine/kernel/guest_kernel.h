/*
 * guest_kernel: which kernel a guest boots, as the user says it
 */
#ifndef REFAULT_MACHINE_KERNEL_GUEST_KERNEL_H
#define REFAULT_MACHINE_KERNEL_GUEST_KERNEL_H

#include "base/error.h"
#include "base/memory.h"

enum guest_mglru {
	GUEST_MGLRU_DEFAULT, /* as this kernel has it */
	GUEST_MGLRU_OFF,     /* two lists */
	GUEST_MGLRU_ON,      /* fails in a kernel without it */
};

/* Texts are the caller's. */
struct guest_kernel {
	const char *image; /* VMLINUZ, a bzImage for x86-64 */
	/* Its /lib/modules/RELEASE or a folder above; NULL: as modules_locate() finds them. */
	const char *modules;
	enum guest_mglru mglru;
};

/*
 * Read "VMLINUZ[,modules=DIR][,mglru=on|off]", the value of --guest. Texts are in `arena`. Fails
 * (ERROR_INPUT) on words it does not know; whether the files are there is seen later.
 */
bool guest_kernel_parse(struct guest_kernel *kernel, const char *text, struct arena *arena,
			struct error *error);

/*
 * The release that an image says it is ("6.1.0-57-cloud-amd64"), in `arena`. *fd is the image,
 * open, or -1. Fails (ERROR_INPUT) if it is no bzImage, and leaves *fd to be closed then, too.
 */
bool guest_kernel_open(int *fd, const char **release, const char *image, struct arena *arena,
		       struct error *error);

#endif
