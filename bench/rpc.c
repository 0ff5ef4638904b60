/*
 * rpc.c - how many small remote calls a second one rank gets answered by
 * another on this machine, one after the other, and several in flight. Figures,
 * not a test.
 */
#include <stdio.h>

#include "lockstep/rpc.h"

enum { PASSES = 5, CALLS = 10000, FLIGHT = 16 };

static void echo(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc_bytes in = dist_rpc_call_input(call);

	(void)context;
	(void)dist_rpc_call_reply(call, in.data, in.bytes);
}

static enum dist_error one_by_one(struct dist_rpc *rpc,
				  const struct dist_rpc_request *request)
{
	struct dist_rpc_bytes value;
	enum dist_error error = DIST_OK;

	for (int i = 0; i < CALLS && !error; i++) {
		error = dist_rpc_sync(rpc, request, &value);
		dist_rpc_bytes_free(&value);
	}
	return error;
}

static enum dist_error in_flight(struct dist_rpc *rpc,
				 const struct dist_rpc_request *request)
{
	struct dist_rpc_future *futures[FLIGHT];
	enum dist_error error = DIST_OK;

	for (int i = 0; i < CALLS && !error; i += FLIGHT) {
		for (int j = 0; j < FLIGHT && !error; j++)
			error = dist_rpc_async(rpc, request, &futures[j]);
		if (!error)
			error = dist_rpc_wait_all(futures, FLIGHT);
		for (int j = 0; j < FLIGHT && !error; j++)
			dist_rpc_future_free(futures[j]);
	}
	return error;
}

static void measure(struct dist_group *group, struct dist_rpc *rpc,
		    const char *what,
		    enum dist_error (*calls)(struct dist_rpc *,
					     const struct dist_rpc_request *))
{
	double word = 1;
	const struct dist_rpc_request request = {
		.to = 1, .function = "echo", .data = &word, .bytes = 8};
	double best = 0, rate;
	int64_t begin_ns;

	for (int pass = 0; pass < PASSES; pass++) {
		begin_ns = dist_now_ns(group);
		if (calls(rpc, &request)) {
			printf("%s: a call failed\n", what);
			return;
		}
		rate = CALLS * 1e9 / (double)(dist_now_ns(group) - begin_ns);
		best = rate > best ? rate : best;
	}
	printf("%-24s %8.0f calls/s, best of %d\n", what, best, PASSES);
}

static int rank_main(void *arg)
{
	const struct dist_rpc_entry functions[] = {{"echo", echo, NULL}};
	const struct dist_rpc_options options = {.functions = functions,
						 .num_functions = 1};
	struct dist_group *group;
	struct dist_rpc *rpc;

	(void)arg;
	if (dist_init_process_group(NULL, &group) ||
	    dist_rpc_init(group, &options, &rpc))
		return 1;
	if (dist_get_rank(group) == 0) {
		measure(group, rpc, "8 B, one by one", one_by_one);
		measure(group, rpc, "8 B, 16 in flight", in_flight);
	}
	if (dist_rpc_shutdown(rpc, true))
		return 1;
	return dist_destroy_process_group(group) != DIST_OK;
}

int main(void)
{
	return dist_launch(&(struct dist_launch_options){.backend = "tcp",
							 .world_size = 2},
			   rank_main, NULL);
}
