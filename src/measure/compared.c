#include "measure/compared.h"

#include "base/memory.h"

static void side_deinit(struct compared_side *side)
{
	char *const texts[] = {side->name,   side->input,  side->setting,    side->machine,
			       side->kernel, side->policy, side->filesystem, side->version};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		memory_free(texts[i]);
	for (size_t i = 0; i < side->run_count; i++)
		memory_free(side->runs[i].id);
	memory_free(side->runs);
}

void compared_deinit(struct compared *compared)
{
	for (size_t i = 0; i < compared->side_count; i++)
		side_deinit(&compared->sides[i]);
	memory_free(compared->sides);
	for (size_t i = 0; i < compared->rows.count; i++) {
		memory_free(compared->rows.at[i].stream);
		memory_free(compared->rows.at[i].figure);
		memory_free(compared->rows.at[i].cells);
	}
	array_deinit(&compared->rows);
	*compared = (struct compared){0};
}
