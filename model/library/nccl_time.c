/*
 * nccl_time.c - what a plan of NCCL takes: the latencies and rates of its own
 * tables, as links and machines turn out to be. The shapes are physics, their
 * constants those of the profile; each says below what it stands for.
 */
#include <math.h>

#include "model/library/nccl_tables.h"

#define MEBI 1048576.0

/* A fill of a tree between nodes is whole from this size on, and grows with
 * the size to this power before: as chunks do (src/enqueue.cc). */
#define TREE_WHOLE_BYTES (16 * MEBI)
#define TREE_POWER       0.7

/* Most of a chunk in the switches, a channel and rank (src/enqueue.cc): it is
 * halved for smaller calls, which comes to the root of bytes x 1 MiB for all
 * channels and ranks. */
#define NVLS_CHUNK      (128 * 1024.0)
#define NVLS_TREE_CHUNK (64 * 1024.0)

/* Above it a message is announced first, where a network does so. */
#define EAGER_BYTES (16 * 1024.0)

/* Proxies of GPUs behind PCIe copy through the host: as if of so many
 * channels. */
#define HOST_CHANNELS 24

/* Where x lies from low to high, in powers of two: 0 to 1. */
static double octaves(double x, double low, double high)
{
	if (x <= low)
		return 0;
	return fmin(1, log2(x / low) / log2(high / low));
}

/* Reached between two sockets: what goes through the host's memory is written
 * there by one GPU and read by the other, so that half of the time is each's.
 */
#define SOCKETS_SHARE 0.5

/* So many nodes are behind one switch, at least. */
#define SWITCH_NODES 4

/* The same system with the rates that its links reach. More nodes spread over
 * more switches, on whose links they collide. Rings in LL lose nothing by way
 * of the host: there, too, they carry about as much as in Simple, whose words
 * are all data (a100-pcie-4 within a node, hkbu-2080ti between nodes).
 * traffic: of a ring by its op, 0 of messages that all go one way. */
static struct nccl_system reached(const struct nccl_system *system,
				  const struct nccl_constants *constants,
				  enum nccl_algorithm algorithm,
				  enum nccl_protocol protocol, double traffic)
{
	struct nccl_system real = *system;
	double steps = traffic * system->ranks;
	double turn = traffic > 0 ? steps / (steps + constants->turn) : 1;
	bool streams = algorithm == NCCL_RING && protocol == NCCL_LL;

	if (system->sockets)
		real.net_GBps = fmin(real.net_GBps, constants->socket_GBps);
	real.net_GBps *= constants->net_share;
	if (system->bounces && !streams)
		real.net_GBps *= constants->bounce_share;
	if (system->nodes > SWITCH_NODES)
		real.net_GBps *=
			pow(1 - constants->spread,
			    log2((double)system->nodes / SWITCH_NODES));
	if (system->socket_GBps > 0 && !streams)
		real.intra_GBps = fmin(real.intra_GBps,
				       system->socket_GBps * SOCKETS_SHARE);
	if (system->over_host && !streams)
		real.intra_GBps =
			fmin(real.intra_GBps,
			     system->link_GBps * constants->bounce_share);
	if (real.node_ranks == 1)
		real.intra_GBps = real.net_GBps;
	else if (algorithm == NCCL_NVLS || algorithm == NCCL_NVLS_TREE)
		real.intra_GBps *=
			constants->intra_share * constants->nvls_share;
	else
		real.intra_GBps *= constants->intra_share * turn;
	return real;
}

/* Steps inside a node and between nodes, in us. */
struct hops {
	double intra, net;
	double piped; /* between nodes, while other chunks are on their way:
			 these are announced already */
};

/* In LL: once all ranks of a ring have something to send, each step waits for
 * both sides; and one thread posts what all channels of a rank send. */
static void slow_ll(const struct nccl_system *system,
		    const struct nccl_constants *constants,
		    enum nccl_algorithm algorithm, double bytes,
		    struct hops *hops)
{
	double channels = system->channels;
	double busy = 0;

	if (system->intra == NCCL_PCI)
		channels = HOST_CHANNELS;
	if (algorithm == NCCL_RING &&
	    (system->nodes > 1 || system->generation >= NCCL_HOPPER))
		busy = constants->ring_step - 1;
	busy *= octaves(bytes / system->ranks, 16, 256);
	hops->intra *= 1 + busy;
	hops->net += busy *
		     library_nccl_hop_latency_us[NCCL_NET][algorithm][NCCL_LL];
	hops->net *= 1 + constants->channel_step * (channels - 1) *
				 octaves(bytes, 1024, 32 * 1024.0);
}

static struct hops hops_of(const struct nccl_system *system,
			   const struct nccl_constants *constants,
			   const struct nccl_plan *plan, double bytes)
{
	const enum nccl_algorithm a = plan->algorithm;
	const enum nccl_protocol p = plan->protocol;
	/* Simple waits for data and for their flag (src/graph/tuning.cc): a
	 * card that wrote to a GPU must have been read from before. */
	double times = p == NCCL_SIMPLE && !system->bounces ? 2 : 1;
	/* A ring passes on a part of each rank. */
	double message = 2 * bytes / system->channels /
			 (a == NCCL_RING ? system->ranks : 1);
	bool is_eager = p == NCCL_LL && message < EAGER_BYTES;
	double more_us = is_eager ? constants->eager_us : constants->net_us;
	struct hops hops = {
		library_nccl_hop_latency_us[system->intra][a][p],
		library_nccl_net_us(system, a, p) + times * more_us,
		library_nccl_net_us(system, a, p) + times * constants->eager_us,
	};

	if (a == NCCL_PAT) { /* of which only NCCL's own figures are known */
		hops.intra = NCCL_PAT_RANK_US;
		hops.net /= NCCL_PAT_OVERLAP;
		return hops;
	}
	if (system->generation >= NCCL_HOPPER)
		hops.intra *= constants->hopper_step;
	if (a == NCCL_TREE && p == NCCL_LL)
		hops.net -= (1 - constants->tree_ll_step) *
			    library_nccl_hop_latency_us[NCCL_NET][a][p];
	if (p == NCCL_LL)
		slow_ll(system, constants, a, bytes, &hops);
	if (p == NCCL_LL128) {
		hops.intra *= constants->ll128_step;
		hops.net *= constants->ll128_step;
	}
	return hops;
}

/* Time in us until the pipelines are full; sockets are the pipelines' slowest
 * part from the start. */
static double fill_us(const struct nccl_system *system,
		      const struct nccl_constants *constants,
		      const struct nccl_plan *plan, double bytes,
		      const struct hops *hops, double rate_GBps)
{
	double queues = system->channels * (double)system->node_ranks;
	double chunks = sqrt(bytes * MEBI) / (rate_GBps * 1e3);

	switch (plan->algorithm) {
	case NCCL_NVLS:
		return constants->nvls_fill *
		       fmin(chunks, NVLS_CHUNK * queues / (rate_GBps * 1e3));
	case NCCL_NVLS_TREE: /* up and down again */
		return 2 * constants->nvls_fill *
		       fmin(chunks,
			    NVLS_TREE_CHUNK * queues / (rate_GBps * 1e3));
	case NCCL_TREE:
		if (plan->protocol != NCCL_SIMPLE || system->nodes == 1 ||
		    system->sockets)
			return 0;
		return constants->tree_fill * hops->piped *
		       pow(fmin(1, bytes / TREE_WHOLE_BYTES), TREE_POWER);
	case NCCL_RING:
	case NCCL_PAT:
		break;
	}
	return 0;
}

/* What a tree reaches of its rate, without steps. */
static double tree_share(enum nccl_protocol protocol, double bytes)
{
	double share = library_nccl_tree_share(protocol, bytes);
	double next = library_nccl_tree_share(protocol, 2 * bytes);
	double place = bytes < 64 ? 0 : log2(bytes) - floor(log2(bytes));

	return share + place * (next - share);
}

/* Of its rate over Slingshot, where its operators call it slow: what 1 to 4 MiB
 * reach between two GPUs (nccl-alps-2x1). */
#define SLOW_LINES_SHARE (0.7 / NCCL_RING_LL128_SHARE)

/* What LL128 reaches of NCCL's rate. Forced trees of MareNostrum 5 lose nothing
 * by it, rings no more than the words that are not data. */
static double ll128_share(const struct nccl_system *real,
			  const struct nccl_constants *constants,
			  enum nccl_algorithm algorithm, double bytes)
{
	bool hopper = real->generation >= NCCL_HOPPER;
	double share = 1;

	if (real->slow_lines)
		share = SLOW_LINES_SHARE;
	if (hopper && real->nodes > 1)
		return share * (algorithm == NCCL_TREE
					? 1 / NCCL_TREE_LL128_SHARE
					: NCCL_TREE_LL128_SHARE /
						  NCCL_RING_LL128_SHARE);
	if (!hopper && algorithm == NCCL_TREE)
		share *= tree_share(NCCL_LL128, bytes);
	if (real->generation == NCCL_AMPERE)
		share *= constants->ampere_ll128;
	return share;
}

static double ll_share(const struct nccl_system *real,
		       const struct nccl_constants *constants,
		       enum nccl_algorithm algorithm, double bytes)
{
	if (algorithm == NCCL_TREE)
		return tree_share(NCCL_LL, bytes);
	if (real->generation == NCCL_AMPERE && real->intra == NCCL_NVLINK)
		return constants->ampere_ll;
	return 1;
}

static double rate_GBps(const struct nccl_system *real,
			const struct nccl_constants *constants,
			enum dist__op_kind op, const struct nccl_plan *plan,
			double bytes)
{
	const enum nccl_algorithm a = plan->algorithm;
	double rate = library_nccl_rate_GBps(real, op, a, plan->protocol);

	if (plan->protocol == NCCL_LL)
		rate *= ll_share(real, constants, a, bytes);
	if (plan->protocol == NCCL_LL128)
		rate *= ll128_share(real, constants, a, bytes);
	return rate;
}

/*
 * The share of a ring's transfer that each part of the data takes on its way: a
 * link carries all parts, one after the other, and each of them is on the slow
 * links for some of its steps alone. For the rest of the time its latencies
 * pass while others are carried.
 */
static double way_share(const struct nccl_system *real,
			const struct nccl_steps *steps)
{
	double slow = fmin(real->intra_GBps, real->net_GBps);

	return (steps->intra * slow / real->intra_GBps +
		steps->net * slow / real->net_GBps) /
	       (steps->intra + steps->net);
}

/* What is data of all that a protocol sends: of LL every other word is a flag,
 * of LL128 one in sixteen (src/include/device.h). */
static double data_share(enum nccl_protocol protocol)
{
	static const double share[NCCL_PROTOCOLS] = {0.5, 15.0 / 16, 1};

	return share[protocol];
}

static void set_reach(const struct nccl_system *system,
		      const struct nccl_system *real,
		      enum nccl_protocol protocol,
		      struct library_estimate *estimate)
{
	estimate->local_reach =
		data_share(protocol) * real->intra_GBps / system->intra_GBps;
	if (system->net_GBps > 0)
		estimate->remote_reach = data_share(protocol) * real->net_GBps /
					 system->net_GBps;
}

/* A ring in LL starts soonest. By how much later the others start is NCCL's own
 * figure. */
static double start_ns(const struct nccl_constants *constants,
		       enum nccl_algorithm algorithm,
		       enum nccl_protocol protocol)
{
	return 1e3 *
	       fmax(0,
		    constants->launch_us +
			    library_nccl_base_latency_us[algorithm][protocol] -
			    library_nccl_base_latency_us[NCCL_RING][NCCL_LL]);
}

/* Steps that come after each other. NCCL reckons that a ring of one way round
 * leaves each node but one; most data leave each. */
static struct nccl_steps real_steps(const struct nccl_system *system,
				    enum dist__op_kind op,
				    enum nccl_algorithm algorithm)
{
	struct nccl_steps steps = library_nccl_steps_of(system, op, algorithm);

	if (algorithm == NCCL_RING && steps.intra >= 1 &&
	    steps.net == system->nodes - 1 && system->nodes > 1) {
		steps.intra--;
		steps.net++;
	}
	return steps;
}

void library_nccl_time(const struct nccl_system *system,
		       const struct nccl_constants *constants,
		       enum dist__op_kind op, const struct nccl_plan *plan,
		       double bytes, struct library_estimate *estimate)
{
	const enum nccl_algorithm a = plan->algorithm;
	const enum nccl_protocol p = plan->protocol;
	const struct nccl_system real = reached(
		system, constants, a, p, library_nccl_traffic(system, op));
	const struct nccl_steps steps = real_steps(system, op, a);
	const struct hops hops = hops_of(system, constants, plan, bytes);
	double rate = rate_GBps(&real, constants, op, plan, bytes);

	set_reach(system, &real, p, estimate);
	estimate->start_ns = start_ns(constants, a, p);
	estimate->latency_ns =
		1e3 * (steps.intra * hops.intra + steps.net * hops.net);
	estimate->transfer_ns =
		bytes / rate +
		1e3 * fill_us(system, constants, plan, bytes, &hops, rate);
	if (a == NCCL_RING && p == NCCL_SIMPLE && system->sockets)
		estimate->latency_ns =
			fmax(0, estimate->latency_ns -
					(1 - way_share(&real, &steps)) *
						estimate->transfer_ns);
}

/* What NCCL reckons that a channel of messages carries of a network
 * (NCCL_P2P_PER_CHANNEL_NET_BW in src/graph/paths.cc). */
#define MESSAGE_CHANNEL_GBPS 14.0

/* Peers of a channel at once (NCCL_MAX_DEV_WORK_P2P_PER_BATCH). */
#define CHANNEL_PEERS 8

/* Of a message between nodes (NCCL_P2P_NET_CHUNKSIZE in src/init.cc). */
#define MESSAGE_CHUNK (128 * 1024.0)

/* Messages up to this go by LL (NCCL_P2P_LL_THRESHOLD in src/enqueue.cc). */
#define MESSAGE_LL_BYTES (16 * 1024.0)

static double power_of_two(double channels)
{
	return exp2(ceil(log2(channels)));
}

/* Channels of messages to one rank of another node
 * (ncclTopoComputeP2pChannels() in src/graph/paths.cc): one until 2.11, two
 * until 2.18; until 2.28 one where many ranks would have them; since then as
 * many as the cards need, and fewer for more ranks than have room at once. */
static double peer_channels(const struct nccl_system *system, double all)
{
	double channels, ranks = system->ranks;

	if (system->minor < 12)
		return 1;
	if (system->minor < 19)
		return 2;
	if (system->minor < 29)
		return 2 * ranks > 4 * all ? 1 : 2;
	ranks = ceil(ranks / CHANNEL_PEERS);
	channels = power_of_two(
		fmax(1, ceil(system->card_GBps / MESSAGE_CHANNEL_GBPS)));
	while (channels > 1 && channels * ranks > all)
		channels /= 2;
	return channels;
}

/* The most that a rank sends to so many of other nodes, so many bytes each: a
 * message is cut into channels down to a chunk (addP2pToPlan() in
 * src/enqueue.cc). */
static double messages_GBps(const struct nccl_system *system, double peers,
			    double bytes)
{
	double all = power_of_two(system->channels);
	double each = fmin(peer_channels(system, all),
			   fmax(1, bytes / MESSAGE_CHUNK));

	return MESSAGE_CHANNEL_GBPS * fmin(all, peers * each);
}

/* The most that a rank sends to another by NVLinks: a channel carries what NCCL
 * takes a link for, and a message takes more of them, up to all, only where a
 * part would be larger than 32 chunks (addP2pToPlan() in src/enqueue.cc). */
static double message_GBps(const struct nccl_system *system, double bytes)
{
	static const double link[NCCL_GENERATIONS] = {20, 20, 20.6, 40.1};
	static const double part = 32 * 512 * 1024.0;
	double all = power_of_two(system->channels), channels = all;

	while (channels > 1 && channels * system->ranks > all)
		channels /= 2;
	while (bytes / channels > part && channels < all)
		channels *= 2;
	return channels * link[system->generation];
}

/* A rank has messages for all its peers, some at a time; the root alone of a
 * gather; one for the next rank alone where all send and receive, which in a
 * mesh goes by the links to that rank (on a cube mesh to some there are fewer).
 * One rank sends and gets by the cards near to it; by rails it sends by all. */
enum nccl_protocol
library_nccl_direct_time(const struct nccl_system *system,
			 const struct nccl_constants *constants,
			 enum dist__op_kind op, double bytes,
			 struct library_estimate *estimate)
{
	const struct nccl_system real =
		reached(system, constants, NCCL_RING, NCCL_SIMPLE,
			op == DIST__SEND ? 0 : 1);
	double n = system->ranks;
	double peers = op == DIST__SEND ? 1 : n - 1;
	double away_peers = op == DIST__SEND ? 1 : n - system->node_ranks;
	double rounds = ceil(peers / system->channels);
	double away = bytes * (n - system->node_ranks) / n;
	double near = bytes * (system->node_ranks - 1) / n;
	double message = op == DIST__SEND ? bytes : bytes / n;
	enum nccl_protocol p =
		message > MESSAGE_LL_BYTES ? NCCL_SIMPLE : NCCL_LL;
	double hop = library_nccl_hop_latency_us[system->intra][NCCL_RING][p];
	double links, cards;
	bool by_rails;

	if (op == DIST__SEND) {
		near = system->node_ranks > 1 ? bytes * system->linked : 0;
		away = system->nodes > 1 ? bytes : 0;
	}
	/* On PCIe a GPU's way to its peers is that to its card, too. */
	links = system->intra == NCCL_PCI && op != DIST__SEND ? near + away
							      : near;
	by_rails = estimate->by_rails && op == DIST__SCATTER;
	if (by_rails)
		links += away * (1 - 1.0 / system->node_ranks);
	cards = away;
	if (op == DIST__ALL_TO_ALL)
		cards *= system->node_ranks;
	else if (system->nodes > 1 && !by_rails)
		cards *= system->net_GBps / system->card_GBps;
	if (system->nodes > 1)
		hop = library_nccl_hop_latency_us[NCCL_NET][NCCL_RING][p] +
		      constants->net_us * (p == NCCL_SIMPLE ? 2 : 1);
	set_reach(system, &real, NCCL_SIMPLE, estimate);
	estimate->start_ns = start_ns(constants, NCCL_RING, NCCL_SIMPLE);
	estimate->latency_ns = 1e3 * rounds * hop;
	if (links > 0)
		estimate->transfer_ns = links / real.intra_GBps;
	if (op == DIST__SEND && system->nodes == 1 &&
	    system->intra == NCCL_NVLINK)
		estimate->transfer_ns =
			fmax(estimate->transfer_ns,
			     bytes / message_GBps(system, bytes));
	if (cards > 0)
		estimate->transfer_ns =
			fmax(estimate->transfer_ns,
			     fmax(cards / real.net_GBps,
				  away / messages_GBps(system, away_peers,
						       message)));
	return p;
}
