/*
 * buffer_pool.h - large pieces of memory that are done with, kept for the next
 * who needs as much. A program that repeats its steps asks for the same again
 * and again, and fresh memory costs more than what is done with it: the system
 * zeroes every page.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_BUFFER_POOL_H
#define LOCKSTEP_CORE_BUFFER_POOL_H

#include <stddef.h>

/* Pieces kept. */
#define DIST__SPARES 8

struct dist__buffer_pool {
	struct {
		void *memory; /* NULL: none */
		size_t bytes;
	} pieces[DIST__SPARES];
	size_t oldest; /* the next to go */
};

/* dist__buffer_pool_take returns a piece of so many bytes, which hold anything;
 * for dist__buffer_pool_give(), or free(). NULL: no memory. */
void *dist__buffer_pool_take(struct dist__buffer_pool *pool, size_t bytes);

/* dist__buffer_pool_give takes a piece back; NULL allowed. */
void dist__buffer_pool_give(struct dist__buffer_pool *pool, void *memory,
			    size_t bytes);

/* dist__buffer_pool_release frees all that are kept. */
void dist__buffer_pool_release(struct dist__buffer_pool *pool);

#endif
