#include "core/buffer_pool.h"

#include <stdlib.h>

/* Below this malloc() has memory of its own at hand. */
#define LEAST_BYTES ((size_t)64 << 10)

void *dist__buffer_pool_take(struct dist__buffer_pool *pool, size_t bytes)
{
	for (size_t i = 0; i < DIST__SPARES; i++) {
		void *memory = pool->pieces[i].memory;

		if (memory && pool->pieces[i].bytes == bytes) {
			pool->pieces[i].memory = NULL;
			return memory;
		}
	}
	return malloc(bytes);
}

void dist__buffer_pool_give(struct dist__buffer_pool *pool, void *memory,
			    size_t bytes)
{
	size_t i = 0;

	if (!memory || bytes < LEAST_BYTES) {
		free(memory);
		return;
	}
	while (i < DIST__SPARES && pool->pieces[i].memory)
		i++;
	if (i == DIST__SPARES) {
		i = pool->oldest;
		pool->oldest = (i + 1) % DIST__SPARES;
		free(pool->pieces[i].memory);
	}
	pool->pieces[i].memory = memory;
	pool->pieces[i].bytes = bytes;
}

void dist__buffer_pool_release(struct dist__buffer_pool *pool)
{
	for (size_t i = 0; i < DIST__SPARES; i++) {
		free(pool->pieces[i].memory);
		pool->pieces[i].memory = NULL;
	}
}
