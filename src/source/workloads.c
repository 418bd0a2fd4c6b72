#include "source/workload.h"

#include <string.h>

#define WORKLOAD(name) extern const struct workload workload_##name;
#include "source/workload/workloads.def"
#undef WORKLOAD

static const struct workload *const workloads[] = {
#define WORKLOAD(name) &workload_##name,
#include "source/workload/workloads.def"
#undef WORKLOAD
	NULL,
};

const struct workload *workload_at(size_t index)
{
	return index < sizeof(workloads) / sizeof(workloads[0]) ? workloads[index] : NULL;
}

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; workloads[i]; i++) {
		if (strcmp(workloads[i]->name, name) == 0)
			return workloads[i];
	}
	return NULL;
}

void workload_sums_report(const struct op_source_reporter *reporter,
			  const struct workload_sum *sums, size_t sum_count, const void *counts)
{
	for (size_t i = 0; i < sum_count; i++) {
		const char *at = (const char *)counts + sums[i].offset;

		reporter->figure(reporter->context, sums[i].name, sums[i].meaning,
				 (double)*(const uint64_t *)at, true);
	}
}
