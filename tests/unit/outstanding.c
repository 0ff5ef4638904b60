/*
 * Many messages that are on their way at once: twice as many take twice the
 * time of the processor, not four times.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"

#define TRIES 4
/* Of the processor, by which starting a simulation is longer than its ranks. */
#define MOST_RATIO 2.6

struct job {
	const char *debug;
	int messages;
	int (*run)(void *job);
};

/* Rank 0 sends all before rank 1 takes the first. */
static int run(void *arg)
{
	const struct job *job = arg;
	struct dist_work **works = calloc((size_t)job->messages, sizeof *works);
	float *x = calloc((size_t)job->messages, sizeof *x);
	struct dist_group *group;
	enum dist_error error = dist_init_process_group(NULL, &group);
	int rank = error ? -1 : dist_get_rank(group);

	for (int i = 0; i < job->messages && !error && rank == 0; i++)
		error = dist_isend(group, dist_tensor(x + i, 1, DIST_FLOAT32),
				   1, 0, &works[i]);
	for (int i = 0; i < job->messages && !error && rank == 1; i++)
		error = dist_recv(group, dist_tensor(x + i, 1, DIST_FLOAT32), 0,
				  0);
	for (int i = 0; i < job->messages && !error && rank == 0; i++)
		error = dist_work_wait(works[i], DIST_TIMEOUT_NEVER);
	free(works);
	free(x);
	return error || dist_destroy_process_group(group);
}

/* Sums of one element, all begun before the first is waited for. */
static int sum(void *arg)
{
	const struct job *job = arg;
	size_t num = (size_t)job->messages;
	struct dist_work **works = calloc(num, sizeof *works);
	float x = 0;
	struct dist_group *group;
	enum dist_error error = dist_init_process_group(NULL, &group);

	for (size_t i = 0; i < num && !error; i++)
		error = dist_all_reduce(group, dist_tensor(&x, 1, DIST_FLOAT32),
					DIST_SUM, &works[i]);
	for (size_t i = 0; i < num && !error; i++) {
		error = dist_work_wait(works[i], DIST_TIMEOUT_NEVER);
		dist_work_free(works[i]);
	}
	free(works);
	return error || dist_destroy_process_group(group);
}

static double processor_s(struct job *job)
{
	const struct dist_launch_options options = {.backend = "sim",
						    .platform = "star-8",
						    .world_size = 2,
						    .debug = job->debug,
						    .p2p = "rendezvous"};
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(dist_launch(&options, job->run, job));
	cr_assert_eq(wait4(pid, &status, 0, &usage), pid);
	cr_assert_eq(status, 0);
	return (double)usage.ru_utime.tv_sec +
	       (double)usage.ru_utime.tv_usec * 1e-6;
}

static double ratio_of(struct job few)
{
	struct job many = few;

	many.messages *= 2;
	return processor_s(&many) / processor_s(&few);
}

/* What else the machine does may spoil a try, but not make it good. */
static void expect_proportion(struct job job)
{
	double ratio = ratio_of(job);

	for (int i = 1; i < TRIES && ratio > MOST_RATIO; i++)
		ratio = ratio_of(job);
	cr_expect(ratio <= MOST_RATIO, "twice as many take %.2f times", ratio);
}

/* Of sends that do not wait the engine keeps a list, which it walks at each
 * end. */
Test(outstanding, sends_that_wait_take_time_by_their_number)
{
	expect_proportion((struct job){"off", 8000, run});
}

/* Whether two operations have memory in common is not asked of each pair. */
Test(outstanding, so_it_is_where_memory_is_watched)
{
	expect_proportion((struct job){"info", 3000, run});
}

/* Sums in one place take each other's results: each looks for the one before
 * it only, and for the one behind. */
Test(outstanding, so_it_is_of_sums_of_one_buffer)
{
	expect_proportion((struct job){"info", 3000, sum});
}
