/* array.c - an array is full with 0 items, and with 8, 16, 32, ... */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void *dist__array_add(void *array, size_t *num, const void *item, size_t size)
{
	size_t n = *num;
	unsigned char *items;

	memcpy(&items, array, sizeof items);
	if (n == 0 || (n >= 8 && (n & (n - 1)) == 0)) {
		items = realloc(items, (n ? 2 * n : 8) * size);
		if (!items)
			return NULL;
		memcpy(array, &items, sizeof items);
	}
	++*num;
	return memcpy(items + n * size, item, size);
}

bool dist__array_room(void *array, size_t *space, size_t num, size_t size)
{
	size_t wanted = num > 2 * *space ? num : 2 * *space;
	void *items;

	if (num <= *space)
		return true;
	memcpy(&items, array, sizeof items);
	items = realloc(items, wanted * size);
	if (!items)
		return false;
	memcpy(array, &items, sizeof items);
	*space = wanted;
	return true;
}
