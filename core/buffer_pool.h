/*
 * buffer_pool.h - keeps large freed buffers for the next request of that size.
 * A program that repeats its steps asks for the same sizes again, and fresh
 * memory is expensive: the system zeroes every page.
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
	size_t oldest; /* the next to be replaced */
};

/* dist__buffer_pool_take returns a buffer of so many bytes, not initialized, to
 * be passed to dist__buffer_pool_give() or free(). NULL: no memory. */
void *dist__buffer_pool_take(struct dist__buffer_pool *pool, size_t bytes);

/* dist__buffer_pool_give puts a buffer back; memory may be NULL. */
void dist__buffer_pool_give(struct dist__buffer_pool *pool, void *memory,
			    size_t bytes);

/* dist__buffer_pool_release frees all buffers in the pool. */
void dist__buffer_pool_release(struct dist__buffer_pool *pool);

#endif
