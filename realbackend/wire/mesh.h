/*
 * mesh.h - the state of the transport: peers, connections, requests, and the
 * one mutex that guards them all.
 *
 * Each pair of ranks has one connection, made at its first use by either side:
 *
 *	IDLE --dial--> DIALING --WELCOME--> OPEN --BYE--> LEFT
 *	               DIALING --REFUSED--> CROSSED --HELLO--> OPEN
 *	IDLE --HELLO--> OPEN                any --EOF, reset--> LOST
 *
 * If both dial at once, the lower rank's connection wins: the lower refuses the
 * other's HELLO, the higher gives up its own attempt. No data was sent on the
 * loser, because data waits for WELCOME. A peer on this machine stays DIALING
 * from WELCOME to ANSWER, on both sides.
 *
 * All functions are called with the mutex held, or by the only thread that
 * exists, unless said otherwise.
 * Private to realbackend/wire/.
 */
#ifndef LOCKSTEP_WIRE_MESH_H
#define LOCKSTEP_WIRE_MESH_H

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/transport.h"
#include "realbackend/wire/frame.h"
#include "realbackend/wire/secret.h"
#include "realbackend/wire/shared.h"
#include "realbackend/wire/socket.h"

/* Up to this length a payload is sent in one piece with its frame. */
#define DIST__SHORT_BYTES 64

enum dist__request_kind {
	DIST__REQUEST_SEND,
	DIST__REQUEST_RECEIVE,
	DIST__REQUEST_CONTROL /* a frame of ours that no thread waits for */
};

struct dist__request {
	struct dist__request *next; /* in a queue of its peer, or any */
	struct dist__message m;     /* peer: of the match, once matched */
	uint64_t number;            /* receives: in the order posted */
	enum dist__request_kind kind;
	enum dist_error error;
	bool complete;
	bool counted;   /* in mesh->detached */
	bool awaited;   /* a thread sleeps until it is complete */
	bool lent;      /* sends: the peer reads the payload from here */
	int cell;       /* for its cost (pace.h); -1: not measured */
	size_t written; /* sends: bytes of header and payload written */
	size_t head;    /* length of header: */
	/* the frame, and then a lent payload's address or a short payload. */
	unsigned char header[DIST__FRAME_BYTES + DIST__SHORT_BYTES];
};

/* dist__frame_of returns the header of m. */
static inline struct dist__frame dist__frame_of(const struct dist__message *m,
						enum dist__frame_kind kind)
{
	return (struct dist__frame){.kind = kind,
				    .group = m->group,
				    .seq = m->seq,
				    .step = m->step,
				    .tag = m->tag,
				    .fingerprint = m->fingerprint,
				    .bytes = m->bytes};
}

struct dist__queue {
	struct dist__request *first;
	struct dist__request **end;
};

/* A message that arrived, or is arriving, before its receive was posted. */
struct dist__unexpected {
	struct dist__unexpected *next;
	uint64_t number; /* of all that arrived, in order */
	struct dist__frame frame;
	struct dist__request *receiver; /* posted since; gets the copy */
	bool complete;
	alignas(max_align_t) unsigned char data[];
};

enum dist__peer_state {
	DIST__PEER_IDLE,
	DIST__PEER_DIALING,
	DIST__PEER_CROSSED, /* refused: the peer is dialling us */
	DIST__PEER_OPEN,
	DIST__PEER_LEFT, /* sent BYE */
	DIST__PEER_LOST
};

struct dist__peer {
	int rank;
	enum dist__peer_state state;
	bool met;              /* it has been OPEN */
	enum dist_error error; /* LEFT, LOST: the error of its requests */
	struct dist__address address;
	struct dist__connection *connection; /* DIALING, OPEN */
	int64_t redial_ns;                   /* CROSSED */
	struct dist__queue sends;
	struct dist__queue lent;             /* sends that the peer reads */
	struct dist__queue receives;         /* posted, not matched */
	struct dist__unexpected *unexpected; /* oldest first */
	struct dist__unexpected **unexpected_end;
	uint32_t *left_groups; /* groups it aborted */
	size_t num_left_groups;
};

enum dist__connection_state {
	DIST__CONNECTING, /* dialled, not connected yet */
	DIST__GREETING,   /* HELLO sent, or WELCOME and OFFER */
	DIST__STRANGER,   /* accepted, before HELLO or PROOF */
	DIST__CONNECTED,
	DIST__DEAD /* shut down; closed when no thread polls it */
};

/* So large that a small message needs one system call, so small that the copy
 * out of it does not matter for a large one. */
#define DIST__READ_BUFFER 8192

struct dist__connection {
	int fd;
	enum dist__connection_state state;
	struct dist__peer *peer;  /* NULL: stranger */
	int64_t deadline_ns;      /* of a stranger's HELLO and PROOF */
	bool challenged;          /* stranger: claim is set, PROOF is due */
	struct dist__claim claim; /* with a secret: until CONNECTED */
	uint32_t awaits;          /* GREETING after WELCOME: OFFER, ANSWER */

	/* Once CONNECTED: carries the bytes instead of fd, on which only the
	 * bell and the end then come; NULL: fd carries them. Owned. */
	struct dist__shared *shared;
	bool hung_up; /* the end of fd has come */

	bool watched;           /* the peer is on another machine; pulse.c */
	int64_t quiet_since_ns; /* it owes an answer; 0: it does not */

	/* The frame whose payload is arriving; payload_left > 0. */
	struct dist__frame frame;
	size_t payload_left;
	unsigned char *sink;  /* where the next byte goes; NULL: dropped */
	unsigned char *stage; /* for elements to combine; owned; or NULL */
	uint64_t remote;      /* LENT: the peer's address of it; else 0 */
	struct dist__request *receive;
	struct dist__unexpected *message;

	/* frame has come, but its receive is not posted: reading stops until
	 * it is, or until this time. 0: not held. */
	int64_t held_until_ns;

	size_t end; /* unprocessed bytes in buffer */
	unsigned char buffer[DIST__READ_BUFFER];
};

/* This rank's state of a group. */
struct dist__group_state {
	uint32_t id;
	bool begun;           /* seq and fingerprint are valid */
	bool mismatch;        /* a peer disagrees about this seq */
	uint32_t seq;         /* of the current or last collective */
	uint64_t fingerprint; /* of that collective */
	bool aborted; /* not next to fields that each call writes: a load of
			 both would wait for that store */
};

struct dist__mesh {
	pthread_mutex_t mutex;
	bool alone; /* the only thread is in here, without the mutex */
	int rank, world_size;
	uint64_t token; /* of the job: strangers do not know it */
	char *secret;   /* that peers must know; NULL: none; owned */
	bool shares;    /* memory with peers on this machine */
	bool crowded;   /* this machine has more ranks than processors */
	int listener;
	int64_t accept_ns; /* no accept() before: no descriptors left */
	struct dist__peer *peers;
	struct dist__connection **connections; /* every one with an fd */
	size_t num_connections;
	size_t num_strangers;
	size_t num_crossed;
	size_t num_held;       /* connections */
	int64_t keep_alive_ns; /* for a peer to answer; 0: for ever */
	int64_t pulse_ns;      /* next check for silent peers; NEVER */
	bool stale;            /* the polled set has changed since */
	bool stuck;            /* a neighbour's ring may have been full */
	struct dist__group_state *groups;
	size_t num_groups;
	size_t num_unexpected;
	uint64_t unexpected_bytes; /* of their payloads, */
	uint64_t unexpected_most;  /* at most; 0: no bound */
	void *spare_stage; /* NULL: a connection has it, or none was needed */
	struct dist__queue any_receives; /* from any source, not matched */
	uint64_t receives_posted, messages_come;

	/* The system's first refusal; written once. */
	char text[DIST__LIMIT_TEXT + 96];

	/* progress.c's */
	struct dist__progress *progress;
	const struct dist__request *awaited; /* by the leader; NULL: none */
	size_t detached;      /* incomplete requests with tag >= 0 */
	uint64_t completions; /* number of completed requests */
	uint64_t moved;       /* bytes read and written */

	/* Threads that wait and do not lead (progress.c): followers, and those
	 * that wait for what may come at any time. */
	pthread_cond_t announced, idle;
};

/* ---- request.c: life of a request, queues ------------------------------- */

void dist__queue_init(struct dist__queue *queue);
void dist__queue_append(struct dist__queue *queue,
			struct dist__request *request);
/* dist__queue_remove takes request out; false: it is not in the queue. */
bool dist__queue_remove(struct dist__queue *queue,
			struct dist__request *request);

/* dist__request_complete ends request; one of kind CONTROL is freed. */
void dist__request_complete(struct dist__mesh *mesh,
			    struct dist__request *request,
			    enum dist_error error);

/* dist__request_control queues a frame of ours to peer; no memory: false. */
bool dist__request_control(struct dist__peer *peer, enum dist__frame_kind kind,
			   uint32_t group);

/* ---- matching.c: posted receives and arriving frames -------------------- */

/* dist__matching_init prepares peer for messages without a receive. */
void dist__matching_init(struct dist__peer *peer);

/* dist__matching_group returns the state of a group, a new one at its first
 * use; NULL: no memory. Valid until the next call. */
struct dist__group_state *dist__matching_group(struct dist__mesh *mesh,
					       uint32_t id);

/* dist__matching_enter notes that this rank is in collective m, and compares m
 * with what the peers have sent already. NULL: no memory. */
struct dist__group_state *dist__matching_enter(struct dist__mesh *mesh,
					       const struct dist__message *m);

/* dist__peer_refuses returns the error of a new request of group to peer, OK if
 * possible; never ABORTED. */
enum dist_error dist__peer_refuses(const struct dist__peer *peer,
				   uint32_t group);

/* dist__matching_post posts a receive; true: it waits for a message that has
 * not come, and whoever posts it sees to it that one can. */
bool dist__matching_post(struct dist__mesh *mesh,
			 struct dist__request *request);

/* dist__matching_hold_ns returns how long to wait for the receive of
 * connection->frame before its payload is stored elsewhere: 0, unless the
 * payload is long and nothing else is expected from that peer. */
int64_t dist__matching_hold_ns(struct dist__mesh *mesh,
			       struct dist__connection *connection);

/* dist__matching_begin decides where to store the payload of connection->frame.
 * false: no memory. */
bool dist__matching_begin(struct dist__mesh *mesh,
			  struct dist__connection *connection);

/* dist__matching_end is called when the payload is complete. */
void dist__matching_end(struct dist__mesh *mesh,
			struct dist__connection *connection);

/* dist__matching_withdraw cancels an incomplete receive: its memory is not used
 * any more. */
void dist__matching_withdraw(struct dist__mesh *mesh,
			     struct dist__request *request);

/* dist__matching_any_lost fails the receives from any source that cannot end: a
 * source is LOST or has aborted the group, or all are gone. A peer that could
 * not be reached may have left in order before: it counts as gone, not as lost.
 * Call it after every such change. */
void dist__matching_any_lost(struct dist__mesh *mesh);

/* dist__matching_cut drops what was arriving on connection. */
void dist__matching_cut(struct dist__mesh *mesh,
			struct dist__connection *connection);

/* dist__matching_untaken returns whether messages came of collectives in which
 * this rank never took part, and whose senders did not give up. */
bool dist__matching_untaken(const struct dist__mesh *mesh);

/* dist__matching_free frees messages not received, and the spare stage. */
void dist__matching_free(struct dist__mesh *mesh);

/* ---- sink.c: where a payload is stored ---------------------------------- */

/* dist__sink_open directs the payload of connection->frame to receive; false:
 * no memory. dist__sink_close ends that; the caller handles the receive.
 */
bool dist__sink_open(struct dist__mesh *mesh,
		     struct dist__connection *connection,
		     struct dist__request *receive);
void dist__sink_close(struct dist__mesh *mesh,
		      struct dist__connection *connection);

/* dist__sink_room returns how many bytes of the payload may now be stored at
 * connection->sink, if not NULL; dist__sink_advance accounts for bytes that
 * were. */
size_t dist__sink_room(const struct dist__connection *connection);
void dist__sink_advance(struct dist__connection *connection, size_t bytes);

/* dist__sink_put stores the payload's part of the len bytes at come, and
 * returns its length. */
size_t dist__sink_put(struct dist__connection *connection,
		      const unsigned char *come, size_t len);

/* dist__sink_pour stores a complete payload, at come, where receive m wants it;
 * false: come is not aligned for the elements. */
bool dist__sink_pour(const struct dist__message *m, const unsigned char *come);

/* dist__sink_fill stores a complete payload, which it may overwrite, where
 * receive m wants it. */
void dist__sink_fill(const struct dist__message *m, void *payload);

/* ---- failure.c: lost peers, aborted groups ------------------------------ */

/* dist__peer_end makes peer LEFT or LOST and fails all its requests. */
void dist__peer_end(struct dist__mesh *mesh, struct dist__peer *peer,
		    enum dist__peer_state state, enum dist_error error);

/* dist__peer_leave_group handles a peer's ABORT: its requests of group fail. */
void dist__peer_leave_group(struct dist__mesh *mesh, struct dist__peer *peer,
			    uint32_t group);

/* dist__mesh_abort fails all requests of group and queues ABORT to the peers.
 */
void dist__mesh_abort(struct dist__mesh *mesh, uint32_t group);

/* dist__request_withdraw cancels an incomplete request. */
void dist__request_withdraw(struct dist__mesh *mesh,
			    struct dist__request *request);

/* ---- connections.c: their life ------------------------------------------ */

/* dist__connection_new adds fd to the mesh, which owns it; NULL: no memory, fd
 * is closed. */
struct dist__connection *dist__connection_new(struct dist__mesh *mesh, int fd,
					      enum dist__connection_state state,
					      struct dist__peer *peer);

/* dist__connection_kill shuts it down; it is freed by the next reap. */
void dist__connection_kill(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__connections_reap closes and frees the dead. No thread may poll. */
void dist__connections_reap(struct dist__mesh *mesh);

/* ---- lend.c: payloads that a neighbour reads where they lie -------------- */

/* dist__connection_shares returns whether the bytes go through memory. */
static inline bool
dist__connection_shares(const struct dist__connection *connection)
{
	return connection->shared && connection->state == DIST__CONNECTED;
}

/* dist__lend makes a send that has not begun a lent one, if that is
 * faster. */
void dist__lend(const struct dist__mesh *mesh,
		const struct dist__connection *connection,
		struct dist__request *request);

/* dist__lend_fetch reads the next bytes of a lent payload, at most `most`,
 * to where they are wanted, and stores how many. false: the peer is gone, or
 * has recalled the payload. */
bool dist__lend_fetch(const struct dist__connection *connection, size_t most,
		      size_t *fetched);

/* dist__lend_say_taken says at once that the peer may use its memory again;
 * false: there is no room. */
bool dist__lend_say_taken(struct dist__mesh *mesh, struct dist__peer *peer);

/* dist__lend_taken handles TAKEN: it ends the oldest lent send. false:
 * there is none. */
bool dist__lend_taken(struct dist__mesh *mesh, struct dist__peer *peer);

/* ---- connection.c: bytes of one connection ------------------------------ */

/* dist__connection_greet sends a frame of the handshake at once, with extra
 * (DIST__FRAME_EXTRA bytes; NULL: none): a new socket has room for it. false:
 * the connection is broken. */
bool dist__connection_greet(const struct dist__mesh *mesh,
			    struct dist__connection *connection,
			    enum dist__frame_kind kind,
			    const unsigned char *extra);

/* dist__connection_say sends any frame without payload in the same way. */
bool dist__connection_say(struct dist__connection *connection,
			  const struct dist__frame *frame);

/* dist__connection_greeted reads a connection that is not CONNECTED yet. true:
 * a frame of the handshake is in connection->frame, and what follows it in
 * extra (DIST__FRAME_EXTRA bytes). false: there is none now, or the connection
 * is CONNECTED, and what came behind the handshake has been handled. */
bool dist__connection_greeted(struct dist__mesh *mesh,
			      struct dist__connection *connection,
			      unsigned char *extra);

/* dist__connection_read reads what has arrived, up to a bound, so that other
 * connections are served, too. */
void dist__connection_read(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__connection_resume continues a held connection, if it is held. */
void dist__connection_resume(struct dist__mesh *mesh,
			     struct dist__connection *connection);

/* dist__connection_timeouts resumes connections held long enough; call it when
 * the clock passes dist__connection_timer(). */
void dist__connection_timeouts(struct dist__mesh *mesh, int64_t now_ns);
int64_t dist__connection_timer(const struct dist__mesh *mesh);

/* dist__connection_write writes the peer's queue as far as the socket has room,
 * up to a bound. */
void dist__connection_write(struct dist__mesh *mesh,
			    struct dist__connection *connection);

/* ---- pulse.c: silent peers on other machines ---------------------------- */

/* dist__pulse_begin watches a connection that opens. dist__pulse_check, called
 * when the clock passes mesh->pulse_ns, makes peers LOST that have owed an
 * answer for about mesh->keep_alive_ns. */
void dist__pulse_begin(struct dist__mesh *mesh,
		       struct dist__connection *connection);
void dist__pulse_check(struct dist__mesh *mesh, int64_t now_ns);

/* ---- neighbour.c: connections through memory ---------------------------- */

/* dist__is_neighbour returns whether peer is on this machine, judged by
 * addresses. */
bool dist__is_neighbour(const struct dist__mesh *mesh,
			const struct dist__peer *peer);

/* dist__neighbour_offer continues after we sent WELCOME: a neighbour gets an
 * offer, even an empty one, because it waits for it. true: the peer is none,
 * and the connection may open. */
bool dist__neighbour_offer(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__neighbour_agree handles the frame that connection awaits; true: the
 * connection may open. */
bool dist__neighbour_agree(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__connection_bell reads the socket of a connection that shares memory. */
void dist__connection_bell(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__neighbours_serve reads what neighbours have put into memory, and writes
 * where they made room. */
void dist__neighbours_serve(struct dist__mesh *mesh);

/* dist__neighbours_write continues writes that were stuck, where there is room.
 */
void dist__neighbours_write(struct dist__mesh *mesh);

/* dist__neighbours_sleep, before a thread blocks, asks neighbours for the bell;
 * false: there is something to serve already. dist__neighbours_wake cancels. */
bool dist__neighbours_sleep(const struct dist__mesh *mesh);
void dist__neighbours_wake(const struct dist__mesh *mesh);

/* ---- quick.c: short messages through memory ----------------------------- */

/* Maximum of messages that can be received together. */
#define DIST__QUICK_MOST 64

/*
 * dist__quick_send sends m, of a collective, at once; false: nothing was done,
 * m needs a request. dist__quick_receive receives those of n messages, 1 to
 * DIST__QUICK_MOST, that are there or come within a moment, and returns the
 * others, which need a request each: bit i is messages[i].
 */
bool dist__quick_send(struct dist__mesh *mesh, const struct dist__message *m);
uint64_t dist__quick_receive(struct dist__mesh *mesh,
			     const struct dist__message *messages, int n);

/* ---- handshake.c: making connections ------------------------------------ */

/* dist__handshake_dial begins to connect to an IDLE peer. */
void dist__handshake_dial(struct dist__mesh *mesh, struct dist__peer *peer);

/* dist__handshake_timeouts drops silent strangers and dials again peers that
 * refused us but did not connect; call it when the clock passes
 * dist__handshake_timer(). */
void dist__handshake_timeouts(struct dist__mesh *mesh, int64_t now_ns);
int64_t dist__handshake_timer(const struct dist__mesh *mesh);

/* dist__handshake_accept accepts all waiting connections. */
void dist__handshake_accept(struct dist__mesh *mesh);
bool dist__handshake_accepts(const struct dist__mesh *mesh, int64_t now_ns);

/* dist__handshake_read reads and answers what has come on a connection before
 * it is CONNECTED, and what of messages came with that. */
void dist__handshake_read(struct dist__mesh *mesh,
			  struct dist__connection *connection);

/* dist__handshake_connected handles a CONNECTING socket that poll() reported.
 */
void dist__handshake_connected(struct dist__mesh *mesh,
			       struct dist__connection *connection);

#endif
