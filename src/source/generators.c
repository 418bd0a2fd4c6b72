#include "source/generator.h"

#include <string.h>

#define GENERATOR(name) extern const struct generator generator_##name;
#include "source/generator/generators.def"
#undef GENERATOR

static const struct generator *const generators[] = {
#define GENERATOR(name) &generator_##name,
#include "source/generator/generators.def"
#undef GENERATOR
	NULL,
};

const struct generator *generator_at(size_t index)
{
	return index < sizeof(generators) / sizeof(generators[0]) ? generators[index] : NULL;
}

const struct generator *generator_find(const char *name)
{
	for (size_t i = 0; generators[i]; i++) {
		if (strcmp(generators[i]->name, name) == 0)
			return generators[i];
	}
	return NULL;
}
