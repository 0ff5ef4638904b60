/* Memory touched while a call has it, and handles that nobody waits for. */
#include "tests/programs/programs.h"

/* Of the size of a bucket rather than of a toy: some pages of memory. */
#define NUMEL 32768

static struct dist_tensor bucket(struct job *job)
{
	return dist_tensor(keep(job, NUMEL * sizeof(float)), NUMEL,
			   DIST_FLOAT32);
}

/* The next batch begins while the gradient of this one is summed: the loss is
 * slightly off. Seen in OpenNMT-py#2295. */
enum dist_error written_before_wait(struct job *job)
{
	struct dist_tensor g = bucket(job);
	float *gradient = g.data;
	struct dist_work *work;

	/* culprit */
	try(dist_all_reduce(job->world, g, DIST_SUM, &work));
	for (int i = 0; at_fault(job, 1) && i < NUMEL; i++)
		/* access */
		gradient[i] = 0;
	/* partner */
	try(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	dist_work_free(work);
	gradient[2] = 0;
	return DIST_OK;
}

static float norm(const float *activations)
{
	float sum = 0;

	for (int i = 0; i < NUMEL; i++)
		/* access: read_before_wait */
		sum += activations[i] * activations[i];
	return sum;
}

/* The next layer computes with garbage, or with the activations of the batch
 * before. Seen in pytorch#152534, pytorch#162749. */
enum dist_error read_before_wait(struct job *job)
{
	struct dist_tensor activations = bucket(job);
	struct dist_work *work;
	float result[1];

	if (job->rank == 0) {
		try(dist_send(job->world, activations, 1, 0));
		return dist_recv(job->world, floats(result), 1, 1);
	}
	/* culprit */
	try(dist_irecv(job->world, activations, 0, 0, &work));
	if (!job->wrong)
		try(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	result[0] = norm(activations.data);
	/* partner */
	try(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	dist_work_free(work);
	return dist_send(job->world, floats(result), 0, 1);
}

/* A stage of a pipeline passes on what it has not received yet. */
enum dist_error forwarded_before_wait(struct job *job)
{
	float x[16] = {1, 2, 3};
	struct dist_work *work;

	if (job->rank == 0)
		return dist_send(job->world, floats(x), 1, 0);
	if (job->rank == 2)
		return dist_recv(job->world, floats(x), 1, 0);
	/* partner */
	try(dist_irecv(job->world, floats(x), 0, 0, &work));
	if (!job->wrong)
		try(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	/* culprit */
	try(dist_send(job->world, floats(x), 2, 0));
	return end(work);
}

/* The wait for one send is taken for the end of both. Seen in pytorch#147309.
 */
enum dist_error waited_for_another(struct job *job)
{
	float batch[2][8] = {{1, 2, 3}, {4, 5, 6}};
	struct dist_work *works[2];

	if (job->rank > 0)
		return dist_recv(job->world, floats(batch[0]), 0, 0);
	try(dist_isend(job->world, floats(batch[0]), 1, 0, &works[0]));
	/* culprit */
	try(dist_isend(job->world, floats(batch[1]), 2, 0, &works[1]));
	try(end(works[0]));
	if (job->wrong)
		batch[1][0] = 7;
	/* partner */
	try(dist_work_wait(works[1], DIST_TIMEOUT_OF_GROUP));
	dist_work_free(works[1]);
	batch[1][0] = 7;
	return DIST_OK;
}

/* Calls of one group run in order; those of two do not. */
enum dist_error one_sum_for_two_groups(struct job *job)
{
	static const int members[] = {0, 1, 2};
	float x[16] = {0}, y[16] = {0};
	struct dist_work *works[2];
	struct dist_group *sub;

	try(dist_new_group(job->world, members, 3, NULL, &sub));
	/* partner */
	try(dist_all_reduce(job->world, floats(x), DIST_SUM, &works[0]));
	/* culprit */
	try(dist_all_reduce(sub, job->wrong ? floats(x) : floats(y), DIST_SUM,
			    &works[1]));
	return end_all(works, 2);
}

/* The last sum overlaps what is left to compute, and the loop that would have
 * waited for it is over; rank 1 looks at its loss. Seen in pytorch#119881. */
enum dist_error never_waited_for(struct job *job)
{
	float *x = keep(job, 4 * sizeof *x);

	for (int step = 0; step < 3; step++) {
		/* culprit */
		try(dist_all_reduce(job->world, dist_tensor(x, 4, DIST_FLOAT32),
				    DIST_AVG, &job->left));
		try(dist_compute(job->world, 1000000, "optimizer"));
		if (step < 2 || !job->wrong || job->rank == 1)
			try(dist_work_wait(job->left, DIST_TIMEOUT_OF_GROUP));
		if (step < 2)
			dist_work_free(job->left);
	}
	return DIST_OK;
}

/* A batch gives a handle for each message, and only the first is waited for.
 * Seen in pytorch#152938, pytorch#78514, pytorch#75512. */
enum dist_error first_handle_only(struct job *job)
{
	float *mine = keep(job, 4 * sizeof *mine), theirs[4];
	const struct dist_p2p_op ops[2] = {
		{DIST_IRECV, floats(theirs), left_of(job), 0},
		{DIST_ISEND, dist_tensor(mine, 4, DIST_FLOAT32), right_of(job),
		 0}};
	struct dist_work *works[2];

	/* culprit */
	try(dist_batch_isend_irecv(job->world, ops, 2, works));
	job->left = works[1];
	try(end(works[0]));
	return job->wrong ? DIST_OK
			  : dist_work_wait(job->left, DIST_TIMEOUT_OF_GROUP);
}
