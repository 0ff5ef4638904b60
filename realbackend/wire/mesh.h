/*
 * mesh.h - what the transport is made of: peers, connections, requests, and
 * the one mutex that guards them all.
 *
 * One connection a pair of ranks, made at its first use by either side:
 *
 *	IDLE --dial--> DIALING --WELCOME--> OPEN --BYE--> LEFT
 *	               DIALING --REFUSED--> CROSSED --HELLO--> OPEN
 *	IDLE --HELLO--> OPEN                any --EOF, reset--> LOST
 *
 * When both dial at once, the connection dialled by the lower rank wins: the
 * lower refuses the other's HELLO, the higher gives its own attempt up. No data
 * has been sent on the loser, because data waits for WELCOME. A peer of this
 * machine stays DIALING from WELCOME to ANSWER, at either end.
 *
 * Everything here is called with the mutex held, or by the only thread there
 * is, unless it says otherwise.
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

/* A payload so short goes with its frame, in one piece. */
#define DIST__SHORT_BYTES 64

enum dist__request_kind {
	DIST__REQUEST_SEND,
	DIST__REQUEST_RECEIVE,
	DIST__REQUEST_CONTROL /* a frame of ours that nobody waits for */
};

struct dist__request {
	struct dist__request *next; /* in a queue of its peer, or any */
	struct dist__message m;     /* peer: of the match, once there is one */
	uint64_t number;            /* receives: in the order posted */
	enum dist__request_kind kind;
	enum dist_error error;
	bool complete;
	bool counted;   /* in mesh->detached */
	bool awaited;   /* a thread sleeps until it is complete */
	bool lent;      /* sends: the payload stays for the peer to read */
	int cell;       /* where its pace is noted (pace.h); -1: nowhere */
	size_t written; /* sends: bytes of header and payload on the wire */
	size_t head;    /* bytes of header: */
	/* The frame, and the address of what is lent, or a short payload. */
	unsigned char header[DIST__FRAME_BYTES + DIST__SHORT_BYTES];
};

/* dist__frame_of returns the header that m goes under. */
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
	uint64_t number; /* of all that came, in order */
	struct dist__frame frame;
	struct dist__request *receiver; /* posted meanwhile; gets the copy */
	bool complete;
	alignas(max_align_t) unsigned char data[];
};

enum dist__peer_state {
	DIST__PEER_IDLE,
	DIST__PEER_DIALING,
	DIST__PEER_CROSSED, /* refused: the peer is dialling us */
	DIST__PEER_OPEN,
	DIST__PEER_LEFT, /* said goodbye */
	DIST__PEER_LOST
};

struct dist__peer {
	int rank;
	enum dist__peer_state state;
	bool met;              /* it was OPEN once */
	enum dist_error error; /* LEFT, LOST: what its requests get */
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
	DIST__CONNECTING, /* ours, the kernel has not answered */
	DIST__GREETING,   /* HELLO sent, or WELCOME and OFFER */
	DIST__STRANGER,   /* accepted, HELLO or PROOF not seen yet */
	DIST__CONNECTED,
	DIST__DEAD /* shut down; closed once nobody polls it */
};

/* Large enough that a small message needs one system call, small enough that
 * the copy out of it does not count for a large one. */
#define DIST__READ_BUFFER 8192

struct dist__connection {
	int fd;
	enum dist__connection_state state;
	struct dist__peer *peer;  /* NULL: stranger */
	int64_t deadline_ns;      /* of a stranger to introduce itself */
	bool challenged;          /* stranger: claim stands, proof is due */
	struct dist__claim claim; /* with a secret: until CONNECTED */
	uint32_t awaits;          /* GREETING, WELCOME said: OFFER, ANSWER */

	/* Once CONNECTED, what carries the bytes in place of fd; NULL: fd does.
	 * Owned. Then nothing comes on fd but the bell, and its end. */
	struct dist__shared *shared;
	bool hung_up; /* that end has come */

	bool watched;           /* the peer is on another machine; pulse.c */
	int64_t quiet_since_ns; /* it owes an answer; 0: it does not */

	/* The frame whose payload is arriving; payload_left > 0. */
	struct dist__frame frame;
	size_t payload_left;
	unsigned char *sink;  /* where it goes on; NULL: nowhere */
	unsigned char *stage; /* of what is combined; owned; NULL: nothing is */
	uint64_t remote;      /* LENT: its address at the peer; else 0 */
	struct dist__request *receive;
	struct dist__unexpected *message;

	/* frame has come, but its receive has not been posted: nothing more
	 * is read until it is, or the clock passes this. 0: not so. */
	int64_t held_until_ns;

	size_t end; /* bytes of buffer not looked at yet */
	unsigned char buffer[DIST__READ_BUFFER];
};

/* What this rank knows of a group. */
struct dist__group_state {
	uint32_t id;
	bool begun;           /* seq and fingerprint are valid */
	bool mismatch;        /* a peer disagrees about this seq */
	uint32_t seq;         /* of the collective being run, or run last */
	uint64_t fingerprint; /* of that collective */
	bool aborted; /* far from what each call writes and reads again: read
			 as one with it, it would wait for that */
};

struct dist__mesh {
	pthread_mutex_t mutex;
	bool alone; /* the only thread is in here, without the mutex */
	int rank, world_size;
	uint64_t token; /* of the job: keeps strangers out */
	char *secret;   /* that peers must know; NULL: none; owned */
	bool shares;    /* memory with the peers of this machine */
	bool crowded;   /* with more ranks than processors */
	int listener;
	int64_t accept_ns; /* no accept() before: out of descriptors */
	struct dist__peer *peers;
	struct dist__connection **connections; /* every one with an fd */
	size_t num_connections, max_connections;
	size_t num_strangers;
	size_t num_crossed;
	size_t num_held;       /* connections */
	int64_t keep_alive_ns; /* for a peer to answer; 0: for ever */
	int64_t pulse_ns;      /* of the next look for silent ones; NEVER */
	bool stale;            /* what is being polled for has changed since */
	bool stuck;            /* some neighbour's ring may have been full */
	struct dist__group_state *groups;
	size_t num_groups;
	size_t num_unexpected;
	uint64_t unexpected_bytes; /* of their payloads, */
	uint64_t unexpected_most;  /* at most; 0: no bound */
	void *spare_stage; /* NULL: a connection has it, or none was needed */
	struct dist__queue any_receives; /* from any source, not matched */
	uint64_t receives_posted, messages_come;

	/* What the system said when it first refused; written once. */
	char text[DIST__LIMIT_TEXT + 96];

	/* progress.c's */
	struct dist__progress *progress;
	const struct dist__request *awaited; /* by the leader; NULL: none */
	size_t detached;      /* incomplete requests of tag >= 0 */
	uint64_t completions; /* requests completed so far */
	uint64_t moved;       /* bytes read and written so far */
};

/* ---- request.c: life of a request, queues ------------------------------- */

void dist__queue_init(struct dist__queue *queue);
void dist__queue_append(struct dist__queue *queue,
			struct dist__request *request);
/* dist__queue_remove takes request out; false: it is not in there. */
bool dist__queue_remove(struct dist__queue *queue,
			struct dist__request *request);

/* dist__request_complete ends request; one of kind CONTROL is freed. */
void dist__request_complete(struct dist__mesh *mesh,
			    struct dist__request *request,
			    enum dist_error error);

/* dist__request_control queues a frame of ours to peer; no memory: false. */
bool dist__request_control(struct dist__peer *peer, enum dist__frame_kind kind,
			   uint32_t group);

/* ---- matching.c: posted receives against arriving frames ---------------- */

/* dist__matching_init readies peer for messages without a receive. */
void dist__matching_init(struct dist__peer *peer);

/* dist__matching_group returns the state of a group, made at its first use;
 * NULL: no memory. Valid until the next call. */
struct dist__group_state *dist__matching_group(struct dist__mesh *mesh,
					       uint32_t id);

/* dist__matching_enter notes that this rank works on collective m, and holds
 * it against what the peers sent already. NULL: no memory. */
struct dist__group_state *dist__matching_enter(struct dist__mesh *mesh,
					       const struct dist__message *m);

/* dist__matching_is returns whether frame is that of message m. */
bool dist__matching_is(const struct dist__message *m,
		       const struct dist__frame *frame);

/* dist__matching_post posts a receive: it may be complete on return. */
void dist__matching_post(struct dist__mesh *mesh,
			 struct dist__request *request);

/* dist__matching_hold_ns returns how long it is worth to wait for the receive
 * of connection->frame, rather than to make room for its payload: 0, unless it
 * is long and nothing else is expected from that peer. */
int64_t dist__matching_hold_ns(struct dist__mesh *mesh,
			       struct dist__connection *connection);

/* dist__matching_begin decides where the payload of connection->frame goes.
 * false: no memory. */
bool dist__matching_begin(struct dist__mesh *mesh,
			  struct dist__connection *connection);

/* dist__matching_end is called when the payload is there. */
void dist__matching_end(struct dist__mesh *mesh,
			struct dist__connection *connection);

/* dist__matching_withdraw takes back an incomplete receive: its memory is not
 * touched any more. */
void dist__matching_withdraw(struct dist__mesh *mesh,
			     struct dist__request *request);

/* dist__matching_any_lost fails the receives from any source that wait in vain:
 * one of their sources is LOST or has aborted the group, or all are gone. One
 * that could not even be reached may have left in order before we met: it
 * counts as gone, not as lost. Called after every change of that kind. */
void dist__matching_any_lost(struct dist__mesh *mesh);

/* dist__matching_cut drops what was arriving on connection. */
void dist__matching_cut(struct dist__mesh *mesh,
			struct dist__connection *connection);

/* dist__matching_untaken returns whether messages of collectives came in which
 * this rank never took part, though their senders did not give up. */
bool dist__matching_untaken(const struct dist__mesh *mesh);

/* dist__matching_free frees what nobody received, and the spare stage. */
void dist__matching_free(struct dist__mesh *mesh);

/* ---- sink.c: where a payload goes --------------------------------------- */

/* dist__sink_open lets the payload of connection->frame go to receive; false:
 * no memory. dist__sink_close ends that, and leaves the receive to the caller.
 */
bool dist__sink_open(struct dist__mesh *mesh,
		     struct dist__connection *connection,
		     struct dist__request *receive);
void dist__sink_close(struct dist__mesh *mesh,
		      struct dist__connection *connection);

/* dist__sink_room returns how many bytes of the payload may now be put to
 * connection->sink, if that is anywhere; dist__sink_advance accounts for those
 * that were. */
size_t dist__sink_room(const struct dist__connection *connection);
void dist__sink_advance(struct dist__connection *connection, size_t bytes);

/* dist__sink_put puts what there is of the payload from the front of the len
 * bytes that came where it belongs, and returns how many bytes that was. */
size_t dist__sink_put(struct dist__connection *connection,
		      const unsigned char *come, size_t len);

/* dist__sink_pour puts a whole payload where receive m wants it, from where it
 * lies; false: elements may not lie there. */
bool dist__sink_pour(const struct dist__message *m, const unsigned char *come);

/* dist__sink_fill puts a whole payload, which it may change, where receive m
 * wants it. */
void dist__sink_fill(const struct dist__message *m, void *payload);

/* ---- failure.c: lost peers, aborted groups ------------------------------ */

/* dist__peer_end makes peer LEFT or LOST: all its requests fail. */
void dist__peer_end(struct dist__mesh *mesh, struct dist__peer *peer,
		    enum dist__peer_state state, enum dist_error error);

/* dist__peer_leave_group is the peer's ABORT: its requests of group fail. */
void dist__peer_leave_group(struct dist__mesh *mesh, struct dist__peer *peer,
			    uint32_t group);

/* dist__peer_refuses returns why a request of group to peer cannot be: OK,
 * ABORTED is not among them. */
enum dist_error dist__peer_refuses(const struct dist__peer *peer,
				   uint32_t group);

/* dist__mesh_abort fails all requests of group and tells the peers. */
void dist__mesh_abort(struct dist__mesh *mesh, uint32_t group);

/* dist__request_withdraw takes back an incomplete request. */
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

/* dist__connections_reap closes and frees the dead. Nobody may be polling. */
void dist__connections_reap(struct dist__mesh *mesh);

/* ---- connection.c: bytes of one connection ------------------------------ */

/* dist__connection_greet sends a frame of the handshake at once, with extra
 * (DIST__FRAME_EXTRA bytes; NULL: none): the socket is fresh, so it takes that
 * much. false: the connection is broken. */
bool dist__connection_greet(const struct dist__mesh *mesh,
			    struct dist__connection *connection,
			    enum dist__frame_kind kind,
			    const unsigned char *extra);

/* dist__connection_say sends any frame without payload, likewise. */
bool dist__connection_say(struct dist__connection *connection,
			  const struct dist__frame *frame);

/* dist__connection_read takes what has arrived, up to a bound, so that no
 * connection starves the others. */
void dist__connection_read(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__connection_resume goes on with a held connection, if it is one. */
void dist__connection_resume(struct dist__mesh *mesh,
			     struct dist__connection *connection);

/* dist__connection_timeouts resumes what has been held long enough: called
 * when the clock passes dist__connection_timer(). */
void dist__connection_timeouts(struct dist__mesh *mesh, int64_t now_ns);
int64_t dist__connection_timer(const struct dist__mesh *mesh);

/* dist__connection_write writes what the socket takes of the peer's queue, up
 * to a bound. */
void dist__connection_write(struct dist__mesh *mesh,
			    struct dist__connection *connection);

/* ---- pulse.c: peers on other machines that fall silent ------------------ */

/* dist__pulse_begin watches a connection that opens; dist__pulse_check, to be
 * called when the clock passes mesh->pulse_ns, makes peers LOST that have owed
 * an answer for mesh->keep_alive_ns, or nearly. */
void dist__pulse_begin(struct dist__mesh *mesh,
		       struct dist__connection *connection);
void dist__pulse_check(struct dist__mesh *mesh, int64_t now_ns);

/* ---- neighbour.c: connections through memory ---------------------------- */

/* dist__is_neighbour returns whether peer is of this machine, as far as
 * addresses tell. */
bool dist__is_neighbour(const struct dist__mesh *mesh,
			const struct dist__peer *peer);

/* dist__neighbour_offer goes on from WELCOME, which we said: a neighbour gets
 * an offer even if it is of nothing, for it waits for one; with another peer
 * the connection is open. */
void dist__neighbour_offer(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__neighbour_agree goes on from the frame that connection awaits. */
void dist__neighbour_agree(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__connection_shares returns whether the bytes go through memory. */
static inline bool
dist__connection_shares(const struct dist__connection *connection)
{
	return connection->shared && connection->state == DIST__CONNECTED;
}

/* dist__connection_bell reads what has come on the socket of one that does. */
void dist__connection_bell(struct dist__mesh *mesh,
			   struct dist__connection *connection);

/* dist__neighbour_lend makes a send that has not begun one of lent memory,
 * where that pays. */
void dist__neighbour_lend(const struct dist__mesh *mesh,
			  const struct dist__connection *connection,
			  struct dist__request *request);

/* dist__neighbour_fetch reads the next bytes of a lent payload, most at most,
 * to where they belong, and stores how many. false: the peer is gone, or has
 * recalled them. */
bool dist__neighbour_fetch(const struct dist__connection *connection,
			   size_t most, size_t *fetched);

/* dist__neighbour_fetched tells the peer that it has its memory back. false: no
 * memory. */
bool dist__neighbour_fetched(struct dist__mesh *mesh, struct dist__peer *peer);

/* dist__neighbour_taken ends the send whose memory we have back. false: there
 * is none. */
bool dist__neighbour_taken(struct dist__mesh *mesh, struct dist__peer *peer);

/* dist__neighbours_serve moves what neighbours have put into memory, or made
 * room for. */
void dist__neighbours_serve(struct dist__mesh *mesh);

/* dist__neighbours_write goes on with what was stuck, where there is room now.
 */
void dist__neighbours_write(struct dist__mesh *mesh);

/* dist__neighbours_sleep, before a thread blocks, asks for the bell: false:
 * there is something to serve already. dist__neighbours_wake takes it back. */
bool dist__neighbours_sleep(const struct dist__mesh *mesh);
void dist__neighbours_wake(const struct dist__mesh *mesh);

/* ---- quick.c: short messages through memory ----------------------------- */

/* How many messages can be received together. */
#define DIST__QUICK_MOST 64

/*
 * dist__quick_send passes m, of a collective, at once; false: nothing was done,
 * it takes a request. dist__quick_receive takes those of n messages, 1 to
 * DIST__QUICK_MOST, that are there or come in a moment, and returns the others,
 * which take a request each: bit i stands for messages[i].
 */
bool dist__quick_send(struct dist__mesh *mesh, const struct dist__message *m);
uint64_t dist__quick_receive(struct dist__mesh *mesh,
			     const struct dist__message *messages, int n);

/* ---- handshake.c: who is connected to whom ------------------------------ */

/* dist__handshake_dial begins to connect to an IDLE peer. */
void dist__handshake_dial(struct dist__mesh *mesh, struct dist__peer *peer);

/* dist__handshake_open ends the handshake: messages may go. */
void dist__handshake_open(struct dist__mesh *mesh, struct dist__peer *peer,
			  struct dist__connection *connection);

/* dist__handshake_timeouts drops silent strangers and dials again those peers
 * that refused us but did not come: called when the clock passes
 * dist__handshake_timer(). */
void dist__handshake_timeouts(struct dist__mesh *mesh, int64_t now_ns);
int64_t dist__handshake_timer(const struct dist__mesh *mesh);

/* dist__handshake_accept takes in all who knock. */
void dist__handshake_accept(struct dist__mesh *mesh);
bool dist__handshake_accepts(const struct dist__mesh *mesh, int64_t now_ns);

/* dist__handshake_connected follows up a CONNECTING socket that poll()
 * reported. */
void dist__handshake_connected(struct dist__mesh *mesh,
			       struct dist__connection *connection);

/* dist__handshake_frame acts on a frame of a connection that is not CONNECTED
 * yet; extra is what it carries. */
void dist__handshake_frame(struct dist__mesh *mesh,
			   struct dist__connection *connection,
			   const unsigned char *extra);

#endif
