/* Faults come to a rank by signals: the one that stops it, the one that kills
 * it, and one whose handler, in the rank, breaks a connection under it. */
#define _DEFAULT_SOURCE /* syscall */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/soak/soak.h"

#define MOST_FILES 256

/* What the handler does in the ranks of this process's world. */
static enum soak_fault armed;
static unsigned armed_which;

static bool is_connection(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof address;

	return getpeername(fd, (struct sockaddr *)&address, &len) == 0 &&
	       (address.ss_family == AF_INET || address.ss_family == AF_INET6);
}

static void break_connection(int fd)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

	switch (armed) {
	case SOAK_RESET:
		/* Dissolves the connection: on Linux the peer gets a reset. The
		 * thread sanitizer takes what goes through libc for a new
		 * socket, which other threads use without having been told. */
		(void)syscall(SYS_connect, fd, &nobody, sizeof nobody);
		break;
	case SOAK_SHUT_SEND:
		(void)shutdown(fd, SHUT_WR);
		break;
	case SOAK_SHUT_RECEIVE:
		(void)shutdown(fd, SHUT_RD);
		break;
	default:
		break;
	}
}

/* Calls nothing that a handler may not call. */
static void handle(int number)
{
	int connections[MOST_FILES], count = 0, saved = errno;

	(void)number;
	for (int fd = STDERR_FILENO + 1; fd < MOST_FILES; fd++)
		if (is_connection(fd))
			connections[count++] = fd;
	if (count > 0)
		break_connection(connections[armed_which % (unsigned)count]);
	errno = saved;
}

bool soak_arm(const struct soak_case *c)
{
	/* Not SA_RESTART: what waits in the rank is interrupted. */
	struct sigaction action = {.sa_handler = handle};

	armed = c->fault;
	armed_which = c->which;
	return sigaction(SIGUSR1, &action, NULL) == 0;
}

void soak_strike(const struct soak_case *c, pid_t victim)
{
	switch (c->fault) {
	case SOAK_NOTHING:
		break;
	case SOAK_STALL:
		kill(victim, SIGSTOP);
		soak_pause(c->stall_ns);
		kill(victim, SIGCONT);
		break;
	case SOAK_KILL:
		kill(victim, SIGKILL);
		break;
	case SOAK_SILENCE:
		kill(victim, SIGSTOP);
		break;
	default:
		kill(victim, SIGUSR1);
		break;
	}
}

void soak_pause(int64_t ns)
{
	struct timespec left = {.tv_sec = (time_t)(ns / SOAK_SECOND),
				.tv_nsec = (long)(ns % SOAK_SECOND)};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}
