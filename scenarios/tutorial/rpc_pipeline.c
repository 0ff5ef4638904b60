/*
 * tutorial_rpc_pipeline - "Distributed Pipeline Parallelism Using RPC": the
 * ToyModel in two stages, net1 on rank 1 and net2 on rank 2. The master cuts
 * the batch into splits. The first stage leaves what it makes of a split where
 * it is and the master hands the second one a reference; so the stages work on
 * different splits at once, and the activations never pass through the master.
 */
#include "scenarios/scenario.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/tutorial/remote.h"
#include "scenarios/tutorial/toymodel.h"

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

static struct rows rows_of(const struct job *job)
{
	return (struct rows){(size_t)job->split * ROWS, ROWS};
}

static void forward1(void *context, struct dist_rpc_call *call)
{
	struct stage *s = context;
	struct rows rows = rows_of(dist_rpc_call_input(call).data);

	toymodel_forward1(&s->model, s->batch.inputs, rows);
	(void)dist_rpc_call_reply(
		call, s->model.hidden + rows.first * TOYMODEL_HIDDEN,
		sizeof(float[ROWS * TOYMODEL_HIDDEN]));
}

static void train2(void *context, struct dist_rpc_call *call)
{
	struct stage *s = context;
	struct dist_rpc_bytes hidden = {NULL, 0};
	struct result result;
	struct rows rows;
	struct job job;

	if (!fetch(call, &job, &hidden))
		return;
	rows = rows_of(&job);
	memcpy(s->model.hidden + rows.first * TOYMODEL_HIDDEN, hidden.data,
	       sizeof result.d_hidden);
	dist_rpc_bytes_free(&hidden);
	toymodel_forward2(&s->model, rows);
	result.loss =
		toymodel_loss(&s->model, s->batch.labels, rows, TOYMODEL_ROWS);
	pthread_mutex_lock(&s->mutex);
	toymodel_backward2(&s->model, rows);
	pthread_mutex_unlock(&s->mutex);
	memcpy(result.d_hidden,
	       s->model.d_hidden + rows.first * TOYMODEL_HIDDEN,
	       sizeof result.d_hidden);
	(void)dist_rpc_call_reply(call, &result, sizeof result);
}

/* Replies the loss. */
static void backward1(void *context, struct dist_rpc_call *call)
{
	struct stage *s = context;
	struct dist_rpc_bytes value = {NULL, 0};
	const struct result *result;
	struct rows rows;
	struct job job;

	if (!fetch(call, &job, &value))
		return;
	result = value.data;
	rows = rows_of(&job);
	memcpy(s->model.d_hidden + rows.first * TOYMODEL_HIDDEN,
	       result->d_hidden, sizeof result->d_hidden);
	pthread_mutex_lock(&s->mutex);
	toymodel_backward1(&s->model, s->batch.inputs, rows, NULL);
	pthread_mutex_unlock(&s->mutex);
	(void)dist_rpc_call_reply(call, &result->loss, sizeof result->loss);
	dist_rpc_bytes_free(&value);
}

static void step(void *context, struct dist_rpc_call *call)
{
	struct stage *s = context;

	(void)call;
	toymodel_step(&s->model, RATE);
	toymodel_zero_grads(&s->model);
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
	double loss;

	for (int i = 0; !error && i < STEPS; i++) {
		error = train_step(remote, &loss);
		if (!error)
			toymodel_agrees(&s->model, &s->batch, RATE, i, loss);
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
	toymodel_init(&s.model, SEED);
	return remote_rank(&plan, &s);
}
