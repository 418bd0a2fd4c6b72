#include "study/remedy.h"

#include <string.h>

#define REMEDY(name) extern const struct remedy remedy_##name;
#include "study/remedy/remedies.def"
#undef REMEDY

static const struct remedy *const remedies[] = {
#define REMEDY(name) &remedy_##name,
#include "study/remedy/remedies.def"
#undef REMEDY
};

const struct remedy *remedy_at(size_t index)
{
	return index < sizeof(remedies) / sizeof(remedies[0]) ? remedies[index] : NULL;
}

const struct remedy *remedy_find(const char *id)
{
	for (size_t i = 0; remedy_at(i); i++)
		if (strcmp(remedy_at(i)->id, id) == 0)
			return remedy_at(i);
	return NULL;
}
