/*
 * control.h - the small messages that the ranks of a group exchange beside a
 * library, NCCL or MPI, over the transport of the world. Private to
 * realbackend/.
 *
 * These libraries compare nothing: ranks that disagree about a call hang, or
 * write where they should not. So nothing is launched before those concerned
 * have agreed about it here. That costs a collective the latency of
 * ceil(log2 P) messages and a point-to-point operation that of two, while what
 * was launched before goes on.
 */
#ifndef LOCKSTEP_AGREE_CONTROL_H
#define LOCKSTEP_AGREE_CONTROL_H

#include "core/backend.h"

/* A group as the messages see it. */
struct dist__control {
	struct dist__transport *transport;
	const struct dist__members *members;
};

/* seq of messages that belong to no collective, and their steps. */
#define DIST__CONTROL_SEQ  UINT32_MAX
#define DIST__STEP_ID      0u     /* what one rank tells the others first */
#define DIST__STEP_WATCH   1u     /* never sent: fails when the peer is gone */
#define DIST__STEP_GPU     2u     /* which GPU the rank has */
#define DIST__STEP_READY   0x100u /* and following: all have made it */
#define DIST__STEP_GOODBYE 0x200u /* and following: all will leave it */

/* Steps of a collective: rounds from 0 on, and others. */
#define DIST__STEP_LENGTHS 0x10000u
#define DIST__STEP_DEVICES 0x20000u /* the id of the devices' communicator */

/* dist__control_post posts a send or a receive of m, whose peer is a group
 * rank. Errors: the transport's. */
enum dist_error dist__control_send(const struct dist__control *control,
				   struct dist__message m,
				   struct dist__request **request);
enum dist_error dist__control_receive(const struct dist__control *control,
				      struct dist__message m,
				      struct dist__request **request);

/* dist__control_ended returns whether *request is complete, and if so consumes
 * it, stores NULL, and its end in *error unless an error stands there. A NULL
 * request is complete. */
bool dist__control_ended(const struct dist__control *control,
			 struct dist__request **request,
			 enum dist_error *error);

/* dist__control_drop takes *request back, complete or not. */
void dist__control_drop(const struct dist__control *control,
			struct dist__request **request);

/* ---- agreeing ---------------------------------------------------------- */

/*
 * All members meet and hold their fingerprints against each other's: the
 * dissemination barrier (Hensgen, Finkel, Manber 1988). Who comes out knows
 * that everybody went in, and that all fingerprints are its own: the first
 * round compares neighbours, and each later one hears from ranks that have
 * compared so many more. In the same way it knows whether all voted for.
 *
 *	P = 5, rank 3 sends to:  4 (+1)   0 (+2)   2 (+4)
 */
struct dist__agreement {
	const struct dist__control *control;
	uint32_t seq, step; /* of the round */
	uint64_t fingerprint;
	int distance; /* of the round: 1, 2, 4, ... */
	/* Set after the start: the rank's own; in the end, whether all are. */
	unsigned char vote;
	unsigned char heard;
	struct dist__request *send, *receive;
	struct dist__lengths *lengths; /* NULL: none to compare */
};

/* dist__agreement_start begins one about seq; the rounds have the steps from
 * step on. */
void dist__agreement_start(struct dist__agreement *a,
			   const struct dist__control *control, uint32_t seq,
			   uint32_t step, uint64_t fingerprint);

/* dist__agreement_lengths has each pair of ranks compare first what one sends
 * the other: in[r].numel here is out[rank].numel there. Errors: NO_MEMORY, the
 * transport's. */
enum dist_error dist__agreement_lengths(struct dist__agreement *a,
					const struct dist__parts *in,
					const struct dist__parts *out);

/* dist__agreement_look goes on as far as it can without waiting and stores in
 * *agreed whether that was to the end. Errors: MISMATCH, PEER_LOST, the
 * transport's. */
enum dist_error dist__agreement_look(struct dist__agreement *a, bool *agreed);

/* dist__agreement_leave takes back what is under way; harmless at any time
 * after the start. */
void dist__agreement_leave(struct dist__agreement *a);

#endif
