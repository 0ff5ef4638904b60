/* transport.h - a transport over TCP, once the ranks know each other's
 * addresses. Private to realbackend/wire/. */
#ifndef LOCKSTEP_WIRE_TRANSPORT_H
#define LOCKSTEP_WIRE_TRANSPORT_H

#include "core/transport.h"
#include "realbackend/wire/socket.h"

/* The result of the rendezvous, for one rank. */
struct dist__endpoint {
	int rank, world_size;
	uint64_t token;                        /* of the job */
	const struct dist__address *addresses; /* by rank; borrowed */
	bool crowded;          /* this machine has more ranks than processors */
	bool shares;           /* memory with the ranks of this machine */
	bool all_share;        /* every rank does, on its machine */
	int64_t keep_alive_ns; /* for a peer to answer; 0: for ever */
	uint64_t unexpected_bytes; /* at most, of messages without a receive;
				      0: no bound */
	const char *secret;        /* of all ranks; copied; NULL: none */

	/* Owned by the transport from then on, also after an error. */
	int listener;
	void *meeting;                /* of the rendezvous; NULL: none */
	void (*leave)(void *meeting); /* frees it */
};

/* dist__tcp_transport_new makes the transport. Errors: NO_MEMORY, IO. */
enum dist_error dist__tcp_transport_new(const struct dist__endpoint *endpoint,
					struct dist__transport **transport);

/* dist__tcp_transport_leave has the peers told that this rank leaves in order:
 * what it has sent reaches them before. Caller: the rank, about to exit without
 * freeing the transport. Does nothing while a thread, which may be the caller,
 * is at work in it. */
void dist__tcp_transport_leave(struct dist__transport *transport);

#endif
