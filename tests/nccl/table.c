/* The conformance table over NCCL, on the doubles of its libraries. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/conformance/cases/conformance.h"
#include "tests/nccl/job.h"
#include "tests/support/thin.h"

struct look {
	const struct conformance_setup *setup;
	struct conformance_outcome *outcome;
	uint32_t cases;
};

static void look_at(void *arg, uint32_t index, enum conformance_call call,
		    const char *text)
{
	struct look *look = arg;
	char what[256] = "not walked";

	(void)call;
	look->cases++;
	cr_expect(conformance_state(look->outcome, index, what, sizeof what) ==
			  CONFORMANCE_RIGHT,
		  "world size %d: %s: %s", look->setup->world_size, text, what);
}

ParameterizedTestParameters(nccl_table, every_call)
{
	static int worlds[8];
	size_t n = 0;

	for (int world = 1; world <= 8; world++)
		if (thin_world(world))
			worlds[n++] = world;
	return cr_make_param_array(int, worlds, n);
}

ParameterizedTest(int *world_size, nccl_table, every_call)
{
	const struct conformance_filter filter = {.as_selected = true};
	struct conformance_setup setup = {.backend = "nccl",
					  .world_size = *world_size};
	struct look look = {.setup = &setup};

	/* In some calls each has two. */
	job_use_doubles(2 * *world_size);
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
