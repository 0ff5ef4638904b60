/* store_server.h - the store itself, served by a thread of rank 0. Private to
 * realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_STORE_SERVER_H
#define LOCKSTEP_TCP_STORE_SERVER_H

#include "lockstep/dist.h"

struct dist__store_server;

/* dist__store_server_start serves on the listening socket, which it owns from
 * then on, also on failure. Errors: NO_MEMORY, IO. */
enum dist_error dist__store_server_start(int listener,
					 struct dist__store_server **server);

/* dist__store_server_stop hangs up on everyone and frees it. NULL allowed. */
void dist__store_server_stop(struct dist__store_server *server);

#endif
