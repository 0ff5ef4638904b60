/* nccl_system.c - a fabric as NCCL sees it: its rates of links are those of
 * src/graph/topo.h, its channels those that its search comes to on such
 * machines (src/graph/search.cc). */
#include <math.h>
#include <string.h>

#include "model/library/nccl.h"

/* Kinds of GPUs by words in their names. "H20" is in "H200", too. */
static const struct {
	const char *word;
	enum nccl_generation generation;
} generations[] = {
	{"GB200", NCCL_BLACKWELL},  {"GB300", NCCL_BLACKWELL},
	{"B200", NCCL_BLACKWELL},   {"B300", NCCL_BLACKWELL},
	{"B100", NCCL_BLACKWELL},   {"RTX 50", NCCL_BLACKWELL},
	{"RTX-50", NCCL_BLACKWELL}, {"RTX-20", NCCL_VOLTA},
	{"GH200", NCCL_HOPPER},     {"H100", NCCL_HOPPER},
	{"H20", NCCL_HOPPER},       {"H800", NCCL_HOPPER},
	{"V100", NCCL_VOLTA},       {"RTX 20", NCCL_VOLTA},
	{"Quadro", NCCL_VOLTA},     {"T4", NCCL_VOLTA},
	{"P100", NCCL_VOLTA},       {"GTX", NCCL_VOLTA},
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
	/* Four, where a rank has a card of its own but a node few ("to reach
	 * peak BW", src/graph/connect.cc). */
	if (system->generation > NCCL_AMPERE && cards <= system->node_ranks &&
	    system->net_GBps / cards > 45 && 4 * cards <= 16)
		return 4 * cards;
	if (2 * cards < most)
		return 2 * cards;
	return most;
}

/* What its search finds: a channel for each card, and two where few of them are
 * fast (ncclTopoDupChannels()). */
static int told_channels_of(const struct nccl_system *system, int cards)
{
	double each = system->net_GBps / cards;

	if (system->nodes == 1)
		return system->channels;
	if (each < 25 ||
	    (system->generation > NCCL_AMPERE && each <= 50 && cards > 4))
		return cards;
	return 2 * cards < system->channels ? 2 * cards : system->channels;
}

/* Rates that nobody told: of a card 100 Gbit/s, as NCCL takes it to be
 * (src/graph/topo.h), of sockets 10 (src/transport/net_socket.cc); inside a
 * node two links of NVLink 2. */
#define UNKNOWN_CARD_BPS  12e9
#define UNKNOWN_TCP_BPS   1.25e9
#define UNKNOWN_INTRA_BPS 50e9

static bool is_sockets(const struct fabric *fabric)
{
	return transport_is(fabric->transport, "tcp");
}

static double net_GBps(const struct fabric *fabric)
{
	int cards = fabric->cards > 0 ? fabric->cards : 1;
	double Bps = is_sockets(fabric) ? UNKNOWN_TCP_BPS : UNKNOWN_CARD_BPS;

	if (fabric->card_Bps > 0)
		Bps = fabric->card_Bps;
	return cards * Bps / 1e9;
}

/* Between two sockets, in its rates: of Intel's 20.8 GB/s it takes 10
 * (SKL_QPI_BW). */
#define SOCKETS_TOLD (10.0 / 20.8)

static bool is_geforce(const char *gpu)
{
	const char *rtx = strstr(gpu, "RTX");

	/* "RTX 4090", "RTX-4090"; an RTX 4000 is of workstations. */
	return strstr(gpu, "GTX") || strstr(gpu, "TITAN") ||
	       (rtx && strlen(rtx) >= sizeof "RTX 4090" - 1 &&
		strchr("2345", rtx[4]) && rtx[5] == '0' && rtx[6] != '0');
}

/* GPUs on boards with cards beside them, by the beginnings of their names. */
static bool is_on_board(const char *gpu)
{
	static const char *const boards[] = {"V100", "P100", "A100", "A800",
					     "H100", "H800", "H20",  "B100",
					     "B200", "B300", "GH",   "GB"};

	if (strstr(gpu, "PCIe") || strstr(gpu, "PCIE"))
		return false;
	for (size_t i = 0; i < sizeof boards / sizeof boards[0]; i++)
		if (strstr(gpu, boards[i]))
			return true;
	return gpu[0] == '\0';
}

/* Cards read and write the memory of GPUs (GPUDirect RDMA) where a switch of
 * PCIe joins them (ncclTopoCheckGdr()): on boards, and where a machine has more
 * GPUs on PCIe. A GPU alone and its card hang on the processor. Drivers let
 * no card reach a GeForce. */
static bool is_reached(const struct fabric *fabric)
{
	return !is_geforce(fabric->gpu) &&
	       (fabric->intra != FABRIC_ALONE || is_on_board(fabric->gpu));
}

/* Reductions in the switches came with NCCL 2.17. */
#define NVLS_MINOR 17

/* Cards behind a Grace have LL128 since 2.28: PATH_P2C went below PATH_PXN
 * (src/graph/topo.h). Lines may come in halves there (pull request 2053). */
#define GRACE_LL128_MINOR 28

/* LL128 needs cards that write whole lines to the GPU themselves: neither
 * sockets nor other cards whose bytes come by way of the processor
 * (ncclTopoTuneModel(), PATH_PHB). */
static bool is_direct(const struct fabric *fabric, int minor)
{
	return !is_sockets(fabric) && is_reached(fabric) &&
	       (minor >= GRACE_LL128_MINOR || !strstr(fabric->gpu, "GH200"));
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
	int cards = fabric->cards > 0 ? fabric->cards : 1;
	bool nvlink =
		fabric->intra != FABRIC_PCIE && fabric->intra != FABRIC_HOST;

	system.node_ranks = (ranks + system.nodes - 1) / system.nodes;
	system.intra = nvlink ? NCCL_NVLINK : NCCL_PCI;
	system.link_GBps = (fabric->intra_Bps > 0 ? fabric->intra_Bps
						  : UNKNOWN_INTRA_BPS) /
			   1e9;
	system.linked = fabric->intra == FABRIC_NVLINK && system.node_ranks > 2
				? system.node_ranks - 1
				: 1;
	system.socket_GBps = fabric->socket_Bps / 1e9 * SOCKETS_TOLD;
	if (fabric->intra_reached)
		system.link_GBps /= link_share(system.intra, system.generation);
	system.intra_GBps =
		system.link_GBps * link_share(system.intra, system.generation);
	if (system.socket_GBps > 0)
		system.intra_GBps = fmin(system.intra_GBps, system.socket_GBps);
	if (system.nodes > 1)
		system.net_GBps = net_GBps(fabric);
	if (system.node_ranks == 1)
		system.intra_GBps = system.net_GBps;
	system.card_GBps = system.net_GBps / fmin(cards, system.node_ranks);
	system.channels = channels_of(&system, cards);
	system.told_channels = told_channels_of(&system, cards);
	system.nvls = fabric->intra == FABRIC_NVSWITCH &&
		      system.generation >= NCCL_HOPPER &&
		      system.node_ranks > 2 && constants->minor >= NVLS_MINOR;
	system.over_host =
		system.socket_GBps > 0 ||
		(fabric->intra == FABRIC_PCIE && is_geforce(fabric->gpu));
	system.sockets = system.nodes > 1 && is_sockets(fabric);
	system.bounces =
		system.nodes > 1 && !system.sockets && !is_reached(fabric);
	system.ll128 = nvlink &&
		       (system.nodes == 1 || is_direct(fabric, system.minor));

	/* What plugins for networks tell NCCL, and set: of EFA, aws-ofi-nccl
	 * (src/platform-aws.c); of TCPX and TCPXO, the settings that Google
	 * Cloud documents for them, without NVLS and with Simple alone. */
	if (transport_is(fabric->transport, "tcpxo") ||
	    transport_is(fabric->transport, "tcpx")) {
		system.nvls = false;
		system.simple_only = true;
	}
	system.slow_lines = system.nodes > 1 &&
			    transport_is(fabric->transport, "slingshot");
	if (transport_is(fabric->transport, "efa")) {
		system.plugin_us = 75;
		system.simple_only = system.generation < NCCL_HOPPER;
	}
	return system;
}
