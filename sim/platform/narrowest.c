/* narrowest.c - the link that holds up a ring over the ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/link.h>

#include "sim/engine/shim.h"
#include "sim/platform/state.h"

/* Links of a route; a longer one is passed over. */
#define MOST_LINKS 256

/* Rates that differ by less are one. */
#define ALIKE 1e-9

/* The links of all hops of the ring, one after the other. */
struct hops {
	sg_link_t *links;
	size_t num, space;
};

static enum dist_error add(struct hops *hops, const sg_link_t *links,
			   size_t num)
{
	if (num == 0)
		return DIST_OK;
	if (hops->num + num > hops->space) {
		size_t space = 2 * (hops->num + num);
		sg_link_t *grown =
			realloc(hops->links, space * sizeof(sg_link_t));

		if (!grown)
			return DIST_ERR_NO_MEMORY;
		hops->links = grown;
		hops->space = space;
	}
	memcpy(hops->links + hops->num, links, num * sizeof(sg_link_t));
	hops->num += num;
	return DIST_OK;
}

static enum dist_error add_ring(const struct dist__platform *platform,
				int ranks, struct hops *hops)
{
	enum dist_error error = DIST_OK;

	for (int rank = 0; rank < ranks && !error; rank++) {
		sg_host_t from = dist__platform_host(platform, rank);
		sg_host_t to =
			dist__platform_host(platform, (rank + 1) % ranks);
		sg_link_t links[MOST_LINKS];
		size_t num = 0;

		if (from != to)
			num = dist__engine_route_links(from, to, links,
						       MOST_LINKS);
		error = add(hops, links, num);
	}
	return error;
}

static int by_name(const void *a, const void *b)
{
	const sg_link_t *x = a, *y = b;

	return dist__platform_compare_names(sg_link_get_name(*x),
					    sg_link_get_name(*y));
}

/* Holds a link that num hops cross against the narrowest so far. */
static void weigh(struct dist__narrowest *narrowest, sg_link_t link, int num)
{
	double bandwidth_Bps = sg_link_get_bandwidth(link);
	double hop_Bps =
		sg_link_is_shared(link) ? bandwidth_Bps / num : bandwidth_Bps;
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
	snprintf(narrowest->name, sizeof narrowest->name, "%s",
		 sg_link_get_name(link));
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
		qsort(hops.links, hops.num, sizeof(sg_link_t), by_name);
	for (size_t i = 0; !error && i < hops.num; i = next) {
		for (next = i + 1; next < hops.num; next++)
			if (hops.links[next] != hops.links[i])
				break;
		weigh(narrowest, hops.links[i], (int)(next - i));
	}
	free(hops.links);
	return error;
}
