#include "report/section.h"

#define SECTION(name) extern const struct section section_##name;
#include "report/section/sections.def"
#undef SECTION

static const struct section *const sections[] = {
#define SECTION(name) &section_##name,
#include "report/section/sections.def"
#undef SECTION
};

const struct section *section_at(size_t index)
{
	return index < sizeof(sections) / sizeof(sections[0]) ? sections[index] : NULL;
}
