/*
 * linux: presets of the kernels, for linux.c
 */
#ifndef REFAULT_CACHE_POLICY_LINUX_H
#define REFAULT_CACHE_POLICY_LINUX_H

#include "cache/policy_options.h"

extern const struct switches preset_linux_4_5;
extern const struct switches preset_linux_4_7;
extern const struct switches preset_linux_4_14;
extern const struct switches preset_linux_5_4;
extern const struct switches preset_linux_5_10;
extern const struct switches preset_linux_5_15;
extern const struct switches preset_linux_6_1;
extern const struct switches preset_linux_6_6;
extern const struct switches preset_linux_6_12;
extern const struct switches preset_linux_6_18;

#endif
