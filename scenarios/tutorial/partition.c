#include "scenarios/tutorial/partition.h"

#include <math.h>

#include "scenarios/tutorial/random.h"

/* R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7(7), 1964. */
void partition_shuffle(size_t *index, size_t num, uint64_t seed, uint64_t epoch)
{
	struct random_stream stream = random_stream(seed, epoch);

	for (size_t i = 0; i < num; i++)
		index[i] = i;
	for (size_t i = num; i > 1; i--) {
		size_t other = random_below(&stream, i);
		size_t swapped = index[i - 1];

		index[i - 1] = index[other];
		index[other] = swapped;
	}
}

struct partition partition_use(const size_t *index, size_t num, double from,
			       double to)
{
	size_t first = (size_t)lround(from * (double)num);
	size_t end = (size_t)lround(to * (double)num);

	return (struct partition){index + first, end - first};
}
