/* The conformance table over NCCL, on the doubles of its libraries. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "tests/nccl/job.h"
#include "tests/support/table_walk.h"
#include "tests/support/thin.h"

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
	/* In some calls each has two. */
	job_use_doubles(2 * *world_size);
	table_walk("nccl", *world_size, "nccl");
}
