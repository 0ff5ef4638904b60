/* A loop around dist_work_is_completed() ends, in every world. */
#include <criterion/criterion.h>

#include "lockstep/dist.h"

#define PLATFORM "tests/support/star16.xml"
#define LARGE    100003
#define MOST     100000000L /* looks; a loop that would not end gives up */

static int poll_until_done(struct dist_work *work)
{
	long looks = 0;
	int failed;

	while (!dist_work_is_completed(work))
		if (++looks == MOST)
			return 1;
	failed = dist_work_error(work) != DIST_OK ||
		 dist_work_wait(work, DIST_TIMEOUT_OF_GROUP) != DIST_OK;
	dist_work_free(work);
	return failed;
}

static int exchange(struct dist_group *group, float *data)
{
	int peer = 1 - dist_get_rank(group);
	struct dist_work *work;

	if (dist_irecv(group, dist_tensor(data, 7, DIST_FLOAT32), peer, 3,
		       &work) ||
	    dist_send(group, dist_tensor(data + 7, 7, DIST_FLOAT32), peer, 3))
		return 1;
	return poll_until_done(work);
}

static int rank_main(void *arg)
{
	static float data[2][LARGE]; /* simulated ranks share it */
	struct dist_group *group;
	struct dist_work *work;
	float *mine;
	int failed = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	mine = data[dist_get_rank(group)];
	mine[0] = 1;
	mine[7] = (float)dist_get_rank(group);
	if (dist_all_reduce(group, dist_tensor(mine, LARGE, DIST_FLOAT32),
			    DIST_SUM, &work))
		return 1;
	failed |= poll_until_done(work) || mine[0] != 2;
	mine[7] = (float)dist_get_rank(group);
	failed |= exchange(group, mine);
	failed |= mine[0] != (float)(1 - dist_get_rank(group));
	return dist_destroy_process_group(group) || failed;
}

static int poll_on(const char *backend)
{
	struct dist_launch_options options = {
		.backend = backend,
		.platform = PLATFORM,
		.world_size = 2,
		.timeout_ns = (int64_t)60 * 1000000000,
	};

	return dist_launch(&options, rank_main, NULL);
}

Test(polling, ends_in_simulation)
{
	cr_assert_eq(poll_on("sim"), DIST_EXIT_OK);
}

Test(polling, ends_over_tcp)
{
	cr_assert_eq(poll_on("tcp"), DIST_EXIT_OK);
}
