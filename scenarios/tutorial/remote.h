/*
 * remote.h - how the tutorials of remote calls begin and end: rank 0 is a
 * server, the others are trainers or stages, and all have the same functions.
 */
#ifndef LOCKSTEP_TUTORIAL_REMOTE_H
#define LOCKSTEP_TUTORIAL_REMOTE_H

#include "lockstep/rpc.h"

#define REMOTE_FUNCTIONS 8 /* at most */

/* One rank of such a program. */
struct remote {
	struct dist_group *group;
	struct dist_rpc *rpc;
	struct dist_group *others; /* of ranks 1 and up; NULL on rank 0 */
	int rank, world_size;
};

struct remote_plan {
	const char *tutorial;
	const char *first;  /* name of rank 0, */
	const char *others; /* and of the rest, their ranks behind it */
	int min_ranks;
	/* Ended by a NULL name; the context is the rank's. */
	const struct dist_rpc_entry *functions;
	/* What the rank does between init and shutdown. */
	enum dist_error (*run)(const struct remote *remote, void *context);
};

/* remote_rank runs the plan on this rank. Returns the status of the rank. */
int remote_rank(const struct remote_plan *plan, void *context);

/* remote_call is dist_rpc_sync; value may be NULL. */
DIST_MUST_CHECK enum dist_error remote_call(const struct remote *remote, int to,
					    const char *function,
					    const void *data, size_t bytes,
					    struct dist_rpc_bytes *value);

/* remote_loss averages a loss over the others, and rank 1 prints every tenth of
 * steps. Errors: any group error. */
DIST_MUST_CHECK enum dist_error remote_loss(const struct remote *remote,
					    int step, double loss);

#endif
