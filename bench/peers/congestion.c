#define _GNU_SOURCE /* RTLD_NEXT */
/*
 * congestion.c - gives every TCP socket of a process the congestion control
 * that $PEER_CONGESTION names, from its first moment: a control that paces goes
 * on pacing a connection that was made under it. To be preloaded:
 *
 *	PEER_CONGESTION=cubic LD_PRELOAD=.../congestion.so PROGRAM
 *
 * Where the system refuses, the process ends with a line, for its figures would
 * not be what they are called.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int socket(int domain, int type, int protocol)
{
	const char *name = getenv("PEER_CONGESTION");
	int (*system_socket)(int, int, int);
	int fd;

	*(void **)&system_socket = dlsym(RTLD_NEXT, "socket");
	fd = system_socket(domain, type, protocol);
	if (fd < 0 || !name || (domain != AF_INET && domain != AF_INET6) ||
	    (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) != SOCK_STREAM)
		return fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
		       (socklen_t)strlen(name)) != 0) {
		fprintf(stderr, "no congestion control %s: %s\n", name,
			strerror(errno));
		_exit(3);
	}
	return fd;
}
