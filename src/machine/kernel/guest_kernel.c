#include "machine/kernel/guest_kernel.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

bool guest_kernel_parse(struct guest_kernel *kernel, const char *text, struct arena *arena,
			struct error *error)
{
	size_t bytes = strcspn(text, ",");

	*kernel = (struct guest_kernel){.image = arena_text(arena, text, bytes)};
	if (bytes == 0)
		return error_input(error, "--guest begins with a kernel's image: "
					  "VMLINUZ[,modules=DIR][,mglru=on|off]");
	while (text[bytes] == ',') {
		text += bytes + 1;
		bytes = strcspn(text, ",");
		if (strncmp(text, "modules=", strlen("modules=")) == 0 &&
		    bytes > strlen("modules="))
			kernel->modules = arena_text(arena, text + strlen("modules="),
						     bytes - strlen("modules="));
		else if (bytes == strlen("mglru=on") && strncmp(text, "mglru=on", bytes) == 0)
			kernel->mglru = GUEST_MGLRU_ON;
		else if (bytes == strlen("mglru=off") && strncmp(text, "mglru=off", bytes) == 0)
			kernel->mglru = GUEST_MGLRU_OFF;
		else
			return error_input(error,
					   "--guest: \"%.*s\" is neither modules=DIR nor mglru=on "
					   "or mglru=off",
					   (int)(bytes < 100 ? bytes : 100), text);
	}
	return true;
}

/*
 * Documentation/arch/x86/boot.rst: "HdrS" at 0x202, and at 0x20e where (from 0x200 on) the
 * version's text is.
 */
static bool release_read(const char **release, int fd, struct arena *arena)
{
	char magic[4], text[128] = "";
	uint16_t offset;

	if (pread(fd, magic, sizeof(magic), 0x202) != sizeof(magic) ||
	    memcmp(magic, "HdrS", sizeof(magic)) != 0 ||
	    pread(fd, &offset, sizeof(offset), 0x20e) != sizeof(offset) || offset == 0 ||
	    pread(fd, text, sizeof(text) - 1, 0x200 + offset) <= 0)
		return false;
	*release = arena_text(arena, text, strcspn(text, " "));
	return **release != '\0';
}

bool guest_kernel_open(int *fd, const char **release, const char *image, struct arena *arena,
		       struct error *error)
{
	*fd = open(image, O_RDONLY | O_CLOEXEC);
	if (*fd < 0) {
		error_system(error, "cannot open the kernel %s", image);
		error->kind = ERROR_INPUT;
		return false;
	}
	return release_read(release, *fd, arena) ||
	       error_input(error, "%s is not a kernel's image (a bzImage for x86-64)", image);
}
