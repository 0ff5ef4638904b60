#include <lockstep/dist.h>

static int rank_main(void *arg)
{
	struct dist_group *group;
	float grad[1024] = {0}, loss = 0;
	enum dist_error err;

	(void)arg;
	err = dist_init_process_group(NULL, &group);
	for (int step = 0; step < 100 && !err; step++) {
		err = dist_all_reduce(group, dist_tensor(grad, 1024, DIST_FLOAT32), DIST_AVG, NULL);
		if (!err && step == 50 && dist_get_rank(group) == 0) /* only rank 0 logs the loss */
			err = dist_all_reduce(group, dist_tensor(&loss, 1, DIST_FLOAT32), DIST_SUM, NULL);
	}
	return err || dist_destroy_process_group(group);
}

int main(void)
{
	return dist_launch(NULL, rank_main, NULL);
}
