/* store_server.h - the store itself, served by a thread of rank 0. Private to
 * realbackend/store/. */
#ifndef LOCKSTEP_STORE_STORE_SERVER_H
#define LOCKSTEP_STORE_STORE_SERVER_H

#include "lockstep/dist.h"

struct dist__store_server;

/* A store of agents: see store_service.h. */
struct dist__store_agents {
	const char *run; /* borrowed */
	int leader;      /* a socket whose other end is the leader's; owned */
};

/* dist__store_server_lead starts the server of a store of agents. */
enum dist_error dist__store_server_lead(int listener,
					const struct dist__store_agents *agents,
					struct dist__store_server **server);

/* dist__store_server_start serves on the listening socket, which it owns, also
 * after an error. Errors: NO_MEMORY, IO. */
enum dist_error dist__store_server_start(int listener,
					 struct dist__store_server **server);

/* dist__store_server_stop disconnects all and frees it. NULL allowed. */
void dist__store_server_stop(struct dist__store_server *server);

#endif
