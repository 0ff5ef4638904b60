#include "model/cluster/machine.h"

#include <string.h>

#include "base/refuse.h"
#include "base/text.h"

/* Where a description knows no rate, any usual one will do: what was calibrated
 * says what it is. Of sockets what NCCL takes them for, which choose. */
#define GUESSED_CARD_BPS  12.5e9
#define GUESSED_TCP_BPS   1.25e9
#define GUESSED_INTRA_BPS 50e9

/* ---- inside a node ---------------------------------------------------- */

/* GPUs that nothing is known of are on PCIe, as all are. */
static void fill_intra(const struct machine *machine, int gpus,
		       struct platform_intra *intra)
{
	double link_Bps = machine->link_GBps * 1e9;

	memset(intra, 0, sizeof *intra);
	if (gpus == 1)
		return;
	switch (machine->intra) {
	case MACHINE_NVSWITCH:
		intra->kind = PLATFORM_NVSWITCH;
		intra->gpu = (struct platform_wire){machine->links * link_Bps,
						    PLATFORM_NVLINK_HOP_S / 2};
		break;
	case MACHINE_MESH:
	case MACHINE_PAIRS:
		intra->kind = PLATFORM_MESH;
		intra->gpu =
			(struct platform_wire){link_Bps, PLATFORM_NVLINK_HOP_S};

		for (int i = 0; machine->intra == MACHINE_MESH && i < gpus; i++)
			for (int j = 0; j < gpus; j++)
				if (i != j)
					intra->links[i][j] =
						(unsigned char)machine->links;
		for (size_t i = 0; i < machine->num_pairs; i++) {
			const struct machine_pair *pair = &machine->pairs[i];

			if (pair->b >= (size_t)gpus)
				continue;
			intra->links[pair->a][pair->b] =
				(unsigned char)pair->links;
			intra->links[pair->b][pair->a] =
				(unsigned char)pair->links;
		}
		break;
	default:
		intra->kind = PLATFORM_PCIE;
		intra->gpu.bandwidth_Bps = machine->links * link_Bps;
		intra->gpu.latency_s = PLATFORM_PCIE_HOP_S / 2;
		intra->sockets = 1;
		/* Fewer GPUs are the first ones: those of one socket. */
		if (machine->sockets > 1 && gpus % machine->sockets == 0 &&
		    (size_t)gpus * (size_t)machine->sockets >
			    machine->gpus_per_node)
			intra->sockets = machine->sockets;
		intra->socket = (struct platform_wire){
			machine->socket_GBps > 0 ? machine->socket_GBps * 1e9
						 : FABRIC_SOCKET_BPS,
			PLATFORM_PCIE_HOP_S / 2};
	}
}

/* ---- between nodes ---------------------------------------------------- */

enum dist_error machine_network_choose(const struct machine *machine,
				       const char *transport,
				       const struct machine_network **network,
				       struct dist_message *message)
{
	char names[160] = "";

	*network = NULL;
	if (!transport) {
		if (machine->num_networks > 0)
			*network = &machine->networks[0];
		return DIST_OK;
	}
	*network = machine_network_find(machine, transport);
	if (*network)
		return DIST_OK;
	for (size_t i = 0; i < machine->num_networks; i++)
		(void)dist__append(names, sizeof names, "%s%s", i ? " or " : "",
				   machine->networks[i].transport);
	return dist__refuse(
		message,
		"%s has no network of transport \"%.40s\": expected %s",
		machine->title, transport, names[0] ? names : "none");
}

/* The cards that so many ranks have: where a GPU has its own, theirs. */
static int cards_of(const struct machine_network *network, size_t gpus_per_node,
		    int gpus)
{
	int cards = network->cards > 0 ? network->cards : 1;
	int share = cards;

	if (gpus_per_node > 0)
		share = (int)((size_t)cards * (size_t)gpus / gpus_per_node);
	return share > 0 ? share : 1;
}

static void fill_inter(const struct machine *machine,
		       const struct machine_network *network, int gpus,
		       struct platform_inter *inter)
{
	double hop_s;

	memset(inter, 0, sizeof *inter);
	if (!network)
		return;
	hop_s = network->latency_us > 0
			? network->latency_us * 1e-6
			: platform_wire_latency_s(network->transport);
	if (machine->gpus_per_node == 0)
		hop_s -= PLATFORM_PCIE_HOP_S;
	snprintf(inter->fabric, sizeof inter->fabric, "%s", network->transport);
	inter->nics = cards_of(network, machine->gpus_per_node, gpus);
	inter->card_nodes = network->card_nodes;
	inter->nic =
		(struct platform_wire){network->card_Gbps * 1e9 / 8, hop_s / 2};
}

/* ---- the whole -------------------------------------------------------- */

static bool has_room(const struct machine *machine, int gpus)
{
	size_t most = machine->gpus_per_node;

	if (most == 0)
		most = machine->intra == MACHINE_UNKNOWN ? PLATFORM_GPUS : 1;
	if ((machine->intra == MACHINE_MESH ||
	     machine->intra == MACHINE_PAIRS) &&
	    most > PLATFORM_MESH_GPUS)
		most = PLATFORM_MESH_GPUS;
	return gpus > 0 && (size_t)gpus <= most;
}

enum dist_error platform_of_machine(const struct machine *machine,
				    const char *transport, int gpus,
				    struct platform_nodes *node,
				    struct dist_message *message)
{
	const struct machine_network *network;
	enum dist_error error =
		machine_network_choose(machine, transport, &network, message);

	if (error)
		return error;
	if (gpus == 0)
		gpus = machine->gpus_per_node ? (int)machine->gpus_per_node : 1;
	if (!has_room(machine, gpus))
		return dist__refuse(
			message, "%s: %d ranks on a node of %zu GPUs",
			machine->title, gpus, machine->gpus_per_node);
	node->gpus = gpus;
	node->calibrations = machine->calibrations;
	node->num_calibrations = machine->num_calibrations;
	snprintf(node->gpu, sizeof node->gpu, "%s", machine->gpu);
	fill_intra(machine, gpus, &node->intra);
	fill_inter(machine, network, gpus, &node->inter);
	return DIST_OK;
}

static void guess(struct platform_nodes *node, double usual_Bps, double *Bps)
{
	if (*Bps > 0)
		return;
	*Bps = usual_Bps;
	node->guessed = true;
}

void platform_guess_rates(struct platform_nodes *node)
{
	bool tcp = strncmp(node->inter.fabric, "tcp", 3) == 0;

	if (node->count > 1 && node->inter.fabric[0])
		guess(node, tcp ? GUESSED_TCP_BPS : GUESSED_CARD_BPS,
		      &node->inter.nic.bandwidth_Bps);
	if (node->gpus > 1)
		guess(node, GUESSED_INTRA_BPS, &node->intra.gpu.bandwidth_Bps);
}

/* What joins the ranks of a node. */
static void fabric_intra(const struct platform_nodes *node, bool is_host,
			 struct fabric *fabric)
{
	static const enum fabric_intra kinds[] = {
		[PLATFORM_ALONE] = FABRIC_ALONE,
		[PLATFORM_NVSWITCH] = FABRIC_NVSWITCH,
		[PLATFORM_MESH] = FABRIC_NVLINK,
		[PLATFORM_PCIE] = FABRIC_PCIE};
	const struct platform_intra *intra = &node->intra;
	int links = intra->kind == PLATFORM_MESH ? 0 : 1;

	if (node->gpus == 1)
		return;
	for (int i = 0; intra->kind == PLATFORM_MESH && i < node->gpus; i++)
		links += intra->links[0][i];
	fabric->intra = is_host ? FABRIC_HOST : kinds[intra->kind];
	fabric->intra_Bps = links * intra->gpu.bandwidth_Bps;
	if (fabric->intra == FABRIC_PCIE && intra->sockets > 1)
		fabric->socket_Bps = intra->socket.bandwidth_Bps;
	fabric->intra_latency_ns = 1e9 * intra->gpu.latency_s *
				   (intra->kind == PLATFORM_MESH ? 1 : 2);
}

enum dist_error machine_fabric(const struct machine *machine,
			       const char *transport, int nodes, int node_ranks,
			       struct fabric *fabric,
			       struct dist_message *message)
{
	struct platform_nodes node = {.count = nodes};
	const struct machine_network *network;
	enum dist_error error =
		platform_of_machine(machine, nodes > 1 ? transport : NULL,
				    node_ranks, &node, message);

	*fabric =
		(struct fabric){.nodes = nodes,
				.node_ranks = node_ranks,
				.calibrations = machine->calibrations,
				.num_calibrations = machine->num_calibrations};
	if (error)
		return error;
	snprintf(fabric->gpu, sizeof fabric->gpu, "%s", node.gpu);
	platform_guess_rates(&node);
	fabric->guessed = node.guessed;
	fabric_intra(&node, machine->gpus_per_node == 0, fabric);
	if (nodes == 1)
		return DIST_OK;
	error = machine_network_choose(machine, transport, &network, message);
	if (error || !network)
		return error ? error
			     : dist__refuse(
				       message,
				       "%s has no network: expected 1 node",
				       machine->title);
	/* Switches of NVLink join the nodes of a rack. */
	if (transport_is(network->transport, "nvlink") && machine->nodes > 0 &&
	    nodes > machine->nodes)
		return dist__refuse(message,
				    "%s: NVLink joins %d nodes: expected at "
				    "most %d ranks, or racks with cards, such "
				    "as gb200-racks",
				    machine->title, machine->nodes,
				    machine->nodes * node_ranks);
	snprintf(fabric->transport, sizeof fabric->transport, "%s",
		 node.inter.fabric);
	fabric->cards = node.inter.nics;
	fabric->card_Bps = node.inter.nic.bandwidth_Bps;
	fabric->card_nodes = network->card_nodes;
	fabric->inter_latency_ns =
		1e9 * (2 * node.inter.nic.latency_s + PLATFORM_PCIE_HOP_S);
	return DIST_OK;
}
