/* Who knocks at the doors of a job, and says what: it costs the job nothing. */
#include <criterion/criterion.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "realbackend/store/parcel.h"
#include "realbackend/wire/socket.h"
#include "realbackend/store/store_client.h"
#include "tests/support/stranger.h"
#include "tests/support/tcp_cases.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)
/* Much more than it takes; less than what a stranger has for a request. */
#define PATIENCE (8 * SECOND)

TestSuite(strangers);

enum { RANKS = 4, GARBAGE = 1000, DESCRIPTORS = 320 };

/* ---- what strangers say, and ranks do meanwhile -------------------------- */

/* Says one of several wrong things to a port. */
static int disturb(int port, int i)
{
	static const char hello[] = "LSL1\1\0\0\0\1\0\0\0\1\0\0\0\4\0\0\0"
				    "\xff\xff\xff\xff"
				    "guessing\0\0\0\0\0\0\0";
	static const char *const text[] = {"GET / HTTP/1.1\r\n\r\n", "LSL1",
					   hello, "L", "\xff\xff\xff"};
	static const size_t lens[] = {18, 4, 40, 1, 3};
	int fd = tcp_dial(port);

	if (fd >= 0 && i % 6 < 5)
		(void)!send(fd, text[i % 6], lens[i % 6], MSG_NOSIGNAL);
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

/* With fewer descriptors than there are strangers. */
static int join_and_exchange(void *arg)
{
	struct rlimit limit = {DESCRIPTORS, DESCRIPTORS};
	struct dist_message message;
	enum dist_error error;
	struct tcp_rank r;

	(void)arg;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1;
	if (!tcp_join(&r, PATIENCE, &error, &message)) {
		fprintf(stderr, "%s\n", message.text);
		return 1;
	}
	(void)exchange(&r);
	tcp_leave(&r);
	return r.failures != 0;
}

/* ---- at the port of the rendezvous -------------------------------------- */

/* Allows as many connections as the system lets us have. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		_exit(1);
	limit.rlim_cur = limit.rlim_max;
	(void)!setrlimit(RLIMIT_NOFILE, &limit);
}

/* Calls once(port) again and again, in a process of its own, until it is
 * killed. Returns when it has been called once. */
static pid_t harass(int port, void (*once)(int port))
{
	int pipes[2];
	pid_t pid;
	char byte;

	cr_assert_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		alarm(60);
		raise_limit();
		once(port);
		if (write(pipes[1], "", 1) != 1)
			_exit(1);
		for (;;)
			once(port);
	}
	close(pipes[1]);
	cr_assert_eq(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	return pid;
}

/* Starts ranks, whose exchange must come out right whatever comes. */
static void disturb_by(void (*once)(int port))
{
	struct tcp_world world;
	pid_t pids[RANKS], harasser;

	cr_assert(tcp_world_open(&world));
	harasser = harass(world.port, once);
	for (int rank = 0; rank < RANKS; rank++)
		pids[rank] = tcp_world_start(&world, rank, RANKS,
					     join_and_exchange, NULL);
	tcp_world_close(&world);
	for (int rank = 0; rank < RANKS; rank++)
		cr_assert_eq(tcp_status(pids[rank]), 0, "rank %d", rank);
	cr_assert_eq(kill(harasser, SIGKILL), 0);
	cr_assert_eq(tcp_status(harasser), 128 + SIGKILL, "it ended before");
}

/* A thousand connections that say nothing and stay, longer than the ranks have
 * time for. */
static void keep_silent(int port)
{
	static int fds[GARBAGE];

	for (int i = 0; i < GARBAGE && !fds[i]; i++)
		if ((fds[i] = tcp_dial(port)) < 0)
			_exit(1);
	poll(NULL, 0, 100);
}

/* A thousand connections that say wrong things, or nothing, and stay; then one
 * after the other is replaced. */
static void garble(int port)
{
	static int fds[GARBAGE];
	static int next;

	for (int i = 0; i < GARBAGE && !fds[i]; i++)
		fds[i] = disturb(port, i);
	close(fds[next]);
	fds[next] = disturb(port, next);
	next = (next + 1) % GARBAGE;
}

static void knock_and_run(int port)
{
	int fd = tcp_dial(port);

	if (fd >= 0)
		close(fd);
}

/* A request to join, byte by byte on many connections, never the last one. */
static void speak_slowly(int port)
{
	enum { LINES = 400 };
	static struct dist__parcel parcel;
	static int fds[LINES];
	static size_t said;

	if (said == 0) {
		dist__parcel_init(&parcel, DIST__STORE_JOIN, SECOND);
		for (int i = 0; i < 3; i++)
			dist__parcel_add_text(&parcel, "1");
		for (int i = 0; i < LINES; i++)
			fds[i] = tcp_dial(port);
	}
	if (said + 1 < parcel.len) {
		for (int i = 0; i < LINES; i++)
			(void)!send(fds[i], parcel.data + said, 1,
				    MSG_NOSIGNAL);
		said++;
	}
	poll(NULL, 0, 10);
}

/* Says that 4 GiB follow, and lets as many as are taken at once. */
static void promise_much(int port)
{
	static const char head[] = "LSS1\1\0\0\0"
				   "\0\0\0\0\0\0\0\0\2\0\0\0"
				   "\xff\xff\xff\xff";
	static char zeros[1 << 16];
	int fd = tcp_dial(port);

	if (fd < 0)
		return;
	(void)!send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
	while (send(fd, zeros, sizeof zeros, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
		;
	close(fd);
}

/* Requests that are right, or nearly. */
static void make_requests(int port)
{
	static uint64_t state = 18;

	(void)stranger_talk(&state, port, NULL);
}

Test(strangers, who_speak_our_language_cost_nothing)
{
	disturb_by(make_requests);
}

Test(strangers, by_the_thousand_cost_nothing)
{
	disturb_by(garble);
}

Test(strangers, who_say_nothing_cost_nothing)
{
	disturb_by(keep_silent);
}

Test(strangers, who_scan_ports_cost_nothing)
{
	disturb_by(knock_and_run);
}

Test(strangers, who_are_slow_cost_nothing)
{
	disturb_by(speak_slowly);
}

Test(strangers, who_promise_much_cost_nothing)
{
	disturb_by(promise_much);
}

Test(strangers, cost_nothing_where_there_is_a_secret)
{
	setenv("LOCKSTEP_SECRET", "sesame", 1);
	disturb_by(garble);
	disturb_by(knock_and_run);
	disturb_by(speak_slowly);
	disturb_by(promise_much);
}

/* ---- at the ports of the ranks ------------------------------------------ */

/* Every rank finds strangers at its own data port, before its peers come. */
static int exchange_beside_strangers(void *arg)
{
	enum { STRANGERS = 40 };
	struct tcp_rank r;
	int fds[STRANGERS], found = 0;

	(void)arg;
	if (!tcp_enter(&r))
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

Test(strangers, cost_nothing_at_the_data_ports)
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
