#include "scenarios/pace.h"
#include "base/quantity.h"
#include "base/random.h"
#include "base/refuse.h"

#include <math.h>
#include <stdlib.h>

#define MOST_FACTOR 1000
#define PI          3.14159265358979323846

/* In (0, 1): never 0, of which there is no logarithm. */
static double uniform(uint64_t bits)
{
	return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller's transformation makes a normal number of two uniform ones. */
double pace_draw(double spread, uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t bits =
		dist__random_of(dist__random_of(dist__random_of(seed) ^ a) ^ b);
	double variance = log1p(spread * spread);
	double normal = sqrt(-2 * log(uniform(bits))) *
			cos(2 * PI * uniform(dist__random_of(bits)));

	return exp(sqrt(variance) * normal - variance / 2);
}

enum dist_error pace_read(struct pace *pace, const char *text,
			  struct dist_message *message)
{
	const char *next = text;
	char *end;

	pace->num_stragglers = 0;
	while (next && pace->num_stragglers < PACE_STRAGGLERS) {
		size_t i = pace->num_stragglers++;
		uint64_t rank;

		if (!dist__digits_step(&next, INT32_MAX, &rank) ||
		    *next++ != ':')
			break;
		pace->stragglers[i].rank = (int)rank;
		pace->stragglers[i].factor = strtod(next, &end);
		if (end == next || (*end && *end != ',') ||
		    !(pace->stragglers[i].factor > 0 &&
		      pace->stragglers[i].factor <= MOST_FACTOR))
			break;
		next = *end ? end + 1 : NULL;
	}
	if (!next)
		return DIST_OK;
	return dist__refuse(
		message,
		"--straggler %.80s: expected RANK:FACTOR[,RANK:FACTOR...], at "
		"most %d of them, factors above 0 and up to %d",
		text, PACE_STRAGGLERS, MOST_FACTOR);
}

double pace_factor(const struct pace *pace, int rank, int step)
{
	double factor = 1;

	for (size_t i = 0; i < pace->num_stragglers; i++)
		if (pace->stragglers[i].rank == rank)
			factor = pace->stragglers[i].factor;
	if (pace->jitter > 0)
		factor *= pace_draw(pace->jitter, pace->seed, (uint64_t)rank,
				    (uint64_t)step);
	return factor;
}
