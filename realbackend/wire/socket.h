/* socket.h - TCP sockets as this folder wants them: non-blocking, closed on
 * exec, without Nagle's delay. Private to realbackend/wire/. */
#ifndef LOCKSTEP_WIRE_SOCKET_H
#define LOCKSTEP_WIRE_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lockstep/dist.h"

struct dist__address {
	struct sockaddr_storage storage;
	socklen_t len;
};

/* Room for a numeric host, a port and the little that a rendezvous adds, with
 * separators and the final 0. */
#define DIST__ADDRESS_TEXT 72

/* dist__socket_prepare makes fd non-blocking and closed on exec, and switches
 * Nagle's algorithm off. Returns false when the system refuses. */
bool dist__socket_prepare(int fd);

/* Room for the name of a congestion control, with the final 0. */
#define DIST__CONGESTION_TEXT 16

/* dist__socket_congestion stores the name of the congestion control of fd, or
 * of a new socket (-1) as the system gives it; or "unknown". */
void dist__socket_congestion(int fd, char name[DIST__CONGESTION_TEXT]);

/* Room for what dist__socket_limit() says, with the final 0. */
#define DIST__LIMIT_TEXT 96

/* dist__socket_limit says how many files this process may open, and how many
 * rank 0 of world_size ranks, which serves the store, may want: "ulimit -n is
 * 20; 8 ranks want 32". world_size 0: unknown. */
void dist__socket_limit(int world_size, char text[DIST__LIMIT_TEXT]);

/*
 * dist__socket_tune_local prepares fd for peers on this machine: congestion
 * control by loss (CUBIC; Reno where that is not for every user), for there is
 * no link whose rate a sender should find and pace by. To be called before fd
 * connects or is dialled: a control that paces (BBR) begins to when the
 * connection is made, and the pacing stays when another takes its place. What a
 * listener accepts is as the listener; dist__socket_tune_away makes it as the
 * system has it, for a peer on another machine. Where the system refuses, all
 * works but more slowly.
 */
void dist__socket_tune_local(int fd);
void dist__socket_tune_away(int fd);

/* Room for what dist__socket_describe_congestion() says, with the final 0. */
#define DIST__CONGESTION_SENTENCE 96

/* dist__socket_describe_congestion says which congestion control connections of
 * this process get: "congestion control reno within a machine, bbr between". */
void dist__socket_describe_congestion(char text[DIST__CONGESTION_SENTENCE]);

/*
 * dist__socket_keep_alive has the kernel ask an idle peer whether it is there:
 * the connection fails after about so long without an answer, a second or more.
 * dist__socket_awaits returns whether the peer owes us an answer to something
 * that was sent, or to a question whether it has room, and stores how long ago
 * anything came from it.
 */
void dist__socket_keep_alive(int fd, int64_t silence_ns);
bool dist__socket_awaits(int fd, int64_t *age_ns);

/* dist__socket_cloexec sets or clears close-on-exec. */
bool dist__socket_cloexec(int fd, bool on);

/*
 * dist__socket_listen binds a listening socket to host (a name or a number)
 * and port (0: a free one). A host that is not an address of this machine, as
 * behind address translation, means every address of it. Errors: RENDEZVOUS
 * (port taken, host unknown), IO; message says which.
 */
enum dist_error dist__socket_listen(const char *host, int port, int *fd,
				    struct dist_message *message);

/*
 * dist__socket_reserve keeps port (0: a free one) of all addresses of this
 * machine for a program that will listen there, with SO_REUSEADDR: as long as
 * *fd is open, nobody else is given the port, and whoever asks for it by number
 * gets it. Errors, which name host: as dist__socket_listen.
 */
enum dist_error dist__socket_reserve(const char *host, int port, int *fd,
				     struct dist_message *message);

/* dist__socket_listen_at binds to the host of address, on a free port. */
enum dist_error dist__socket_listen_at(const struct dist__address *address,
				       int *fd);

/* dist__socket_can_bind returns whether address is one of this machine. */
bool dist__socket_can_bind(const struct dist__address *address);

/* dist__socket_is_listening returns whether fd is a listening socket. */
bool dist__socket_is_listening(int fd);

/* dist__socket_accept returns a prepared socket, or -1 with errno. */
int dist__socket_accept(int listener);

/* dist__socket_resolve stores the addresses of host in addresses (room for
 * max) and returns their number; 0: none, message says why. */
int dist__socket_resolve(const char *host, int port,
			 struct dist__address *addresses, int max,
			 struct dist_message *message);

/* dist__socket_dial begins to connect; local: tuned for this machine. Returns 0
 * (connected), EINPROGRESS, or another errno, and then *fd is -1. */
int dist__socket_dial(const struct dist__address *address, bool local, int *fd);

/* dist__socket_error returns and clears the error of a connect in progress. */
int dist__socket_error(int fd);

/* dist__socket_local stores fd's own address. */
bool dist__socket_local(int fd, struct dist__address *address);

/* dist__socket_port returns the port fd is bound to, 0 if none. */
int dist__socket_port(int fd);

/* dist__address_format writes "host<separator>port", numeric. */
void dist__address_format(const struct dist__address *address, char separator,
			  char text[DIST__ADDRESS_TEXT]);

/* dist__address_parse reads what dist__address_format() wrote with ' '. */
bool dist__address_parse(const char *text, struct dist__address *address);

/* dist__address_is_loopback returns whether only this machine reaches it. */
bool dist__address_is_loopback(const struct dist__address *address);

/* dist__address_same_host returns whether two addresses differ in the port at
 * most. */
bool dist__address_same_host(const struct dist__address *a,
			     const struct dist__address *b);

#endif
