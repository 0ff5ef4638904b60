/*
 * rewire.c - links that are faster or slower than the platform file
 * says.
 *
 * Links of ways between hosts of one node are those within nodes, all others
 * are those between nodes; loopbacks stay as they are. All of a kind change by
 * one factor, so that what is tapered or degraded stays so: a bandwidth is what
 * the narrowest of them gets, a latency what they have together, on one way:
 * from the first rank to the next on its node, or to the first on another.
 */
#include "sim/platform/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"

#define MOST_LINKS 256 /* of a route; a longer one is passed over */

/* ---- which is which --------------------------------------------------- */

static int by_node(const void *a, const void *b)
{
	const struct dist__seat *const *x = a, *const *y = b;

	return strcmp((*x)->node, (*y)->node);
}

static void mark_way(const struct dist__platform *p, bool *within,
		     uint32_t from, uint32_t to)
{
	uint32_t links[MOST_LINKS];
	size_t num = dist__platform_way(p, from, to, links, MOST_LINKS);

	for (size_t i = 0; i < num; i++)
		within[links[i]] = true;
}

/* Marks the links within the node of the first of num seats; returns how many
 * of them are on it. */
static size_t mark_node(const struct dist__platform *p, bool *within,
			const struct dist__seat *const *seats, size_t num)
{
	size_t count = 1;

	while (count < num && by_node(&seats[0], &seats[count]) == 0)
		count++;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			if (i != k)
				mark_way(p, within, seats[i]->host,
					 seats[k]->host);
	return count;
}

static enum dist_error mark_nodes(const struct dist__platform *p, bool *within)
{
	const struct dist__seat **seats = calloc(p->num_seats, sizeof *seats);
	size_t next = 0;

	if (!seats)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < p->num_seats; i++)
		seats[i] = &p->seats[i];
	qsort(seats, p->num_seats, sizeof *seats, by_node);
	while (next < p->num_seats)
		next += mark_node(p, within, seats + next, p->num_seats - next);
	free(seats);
	return DIST_OK;
}

/* ---- changing --------------------------------------------------------- */

/* The narrowest link of the kind on the way that stands for all, and the sum of
 * their latencies; bandwidth 0: there is none. */
struct wire {
	double bandwidth_Bps, latency_s;
};

static struct wire measure(const struct dist__platform *p,
			   const bool *is_within, bool within)
{
	const struct dist__seat *first = &p->seats[0];
	struct wire wire = {.bandwidth_Bps = 0};
	uint32_t links[MOST_LINKS];
	size_t to = 1, num;

	while (to < p->num_seats &&
	       (strcmp(first->node, p->seats[to].node) == 0) != within)
		to++;
	if (to == p->num_seats)
		return wire;
	num = dist__platform_way(p, first->host, p->seats[to].host, links,
				 MOST_LINKS);
	for (size_t i = 0; i < num; i++) {
		const struct dist__graph_link *link =
			&p->graph->links[links[i]];
		double Bps = link->bandwidth_Bps;

		if (is_within[links[i]] != within)
			continue;
		if (wire.bandwidth_Bps == 0 || Bps < wire.bandwidth_Bps)
			wire.bandwidth_Bps = Bps;
		wire.latency_s += link->latency_s;
	}
	return wire;
}

static double factor_of(struct dist__change change, double have)
{
	if (change.value == 0)
		return 1;
	return change.is_factor ? change.value : change.value / have;
}

/* SimGrid's own names: "__loopback__", and "ID_link_N_loopback" of clusters. */
static bool is_loopback(const struct dist__graph_link *link)
{
	return strstr(link->name, "loopback") != NULL;
}

static enum dist_error rewire(const struct dist__platform *p,
			      const bool *is_within, bool within,
			      const struct dist__rewiring *change,
			      struct dist_message *message)
{
	struct wire wire = measure(p, is_within, within);
	const char *kind = within ? "intra" : "inter";
	double bandwidth, latency;

	if (wire.bandwidth_Bps == 0)
		return dist__refuse(
			message,
			"--%s-%s: the platform has no links %s nodes: "
			"expected hosts %s",
			kind,
			change->bandwidth.value > 0 ? "bandwidth" : "latency",
			within ? "within" : "between",
			within ? "that share a node" : "on several nodes");
	if (change->latency.value > 0 && !change->latency.is_factor &&
	    wire.latency_s == 0)
		return dist__refuse(message,
				    "--%s-latency: the platform has none to "
				    "scale: expected links that have one",
				    kind);
	bandwidth = factor_of(change->bandwidth, wire.bandwidth_Bps);
	latency = factor_of(change->latency, wire.latency_s);
	for (uint32_t i = 0; i < p->graph->num_links; i++) {
		struct dist__graph_link *link = &p->graph->links[i];

		if (is_within[i] != within || is_loopback(link))
			continue;
		link->bandwidth_Bps *= bandwidth;
		link->latency_s *= latency;
		if (p->graph->change_link)
			p->graph->change_link(p->graph, i);
	}
	return DIST_OK;
}

static bool is_change(const struct dist__rewiring *change)
{
	return change->bandwidth.value > 0 || change->latency.value > 0;
}

bool dist__link_overrides_any(const struct dist__link_overrides *overrides)
{
	return overrides &&
	       (is_change(&overrides->intra) || is_change(&overrides->inter));
}

enum dist_error
dist__platform_rewire(const struct dist__platform *p,
		      const struct dist__link_overrides *overrides,
		      struct dist_message *message)
{
	enum dist_error error = DIST_ERR_NO_MEMORY;
	bool *within;

	if (!dist__link_overrides_any(overrides))
		return DIST_OK;
	within = calloc(p->graph->num_links + 1, sizeof *within);
	if (within)
		error = mark_nodes(p, within);
	if (!error && is_change(&overrides->intra))
		error = rewire(p, within, true, &overrides->intra, message);
	if (!error && is_change(&overrides->inter))
		error = rewire(p, within, false, &overrides->inter, message);
	free(within);
	return error;
}
