#include "tests/support/tcp_world.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realbackend/wire/socket.h"
#include "tests/support/leaks.h"

#define MOST_RANKS 8

bool tcp_world_open_at(struct tcp_world *world, int port)
{
	struct dist_message message;

	if (dist__socket_listen("127.0.0.1", port, &world->listener, &message))
		return false;
	world->port = dist__socket_port(world->listener);
	return true;
}

bool tcp_world_open(struct tcp_world *world)
{
	return tcp_world_open_at(world, 0);
}

int tcp_port_keep(int *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return -1;
	/* By which the one who listens there may do so. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
	    bind(fd, (struct sockaddr *)&address, sizeof address)) {
		close(fd);
		return -1;
	}
	*port = dist__socket_port(fd);
	return fd;
}

static void set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof text, "%d", number);
	setenv(name, text, 1);
}

/* Ranks that say whether they lost memory. */
#define LOOKED_AT 4

pid_t tcp_world_start(const struct tcp_world *world, int rank, int world_size,
		      int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid != 0)
		return pid;
	alarm(60); /* outlives no test that went wrong */
	set_number("RANK", rank);
	set_number("WORLD_SIZE", world_size);
	set_number("MASTER_PORT", world->port);
	setenv("MASTER_ADDR", "127.0.0.1", 1);
	unsetenv("LOCKSTEP_STORE_FD");
	if (rank == 0)
		set_number("LOCKSTEP_STORE_FD", world->listener);
	else
		close(world->listener);
	status = fn(arg);
	/* A look takes a third of a second; the first ranks stand for all. */
	if (rank < LOOKED_AT && leaks_found())
		status = 99;
	fflush(NULL);
	_exit(status);
}

void tcp_world_close(struct tcp_world *world)
{
	close(world->listener);
}

int tcp_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

int tcp_dial(int port)
{
	struct dist__address address;
	char text[DIST__ADDRESS_TEXT];
	int fd;

	snprintf(text, sizeof text, "127.0.0.1 %d", port);
	if (!dist__address_parse(text, &address))
		return -1;
	fd = socket(address.storage.ss_family, SOCK_STREAM, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address.storage,
			       address.len) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int tcp_world_without(int victim, int world_size, int (*fn)(void *arg))
{
	struct tcp_world world;
	pid_t pids[MOST_RANKS];
	int wrong = 0;

	assert(world_size <= MOST_RANKS);
	if (!tcp_world_open(&world))
		return -1;
	for (int rank = 0; rank < world_size; rank++)
		pids[rank] =
			tcp_world_start(&world, rank, world_size, fn, NULL);
	tcp_world_close(&world);
	for (int rank = 0; rank < world_size; rank++)
		if (rank != victim)
			wrong += tcp_status(pids[rank]) != 0;
	kill(pids[victim], SIGKILL);
	return wrong + (tcp_status(pids[victim]) != 128 + SIGKILL);
}
