#include "tests/support/tcp_world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realbackend/tcp/socket.h"
#include "tests/support/leaks.h"

bool tcp_world_open(struct tcp_world *world)
{
	struct dist_message message;

	if (dist__socket_listen("127.0.0.1", 0, &world->listener, &message))
		return false;
	world->port = dist__socket_port(world->listener);
	return true;
}

static void set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof text, "%d", number);
	setenv(name, text, 1);
}

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
	if (leaks_found())
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
