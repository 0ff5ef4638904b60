#include <lockstep/dist.h>
#include <stdio.h>

static int rank_main(void *arg)
{
	struct dist_group *group;
	float x[2] = {1, 2};

	(void)arg;
	if (dist_init_process_group(NULL, &group) ||
	    dist_all_reduce(group, dist_tensor(x, 2, DIST_FLOAT32), DIST_SUM, NULL))
		return 1;
	if (dist_get_rank(group) == 0)
		printf("sum over the ranks: %g %g\n", x[0], x[1]);
	return dist_destroy_process_group(group) != DIST_OK;
}

int main(void)
{
	return dist_launch(NULL, rank_main, NULL);
}
