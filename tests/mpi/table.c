/* The conformance table over every MPI that is installed. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/conformance/cases/conformance.h"
#include "tests/mpi/mpi.h"
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

static void walk(const char *library, int world_size)
{
	const struct conformance_filter filter = {.as_selected = true};
	struct conformance_setup setup = {.backend = "mpi",
					  .world_size = world_size};
	struct look look = {.setup = &setup};

	cr_assert(conformance_round(&filter, 0, &setup));
	look.outcome = conformance_outcome_new(&setup);
	cr_assert(look.outcome);
	cr_expect_eq(conformance_run(&setup, look.outcome), DIST_EXIT_OK);
	conformance_each(&setup, look_at, &look);
	cr_expect_gt(look.cases, 3000);
	fprintf(stderr, "%u cases: %s, world size %d\n", look.cases, library,
		world_size);
	conformance_outcome_free(look.outcome);
}

ParameterizedTestParameters(mpi_table, every_call)
{
	static struct mpi_case cases[16];
	size_t n = 0;

	for (int world = 1; world <= 8; world++)
		for (int i = 0; mpi_libraries[i] && thin_world(world); i++)
			cases[n++] = (struct mpi_case){i, world};
	return cr_make_param_array(struct mpi_case, cases, n);
}

ParameterizedTest(struct mpi_case *c, mpi_table, every_call)
{
	const char *library = mpi_libraries[c->library];

	mpi_use(library);
	walk(library, c->world_size);
}
