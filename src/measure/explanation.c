#include "measure/explanation.h"

void explanation_deinit(struct explanation *explanation)
{
	for (size_t i = 0; i < explanation->victims.count; i++)
		array_deinit(&explanation->victims.at[i].evictors);
	array_deinit(&explanation->victims);
	array_deinit(&explanation->evictors);
	array_deinit(&explanation->list);
	histogram_deinit(&explanation->distances);
	histogram_deinit(&explanation->ages.arrived_ops);
	histogram_deinit(&explanation->ages.arrived_ns);
	histogram_deinit(&explanation->ages.used_ops);
	histogram_deinit(&explanation->ages.used_ns);
	arena_deinit(&explanation->arena);
}

uint64_t explained_age_next(uint64_t bound)
{
	uint64_t first = bound;

	while (first >= 10)
		first /= 10;
	return first == 2 ? bound / 2 * 5 : bound * 2;
}

uint64_t explanation_distance(const struct explanation *explanation, uint32_t millionths)
{
	uint64_t distance = explanation->distances.count
				    ? histogram_quantile(&explanation->distances, millionths)
				    : 0;

	return distance < explanation->all_pages ? distance : explanation->all_pages;
}
