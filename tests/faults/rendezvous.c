/* What can go wrong before the first message, and who knocks at the doors. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/tcp_cases.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)

TestSuite(rendezvous);

/* What a rank expects of attach(). */
struct expectation {
	int64_t timeout_ns;
	enum dist_error error;
	const char *text;
};

static int expect_failure(void *arg)
{
	const struct expectation *wanted = arg;
	struct dist_message message;
	enum dist_error error;
	struct tcp_rank r;

	if (tcp_join(&r, wanted->timeout_ns, &error, &message)) {
		tcp_leave(&r);
		fputs("joined\n", stderr);
		return 1;
	}
	if (error == wanted->error && strstr(message.text, wanted->text))
		return 0;
	fprintf(stderr, "%s: \"%s\"\n", dist_error_string(error), message.text);
	return 1;
}

/* Three ranks, with these numbers, of worlds of these sizes. */
static void expect_everywhere(struct expectation wanted, const int ranks[3],
			      const int sizes[3])
{
	struct tcp_world world;
	pid_t pids[3];

	cr_assert(tcp_world_open(&world));
	for (int i = 0; i < 3; i++)
		pids[i] = tcp_world_start(&world, ranks[i], sizes[i],
					  expect_failure, &wanted);
	tcp_world_close(&world);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(tcp_status(pids[i]), 0);
}

Test(rendezvous, names_who_did_not_come)
{
	expect_everywhere((struct expectation){SECOND / 2, DIST_ERR_RENDEZVOUS,
					       "3 of 4 ranks came; missing: 2"},
			  (int[]){0, 1, 3}, (int[]){4, 4, 4});
}

Test(rendezvous, needs_rank_0)
{
	struct expectation wanted = {SECOND / 5, DIST_ERR_RENDEZVOUS,
				     "has rank 0 come?"};
	struct tcp_world world;
	pid_t pid;

	cr_assert(tcp_world_open(&world));
	pid = tcp_world_start(&world, 1, 2, expect_failure, &wanted);
	cr_assert_eq(tcp_status(pid), 0, "somebody listens, nobody answers");
	tcp_world_close(&world);
	wanted.text = "rank 0 has not come";
	pid = tcp_world_start(&world, 1, 2, expect_failure, &wanted);
	cr_assert_eq(tcp_status(pid), 0, "nobody listens");
}

Test(rendezvous, tells_everyone_of_another_world_size)
{
	expect_everywhere((struct expectation){20 * SECOND, DIST_ERR_RENDEZVOUS,
					       "says the world size is"},
			  (int[]){0, 1, 2}, (int[]){3, 4, 3});
}

Test(rendezvous, tells_everyone_of_a_duplicate)
{
	expect_everywhere(
		(struct expectation){20 * SECOND, DIST_ERR_RENDEZVOUS,
				     "two ranks call themselves rank 1"},
		(int[]){0, 1, 1}, (int[]){3, 3, 3});
}

Test(rendezvous, says_that_the_port_is_taken)
{
	struct expectation wanted = {SECOND, DIST_ERR_RENDEZVOUS, "is taken"};
	struct tcp_world world, other;
	pid_t pid;

	cr_assert(tcp_world_open(&world));
	cr_assert(tcp_world_open(&other));
	/* The listener that rank 0 inherits is not the one of MASTER_PORT. */
	world.port = other.port;
	pid = tcp_world_start(&world, 0, 2, expect_failure, &wanted);
	cr_assert_eq(tcp_status(pid), 0);
	tcp_world_close(&world);
	tcp_world_close(&other);
}

static int expect_refusal(void *arg)
{
	const char *const *setting = arg;
	struct expectation wanted = {0, DIST_ERR_INVALID_ARGUMENT, setting[2]};

	setenv(setting[0], setting[1], 1);
	return expect_failure(&wanted);
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
