/*
 * spares.h - large pieces of memory that are done with, kept for the next who
 * needs as much. A program that repeats its steps asks for the same again and
 * again, and fresh memory costs more than what is done with it: the system
 * zeroes every page.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_SPARES_H
#define LOCKSTEP_CORE_SPARES_H

#include <stddef.h>

/* Pieces kept. */
#define DIST__SPARES 8

struct dist__spares {
	struct {
		void *memory; /* NULL: none */
		size_t bytes;
	} pieces[DIST__SPARES];
	size_t oldest; /* the next to go */
};

/* dist__spares_take returns a piece of so many bytes, which hold anything; for
 * dist__spares_give(), or free(). NULL: no memory. */
void *dist__spares_take(struct dist__spares *spares, size_t bytes);

/* dist__spares_give takes a piece back; NULL allowed. */
void dist__spares_give(struct dist__spares *spares, void *memory, size_t bytes);

/* dist__spares_release frees all that are kept. */
void dist__spares_release(struct dist__spares *spares);

#endif
