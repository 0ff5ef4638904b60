/* Calls that are refused for their arguments, by ranks that give up then, or
 * go on as if nothing had been. */
#include "tests/programs/programs.h"

#include <math.h>

/* Goes on whatever call returns. */
#define whatever(call)                                                         \
	do {                                                                   \
		enum dist_error ignored_error = (call);                        \
		(void)ignored_error;                                           \
	} while (0)

/* The others wait for the sum that rank 1 was refused, and gives up for. */
enum dist_error no_such_type(struct job *job)
{
	float x[4] = {0};
	struct dist_tensor t = floats(x);

	if (at_fault(job, 1))
		t.dtype = (enum dist_dtype)99;
	/* culprit */
	return dist_all_reduce(job->world, t, DIST_SUM, NULL);
}

/* A root that is the size of the job, on all ranks. */
enum dist_error root_of_all_too_large(struct job *job)
{
	float x[4] = {0};
	int root = job->wrong ? job->size : 0;

	/* culprit */
	return dist_broadcast(job->world, floats(x), root, NULL);
}

/* An average of truth values, of which nobody reads the error: the others
 * wait. */
enum dist_error sum_refused_and_gone(struct job *job)
{
	bool x[4] = {0};
	struct dist_tensor t = dist_tensor(x, 4, DIST_BOOL);

	if (at_fault(job, 2)) {
		/* culprit */
		whatever(dist_all_reduce(job->world, t, DIST_AVG, NULL));
		return DIST_OK;
	}
	/* partner */
	return dist_all_reduce(job->world, t, DIST_MAX, NULL);
}

/* The next call meets that of the others which was refused here. */
enum dist_error refused_and_out_of_step(struct job *job)
{
	float x[4] = {0};

	/* culprit */
	whatever(dist_broadcast(job->world, floats(x),
				at_fault(job, 0) ? -2 : 0, NULL));
	/* partner */
	return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
}

/* The same on a group of their own, which a rank has forgotten to make. */
enum dist_error no_group_and_out_of_step(struct job *job)
{
	struct dist_group *group;
	float x[4] = {0};

	try(dist_new_group(job->world, NULL, 0, NULL, &group));
	/* culprit */
	whatever(dist_broadcast(at_fault(job, 1) ? NULL : group, floats(x), 0,
				NULL));
	/* partner */
	return dist_all_reduce(group, floats(x), DIST_SUM, NULL);
}

/* A tag below 0, of a message that is awaited. */
enum dist_error tag_below_zero(struct job *job)
{
	float x[4] = {0};

	if (job->rank == 1)
		/* culprit */
		whatever(dist_send(job->world, floats(x), 2,
				   job->wrong ? -3 : 3));
	if (job->rank == 2)
		/* partner */
		return dist_recv(job->world, floats(x), 1, 3);
	return DIST_OK;
}

/* Those who are refused a sum of their own miss the barrier of all, and end as
 * if nothing were wrong. */
enum dist_error refused_and_content(struct job *job)
{
	static const int upper[] = {2, 3};
	enum dist_error error = DIST_OK;
	struct dist_group *group;
	float x[2] = {0};

	try(dist_new_group(job->world, upper, 2, NULL, &group));
	if (group)
		/* culprit */
		error = dist_reduce(group, floats(x), job->wrong ? 2 : 0,
				    DIST_SUM, NULL);
	if (error)
		return DIST_OK;
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* Two ranks are refused different things; the third waits for both. */
enum dist_error refused_at_two_lines(struct job *job)
{
	float x[4] = {0};
	struct dist_tensor t = floats(x);

	if (at_fault(job, 0)) {
		t.dtype = (enum dist_dtype)77;
		/* culprit */
		return dist_all_reduce(job->world, t, DIST_SUM, NULL);
	}
	if (at_fault(job, 1))
		/* culprit */
		return dist_broadcast(job->world, t, 5, NULL);
	/* partner */
	return dist_all_reduce(job->world, t, DIST_SUM, NULL);
}

/* A group that the rank is no member of. */
enum dist_error calls_on_no_group(struct job *job)
{
	const int ranks[] = {0, 1};
	struct dist_group *pair;
	float x[2] = {0};

	try(dist_new_group(job->world, ranks, 2, NULL, &pair));
	if (pair || job->wrong)
		/* culprit */
		try(dist_all_reduce(pair, floats(x), DIST_SUM, NULL));
	return DIST_OK;
}

/* All ranks lack the same, and nobody misses it: a warning. So is one
 * collective that ranks make by different calls. */
enum dist_error refused_to_all_and_ignored(struct job *job)
{
	float x[4] = {0}, all[12];
	struct dist_tensor list[3];

	for (int i = 0; i < 3; i++)
		list[i] = dist_tensor(all + 4 * i, 4, DIST_FLOAT32);
	if (job->wrong)
		whatever(dist_broadcast(job->world, floats(x), -1, NULL));
	if (at_fault(job, 1))
		try(dist_all_gather(job->world, list, floats(x), NULL));
	else
		try(dist_all_gather_single(job->world,
					   dist_tensor(all, 12, DIST_FLOAT32),
					   floats(x), NULL));
	return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
}

/* Not wrong: what is refused is done in another way at once, by all. */
enum dist_error refused_and_made_up_for(struct job *job)
{
	int32_t x[4] = {0};
	struct dist_tensor t = dist_tensor(x, 4, DIST_INT32);

	t.dtype = (enum dist_dtype)(DIST_INT32 + 50);
	if (dist_all_reduce(job->world, t, DIST_SUM, NULL) == DIST_OK)
		return DIST_OK;
	t.dtype = DIST_INT32;
	return dist_all_reduce(job->world, t, DIST_SUM, NULL);
}

/* The same on one rank, and the ranks part later for another reason. */
enum dist_error made_up_for_and_then_gone(struct job *job)
{
	float x[4] = {0};

	if (job->rank == 1)
		whatever(dist_broadcast(job->world, floats(x), 9, NULL));
	try(dist_broadcast(job->world, floats(x), 0, NULL));
	if (at_fault(job, 2))
		return DIST_OK;
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* Scales by a loss of its own, which has become a NaN. */
enum dist_error factor_is_not_a_number(struct job *job)
{
	enum dist_reduce_op op;
	float x[4] = {0};

	try(dist_barrier(job->world, NULL));
	/* culprit */
	try(dist_make_premul_sum(job->world, at_fault(job, 1) ? NAN : 0.5,
				 &op));
	return dist_all_reduce(job->world, floats(x), op, NULL);
}

/* A helper makes sure that there is a group; there is one. */
enum dist_error joins_twice(struct job *job)
{
	struct dist_group *again;

	if (at_fault(job, 1))
		/* culprit */
		try(dist_init_process_group(NULL, &again));
	/* partner */
	return dist_barrier(job->world, NULL);
}
