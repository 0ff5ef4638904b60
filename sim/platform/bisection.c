/*
 * bisection.c - what one half of the hosts can send to the other.
 *
 * Max-min fairness by progressive filling: all flows grow alike until a link is
 * full; its flows stay at that, the others go on growing.
 */
#include "sim/platform/show.h"

#include <math.h>
#include <stdlib.h>

#include "sim/platform/state.h"

/* Rates that differ by less are one. */
#define ALIKE 1e-9

/* Links of a route; the longest way through a torus may have some hundreds. */
#define MOST_LINKS 1024

struct pipe {
	bool is_shared;
	double left_Bps;
	size_t growing; /* flows over it that still grow */
};

struct flow {
	struct pipe **pipes;
	size_t num_pipes;
	double rate_Bps; /* once it has stopped growing */
	bool stopped;
};

struct network {
	struct pipe *pipes; /* by link */
	struct flow *flows;
	size_t num_flows;
};

static enum dist_error find_pipes(const struct dist__graph *graph,
				  struct network *network)
{
	network->pipes = calloc(graph->num_links + 1, sizeof(struct pipe));
	for (size_t i = 0; network->pipes && i < graph->num_links; i++)
		network->pipes[i] = (struct pipe){
			.is_shared = graph->links[i].is_shared,
			.left_Bps = graph->links[i].bandwidth_Bps};
	return network->pipes ? DIST_OK : DIST_ERR_NO_MEMORY;
}

static enum dist_error find_flow(const struct dist__platform *p,
				 struct network *network, struct flow *flow,
				 uint32_t from, uint32_t to)
{
	uint32_t links[MOST_LINKS];
	size_t count = dist__platform_way(p, from, to, links, MOST_LINKS);

	if (count == 0)
		return DIST_ERR_INVALID_ARGUMENT;
	flow->pipes = calloc(count, sizeof(struct pipe *));
	if (!flow->pipes)
		return DIST_ERR_NO_MEMORY;
	flow->num_pipes = count;
	for (size_t i = 0; i < count; i++) {
		flow->pipes[i] = &network->pipes[links[i]];
		flow->pipes[i]->growing++;
	}
	return DIST_OK;
}

static enum dist_error find_flows(const struct dist__platform *p,
				  struct network *network)
{
	size_t half = p->num_seats / 2;
	enum dist_error error = DIST_OK;

	network->flows = calloc(half, sizeof(struct flow));
	if (!network->flows)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < half && !error; i++) {
		network->num_flows++;
		error = find_flow(p, network, &network->flows[i],
				  p->seats[i].host, p->seats[i + half].host);
	}
	return error;
}

/* What a flow over a pipe may have now; a pipe that is not shared gives each
 * flow all it has. */
static double share(const struct pipe *pipe)
{
	return pipe->is_shared ? pipe->left_Bps / (double)pipe->growing
			       : pipe->left_Bps;
}

static double flow_share(const struct flow *flow)
{
	double least = INFINITY;

	for (size_t i = 0; i < flow->num_pipes; i++)
		least = fmin(least, share(flow->pipes[i]));
	return least;
}

static void stop_growing(struct flow *flow, double rate_Bps)
{
	flow->rate_Bps = rate_Bps;
	flow->stopped = true;
	for (size_t i = 0; i < flow->num_pipes; i++) {
		flow->pipes[i]->growing--;
		if (flow->pipes[i]->is_shared)
			flow->pipes[i]->left_Bps -= rate_Bps;
	}
}

/* One round of filling; returns how many flows stopped. */
static size_t fill(struct network *network)
{
	double level = INFINITY;
	size_t stopped = 0;

	for (size_t i = 0; i < network->num_flows; i++)
		if (!network->flows[i].stopped)
			level = fmin(level, flow_share(&network->flows[i]));
	for (size_t i = 0; i < network->num_flows; i++) {
		struct flow *flow = &network->flows[i];

		if (!flow->stopped && flow_share(flow) <= level * (1 + ALIKE)) {
			stop_growing(flow, level);
			stopped++;
		}
	}
	return stopped;
}

enum dist_error dist__platform_bisect(const struct dist__platform *p,
				      double *total_Bps, double *least_Bps)
{
	struct network network = {0};
	enum dist_error error = find_pipes(p->graph, &network);

	if (!error)
		error = find_flows(p, &network);
	for (size_t left = network.num_flows; !error && left > 0;)
		left -= fill(&network);
	*total_Bps = 0;
	*least_Bps = INFINITY;
	for (size_t i = 0; i < network.num_flows; i++) {
		*total_Bps += network.flows[i].rate_Bps;
		*least_Bps = fmin(*least_Bps, network.flows[i].rate_Bps);
	}
	for (size_t i = 0; i < network.num_flows; i++)
		free(network.flows[i].pipes);
	free(network.flows);
	free(network.pipes);
	return error;
}
