/*
 * bisection.c - what one half of the hosts can send to the other.
 *
 * Max-min fairness by progressive filling: all flows grow alike until a link is
 * full; its flows stay at that, the others go on growing.
 */
#include "sim/platform/show.h"

#include <math.h>
#include <stdlib.h>

#include <simgrid/link.h>

#include "sim/engine/shim.h"
#include "sim/platform/state.h"

/* Rates that differ by less are one. */
#define ALIKE 1e-9

/* Links of a route; the longest way through a torus may have some hundreds. */
#define MOST_LINKS 1024

struct pipe {
	sg_link_t link;
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
	struct pipe *pipes; /* in order of link */
	size_t num_pipes;
	struct flow *flows;
	size_t num_flows;
};

static int by_link(const void *a, const void *b)
{
	const struct pipe *x = a, *y = b;

	return (x->link > y->link) - (x->link < y->link);
}

static enum dist_error find_pipes(struct network *network)
{
	sg_link_t *links = sg_link_list();

	network->num_pipes = sg_link_count();
	network->pipes = calloc(network->num_pipes + 1, sizeof(struct pipe));
	for (size_t i = 0; network->pipes && i < network->num_pipes; i++) {
		network->pipes[i].link = links[i];
		network->pipes[i].left_Bps = sg_link_get_bandwidth(links[i]);
	}
	free(links);
	if (!network->pipes)
		return DIST_ERR_NO_MEMORY;
	qsort(network->pipes, network->num_pipes, sizeof(struct pipe), by_link);
	return DIST_OK;
}

static enum dist_error find_flow(struct network *network, struct flow *flow,
				 sg_host_t from, sg_host_t to)
{
	sg_link_t links[MOST_LINKS];
	size_t count = dist__engine_route_links(from, to, links, MOST_LINKS);

	if (count == 0)
		return DIST_ERR_INVALID_ARGUMENT;
	flow->pipes = calloc(count, sizeof(struct pipe *));
	if (!flow->pipes)
		return DIST_ERR_NO_MEMORY;
	flow->num_pipes = count;
	for (size_t i = 0; i < count; i++) {
		struct pipe key = {.link = links[i]};

		flow->pipes[i] =
			bsearch(&key, network->pipes, network->num_pipes,
				sizeof key, by_link);
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
		error = find_flow(network, &network->flows[i], p->seats[i].host,
				  p->seats[i + half].host);
	}
	return error;
}

/* What a flow over a pipe may have now; a pipe that is not shared gives each
 * flow all it has. */
static double share(const struct pipe *pipe)
{
	return sg_link_is_shared(pipe->link)
		       ? pipe->left_Bps / (double)pipe->growing
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
		if (sg_link_is_shared(flow->pipes[i]->link))
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

static void release(struct network *network)
{
	for (size_t i = 0; i < network->num_flows; i++)
		free(network->flows[i].pipes);
	free(network->flows);
	free(network->pipes);
}

enum dist_error dist__platform_bisect(const struct dist__platform *p,
				      double *total_Bps, double *least_Bps)
{
	struct network network = {0};
	enum dist_error error = find_pipes(&network);

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
	release(&network);
	return error;
}
