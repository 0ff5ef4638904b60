/*
 * ps_rpc.c - parameter servers by remote calls: a layer is a function of its
 * server. A worker calls it with its gradients; the calls of all workers wait
 * for the last one, and are answered together.
 *
 * A phantom has no bytes that could say which layer it is of: so the name does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/measure.h"
#include "scenarios/ps.h"

#define NAME 32 /* bytes of a function's */

static void name_layer(char name[NAME], size_t l)
{
	snprintf(name, NAME, "layer %zu", l);
}

/* ---- servers ------------------------------------------------------------- */

/* Adds up the gradients of the calls, in the order of their workers. */
static void add_up(const struct ps *p, struct kept *k)
{
	float *sums = k->parameters.data;

	for (size_t i = 0; sums && i < k->parameters.numel; i++) {
		sums[i] = 0;
		for (size_t w = 0; w < p->peers; w++)
			sums[i] +=
				((const float *)dist_rpc_call_input(k->calls[w])
					 .data)[i];
	}
}

/* Keeps a call; returns whether it is the last of the step. */
static bool is_last(struct ps *p, struct kept *k, struct dist_rpc_call *call)
{
	bool last;

	pthread_mutex_lock(&p->mutex);
	k->calls[dist_rpc_call_caller(call) - p->servers] = call;
	last = ++k->num_calls == p->workers;
	if (last)
		k->num_calls = 0;
	pthread_mutex_unlock(&p->mutex);
	return last;
}

static void serve_layer(void *context, struct dist_rpc_call *call)
{
	struct kept *k = context;
	struct training *t = k->training;
	struct ps *p = t->state;
	size_t bytes = k->parameters.numel * sizeof(float);
	enum dist_error error;

	dist_rpc_call_later(call);
	if (!is_last(p, k, call))
		return;
	add_up(p, k);
	error = dist_rpc_compute(
		dist_rpc_call_rpc(call),
		(int64_t)(t->factor *
			  (double)ps_optimizer_ns(t, (size_t)(k - p->layers))),
		"optimizer");
	for (size_t w = 0; w < p->peers; w++) {
		struct dist_rpc_call *waiting = k->calls[w];

		if (error)
			dist_rpc_call_fail(waiting, "%s",
					   dist_error_string(error));
		else
			(void)dist_rpc_call_reply(waiting, k->parameters.data,
						  bytes);
		dist_rpc_call_end(waiting);
	}
}

/* ---- workers ---------------------------------------------------------------
 */

enum dist_error ps_rpc_push(struct training *t, size_t l)
{
	struct ps *p = t->state;
	struct kept *k = &p->layers[l];
	char name[NAME];
	const struct dist_rpc_request request = {
		.to = k->server,
		.function = name,
		.data = k->gradients[0].data,
		.bytes = k->gradients[0].numel * sizeof(float),
		.timeout_ns = DIST_TIMEOUT_NEVER};

	name_layer(name, l);
	(void)training_begin(t, &k->pulls[0], WORKLOAD_SEND, p->lane,
			     k->gradients[0]);
	return dist_rpc_async(p->rpc, &request, &k->pull);
}

enum dist_error ps_rpc_pull(struct training *t, size_t l)
{
	struct ps *p = t->state;
	struct kept *k = &p->layers[l];
	struct wait wait = {.begun_ns = k->pulls[0].begun_ns,
			    .from_ns = dist_now_ns(t->group)};
	enum dist_error error = dist_rpc_wait(k->pull);
	struct dist_rpc_bytes value = dist_rpc_value(k->pull);

	wait.to_ns = dist_now_ns(t->group);
	if (!error && value.data)
		memcpy(k->parameters.data, value.data, value.bytes);
	dist_rpc_future_free(k->pull);
	k->pull = NULL;
	return error ? error : waits_add(&p->lane->waits, wait);
}

/* ---- both
 * -------------------------------------------------------------------- */

/* The layers that this rank keeps, as functions. */
static enum dist_error make_functions(struct training *t,
				      struct dist_rpc_entry *entries,
				      char (*names)[NAME], int *num)
{
	struct ps *p = t->state;

	for (size_t l = 0; l < p->num; l++) {
		struct kept *k = &p->layers[l];

		if (!p->serves || k->server != t->rank)
			continue;
		k->training = t;
		k->calls = calloc(p->peers, sizeof *k->calls);
		if (!k->calls)
			return DIST_ERR_NO_MEMORY;
		name_layer(names[*num], l);
		entries[*num] =
			(struct dist_rpc_entry){names[*num], serve_layer, k};
		++*num;
	}
	return DIST_OK;
}

enum dist_error ps_rpc_start(struct training *t)
{
	struct ps *p = t->state;
	struct dist_rpc_entry *entries = calloc(p->num, sizeof *entries);
	char(*names)[NAME] = calloc(p->num, sizeof *names);
	struct dist_rpc_options options = {.functions = entries};
	enum dist_error error = DIST_ERR_NO_MEMORY;

	pthread_mutex_init(&p->mutex, NULL);
	if (entries && names)
		error = make_functions(t, entries, names,
				       &options.num_functions);
	if (!error)
		error = dist_rpc_init(dist_untimed(t->group), &options,
				      &p->rpc);
	free(entries);
	free(names);
	return error;
}

void ps_rpc_stop(struct training *t)
{
	struct ps *p = t->state;

	for (size_t l = 0; l < p->num; l++)
		dist_rpc_future_free(p->layers[l].pull);
	(void)dist_rpc_shutdown(p->rpc, !t->error);
	for (size_t l = 0; l < p->num; l++)
		free(p->layers[l].calls);
	pthread_mutex_destroy(&p->mutex);
}
