/* nccl_system.c - a fabric as NCCL sees it: its rates of links are those of
 * src/graph/topo.h, its channels those that its search comes to on such
 * machines (src/graph/search.cc). */
#include <string.h>

#include "model/library/nccl.h"

/* Kinds of GPUs by words in their names. "H20" is in "H200", too. */
static const struct {
	const char *word;
	enum nccl_generation generation;
} generations[] = {
	{"GB200", NCCL_BLACKWELL}, {"GB300", NCCL_BLACKWELL},
	{"B200", NCCL_BLACKWELL},  {"B300", NCCL_BLACKWELL},
	{"B100", NCCL_BLACKWELL},  {"RTX 50", NCCL_BLACKWELL},
	{"GH200", NCCL_HOPPER},    {"H100", NCCL_HOPPER},
	{"H20", NCCL_HOPPER},      {"H800", NCCL_HOPPER},
	{"V100", NCCL_VOLTA},      {"RTX 20", NCCL_VOLTA},
	{"Quadro", NCCL_VOLTA},    {"T4", NCCL_VOLTA},
	{"P100", NCCL_VOLTA},      {"GTX", NCCL_VOLTA},
};

static enum nccl_generation generation_of(const char *gpu)
{
	for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++)
		if (strstr(gpu, generations[i].word))
			return generations[i].generation;
	return NCCL_AMPERE;
}

/* What NCCL takes a link for, of its rate: 20 GB/s of 25 for NVLink 2 and 3,
 * 20.6 of 25 for NVLink 4, 40.1 of 50 for NVLink 5; 12 of 15.75 for PCIe 3. */
static double link_share(enum nccl_link link, enum nccl_generation generation)
{
	static const double nvlink[NCCL_GENERATIONS] = {0.8, 0.8, 0.824, 0.802};

	return link == NCCL_PCI ? 0.762 : nvlink[generation];
}

/* By generation: what NVLinks are cut into. */
static int nvlink_channels(enum nccl_generation generation)
{
	static const int channels[NCCL_GENERATIONS] = {12, 24, 24, 32};

	return channels[generation];
}

/* Cards have two channels each, between nodes. */
static int channels_of(const struct nccl_system *system, int cards)
{
	int most = system->intra == NCCL_NVLINK
			   ? nvlink_channels(system->generation)
			   : 2;

	if (system->nodes == 1)
		return most;
	if (2 * cards < most)
		return 2 * cards;
	return most;
}

/* Rates that nobody told: of a card 100 Gbit/s, as NCCL takes it to be
 * (src/graph/topo.h), of sockets 10 (src/transport/net_socket.cc); inside a
 * node two links of NVLink 2. */
#define UNKNOWN_CARD_BPS  12e9
#define UNKNOWN_TCP_BPS   1.25e9
#define UNKNOWN_INTRA_BPS 50e9

static bool is_sockets(const struct fabric *fabric)
{
	return strcmp(fabric->transport, "tcp") == 0 ||
	       strncmp(fabric->transport, "tcp-", 4) == 0;
}

static double net_GBps(const struct fabric *fabric)
{
	int cards = fabric->cards > 0 ? fabric->cards : 1;
	double Bps = is_sockets(fabric) ? UNKNOWN_TCP_BPS : UNKNOWN_CARD_BPS;

	if (fabric->card_Bps > 0)
		Bps = fabric->card_Bps;
	return cards * Bps / 1e9;
}

/* Between two sockets of Intel's processors, in its rates (SKL_QPI_BW). */
#define SOCKETS_GBPS 10.0

static double intra_GBps(const struct fabric *fabric, enum nccl_link link,
			 enum nccl_generation generation)
{
	double Bps =
		fabric->intra_Bps > 0 ? fabric->intra_Bps : UNKNOWN_INTRA_BPS;
	double GBps = Bps / 1e9 * link_share(link, generation);

	return fabric->socket_Bps > 0 && GBps > SOCKETS_GBPS ? SOCKETS_GBPS
							     : GBps;
}

/* Cards reach the memory of GPUs themselves (GPUDirect RDMA), but for those of
 * GeForce and over sockets. */
static bool is_geforce(const char *gpu)
{
	return strstr(gpu, "GTX") || strstr(gpu, "TITAN") ||
	       strstr(gpu, "RTX 20") || strstr(gpu, "RTX 30") ||
	       strstr(gpu, "RTX 40") || strstr(gpu, "RTX 50");
}

/* Reductions in the switches came with NCCL 2.17. */
#define NVLS_MINOR 17

/* LL128 needs cards that write whole lines to the GPU themselves: not sockets,
 * whose bytes come by way of the processor (ncclTopoTuneModel(), PATH_PHB), nor
 * cards behind a Grace (github.com/NVIDIA/nccl, pull request 2053). */
static bool is_direct(const struct fabric *fabric)
{
	return !is_sockets(fabric) && !strstr(fabric->gpu, "GH200");
}

struct nccl_system
library_nccl_system_of(const struct fabric *fabric, int ranks,
		       const struct nccl_constants *constants)
{
	struct nccl_system system = {
		.generation = generation_of(fabric->gpu),
		.minor = (int)constants->minor,
		.ranks = ranks,
		.nodes = fabric_is_one(fabric) ? 1 : fabric->nodes,
	};
	bool nvlink =
		fabric->intra != FABRIC_PCIE && fabric->intra != FABRIC_HOST;

	system.node_ranks = (ranks + system.nodes - 1) / system.nodes;
	system.intra = nvlink ? NCCL_NVLINK : NCCL_PCI;
	system.intra_GBps = intra_GBps(fabric, system.intra, system.generation);
	if (system.nodes > 1)
		system.net_GBps = net_GBps(fabric);
	if (system.node_ranks == 1)
		system.intra_GBps = system.net_GBps;
	system.channels = channels_of(&system, fabric->cards);
	system.nvls = fabric->intra == FABRIC_NVSWITCH &&
		      system.generation >= NCCL_HOPPER &&
		      system.node_ranks > 2 && constants->minor >= NVLS_MINOR;
	system.over_sockets = fabric->socket_Bps > 0;
	system.sockets = system.nodes > 1 && is_sockets(fabric);
	system.bounces =
		system.nodes > 1 && !system.sockets && is_geforce(fabric->gpu);
	system.ll128 = nvlink && (system.nodes == 1 || is_direct(fabric));

	/* What plugins for networks tell NCCL, and set: of EFA, aws-ofi-nccl
	 * (src/platform-aws.c); of TCPX and TCPXO, the settings that Google
	 * Cloud documents for them, without NVLS and with Simple alone. */
	if (strcmp(fabric->transport, "tcpxo") == 0 ||
	    strcmp(fabric->transport, "tcpx") == 0) {
		system.nvls = false;
		system.simple_only = true;
	}
	if (strcmp(fabric->transport, "efa") == 0) {
		system.plugin_us = 75;
		system.simple_only = system.generation < NCCL_HOPPER;
	}
	return system;
}
