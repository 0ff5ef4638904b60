/* Ranks that come late, end early, die, or pass what no call takes. */
#include "tests/programs/programs.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static enum dist_error step(struct job *job)
{
	float x[4] = {0};

	/* partner: ends_with_an_error crashes aborts goes_on_as_another
	 * exits_with_3 is_killed leaves_the_job_early late_and_stuck
	 * time_for_the_first_call */
	return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
}

/* By the time that rank does what is wrong, the others are in their next call.
 */
static enum dist_error let_others_ahead(struct job *job, int rank)
{
	try(dist_barrier(job->world, NULL));
	return at_fault(job, rank)
		       ? dist_compute(job->world, 100000000, "reading")
		       : DIST_OK;
}

/* Runs two steps, and rank fails, as fail has it, before the second. */
static enum dist_error two_steps(struct job *job, int rank, void (*fail)(void))
{
	try(step(job));
	try(let_others_ahead(job, rank));
	if (at_fault(job, rank))
		fail();
	return step(job);
}

static void crash(void)
{
	raise(SIGSEGV);
}

static void exit_with_3(void)
{
	_Exit(3);
}

static void kill_itself(void)
{
	raise(SIGKILL);
}

static void become_another(void)
{
	(void)execl("/bin/sleep", "sleep", "250", NULL);
}

/* The process lives on, and is no rank any more. */
enum dist_error goes_on_as_another(struct job *job)
{
	return two_steps(job, 1, become_another);
}

enum dist_error crashes(struct job *job)
{
	return two_steps(job, 1, crash);
}

/* Not even a wait could help the others: the process that would do the sum is
 * gone. */
enum dist_error gone_with_a_sum_in_flight(struct job *job)
{
	float *x = keep(job, 4 * sizeof *x);
	struct dist_work *work;

	try(dist_barrier(job->world, NULL));
	/* culprit */
	try(dist_all_reduce(job->world, dist_tensor(x, 4, DIST_FLOAT32),
			    DIST_SUM, &work));
	if (at_fault(job, 2)) {
		dist_work_free(work);
		exit(0);
	}
	return end(work);
}

enum dist_error aborts(struct job *job)
{
	return two_steps(job, 0, abort);
}

/* Seen in pytorch#78514. */
enum dist_error exits_with_3(struct job *job)
{
	return two_steps(job, 2, exit_with_3);
}

enum dist_error is_killed(struct job *job)
{
	return two_steps(job, 3, kill_itself);
}

/* A file is not there; the rank gives up, the others do not know. */
enum dist_error ends_with_an_error(struct job *job)
{
	try(let_others_ahead(job, 2));
	if (at_fault(job, 2))
		return DIST_ERR_IO;
	return step(job);
}

/* It says goodbye before the others are done, and goes on alone. */
enum dist_error leaves_the_job_early(struct job *job)
{
	try(step(job));
	if (at_fault(job, 0)) {
		try(dist_destroy_process_group(job->world));
		job->world = NULL;
		return DIST_OK;
	}
	return step(job);
}

/* Reads its data for longer than the others wait. Seen in LlamaFactory#360,
 * LongLoRA#45, accelerate#314. */
enum dist_error late_for_the_sum(struct job *job)
{
	float x[4] = {0};

	if (at_fault(job, 1))
		dist_compute(job->world, 5000000000, "loading");
	/* partner */
	return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
}

/* Loads for longer than the others wait, and then waits for its state, which
 * rank 0 sends only after the step that all wait in: more time would not help.
 */
enum dist_error late_and_stuck(struct job *job)
{
	float state[4] = {0};

	if (job->rank == 0 && !job->wrong)
		try(dist_send(job->world, floats(state), 2, 0));
	if (job->rank == 2) {
		try(dist_compute(job->world,
				 job->wrong ? 30000000000 : 10000000, "load"));
		/* culprit */
		try(dist_recv(job->world, floats(state), 0, 0));
	}
	try(step(job));
	if (job->rank == 0 && job->wrong)
		return dist_send(job->world, floats(state), 2, 0);
	return DIST_OK;
}

/* Asks for two seconds before the first call, to which a rank comes after a
 * minute. Where communicators are made by that call, it waits without end. Seen
 * in pytorch#124950. */
enum dist_error time_for_the_first_call(struct job *job)
{
	try(dist_set_timeout(job->world, 2000000000));
	if (job->rank == 1)
		try(dist_compute(job->world,
				 job->wrong ? 60000000000 : 10000000, "load"));
	return step(job);
}

enum dist_error late_with_a_message(struct job *job)
{
	float x[4] = {0};

	if (job->rank == 2) {
		if (job->wrong)
			dist_compute(job->world, 5000000000, "saving");
		return dist_send(job->world, floats(x), 0, 0);
	}
	if (job->rank == 0)
		/* partner */
		return dist_recv(job->world, floats(x), 2, 0);
	return DIST_OK;
}

/* One that is late is enough, where anybody is awaited. */
enum dist_error late_where_anybody_is_awaited(struct job *job)
{
	float x[4] = {0};
	int source;

	if (job->rank == 0)
		/* partner */
		try(dist_recv_any(job->world, floats(x), 0, &source));
	if (job->rank == 1 && job->wrong)
		try(dist_compute(job->world, 5000000000, "saving"));
	if (job->rank == 1)
		try(dist_send(job->world, floats(x), 0, 0));
	return dist_barrier(job->world, NULL);
}

enum dist_error two_are_late(struct job *job)
{
	if (job->wrong && job->rank >= 3)
		dist_compute(job->world, 5000000000, "evaluation");
	/* partner */
	return dist_barrier(job->world, NULL);
}

enum dist_error root_out_of_range(struct job *job)
{
	float x[4] = {0};

	try(let_others_ahead(job, 1));
	/* culprit */
	return dist_reduce(job->world, floats(x),
			   at_fault(job, 1) ? job->size : 0, DIST_SUM, NULL);
}

enum dist_error sends_to_itself(struct job *job)
{
	float x[4] = {0};

	if (job->rank == 0)
		/* culprit */
		return dist_send(job->world, floats(x), job->wrong ? 0 : 1, 0);
	return !job->wrong && job->rank == 1
		       ? dist_recv(job->world, floats(x), 0, 0)
		       : DIST_OK;
}

enum dist_error bits_of_floats(struct job *job)
{
	float x[4] = {0};
	int32_t n[4] = {0};

	try(let_others_ahead(job, 1));
	/* culprit */
	return dist_all_reduce(job->world,
			       at_fault(job, 1) ? floats(x)
						: dist_tensor(n, 4, DIST_INT32),
			       DIST_BXOR, NULL);
}

/* The others wait inside their calls. Seen in nccl#582. */
enum dist_error listed_twice(struct job *job)
{
	static const int twice[] = {0, 1, 1}, once[] = {0, 1, 2};
	struct dist_group *sub;

	try(let_others_ahead(job, 2));
	/* culprit */
	return dist_new_group(job->world, at_fault(job, 2) ? twice : once, 3,
			      NULL, &sub);
}

enum dist_error uneven_subgroups(struct job *job)
{
	struct dist_group *sub;

	try(let_others_ahead(job, 0));
	/* culprit */
	return dist_new_subgroups(job->world, at_fault(job, 0) ? 2 : 3, NULL,
				  &sub);
}

/* Not wrong: ranks end one after the other, long after their last call. */
enum dist_error ends_one_by_one(struct job *job)
{
	try(step(job));
	if (job->rank > 0)
		dist_compute(job->world, (int64_t)job->rank * 50000000, "tail");
	return DIST_OK;
}

/* Has an empty shard, and goes home, while another is still loading its. */
enum dist_error leaves_before_one_has_come(struct job *job)
{
	if (at_fault(job, 1))
		return DIST_OK;
	if (job->rank == 0)
		try(dist_compute(job->world, 500000000, "load"));
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* Has no gradients; the others began their sum, and end without waiting. */
enum dist_error leaves_a_sum_begun(struct job *job)
{
	float *x = keep(job, 4 * sizeof *x);
	struct dist_work *work;

	if (at_fault(job, 1))
		return DIST_OK;
	/* partner */
	try(dist_all_reduce(job->world, dist_tensor(x, 4, DIST_FLOAT32),
			    DIST_SUM, &work));
	try(dist_compute(job->world, 100000000, "save"));
	return job->wrong ? DIST_OK : end(work);
}

/* Has a batch more, while one of those that have not saves. */
enum dist_error goes_on_while_one_saves(struct job *job)
{
	try(step(job));
	if (job->rank == 0)
		try(dist_compute(job->world, 500000000, "save"));
	if (at_fault(job, 2))
		/* culprit */
		return dist_barrier(job->world, NULL);
	return DIST_OK;
}

static void give_up(int number)
{
	(void)number;
	exit(0); /* NOLINT(bugprone-signal-handler): as programs do */
}

/* Waits as long as it has patience, and is content. */
enum dist_error exits_in_a_receive(struct job *job)
{
	float x[4] = {0};

	if (job->rank == 0)
		try(dist_compute(job->world, job->wrong ? 500000000 : 1000000,
				 "load"));
	if (job->rank == 0)
		try(dist_send(job->world, floats(x), 1, 0));
	if (at_fault(job, 1)) {
		const struct itimerval patience = {.it_value = {0, 100000}};

		(void)signal(SIGALRM, give_up);
		(void)setitimer(ITIMER_REAL, &patience, NULL);
	}
	if (job->rank == 1)
		/* culprit */
		try(dist_recv(job->world, floats(x), 0, 0));
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* Is content to have begun to send. */
enum dist_error exits_with_a_send_in_flight(struct job *job)
{
	float *x = keep(job, 4 * sizeof *x);
	struct dist_tensor t = dist_tensor(x, 4, DIST_FLOAT32);
	struct dist_work *work;

	if (job->rank == 0) {
		/* culprit */
		try(dist_isend(job->world, t, 1, 0, &work));
		if (job->wrong) {
			dist_work_free(work);
			exit(0);
		}
		try(end(work));
	}
	if (job->rank == 1)
		try(dist_recv(job->world, t, 0, 0));
	return dist_barrier(job->world, NULL);
}

/* A server hears of workers that have nothing left to do, and end without
 * leaving the job first. One of them does not tell. */
enum dist_error ends_without_a_word(struct job *job)
{
	float x[1] = {0};
	int source;

	for (int left = job->size - 1; job->rank == 0 && left > 0;) {
		/* culprit */
		try(dist_recv_any(job->world, floats(x), 0, &source));
		if (x[0] < 0)
			left--;
		else
			try(dist_send(job->world, floats(x), source, 1));
	}
	if (job->rank == 0)
		return DIST_OK;
	for (int i = 0; i < 3; i++) {
		try(dist_send(job->world, floats(x), 0, 0));
		/* culprit */
		try(dist_recv(job->world, floats(x), 0, 1));
	}
	x[0] = -1;
	if (!at_fault(job, 2))
		try(dist_send(job->world, floats(x), 0, 0));
	exit(0);
}
