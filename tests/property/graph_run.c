/* Graphs of remote calls: running them. */
#include "tests/property/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORM "scenarios/platforms/star-8.xml"

/* A rank at work; its functions have it as their context. */
struct caller {
	const struct graph *graph;
	struct dist_rpc *rpc;
	int rank;
};

/* One call of a node, under way. */
struct begun {
	struct dist_rpc_future *future;
	struct dist_rref *rref;
	enum dist_error error;
	bool ended;
	int64_t value;
};

static int64_t number_of(struct dist_rpc_bytes bytes)
{
	int64_t number = -1;

	if (bytes.bytes == sizeof number)
		memcpy(&number, bytes.data, sizeof number);
	return number;
}

/* Has another worker fetch the value. */
static void forward(struct caller *caller, const struct graph_node *node,
		    struct begun *begun)
{
	struct dist_rpc_bytes value = {NULL, 0};
	struct dist_rref_fork fork;

	begun->ended = true;
	begun->error = dist_rref_fork(begun->rref, &fork);
	if (!begun->error)
		begun->error = dist_rpc_sync(
			caller->rpc,
			&(struct dist_rpc_request){.to = node->via,
						   .function = "fetch",
						   .data = &fork,
						   .bytes = sizeof fork},
			&value);
	begun->value = number_of(value);
	dist_rpc_bytes_free(&value);
}

static void begin(struct caller *caller, int i, struct begun *begun)
{
	const struct graph_node *node = &caller->graph->nodes[i];
	size_t bytes = sizeof(int64_t) + node->padding;
	int64_t *argument = calloc(1, bytes);
	const struct dist_rpc_request request = {.to = node->to,
						 .function = "node",
						 .data = argument,
						 .bytes = bytes};
	struct dist_rpc_bytes value = {NULL, 0};

	if (!argument)
		abort();
	*argument = i;
	if (node->mode == GRAPH_SYNC) {
		begun->error = dist_rpc_sync(caller->rpc, &request, &value);
		begun->ended = true;
		begun->value = number_of(value);
		dist_rpc_bytes_free(&value);
	} else if (node->mode == GRAPH_ASYNC) {
		begun->error =
			dist_rpc_async(caller->rpc, &request, &begun->future);
	} else {
		begun->error =
			dist_rpc_remote(caller->rpc, &request, &begun->rref);
		if (!begun->error && node->mode == GRAPH_FORWARD)
			forward(caller, node, begun);
	}
	free(argument);
}

static void finish(struct begun *begun)
{
	struct dist_rpc_bytes value = {NULL, 0};

	if (!begun->ended && begun->future) {
		begun->error = dist_rpc_wait(begun->future);
		begun->value = number_of(dist_rpc_value(begun->future));
	} else if (!begun->ended && begun->rref) {
		begun->error = dist_rref_to_here(begun->rref, 0, &value);
		begun->value = number_of(value);
		dist_rpc_bytes_free(&value);
	}
	dist_rpc_future_free(begun->future);
	dist_rref_free(begun->rref);
}

/* Makes the calls of a node, or of a rank. An error other than that of a
 * function is stored. */
static struct graph_value make_calls(struct caller *caller, int parent,
				     enum dist_error *error)
{
	const struct graph *graph = caller->graph;
	struct begun *begun = calloc(GRAPH_NODES, sizeof *begun);
	struct graph_value all = {0, false};

	if (!begun)
		abort();
	for (int i = 0; i < graph->num_nodes; i++)
		if (graph->nodes[i].parent == parent)
			begin(caller, i, &begun[i]);
	for (int i = 0; i < graph->num_nodes; i++) {
		if (graph->nodes[i].parent != parent)
			continue;
		finish(&begun[i]);
		if (!begun[i].error)
			all.sum += begun[i].value;
		else
			all.fails = true;
		if (begun[i].error && begun[i].error != DIST_ERR_REMOTE)
			*error = begun[i].error;
	}
	free(begun);
	return all;
}

/* ---- the functions ------------------------------------------------------ */

/* Others may call before init has returned here. */
static struct caller of_call(const struct caller *rank,
			     const struct dist_rpc_call *call)
{
	return (struct caller){.graph = rank->graph,
			       .rpc = dist_rpc_call_rpc(call)};
}

static void serve_node(void *context, struct dist_rpc_call *call)
{
	struct caller here = of_call(context, call), *caller = &here;
	int64_t i = 0;
	const struct graph_node *node;
	enum dist_error error = DIST_OK;
	struct graph_value all;

	memcpy(&i, dist_rpc_call_input(call).data, sizeof i);
	node = &caller->graph->nodes[i];
	if (node->compute_ns &&
	    dist_rpc_compute(caller->rpc, node->compute_ns, "node"))
		return;
	all = make_calls(caller, (int)i, &error);
	all.sum += node->weight;
	if (error || node->fails || (all.fails && !node->hides))
		dist_rpc_call_fail(call, "node %d: %s", (int)i,
				   dist_error_string(error));
	else
		(void)dist_rpc_call_reply(call, &all.sum, sizeof all.sum);
}

static void serve_fetch(void *context, struct dist_rpc_call *call)
{
	struct caller here = of_call(context, call), *caller = &here;
	struct dist_rpc_bytes value = {NULL, 0};
	struct dist_rref *rref = NULL;
	enum dist_error error = dist_rref_take(
		caller->rpc, dist_rpc_call_input(call).data, &rref);

	if (!error)
		error = dist_rref_to_here(rref, 0, &value);
	if (error)
		dist_rpc_call_fail(call, "fetch: %s", dist_error_string(error));
	else
		(void)dist_rpc_call_reply(call, value.data, value.bytes);
	dist_rpc_bytes_free(&value);
	dist_rref_free(rref);
}

/* ---- a rank -------------------------------------------------------------- */

static int call_roots(struct caller *caller)
{
	struct graph_value expected =
		graph_expected(caller->graph, -1 - caller->rank);
	enum dist_error error = DIST_OK;
	struct graph_value all = make_calls(caller, -1 - caller->rank, &error);

	if (!error && all.sum == expected.sum && all.fails == expected.fails)
		return 0;
	fprintf(stderr, "rank %d: %s, %lld%s, expected %lld%s\n", caller->rank,
		dist_error_string(error), (long long)all.sum,
		all.fails ? " and failed" : "", (long long)expected.sum,
		expected.fails ? " and failed" : "");
	return 1;
}

static int work(struct caller *caller)
{
	struct dist_rref *left = NULL;
	int failed = 0;

	failed |= call_roots(caller);
	if (caller->rank == caller->graph->left)
		failed |=
			dist_rref_new(caller->rpc, "left", 5, &left) != DIST_OK;
	failed |= dist_rpc_shutdown(caller->rpc, true) != DIST_OK;
	return failed;
}

static int rank_main(void *arg)
{
	struct caller caller = {.graph = arg};
	const struct dist_rpc_entry functions[] = {
		{"node", serve_node, &caller}, {"fetch", serve_fetch, &caller}};
	struct dist_rpc_options options = {.functions = functions,
					   .num_functions = 2};
	struct dist_group *group;
	int failed;

	if (dist_init_process_group(NULL, &group))
		return 1;
	caller.rank = dist_get_rank(group);
	options.num_worker_threads = caller.graph->threads[caller.rank];
	failed = dist_rpc_init(group, &options, &caller.rpc) || work(&caller);
	return dist_destroy_process_group(group) || failed;
}

struct job {
	const struct graph *graph;
	const char *backend;
};

static int launch(const void *arg)
{
	const struct job *job = arg;
	const struct dist_launch_options options = {
		.backend = job->backend,
		.world_size = job->graph->world_size,
		.platform = strcmp(job->backend, "sim") == 0 ? PLATFORM : NULL,
		.timeout_ns = (int64_t)60000000000,
	};

	/* Seconds after which it is asked whether real ranks are stuck. */
	setenv("LOCKSTEP_PATIENCE", "0.5", 1);
	return dist_launch(&options, rank_main, (void *)job->graph);
}

void graph_run(const struct graph *graph, const char *backend,
	       struct forked *forked)
{
	const struct job job = {graph, backend};

	fork_run(launch, &job, forked);
}
