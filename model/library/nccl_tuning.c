/* nccl_tuning.c - NCCL's own cost model: ncclTopoTuneModel() and
 * ncclTopoGetAlgoTime() of src/graph/tuning.cc. */
#include <math.h>

#include "model/library/nccl_tables.h"

/* Of tables by nodes: 1, 2, more. */
static int node_index(const struct nccl_system *system)
{
	return system->nodes < 3 ? system->nodes - 1 : 2;
}

struct nccl_steps library_nccl_steps_of(const struct nccl_system *system,
					enum dist__op_kind op,
					enum nccl_algorithm algorithm)
{
	int n = system->ranks, nodes = system->nodes;
	double levels = nodes > 1 ? floor(log2(nodes)) : 0;

	switch (algorithm) {
	case NCCL_TREE:
		return (struct nccl_steps){2.0 * (system->node_ranks - 1),
					   2 * levels};
	case NCCL_NVLS:
		return (struct nccl_steps){1, 0};
	case NCCL_NVLS_TREE:
		return (struct nccl_steps){1, 2 * levels};
	case NCCL_RING:
		break;
	}
	if (op == DIST__ALL_REDUCE || op == DIST__BARRIER) {
		double all = 2 * (n - 1);
		double net = nodes > 1 ? fmin(2 * nodes, all) : 0;

		return (struct nccl_steps){all - net, net};
	}
	return (struct nccl_steps){n - nodes, nodes - 1};
}

double library_nccl_traffic(const struct nccl_system *system,
			    enum dist__op_kind op)
{
	double n = system->ranks;

	switch (op) {
	case DIST__ALL_REDUCE:
	case DIST__BARRIER:
		return 2 * (n - 1) / n;
	case DIST__ALL_GATHER:
	case DIST__REDUCE_SCATTER:
	case DIST__ALL_TO_ALL:
		return (n - 1) / n;
	default:
		return 1;
	}
}

static double ring_GBps(const struct nccl_system *system,
			enum nccl_protocol protocol)
{
	double bus = system->nodes == 1
			     ? system->intra_GBps
			     : fmin(system->intra_GBps, system->net_GBps);

	if (protocol == NCCL_LL)
		return fmin(library_nccl_ll_max_GBps[system->generation]
						    [node_index(system)],
			    bus * 0.5);
	if (protocol == NCCL_LL128)
		return fmin(
			bus * (system->node_ranks < 2 ? 0.7
						      : NCCL_RING_LL128_SHARE),
			system->channels * library_nccl_ring_ll128_channel_GBps
						   [system->generation]);
	return bus;
}

/* Of two nodes each sends all bytes once, of more half of them send and get
 * them twice: in NCCL's rates a tree of two nodes has twice the network. */
static double tree_GBps(const struct nccl_system *system,
			enum nccl_protocol protocol)
{
	enum nccl_generation generation = system->generation;
	int index = node_index(system);
	double bus = system->intra_GBps;

	if (system->nodes == 2)
		bus = fmin(bus, 2 * system->net_GBps);
	if (system->nodes > 2)
		bus = fmin(bus, system->net_GBps);
	bus = fmin(bus * 0.92,
		   system->channels *
			   library_nccl_tree_channel_GBps[generation][index]);
	if (protocol == NCCL_LL)
		bus = fmin(bus / 3.8,
			   library_nccl_ll_max_GBps[generation][index]);
	if (protocol == NCCL_LL128)
		bus = fmin(
			bus * (system->nodes == 1 ? 7.0 / 9
						  : NCCL_TREE_LL128_SHARE),
			system->channels *
				library_nccl_tree_ll128_channel_GBps[generation]
								    [index]);
	return bus * 0.5;
}

static double nvls_GBps(const struct nccl_system *system,
			enum nccl_algorithm algorithm)
{
	enum nccl_generation generation = system->generation;
	double bus = system->intra_GBps;

	if (algorithm == NCCL_NVLS)
		return bus * library_nccl_nvls_share[generation] * 5 / 6;
	bus = fmin(bus * library_nccl_nvls_share[generation],
		   system->channels * library_nccl_nvls_tree_channel_GBps
					      [generation][node_index(system)]);
	bus *= 5.0 / 6;
	if (system->nodes == 2)
		return fmin(bus, system->net_GBps);
	return fmin(bus, system->net_GBps / 2);
}

double library_nccl_rate_GBps(const struct nccl_system *system,
			      enum dist__op_kind op,
			      enum nccl_algorithm algorithm,
			      enum nccl_protocol protocol)
{
	switch (algorithm) {
	case NCCL_TREE:
		return tree_GBps(system, protocol);
	case NCCL_NVLS:
	case NCCL_NVLS_TREE:
		return nvls_GBps(system, algorithm);
	case NCCL_RING:
		break;
	}
	return ring_GBps(system, protocol) / library_nccl_traffic(system, op);
}

static bool possible(const struct nccl_system *system, enum dist__op_kind op,
		     enum nccl_algorithm algorithm, enum nccl_protocol protocol)
{
	if (protocol != NCCL_SIMPLE && system->simple_only)
		return false;
	if (protocol == NCCL_LL128 && !system->ll128)
		return false;
	if (algorithm == NCCL_RING)
		return true;
	if (op != DIST__ALL_REDUCE && op != DIST__BARRIER)
		return false;
	if (algorithm == NCCL_TREE)
		return true;
	return protocol == NCCL_SIMPLE && system->nvls &&
	       (algorithm == NCCL_NVLS) == (system->nodes == 1);
}

double library_nccl_tree_share(enum nccl_protocol protocol, double bytes)
{
	int i = bytes < 64 ? -1 : ilogb(bytes / 64);

	return i < 0 || i >= NCCL_TREE_CORRECTIONS
		       ? 1
		       : (double)library_nccl_tree_correction[protocol][i];
}

/* The latency of a hop by which a version chooses, as in its last patch: 28 us
 * of trees in Simple until 2.22, except 2.18.5; 20.9 us of trees of switches
 * from 2.28.7 on. */
static double told_hop_us(const struct nccl_system *system, enum nccl_link link,
			  enum nccl_algorithm algorithm,
			  enum nccl_protocol protocol)
{
	if (algorithm == NCCL_TREE && protocol == NCCL_SIMPLE &&
	    system->minor < 23 && system->minor != 18)
		return 28;
	if (algorithm == NCCL_NVLS_TREE && link == NCCL_NET &&
	    system->minor >= 28)
		return 20.9;
	return library_nccl_hop_latency_us[link][algorithm][protocol];
}

/* What every step of a ring over a network costs the processor at least, which
 * posts its messages: of Intel's; AMD's take twice that. */
#define NET_POST_US 1.0

double library_nccl_net_us(const struct nccl_system *system,
			   enum nccl_algorithm algorithm,
			   enum nccl_protocol protocol)
{
	if (system->node_ranks == 1 && algorithm == NCCL_RING)
		algorithm = NCCL_TREE;
	return library_nccl_hop_latency_us[NCCL_NET][algorithm][protocol];
}

static double latency_us(const struct nccl_system *system,
			 enum dist__op_kind op, enum nccl_algorithm algorithm,
			 enum nccl_protocol protocol, double bytes)
{
	const bool is_ring = algorithm == NCCL_RING;
	const bool is_simple = protocol == NCCL_SIMPLE;
	const struct nccl_steps steps =
		library_nccl_steps_of(system, op, algorithm);
	double hop = told_hop_us(system, system->intra, algorithm, protocol);
	double net = told_hop_us(system, NCCL_NET,
				 is_ring && system->node_ranks == 1 ? NCCL_TREE
								    : algorithm,
				 protocol);
	double us = library_nccl_base_latency_us[algorithm][protocol];

	if (algorithm == NCCL_TREE && is_simple && system->minor < 23)
		us = 0;
	if (is_ring && system->nodes > 1)
		hop = fmax(hop, is_simple ? 3 * NET_POST_US : NET_POST_US);
	net += system->plugin_us * (is_simple ? 2 : 1);
	if (op == DIST__BROADCAST || op == DIST__REDUCE)
		return us + (system->nodes > 1 ? net : hop);
	us += steps.intra * hop + steps.net * net;
	if (is_ring && is_simple && system->nodes > 1 &&
	    op == DIST__ALL_REDUCE &&
	    bytes / (system->channels * system->ranks) >= 64)
		us *= system->generation == NCCL_VOLTA ? 1.9 : 1.4;
	return us;
}

/* A rate as the version has it: until 2.27 switches lost nothing. */
static double told_GBps(const struct nccl_system *system, enum dist__op_kind op,
			enum nccl_algorithm algorithm,
			enum nccl_protocol protocol)
{
	double between =
		system->nodes == 2 ? system->net_GBps : system->net_GBps / 2;

	if (algorithm == NCCL_NVLS && system->minor < 28)
		return system->intra_GBps * 5 / 6;
	if (algorithm == NCCL_NVLS_TREE && system->minor < 28)
		return fmin(system->intra_GBps, between) * 5 / 6;
	return library_nccl_rate_GBps(system, op, algorithm, protocol);
}

double library_nccl_tuning_us(const struct nccl_system *system,
			      enum dist__op_kind op,
			      enum nccl_algorithm algorithm,
			      enum nccl_protocol protocol, double bytes)
{
	struct nccl_system told = *system;
	double rate;

	told.channels = system->told_channels;
	rate = told_GBps(algorithm == NCCL_NVLS_TREE ? system : &told, op,
			 algorithm, protocol);
	if (!possible(system, op, algorithm, protocol))
		return -1;
	if (algorithm == NCCL_TREE)
		rate *= library_nccl_tree_share(protocol, bytes);
	return latency_us(system, op, algorithm, protocol, bytes) +
	       bytes / (rate * 1e3);
}

double library_nccl_busy_channels(const struct nccl_system *system,
				  const struct nccl_plan *plan, double bytes)
{
	/* Threads by the bytes that each has at least (src/include/comm.h). */
	static const double least[NCCL_PROTOCOLS] = {512 * 8, 640 * 8,
						     512 * 64};
	double each = least[plan->protocol];

	if (plan->algorithm == NCCL_NVLS || plan->algorithm == NCCL_NVLS_TREE)
		return system->channels;
	if (plan->algorithm == NCCL_RING && plan->protocol == NCCL_LL)
		each *= system->ranks;
	return fmin(system->channels, fmax(1, floor(bytes / each)));
}
