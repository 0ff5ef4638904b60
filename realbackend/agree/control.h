/*
 * control.h - small messages by which the ranks of a group agree, over the
 * world's transport, before they call a library (NCCL or MPI). Private to
 * realbackend/.
 *
 * These libraries compare nothing: ranks that disagree about a call hang, or
 * corrupt memory. So nothing is launched before the ranks concerned have agreed
 * about it here. A collective costs the latency of ceil(log2 P) messages, a
 * point-to-point operation that of two, while operations launched before
 * proceed.
 */
#ifndef LOCKSTEP_AGREE_CONTROL_H
#define LOCKSTEP_AGREE_CONTROL_H

#include "core/backend.h"

/* A group, as used by these messages. */
struct dist__control {
	struct dist__transport *transport;
	const struct dist__members *members;
};

/* seq of messages that belong to no collective, and their steps. */
#define DIST__CONTROL_SEQ  UINT32_MAX
#define DIST__STEP_ID      0u     /* one rank's data for the others */
#define DIST__STEP_WATCH   1u     /* of one that leaves, to the next alone */
#define DIST__STEP_GPU     2u     /* which GPU the rank has */
#define DIST__STEP_READY   0x100u /* and following: all have made it */
#define DIST__STEP_GOODBYE 0x200u /* and following: all will leave it */

/* Steps of a collective: rounds, from 0, and others. */
#define DIST__STEP_LENGTHS 0x10000u
#define DIST__STEP_DEVICES 0x20000u /* the id of the devices' communicator */

/* dist__control_send and dist__control_receive post a message m whose peer is a
 * group rank. Errors: the transport's. */
enum dist_error dist__control_send(const struct dist__control *control,
				   struct dist__message m,
				   struct dist__request **request);
enum dist_error dist__control_receive(const struct dist__control *control,
				      struct dist__message m,
				      struct dist__request **request);

/* dist__control_ended returns whether *request is complete or NULL. If complete
 * it frees it, stores NULL, and stores its error in *error unless that holds
 * one. */
bool dist__control_ended(const struct dist__control *control,
			 struct dist__request **request,
			 enum dist_error *error);

/* dist__control_drop cancels *request, complete or not. */
void dist__control_drop(const struct dist__control *control,
			struct dist__request **request);

/* ---- agreeing ---------------------------------------------------------- */

/*
 * All members meet and compare their fingerprints: the dissemination barrier
 * (Hensgen, Finkel, Manber 1988). A rank that completes it knows that all have
 * begun it, and that all fingerprints are equal: the first round compares
 * neighbours, and in each later round a rank hears from one that has compared
 * with twice as many. In the same way it learns whether all votes are true.
 *
 *	P = 5, rank 3 sends to:  4 (+1)   0 (+2)   2 (+4)
 */
struct dist__agreement {
	const struct dist__control *control;
	uint32_t seq, step; /* of the round */
	uint64_t fingerprint;
	int distance; /* of the round: 1, 2, 4, ... */
	/* The caller sets the rank's own after the start; in the end: whether
	 * all are true. */
	unsigned char vote;
	unsigned char heard; /* the vote received in this round */
	struct dist__request *send, *receive;
	struct dist__lengths *lengths; /* NULL: none to compare */
};

/* dist__agreement_start begins an agreement about seq; its rounds have the
 * steps from step on. */
void dist__agreement_start(struct dist__agreement *a,
			   const struct dist__control *control, uint32_t seq,
			   uint32_t step, uint64_t fingerprint);

/* dist__agreement_lengths makes each pair of ranks first compare the lengths of
 * their messages: in[r].numel here is out[rank].numel there. Errors: NO_MEMORY,
 * the transport's. */
enum dist_error dist__agreement_lengths(struct dist__agreement *a,
					const struct dist__parts *in,
					const struct dist__parts *out);

/* dist__agreement_look continues as far as possible without waiting; *agreed
 * becomes true at the end. Errors: MISMATCH, PEER_LOST, the transport's. */
enum dist_error dist__agreement_look(struct dist__agreement *a, bool *agreed);

/* dist__agreement_leave cancels messages in flight; allowed at any time after
 * the start. */
void dist__agreement_leave(struct dist__agreement *a);

#endif
