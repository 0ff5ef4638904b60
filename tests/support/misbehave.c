#define _GNU_SOURCE /* environ */

#include "tests/support/misbehave.h"

#include <lockstep/dist.h>
#include <lockstep/rpc.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The job, and which of its ranks has begun last: simulated ones begin in their
 * order. */
struct job {
	const char *kind, *point;
	int culprit, next;
};

static volatile int zero;
static volatile int *volatile nowhere;

static int overflow(int n)
{
	volatile char frame[4096];

	frame[0] = (char)n;
	return zero ? n : overflow(n + 1) + frame[0]; /* bad: overflow */
}

static bool is(const struct job *job, const char *kind)
{
	return strcmp(job->kind, kind) == 0;
}

static bool is_here(const struct job *job, int rank, const char *point)
{
	return rank == job->culprit && strcmp(job->point, point) == 0;
}

/* Larger than all of a stack: what it touches lies far below. */
static void __attribute__((noinline)) fill_frame(void)
{
	volatile int array[16 << 20];

	array[0] = 1; /* bad: frame */
	zero = array[0];
}

/* More than a file may have. */
static void write_file(void)
{
	const struct rlimit limit = {1000, 1000};
	FILE *file = tmpfile();

	if (!file || setrlimit(RLIMIT_FSIZE, &limit) != 0)
		abort();
	for (int i = 0; i < 2000; i++)
		fputc('x', file);
	(void)fclose(file); /* bad: file */
}

/* Of the rank that began last; at exit it may be no more. */
static struct dist_group *world;

static void call_late(void)
{
	if (dist_barrier(world, NULL) != DIST_ERR_INVALID_ARGUMENT)
		abort();
}

/* Returns whether the rank shall return. */
static bool err(const struct job *job, int rank, const char *point)
{
	if (!is_here(job, rank, point))
		return false;
	if (is(job, "exit0"))
		exit(0);
	if (is(job, "exit3"))
		exit(3);
	if (is(job, "exit256"))
		exit(256);
	if (is(job, "stop"))
		(void)raise(SIGSTOP);
	if (is(job, "frame"))
		fill_frame();
	if (is(job, "segv"))
		*nowhere = 1; /* bad: segv */
	if (is(job, "abort"))
		abort(); /* bad: abort */
	if (is(job, "fpe"))
		zero = 7 / zero; /* bad: fpe */
	if (is(job, "handler") && atexit(abort) == 0)
		exit(0);
	if (is(job, "away") && chdir("/") != 0)
		abort();
	if (is(job, "clears"))
		environ = NULL;
	while (is(job, "eat"))
		nowhere = memset(malloc(1 << 20), 1, 1 << 20);
	if (is(job, "file"))
		write_file();
	for (int fd = 3; is(job, "closes") && fd < 256; fd++)
		(void)close(fd);
	if (is(job, "quit0"))
		_exit(0);
	if (is(job, "quit4")) {
		/* The others wait for it by then. */
		(void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
		_exit(4);
	}
	if (is(job, "abort_late") && atexit(abort) != 0)
		_exit(1);
	if (is(job, "late") && atexit(call_late) != 0)
		abort();
	if (is(job, "thread"))
		pthread_exit(NULL);
	if (is(job, "copy") && fork() > 0)
		(void)wait(NULL); /* for the copy, which goes on */
	if (is(job, "kill"))
		(void)raise(SIGKILL);
	if (is(job, "overflow"))
		zero = overflow(1);
	while (is(job, "endless")) /* bad: endless */
		for (int i = 0; i < 1000000000; i++)
			zero = 0; /* bad: endless */
	return is(job, "return");
}

static void loop(void *context, struct dist_rpc_call *call)
{
	(void)context;
	(void)call;
	for (;;)
		zero = 0; /* bad: function */
}

static void quit(void *context, struct dist_rpc_call *call)
{
	(void)context;
	(void)call;
	_exit(0);
}

static void leave_thread(void *context, struct dist_rpc_call *call)
{
	(void)context;
	(void)call;
	pthread_exit(NULL);
}

/* Rank 0 calls a function on the culprit that never returns. */
static enum dist_error call_endless(const struct job *job, int rank,
				    struct dist_group *group)
{
	static const struct dist_rpc_entry functions[] = {
		{"function", loop, NULL},
		{"quit_inside", quit, NULL},
		{"thread_inside", leave_thread, NULL}};
	static const struct dist_rpc_options options = {.functions = functions,
							.num_functions = 3};
	const struct dist_rpc_request request = {.to = job->culprit,
						 .function = job->kind};
	struct dist_rpc *rpc;
	enum dist_error error = dist_rpc_init(group, &options, &rpc);

	if (!error && rank == 0)
		error = dist_rpc_sync(rpc, &request, NULL);
	return error ? error : dist_rpc_shutdown(rpc, true);
}

static bool calls_function(const struct job *job)
{
	return is(job, "function") || is(job, "quit_inside") ||
	       is(job, "thread_inside");
}

static enum dist_error sum(struct dist_group *group, float *x)
{
	return dist_all_reduce(group, dist_tensor(x, 4, DIST_FLOAT32), DIST_SUM,
			       NULL); /* bad: segv in a call */
}

static enum dist_error sum_later(const struct job *job, int rank,
				 struct dist_group *group, float *x, bool *left)
{
	struct dist_work *work;
	enum dist_error error = dist_all_reduce(
		group, dist_tensor(x, 4, DIST_FLOAT32), DIST_SUM, &work);

	*left = !error && err(job, rank, "wait");
	if (error || *left)
		return error;
	return dist_work_wait(work, DIST_TIMEOUT_NEVER);
}

static enum dist_error sum_in_group(const struct job *job, int rank,
				    struct dist_group *parent, float *x,
				    bool *left)
{
	static const int ranks[] = {0, 1, 2};
	struct dist_group *group;
	enum dist_error error = dist_new_group(parent, ranks, 3, NULL, &group);

	if (error)
		return error;
	if (is(job, "segv") && is_here(job, rank, "group"))
		return sum(group, (float *)64);
	*left = err(job, rank, "group");
	return *left ? DIST_OK : sum(group, x);
}

static int run(void *arg)
{
	static float x[3][4];
	struct job *job = arg;
	struct dist_group *group;
	enum dist_error error;
	const char *own = getenv("RANK");
	int rank = own ? atoi(own) : job->next++;
	bool left = err(job, rank, "init");

	if (left)
		return 0;
	error = dist_init_process_group(NULL, &group);
	world = error ? NULL : group;
	left = !error && err(job, rank, "call");
	if (!error && calls_function(job))
		error = call_endless(job, rank, group);
	if (!error && !left)
		error = sum(group, x[rank]);
	if (!error && !left)
		error = sum_later(job, rank, group, x[rank], &left);
	if (!error && !left)
		error = sum_in_group(job, rank, group, x[rank], &left);
	if (!error && !left)
		error = dist_destroy_process_group(group);
	if (!error && !left)
		(void)err(job, rank, "end");
	return error ? 1 : 0;
}

int misbehave(const char *kind, const char *point, int rank)
{
	struct job job = {kind, point, rank, 0};

	return dist_launch(NULL, run, &job);
}
