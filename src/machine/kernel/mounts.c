#include "machine/kernel/mounts.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "machine/kernel/text_file.h"

void mounts_open(struct mounts *mounts)
{
	mounts->rest = mounts->text = text_file_read("/proc/self/mountinfo");
}

void mounts_close(struct mounts *mounts)
{
	memory_free(mounts->text);
	*mounts = (struct mounts){0};
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAGS] - TYPE SOURCE OPTIONS" */
static bool mount_parse(const char *line, struct mount *mount)
{
	const char *behind = strstr(line, " - ");

	return behind &&
	       sscanf(line, "%*s %*s %u:%u %*s %4095s", &mount->major, &mount->minor,
		      mount->point) == 3 &&
	       sscanf(behind, " - %31s %4095s %1023s", mount->type, mount->source,
		      mount->options) == 3;
}

bool mounts_next(struct mounts *mounts, struct mount *mount)
{
	char *line;

	while ((line = strsep(&mounts->rest, "\n")) != NULL)
		if (mount_parse(line, mount))
			return true;
	return false;
}
