/*
 * ps.h - parameter servers: shared by their two forms, messages (ps.c) and
 * remote calls (ps_rpc.c).
 */
#ifndef LOCKSTEP_SCENARIOS_PS_H
#define LOCKSTEP_SCENARIOS_PS_H

#include <pthread.h>

#include "lockstep/rpc.h"
#include "scenarios/training.h"

struct ps;

/* A layer: on its server with a message each way for each worker, on a worker
 * with one each way. */
struct kept {
	int server;
	struct dist_tensor parameters; /* the server's sums; on a worker the
					  pulled parameters */
	struct dist_tensor *gradients; /* by worker; owned */
	struct pending *pushes, *pulls;

	/* By calls: */
	struct training *training;
	struct dist_rpc_call **calls; /* waiting calls, by worker; owned */
	int num_calls;                /* calls that have come */
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
	pthread_mutex_t mutex; /* protects what a layer's calls change */
};

/* ps_optimizer_ns returns the time in which a server updates layer l. */
int64_t ps_optimizer_ns(const struct training *t, size_t l);

/* ps_rpc_start registers a function for each layer on its server: workers call
 * it with their gradients, and it replies the parameters when all have called.
 * ps_rpc_stop ends that. Errors: dist_rpc_init's, DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error ps_rpc_start(struct training *t);
void ps_rpc_stop(struct training *t);

/* ps_rpc_push calls the server of layer l, and ps_rpc_pull waits for its reply.
 * Errors: any call error, DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error ps_rpc_push(struct training *t, size_t l);
DIST_MUST_CHECK enum dist_error ps_rpc_pull(struct training *t, size_t l);

#endif
