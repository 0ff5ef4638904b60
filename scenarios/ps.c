/*
 * ps - training steps with parameter servers: workers push each layer's
 * gradients to the server that keeps the layer, as backward yields them, and
 * pull its parameters once the server has heard of all workers (M. Li et al.,
 * "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014;
 * synchronous).
 *
 * The first ranks are the servers. Layers are dealt out to them the last first,
 * each to the one that keeps least. What leads to a server is shared by all
 * workers: n bytes of w workers on s servers take w n / s on its link, there
 * and back.
 *
 * A push and its pull are to a worker what an all-reduce among the workers is:
 * until the last of them has begun to push the layer it is idle, and from then
 * on, the server's update included, communication is exposed.
 */
#include "scenarios/ps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "lockstep/measure.h"
#include "scenarios/pattern.h"

static enum dist_error check(const struct workload_job *job, int world_size,
			     struct dist__refusal *refusal)
{
	if (job->arguments->servers < world_size)
		return DIST_OK;
	return dist__refuse_option(
		refusal, "servers",
		"--servers %d: expected a world of %d ranks or more, not of %d",
		job->arguments->servers, job->arguments->servers + 1,
		world_size);
}

int64_t ps_optimizer_ns(const struct training *t, size_t l)
{
	const struct workload_job *job = t->job;

	return llround((double)job->schedule->optimizer_ns *
		       (double)job->layers->list[l].numel /
		       (double)job->model->numel);
}

static bool by_calls(const struct training *t)
{
	const char *via = t->job->arguments->via;

	return via && strcmp(via, "rpc") == 0;
}

/* Chooses the servers of all layers, alike on all ranks. */
static enum dist_error deal_out(struct training *t, struct ps *p)
{
	double *loads = calloc((size_t)p->servers, sizeof *loads);

	if (!loads)
		return DIST_ERR_NO_MEMORY;
	for (size_t l = p->num; l-- > 0;) {
		int s, least = 0;

		for (s = 1; s < p->servers; s++)
			if (loads[s] < loads[least])
				least = s;
		p->layers[l].server = least;
		loads[least] += (double)t->job->layers->list[l].numel;
	}
	free(loads);
	return DIST_OK;
}

static enum dist_error make_layer(struct training *t, struct ps *p, size_t l)
{
	struct kept *k = &p->layers[l];
	size_t i, numel = t->job->layers->list[l].numel;
	enum dist_error error;

	if (p->serves && k->server != t->rank)
		return DIST_OK;
	k->gradients = calloc(p->peers, sizeof *k->gradients);
	k->pushes = calloc(p->peers, sizeof *k->pushes);
	k->pulls = calloc(p->peers, sizeof *k->pulls);
	if (!k->gradients || !k->pushes || !k->pulls)
		return DIST_ERR_NO_MEMORY;
	error = training_tensor(t, numel, &k->parameters);
	for (i = 0; !error && i < p->peers; i++)
		error = training_tensor(t, numel, &k->gradients[i]);
	return error;
}

/* The workers as a group, in which they compare when they began. */
static enum dist_error join_workers(struct training *t, struct ps *p)
{
	const struct dist_group_options options = {.name = "workers"};
	int *ranks = calloc((size_t)p->workers, sizeof *ranks);
	struct dist_group *workers;
	enum dist_error error;

	if (!ranks)
		return DIST_ERR_NO_MEMORY;
	for (int w = 0; w < p->workers; w++)
		ranks[w] = p->servers + w;
	error = dist_new_group(dist_untimed(t->group), ranks, p->workers,
			       &options, &workers);
	free(ranks);
	if (!error && !p->serves)
		p->lane = training_lane(t, workers);
	return error;
}

static enum dist_error start(struct training *t)
{
	struct ps *p = t->state;
	enum dist_error error;

	p->servers = t->job->arguments->servers;
	p->workers = t->world_size - p->servers;
	p->serves = t->rank < p->servers;
	p->peers = p->serves ? (size_t)p->workers : 1;
	t->computes = !p->serves;
	p->layers = calloc(t->job->layers->num, sizeof *p->layers);
	if (!p->layers)
		return DIST_ERR_NO_MEMORY;
	p->num = t->job->layers->num;
	error = join_workers(t, p);
	if (!error)
		error = deal_out(t, p);
	for (size_t l = 0; !error && l < p->num; l++)
		error = make_layer(t, p, l);
	return error || !by_calls(t) ? error : ps_rpc_start(t);
}

static void stop(struct training *t)
{
	struct ps *p = t->state;
	size_t l, i;

	if (p->rpc)
		ps_rpc_stop(t);
	for (l = 0; l < p->num; l++) {
		struct kept *k = &p->layers[l];

		for (i = 0; i < p->peers; i++) {
			if (k->pushes)
				dist_work_free(k->pushes[i].work);
			if (k->pulls)
				dist_work_free(k->pulls[i].work);
		}
		free(k->gradients);
		free(k->pushes);
		free(k->pulls);
	}
	free(p->layers);
}

/* What the workers push is summed. */
static struct pattern pattern_of(const struct ps *p)
{
	return (struct pattern){.reduces = true,
				.op = DIST_SUM,
				.dtype = DIST_FLOAT32,
				.world_size = p->workers};
}

static void fill(struct training *t)
{
	const struct ps *p = t->state;
	const struct pattern pattern = pattern_of(p);

	for (size_t l = 0; !p->serves && l < p->num; l++)
		pattern_fill(&pattern, p->layers[l].gradients[0],
			     t->rank - p->servers, (int)l + t->step);
}

static double count_wrong(const struct training *t)
{
	const struct ps *p = t->state;
	const struct pattern pattern = pattern_of(p);
	double wrong = 0;

	for (size_t l = 0; !p->serves && l < p->num; l++)
		wrong += (double)pattern_count_wrong(
			&pattern, p->layers[l].parameters, 0, (int)l + t->step);
	return wrong;
}

/* Messages of layer l: pushes have even tags, pulls odd ones. */
static enum dist_error send(struct training *t, struct dist_tensor tensor,
			    int dst, int tag, struct pending *pending)
{
	(void)training_begin(t, pending, WORKLOAD_SEND, NULL, tensor);
	return dist_isend(t->group, tensor, dst, tag, &pending->work);
}

/* ---- workers ------------------------------------------------------------ */

/* Pushes a layer and asks for it. */
static enum dist_error push(struct training *t, size_t l)
{
	const struct ps *p = t->state;
	struct kept *k = &p->layers[l];
	enum dist_error error = dist_irecv(t->group, k->parameters, k->server,
					   2 * (int)l + 1, &k->pulls[0].work);

	if (!error)
		error = send(t, k->gradients[0], k->server, 2 * (int)l,
			     &k->pushes[0]);
	k->pulls[0].lane = p->lane;
	k->pulls[0].begun_ns = k->pushes[0].begun_ns;
	return error;
}

static enum dist_error train(struct training *t)
{
	const struct workload_job *job = t->job;
	const struct ps *p = t->state;
	enum dist_error error;

	t->doing = "forward";
	error = training_compute(t, job->schedule->forward_ns, "forward");
	for (size_t l = p->num; !error && l-- > 0;) {
		t->doing = "backward";
		error = training_compute(
			t,
			layer_backward_ns(&job->layers->list[l], job->schedule),
			"backward");
		if (!error)
			error = p->rpc ? ps_rpc_push(t, l) : push(t, l);
	}
	t->doing = "pulling parameters";
	for (size_t l = p->num; !error && l-- > 0;) {
		error = p->rpc ? ps_rpc_pull(t, l)
			       : training_wait(t, &p->layers[l].pushes[0]);
		if (!error && !p->rpc)
			error = training_wait(t, &p->layers[l].pulls[0]);
	}
	return error;
}

/* ---- servers ------------------------------------------------------------ */

/* Adds up what the workers pushed. */
static void add_up(const struct ps *p, struct kept *k)
{
	float *sums = k->parameters.data;
	size_t w, i;

	for (i = 0; sums && i < k->parameters.numel; i++) {
		sums[i] = 0;
		for (w = 0; w < p->peers; w++)
			sums[i] += ((float *)k->gradients[w].data)[i];
	}
}

/* Hears of all workers about a layer, updates it and answers. */
static enum dist_error serve_layer(struct training *t, size_t l)
{
	struct ps *p = t->state;
	struct kept *k = &p->layers[l];
	enum dist_error error = DIST_OK;

	for (size_t w = 0; !error && w < p->peers; w++)
		error = training_wait(t, &k->pushes[w]);
	if (error)
		return error;
	add_up(p, k);
	error = training_compute(t, ps_optimizer_ns(t, l), "optimizer");
	for (size_t w = 0; !error && w < p->peers; w++)
		error = send(t, k->parameters, p->servers + (int)w,
			     2 * (int)l + 1, &k->pulls[w]);
	return error;
}

static enum dist_error serve(struct training *t)
{
	struct ps *p = t->state;
	enum dist_error error = DIST_OK;
	size_t l, w;

	t->doing = "serving";
	for (l = p->num; !error && l-- > 0;)
		for (w = 0; !error && p->layers[l].pushes && w < p->peers; w++)
			error = dist_irecv(t->group, p->layers[l].gradients[w],
					   p->servers + (int)w, 2 * (int)l,
					   &p->layers[l].pushes[w].work);
	for (l = p->num; !error && l-- > 0;)
		if (p->layers[l].pushes)
			error = serve_layer(t, l);
	for (l = p->num; !error && l-- > 0;)
		for (w = 0; !error && p->layers[l].pulls && w < p->peers; w++)
			error = training_wait(t, &p->layers[l].pulls[w]);
	return error;
}

static enum dist_error step(struct training *t)
{
	const struct ps *p = t->state;

	if (!p->serves)
		return train(t);
	return p->rpc ? DIST_OK : serve(t);
}

/* Calls are answered beside the rank, which does not count them. */
static void report(const struct training *t, struct workload_result *result)
{
	const struct ps *p = t->state;
	struct workload_calls *sends = &result->calls[WORKLOAD_SEND];

	for (size_t l = 0; p->rpc && l < p->num; l++) {
		if (p->layers[l].server != t->rank)
			continue;
		sends->num += p->peers;
		sends->bytes += p->peers * p->layers[l].parameters.numel *
				sizeof(float);
	}
}

static double batches(const struct workload_job *job, int world_size)
{
	return world_size - job->arguments->servers;
}

/* A worker has parameters and gradients; a server, what it keeps, its state,
 * too: more than a worker where it is alone. */
static struct workload_held held(const struct workload_job *job, int world_size)
{
	double all = (double)job->model->numel;

	(void)world_size;
	return (struct workload_held){all, all,
				      job->arguments->servers == 1 ? all : 0};
}

static bool differs(const struct workload_job *job, int world_size)
{
	(void)job;
	(void)world_size;
	return true;
}

const struct workload workload_ps = {
	.name = "ps",
	.has_groups = true,
	.differs = differs,
	.example = "--nproc-per-node 4 ps --model mnist --servers 1 --check",
	.prediction = "--model resnet50 --machine dgx-a100 --world-size 16 "
		      "--servers 2",
	.contents = "parameters",
	.check = check,
	.batches = batches,
	.held = held,
	WORKLOAD_STEPS(ps),
	.fill = fill,
	.count_wrong = count_wrong,
	.report = report,
};
