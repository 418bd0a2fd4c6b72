#include "machine/kernel/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *image_folder(const char *folder)
{
	const char *temporary = getenv("TMPDIR");

	if (folder)
		return folder;
	return temporary && temporary[0] ? temporary : "/var/tmp";
}

/* Where a file cannot be made without a name (O_TMPFILE), it loses it at once. */
static int file_make(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char name[PATH_MAX];

	if (fd >= 0 || errno == ENOENT || errno == ENOTDIR ||
	    snprintf(name, sizeof(name), "%s/refault.XXXXXX", folder) >= PATH_MAX)
		return fd;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

bool image_make(int *fd, const char *folder, uint64_t bytes, struct error *error)
{
	*fd = file_make(image_folder(folder));
	if (*fd >= 0 && ftruncate(*fd, (off_t)bytes) == 0)
		return true;
	error_system(error, "cannot make an image of %llu bytes in %.200s",
		     (unsigned long long)bytes, image_folder(folder));
	if (*fd >= 0)
		close(*fd);
	else if (errno == ENOENT || errno == ENOTDIR)
		error->kind = ERROR_INPUT;
	*fd = -1;
	return false;
}
