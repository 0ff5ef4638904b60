/* What can go wrong when the ranks meet in a file or a store: the same words
 * as at rank 0, to everyone. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/store.h"
#include "tests/support/okay.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)

static char folder[] = "/tmp/lockstep-meeting-XXXXXX";
static char path[64], url[96];

static void make_folder(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/store", folder);
	snprintf(url, sizeof url, "file://%s", path);
}

static void remove_folder(void)
{
	cr_assert_eq(rmdir(folder), 0, "something was left in %s", folder);
}

TestSuite(meeting, .init = make_folder, .fini = remove_folder);

struct expectation {
	int64_t timeout_ns;
	const char *text; /* NULL: it succeeds */
};

/* Joins in the file, and expects. */
static int meet(void *arg)
{
	const struct expectation *wanted = arg;
	struct dist_message message = {""};
	struct dist_init_options options = {.backend = "tcp",
					    .init_method = url,
					    .timeout_ns = wanted->timeout_ns,
					    .message = &message};
	struct dist_group *group;
	enum dist_error error = dist_init_process_group(&options, &group);

	if (!error) {
		error = dist_barrier(group, NULL);
		if (dist_destroy_process_group(group) || error)
			return 1;
		return wanted->text != NULL;
	}
	if (error == DIST_ERR_RENDEZVOUS && wanted->text &&
	    strstr(message.text, wanted->text))
		return 0;
	fprintf(stderr, "%s: \"%s\"\n", dist_error_string(error), message.text);
	return 1;
}

/* Starts a process as each of the ranks, of worlds of these sizes. */
static void run(int num, const int *ranks, const int *sizes,
		struct expectation wanted)
{
	struct tcp_world world;
	pid_t pids[8];

	cr_assert(tcp_world_open(&world));
	for (int i = 0; i < num; i++)
		pids[i] = tcp_world_start(&world, ranks[i], sizes[i], meet,
					  &wanted);
	tcp_world_close(&world);
	for (int i = 0; i < num; i++)
		cr_assert_eq(tcp_status(pids[i]), 0, "process %d", i);
}

Test(meeting, names_who_did_not_come)
{
	run(3, (const int[]){0, 1, 3}, (const int[]){4, 4, 4},
	    (struct expectation){SECOND / 2, "3 of 4 ranks came; missing: 2"});
	/* Late, or of the next job: it is told at once, and what to do. */
	run(1, (const int[]){2}, (const int[]){4},
	    (struct expectation){20 * SECOND, "if an earlier job wrote it, "
					      "delete the file"});
	cr_assert_neq(access(path, F_OK), 0, "the last one removes it");
}

Test(meeting, needs_rank_0)
{
	run(1, (const int[]){1}, (const int[]){2},
	    (struct expectation){SECOND / 5,
				 "rank 0 has not come to the store"});
	unlink(path);
}

Test(meeting, tells_everyone_of_a_duplicate)
{
	run(3, (const int[]){0, 1, 1}, (const int[]){3, 3, 3},
	    (struct expectation){20 * SECOND,
				 "two ranks call themselves rank 1"});
	run(3, (const int[]){0, 0, 1}, (const int[]){3, 3, 3},
	    (struct expectation){20 * SECOND,
				 "two ranks call themselves rank 0"});
}

Test(meeting, tells_everyone_of_another_world_size)
{
	run(3, (const int[]){0, 1, 2}, (const int[]){4, 5, 4},
	    (struct expectation){20 * SECOND, "says the world size is"});
	unlink(path);
}

static int join_alone(void *arg)
{
	struct dist_init_options options = {.init_method = url};
	struct dist_group *group;

	(void)arg;
	return dist_init_process_group(&options, &group);
}

/* Starts rank 0 of two, which writes where it serves and is killed. */
static void leave_a_stale_file(void)
{
	static const char *const keys[] = {"lockstep/0/server"};
	struct dist_store *store;
	struct tcp_world world;
	pid_t pid;

	cr_assert(tcp_world_open(&world));
	pid = tcp_world_start(&world, 0, 2, join_alone, NULL);
	tcp_world_close(&world);
	okay(dist_file_store_new(path, 0, &store, NULL));
	okay(dist_store_wait(store, keys, 1, 20 * SECOND));
	dist_store_free(store);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(tcp_status(pid), 128 + SIGKILL);
}

Test(meeting, says_that_a_file_is_stale)
{
	leave_a_stale_file();
	run(2, (const int[]){0, 1}, (const int[]){2, 2},
	    (struct expectation){20 * SECOND,
				 "was left behind by an earlier job"});
	cr_assert_eq(unlink(path), 0, "as the words say");
	run(2, (const int[]){0, 1}, (const int[]){2, 2},
	    (struct expectation){20 * SECOND, NULL});
}

/* A third one of two waits for them to end, which they do not. */
Test(meeting, keeps_out_who_is_too_many)
{
	struct dist_store *a, *b;

	okay(dist_file_store_new(path, 2, &a, NULL));
	okay(dist_file_store_new(path, 2, &b, NULL));
	run(1, (const int[]){0}, (const int[]){2},
	    (struct expectation){SECOND / 5, "2 processes opened it already"});
	dist_store_free(a);
	dist_store_free(b);
}

/* ---- exit statuses ------------------------------------------------------ */

static int join_by(void *arg)
{
	struct dist_message message = {""};
	struct dist_init_options options = {
		.init_method = arg, .timeout_ns = SECOND, .message = &message};
	struct dist_group *group;

	if (dist_init_process_group(&options, &group)) {
		fprintf(stderr, "%s\n", message.text);
		return 1;
	}
	return dist_destroy_process_group(group) != DIST_OK;
}

static int launch(char *init_method)
{
	struct dist_launch_options options = {.backend = "tcp",
					      .world_size = 2};

	return dist_launch(&options, join_by, init_method);
}

Test(meeting, fails_the_job_with_a_status_of_its_own)
{
	struct dist_store *holder;
	char taken[64];

	okay(dist_tcp_store_new("127.0.0.1", 0, 0, true, 0, &holder, NULL));
	snprintf(taken, sizeof taken, "tcp://127.0.0.1:%d",
		 dist_tcp_store_port(holder));
	cr_assert_eq(launch(taken), DIST_EXIT_RENDEZVOUS, "port taken");
	dist_store_free(holder);
	/* A file that another job is using. */
	okay(dist_file_store_new(path, 1, &holder, NULL));
	cr_assert_eq(launch(url), DIST_EXIT_RENDEZVOUS, "file in use");
	dist_store_free(holder);
}
