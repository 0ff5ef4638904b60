/* narrowest.c - the link that holds up a ring over the ranks. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
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
