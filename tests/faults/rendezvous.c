/* What can go wrong before the first message, and who knocks at the doors: the
 * ranks meet at rank 0 or in a file, and are told the same. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/store.h"
#include "tests/support/okay.h"
#include "tests/support/tcp_cases.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)

static char folder[] = "/tmp/lockstep-rendezvous-XXXXXX";
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

TestSuite(rendezvous, .init = make_folder, .fini = remove_folder);

struct expectation {
	const char *init_method;
	int64_t timeout_ns;
	enum dist_error error;
	const char *text; /* NULL: it succeeds */
};

/* Joins, and expects. */
static int meet(void *arg)
{
	const struct expectation *wanted = arg;
	struct dist_message message = {""};
	struct dist_init_options options = {.backend = "tcp",
					    .init_method = wanted->init_method,
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
	if (error == wanted->error && wanted->text &&
	    strstr(message.text, wanted->text))
		return 0;
	fprintf(stderr, "%s: \"%s\"\n", dist_error_string(error), message.text);
	return 1;
}

static struct expectation expectation(const char *init_method,
				      int64_t timeout_ns, const char *text)
{
	return (struct expectation){init_method, timeout_ns,
				    DIST_ERR_RENDEZVOUS, text};
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

/* At rank 0, and in a file, which the last one removes. */
static void run_both(const int ranks[3], const int sizes[3], int64_t timeout_ns,
		     const char *text)
{
	run(3, ranks, sizes, expectation("env://", timeout_ns, text));
	run(3, ranks, sizes, expectation(url, timeout_ns, text));
}

Test(rendezvous, names_who_did_not_come)
{
	run_both((int[]){0, 1, 3}, (int[]){4, 4, 4}, SECOND / 2,
		 "3 of 4 ranks came; missing: 2");
	/* Late, or of the next job: it is told at once, and what to do. */
	run(1, (int[]){2}, (int[]){4},
	    expectation(url, 20 * SECOND,
			"if an earlier job wrote it, delete the file"));
	cr_assert_neq(access(path, F_OK), 0, "the last one removes it");
}

Test(rendezvous, needs_rank_0)
{
	struct expectation wanted =
		expectation("env://", SECOND / 5, "has rank 0 come?");
	struct tcp_world world;
	pid_t pid;

	cr_assert(tcp_world_open(&world));
	pid = tcp_world_start(&world, 1, 2, meet, &wanted);
	cr_assert_eq(tcp_status(pid), 0, "somebody listens, nobody answers");
	tcp_world_close(&world);
	wanted.text = "rank 0 has not come";
	pid = tcp_world_start(&world, 1, 2, meet, &wanted);
	cr_assert_eq(tcp_status(pid), 0, "nobody listens");
	run(1, (int[]){1}, (int[]){2},
	    expectation(url, SECOND / 5, "rank 0 has not come to the store"));
	unlink(path);
}

Test(rendezvous, tells_everyone_of_a_duplicate)
{
	run_both((int[]){0, 1, 1}, (int[]){3, 3, 3}, 20 * SECOND,
		 "two ranks call themselves rank 1");
	run(3, (int[]){0, 0, 1}, (int[]){3, 3, 3},
	    expectation(url, 20 * SECOND, "two ranks call themselves rank 0"));
}

Test(rendezvous, tells_everyone_of_another_world_size)
{
	run_both((int[]){0, 1, 2}, (int[]){4, 5, 4}, 20 * SECOND,
		 "says the world size is");
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

Test(rendezvous, says_that_a_file_is_stale)
{
	leave_a_stale_file();
	run(2, (int[]){0, 1}, (int[]){2, 2},
	    expectation(url, 20 * SECOND, "was left behind by an earlier job"));
	cr_assert_eq(unlink(path), 0, "as the words say");
	run(2, (int[]){0, 1}, (int[]){2, 2},
	    expectation(url, 20 * SECOND, NULL));
}

/* A third one of two waits for them to end, which they do not. */
Test(rendezvous, keeps_out_who_is_too_many)
{
	struct dist_store *a, *b;

	okay(dist_file_store_new(path, 2, &a, NULL));
	okay(dist_file_store_new(path, 2, &b, NULL));
	run(1, (int[]){0}, (int[]){2},
	    expectation(url, SECOND / 5, "2 processes opened it already"));
	dist_store_free(a);
	dist_store_free(b);
}

Test(rendezvous, says_that_the_port_is_taken)
{
	struct expectation wanted = expectation("env://", SECOND, "is taken");
	struct tcp_world world, other;
	pid_t pid;

	cr_assert(tcp_world_open(&world));
	cr_assert(tcp_world_open(&other));
	/* The listener that rank 0 inherits is not the one of MASTER_PORT. */
	world.port = other.port;
	pid = tcp_world_start(&world, 0, 2, meet, &wanted);
	cr_assert_eq(tcp_status(pid), 0);
	tcp_world_close(&world);
	tcp_world_close(&other);
}

static int expect_refusal(void *arg)
{
	const char *const *setting = arg;
	struct expectation wanted = {NULL, 0, DIST_ERR_INVALID_ARGUMENT,
				     setting[2]};

	setenv(setting[0], setting[1], 1);
	return meet(&wanted);
}

Test(rendezvous, refuses_malformed_variables)
{
	static const char *settings[][3] = {
		{"RANK", "x", "RANK is \"x\": expected an integer from 0 to 1"},
		{"RANK", "2", "RANK is \"2\": expected an integer from 0 to 1"},
		{"RANK", "", "RANK is not set"},
		{"WORLD_SIZE", "0", "WORLD_SIZE is \"0\""},
		{"WORLD_SIZE", "-1", "WORLD_SIZE is \"-1\""},
		{"WORLD_SIZE", "99999999999", "WORLD_SIZE is"},
		{"MASTER_PORT", "70000", "expected an integer from 0 to 65535"},
		{"MASTER_ADDR", "", "MASTER_ADDR is not set"},
		{"LOCKSTEP_TIMEOUT", "-3", "LOCKSTEP_TIMEOUT is \"-3\""},
		{"LOCKSTEP_TIMEOUT", "nan", "expected seconds"},
		{"LOCKSTEP_PROFILE", "no-such-profile", "no-such-profile"},
		{"LOCKSTEP_ALGORITHM", "no-such-one", "no-such-one"},
	};
	struct tcp_world world;
	pid_t pid;

	cr_assert(tcp_world_open(&world));
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		pid = tcp_world_start(&world, 1, 2, expect_refusal,
				      settings[i]);
		cr_assert_eq(tcp_status(pid), 0, "%s=%s", settings[i][0],
			     settings[i][1]);
	}
	tcp_world_close(&world);
}

static int join_only(void *arg)
{
	struct dist_message message;
	enum dist_error error;
	struct tcp_rank r;

	(void)arg;
	if (!tcp_join(&r, 2 * SECOND, &error, &message))
		return 1;
	tcp_leave(&r);
	return 0;
}

/* Returns how many of 64 ranks found all others within two seconds. */
static int count_together(void)
{
	struct tcp_world world;
	pid_t pids[64];
	int together = 0;

	cr_assert(tcp_world_open(&world));
	for (int rank = 0; rank < 64; rank++)
		pids[rank] = tcp_world_start(&world, rank, 64, join_only, NULL);
	tcp_world_close(&world);
	for (int rank = 0; rank < 64; rank++)
		together += tcp_status(pids[rank]) == 0;
	return together;
}

/* `make bench` says how long it takes: some 60 ms. A busy machine may be late,
 * but not always. */
Test(rendezvous, brings_64_ranks_together_in_two_seconds)
{
	int together = 0;

	for (int i = 0; i < 5 && together < 64; i++)
		together = count_together();
	cr_assert_eq(together, 64);
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

Test(rendezvous, fails_the_job_with_a_status_of_its_own)
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
