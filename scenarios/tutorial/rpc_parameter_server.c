/*
 * tutorial_rpc_parameter_server - "Implementing a Parameter Server Using
 * Distributed RPC Framework": rank 0 holds the parameters of a ToyModel, which
 * the trainers refer to by an RRef. In every step a trainer fetches them, and
 * hands the gradients of its batch to the server.
 */
#include "scenarios/scenario.h"

#include <pthread.h>
#include <string.h>

#include "scenarios/tutorial/remote.h"
#include "scenarios/tutorial/toymodel.h"

#define STEPS 50
#define RATE  0.1F
#define SEED  1234

/* A rank; the server has the parameters, and the mutex keeps the calls that add
 * to their gradients apart. */
struct parameters {
	struct toymodel model;
	pthread_mutex_t mutex;
	struct dist_rref *rref; /* to a copy of the parameters */
	int trainers;
};

/* ---- functions of the server -------------------------------------------- */

/* A reference to the parameters. */
static void get_model(void *context, struct dist_rpc_call *call)
{
	const struct parameters *p = context;
	struct dist_rref_fork fork;

	if (dist_rref_fork(p->rref, &fork))
		dist_rpc_call_fail(call, "the model cannot be shared");
	else
		(void)dist_rpc_call_reply(call, &fork, sizeof fork);
}

static void push(void *context, struct dist_rpc_call *call)
{
	struct parameters *p = context;
	const float *gradients = dist_rpc_call_input(call).data;

	pthread_mutex_lock(&p->mutex);
	for (size_t i = 0; i < TOYMODEL_NUMEL; i++)
		p->model.grads[i] += gradients[i] / (float)p->trainers;
	pthread_mutex_unlock(&p->mutex);
}

/* One step with the gradients of all trainers. */
static void step(void *context, struct dist_rpc_call *call)
{
	struct parameters *p = context;
	struct dist_rpc_bytes value;

	toymodel_step(&p->model, RATE);
	toymodel_zero_grads(&p->model);
	if (dist_rref_local_value(p->rref, &value))
		dist_rpc_call_fail(call, "the model is not here");
	else
		memcpy(value.data, p->model.params, sizeof p->model.params);
}

/* ---- the ranks ------------------------------------------------------------
 */

static enum dist_error find_model(const struct remote *remote,
				  struct dist_rref **rref)
{
	struct dist_rpc_bytes value = {NULL, 0};
	enum dist_error error =
		remote_call(remote, 0, "get_model", NULL, 0, &value);

	if (!error)
		error = dist_rref_take(remote->rpc, value.data, rref);
	dist_rpc_bytes_free(&value);
	return error;
}

static enum dist_error train_step(const struct remote *remote,
				  struct parameters *p,
				  const struct toymodel_batch *batch, int i)
{
	struct dist_rpc_bytes value = {NULL, 0};
	enum dist_error error = dist_rref_to_here(p->rref, 0, &value);
	double loss = 0;

	if (!error) {
		memcpy(p->model.params, value.data, sizeof p->model.params);
		loss = toymodel_train(&p->model, batch);
		error = remote_call(remote, 0, "push", p->model.grads,
				    sizeof p->model.grads, NULL);
	}
	dist_rpc_bytes_free(&value);
	if (!error)
		error = dist_barrier(remote->others, NULL);
	if (!error && remote->rank == 1)
		error = remote_call(remote, 0, "step", NULL, 0, NULL);
	return error ? error : remote_loss(remote, i, loss);
}

static enum dist_error train(const struct remote *remote, struct parameters *p)
{
	const struct toymodel_batch batch =
		toymodel_batch(SEED, (size_t)remote->rank);
	enum dist_error error = find_model(remote, &p->rref);

	for (int i = 0; !error && i < STEPS; i++)
		error = train_step(remote, p, &batch, i);
	return error;
}

static enum dist_error run(const struct remote *remote, void *context)
{
	struct parameters *p = context;
	enum dist_error error = DIST_OK;

	p->trainers = remote->world_size - 1;
	if (remote->rank == 0)
		error = dist_rref_new(remote->rpc, p->model.params,
				      sizeof p->model.params, &p->rref);
	if (!error)
		error = dist_barrier(remote->group, NULL);
	if (!error && remote->rank > 0)
		error = train(remote, p);
	if (!error)
		error = dist_barrier(remote->group, NULL);
	dist_rref_free(p->rref);
	return error;
}

int tutorial_rpc_parameter_server_rank(void *arg)
{
	static const struct dist_rpc_entry functions[] = {
		{"get_model", get_model, NULL},
		{"push", push, NULL},
		{"step", step, NULL},
		{NULL, NULL, NULL}};
	static const struct remote_plan plan = {"tutorial_rpc_parameter_server",
						"parameter_server",
						"trainer",
						2,
						functions,
						run};
	struct parameters p = {.mutex = PTHREAD_MUTEX_INITIALIZER};

	(void)arg;
	toymodel_init(&p.model, SEED);
	return remote_rank(&plan, &p);
}
