/*
 * root: square roots of whole numbers, the same on every machine
 *
 * The largest whole number whose square is not above `value`. Bit by bit: some 2 ns for each of the root's bits.
 */
#ifndef REFAULT_BASE_ROOT_H
#define REFAULT_BASE_ROOT_H

#include <stdint.h>

uint64_t square_root(uint64_t value);
uint64_t square_root_wide(unsigned __int128 value);

#endif
