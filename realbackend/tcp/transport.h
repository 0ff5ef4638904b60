/* transport.h - a transport over TCP, once the ranks know each other's
 * addresses. Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_TRANSPORT_H
#define LOCKSTEP_TCP_TRANSPORT_H

#include "core/transport.h"
#include "realbackend/tcp/socket.h"

struct dist__store;
struct dist__store_server;

/* What a rank brings from the rendezvous. */
struct dist__endpoint {
	int rank, world_size;
	uint64_t token;                        /* of the job */
	const struct dist__address *addresses; /* by rank; borrowed */
	bool crowded;   /* more ranks on this machine than processors */
	bool shares;    /* memory with the ranks of this machine */
	bool all_share; /* every rank of the job, with those of its own */

	/* Owned by the transport from then on, also when making it fails. */
	int listener;
	struct dist__store *store;         /* may be NULL */
	struct dist__store_server *server; /* may be NULL */
	struct dist_store *file;           /* may be NULL */
};

/* dist__tcp_transport_new makes the transport. Errors: NO_MEMORY, IO. */
enum dist_error dist__tcp_transport_new(const struct dist__endpoint *endpoint,
					struct dist__transport **transport);

#endif
