/* Which congestion control a socket has, and from when on. */

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realbackend/wire/socket.h"
#include "tests/support/okay.h"

static void expect_control(int fd, const char *expected)
{
	char name[DIST__CONGESTION_TEXT] = "";
	socklen_t len = sizeof name - 1;

	cr_assert_eq(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len),
		     0);
	cr_assert_str_eq(name, expected);
}

static int accept_one(int listener)
{
	struct pollfd ready = {.fd = listener, .events = POLLIN};

	cr_assert_eq(poll(&ready, 1, 5000), 1);
	return dist__socket_accept(listener);
}

static void dial(int listener, bool local, int ends[2])
{
	struct dist__address address;
	int error;

	cr_assert(dist__socket_local(listener, &address));
	error = dist__socket_dial(&address, local, &ends[0]);
	cr_assert(error == 0 || error == EINPROGRESS);
	ends[1] = accept_one(listener);
	cr_assert_geq(ends[1], 0);
}

Test(socket, is_tuned_before_the_connection_is_made)
{
	char system[DIST__CONGESTION_TEXT];
	struct dist_message message;
	int listener, ends[2];

	dist__socket_congestion(-1, system);
	cr_assert_str_neq(system, "unknown");
	okay(dist__socket_listen("127.0.0.1", 0, &listener, &message));
	/* What the system would not give. */
	cr_assert_eq(
		setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, "reno", 4),
		0);
	dial(listener, false, ends);
	expect_control(ends[0], system);
	expect_control(ends[1], "reno");
	dist__socket_tune_away(ends[1]);
	expect_control(ends[1], system);
	close(ends[0]);
	close(ends[1]);

	dist__socket_tune_local(listener);
	dist__socket_congestion(listener, system);
	cr_expect_str_eq(system, "cubic");
	dial(listener, true, ends);
	expect_control(ends[0], "cubic");
	expect_control(ends[1], "cubic");
	close(ends[0]);
	close(ends[1]);
	close(listener);
}

/* Whether a user without privileges gets a control by loss, too: 0 yes, 1 no,
 * 2 not to be tried. */
static int try_as_nobody(void)
{
	enum { NOBODY = 65534 };
	char name[DIST__CONGESTION_TEXT];
	int fd;

	if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
		return 2;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	dist__socket_tune_local(fd);
	dist__socket_congestion(fd, name);
	close(fd);
	return strcmp(name, "cubic") != 0 && strcmp(name, "reno") != 0;
}

Test(socket, is_tuned_for_every_user)
{
	int status = 0;
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child == 0)
		_exit(try_as_nobody());
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		cr_skip_test("needs root, to become nobody");
	cr_assert_eq(WEXITSTATUS(status), 0);
}
