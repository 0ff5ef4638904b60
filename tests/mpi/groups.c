/* The conformance table in groups that their members alone make, over every MPI
 * that is installed. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/conformance/cases/conformance.h"
#include "tests/mpi/mpi.h"
#include "tests/support/turns.h"

#define WORLD 5

ParameterizedTestParameters(mpi_groups, every_call)
{
	static struct mpi_case cases[2 * CONFORMANCE_GROUPINGS];
	size_t n = 0;

	/* The second number is the grouping. */
	for (int g = CONFORMANCE_HALVES; g < CONFORMANCE_GROUPINGS; g++)
		for (int i = 0; mpi_libraries[i]; i++)
			cases[n++] = (struct mpi_case){i, g};
	return cr_make_param_array(struct mpi_case, cases, n);
}

ParameterizedTest(struct mpi_case *c, mpi_groups, every_call)
{
	const struct conformance_filter filter = {.as_selected = true};
	struct conformance_setup setup = {
		.backend = "mpi",
		.world_size = WORLD,
		.third = conformance_third(c->world_size),
		.grouping = (enum conformance_grouping)c->world_size};
	struct conformance_outcome *outcome;
	char what[256];

	mpi_use(mpi_libraries[c->library]);
	turns_take(WORLD);
	cr_assert(conformance_round(&filter, 0, &setup));
	outcome = conformance_outcome_new(&setup);
	cr_assert(outcome);
	cr_expect_eq(conformance_run(&setup, outcome), DIST_EXIT_OK);
	for (uint32_t i = 0; i < conformance_places(outcome); i++)
		cr_expect(conformance_state(outcome, i, what, sizeof what) !=
				  CONFORMANCE_WRONG,
			  "%s: %s", conformance_grouping_name(setup.grouping),
			  what);
	/* The last odd rank is in a group of every grouping. */
	cr_expect_gt(conformance_walked(outcome, 3), 2000);
	fprintf(stderr, "%u cases: %s, world size %d, %s\n",
		conformance_walked(outcome, 3), mpi_libraries[c->library],
		WORLD, conformance_grouping_name(setup.grouping));
	conformance_outcome_free(outcome);
}
