/* Calls that go on while the rank does something else. */
#include "tests/programs/programs.h"

/* Two calls at once, issued by one rank in the other order. */
enum dist_error issued_in_other_order(struct job *job)
{
	float a[4] = {0}, b[4] = {0};
	struct dist_work *sum, *copy;
	bool other = at_fault(job, 1);

	if (other)
		/* culprit */
		try(dist_broadcast(job->world, floats(b), 0, &copy));
	/* partner */
	try(dist_all_reduce(job->world, floats(a), DIST_SUM, &sum));
	if (!other)
		try(dist_broadcast(job->world, floats(b), 0, &copy));
	try(end(sum));
	return end(copy);
}

/* Each waits for what it is to be sent before it sends. */
enum dist_error waits_before_it_sends(struct job *job)
{
	float in[2], out[2] = {0};
	int other = 1 - job->rank;
	struct dist_work *work;

	/* culprit */
	try(dist_irecv(job->world, floats(in), other, 0, &work));
	if (!job->wrong)
		try(dist_send(job->world, floats(out), other, 0));
	/* culprit */
	try(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	dist_work_free(work);
	return job->wrong ? dist_send(job->world, floats(out), other, 0)
			  : DIST_OK;
}

/* Buckets are reduced while the next is computed; one rank has one less. */
enum dist_error one_bucket_less(struct job *job)
{
	float buckets[4][8] = {0};
	struct dist_work *works[4];
	int num = at_fault(job, 2) ? 3 : 4;

	for (int i = 0; i < num; i++) {
		dist_compute(job->world, 1000000, "backward");
		/* partner */
		try(dist_all_reduce(job->world, floats(buckets[i]), DIST_AVG,
				    &works[i]));
	}
	return end_all(works, num);
}

/* A bucket is cut otherwise on one rank. */
enum dist_error bucket_cut_otherwise(struct job *job)
{
	float gradient[16] = {0};
	size_t cut = at_fault(job, 0) ? 6 : 8;
	struct dist_work *works[2];

	/* culprit */
	try(dist_all_reduce(job->world,
			    dist_tensor(gradient, cut, DIST_FLOAT32), DIST_SUM,
			    &works[0]));
	try(dist_all_reduce(job->world,
			    dist_tensor(gradient + cut, 16 - cut, DIST_FLOAT32),
			    DIST_SUM, &works[1]));
	try(end(works[0]));
	return end(works[1]);
}

/* Rank 1 has nothing left to do, and ends; its group waits for what it never
 * waited for. */
enum dist_error leaves_with_a_receive_open(struct job *job)
{
	float *x = keep(job, 4 * sizeof *x);
	struct dist_tensor tensor = dist_tensor(x, 4, DIST_FLOAT32);

	if (job->rank == 0)
		/* culprit */
		return dist_recv(job->world, tensor, 1, 0);
	if (at_fault(job, 1))
		/* culprit */
		return dist_irecv(job->world, tensor, 0, 0, &job->left);
	return job->rank == 1 ? dist_send(job->world, tensor, 0, 0) : DIST_OK;
}

/* Looks again and again at what one rank never joins; asks: also how it
 * ended. */
static enum dist_error poll_until_done(struct job *job, bool asks)
{
	float x[2] = {0};
	struct dist_work *work;

	if (at_fault(job, 2))
		return DIST_OK;
	/* partner: polls_in_vain takes_the_end_for_success */
	try(dist_all_reduce(job->world, floats(x), DIST_SUM, &work));
	while (!dist_work_is_completed(work))
		dist_compute(job->world, 1000000, NULL);
	if (asks)
		return end(work);
	dist_work_free(work);
	return DIST_OK;
}

enum dist_error polls_in_vain(struct job *job)
{
	return poll_until_done(job, true);
}

enum dist_error takes_the_end_for_success(struct job *job)
{
	return poll_until_done(job, false);
}

/* Two groups, each call waited for on the spot by half of the ranks. */
enum dist_error waits_in_one_group(struct job *job)
{
	struct dist_group *a, *b;
	struct dist_work *first, *second;
	float x[2] = {0}, y[2] = {0};
	bool crossed = at_fault(job, 0);

	try(dist_new_group(job->world, NULL, 0, NULL, &a));
	try(dist_new_group(job->world, NULL, 0, NULL, &b));
	/* culprit */
	try(dist_all_reduce(crossed ? b : a, floats(x), DIST_SUM, &first));
	/* culprit */
	try(dist_work_wait(first, DIST_TIMEOUT_OF_GROUP));
	dist_work_free(first);
	try(dist_all_reduce(crossed ? a : b, floats(y), DIST_SUM, &second));
	return end(second);
}

/* Prefetches the next batch, also after the last. */
enum dist_error prefetches_too_much(struct job *job)
{
	float batch[8] = {0};
	struct dist_work *work = NULL;

	for (int i = 0; i < 3; i++) {
		if (job->rank == 0)
			/* culprit */
			try(dist_send(job->world, floats(batch), 1, 0));
		if (job->rank != 1)
			continue;
		if (!work)
			try(dist_irecv(job->world, floats(batch), 0, 0, &work));
		try(end(work));
		work = NULL;
		if (i < 2 + job->wrong)
			/* culprit */
			try(dist_irecv(job->world, floats(batch), 0, 0, &work));
	}
	return work ? end(work) : DIST_OK;
}

/* A handle without a deadline, and one for which there is not enough time. */
enum dist_error impatient(struct job *job)
{
	float x[2] = {0};
	struct dist_work *work;
	enum dist_error error;

	if (job->rank == 1 && job->wrong)
		dist_compute(job->world, 500000000, "loading");
	/* partner */
	try(dist_all_reduce(job->world, floats(x), DIST_SUM, &work));
	/* partner */
	error = dist_work_wait(work, job->wrong ? 100000000 : 10000000000);
	dist_work_free(work);
	return error;
}

/* Not wrong: each rank waits, polls or blocks as it likes, in any order. */
enum dist_error waited_for_in_any_way(struct job *job)
{
	float a[2] = {0}, b[2] = {0};
	struct dist_work *first, *second;

	if (job->rank == 0) {
		try(dist_all_reduce(job->world, floats(a), DIST_SUM, NULL));
		return dist_broadcast(job->world, floats(b), 1, NULL);
	}
	try(dist_all_reduce(job->world, floats(a), DIST_SUM, &first));
	try(dist_broadcast(job->world, floats(b), 1, &second));
	if (job->rank == 1) {
		while (!dist_work_is_completed(second))
			dist_compute(job->world, 100000, NULL);
		try(end(second));
		return end(first);
	}
	try(end(first));
	return end(second);
}

/* Not wrong: computes long, but within the deadline. */
enum dist_error slow_but_in_time(struct job *job)
{
	if (job->rank == 1)
		dist_compute(job->world, 300000000, "slow");
	return dist_barrier(job->world, NULL);
}

/* More receives are open than the records have calls, and a message is missing
 * that is waited for late. */
enum dist_error one_of_many_messages_less(struct job *job)
{
	enum { MANY = 100 };
	struct dist_work *recvs[MANY], *sends[MANY];
	size_t num = at_fault(job, 1) ? MANY - 1 : MANY;
	float *x = keep(job, 2 * sizeof *x * MANY);

	for (int i = 0; i < MANY; i++)
		/* culprit */
		try(dist_irecv(job->world, dist_tensor(x + i, 1, DIST_FLOAT32),
			       left_of(job), i % 3, &recvs[i]));
	for (int i = 0; i < (int)num; i++)
		try(dist_isend(job->world,
			       dist_tensor(x + MANY + i, 1, DIST_FLOAT32),
			       right_of(job), i % 3, &sends[i]));
	try(end_all(recvs, MANY));
	return end_all(sends, num);
}
