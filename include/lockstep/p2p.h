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
 * A message carries a tag, 0 to DIST_TAG_MAX. A receive takes a message of its
 * group, tag and source. Messages of one tag between two ranks are received in
 * the order in which they were sent, by the receives in the order in which
 * these were posted; messages of different tags in any order. A rank cannot
 * send to itself.
 *
 * A receive from DIST_ANY_SOURCE takes the first message of another rank of the
 * group: the one whose first bytes came first (TCP), that was sent first
 * (simulation, rendezvous) or that was completely there first (simulation,
 * buffered). Simulated messages of one instant are taken in the order of the
 * senders' ranks, the same in every run; in a real network the order may differ
 * between runs. Where receives from any and from a named source wait, the first
 * posted one that fits takes the message.
 *
 * Such a receive fails with DIST_ERR_PEER_LOST when nothing has arrived for it
 * and a rank of the group is killed, crashes or aborts the group: its message
 * might be the one awaited. A rank that left in order, or before the two were
 * connected, is not awaited. When no rank is left to send, the receive fails
 * the same way; in simulation that is a deadlock.
 *
 * A send is complete when its memory may be used again. Over TCP it is
 * buffered: it never waits for its receive, whatever its size, as with gloo (a
 * long one may wait until its peer is in any call of this library). Over NCCL
 * it completes with its receive. In simulation dist_launch_options.p2p chooses:
 * "rendezvous" (the default: it completes with its receive, as with NCCL),
 * "buffered", or "eager:BYTES" (buffered up to that size and rendezvous above,
 * as with MPI). Messages inside a simulated collective are always rendezvous.
 */
#define DIST_ANY_SOURCE (-1)
#define DIST_TAG_MAX    2147483644

/*
 * dist_send sends tensor to rank dst and blocks until the memory may be used
 * again. It matches the dist_recv or dist_irecv of the same tag on dst. Errors:
 * any group error (DIST_ERR_INVALID_ARGUMENT also for dst outside the group,
 * the rank itself, or a tag outside 0 to DIST_TAG_MAX); DIST_ERR_UNSUPPORTED
 * (phantom in a real world). If a buffered send fails later, only the receiver
 * gets the error.
 */
DIST_MUST_CHECK enum dist_error dist_send(struct dist_group *group,
					  struct dist_tensor tensor, int dst,
					  int tag);

/*
 * dist_recv receives into tensor a message of rank src (DIST_ANY_SOURCE: of any
 * rank) with tag, and blocks until it is there. numel and dtype must be the
 * sender's, else DIST_ERR_MISMATCH. Errors: as dist_send.
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
 * for and frees, is complete when the data is there; dist_work_source() returns
 * the sender. work must not be NULL. Errors: as dist_recv; those of the
 * transfer come from the wait.
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
 * dist_batch_isend_irecv posts num_ops sends and receives without waiting for
 * any, so that the order of different (peer, tag) pairs does not matter. It
 * stores a handle for each in works[0] to works[num_ops - 1], which the caller
 * waits for and frees. ops is borrowed during the call.
 *
 * All ops are checked before the first is posted: a bad one is refused with its
 * index, and nothing is sent. When posting fails (a lost peer, no memory), what
 * was posted is withdrawn, which aborts the group. A failed call leaves no
 * operation in flight and stores no handle.
 * Errors: as dist_isend and dist_irecv; DIST_ERR_INVALID_ARGUMENT also for a
 * NULL ops or works with num_ops above 0, or an unknown kind.
 */
DIST_MUST_CHECK enum dist_error
dist_batch_isend_irecv(struct dist_group *group, const struct dist_p2p_op *ops,
		       size_t num_ops, struct dist_work **works);

/* DIST_HERE: see dist.h. */
#define dist_send(group, ...)     (dist_send)(DIST_HERE(group), __VA_ARGS__)
#define dist_recv(group, ...)     (dist_recv)(DIST_HERE(group), __VA_ARGS__)
#define dist_recv_any(group, ...) (dist_recv_any)(DIST_HERE(group), __VA_ARGS__)
#define dist_isend(group, ...)    (dist_isend)(DIST_HERE(group), __VA_ARGS__)
#define dist_irecv(group, ...)    (dist_irecv)(DIST_HERE(group), __VA_ARGS__)
#define dist_batch_isend_irecv(group, ...)                                     \
	(dist_batch_isend_irecv)(DIST_HERE(group), __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
