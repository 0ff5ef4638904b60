/* The algorithms under the thread sanitizer, which Criterion does not survive.
 */
#include <stdio.h>

#include "tests/support/algorithm_cases.h"

int main(void)
{
	static const int world_sizes[] = {1, 2, 3, 5, 8, 12};
	unsigned failed = 0;

	for (size_t i = 0; i < sizeof world_sizes / sizeof world_sizes[0];
	     i++) {
		struct algorithm_outcome outcome =
			algorithm_cases_walk(world_sizes[i]);

		printf("world size %d: %u cases, %u failures\n", world_sizes[i],
		       outcome.cases, outcome.failures);
		if (outcome.failures)
			printf("  %s\n", outcome.first);
		failed += outcome.failures;
	}
	return failed != 0;
}
