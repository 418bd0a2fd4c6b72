#include "state/finding.h"

#define FINDING(name) extern const struct finding_rule finding_##name;
#include "state/finding/findings.def"
#undef FINDING

static const struct finding_rule *const rules[] = {
#define FINDING(name) &finding_##name,
#include "state/finding/findings.def"
#undef FINDING
};

const struct finding_rule *finding_rule_at(size_t index)
{
	return index < sizeof(rules) / sizeof(rules[0]) ? rules[index] : NULL;
}
