/*
 * shelf: the policies that policies.def lists, declared
 */
#ifndef REFAULT_CACHE_POLICY_SHELF_H
#define REFAULT_CACHE_POLICY_SHELF_H

#include "cache/policy.h"

#define POLICY(symbol) extern const struct policy policy_##symbol;
#include "cache/policy/policies.def"
#undef POLICY

#endif
