#include "scenarios/tutorial/remote.h"

#include <stdio.h>
#include <stdlib.h>

#include "scenarios/rank.h"

enum dist_error remote_call(const struct remote *remote, int to,
			    const char *function, const void *data,
			    size_t bytes, struct dist_rpc_bytes *value)
{
	const struct dist_rpc_request request = {
		.to = to, .function = function, .data = data, .bytes = bytes};

	return dist_rpc_sync(remote->rpc, &request, value);
}

enum dist_error remote_loss(const struct remote *remote, int step, double loss)
{
	enum dist_error error = dist_all_reduce(
		remote->others, dist_tensor(&loss, 1, DIST_FLOAT64), DIST_AVG,
		NULL);

	if (!error && remote->rank == 1 && step % 10 == 0)
		printf("step %2d: loss %.3f\n", step, loss);
	return error;
}

static enum dist_error make_workers(const struct remote_plan *plan,
				    void *context, struct remote *remote)
{
	struct dist_rpc_entry functions[REMOTE_FUNCTIONS];
	struct dist_rpc_options options = {.functions = functions};
	char name[64];

	snprintf(name, sizeof name, "%s%d", plan->others, remote->rank);
	options.name = remote->rank ? name : plan->first;
	for (const struct dist_rpc_entry *f = plan->functions; f->name; f++) {
		functions[options.num_functions] = *f;
		functions[options.num_functions++].context = context;
	}
	return dist_rpc_init(remote->group, &options, &remote->rpc);
}

static enum dist_error join_others(struct remote *remote)
{
	int n = remote->world_size - 1,
	    *ranks = calloc((size_t)n, sizeof *ranks);
	enum dist_error error;

	if (!ranks)
		return DIST_ERR_NO_MEMORY;
	for (int i = 0; i < n; i++)
		ranks[i] = i + 1;
	error = dist_new_group(remote->group, ranks, n, NULL, &remote->others);
	free(ranks);
	return error;
}

/* Says what a call failed with; a verdict says more than each rank does. */
static void explain(const struct remote *remote, enum dist_error error)
{
	struct dist_message message = {""};

	dist_rpc_error_message(remote->rpc, &message);
	if (error && message.text[0])
		fprintf(stderr, "rank %d: %s\n", remote->rank, message.text);
}

int remote_rank(const struct remote_plan *plan, void *context)
{
	struct remote remote = {NULL};
	enum dist_error error, end;

	if (rank_join(&remote.group))
		return 1;
	remote.rank = dist_get_rank(remote.group);
	remote.world_size = dist_get_world_size(remote.group);
	if (remote.world_size < plan->min_ranks) {
		if (remote.rank == 0)
			fprintf(stderr,
				"%s: expected %d ranks or more, got %d\n",
				plan->tutorial, plan->min_ranks,
				remote.world_size);
		/* The first rank to fail ends the others. */
		error = dist_barrier(remote.group, NULL);
		return rank_leave(remote.group, plan->tutorial, error) || 1;
	}
	error = join_others(&remote);
	if (!error)
		error = make_workers(plan, context, &remote);
	if (!error)
		error = plan->run(&remote, context);
	explain(&remote, error);
	end = dist_rpc_shutdown(remote.rpc, !error);
	return rank_leave(remote.group, plan->tutorial, error ? error : end);
}
