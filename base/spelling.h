/* spelling.h - what was probably meant by a word that is none. */
#ifndef LOCKSTEP_BASE_SPELLING_H
#define LOCKSTEP_BASE_SPELLING_H

#include <stddef.h>

/* No name that is farther away was meant. */
#define SPELLING_NEAR 2

/* dist__spelling_distance returns how many letters to insert, delete or replace
 * to get from a to b. */
size_t dist__spelling_distance(const char *a, const char *b);

#endif
