/* check.c - whether the parts of a description fit together. */
#include "model/cluster/description.h"

#include "base/refuse.h"
int platform_count_nodes(const struct platform_description *d)
{
	int count = 0;

	for (int i = 0; i < d->kinds; i++)
		count += d->nodes[i].count;
	return count;
}

int platform_count_bundles(const struct platform_nodes *n)
{
	if (n->inter.bonded)
		return 1;
	return n->inter.nics < n->gpus ? n->inter.nics : n->gpus;
}

const struct platform_nodes *
platform_nodes_of(const struct platform_description *d, int node)
{
	int kind = 0;

	while (node >= d->nodes[kind].count)
		node -= d->nodes[kind++].count;
	return &d->nodes[kind];
}

/* Whether every GPU has an NVLink, and none leads past the last GPU. */
static bool mesh_fits(const struct platform_nodes *n)
{
	if (n->gpus > PLATFORM_MESH_GPUS)
		return false;
	for (int i = 0; i < PLATFORM_MESH_GPUS; i++) {
		int links = 0;

		for (int j = 0; j < PLATFORM_MESH_GPUS; j++)
			links += n->intra.links[i][j];
		if ((links > 0) != (i < n->gpus))
			return false;
	}
	return true;
}

static enum dist_error check_nodes(const struct platform_nodes *n, bool alone,
				   struct dist_message *message)
{
	if (n->gpus > 1 && n->intra.kind == PLATFORM_ALONE)
		return dist__refuse(message,
				    "--gpus %d: expected --intra, how the GPUs "
				    "of a node reach each other",
				    n->gpus);
	if (n->gpus > 1 && n->intra.gpu.bandwidth_Bps <= 0)
		return dist__refuse(
			message, "--intra: expected the bandwidth of a GPU's "
				 "link, which is not known of this machine");
	if (n->inter.fabric[0] && n->inter.nic.bandwidth_Bps <= 0)
		return dist__refuse(message,
				    "--inter: expected the bandwidth of a "
				    "card, which is not known of this machine");
	if (n->intra.kind == PLATFORM_MESH && !mesh_fits(n))
		return dist__refuse(message,
				    "--intra: a mesh of NVLinks for other than "
				    "%d GPUs (a cube mesh is one of 8)",
				    n->gpus);
	if (n->intra.kind == PLATFORM_PCIE && n->gpus % n->intra.sockets != 0)
		return dist__refuse(message,
				    "--intra pcie: %d GPUs do not share out "
				    "among %d sockets",
				    n->gpus, n->intra.sockets);
	if (!alone && !n->inter.fabric[0])
		return dist__refuse(message,
				    "more than one node: expected --inter, how "
				    "a node reaches others");
	if (n->inter.fabric[0] && !n->inter.bonded &&
	    n->gpus % n->inter.nics != 0 && n->inter.nics % n->gpus != 0)
		return dist__refuse(
			message,
			"--inter: %d cards do not share out among %d GPUs: "
			"expected a multiple, a divisor, or \",bonded\"",
			n->inter.nics, n->gpus);
	return DIST_OK;
}

static enum dist_error check_room(const struct platform_fabric *f, int nodes,
				  struct dist_message *message)
{
	static const char *const names[] = {"star", "leaf-spine", "fat-tree",
					    "dragonfly"};
	long ports = PLATFORM_PORTS, switches = 1;

	if (f->topology == PLATFORM_LEAF_SPINE) {
		switches = f->shape[0];
	} else if (f->topology == PLATFORM_FAT_TREE) {
		ports = f->shape[0];
		switches =
			(long)f->shape[1] * (f->levels == 3 ? f->shape[2] : 1);
	} else if (f->topology == PLATFORM_DRAGONFLY) {
		ports = f->shape[2];
		switches = (long)f->shape[0] * f->shape[1];
	}
	if (ports > PLATFORM_PORTS)
		return dist__refuse(message,
				    "--topology %s: %ld nodes under one "
				    "switch: expected 1 to %d",
				    names[f->topology], ports, PLATFORM_PORTS);
	if (nodes > PLATFORM_NODES)
		return dist__refuse(message, "%d nodes: expected %d or fewer",
				    nodes, PLATFORM_NODES);
	if (nodes > ports * switches)
		return dist__refuse(
			message,
			"--topology %s has room for %ld nodes (%ld under each "
			"of %ld switches), not for %d: expected one with room, "
			"such as lockstep platform new --topology "
			"fat-tree:%dx%d",
			names[f->topology], ports * switches, ports, switches,
			nodes, PLATFORM_PORTS,
			(nodes + PLATFORM_PORTS - 1) / PLATFORM_PORTS);
	return DIST_OK;
}

enum dist_error platform_check(const struct platform_description *d,
			       struct dist_message *message)
{
	int nodes = platform_count_nodes(d);
	enum dist_error error = DIST_OK;

	for (int i = 0; i < d->kinds && !error; i++)
		error = check_nodes(&d->nodes[i], nodes == 1, message);
	return error ? error : check_room(&d->fabric, nodes, message);
}
