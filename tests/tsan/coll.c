/* The algorithms under the thread sanitizer, which Criterion does not survive.
 */
#include <stdio.h>

#include "tests/support/algorithm_cases.h"
#include "tests/support/part_cases.h"

static unsigned report(const char *what, int world_size,
		       struct algorithm_outcome outcome)
{
	printf("world size %d, %s: %u cases, %u failures\n", world_size, what,
	       outcome.cases, outcome.failures);
	if (outcome.failures)
		printf("  %s\n", outcome.first);
	return outcome.failures;
}

int main(void)
{
	static const int world_sizes[] = {1, 2, 3, 5, 8, 12};
	unsigned failed = 0;

	for (size_t i = 0; i < sizeof world_sizes / sizeof world_sizes[0];
	     i++) {
		int p = world_sizes[i];

		failed += report("tensors", p, algorithm_cases_walk(p));
		failed += report("parts", p, part_cases_walk(p));
	}
	return failed != 0;
}
