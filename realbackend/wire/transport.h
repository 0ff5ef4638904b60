/* transport.h - a transport over TCP, once the ranks know each other's
 * addresses. Private to realbackend/wire/. */
#ifndef LOCKSTEP_WIRE_TRANSPORT_H
#define LOCKSTEP_WIRE_TRANSPORT_H

#include "core/transport.h"
#include "realbackend/wire/socket.h"

/* What a rank brings from the rendezvous. */
struct dist__endpoint {
	int rank, world_size;
	uint64_t token;                        /* of the job */
	const struct dist__address *addresses; /* by rank; borrowed */
	bool crowded;   /* more ranks on this machine than processors */
	bool shares;    /* memory with the ranks of this machine */
	bool all_share; /* every rank of the job, with those of its own */
	int64_t keep_alive_ns;     /* for a peer to answer; 0: for ever */
	uint64_t unexpected_bytes; /* of messages that nobody asked for, at
				      most; 0: no bound */
	const char *secret;        /* of all ranks; copied; NULL: none */

	/* Owned by the transport from then on, also when making it fails. */
	int listener;
	void *meeting;                /* what the peers met in; NULL: nothing */
	void (*leave)(void *meeting); /* frees it */
};

/* dist__tcp_transport_new makes the transport. Errors: NO_MEMORY, IO. */
enum dist_error dist__tcp_transport_new(const struct dist__endpoint *endpoint,
					struct dist__transport **transport);

#endif
