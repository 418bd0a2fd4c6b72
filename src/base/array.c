#include "base/array.h"

#include <string.h>

void *array_grow(void *at, size_t *capacity, size_t element_bytes)
{
	size_t old = *capacity;
	size_t new = old ? old * 2 : 16;
	unsigned char *memory = memory_resize(at, new, element_bytes);

	memset(memory + old * element_bytes, 0, (new - old) * element_bytes);
	*capacity = new;
	return memory;
}
