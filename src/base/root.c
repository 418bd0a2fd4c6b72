#include "base/root.h"

uint64_t square_root(uint64_t value)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1) {
		uint64_t larger = root | bit;

		if (larger * larger <= value)
			root = larger;
	}
	return root;
}

uint64_t square_root_wide(unsigned __int128 value)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1) {
		uint64_t larger = root | bit;

		if ((unsigned __int128)larger * larger <= value)
			root = larger;
	}
	return root;
}
