/*
 * platform.c - loading a platform file: everything that may be wrong with it is
 * found here, before a rank runs.
 *
 * A plain file we read ourselves (read.c). Any other SimGrid loads, twice.
 * First in a child process (trial.c), where it may abort or crash without harm
 * and where all checks run; then here, when it is known to be sound.
 */
#include "sim/platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "sim/platform/read.h"
#include "sim/platform/state.h"

/* ---- what no reader checks ---------------------------------------- */

static enum dist_error check_speeds(const struct dist__platform *p,
				    struct dist_message *message)
{
	for (size_t i = 0; i < p->graph->num_hosts; i++) {
		const struct dist__graph_host *host = &p->graph->hosts[i];

		if (!(host->speed > 0 && isfinite(host->speed)))
			return dist__refuse(message,
					    "%s: host %s: speed is %g flop/s: "
					    "expected more than 0",
					    p->path, host->name, host->speed);
	}
	return DIST_OK;
}

static enum dist_error check_links(const struct dist__platform *p,
				   struct dist_message *message)
{
	for (size_t i = 0; i < p->graph->num_links; i++) {
		const struct dist__graph_link *link = &p->graph->links[i];
		double bandwidth = link->bandwidth_Bps;
		double latency = link->latency_s;

		if (!(bandwidth >= 1 && isfinite(bandwidth)))
			return dist__refuse(message,
					    "%s: link %s: bandwidth is %g B/s: "
					    "expected 1 or more",
					    p->path, link->name, bandwidth);
		if (!(latency >= 0 && latency <= DIST__MOST_LATENCY_S))
			return dist__refuse(message,
					    "%s: link %s: latency is %g s: "
					    "expected 0 to %g",
					    p->path, link->name, latency,
					    DIST__MOST_LATENCY_S);
	}
	return DIST_OK;
}

static enum dist_error check_way(const struct dist__platform *p, int from,
				 int to, struct dist_message *message)
{
	uint32_t a = dist__platform_host(p, from);
	uint32_t b = dist__platform_host(p, to);

	if (a == b || dist__graph_route(p->graph, a, b, NULL, NULL, NULL))
		return DIST_OK;
	return dist__refuse(message, "%s: no route from host %s to host %s",
			    p->path, dist__platform_host_name(p, from),
			    dist__platform_host_name(p, to));
}

/* Tries the ways between neighbours and those to and from rank 0, which is
 * cheap and finds what is usually forgotten; the rest is looked at when a
 * message wants to go there. */
static enum dist_error check_ways(const struct dist__platform *p, int ranks,
				  struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	if (p->any_node_ranks && ranks > 2 * p->any_node_ranks)
		ranks = 2 * p->any_node_ranks;
	for (int rank = 1; rank < ranks && !error; rank++) {
		error = check_way(p, rank - 1, rank, message);
		if (!error)
			error = check_way(p, rank, rank - 1, message);
		if (!error)
			error = check_way(p, 0, rank, message);
		if (!error)
			error = check_way(p, rank, 0, message);
	}
	return error;
}

static enum dist_error check_room(const struct dist__platform *p, int ranks,
				  struct dist_message *message)
{
	if (ranks <= p->num_ranks)
		return DIST_OK;
	if ((size_t)p->num_ranks == p->num_hosts)
		return dist__refuse(
			message, "platform %s has %zu hosts, %d ranks need %d",
			p->path, p->num_hosts, ranks, ranks);
	return dist__refuse(
		message,
		"platform %s has %zu hosts with room for %d ranks, not for %d",
		p->path, p->num_hosts, p->num_ranks, ranks);
}

/* What sim/queues.c knows: a message alone takes latency + bytes / rate. */
static bool is_plain(const struct dist__graph_network *network)
{
	return strcmp(network->model, "CM02") == 0 &&
	       network->settings[DIST__TCP_GAMMA].value == 0 &&
	       network->settings[DIST__LATENCY_FACTOR].value == 1 &&
	       network->settings[DIST__BANDWIDTH_FACTOR].value == 1 &&
	       network->settings[DIST__CROSSTRAFFIC].value == 0;
}

/* Whether the links let pass what comes in the order in which it comes: the
 * outermost zone's property "queues", "fifo" or "none". */
static enum dist_error read_queues(struct dist__platform *p,
				   struct dist_message *message)
{
	const char *text = dist__graph_zone_property(p->graph, "queues");

	if (!text || strcmp(text, "none") == 0)
		return DIST_OK;
	if (strcmp(text, "fifo") != 0)
		return dist__platform_refuse_property(p, "queues",
						      "none or fifo", message);
	if (!is_plain(&p->graph->network))
		return dist__platform_refuse_property(
			p, "queues",
			"network/model CM02, factors of 1, no "
			"network/TCP-gamma and no network/crosstraffic with it",
			message);
	p->has_queues = true;
	return DIST_OK;
}

/* ---- opening -------------------------------------------------------- */

enum dist_error
dist__platform_load(const char *path, struct dist__plain *plain, int ranks,
		    const struct dist__link_overrides *overrides,
		    struct dist__platform **platform,
		    struct dist_message *message)
{
	struct dist__platform *p = calloc(1, sizeof *p);
	enum dist_error error = DIST_OK;

	if (!p) {
		dist__plain_free(plain);
		return DIST_ERR_NO_MEMORY;
	}
	p->path = path;
	p->plain = plain;
	if (plain)
		p->graph = &plain->graph;
	else
		error = dist__platform_read_simgrid(path, &p->graph, message);
	if (!error)
		error = dist__platform_check_model(p, message);
	if (!error)
		error = check_links(p, message);
	if (!error)
		error = dist__platform_seat_ranks(p, message);
	if (!error)
		error = check_speeds(p, message);
	if (!error)
		error = dist__platform_read_any(p, message);
	if (!error)
		error = read_queues(p, message);
	if (!error)
		error = dist__platform_read_properties(p, message);
	if (!error)
		error = dist__platform_rewire(p, overrides, message);
	if (!error)
		error = check_room(p, ranks, message);
	if (!error && !plain)
		error = check_ways(p, ranks, message);
	if (error) {
		dist__platform_close(p);
		return error;
	}
	dist__platform_collect_facts(p, overrides);
	*platform = p;
	return DIST_OK;
}

void dist__platform_summarize(const struct dist__platform *p,
			      struct dist__trial *found)
{
	const char *gpu = dist__graph_zone_property(p->graph, "gpu");

	*found = (struct dist__trial){.hosts = (int)p->num_hosts,
				      .ranks = p->num_ranks};
	snprintf(found->gpu, sizeof found->gpu, "%s", gpu ? gpu : "");
}

void dist__platform_close(struct dist__platform *p)
{
	if (!p)
		return;
	dist__plain_free(p->plain);
	free(p->seats);
	free(p);
}

const struct dist__fact *dist__platform_facts(const struct dist__platform *p,
					      size_t *n)
{
	*n = p->num_facts;
	return p->facts;
}
