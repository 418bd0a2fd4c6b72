/*
 * policy_list: several policies in one option: "arc,linux-4.5,activate_on_write=never,lru"
 */
#ifndef REFAULT_CLI_POLICY_LIST_H
#define REFAULT_CLI_POLICY_LIST_H

#include "base/memory.h"
#include "cli/command.h"

/* A part with '=' belongs to the name before it. The list, of *count, is in `arena`. */
const char **policy_list_split(const struct text_list *texts, size_t *count, struct arena *arena);

#endif
