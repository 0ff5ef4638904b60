/*
 * ps.h - parameter servers: what their two ways have in common, messages (ps.c)
 * and remote calls (ps_rpc.c).
 */
#ifndef LOCKSTEP_SCENARIOS_PS_H
#define LOCKSTEP_SCENARIOS_PS_H

#include <pthread.h>

#include "lockstep/rpc.h"
#include "scenarios/training.h"

struct ps;

/* A layer, with one message each way for each worker on its server, or for this
 * worker. */
struct kept {
	int server;
	struct dist_tensor parameters; /* the server's sums; what was pulled */
	struct dist_tensor *gradients; /* by worker; owned */
	struct pending *pushes, *pulls;

	/* By calls: */
	struct training *training;
	struct dist_rpc_call **calls; /* by worker, that wait; owned */
	int num_calls;                /* of them that have come */
	struct dist_rpc_future *pull; /* of a worker */
};

struct ps {
	struct kept *layers;
	size_t num;
	int servers, workers;
	size_t peers; /* messages of a layer here */
	bool serves;
	struct lane *lane; /* of the workers; NULL: a server */

	/* By calls: */
	struct dist_rpc *rpc;  /* NULL: by messages */
	pthread_mutex_t mutex; /* of what a layer's calls change */
};

/* ps_optimizer_ns returns how long a server updates layer l. */
int64_t ps_optimizer_ns(const struct training *t, size_t l);

/* ps_rpc_start makes the servers' layers functions that workers call with their
 * gradients, and that reply the parameters once all have; ps_rpc_stop ends
 * that. Errors: dist_rpc_init's, DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error ps_rpc_start(struct training *t);
void ps_rpc_stop(struct training *t);

/* ps_rpc_push calls the server of layer l, and ps_rpc_pull waits for what it
 * replies. Errors: any call error, DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error ps_rpc_push(struct training *t, size_t l);
DIST_MUST_CHECK enum dist_error ps_rpc_pull(struct training *t, size_t l);

#endif
