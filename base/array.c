/* array.c - an array is full with 0 items, and with 8, 16, 32, ... */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

bool dist__array_grow(void *array, size_t num, size_t size)
{
	size_t room = num ? num : 4;

	return (num != 0 && (num < 8 || (num & (num - 1)) != 0)) ||
	       dist__array_room(array, &room, 2 * room, size);
}

void *dist__array_add(void *array, size_t *num, const void *item, size_t size)
{
	unsigned char *items;

	if (!dist__array_grow(array, *num, size))
		return NULL;
	memcpy(&items, array, sizeof items);
	return memcpy(items + (*num)++ * size, item, size);
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
