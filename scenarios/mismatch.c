/*
 * mismatch - ranks that disagree about the root of a reduce.
 *
 * Which rank writes the log is read from each process's environment, and the
 * last process has another one. The reduce itself often completes; it is a
 * later call that hangs, and looks guilty. Seen in pytorch#39706.
 */
#include "scenarios/faulty.h"

static enum dist_error run(struct dist_group *group, bool fixed)
{
	int rank = dist_get_rank(group), last = dist_get_world_size(group) - 1;
	float losses[2] = {1, 2};
	struct dist_tensor l = dist_tensor(losses, 2, DIST_FLOAT32);
	enum dist_error error;

	if (rank == last && !fixed)
		/* culprit */
		error = dist_reduce(group, l, 1, DIST_SUM, NULL);
	else
		error = dist_reduce(group, l, 0, DIST_SUM, NULL);
	return error ? error : dist_all_reduce(group, l, DIST_SUM, NULL);
}

const struct faulty mismatch = {
	2, "name the same root on all ranks: no mismatch",
	"lockstep check --backend sim --platform star-8 "
	"--nproc-per-node 4 mismatch",
	run};
