/* array.h - arrays that grow by one item at a time. */
#ifndef LOCKSTEP_BASE_ARRAY_H
#define LOCKSTEP_BASE_ARRAY_H

#include <stddef.h>

/*
 * dist__array_add puts a copy of *item, of size bytes, behind the *num items of
 * the array at which *array, a pointer to such items, points. Nobody else lets
 * that array grow: it is NULL at first, has room for 8, then for twice as many
 * each time, and is the caller's to free. Returns where the copy lies; NULL: no
 * memory, and nothing has changed.
 */
void *dist__array_add(void *array, size_t *num, const void *item, size_t size);

#endif
