#include <string.h>

#include "base/nearest.h"
#include "machine/model/fs/shelf.h"
#include "machine/model/model.h"

static const struct filesystem *const filesystems[] = {
#define FILESYSTEM(symbol) &filesystem_##symbol,
#include "machine/model/fs/filesystems.def"
#undef FILESYSTEM
};

const struct filesystem *filesystem_at(size_t index)
{
	return index < sizeof(filesystems) / sizeof(filesystems[0]) ? filesystems[index] : NULL;
}

const struct filesystem *filesystem_find(const char *name)
{
	for (size_t i = 0; filesystem_at(i); i++)
		if (strcmp(filesystem_at(i)->name, name) == 0)
			return filesystem_at(i);
	return NULL;
}

bool filesystem_choose(const struct filesystem **fs, const char *name, struct error *error)
{
	struct nearest nearest = {.wanted = name};

	*fs = filesystem_find(name);
	if (*fs)
		return true;
	for (size_t i = 0; filesystem_at(i); i++)
		nearest_offer(&nearest, filesystem_at(i)->name);
	return error_input(error,
			   "no file system \"%.80s\"%s%s%s. `refault list filesystems` shows all.",
			   name, nearest.best ? " (nearest: " : "",
			   nearest.best ? nearest.best : "", nearest.best ? ")" : "");
}

const char *filesystem_name(const struct filesystem *fs)
{
	return fs->name;
}

const char *filesystem_summary(const struct filesystem *fs)
{
	return fs->summary;
}
