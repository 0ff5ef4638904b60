/*
 * tutorial_rpc_pipeline - "Distributed Pipeline Parallelism Using RPC": the
 * ToyModel in two stages, net1 on rank 1 and net2 on rank 2. The master cuts
 * the batch into splits. The first stage leaves what it makes of a split where
 * it is and the master hands the second one a reference; so the stages work on
 * different splits at once, and the activations never pass through the master.
 */
#include "scenarios/scenario.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/tutorial/nn/layers.h"
#include "scenarios/tutorial/nn/toymodel.h"
#include "scenarios/tutorial/remote.h"

#define STEPS  5
#define SPLITS 4
#define ROWS   (TOYMODEL_ROWS / SPLITS)
#define RATE   0.1F
#define SEED   1234

/* Ranks of the stages. */
enum { MASTER, STAGE1, STAGE2 };

/* A rank; all draw the whole model, and each stage uses its half. */
struct stage {
	struct toymodel model;
	struct toymodel_batch batch;
	pthread_mutex_t mutex; /* of the gradients */
};

/* What a stage is asked about: a split, and what the other made of it. */
struct job {
	int64_t split;
	struct dist_rref_fork from;
};

/* What the second stage makes of a split. */
struct result {
	double loss;
	float d_hidden[ROWS * TOYMODEL_HIDDEN];
};

/* ---- functions of the stages ----------------------------------------------
 */

/* Takes the job of a call and fetches what it refers to. */
static bool fetch(struct dist_rpc_call *call, struct job *job,
		  struct dist_rpc_bytes *value)
{
	struct dist_rref *rref = NULL;
	enum dist_error error;

	memcpy(job, dist_rpc_call_input(call).data, sizeof *job);
	error = dist_rref_take(dist_rpc_call_rpc(call), &job->from, &rref);
	if (!error)
		error = dist_rref_to_here(rref, 0, value);
	dist_rref_free(rref);
	if (error)
		dist_rpc_call_fail(call, "split %d: %s", (int)job->split,
				   dist_error_string(error));
	return !error;
}

static void forward1(void *context, struct dist_rpc_call *call)
{
	struct stage *s = context;
	const struct job *job = dist_rpc_call_input(call).data;
	float *hidden = s->model.hidden + job->split * ROWS * TOYMODEL_HIDDEN;

	linear_forward(&s->model.network.layers[TOYMODEL_NET1],
		       s->batch.inputs + job->split * ROWS * TOYMODEL_INPUTS,
		       ROWS, hidden);
	relu_forward(hidden, ROWS * TOYMODEL_HIDDEN);
	(void)dist_rpc_call_reply(call, hidden,
				  ROWS * TOYMODEL_HIDDEN * sizeof *hidden);
}

static void train2(void *context, struct dist_rpc_call *call)
{
	struct stage *s = context;
	const struct layer *net2 = &s->model.network.layers[TOYMODEL_NET2];
	float outputs[ROWS * TOYMODEL_OUTPUTS],
		d_outputs[ROWS * TOYMODEL_OUTPUTS];
	struct dist_rpc_bytes hidden = {NULL, 0};
	struct result result;
	struct job job;

	if (!fetch(call, &job, &hidden))
		return;
	linear_forward(net2, hidden.data, ROWS, outputs);
	result.loss = mse_loss(
		outputs, s->batch.labels + job.split * ROWS * TOYMODEL_OUTPUTS,
		ROWS * TOYMODEL_OUTPUTS, TOYMODEL_ROWS * TOYMODEL_OUTPUTS,
		d_outputs);
	pthread_mutex_lock(&s->mutex);
	linear_backward(net2, hidden.data, d_outputs, ROWS, result.d_hidden);
	pthread_mutex_unlock(&s->mutex);
	(void)dist_rpc_call_reply(call, &result, sizeof result);
	dist_rpc_bytes_free(&hidden);
}

/* Replies the loss. */
static void backward1(void *context, struct dist_rpc_call *call)
{
	struct stage *s = context;
	struct dist_rpc_bytes value = {NULL, 0};
	struct result *result;
	struct job job;

	if (!fetch(call, &job, &value))
		return;
	result = value.data;
	relu_backward(s->model.hidden + job.split * ROWS * TOYMODEL_HIDDEN,
		      result->d_hidden, ROWS * TOYMODEL_HIDDEN);
	pthread_mutex_lock(&s->mutex);
	linear_backward(&s->model.network.layers[TOYMODEL_NET1],
			s->batch.inputs + job.split * ROWS * TOYMODEL_INPUTS,
			result->d_hidden, ROWS, NULL);
	pthread_mutex_unlock(&s->mutex);
	(void)dist_rpc_call_reply(call, &result->loss, sizeof result->loss);
	dist_rpc_bytes_free(&value);
}

static void step(void *context, struct dist_rpc_call *call)
{
	struct stage *s = context;

	(void)call;
	network_step(&s->model.network, RATE, 0);
	network_zero_grads(&s->model.network);
}

/* ---- the master ------------------------------------------------------------
 */

/* A split on its way through the stages. */
struct passage {
	struct job job;
	struct dist_rref *hidden, *result;
	struct dist_rpc_future *back;
};

static struct dist_rpc_request request(int to, const char *function,
				       const struct job *job)
{
	return (struct dist_rpc_request){.to = to,
					 .function = function,
					 .data = job,
					 .bytes = sizeof *job};
}

/* Starts all that becomes of a split; returns without waiting for any. */
static enum dist_error begin(struct dist_rpc *rpc, struct passage *p)
{
	struct dist_rpc_request forward = request(STAGE1, "forward1", &p->job),
				train = request(STAGE2, "train2", &p->job),
				backward =
					request(STAGE1, "backward1", &p->job);
	enum dist_error error = dist_rpc_remote(rpc, &forward, &p->hidden);

	if (!error)
		error = dist_rref_fork(p->hidden, &p->job.from);
	if (!error)
		error = dist_rpc_remote(rpc, &train, &p->result);
	if (!error)
		error = dist_rref_fork(p->result, &p->job.from);
	return error ? error : dist_rpc_async(rpc, &backward, &p->back);
}

static void end(struct passage *p)
{
	dist_rpc_future_free(p->back);
	dist_rref_free(p->result);
	dist_rref_free(p->hidden);
}

static enum dist_error train_step(const struct remote *remote, double *loss)
{
	struct passage splits[SPLITS] = {{.job = {0}}};
	enum dist_error error = DIST_OK;

	*loss = 0;
	for (int i = 0; !error && i < SPLITS; i++) {
		splits[i].job.split = i;
		error = begin(remote->rpc, &splits[i]);
	}
	for (int i = 0; i < SPLITS; i++) {
		if (!error)
			error = dist_rpc_wait(splits[i].back);
		if (!error)
			*loss += *(double *)dist_rpc_value(splits[i].back).data;
		end(&splits[i]);
	}
	for (int to = STAGE1; !error && to <= STAGE2; to++)
		error = remote_call(remote, to, "step", NULL, 0, NULL);
	return error;
}

/* Trains the whole model here, too: the loss must be the same up to the order
 * of additions. */
static enum dist_error drive(const struct remote *remote, struct stage *s)
{
	enum dist_error error = DIST_OK;
	double loss, alone;

	for (int i = 0; !error && i < STEPS; i++) {
		error = train_step(remote, &loss);
		if (error)
			break;
		alone = toymodel_train(&s->model, &s->batch);
		network_step(&s->model.network, RATE, 0);
		printf("step %d: loss %.3f, %s on one device\n", i, loss,
		       fabs(loss - alone) < 1e-5 ? "as" : "unlike");
	}
	return error;
}

static enum dist_error run(const struct remote *remote, void *context)
{
	enum dist_error error = dist_barrier(remote->group, NULL);

	if (!error && remote->rank == MASTER)
		error = drive(remote, context);
	return error;
}

int tutorial_rpc_pipeline_rank(void *arg)
{
	static const struct dist_rpc_entry functions[] = {
		{"forward1", forward1, NULL},
		{"train2", train2, NULL},
		{"backward1", backward1, NULL},
		{"step", step, NULL},
		{NULL, NULL, NULL}};
	static const struct remote_plan plan = {
		"tutorial_rpc_pipeline", "master", "worker", 3, functions, run};
	struct stage s = {.mutex = PTHREAD_MUTEX_INITIALIZER};

	(void)arg;
	s.batch = toymodel_batch(SEED, 0);
	return remote_model_rank(&plan, &s, &s.model, SEED);
}
