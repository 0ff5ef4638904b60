/* Ranks of which one takes another way through the program. */
#include "tests/programs/programs.h"

#include "tests/programs/places.h"

static enum dist_error sum_of(struct job *job, float x)
{
	/* partner: recursion */
	return dist_all_reduce(job->world, dist_tensor(&x, 1, DIST_FLOAT32),
			       DIST_SUM, NULL);
}

/* "Wait until all are done", says rank 0 alone. Seen in Lightning#7129,
 * Lightning#19106, Lightning#19604. */
enum dist_error barrier_in_a_branch(struct job *job)
{
	try(sum_of(job, 1));
	if (at_fault(job, 0))
		/* culprit */
		try(dist_barrier(job->world, NULL));
	return DIST_OK;
}

/* The loss of one rank is small enough; it goes on to what comes after. */
enum dist_error early_stop_goes_on(struct job *job)
{
	float loss[1], best[1] = {0};

	for (int step = 0; step < 6; step++) {
		loss[0] = at_fault(job, 2) && step == 3 ? 0 : 1;
		if (loss[0] < 0.5F)
			break;
		/* partner */
		try(dist_all_reduce(job->world, floats(loss), DIST_AVG, NULL));
	}
	/* culprit */
	return dist_broadcast(job->world, floats(best), 0, NULL);
}

/* The same, but there is nothing after the loop. Seen in Primus#854, NeMo
 * Automodel#2468. */
enum dist_error early_stop_ends(struct job *job)
{
	float loss[1];

	for (int step = 0; step < 6; step++) {
		loss[0] = at_fault(job, 1) && step == 4 ? 0 : 1;
		if (loss[0] < 0.5F)
			break;
		/* partner */
		try(dist_all_reduce(job->world, floats(loss), DIST_AVG, NULL));
	}
	return DIST_OK;
}

/* Rank 3 has one batch more. Seen in pytorch#33148, pytorch#38174,
 * litData#233, PyMarlin#80. */
enum dist_error one_batch_more(struct job *job)
{
	float gradient[32] = {0};
	int batches = at_fault(job, 3) ? 5 : 4;

	for (int i = 0; i < batches; i++)
		/* culprit */
		try(dist_all_reduce(job->world, floats(gradient), DIST_SUM,
				    NULL));
	return DIST_OK;
}

/* A tree that is deeper on one rank. */
static enum dist_error descend(struct job *job, int depth)
{
	if (depth == 0)
		return DIST_OK;
	try(descend(job, depth - 1));
	return sum_of(job, (float)depth);
}

enum dist_error recursion(struct job *job)
{
	float x[1] = {0};

	try(descend(job, at_fault(job, 1) ? 3 : 4));
	/* culprit */
	return dist_reduce(job->world, floats(x), 0, DIST_MAX, NULL);
}

/* Everybody logs, but not everybody as often. Seen in vall-e#93. */
enum dist_error logs_more_often(struct job *job)
{
	int every = at_fault(job, 0) ? 2 : 4;
	float x[1] = {0}, loss[1] = {0};

	for (int step = 1; step <= 8; step++) {
		/* partner */
		try(dist_all_reduce(job->world, floats(x), DIST_SUM, NULL));
		if (step % every == 0)
			/* culprit */
			try(dist_reduce(job->world, floats(loss), 0, DIST_SUM,
					NULL));
	}
	return DIST_OK;
}

/* Each rank iterates until its own part has converged. */
enum dist_error converges_alone(struct job *job)
{
	float residual[1] = {1};

	for (int i = 0; i < (job->wrong ? 2 + job->rank : 5); i++)
		/* culprit */
		try(dist_all_reduce(job->world, floats(residual), DIST_MAX,
				    NULL));
	return DIST_OK;
}

/* Rank 0 collects states before it enters the barrier; the others enter first.
 */
enum dist_error collects_before_barrier(struct job *job)
{
	float state[4] = {0};

	if (job->rank == 0) {
		for (int src = 1; src < job->size; src++)
			/* culprit */
			try(dist_recv(job->world, floats(state), src, 0));
		return dist_barrier(job->world, NULL);
	}
	if (job->wrong)
		/* partner */
		try(dist_barrier(job->world, NULL));
	try(dist_send(job->world, floats(state), 0, 0));
	return job->wrong ? DIST_OK : dist_barrier(job->world, NULL);
}

/* The root waits for it; the others have sent their part and are gone. */
enum dist_error skips_the_last_gather(struct job *job)
{
	float mine[2] = {0}, all[8];
	struct dist_tensor list[4];

	for (int i = 0; i < 4; i++)
		list[i] = dist_tensor(all + 2 * i, 2, DIST_FLOAT32);
	for (int i = 0; i < (at_fault(job, 2) ? 2 : 3); i++)
		/* culprit */
		try(dist_gather(job->world, floats(mine),
				job->rank == 0 ? list : NULL, 0, NULL));
	return DIST_OK;
}

/* Nobody needs it for that, and whether its part can still be sent to it when
 * it is gone is chance. Who comes late to it misses nothing. */
enum dist_error skips_the_last_broadcast(struct job *job)
{
	float weights[2] = {0};

	for (int i = 0; i < (at_fault(job, 2) ? 2 : 3); i++) {
		if (i == 2 && job->rank == 1)
			try(dist_compute(job->world, 500000000, "loading"));
		/* partner */
		try(dist_broadcast(job->world, floats(weights), 0, NULL));
	}
	return DIST_OK;
}

/* One rank misses a monitored barrier: it waits for a message. */
enum dist_error misses_the_roll_call(struct job *job)
{
	float x[1] = {0};

	if (at_fault(job, 2))
		/* culprit */
		try(dist_recv(job->world, floats(x), 0, 5));
	/* partner */
	return dist_monitored_barrier(job->world, DIST_TIMEOUT_OF_GROUP, true);
}

/* A helper of a header, called from two places. */
enum dist_error helper_in_a_header(struct job *job)
{
	float x[3] = {0};

	if (at_fault(job, 1))
		try(average(job, floats(x)));
	return share(job, floats(x));
}

/* Calls within a macro: the line is that of its use. */
enum dist_error call_in_a_macro(struct job *job)
{
	float x[3] = {0};

	if (at_fault(job, 0))
		/* culprit */
		SHARE_FROM(job, x, 1);
	else
		/* partner */
		SHARE_FROM(job, x, 2);
	return DIST_OK;
}

/* A chain of conditions that all ranks but one agree about. Seen in
 * KempnerForge#50, pytorch#72843, nccl#147. */
enum dist_error resumes_from_a_file(struct job *job)
{
	int32_t epoch[1] = {0};
	bool found = !at_fault(job, 3);

	if (found)
		/* partner */
		try(dist_broadcast(job->world,
				   dist_tensor(epoch, 1, DIST_INT32), 0, NULL));
	/* culprit */
	return dist_barrier(job->world, NULL);
}

/* Not wrong: the same number of calls by different ways. */
enum dist_error different_ways(struct job *job)
{
	float x[4] = {0};

	if (job->rank % 2) {
		for (int i = 0; i < 3; i++)
			try(dist_all_reduce(job->world, floats(x), DIST_SUM,
					    NULL));
	} else {
		try(dist_all_reduce(job->world, floats(x), DIST_SUM, NULL));
		try(dist_all_reduce(job->world, floats(x), DIST_SUM, NULL));
		try(average(job, floats(x)));
	}
	return DIST_OK;
}

/* Not wrong: who is done waits in a loop that all leave together. */
enum dist_error joins_till_the_last(struct job *job)
{
	int batches = 2 + job->rank;

	for (;;) {
		int64_t working[1] = {batches > 0};
		float gradient[4] = {0};

		try(dist_all_reduce(job->world, longs(working), DIST_MAX,
				    NULL));
		if (!working[0])
			return DIST_OK;
		try(dist_all_reduce(job->world, floats(gradient), DIST_SUM,
				    NULL));
		batches--;
	}
}
