/* divisors.h - the divisors of a number, for messages about legal values. */
#ifndef LOCKSTEP_BASE_DIVISORS_H
#define LOCKSTEP_BASE_DIVISORS_H

#include <stddef.h>
#include <stdint.h>

/* dist__divisors_common returns the greatest common divisor; for a == 0 it is
 * b. */
int64_t dist__divisors_common(int64_t a, int64_t b);

/* dist__divisors_text writes the first sixteen divisors of number to text, as
 * "1, 2, 4". */
void dist__divisors_text(char *text, size_t size, int64_t number);

#endif
