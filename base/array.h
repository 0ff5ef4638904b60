/* array.h - arrays that grow. */
#ifndef LOCKSTEP_BASE_ARRAY_H
#define LOCKSTEP_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * dist__array_add appends a copy of *item, of size bytes, to an array of *num
 * items. array is the address of the caller's pointer to the items, NULL at
 * first. The array has room for 8 items, then twice as many each time; no other
 * function may resize it, and the caller frees it. Returns the address of the
 * copy; NULL: no memory, and nothing has changed.
 */
void *dist__array_add(void *array, size_t *num, const void *item, size_t size);

/* dist__array_grow only makes room for one item more than num, by the same
 * rule. False: no memory, and nothing has changed. */
bool dist__array_grow(void *array, size_t num, size_t size);

/*
 * dist__array_room makes room for num items of size bytes in an array that has
 * room for *space; where that is too few, for twice as many at least. array is
 * as above; *space is 0 at first. False: no memory, and nothing has changed.
 */
bool dist__array_room(void *array, size_t *space, size_t num, size_t size);

#endif
