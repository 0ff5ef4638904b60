/* The conformance table over NCCL, on the doubles of its libraries. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "conformance/conformance.h"
#include "tests/nccl/job.h"

struct look {
	const struct conformance_setup *setup;
	struct conformance_outcome *outcome;
	uint32_t cases;
};

static void look_at(void *arg, uint32_t index, enum conformance_call call,
		    const char *words)
{
	struct look *look = arg;
	char what[256] = "not walked";

	(void)call;
	look->cases++;
	cr_expect(conformance_state(look->outcome, index, what, sizeof what) ==
			  CONFORMANCE_RIGHT,
		  "world size %d: %s: %s", look->setup->world_size, words,
		  what);
}

ParameterizedTestParameters(nccl_table, every_call)
{
	static int worlds[] = {1, 2, 3, 4, 5, 7, 8};

	return cr_make_param_array(int, worlds, sizeof worlds / sizeof *worlds);
}

ParameterizedTest(int *world_size, nccl_table, every_call, .timeout = 300)
{
	const struct conformance_filter filter = {.as_selected = true};
	struct conformance_setup setup = {.backend = "nccl",
					  .world_size = *world_size};
	struct look look = {.setup = &setup};

	job_use_doubles(*world_size);
	cr_assert(conformance_round(&filter, 0, &setup));
	look.outcome = conformance_outcome_new(&setup);
	cr_assert(look.outcome);
	cr_expect_eq(conformance_run(&setup, look.outcome), DIST_EXIT_OK);
	conformance_each(&setup, look_at, &look);
	cr_expect_gt(look.cases, 3000);
	fprintf(stderr, "%u cases: nccl, world size %d\n", look.cases,
		*world_size);
	conformance_outcome_free(look.outcome);
}
