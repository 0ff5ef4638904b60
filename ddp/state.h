/* state.h - what a dist_ddp holds, between ddp/'s files. */
#ifndef LOCKSTEP_DDP_STATE_H
#define LOCKSTEP_DDP_STATE_H

#include "lockstep/ddp.h"
#include "ddp/bucket.h"

/* A place in the caller's source; file NULL: not known. */
struct dist__ddp_site {
	const char *file;
	int line;
};

/* One bucket: the flat buffer that its gradients are copied into, and the
 * all-reduce on it. Gradients lie in cutting order without gaps. */
struct dist__ddp_bucket {
	void *data;             /* owned; NULL: phantom, or no bytes */
	size_t missing;         /* gradients of this step not yet copied in */
	struct dist_work *work; /* owned; NULL: not under way */
};

/* Where a gradient goes. */
struct dist__ddp_slot {
	size_t bucket;
	size_t offset_bytes;
	bool ready; /* marked in this step */
};

/* Buckets before num_launched are under way or done; they are started in their
 * order only, so that all ranks issue the same collectives in the same order
 * whatever order their gradients come in. */
struct dist_ddp {
	struct dist_group *group; /* borrowed */
	struct dist_ddp_parameter *params;
	struct dist__ddp_slot *slots; /* one a parameter */
	size_t num;
	bool views; /* the gradients lie in the buckets */
	struct dist__ddp_partition partition;
	struct dist__ddp_bucket *buckets; /* partition.num_spans of them */
	size_t num_launched;
	struct dist__ddp_site next_site; /* noted by dist_ddp_at() */
	struct dist_message message;
};

/* dist__ddp_start_step makes all gradients unmarked and all buckets empty. No
 * work is under way. */
void dist__ddp_start_step(struct dist_ddp *ddp);

/* dist__ddp_broadcast sends rank 0's parameters to all ranks, packed. Errors:
 * any group error; message says what failed. */
enum dist_error dist__ddp_broadcast(struct dist_group *group,
				    const struct dist__ddp_site *site,
				    const struct dist_ddp_parameter *params,
				    size_t num, struct dist_message *message);

#endif
