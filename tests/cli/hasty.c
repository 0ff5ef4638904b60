/* A rank program that relies on an all-reduce to take longer than one of its
 * ranks needs to look: it fails when that rank is slow. */
#include "lockstep/dist.h"

static int rank_main(void *arg)
{
	struct dist_group *group;
	struct dist_work *work;
	float value = 1;
	bool early;

	(void)arg;
	if (dist_init_process_group(NULL, &group) ||
	    dist_all_reduce(group, dist_tensor(&value, 1, DIST_FLOAT32),
			    DIST_SUM, &work))
		return 1;
	early = dist_get_rank(group) == 0 && dist_work_is_completed(work);
	if (dist_work_wait(work, DIST_TIMEOUT_OF_GROUP))
		return 1;
	dist_work_free(work);
	return dist_destroy_process_group(group) != DIST_OK || early;
}

int main(void)
{
	return dist_launch(NULL, rank_main, NULL);
}
