/* The conformance table over every MPI that is installed. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "tests/mpi/mpi.h"
#include "tests/support/table_walk.h"
#include "tests/support/thin.h"

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
	table_walk("mpi", c->world_size, library);
}
