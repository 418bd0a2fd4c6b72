#include "study/lint.h"

#define LINT(name) extern const struct lint lint_##name;
#include "study/lint/lints.def"
#undef LINT

static const struct lint *const lints[] = {
#define LINT(name) &lint_##name,
#include "study/lint/lints.def"
#undef LINT
};

const struct lint *lint_at(size_t index)
{
	return index < sizeof(lints) / sizeof(lints[0]) ? lints[index] : NULL;
}
