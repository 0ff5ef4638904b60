/* array.h - arrays that grow by one item at a time. */
#ifndef LOCKSTEP_BASE_ARRAY_H
#define LOCKSTEP_BASE_ARRAY_H

#include <stddef.h>

/*
 * dist__array_add appends a copy of *item, of size bytes, to an array of *num
 * items. array is the address of the caller's pointer to the items, NULL at
 * first. The array has room for 8 items, then twice as many each time; no other
 * function may resize it, and the caller frees it. Returns the address of the
 * copy; NULL: no memory, and nothing has changed.
 */
void *dist__array_add(void *array, size_t *num, const void *item, size_t size);

#endif
