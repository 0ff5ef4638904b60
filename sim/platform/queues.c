/*
 * queues.c - whether a platform's links let pass what comes to them in
 * the order it comes, by the outermost zone's property "queues": "fifo", or
 * "none" as without it.
 */
#include "sim/platform/state.h"

#include <string.h>

#include "base/refuse.h"

/* What queues.c knows: a message alone takes latency + bytes / rate. */
static bool is_plain(const struct dist__graph_network *network)
{
	return strcmp(network->model, "CM02") == 0 &&
	       network->settings[DIST__TCP_GAMMA].value == 0 &&
	       network->settings[DIST__LATENCY_FACTOR].value == 1 &&
	       network->settings[DIST__BANDWIDTH_FACTOR].value == 1 &&
	       network->settings[DIST__CROSSTRAFFIC].value == 0;
}

enum dist_error dist__platform_read_queues(struct dist__platform *p,
					   struct dist_message *message)
{
	const char *text = dist__graph_zone_property(p->graph, "queues");

	if (!text || strcmp(text, "none") == 0)
		return DIST_OK;
	if (strcmp(text, "fifo") != 0)
		return dist__refuse(message,
				    "%s: property \"queues\" is "
				    "\"%.32s\": expected none or fifo",
				    p->path, text);
	if (!is_plain(&p->graph->network))
		return dist__refuse(
			message,
			"%s: property \"queues\" is fifo: expected "
			"network/model CM02, factors of 1, no "
			"network/TCP-gamma and no network/crosstraffic",
			p->path);
	p->has_queues = true;
	return DIST_OK;
}
