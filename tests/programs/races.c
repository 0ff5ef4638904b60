/* Receives from any source that take what somebody else was to have, and looks
 * at what may have come: each program ends well when the messages come in
 * another order. */
#include <sched.h>

#include "tests/programs/programs.h"

/* Enough for what another rank sends at once to have come; on a busy machine
 * others have a turn first, again and again. */
#define LATER_NS    200000000
#define LATER_TURNS 20

static enum dist_error later(const struct job *job)
{
	enum dist_error error = dist_compute(job->world, LATER_NS, NULL);

	for (int turn = 0; turn < LATER_TURNS; turn++)
		sched_yield();
	return error;
}

/* Whoever is done first, and then rank 1: that one was first. MPI checkers know
 * it. */
enum dist_error any_and_then_the_first(struct job *job)
{
	float x[4] = {0};
	int from;

	if (job->rank == 0) {
		/* culprit */
		try(dist_recv_any(job->world, floats(x), 0, &from));
		/* culprit */
		return dist_recv(job->world, floats(x),
				 job->wrong ? 1 : 3 - from, 0);
	}
	if (job->rank == 2)
		try(later(job));
	/* partner */
	return dist_send(job->world, floats(x), 0, 0);
}

/* The same, with the receives begun in that order before either is over. */
enum dist_error any_begun_before_named(struct job *job)
{
	float x[4] = {0}, y[4];
	int any = job->wrong ? DIST_ANY_SOURCE : 2;
	struct dist_work *works[2];

	if (job->rank == 0) {
		/* culprit */
		try(dist_irecv(job->world, floats(x), any, 5, &works[0]));
		/* culprit */
		try(dist_irecv(job->world, floats(y), 1, 5, &works[1]));
		return end_all(works, 2);
	}
	if (job->rank == 2)
		try(later(job));
	return dist_send(job->world, floats(x), 0, 5);
}

/* The first to report is taken for the one that gets the next order. */
enum dist_error answers_who_came_first(struct job *job)
{
	float x[1] = {0};
	int from = 1;

	if (job->rank == 0) {
		for (int i = 1; i < job->size; i++) {
			int one = i;

			/* culprit */
			try(dist_recv_any(job->world, floats(x), 1, &one));
			if (i == 1 && job->wrong)
				from = one;
		}
		/* culprit */
		return dist_send(job->world, floats(x), from, 2);
	}
	if (job->rank == 1)
		try(later(job));
	try(dist_send(job->world, floats(x), 0, 1));
	if (job->rank == 1)
		/* culprit */
		return dist_recv(job->world, floats(x), 0, 2);
	return DIST_OK;
}

/* The header of one worker is followed by the body of another. */
enum dist_error body_of_another(struct job *job)
{
	float head[1] = {0}, body[8] = {0};
	int from;

	if (job->rank == 0) {
		for (int i = 1; i < job->size; i++) {
			/* culprit */
			try(dist_recv_any(job->world, floats(head), 0, &from));
			/* culprit */
			try(dist_recv(job->world, floats(body),
				      job->wrong ? i : from, 1));
		}
		return DIST_OK;
	}
	if (job->rank == 1)
		try(later(job));
	try(dist_send(job->world, floats(head), 0, 0));
	return dist_send(job->world, floats(body), 0, 1);
}

/* Who comes first decides what all ranks do next, on one of them. */
enum dist_error branches_on_who_came(struct job *job)
{
	float x[2] = {0};
	int from = 1, other;

	if (job->rank == 0) {
		/* culprit */
		try(dist_recv_any(job->world, floats(x), 0, &from));
		try(dist_recv_any(job->world, floats(x), 0, &other));
	} else {
		if (job->rank == 1)
			try(later(job));
		try(dist_send(job->world, floats(x), 0, 0));
	}
	if (from != 1 && job->wrong)
		/* culprit */
		return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* A long message comes where a short one was awaited. */
enum dist_error longer_comes_first(struct job *job)
{
	float x[8] = {0};
	size_t numel = job->rank == 1 || !job->wrong ? 4 : 8;
	int from;

	if (job->rank == 0) {
		try(later(job));
		try(later(job));
		/* culprit */
		try(dist_recv_any(job->world, dist_tensor(x, 4, DIST_FLOAT32),
				  3, &from));
		return dist_recv_any(
			job->world,
			dist_tensor(x, job->wrong ? 8 : 4, DIST_FLOAT32), 3,
			&from);
	}
	if (job->rank == 1)
		try(later(job));
	/* culprit */
	return dist_send(job->world, dist_tensor(x, numel, DIST_FLOAT32), 0, 3);
}

/* Two rounds with one tag: a quick worker's second result is taken for the
 * first of a slow one. */
enum dist_error rounds_with_one_tag(struct job *job)
{
	float x[1] = {0};
	int from;

	for (int round = 0; round < 2; round++) {
		int tag = job->wrong ? 0 : round;

		if (job->rank == 1 && round == 0)
			try(later(job));
		if (job->rank > 0)
			try(dist_send(job->world, floats(x), 0, tag));
		for (int i = 1; job->rank == 0 && i < job->size; i++)
			if (round == 0)
				/* culprit */
				try(dist_recv_any(job->world, floats(x), tag,
						  &from));
			else
				/* culprit */
				try(dist_recv(job->world, floats(x), i, tag));
	}
	return DIST_OK;
}

/* The second stage of a pipeline looks whether the gradient of the first
 * micro-batch is there, and else goes forward with the next. In time it never
 * is; when the second stage is slow it is, and both stages send. Seen in
 * pytorch#127332, pytorch#172668, torchtitan#775, PiPPy#1088. */
static enum dist_error on_to_the_last(struct job *job, struct dist_tensor batch)
{
	try(dist_recv(job->world, batch, 0, 0));
	return dist_send(job->world, batch, 2, 0);
}

static enum dist_error second_of_three(struct job *job,
				       struct dist_tensor batch)
{
	float gradient[4];
	struct dist_work *work;
	bool early;

	try(on_to_the_last(job, batch));
	/* culprit: backward_when_it_can */
	try(dist_irecv(job->world, floats(gradient), 2, 0, &work));
	early = job->wrong && dist_work_is_completed(work);
	if (!early)
		try(on_to_the_last(job, batch));
	try(end(work));
	try(dist_send(job->world, floats(gradient), 0, 0));
	if (early)
		try(on_to_the_last(job, batch));
	try(dist_recv(job->world, floats(gradient), 2, 0));
	return dist_send(job->world, floats(gradient), 0, 0);
}

enum dist_error backward_when_it_can(struct job *job)
{
	float activations[4] = {0};
	struct dist_tensor a = floats(activations);

	if (job->rank == 1)
		return second_of_three(job, a);
	for (int i = 0; i < 2; i++)
		if (job->rank == 0) {
			try(dist_send(job->world, a, 1, 0));
		} else {
			try(dist_recv(job->world, a, 1, 0));
			try(dist_compute(job->world, 1000000, "backward"));
			try(dist_send(job->world, a, 1, 0));
		}
	for (int i = 0; job->rank == 0 && i < 2; i++)
		try(dist_recv(job->world, a, 1, 0));
	return DIST_OK;
}

/* The second stage takes an activation or a gradient, whatever is there, and
 * passes it on. As long as the next activation comes before the gradient of the
 * one before, all is well; else the first stage sends an activation to the
 * second, which sends it a gradient. Where the first stage is ready for
 * gradients before it sends, nothing is wrong. */
enum dist_error passes_on_what_comes(struct job *job)
{
	float data[2][4] = {{0}};
	struct dist_work *works[2];
	int source;

	for (int i = 0; job->rank == 0 && !job->wrong && i < 2; i++)
		try(dist_irecv(job->world, floats(data[i]), 1, 0, &works[i]));
	for (int i = 0; job->rank == 0 && i < 2; i++)
		/* partner */
		try(dist_send(job->world, floats(data[i]), 1, 0));
	for (int i = 0; job->rank == 0 && job->wrong && i < 2; i++)
		try(dist_recv(job->world, floats(data[i]), 1, 0));
	for (int i = 0; job->rank == 1 && i < 4; i++) {
		/* culprit */
		try(dist_recv_any(job->world, floats(data[0]), 0, &source));
		try(dist_send(job->world, floats(data[0]), 2 - source, 0));
	}
	/* The last one never waits until a gradient is taken. */
	for (int i = 0; job->rank == 2 && i < 2; i++) {
		try(dist_recv(job->world, floats(data[i]), 1, 0));
		try(dist_compute(job->world, 1000000, "backward"));
		/* partner */
		try(dist_isend(job->world, floats(data[i]), 1, 0, &works[i]));
	}
	if (job->rank == 2 || (job->rank == 0 && !job->wrong))
		return end_all(works, 2);
	return DIST_OK;
}
