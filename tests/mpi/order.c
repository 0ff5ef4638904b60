/* Collectives of a group run in order, also where none was waited for: each may
 * work on the results of those before it. With the memory watched and not. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "lockstep/dist.h"
#include "tests/mpi/mpi.h"

enum { NUMEL = 1 << 18, SUMS = 6, WORLD = 2 };

static int add_again_and_again(void *arg)
{
	static float x[NUMEL];
	struct dist_tensor tensor = dist_tensor(x, NUMEL, DIST_FLOAT32);
	struct dist_work *works[SUMS];
	struct dist_group *group;
	int bad = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return DIST_EXIT_FAILED;
	for (int i = 0; i < NUMEL; i++)
		x[i] = 1;
	for (int i = 0; i < SUMS; i++)
		bad |= dist_all_reduce(group, tensor, DIST_SUM, &works[i]) !=
		       DIST_OK;
	for (int i = 0; i < SUMS && !bad; i++) {
		bad |= dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP) !=
		       DIST_OK;
		dist_work_free(works[i]);
	}
	for (int i = 0; i < NUMEL; i++)
		bad |= x[i] != 1 << SUMS;
	bad |= dist_destroy_process_group(group) != DIST_OK;
	return bad ? DIST_EXIT_FAILED : DIST_EXIT_OK;
}

/* The second number is the debug level's. */
static const char *const levels[] = {"off", "info", "detail"};

ParameterizedTestParameters(mpi_order, sums_of_sums)
{
	static struct mpi_case cases[8];
	size_t n = 0;

	for (int level = 0; level < 3; level++)
		for (int i = 0; mpi_libraries[i]; i++)
			cases[n++] = (struct mpi_case){i, level};
	return cr_make_param_array(struct mpi_case, cases, n);
}

ParameterizedTest(struct mpi_case *c, mpi_order, sums_of_sums)
{
	const struct dist_launch_options options = {
		.backend = "mpi",
		.world_size = WORLD,
		.debug = levels[c->world_size]};

	mpi_use(mpi_libraries[c->library]);
	cr_expect_eq(dist_launch(&options, add_again_and_again, NULL),
		     DIST_EXIT_OK);
}
