/*
 * p2p.h - messages between two ranks: send, receive, batches of them. A part of
 * dist.h, which includes this and says what holds for all calls.
 */
#ifndef LOCKSTEP_P2P_H
#define LOCKSTEP_P2P_H

#include "lockstep/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A message carries a tag of 0 or more. A receive takes one of its group, tag
 * and source: those of one tag between two ranks in the order in which they
 * were sent, into the receives in the order in which they were posted; messages
 * of different tags in any order. A rank cannot send to itself.
 *
 * A receive from DIST_ANY_SOURCE takes the message of another rank of the group
 * that arrived first: of which the first bytes came first (TCP); that was sent
 * first (simulation, rendezvous) or was there first as a whole (buffered).
 * Simulated messages of one instant are taken in the order of the senders'
 * ranks, so that every run decides alike; a real network decides anew. Where
 * receives from any and from a named source wait, the one posted first that
 * fits takes the message.
 *
 * Such a receive fails with DIST_ERR_PEER_LOST when nothing has arrived for it
 * and a rank of the group is killed, crashes or aborts the group: it may be the
 * one whose message is awaited. A rank that has left in order, or that was gone
 * before the two ever met, is no longer awaited. When nobody is left, the
 * receive fails the same way; in simulation that is a deadlock.
 *
 * A send is complete when its memory may be used again. Over TCP it is
 * buffered: it never waits for its receive, whatever the size, as with gloo (a
 * long one may wait until its peer is in any call of this library). Over NCCL
 * it ends with its receive. In simulation dist_launch_options choose:
 * "rendezvous", the default, in which a send ends with its receive, as with
 * NCCL; "buffered"; or "eager:BYTES", which is buffered up to that size and
 * rendezvous above, as with MPI. Messages inside a collective are always
 * rendezvous there.
 */
#define DIST_ANY_SOURCE (-1)

/*
 * dist_send sends tensor to rank dst and blocks until the memory may be used
 * again. It matches the dist_recv or dist_irecv of the same tag on dst. Errors:
 * any group error (DIST_ERR_INVALID_ARGUMENT also for dst outside the group or
 * oneself, or a negative tag); DIST_ERR_UNSUPPORTED (phantom in a real world).
 * Of a buffered send, what goes wrong later is told to the receiver alone.
 */
DIST_MUST_CHECK enum dist_error dist_send(struct dist_group *group,
					  struct dist_tensor tensor, int dst,
					  int tag);

/*
 * dist_recv receives into tensor what rank src, or any rank for
 * DIST_ANY_SOURCE, sent with tag, and blocks until it is there. numel and dtype
 * must be the sender's, else DIST_ERR_MISMATCH. Errors: as dist_send.
 */
DIST_MUST_CHECK enum dist_error dist_recv(struct dist_group *group,
					  struct dist_tensor tensor, int src,
					  int tag);

/*
 * dist_recv_any is dist_recv from DIST_ANY_SOURCE, and stores the sender's rank
 * in *src (torch's recv returns it); on failure it stores nothing. Errors: as
 * dist_recv; DIST_ERR_INVALID_ARGUMENT also for a NULL src.
 */
DIST_MUST_CHECK enum dist_error dist_recv_any(struct dist_group *group,
					      struct dist_tensor tensor,
					      int tag, int *src);

/*
 * dist_isend is dist_send without the blocking: *work, which the caller waits
 * for and frees, is complete when the memory may be used again. work must not
 * be NULL. Errors: as dist_send; those of the transfer come from the wait.
 */
DIST_MUST_CHECK enum dist_error dist_isend(struct dist_group *group,
					   struct dist_tensor tensor, int dst,
					   int tag, struct dist_work **work);

/*
 * dist_irecv is dist_recv without the blocking: *work, which the caller waits
 * for and frees, is complete when the data is there; dist_work_source() tells
 * from whom. work must not be NULL. Errors: as dist_recv; those of the transfer
 * come from the wait.
 */
DIST_MUST_CHECK enum dist_error dist_irecv(struct dist_group *group,
					   struct dist_tensor tensor, int src,
					   int tag, struct dist_work **work);

/* One message of a batch: torch's P2POp. */
enum dist_p2p_kind { DIST_ISEND, DIST_IRECV };

struct dist_p2p_op {
	enum dist_p2p_kind kind;
	struct dist_tensor tensor;
	int peer; /* dst or src; DIST_ANY_SOURCE for a receive */
	int tag;
};

/*
 * dist_batch_isend_irecv posts num_ops sends and receives before anybody waits
 * for one of them, so that their order does not matter between different
 * (peer, tag)s, and stores a handle for each in works[0] to works[num_ops - 1],
 * which the caller waits for and frees. ops is borrowed during the call only.
 *
 * All ops are checked before the first is posted: a bad one is refused by its
 * number, with nothing sent. When posting itself fails (a lost peer, no
 * memory), what had been posted is taken back, which aborts the group; in no
 * case does a failed call leave an operation in flight or store a handle.
 * Errors: as dist_isend and dist_irecv; DIST_ERR_INVALID_ARGUMENT also for a
 * NULL ops or works with num_ops above 0, or a kind that is none.
 */
DIST_MUST_CHECK enum dist_error
dist_batch_isend_irecv(struct dist_group *group, const struct dist_p2p_op *ops,
		       size_t num_ops, struct dist_work **works);

#ifdef __cplusplus
}
#endif

#endif
