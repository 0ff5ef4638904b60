/*
 * graph.c - what is asked of a platform, whoever has read it.
 */
#include "sim/engine/graph.h"

#include <math.h>
#include <string.h>

/* Links of a way; of a longer one nothing is known. */
#define MOST_LINKS 1024

/* What SimGrid's models load the way back with, for acknowledgements, if cross
 * traffic is on: src/surf/network_cm02.cpp of its 3.32. */
#define ACKNOWLEDGEMENTS 0.05

const char *const dist__graph_settings[DIST__GRAPH_SETTINGS] = {
	[DIST__CROSSTRAFFIC] = "network/crosstraffic",
	[DIST__TCP_GAMMA] = "network/TCP-gamma",
	[DIST__LATENCY_FACTOR] = "network/latency-factor",
	[DIST__BANDWIDTH_FACTOR] = "network/bandwidth-factor",
	[DIST__WEIGHT_S] = "network/weight-S",
	[DIST__LOOPBACK_LATENCY] = "network/loopback-lat",
	[DIST__LOOPBACK_BANDWIDTH] = "network/loopback-bw",
};

struct dist__graph_factors
dist__graph_read_factors(const struct dist__graph *graph)
{
	const struct dist__graph_network *network = &graph->network;
	const char *model = network->model;

	return (struct dist__graph_factors){
		.is_linear = (strcmp(model, "CM02") == 0 ||
			      strcmp(model, "LV08") == 0) &&
			     network->settings[DIST__TCP_GAMMA].value == 0 &&
			     network->settings[DIST__WEIGHT_S].value == 0,
		.latency_factor = network->settings[DIST__LATENCY_FACTOR].value,
		.bandwidth_factor =
			network->settings[DIST__BANDWIDTH_FACTOR].value,
		.back_load = network->settings[DIST__CROSSTRAFFIC].value != 0
				     ? ACKNOWLEDGEMENTS
				     : 0,
	};
}

/* One without a value: there is none. */
static struct dist__graph_property
find(const struct dist__graph_property *properties, size_t num,
     const char *name)
{
	for (size_t i = 0; i < num; i++)
		if (strcmp(properties[i].name, name) == 0)
			return properties[i];
	return (struct dist__graph_property){.name = name};
}

const char *dist__graph_zone_property(const struct dist__graph *graph,
				      const char *name)
{
	return find(graph->properties, graph->num_zone_properties, name).value;
}

int dist__graph_zone_line(const struct dist__graph *graph, const char *name)
{
	return find(graph->properties, graph->num_zone_properties, name).line;
}

const char *dist__graph_host_property(const struct dist__graph *graph,
				      uint32_t number, const char *name)
{
	const struct dist__graph_host *host = &graph->hosts[number];

	return find(graph->properties + host->first_property,
		    host->num_properties, name)
		.value;
}

bool dist__graph_route(struct dist__graph *graph, uint32_t from, uint32_t to,
		       double *latency_s, double *bandwidth_Bps,
		       size_t *num_links)
{
	uint32_t links[MOST_LINKS];
	double least_Bps = INFINITY;
	size_t num =
		graph->find_way(graph, from, to, links, MOST_LINKS, latency_s);

	if (bandwidth_Bps) {
		for (size_t i = 0; num <= MOST_LINKS && i < num; i++)
			least_Bps = fmin(least_Bps,
					 graph->links[links[i]].bandwidth_Bps);
		*bandwidth_Bps = least_Bps;
	}
	if (num_links)
		*num_links = num;
	return num > 0;
}

size_t dist__graph_zones(const struct dist__graph *graph, uint32_t host,
			 const char **names, size_t most)
{
	uint32_t first = graph->hosts[host].zone;
	size_t count = 0;

	for (uint32_t at = first; at != 0 && count < most;
	     at = graph->zones[at].parent)
		count++;
	for (size_t i = count; i-- > 0; first = graph->zones[first].parent)
		names[i] = graph->zones[first].name;
	return count;
}
