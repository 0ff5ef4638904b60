/* range.h - ranges of numbers as text: "8..1024 *2", "10..50 +10", "1..4". */
#ifndef LOCKSTEP_CLI_SWEEP_RANGE_H
#define LOCKSTEP_CLI_SWEEP_RANGE_H

#include <stdbool.h>
#include <stddef.h>

struct range {
	double first;
	double last;     /* upper bound, itself included */
	double by;       /* step or factor from one to the next */
	bool multiplied; /* by is a factor; else a step */
};

/* The forms of a range, for messages. */
#define RANGE_WORDS "FIRST..LAST, FIRST..LAST +STEP or FIRST..LAST *FACTOR"

/* range_is_meant returns whether text looks like a range, valid or not: it
 * begins with a digit and contains "..". */
bool range_is_meant(const char *text);

/* range_parse reads text into *range: numbers of 0 or more, the last not below
 * the first; a step of more than 0, 1 if none is stated; a factor of more than
 * 1, and a first number of more than 0 for it. Returns false for anything
 * else. */
bool range_parse(const char *text, struct range *range);

/* range_values stores the numbers of range in values, at most `most` of them,
 * and returns how many there are; most + 1 if there are more. */
size_t range_values(const struct range *range, double *values, size_t most);

#endif
