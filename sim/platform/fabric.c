/*
 * fabric.c - what joins the ranks of a group, from the platform's
 * routes: those of one of its first nodes, and from there to the next one, as
 * if all nodes were alike. A worn card or link of a node does not count: the
 * node with the fastest does. What routes do not tell stands in properties of
 * the outermost zone, which `lockstep platform new` writes.
 */
#include "sim/platform/state.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "base/statistics.h"

#define MOST_RANKS 256  /* of a node: others are not looked at */
#define MOST_LINKS 64   /* of a route */
#define SAME       1e-9 /* rates that differ by less are equal */

/* Of a route over two sockets, the middle one of which joins them
 * (model/cluster/write_node.c). */
#define SOCKETS_LINKS 3

#define SAMPLES 3 /* nodes that are looked at, and the next one */

/* The group's ranks on one of its nodes, and its name. */
struct sample {
	const char *node;
	uint32_t hosts[MOST_RANKS];
	int num;
};

/* A link and what is known of it. */
struct seen {
	uint32_t link;
	int users;      /* routes that cross it */
	double Bps;     /* what they carry; outside: those that it holds back
			 */
	bool is_narrow; /* it holds some of them back */
};

struct seen_links {
	struct seen seen[MOST_RANKS * 4];
	int num;
};

/* ---- who is where ------------------------------------------------------ */

static const struct dist__seat *seat_of(const struct dist__platform *p,
					const int *ranks, int i)
{
	return &p->seats[dist__platform_seat(p, ranks ? ranks[i] : i)];
}

/* Stores the node of each of the ranks. */
static enum dist_error find_nodes(const struct dist__platform *p,
				  const int *ranks, int n, int *found)
{
	int most = n, *nodes;

	for (int i = 0; ranks && i < n; i++)
		if (ranks[i] >= most)
			most = ranks[i] + 1;
	nodes = calloc((size_t)most, sizeof *nodes);
	if (!nodes || dist__platform_nodes(p, most, nodes) < 0) {
		free(nodes);
		return DIST_ERR_NO_MEMORY;
	}
	for (int i = 0; i < n; i++)
		found[i] = nodes[ranks ? ranks[i] : i];
	free(nodes);
	return DIST_OK;
}

/* Counts the nodes, and the ranks of the fullest. */
static enum dist_error count_nodes(const struct dist__platform *p,
				   const int *ranks, int n,
				   struct fabric *fabric)
{
	int *nodes = calloc((size_t)n, sizeof *nodes), run = 0;
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (nodes)
		error = find_nodes(p, ranks, n, nodes);
	if (!error)
		dist__sort_whole(nodes, (size_t)n);
	for (int i = 0; !error && i < n; i++) {
		run = i && nodes[i] == nodes[i - 1] ? run + 1 : 1;
		fabric->nodes += run == 1;
		if (run > fabric->node_ranks)
			fabric->node_ranks = run;
	}
	free(nodes);
	return error;
}

/* The first nodes, with as many ranks as the fullest has: one that stands for
 * others has more. Returns how many. */
static int find_samples(const struct dist__platform *p, const int *ranks, int n,
			int most, struct sample *samples)
{
	int count = 0;

	for (int i = 0; i < n; i++) {
		const struct dist__seat *seat = seat_of(p, ranks, i);
		int k = 0;

		while (k < count && strcmp(seat->node, samples[k].node) != 0)
			k++;
		if (k > SAMPLES)
			continue;
		if (k == count)
			samples[count++].node = seat->node;
		if (samples[k].num < MOST_RANKS && samples[k].num < most)
			samples[k].hosts[samples[k].num++] = seat->host;
	}
	return count;
}

/* ---- links ------------------------------------------------------------- */

static struct seen *see(struct seen_links *links, uint32_t link)
{
	static const int most =
		(int)(sizeof links->seen / sizeof links->seen[0]);

	for (int i = 0; i < links->num; i++)
		if (links->seen[i].link == link)
			return &links->seen[i];
	if (links->num == most)
		return &links->seen[most - 1];
	links->seen[links->num] = (struct seen){.link = link};
	return &links->seen[links->num++];
}

/* A rank's rate inside its node: over each link by which it leaves for its
 * peers, what the widest way that begins with it carries. */
static void look_inside(const struct dist__platform *p,
			const struct sample *sample, struct seen_links *links,
			struct fabric *fabric)
{
	double latency_s = 0, socket_Bps = 0, all_Bps = 0;

	links->num = 0;
	for (int i = 1; i < sample->num; i++) {
		uint32_t route[MOST_LINKS];
		double Bps;
		struct seen *first;
		size_t num =
			dist__platform_way(p, sample->hosts[0],
					   sample->hosts[i], route, MOST_LINKS);

		if (!num)
			continue;
		if (fabric->intra == FABRIC_PCIE && num == SOCKETS_LINKS)
			socket_Bps = p->graph->links[route[1]].bandwidth_Bps;
		first = see(links, route[0]);
		(void)dist__graph_route(p->graph, sample->hosts[0],
					sample->hosts[i],
					i == 1 ? &latency_s : NULL, &Bps, NULL);
		if (Bps > first->Bps)
			first->Bps = Bps;
	}
	for (int i = 0; i < links->num; i++)
		all_Bps += links->seen[i].Bps;
	if (all_Bps <= fabric->intra_Bps)
		return;
	fabric->intra_Bps = all_Bps;
	fabric->socket_Bps = socket_Bps;
	fabric->intra_latency_ns = latency_s * 1e9;
}

static size_t way_out(const struct dist__platform *p, const struct sample *from,
		      const struct sample *to, int i, uint32_t *route)
{
	assert(to->num > 0);
	return dist__platform_way(p, from->hosts[i], to->hosts[i % to->num],
				  route, MOST_LINKS);
}

/* Adds what a route carries while all of a node are in use to its narrowest
 * link, which is marked. */
static void share(const struct dist__platform *p, struct seen_links *links,
		  const uint32_t *route, size_t num_links)
{
	struct seen *narrow = NULL;
	double least = 0;

	for (size_t i = 0; i < num_links; i++) {
		struct seen *seen = see(links, route[i]);
		const struct dist__graph_link *link =
			&p->graph->links[route[i]];
		double Bps = link->bandwidth_Bps;

		if (link->is_shared)
			Bps /= seen->users;
		if (!narrow || Bps < least) {
			narrow = seen;
			least = Bps;
		}
	}
	if (narrow) {
		narrow->is_narrow = true;
		narrow->Bps += least;
	}
}

/* All ranks of the node send to their counterparts on the next. */
static void look_outside(const struct dist__platform *p,
			 const struct sample *from, const struct sample *to,
			 struct seen_links *links, int cards_per_link,
			 struct fabric *fabric)
{
	uint32_t route[MOST_LINKS];
	double card_Bps = 0, latency_s = 0;
	int narrow = 0;

	links->num = 0;
	for (int i = 0; i < from->num; i++) {
		size_t num_links = way_out(p, from, to, i, route);

		for (size_t k = 0; k < num_links; k++)
			see(links, route[k])->users++;
	}
	for (int i = 0; i < from->num; i++)
		share(p, links, route, way_out(p, from, to, i, route));
	for (int i = 0; i < links->num; i++) {
		narrow += links->seen[i].is_narrow;
		card_Bps = fmax(card_Bps, links->seen[i].Bps / cards_per_link);
	}
	if (narrow * cards_per_link * card_Bps <=
	    fabric->cards * fabric->card_Bps * (1 + SAME))
		return;
	(void)dist__graph_route(p->graph, from->hosts[0], to->hosts[0],
				&latency_s, NULL, NULL);
	fabric->cards = narrow * cards_per_link;
	fabric->card_Bps = card_Bps;
	fabric->inter_latency_ns = latency_s * 1e9;
}

/* ---- properties -------------------------------------------------------- */

static const char *property(const struct dist__platform *p, const char *name)
{
	const char *text = dist__graph_zone_property(p->graph, name);

	return text ? text : "";
}

static enum fabric_intra intra_kind(const struct dist__platform *p,
				    const struct fabric *fabric)
{
	const char *kind = property(p, "intra");

	if (fabric->node_ranks == 1)
		return FABRIC_ALONE;
	if (strcmp(kind, "nvswitch") == 0)
		return FABRIC_NVSWITCH;
	if (strcmp(kind, "nvlink") == 0)
		return FABRIC_NVLINK;
	return strcmp(kind, "pcie") == 0 ? FABRIC_PCIE : FABRIC_HOST;
}

static bool is_intra(const char *kind)
{
	return !*kind || strcmp(kind, "nvswitch") == 0 ||
	       strcmp(kind, "nvlink") == 0 || strcmp(kind, "pcie") == 0;
}

enum dist_error dist__platform_read_properties(struct dist__platform *p,
					       struct dist_message *message)
{
	char name[32] = "calibration0";

	if (!is_intra(property(p, "intra")))
		return dist__platform_refuse_property(
			p, "intra", "nvswitch, nvlink or pcie", message);
	if (*property(p, "transport") &&
	    !transport_is_known(property(p, "transport")))
		return dist__platform_refuse_property(p, "transport",
						      TRANSPORT_WORDS, message);
	for (size_t n = 0; *property(p, name); n++) {
		if (n == CALIBRATIONS ||
		    !library_calibration_parse(&p->calibrations[n],
					       property(p, name)))
			return dist__refuse(message,
					    "%s: property %s: expected what "
					    "lockstep platform new --machine "
					    "writes, %d at most",
					    p->path, name, CALIBRATIONS);
		p->num_calibrations++;
		snprintf(name, sizeof name, "calibration%zu", n + 1);
	}
	return DIST_OK;
}

enum dist_error dist__platform_fabric(const struct dist__platform *p,
				      const int *ranks, int n,
				      struct fabric *fabric)
{
	struct sample *samples = calloc(SAMPLES + 1, sizeof *samples);
	struct seen_links *links = calloc(1, sizeof *links);
	int cards_per_link = atoi(property(p, "cards_per_link")), num = 0;
	enum dist_error error = DIST_ERR_NO_MEMORY;

	*fabric = (struct fabric){.guessed = *property(p, "guessed"),
				  .intra_reached = *property(p, "reached"),
				  .calibrations = p->calibrations,
				  .num_calibrations = p->num_calibrations};
	if (samples && links)
		error = count_nodes(p, ranks, n, fabric);
	if (!error) {
		num = find_samples(p, ranks, n, fabric->node_ranks, samples);
		snprintf(fabric->gpu, sizeof fabric->gpu, "%s",
			 property(p, "gpu"));
		fabric->intra = intra_kind(p, fabric);
		for (int i = 0; i < num; i++)
			look_inside(p, &samples[i], links, fabric);
	}
	if (!error && fabric->nodes > 1) {
		snprintf(fabric->transport, sizeof fabric->transport, "%s",
			 property(p, "transport"));
		for (int i = 0; i < num && i < SAMPLES; i++)
			look_outside(p, &samples[i], &samples[(i + 1) % num],
				     links,
				     cards_per_link > 0 ? cards_per_link : 1,
				     fabric);
		fabric->card_nodes = atoi(property(p, "card_nodes"));
	}
	free(links);
	free(samples);
	return error;
}
