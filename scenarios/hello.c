/* hello - every rank adds one; the sum is the world size. */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"

static int rank_main(void *arg)
{
	struct dist_group *group;
	enum dist_error error;
	float sum = 1;

	(void)arg;
	if (rank_join(&group))
		return 1;
	error = dist_all_reduce(group, dist_tensor(&sum, 1, DIST_FLOAT32),
				DIST_SUM, NULL);
	if (!error && dist_get_rank(group) == 0)
		printf("%d ranks over %s: the sum of ones is %g\n",
		       dist_get_world_size(group), dist_get_backend(group),
		       (double)sum);
	return rank_leave(group, "all_reduce", error);
}

int hello_main(int argc, char **argv)
{
	static const struct manual manual = {
		.usage = "",
		.about = "Every rank adds one; the sum is the number of ranks.",
		.examples = {"lockstep run --nproc-per-node 4 hello"}};
	int status;

	if (!arguments_parse(&manual, &argc, (const char **)argv, NULL,
			     &status))
		return status;
	return dist_launch(NULL, rank_main, NULL);
}
