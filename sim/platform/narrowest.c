/* narrowest.c - the link that holds up a ring over the ranks, and whether nodes
 * are alike. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/refuse.h"
#include "sim/platform/state.h"

/* Links of a route; a longer one is passed over. */
#define MOST_LINKS 256

/* Rates that differ by less are one. */
#define ALIKE 1e-9

/* The links of all hops of the ring, one after the other. */
struct hops {
	const struct dist__graph_link **links;
	size_t num, space;
};

static enum dist_error add(const struct dist__platform *p, struct hops *hops,
			   const uint32_t *links, size_t num)
{
	if (!dist__array_room(&hops->links, &hops->space, hops->num + num,
			      sizeof(struct dist__graph_link *)))
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < num; i++)
		hops->links[hops->num++] = &p->graph->links[links[i]];
	return DIST_OK;
}

static enum dist_error add_ring(const struct dist__platform *platform,
				int ranks, struct hops *hops)
{
	enum dist_error error = DIST_OK;

	for (int rank = 0; rank < ranks && !error; rank++) {
		uint32_t from = dist__platform_host(platform, rank);
		uint32_t to = dist__platform_host(platform, (rank + 1) % ranks);
		uint32_t links[MOST_LINKS];
		size_t num = 0;

		if (from != to)
			num = dist__platform_way(platform, from, to, links,
						 MOST_LINKS);
		error = add(platform, hops, links, num);
	}
	return error;
}

static int by_name(const void *a, const void *b)
{
	const struct dist__graph_link *const *x = a, *const *y = b;

	return dist__platform_compare_names((*x)->name, (*y)->name);
}

/* Holds a link that num hops cross against the narrowest so far. */
static void weigh(struct dist__narrowest *narrowest,
		  const struct dist__graph_link *link, int num)
{
	double bandwidth_Bps = link->bandwidth_Bps;
	double hop_Bps = link->is_shared ? bandwidth_Bps / num : bandwidth_Bps;
	double least_Bps = narrowest->hop_Bps;

	if (narrowest->links > 0 && hop_Bps > least_Bps * (1 + ALIKE))
		return;
	if (narrowest->links > 0 && hop_Bps >= least_Bps * (1 - ALIKE)) {
		narrowest->links++;
		return;
	}
	*narrowest = (struct dist__narrowest){.bandwidth_Bps = bandwidth_Bps,
					      .hop_Bps = hop_Bps,
					      .hops = num,
					      .links = 1};
	snprintf(narrowest->name, sizeof narrowest->name, "%s", link->name);
}

enum dist_error dist__platform_narrowest(const struct dist__platform *platform,
					 int ranks,
					 struct dist__narrowest *narrowest)
{
	struct hops hops = {.num = 0};
	enum dist_error error = add_ring(platform, ranks, &hops);
	size_t next;

	*narrowest = (struct dist__narrowest){.links = 0};
	if (!error && hops.num > 0)
		qsort(hops.links, hops.num, sizeof *hops.links, by_name);
	for (size_t i = 0; !error && i < hops.num; i = next) {
		for (next = i + 1; next < hops.num; next++)
			if (hops.links[next] != hops.links[i])
				break;
		weigh(narrowest, hops.links[i], (int)(next - i));
	}
	free(hops.links);
	return error;
}

/* ---- alike nodes ------------------------------------------------------- */

/* The widest and the narrowest way of ranks of one place in their nodes. */
struct widths {
	double most_Bps, least_Bps; /* 0: none was seen */
	const char *narrow;         /* the link of the narrowest */
};

static void look(const struct dist__platform *p, int from, int to,
		 struct widths *widths)
{
	uint32_t links[MOST_LINKS];
	size_t num = dist__platform_way(p, dist__platform_host(p, from),
					dist__platform_host(p, to), links,
					MOST_LINKS);
	const struct dist__graph_link *least = NULL;

	for (size_t i = 0; i < num; i++) {
		const struct dist__graph_link *link =
			&p->graph->links[links[i]];

		if (!least || link->bandwidth_Bps < least->bandwidth_Bps)
			least = link;
	}
	if (!least)
		return;
	if (least->bandwidth_Bps > widths->most_Bps)
		widths->most_Bps = least->bandwidth_Bps;
	if (!widths->narrow || least->bandwidth_Bps < widths->least_Bps) {
		widths->least_Bps = least->bandwidth_Bps;
		widths->narrow = least->name;
	}
}

enum dist_error dist__platform_check_alike(const struct dist__platform *p,
					   int ranks,
					   const struct fabric *fabric,
					   struct dist_message *message)
{
	int node_ranks = fabric->node_ranks;
	/* Those to the next node, and to the next rank of the node. */
	struct widths *widths = calloc(2 * (size_t)node_ranks, sizeof *widths);
	int *first = malloc((size_t)ranks * sizeof *first);
	enum dist_error error = DIST_OK;

	/* Where each has cards of its own, a way to them is no narrower. */
	for (int i = 0; widths && i < node_ranks && fabric->cards >= node_ranks;
	     i++)
		widths[i].most_Bps = fabric->card_Bps;
	if (!widths || !first || dist__platform_nodes(p, ranks, first) < 0)
		error = DIST_ERR_NO_MEMORY;
	for (int i = 0; !error && i < ranks; i++) {
		int place = (i - first[i]) % node_ranks;
		int away = (i + node_ranks) % ranks;

		if (first[away] != first[i])
			look(p, i, away, &widths[place]);
		if (i + 1 < ranks && first[i + 1] == first[i])
			look(p, i, i + 1, &widths[node_ranks + place]);
	}
	for (int i = 0; !error && i < 2 * node_ranks; i++)
		if (widths[i].narrow &&
		    widths[i].least_Bps < widths[i].most_Bps * (1 - ALIKE))
			error = dist__refuse(
				message,
				"fidelity formula: expected flow or message: "
				"%s carries %.4g GB/s, others %.4g: by a "
				"closed form all are alike",
				widths[i].narrow, widths[i].least_Bps / 1e9,
				widths[i].most_Bps / 1e9);
	free(widths);
	free(first);
	return error;
}
