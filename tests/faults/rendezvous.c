/* What can go wrong before the first message, and who knocks at the doors. */
#include <criterion/criterion.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realbackend/tcp/clock.h"
#include "realbackend/tcp/socket.h"
#include "tests/support/tcp_cases.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)

TestSuite(rendezvous, .timeout = 60);

/* What a rank expects of attach(). */
struct expectation {
	int64_t timeout_ns;
	enum dist_error error;
	const char *words;
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
	if (error == wanted->error && strstr(message.text, wanted->words))
		return 0;
	fprintf(stderr, "%s: \"%s\"\n", dist_error_string(error), message.text);
	return 1;
}

Test(rendezvous, names_who_did_not_come)
{
	struct expectation wanted = {SECOND / 2, DIST_ERR_RENDEZVOUS,
				     "3 of 4 ranks came; missing: 2"};
	struct tcp_world world;
	pid_t pids[3];

	cr_assert(tcp_world_open(&world));
	for (int i = 0; i < 3; i++)
		pids[i] = tcp_world_start(&world, i == 2 ? 3 : i, 4,
					  expect_failure, &wanted);
	tcp_world_close(&world);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(tcp_status(pids[i]), 0);
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
	wanted.words = "rank 0 has not come";
	pid = tcp_world_start(&world, 1, 2, expect_failure, &wanted);
	cr_assert_eq(tcp_status(pid), 0, "nobody listens");
}

Test(rendezvous, tells_everyone_of_another_world_size)
{
	struct expectation wanted = {20 * SECOND, DIST_ERR_RENDEZVOUS,
				     "says the world size is"};
	struct tcp_world world;
	pid_t pids[3];

	cr_assert(tcp_world_open(&world));
	for (int rank = 0; rank < 3; rank++)
		pids[rank] = tcp_world_start(&world, rank, rank == 1 ? 4 : 3,
					     expect_failure, &wanted);
	tcp_world_close(&world);
	for (int rank = 0; rank < 3; rank++)
		cr_assert_eq(tcp_status(pids[rank]), 0);
}

Test(rendezvous, tells_everyone_of_a_duplicate)
{
	struct expectation wanted = {20 * SECOND, DIST_ERR_RENDEZVOUS,
				     "two ranks call themselves rank 1"};
	struct tcp_world world;
	pid_t pids[3];

	cr_assert(tcp_world_open(&world));
	for (int i = 0; i < 3; i++)
		pids[i] = tcp_world_start(&world, i ? 1 : 0, 3, expect_failure,
					  &wanted);
	tcp_world_close(&world);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(tcp_status(pids[i]), 0);
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

/* ---- strangers ---------------------------------------------------------- */

/* Says one of several wrong things to a port. */
static int disturb(int port, int i)
{
	static const char hello[] = "LSL1\1\0\0\0\1\0\0\0\1\0\0\0\4\0\0\0"
				    "\xff\xff\xff\xff"
				    "guessing\0\0\0\0\0\0\0";
	static const char *const words[] = {"GET / HTTP/1.1\r\n\r\n", "LSL1",
					    hello, "L", "\xff\xff\xff"};
	static const size_t lens[] = {18, 4, 40, 1, 3};
	int fd = tcp_dial(port);

	if (fd >= 0 && i % 6 < 5)
		(void)!send(fd, words[i % 6], lens[i % 6], MSG_NOSIGNAL);
	return fd;
}

static int exchange(struct tcp_rank *r)
{
	int64_t in, out = r->rank;

	for (int peer = 0; peer < r->world_size; peer++) {
		if (peer == r->rank)
			continue;
		tcp_is(r, "send", tcp_send(r, peer, 0, &out, 8, 20 * SECOND),
		       DIST_OK);
	}
	for (int peer = 0; peer < r->world_size; peer++) {
		in = -1;
		if (peer == r->rank)
			continue;
		tcp_is(r, "receive",
		       tcp_receive(r, peer, 0, &in, 8, 20 * SECOND), DIST_OK);
		tcp_is(r, "contents", in, peer);
	}
	return r->failures;
}

static int join_and_exchange(void *arg)
{
	struct dist_message message;
	enum dist_error error;
	struct tcp_rank r;

	(void)arg;
	if (!tcp_join(&r, 20 * SECOND, &error, &message)) {
		fprintf(stderr, "%s\n", message.text);
		return 1;
	}
	(void)exchange(&r);
	tcp_leave(&r);
	return r.failures != 0;
}

Test(rendezvous, works_beside_garbage_at_its_port)
{
	enum { STRANGERS = 60 };
	struct tcp_world world;
	pid_t pids[4];
	int fds[STRANGERS];

	cr_assert(tcp_world_open(&world));
	for (int i = 0; i < STRANGERS / 2; i++)
		fds[i] = disturb(world.port, i);
	for (int rank = 0; rank < 4; rank++)
		pids[rank] = tcp_world_start(&world, rank, 4, join_and_exchange,
					     NULL);
	for (int i = STRANGERS / 2; i < STRANGERS; i++)
		fds[i] = disturb(world.port, i);
	tcp_world_close(&world);
	for (int rank = 0; rank < 4; rank++)
		cr_assert_eq(tcp_status(pids[rank]), 0);
	for (int i = 0; i < STRANGERS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Every rank finds strangers at its own data port, before its peers come. */
static int exchange_beside_strangers(void *arg)
{
	enum { STRANGERS = 40 };
	struct dist_message message;
	enum dist_error error;
	struct tcp_rank r;
	int fds[STRANGERS], found = 0;

	(void)arg;
	if (!tcp_join(&r, 20 * SECOND, &error, &message))
		return 1;
	/* Its port is the one of its listening sockets that is not the
	 * store's. */
	for (int fd = 3; fd < 64 && !found; fd++)
		if (dist__socket_is_listening(fd) &&
		    dist__socket_port(fd) != atoi(getenv("MASTER_PORT")))
			found = dist__socket_port(fd);
	tcp_is(&r, "data port", found != 0, true);
	for (int i = 0; i < STRANGERS; i++)
		fds[i] = disturb(found, i);
	(void)exchange(&r);
	for (int i = 0; i < STRANGERS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	tcp_leave(&r);
	return r.failures != 0;
}

Test(rendezvous, works_beside_garbage_at_the_data_ports)
{
	struct tcp_world world;
	pid_t pids[4];

	cr_assert(tcp_world_open(&world));
	for (int rank = 0; rank < 4; rank++)
		pids[rank] = tcp_world_start(&world, rank, 4,
					     exchange_beside_strangers, NULL);
	tcp_world_close(&world);
	for (int rank = 0; rank < 4; rank++)
		cr_assert_eq(tcp_status(pids[rank]), 0);
}

static int join_only(void *arg)
{
	struct dist_message message;
	enum dist_error error;
	struct tcp_rank r;

	(void)arg;
	if (!tcp_join(&r, 20 * SECOND, &error, &message))
		return 1;
	tcp_leave(&r);
	return 0;
}

Test(rendezvous, brings_64_ranks_together)
{
	struct tcp_world world;
	pid_t pids[64];

	cr_assert(tcp_world_open(&world));
	for (int rank = 0; rank < 64; rank++)
		pids[rank] = tcp_world_start(&world, rank, 64, join_only, NULL);
	tcp_world_close(&world);
	for (int rank = 0; rank < 64; rank++)
		cr_assert_eq(tcp_status(pids[rank]), 0);
}
