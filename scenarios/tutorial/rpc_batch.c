/*
 * tutorial_rpc_batch - "Implementing Batch RPC Processing Using Asynchronous
 * Executions": a parameter server that keeps the requests of the trainers until
 * it has one of each, makes one step with all of their gradients, and answers
 * them together.
 */
#include "scenarios/scenario.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/tutorial/remote.h"
#include "scenarios/tutorial/toymodel.h"

#define STEPS    50
#define RATE     0.1F
#define SEED     1234
#define TRAINERS 64 /* at most */

/* A rank; what stands below the model is the server's. */
struct batch_server {
	struct toymodel model;
	pthread_mutex_t mutex;
	struct dist_rpc_call *waiting[TRAINERS]; /* for the next parameters */
	int num_waiting, trainers;
	int requests, updates; /* so far */
};

/* Adds the gradients of a call, which will wait; returns how many calls then
 * wait that are all those of a step, and moves them to all. */
static int collect(struct batch_server *s, struct dist_rpc_call *call,
		   struct dist_rpc_call *all[TRAINERS])
{
	const float *gradients = dist_rpc_call_input(call).data;

	for (size_t i = 0; i < TOYMODEL_NUMEL; i++)
		s->model.grads[i] += gradients[i] / (float)s->trainers;
	s->waiting[s->num_waiting++] = call;
	s->requests++;
	if (s->num_waiting < s->trainers)
		return 0;
	memcpy(all, s->waiting, sizeof s->waiting);
	s->num_waiting = 0;
	s->updates++;
	toymodel_step(&s->model, RATE);
	toymodel_zero_grads(&s->model);
	return s->trainers;
}

/* The call ends when the last trainer of the step has made it, too. */
static void update_and_fetch(void *context, struct dist_rpc_call *call)
{
	struct batch_server *s = context;
	struct dist_rpc_call *all[TRAINERS];
	int n;

	dist_rpc_call_later(call);
	pthread_mutex_lock(&s->mutex);
	n = collect(s, call, all);
	pthread_mutex_unlock(&s->mutex);
	for (int i = 0; i < n; i++) {
		(void)dist_rpc_call_reply(all[i], s->model.params,
					  sizeof s->model.params);
		dist_rpc_call_end(all[i]);
	}
}

static enum dist_error train(const struct remote *remote,
			     struct batch_server *s)
{
	const struct toymodel_batch batch =
		toymodel_batch(SEED, (size_t)remote->rank);
	struct dist_rpc_bytes value = {NULL, 0};
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < STEPS; i++) {
		error = remote_loss(remote, i,
				    toymodel_train(&s->model, &batch));
		if (!error)
			error = remote_call(remote, 0, "update_and_fetch",
					    s->model.grads,
					    sizeof s->model.grads, &value);
		if (!error)
			memcpy(s->model.params, value.data,
			       sizeof s->model.params);
		dist_rpc_bytes_free(&value);
	}
	return error;
}

static enum dist_error run(const struct remote *remote, void *context)
{
	struct batch_server *s = context;
	enum dist_error error;

	if (remote->world_size - 1 > TRAINERS)
		return DIST_ERR_INVALID_ARGUMENT;
	s->trainers = remote->world_size - 1;
	error = dist_barrier(remote->group, NULL);
	if (!error && remote->rank > 0)
		error = train(remote, s);
	if (!error)
		error = dist_barrier(remote->group, NULL);
	if (!error && remote->rank == 0)
		printf("%d requests, %d updates\n", s->requests, s->updates);
	return error;
}

int tutorial_rpc_batch_rank(void *arg)
{
	static const struct dist_rpc_entry functions[] = {
		{"update_and_fetch", update_and_fetch, NULL},
		{NULL, NULL, NULL}};
	static const struct remote_plan plan = {"tutorial_rpc_batch",
						"parameter_server",
						"trainer",
						2,
						functions,
						run};
	struct batch_server s = {.mutex = PTHREAD_MUTEX_INITIALIZER};

	(void)arg;
	toymodel_init(&s.model, SEED);
	return remote_rank(&plan, &s);
}
