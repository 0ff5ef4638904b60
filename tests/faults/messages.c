/*
 * Messages of the program gone wrong over real TCP: the ranks get an error in
 * time, and the job the verdict that the simulator gives.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <signal.h>
#include <string.h>

#include "lockstep/dist.h"

TestSuite(messages, .timeout = 200);

static int launch(int world_size, int (*program)(void *), void *arg)
{
	struct dist_launch_options options = {
		.backend = "tcp",
		.world_size = world_size,
		.timeout_ns = (int64_t)2 * 1000000000,
	};

	return dist_launch(&options, program, arg);
}

static void expect_words(const char *words)
{
	char text[4096];
	FILE *err = cr_get_redirected_stderr();
	size_t n;

	fflush(stderr);
	n = fread(text, 1, sizeof text - 1, err);
	text[n] = '\0';
	cr_expect(strstr(text, words), "\"%s\" is not in:\n%s", words, text);
}

static struct dist_group *join(void)
{
	struct dist_group *group;

	return dist_init_process_group(NULL, &group) ? NULL : group;
}

/* Rank 0 hears the two others once, and then waits for a message that nobody is
 * left to send. */
static int one_too_many(void *arg)
{
	struct dist_group *group = join();
	enum dist_error error = DIST_OK;
	int src, word = 1;
	struct dist_tensor t = dist_tensor(&word, 1, DIST_INT32);

	(void)arg;
	if (!group)
		return 2;
	if (dist_get_rank(group) > 0)
		error = dist_send(group, t, 0, 1);
	for (int i = 0; dist_get_rank(group) == 0 && i < 3 && !error; i++)
		error = dist_recv_any(group, t, 1, &src);
	/* The others stay, or they would be lost rather than awaited. */
	if (!error)
		error = dist_barrier(group, NULL);
	return dist_destroy_process_group(group) || error;
}

Test(messages, one_too_many_awaited_from_anybody_is_a_deadlock)
{
	cr_redirect_stderr();
	cr_assert_eq(launch(3, one_too_many, NULL), DIST_EXIT_DEADLOCK);
	expect_words("for one of ranks 1-2 (2), of which rank 1 waits in "
		     "barrier");
}

/* Rank 1 is late with what rank 0 awaits from anybody; rank 2 waits. */
static int late(void *arg)
{
	struct dist_group *group = join();
	enum dist_error error = DIST_OK;
	int src, word = 1;
	struct dist_tensor t = dist_tensor(&word, 1, DIST_INT32);

	(void)arg;
	if (!group)
		return 2;
	if (dist_get_rank(group) == 0)
		error = dist_recv_any(group, t, 1, &src);
	if (dist_get_rank(group) == 1)
		error = dist_compute(group, (int64_t)5 * 1000000000, NULL);
	if (!error)
		error = dist_barrier(group, NULL);
	return dist_destroy_process_group(group) || error;
}

Test(messages, one_sender_that_is_late_makes_it_a_timeout)
{
	cr_redirect_stderr();
	cr_assert_eq(launch(3, late, NULL), DIST_EXIT_TIMEOUT);
	expect_words("rank 1 runs in its own code");
}

/* Rank 2 dies while the others wait for anybody. */
static int die(void *arg)
{
	struct dist_group *group = join();
	enum dist_error error = DIST_OK;
	int src, word = 1;
	struct dist_tensor t = dist_tensor(&word, 1, DIST_INT32);

	(void)arg;
	if (!group)
		return 2;
	if (dist_barrier(group, NULL))
		return 2;
	if (dist_get_rank(group) == 2)
		raise(SIGKILL);
	error = dist_recv_any(group, t, 1, &src);
	return dist_destroy_process_group(group) || error;
}

Test(messages, a_killed_rank_is_the_verdict)
{
	cr_redirect_stderr();
	cr_assert_eq(launch(4, die, NULL), DIST_EXIT_RANK_LOST);
	expect_words("rank 2 was killed by signal 9");
}

/* What comes from rank 1 is of another type than rank 0 awaits. */
static int other_type(void *arg)
{
	bool any = *(bool *)arg;
	struct dist_group *group = join();
	enum dist_error error = DIST_OK;
	int word = 1;

	if (!group)
		return 2;
	if (dist_get_rank(group) == 0)
		error = dist_recv(group, dist_tensor(&word, 1, DIST_FLOAT32),
				  any ? DIST_ANY_SOURCE : 1, 1);
	else
		error = dist_send(group, dist_tensor(&word, 1, DIST_INT32), 0,
				  1);
	if (!error)
		error = dist_barrier(group, NULL);
	return dist_destroy_process_group(group) || error;
}

static void expect_mismatch(bool any)
{
	cr_redirect_stderr();
	cr_assert_eq(launch(2, other_type, &any), DIST_EXIT_MISMATCH);
	expect_words("rank 1 called send(dst 0, tag 1, int32, 1)");
}

Test(messages, another_type_is_a_mismatch)
{
	expect_mismatch(false);
}

Test(messages, another_type_is_a_mismatch_from_any_source)
{
	expect_mismatch(true);
}

/* Buffered: both send first, more than the sockets hold. */
static int both_send(void *arg)
{
	enum { LONG = 32 << 20 };
	static char data[2][LONG];
	struct dist_group *group = join();
	int peer;
	enum dist_error error;

	(void)arg;
	if (!group)
		return 2;
	peer = 1 - dist_get_rank(group);
	memset(data[0], dist_get_rank(group) + 1, LONG);
	error = dist_send(group, dist_tensor(data[0], LONG, DIST_INT8), peer,
			  0);
	if (!error)
		error = dist_recv(group, dist_tensor(data[1], LONG, DIST_INT8),
				  peer, 0);
	if (data[1][LONG - 1] != peer + 1)
		return 3;
	return dist_destroy_process_group(group) || error;
}

Test(messages, both_send_first_is_fine)
{
	cr_assert_eq(launch(2, both_send, NULL), DIST_EXIT_OK);
}
