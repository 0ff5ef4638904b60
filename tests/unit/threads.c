/* A rank of which one thread issues and another one waits. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/state.h"
#include "lockstep/dist.h"
#include "tests/support/threaded.h"
#include "tests/support/simulate.h"

Test(threads, one_issues_and_another_completes)
{
	static const char *const levels[] = {"off", "info"};

	for (int i = 0; i < 2; i++) {
		const struct dist_launch_options options = {
			.backend = "tcp", .world_size = 3, .debug = levels[i]};

		cr_expect_eq(dist_launch(&options, threaded_rank, NULL),
			     DIST_EXIT_OK, "debug %s", levels[i]);
	}
}

/* ---- when the time is up ------------------------------------------------ */

static void *wait_aside(void *work)
{
	enum dist_error error =
		dist_work_wait_aside(work, DIST_TIMEOUT_OF_GROUP);

	return error == DIST_ERR_TIMEOUT ? work : NULL;
}

static bool is_busy(struct dist_work *work)
{
	bool busy;

	dist__rank_lock(work->group);
	busy = work->busy;
	dist__rank_unlock(work->group);
	return busy;
}

/* Rank 0 waits in two threads, of which one has less time; rank 1 never comes.
 */
static int late_rank(void *arg)
{
	struct dist_group *group;
	struct dist_work *work;
	enum dist_error error;
	pthread_t thread;
	void *timed_out;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	while (dist_get_rank(group) == 1)
		(void)pause();
	if (dist_allow_threads(group) || dist_barrier(group, &work) ||
	    pthread_create(&thread, NULL, wait_aside, work))
		return DIST_EXIT_INTERNAL;
	while (!is_busy(work))
		sched_yield();
	error = dist_work_wait(work, 20000000);
	pthread_join(thread, &timed_out);
	if (error != DIST_ERR_TIMEOUT || !timed_out)
		return DIST_EXIT_INTERNAL;
	dist_work_free(work);
	return 1;
}

Test(threads, a_timeout_is_one_for_both, .init = cr_redirect_stderr)
{
	cr_expect_eq(launch_ranks("tcp", NULL, 2, late_rank, NULL),
		     DIST_EXIT_TIMEOUT);
}

/* ---- when the group goes ------------------------------------------------ */

static void *receive(void *group)
{
	float x;
	enum dist_error error =
		dist_recv(group, dist_tensor(&x, 1, DIST_FLOAT32), 1, 0);

	return error ? NULL : group;
}

static bool is_called(const struct dist_group *group)
{
	bool called;

	dist__rank_lock(group);
	called = group->calls > 0;
	dist__rank_unlock(group);
	return called;
}

/* Rank 0 destroys a group in which another thread of it receives. */
static int parting_rank(void *arg)
{
	struct dist_group *group, *part;
	const struct timespec moment = {0, 50000000};
	enum dist_error error;
	pthread_t thread;
	void *came = NULL;
	float x = 1;

	(void)arg;
	if (dist_init_process_group(NULL, &group) ||
	    dist_allow_threads(group) ||
	    dist_new_group(group, NULL, 0, NULL, &part))
		return 1;
	if (dist_get_rank(group) == 1) {
		/* What comes sooner would not be waited for. */
		error = dist_recv(group, dist_tensor(&x, 1, DIST_FLOAT32), 0,
				  0);
		(void)nanosleep(&moment, NULL);
		if (!error)
			error = dist_send(
				part, dist_tensor(&x, 1, DIST_FLOAT32), 0, 0);
		return error || dist_destroy_process_group(group);
	}
	if (pthread_create(&thread, NULL, receive, part))
		return 1;
	while (!is_called(part))
		sched_yield();
	if (dist_send(group, dist_tensor(&x, 1, DIST_FLOAT32), 1, 0))
		return 1;
	error = dist_destroy_process_group(part);
	pthread_join(thread, &came);
	return error || !came || dist_destroy_process_group(group);
}

Test(threads, a_group_stays_while_another_calls)
{
	cr_expect_eq(launch_ranks("tcp", NULL, 2, parting_rank, NULL),
		     DIST_EXIT_OK);
}

/* ---- where there is one thread ------------------------------------------ */

static int refused_rank(void *arg)
{
	struct dist_message message;
	struct dist_group *group;
	struct dist_work *work;
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	wrong += dist_allow_threads(group) != DIST_ERR_UNSUPPORTED;
	dist_error_message_copy(group, &message);
	wrong += strcmp(message.text, "allow_threads: a rank of back end sim "
				      "has one thread") != 0;
	if (dist_barrier(group, &work))
		return 1;
	wrong += dist_work_wait_aside(work, DIST_TIMEOUT_OF_GROUP) !=
		 DIST_ERR_UNSUPPORTED;
	wrong += dist_work_wait(work, DIST_TIMEOUT_OF_GROUP) != DIST_OK;
	dist_work_free(work);
	wrong += dist_destroy_process_group(group) != DIST_OK;
	return wrong;
}

Test(threads, a_simulated_rank_has_one)
{
	cr_expect_eq(launch_ranks("sim", "tests/support/star4.xml", 2,
				  refused_rank, NULL),
		     DIST_EXIT_OK);
	cr_expect_eq(dist_allow_threads(NULL), DIST_ERR_INVALID_ARGUMENT);
	cr_expect_eq(dist_work_wait_aside(NULL, 1), DIST_ERR_INVALID_ARGUMENT);
}
