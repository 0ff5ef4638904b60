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

#include <simgrid/link.h>

#include "base/refuse.h"
#include "sim/engine/shim.h"

#define MOST_LINKS 256 /* of a route; a longer one is passed over */

/* All links of the platform. */
struct wiring {
	sg_link_t *links; /* by address; owned */
	bool *within;     /* by link; owned */
	size_t num;
};

static int by_address(const void *a, const void *b)
{
	const sg_link_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t number_of(const struct wiring *wiring, sg_link_t link)
{
	const sg_link_t *found = bsearch(&link, wiring->links, wiring->num,
					 sizeof link, by_address);

	return (size_t)(found - wiring->links);
}

/* ---- which is which --------------------------------------------------- */

static const char *node_of(const struct dist__seat *seat)
{
	return dist__platform_node_name(seat->host);
}

static int by_node(const void *a, const void *b)
{
	const struct dist__seat *const *x = a, *const *y = b;

	return strcmp(node_of(*x), node_of(*y));
}

static void mark_way(struct wiring *wiring, sg_host_t from, sg_host_t to)
{
	sg_link_t links[MOST_LINKS];
	size_t num = dist__engine_route_links(from, to, links, MOST_LINKS);

	for (size_t i = 0; i < num; i++)
		wiring->within[number_of(wiring, links[i])] = true;
}

/* Marks the links within the node of the first of num seats; returns how many
 * of them are on it. */
static size_t mark_node(struct wiring *wiring,
			const struct dist__seat *const *seats, size_t num)
{
	size_t count = 1;

	while (count < num && by_node(&seats[0], &seats[count]) == 0)
		count++;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			if (i != k)
				mark_way(wiring, seats[i]->host,
					 seats[k]->host);
	return count;
}

static enum dist_error mark_nodes(const struct dist__platform *p,
				  struct wiring *wiring)
{
	const struct dist__seat **seats = calloc(p->num_seats, sizeof *seats);
	size_t next = 0;

	if (!seats)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < p->num_seats; i++)
		seats[i] = &p->seats[i];
	qsort(seats, p->num_seats, sizeof *seats, by_node);
	while (next < p->num_seats)
		next += mark_node(wiring, seats + next, p->num_seats - next);
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
			   const struct wiring *wiring, bool within)
{
	const struct dist__seat *first = &p->seats[0];
	struct wire wire = {.bandwidth_Bps = 0};
	sg_link_t links[MOST_LINKS];
	size_t to = 1, num;

	while (to < p->num_seats &&
	       (strcmp(node_of(first), node_of(&p->seats[to])) == 0) != within)
		to++;
	if (to == p->num_seats)
		return wire;
	num = dist__engine_route_links(first->host, p->seats[to].host, links,
				       MOST_LINKS);
	for (size_t i = 0; i < num; i++) {
		double Bps = sg_link_get_bandwidth(links[i]);

		if (wiring->within[number_of(wiring, links[i])] != within)
			continue;
		if (wire.bandwidth_Bps == 0 || Bps < wire.bandwidth_Bps)
			wire.bandwidth_Bps = Bps;
		wire.latency_s += sg_link_get_latency(links[i]);
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
static bool is_loopback(sg_link_t link)
{
	return strstr(sg_link_get_name(link), "loopback") != NULL;
}

static enum dist_error rewire(const struct dist__platform *p,
			      const struct wiring *wiring, bool within,
			      const struct dist__rewiring *change,
			      struct dist_message *message)
{
	struct wire wire = measure(p, wiring, within);
	const char *kind = within ? "intra" : "inter";
	double bandwidth, latency;

	if (wire.bandwidth_Bps == 0)
		return dist__refuse(
			message,
			"--%s-%s: %s has no links %s nodes: expected hosts "
			"%s",
			kind,
			change->bandwidth.value > 0 ? "bandwidth" : "latency",
			p->path, within ? "within" : "between",
			within ? "that share a node" : "on several nodes");
	if (change->latency.value > 0 && !change->latency.is_factor &&
	    wire.latency_s == 0)
		return dist__refuse(message,
				    "--%s-latency: %s has none to "
				    "scale: expected links that "
				    "have one",
				    kind, p->path);
	bandwidth = factor_of(change->bandwidth, wire.bandwidth_Bps);
	latency = factor_of(change->latency, wire.latency_s);
	for (size_t i = 0; i < wiring->num; i++) {
		sg_link_t link = wiring->links[i];

		if (wiring->within[i] != within || is_loopback(link))
			continue;
		sg_link_set_bandwidth(link,
				      sg_link_get_bandwidth(link) * bandwidth);
		sg_link_set_latency(link, sg_link_get_latency(link) * latency);
	}
	return DIST_OK;
}

static bool is_change(const struct dist__rewiring *change)
{
	return change->bandwidth.value > 0 || change->latency.value > 0;
}

enum dist_error
dist__platform_rewire(const struct dist__platform *p,
		      const struct dist__link_overrides *overrides,
		      struct dist_message *message)
{
	struct wiring wiring = {.num = sg_link_count()};
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (!overrides ||
	    (!is_change(&overrides->intra) && !is_change(&overrides->inter)))
		return DIST_OK;
	wiring.links = sg_link_list();
	wiring.within = calloc(wiring.num + 1, sizeof *wiring.within);
	if (wiring.links && wiring.within) {
		qsort(wiring.links, wiring.num, sizeof(sg_link_t), by_address);
		error = mark_nodes(p, &wiring);
	}
	if (!error && is_change(&overrides->intra))
		error = rewire(p, &wiring, true, &overrides->intra, message);
	if (!error && is_change(&overrides->inter))
		error = rewire(p, &wiring, false, &overrides->inter, message);
	free(wiring.links);
	free(wiring.within);
	return error;
}
