/* socket.h - TCP sockets, non-blocking, closed on exec, without Nagle's delay.
 * Private to realbackend/wire/. */
#ifndef LOCKSTEP_WIRE_SOCKET_H
#define LOCKSTEP_WIRE_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lockstep/dist.h"

struct dist__address {
	struct sockaddr_storage storage;
	socklen_t len;
};

/* Size of a numeric host, a port and a rendezvous's additions, with separators
 * and the final 0. */
#define DIST__ADDRESS_TEXT 72

/* dist__socket_prepare makes fd non-blocking and closed on exec, and turns
 * Nagle's algorithm off. Returns false if the system refuses. */
bool dist__socket_prepare(int fd);

/* Size of the name of a congestion control, with the final 0. */
#define DIST__CONGESTION_TEXT 16

/* dist__socket_congestion stores the name of the congestion control of fd, or
 * of a new socket (-1), the system's default; or "unknown". */
void dist__socket_congestion(int fd, char name[DIST__CONGESTION_TEXT]);

/* Size of the text of dist__socket_limit(), with the final 0. */
#define DIST__LIMIT_TEXT 96

/* dist__socket_limit writes how many files this process may open, and how many
 * rank 0 of world_size ranks, which serves the store, may need: "ulimit -n is
 * 20; 8 ranks want 32". world_size 0: unknown. */
void dist__socket_limit(int world_size, char text[DIST__LIMIT_TEXT]);

/*
 * dist__socket_tune_local prepares fd for peers on this machine: congestion
 * control by loss (CUBIC, or Reno if not every user may set that), because
 * there is no link whose rate a sender should find. Call it before fd connects
 * or is dialled: a control that paces (BBR) starts pacing when the connection
 * is made, and pacing stays when another control replaces it. Accepted sockets
 * inherit from the listener; dist__socket_tune_away restores the system's
 * default, for a peer on another machine. If the system refuses, all works but
 * more slowly.
 */
void dist__socket_tune_local(int fd);
void dist__socket_tune_away(int fd);

/* Size of the text of dist__socket_describe_congestion(), with the final 0. */
#define DIST__CONGESTION_SENTENCE 96

/* dist__socket_describe_congestion writes the congestion control of this
 * process's connections: "congestion control reno within a machine, bbr
 * between". */
void dist__socket_describe_congestion(char text[DIST__CONGESTION_SENTENCE]);

/*
 * dist__socket_keep_alive makes the kernel probe an idle peer: the connection
 * fails after about silence_ns without an answer, at least a second.
 * dist__socket_awaits returns whether the peer has yet to acknowledge data or a
 * probe for room, and stores the time since anything came from it.
 */
void dist__socket_keep_alive(int fd, int64_t silence_ns);
bool dist__socket_awaits(int fd, int64_t *age_ns);

/* dist__socket_cloexec sets or clears close-on-exec. */
bool dist__socket_cloexec(int fd, bool on);

/*
 * dist__socket_listen binds a listening socket to host (a name or a number)
 * and port (0: a free one). If host is no address of this machine, as with
 * address translation, it binds to all addresses. Errors: RENDEZVOUS (port in
 * use, host unknown), IO; see message.
 */
enum dist_error dist__socket_listen(const char *host, int port, int *fd,
				    struct dist_message *message);

/*
 * dist__socket_reserve reserves port (0: a free one) of all addresses of this
 * machine for a program that will listen there with SO_REUSEADDR: while *fd is
 * open, the system assigns the port to no other socket, but a program may bind
 * it by number. Errors, which name host: as dist__socket_listen.
 */
enum dist_error dist__socket_reserve(const char *host, int port, int *fd,
				     struct dist_message *message);

/* dist__socket_listen_at binds to the host of address, on a free port. */
enum dist_error dist__socket_listen_at(const struct dist__address *address,
				       int *fd);

/* dist__socket_can_bind returns whether address belongs to this machine. */
bool dist__socket_can_bind(const struct dist__address *address);

/* dist__socket_is_listening returns whether fd is a listening socket. */
bool dist__socket_is_listening(int fd);

/* dist__socket_accept returns a prepared socket, or -1 with errno. */
int dist__socket_accept(int listener);

/* dist__socket_resolve stores the addresses of host in addresses, at most max,
 * and returns their number; 0: none, message explains. */
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

/* dist__address_is_loopback returns whether only this machine can reach it. */
bool dist__address_is_loopback(const struct dist__address *address);

/* dist__address_same_host returns whether two addresses differ at most in the
 * port. */
bool dist__address_same_host(const struct dist__address *a,
			     const struct dist__address *b);

#endif
