/* divisors.h - what divides a number, for those who say what is legal. */
#ifndef LOCKSTEP_BASE_DIVISORS_H
#define LOCKSTEP_BASE_DIVISORS_H

#include <stddef.h>
#include <stdint.h>

/* dist__divisors_common returns the greatest common divisor; of 0 and b it is
 * b. */
int64_t dist__divisors_common(int64_t a, int64_t b);

/* dist__divisors_text writes the divisors of a number as "1, 2, 4", the first
 * sixteen, to text. */
void dist__divisors_text(char *text, size_t size, int64_t number);

#endif
