/* links.c - what of a cluster's links joins the ranks of one axis of a layout.
 */
#include "model/llm/links.h"

#include <math.h>

double llm_distinct(double copies, double places)
{
	return places * (1 - pow(1 - 1 / places, copies)) / copies;
}

/* The cards that all groups like it use at once are shared. */
static void share_cards(struct fabric *fabric, int sharers)
{
	double Bps;

	if (sharers <= 1 || fabric->cards <= 0)
		return;
	Bps = fabric->cards * fabric->card_Bps / sharers;
	fabric->cards = fabric->cards / sharers;
	if (fabric->cards < 1)
		fabric->cards = 1;
	fabric->card_Bps = Bps / fabric->cards;
}

struct llm_group llm_axis_links(struct fabric *fabric,
				const struct fabric *cluster,
				const struct llm_layout *layout,
				enum llm_axis axis)
{
	struct llm_group group =
		llm_layout_group(layout, axis, cluster->node_ranks);

	*fabric = *cluster;
	if (group.node_ranks < 1)
		group.node_ranks = 1;
	fabric->node_ranks =
		group.node_ranks < group.ranks ? group.node_ranks : group.ranks;
	fabric->nodes = (group.ranks + group.node_ranks - 1) / group.node_ranks;
	share_cards(fabric, group.sharers);
	if (fabric->intra == FABRIC_PCIE && group.node_ranks > 1 &&
	    (group.node_ranks - 1) * group.stride >= cluster->node_ranks / 2)
		fabric->intra_Bps = fmin(fabric->intra_Bps,
					 FABRIC_SOCKET_BPS / group.sharers);
	/* Links to GPUs outside of the group are of no use to it. */
	if (fabric->intra == FABRIC_NVLINK && fabric->node_ranks > 1)
		fabric->intra_Bps *=
			(fabric->node_ranks - 1.0) / (cluster->node_ranks - 1);
	fabric->socket_Bps = 0;
	if (fabric->node_ranks == 1)
		fabric->intra = FABRIC_ALONE;
	return group;
}
