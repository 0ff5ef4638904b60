#include "core/spares.h"

#include <stdlib.h>

/* Below this malloc() has memory of its own at hand. */
#define LEAST_BYTES ((size_t)64 << 10)

void *dist__spares_take(struct dist__spares *spares, size_t bytes)
{
	for (size_t i = 0; i < DIST__SPARES; i++) {
		void *memory = spares->pieces[i].memory;

		if (memory && spares->pieces[i].bytes == bytes) {
			spares->pieces[i].memory = NULL;
			return memory;
		}
	}
	return malloc(bytes);
}

void dist__spares_give(struct dist__spares *spares, void *memory, size_t bytes)
{
	size_t i = 0;

	if (!memory || bytes < LEAST_BYTES) {
		free(memory);
		return;
	}
	while (i < DIST__SPARES && spares->pieces[i].memory)
		i++;
	if (i == DIST__SPARES) {
		i = spares->oldest;
		spares->oldest = (i + 1) % DIST__SPARES;
		free(spares->pieces[i].memory);
	}
	spares->pieces[i].memory = memory;
	spares->pieces[i].bytes = bytes;
}

void dist__spares_release(struct dist__spares *spares)
{
	for (size_t i = 0; i < DIST__SPARES; i++) {
		free(spares->pieces[i].memory);
		spares->pieces[i].memory = NULL;
	}
}
