/*
 * root: square roots of whole numbers, the same on every machine
 *
 * The largest whole number whose square is not above `value`, bit by bit: some 30 ns, the wide one
 * some 100.
 */
#ifndef REFAULT_BASE_ROOT_H
#define REFAULT_BASE_ROOT_H

#include <stdint.h>

uint64_t square_root(uint64_t value);
uint64_t square_root_wide(unsigned __int128 value);

#endif
