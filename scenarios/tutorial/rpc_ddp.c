/*
 * tutorial_rpc_ddp - "Combining Distributed DataParallel with Distributed RPC
 * Framework": an embedding table too large for the trainers lies on rank 0 and
 * is looked up and trained by remote calls; the ToyModel behind it is on every
 * trainer, and ddp averages its gradients.
 */
#include "scenarios/scenario.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/ddp.h"
#include "scenarios/tutorial/random.h"
#include "scenarios/tutorial/remote.h"
#include "scenarios/tutorial/replicas.h"

#define EMBEDDINGS 100
#define DIM        TOYMODEL_INPUTS
#define ROWS       10 /* of a batch: bags */
#define BAG        4  /* embeddings that are summed up for a row */
#define STEPS      50
#define RATE       0.1F
#define SEED       1234

/* The table, on the server. */
struct table {
	float rows[EMBEDDINGS][DIM];
	float gradients[EMBEDDINGS][DIM];
	int trainers;
	pthread_mutex_t mutex;
};

/* Which embeddings a batch is about, and the gradients of their sums. */
struct lookup {
	int32_t index[ROWS][BAG];
	float gradients[ROWS][DIM];
};

/* What a trainer has. */
struct trainer {
	struct toymodel dense;
	struct dist_ddp *ddp;
	struct lookup lookup;
	struct toymodel_batch batch; /* of which the labels count */
};

/* ---- functions of the server ----------------------------------------------
 */

static void embed(void *context, struct dist_rpc_call *call)
{
	const struct table *table = context;
	const struct lookup *in = dist_rpc_call_input(call).data;
	float sums[ROWS][DIM] = {{0}};

	for (int r = 0; r < ROWS; r++)
		for (int b = 0; b < BAG; b++)
			for (int d = 0; d < DIM; d++)
				sums[r][d] += table->rows[in->index[r][b]][d];
	(void)dist_rpc_call_reply(call, sums, sizeof sums);
}

static void accumulate(void *context, struct dist_rpc_call *call)
{
	struct table *table = context;
	const struct lookup *in = dist_rpc_call_input(call).data;

	pthread_mutex_lock(&table->mutex);
	for (int r = 0; r < ROWS; r++)
		for (int b = 0; b < BAG; b++)
			for (int d = 0; d < DIM; d++)
				table->gradients[in->index[r][b]][d] +=
					in->gradients[r][d] /
					(float)table->trainers;
	pthread_mutex_unlock(&table->mutex);
}

static void step(void *context, struct dist_rpc_call *call)
{
	struct table *table = context;

	(void)call;
	for (int e = 0; e < EMBEDDINGS; e++)
		for (int d = 0; d < DIM; d++)
			table->rows[e][d] -= RATE * table->gradients[e][d];
	memset(table->gradients, 0, sizeof table->gradients);
}

static void fill(struct table *table)
{
	struct random_stream stream = random_stream(SEED, 0);

	for (int e = 0; e < EMBEDDINGS; e++)
		for (int d = 0; d < DIM; d++)
			table->rows[e][d] = random_normal(&stream);
}

/* ---- trainers ---------------------------------------------------------------
 */

/* Forward and backward of the dense layers; returns the loss. */
static double train_dense(struct trainer *t, const float *embedded)
{
	const struct rows all = {0, ROWS};
	double loss;

	toymodel_zero_grads(&t->dense);
	toymodel_forward1(&t->dense, embedded, all);
	toymodel_forward2(&t->dense, all);
	loss = toymodel_loss(&t->dense, t->batch.labels, all, ROWS);
	toymodel_backward2(&t->dense, all);
	toymodel_backward1(&t->dense, embedded, all, t->lookup.gradients[0]);
	return loss;
}

static enum dist_error train_step(const struct remote *remote,
				  struct trainer *t, int i)
{
	struct dist_rpc_bytes embedded = {NULL, 0};
	enum dist_error error = remote_call(remote, 0, "embed", &t->lookup,
					    sizeof t->lookup, &embedded);
	double loss = 0;

	if (!error) {
		loss = train_dense(t, embedded.data);
		error = remote_call(remote, 0, "accumulate", &t->lookup,
				    sizeof t->lookup, NULL);
	}
	dist_rpc_bytes_free(&embedded);
	if (!error)
		error = replicas_average(t->ddp);
	if (error)
		return error;
	toymodel_step(&t->dense, RATE);
	error = dist_barrier(remote->others, NULL);
	if (!error && remote->rank == 1)
		error = remote_call(remote, 0, "step", NULL, 0, NULL);
	return error ? error : remote_loss(remote, i, loss);
}

static enum dist_error train(const struct remote *remote, struct trainer *t)
{
	const uint64_t rank = (uint64_t)remote->rank;
	struct random_stream stream = random_stream(SEED, rank);
	enum dist_error error;
	bool same;

	/* The batch of a trainer: bags of embeddings, and what each is to
	 * give. */
	for (int r = 0; r < ROWS; r++)
		for (int b = 0; b < BAG; b++)
			t->lookup.index[r][b] =
				(int32_t)random_below(&stream, EMBEDDINGS);
	t->batch = toymodel_batch(SEED, rank);
	toymodel_init(&t->dense, SEED);
	error = replicas_new(remote->others, &t->dense, &t->ddp);
	for (int i = 0; !error && i < STEPS; i++)
		error = train_step(remote, t, i);
	if (!error)
		error = replicas_check(remote->others, &t->dense, &same);
	dist_ddp_free(t->ddp);
	return error;
}

static enum dist_error run(const struct remote *remote, void *context)
{
	struct table *table = context;
	struct trainer *t = calloc(1, sizeof *t);
	enum dist_error error = t ? DIST_OK : DIST_ERR_NO_MEMORY;

	table->trainers = remote->world_size - 1;
	if (!error)
		error = dist_barrier(remote->group, NULL);
	if (!error && remote->rank > 0)
		error = train(remote, t);
	free(t);
	return error;
}

int tutorial_rpc_ddp_rank(void *arg)
{
	static const struct dist_rpc_entry functions[] = {
		{"embed", embed, NULL},
		{"accumulate", accumulate, NULL},
		{"step", step, NULL},
		{NULL, NULL, NULL}};
	static const struct remote_plan plan = {
		"tutorial_rpc_ddp", "parameter_server",
		"trainer",          2,
		functions,          run};
	struct table *table = calloc(1, sizeof *table);
	int status = 1;

	(void)arg;
	if (table) {
		pthread_mutex_init(&table->mutex, NULL);
		fill(table);
		status = remote_rank(&plan, table);
	}
	free(table);
	return status;
}
