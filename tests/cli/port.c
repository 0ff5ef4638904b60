/*
 * port.c - keeps a port for a test.
 *
 *	port
 *
 * It prints the port's number and stays until nobody can read what it prints
 * any more. Meanwhile the system gives the port to nobody who asks for any, but
 * whoever asks for that one may listen there.
 */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns the port, in the order of this machine; -1: the system refused. */
static int keep(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	/* Without it nobody else could have the port. */
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
	    bind(fd, (struct sockaddr *)&address, len) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return -1;
	return ntohs(address.sin_port);
}

int main(void)
{
	struct pollfd reader = {.fd = STDOUT_FILENO};
	int port = keep();

	if (port < 0) {
		perror("port");
		return 1;
	}
	printf("%d\n", port);
	fflush(stdout);
	/* Nothing is asked for: an error alone ends it. */
	while (poll(&reader, 1, -1) < 0 || !(reader.revents & POLLERR))
		;
	return 0;
}
