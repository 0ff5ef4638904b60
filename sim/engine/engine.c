/*
 * engine.c - which engine runs, and on what.
 */
#include "sim/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/own_engine.h"

const struct dist__engine *dist__engine;

static struct dist__graph *platform;
static uint32_t *hosts;

bool dist__engine_start(bool own, struct dist__graph *graph,
			const uint32_t *list, size_t num)
{
	free(hosts);
	hosts = malloc((num + 1) * sizeof *hosts);
	if (!hosts)
		return false;
	memcpy(hosts, list, num * sizeof *hosts);
	platform = graph;
	dist__engine = own ? dist__own_engine(graph, hosts)
			   : dist__engine_simgrid(hosts, num);
	return dist__engine != NULL;
}

size_t dist__engine_num_links(void)
{
	return platform->num_links;
}

size_t dist__engine_way(uint32_t from, uint32_t to, uint32_t *links,
			size_t most, double *latency_s)
{
	return platform->find_way(platform, hosts[from], hosts[to], links, most,
				  latency_s);
}
