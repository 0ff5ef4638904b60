/* The threads of a rank over NCCL, its own and those of the library's double,
 * under the thread sanitizer: calls of each kind, blocking and not. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/conformance/cases/conformance.h"

static void count_wrong(void *arg, uint32_t index, enum conformance_call call,
			const char *text)
{
	struct conformance_outcome **outcome = arg;
	char what[256];

	(void)call;
	if (conformance_state(*outcome, index, what, sizeof what) !=
	    CONFORMANCE_RIGHT)
		printf("%s: wrong\n", text);
}

int main(void)
{
	const struct conformance_filter filter = {
		.calls = 1u << CONFORMANCE_BROADCAST |
			 1u << CONFORMANCE_ALL_TO_ALL |
			 1u << CONFORMANCE_NEIGHBOURS | 1u << CONFORMANCE_TAGS,
		.as_selected = true};
	struct conformance_setup setup = {.backend = "nccl", .world_size = 3};
	struct conformance_outcome *outcome;
	int status;

	setenv("LOCKSTEP_NCCL_LIBRARY", DOUBLES "libnccl.so.2", 1);
	setenv("LOCKSTEP_CUDART_LIBRARY", DOUBLES "libcudart.so.13", 1);
	if (!conformance_round(&filter, 0, &setup))
		return 2;
	outcome = conformance_outcome_new(&setup);
	if (!outcome)
		return 2;
	status = conformance_run(&setup, outcome);
	conformance_each(&setup, count_wrong, &outcome);
	printf("%u cases: status %d\n", conformance_count(&setup), status);
	conformance_outcome_free(outcome);
	return status;
}
