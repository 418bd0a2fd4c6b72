#include "cli/policy_list.h"

#include <string.h>

const char **policy_list_split(const struct text_list *texts, size_t *count, struct arena *arena)
{
	const char **policies;
	size_t most = 1;

	for (size_t i = 0; i < texts->count; i++)
		for (const char *at = texts->at[i]; *at; at++)
			most += *at == ',';
	policies = arena_alloc(arena, (most + texts->count) * sizeof(*policies));
	*count = 0;
	for (size_t i = 0; i < texts->count; i++) {
		const char *begin = texts->at[i], *end = begin;

		for (;;) {
			const char *next;

			end += strcspn(end, ",");
			next = end + (*end == ',');
			if (*end && memchr(next, '=', strcspn(next, ","))) {
				end = next;
				continue;
			}
			policies[(*count)++] = arena_text(arena, begin, (size_t)(end - begin));
			if (!*end)
				break;
			begin = end = next;
		}
	}
	return policies;
}
