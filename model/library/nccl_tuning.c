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
	case NCCL_PAT:
		return (struct nccl_steps){n, levels};
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

static bool reduces_all(enum dist__op_kind op)
{
	return op == DIST__ALL_REDUCE || op == DIST__BARRIER;
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
		return fmin(bus * NCCL_RING_LL128_SHARE,
			    system->channels *
				    library_nccl_ring_ll128_channel_GBps
					    [system->generation]);
	return bus;
}

/* Of two nodes each sends all bytes once, of more half of them send and get
 * them twice: in NCCL's rates a tree of two nodes has twice the network. */
static double tree_GBps(const struct nccl_system *system,
			enum nccl_protocol protocol, double ll_max_GBps)
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
		bus = fmin(bus / 3.8, ll_max_GBps);
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
		return tree_GBps(system, protocol,
				 library_nccl_ll_max_GBps[system->generation]
							 [node_index(system)]);
	case NCCL_NVLS:
	case NCCL_NVLS_TREE:
		return nvls_GBps(system, algorithm);
	case NCCL_PAT:
		return system->net_GBps * NCCL_PAT_SHARE;
	case NCCL_RING:
		break;
	}
	return ring_GBps(system, protocol) / library_nccl_traffic(system, op);
}

/* PAT came with NCCL 2.23, for one rank a node (ncclPatEnable()). */
static bool has_pat(const struct nccl_system *system, enum dist__op_kind op)
{
	return (op == DIST__ALL_GATHER || op == DIST__REDUCE_SCATTER) &&
	       system->minor >= 23 && system->node_ranks == 1;
}

/* GPUs of a generation have LL128 since 2.minor. */
static const int ll128_since[NCCL_GENERATIONS] = {0, 7, 15, 15};

static bool possible(const struct nccl_system *system, enum dist__op_kind op,
		     enum nccl_algorithm algorithm, enum nccl_protocol protocol)
{
	if (protocol != NCCL_SIMPLE && system->simple_only)
		return false;
	if (protocol == NCCL_LL128 &&
	    (!system->ll128 || system->minor < ll128_since[system->generation]))
		return false;
	if (algorithm == NCCL_RING)
		return true;
	if (algorithm == NCCL_PAT)
		return protocol == NCCL_SIMPLE && has_pat(system, op);
	if (!reduces_all(op))
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

/* Rings and trees as versions up to 2.minor reckon them. 2.4 has no such model;
 * 2.5's stands for it. */
static const struct era {
	int minor;
	double base_us[2][NCCL_PROTOCOLS];
	double hop_us[NCCL_LINKS][2][NCCL_PROTOCOLS];
} eras[] = {
	{6,
	 {[NCCL_RING] = {3.6, 3.6, 8.4}, [NCCL_TREE] = {4.4, 4.4, 0}},
	 {[NCCL_NVLINK] =
		  {[NCCL_RING] = {0.4, 2.5, 5.7}, [NCCL_TREE] = {0.5, 1.9, 28}},
	  [NCCL_PCI] =
		  {[NCCL_RING] = {1.0, 2.5, 5.7}, [NCCL_TREE] = {1.0, 1.9, 28}},
	  [NCCL_NET] = {[NCCL_RING] = {0.9, 2.5, 6.6},
			[NCCL_TREE] = {5.0, 7.5, 50}}}},
	{17,
	 {[NCCL_RING] = {3.6, 10.0, 8.4}, [NCCL_TREE] = {4.4, 4.4, 0}},
	 {[NCCL_NVLINK] = {[NCCL_RING] = {0.47, 1.9, 3.4},
			   [NCCL_TREE] = {0.52, 1.25, 28}},
	  [NCCL_PCI] =
		  {[NCCL_RING] = {1.0, 2.5, 5.7}, [NCCL_TREE] = {1.0, 1.9, 28}},
	  [NCCL_NET] = {[NCCL_RING] = {2.7, 4.0, 9.6},
			[NCCL_TREE] = {5.0, 8.5, 28}}}},
};

/* The last versions of both. */
#define OLDEST 6
#define OLDER  17

/* NULL: the tables of today. */
static const struct era *era_of(const struct nccl_system *system,
				enum nccl_algorithm algorithm)
{
	for (size_t i = 0; i < sizeof eras / sizeof eras[0]; i++)
		if (algorithm <= NCCL_TREE && system->minor <= eras[i].minor)
			return &eras[i];
	return NULL;
}

static double told_base_us(const struct nccl_system *system,
			   enum nccl_algorithm algorithm,
			   enum nccl_protocol protocol)
{
	const struct era *era = era_of(system, algorithm);

	if (era)
		return era->base_us[algorithm][protocol];
	if (algorithm == NCCL_TREE && protocol == NCCL_SIMPLE &&
	    system->minor < 23)
		return 0;
	return library_nccl_base_latency_us[algorithm][protocol];
}

/* The latency of a hop by which a version chooses, as in its last patch: 28 us
 * of trees in Simple until 2.22, except 2.18.5; 20.9 us of trees of switches
 * from 2.28.7 on; between nodes 50 us of trees in 2.7, 28 us of rings in 2.12.
 */
static double told_hop_us(const struct nccl_system *system, enum nccl_link link,
			  enum nccl_algorithm algorithm,
			  enum nccl_protocol protocol)
{
	const struct era *era = era_of(system, algorithm);

	if (link == NCCL_NET && protocol == NCCL_SIMPLE &&
	    algorithm <= NCCL_TREE &&
	    system->minor == (algorithm == NCCL_TREE ? 7 : 12))
		return algorithm == NCCL_TREE ? 50 : 28;
	if (era)
		return era->hop_us[link][algorithm][protocol];
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

/* How many steps of a ring NCCL reckons as steps between nodes: up to 2.6 all
 * steps; of an all-reduce from 2.12 to 2.22 two a node; else one a node but the
 * last, twice for an all-reduce. */
static double told_net_steps(const struct nccl_system *system,
			     enum dist__op_kind op)
{
	double nodes = system->nodes, twice = reduces_all(op) ? 2 : 1;

	if (system->nodes == 1)
		return 0;
	if (system->minor <= OLDEST)
		return twice * (system->ranks - 1);
	if (twice > 1 && system->minor > 11 && system->minor < 23)
		return fmin(2 * nodes, twice * (system->ranks - 1));
	return twice * (nodes - 1);
}

/* Large calls of rings in Simple between nodes. */
static double plateau(const struct nccl_system *system, double bytes)
{
	if (system->minor <= OLDEST)
		return 1;
	if (system->minor <= OLDER)
		return bytes < system->ranks * 4096.0 ? 1
		       : system->generation < NCCL_HOPPER || system->minor < 17
			       ? 1.9
			       : 1.5;
	if (bytes / (system->channels * system->ranks) < 64)
		return 1;
	return system->generation == NCCL_VOLTA ? 1.9 : 1.4;
}

static double latency_us(const struct nccl_system *system,
			 enum dist__op_kind op, enum nccl_algorithm algorithm,
			 enum nccl_protocol protocol, double bytes)
{
	const bool is_ring = algorithm == NCCL_RING;
	const bool is_simple = protocol == NCCL_SIMPLE;
	struct nccl_steps steps = library_nccl_steps_of(system, op, algorithm);
	double hop = told_hop_us(system, system->intra, algorithm, protocol);
	double net = told_hop_us(system, NCCL_NET,
				 is_ring && system->node_ranks == 1 &&
						 system->minor >= 23
					 ? NCCL_TREE
					 : algorithm,
				 protocol);
	double us = told_base_us(system, algorithm, protocol);

	if (system->nodes > 1 && system->minor > OLDER && is_ring)
		hop = fmax(hop, is_simple ? 3 * NET_POST_US : NET_POST_US);
	if (system->nodes > 1 && system->minor > OLDEST &&
	    system->minor <= OLDER && protocol == NCCL_LL)
		hop *= 1.8;
	if (system->minor > OLDER)
		net += system->plugin_us * (is_simple ? 2 : 1);
	else if (system->minor > 11 && system->plugin_us > 0)
		net = system->plugin_us;
	if (op == DIST__BROADCAST || op == DIST__REDUCE)
		return us + (system->nodes > 1 ? net : hop);
	if (algorithm == NCCL_PAT) {
		net /= NCCL_PAT_OVERLAP;
		hop = NCCL_PAT_RANK_US;
	}
	if (is_ring) {
		steps.intra += steps.net - told_net_steps(system, op);
		steps.net = told_net_steps(system, op);
	}
	us += steps.intra * hop + steps.net * net;
	if (is_ring && is_simple && system->nodes > 1 && op == DIST__ALL_REDUCE)
		us *= plateau(system, bytes);
	return us;
}

/* The most of LL: in one node by the GPUs, of which Hopper's came with 2.21,
 * between nodes by the processors (those of Intel here; AMD's reach 22.5 of two
 * nodes, and 19). */
static double told_ll_max_GBps(const struct nccl_system *system)
{
	enum nccl_generation generation = system->generation;

	if (system->minor < 8)
		return INFINITY;
	if (system->nodes > 1)
		return library_nccl_ll_max_GBps[NCCL_VOLTA][node_index(system)];
	if (system->minor < 21 && generation > NCCL_AMPERE)
		generation = NCCL_AMPERE;
	return library_nccl_ll_max_GBps[generation][0];
}

static double told_ring_GBps(const struct nccl_system *system,
			     enum dist__op_kind op, enum nccl_protocol protocol)
{
	bool quarter =
		system->nodes > 1 || reduces_all(op) || op == DIST__REDUCE;
	double bus = system->nodes == 1
			     ? system->intra_GBps
			     : fmin(system->intra_GBps, system->net_GBps);
	double share = NCCL_RING_LL128_SHARE;

	if (system->minor > OLDEST && system->minor <= OLDER &&
	    system->generation == NCCL_AMPERE)
		bus = fmin(bus, 235);
	if (protocol == NCCL_LL)
		return fmin(told_ll_max_GBps(system),
			    bus * (system->minor >= 21 ? 0.5
				   : quarter           ? 1.0 / 4
						       : 1.0 / 3));
	if (protocol == NCCL_LL128) {
		if (system->minor <= OLDEST)
			return fmin(bus * 15 / 16, 100);
		if (system->node_ranks < 2 && system->minor < 23)
			share = 0.7;
		return fmin(bus * share,
			    system->channels *
				    library_nccl_ring_ll128_channel_GBps
					    [system->generation]);
	}
	return bus;
}

static double told_tree_GBps(const struct nccl_system *system,
			     enum nccl_protocol protocol)
{
	static const double share[NCCL_PROTOCOLS] = {1.0 / 3, 7.0 / 9, 1};
	double bus = system->intra_GBps;

	if (system->minor > OLDEST)
		return tree_GBps(system, protocol, told_ll_max_GBps(system));
	if (system->nodes > 1)
		bus = fmin(bus, system->nodes == 2 ? 2 * system->net_GBps
						   : system->net_GBps);
	return 0.5 * share[protocol] *
	       fmin(bus * 0.9, system->nodes > 2 ? 80 : 110);
}

/* A rate as the version has it: until 2.27 switches lost nothing. */
static double told_GBps(const struct nccl_system *system, enum dist__op_kind op,
			enum nccl_algorithm algorithm,
			enum nccl_protocol protocol)
{
	double between =
		system->nodes == 2 ? system->net_GBps : system->net_GBps / 2;

	if (algorithm == NCCL_RING)
		return told_ring_GBps(system, op, protocol) /
		       library_nccl_traffic(system, op);
	if (algorithm == NCCL_TREE)
		return told_tree_GBps(system, protocol);
	if (algorithm == NCCL_NVLS && system->minor < 28)
		return system->intra_GBps * 5 / 6;
	if (algorithm == NCCL_NVLS_TREE && system->minor < 28)
		return fmin(system->intra_GBps, between) * 5 / 6;
	if (algorithm == NCCL_PAT && system->minor < 25)
		return system->net_GBps * NCCL_PAT_SHARE_OLD;
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
