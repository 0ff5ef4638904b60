/*
 * engine.c - which engine runs, and on what; the table of our own engine, and
 * which platforms it can run.
 */
#include "sim/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "sim/engine/own_transfer.h"

const struct dist__engine *dist__engine;

static const struct dist__engine own_engine = {
	.spawn = dist__own_spawn,
	.self = dist__own_self,
	.sleep = dist__own_sleep,
	.yield = dist__own_yield,
	.now_s = dist__own_now_s,
	.run = dist__own_run,
	.at = dist__own_at,
	.wait_at = dist__own_wait_at,
	.open = dist__own_open,
	.open_path = dist__own_open_path,
	.post = dist__own_post,
	.start = dist__own_start,
	.carry = dist__own_carry,
	.pass = dist__own_pass,
	.fail = dist__own_fail,
	.wait = dist__own_wait_for,
	.cancel = dist__own_cancel,
	.has_ended = dist__own_has_ended,
	.bytes_left = dist__own_bytes_left,
	.link = dist__own_link,
};

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
	if (!own)
		dist__engine = dist__engine_simgrid(hosts, num);
	else
		dist__engine = dist__own_transfers_begin(graph, hosts)
				       ? &own_engine
				       : NULL;
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

/* ---- what our own engine can run ----------------------------------------- */

/* What a platform file names whose links are not for ever as they are at first,
 * or are of a kind that is not modelled. */
static const char *const strange[] = {
	"state_file", "bandwidth_file", "latency_file",
	"speed_file", "trace_connect",  "availability_file",
	"<include",   "WIFI",           "<peer",
};

/* Whether the file names what may be strange, if only in a comment. */
static bool is_strange(const char *path)
{
	bool found = false;
	size_t len;
	char *text;

	if (dist__input_read(path, &text, &len))
		return true;
	for (size_t i = 0; i < sizeof strange / sizeof *strange && !found; i++)
		found = strstr(text, strange[i]) != NULL;
	free(text);
	return found;
}

const char *dist__engine_obstacle(const struct dist__graph *graph,
				  const char *path)
{
	if (!dist__graph_read_factors(graph).is_linear)
		return "network model CM02 or LV08 with network/TCP-gamma 0, "
		       "network/weight-S 0 and factors that are numbers";
	if (graph->network.has_other_solver)
		return "network/optim and network/solver left as they are";
	if (graph->is_simgrid && is_strange(path))
		return "a platform file without profiles, <include>, <peer> "
		       "and Wi-Fi";
	return NULL;
}
