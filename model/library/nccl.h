/*
 * nccl.h - NCCL: how it sees a fabric, the cost that it expects of a call, its
 * choice by that, and the real time of the choice. Private to model/library/.
 *
 * NCCL estimates each pair of algorithm and protocol by a latency and a
 * bandwidth from its own tables (src/graph/tuning.cc of
 * github.com/NVIDIA/nccl), and takes the fastest. Its rates are steady-state
 * rates of machines that it knows. Real times include the network's own
 * latency, the launch, and filling pipelines (nccl_time.c).
 *
 * Bytes are those of nccl-tests, the larger of a rank's input and output.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_NCCL_H
#define LOCKSTEP_MODEL_LIBRARY_NCCL_H

#include "model/library/model.h"

enum nccl_algorithm {
	NCCL_RING,
	NCCL_TREE,
	NCCL_NVLS,
	NCCL_NVLS_TREE,
	NCCL_PAT
};
#define NCCL_ALGORITHMS 5

enum nccl_protocol { NCCL_LL, NCCL_LL128, NCCL_SIMPLE };
#define NCCL_PROTOCOLS 3

/* Rows of its tables by compute capability; older GPUs count as Volta. */
enum nccl_generation { NCCL_VOLTA, NCCL_AMPERE, NCCL_HOPPER, NCCL_BLACKWELL };
#define NCCL_GENERATIONS 4

enum nccl_link { NCCL_NVLINK, NCCL_PCI, NCCL_NET };
#define NCCL_LINKS 3

/* A fabric as NCCL sees it. */
struct nccl_system {
	enum nccl_generation generation;
	int minor;            /* of NCCL 2 */
	enum nccl_link intra; /* NVLINK or PCI */
	int nodes, node_ranks, ranks;
	double intra_GBps; /* of all channels of a rank, by NCCL's rates */
	double net_GBps;   /* of all cards of a node; 0: one node */
	double card_GBps;  /* of those nearest to one rank */
	double link_GBps;  /* of a rank's links, all they have */

	/* Ranks of a node that a rank's links lead to, each to one; 1: all lead
	 * to a switch. */
	int linked;

	double socket_GBps; /* between processors that ranks of a node on PCIe
			       hang on; 0: one processor */
	int channels;
	int told_channels; /* by which NCCL chooses, before it doubles them */
	bool ll128; /* the GPUs support it, and all links in a node are NVLinks
		     */
	bool nvls;  /* the switches reduce */
	double plugin_us; /* latency that the network plugin reports */
	bool simple_only; /* the plugin allows only this protocol */
	bool sockets;     /* no plugin: processors copy every byte */
	bool slow_lines;  /* cards lose by lines of LL128 */
	bool bounces;     /* cards do not reach GPUs: bytes go through the host
			   */
	bool over_host;   /* bytes inside a node go through the host: NCCL
			     allows no peer access to a GPU of another
			     processor (ncclTopoCheckP2p() in
			     src/graph/paths.cc), drivers none to GeForce */
};

/* The choice for a call. */
struct nccl_plan {
	enum nccl_algorithm algorithm;
	enum nccl_protocol protocol;
	double predicted_us; /* by its own tables */
};

/*
 * Constants that are not in NCCL's tables, from a profile. The first ones
 * belong to a version, a machine or a network; the others hold for all
 * machines, for effects that the tables leave out.
 */
struct nccl_constants {
	double minor;      /* version 2.minor */
	double launch_us;  /* every call, until a ring in LL sends; other pairs
			      add NCCL's difference of base latencies */
	double process_us; /* a launch of one channel, where a thread has
			      several GPUs, and */
	double process_channel_us; /* of each further channel */
	double torch_us; /* PyTorch's way to the library, on an idle GPU */
	double net_us;   /* every hop between nodes, added to NCCL's; twice
			    in Simple */
	double eager_us; /* the same of a message that needs no announcement */
	double intra_share; /* share of NCCL's rates of a node's links */
	double net_share;   /* and of its rates of cards */

	double socket_GBps; /* the most that sockets of a node carry */
	double spread;      /* share of the network's rate lost for each
			       doubling of nodes */
	double turn;        /* steps of a ring lost inside a node */
	double hopper_step; /* a step inside a node from Hopper on, of NCCL's */
	double ll128_step;  /* a step of LL128, of NCCL's */
	double tree_ll_step; /* one of a tree in LL between nodes, the same */
	double ring_step;    /* a step of a ring in LL whose ranks are all busy,
			      * of one that carries a single chunk */
	double channel_step; /* what each channel adds to a step in LL */
	double ampere_ll;    /* share of NCCL's rates of LL, in a ring, and */
	double ampere_ll128; /* LL128 on NVLinks of Ampere */
	double tree_fill;    /* of a tree in Simple, in hops between nodes */
	double nvls_share;   /* share of NCCL's rates of the switches */
	double bounce_share; /* share of a rate if bytes go through the host:
				of cards, and of GPUs' PCIe */
	double nvls_fill;    /* chunks until the switches are busy */
};

/* library_nccl_constants_of reads them. */
struct nccl_constants
library_nccl_constants_of(const struct dist__profile *profile,
			  const struct fabric *fabric);

/* library_nccl_constant_names are the legal names, ended by NULL. */
extern const char *const library_nccl_constant_names[];

/* library_nccl_fitted are those fitted to the tables of all machines. */
extern const struct library_constant library_nccl_fitted[];

/* library_nccl_freedoms are those that calibration may change. */
extern const struct library_freedom library_nccl_freedoms[];

/* library_nccl_system_of returns a fabric as NCCL sees it. */
struct nccl_system
library_nccl_system_of(const struct fabric *fabric, int ranks,
		       const struct nccl_constants *constants);

/* library_nccl_tuning_us returns NCCL's own estimate of a call by a pair; less
 * than 0: it does not have the pair here. */
double library_nccl_tuning_us(const struct nccl_system *system,
			      enum dist__op_kind op,
			      enum nccl_algorithm algorithm,
			      enum nccl_protocol protocol, double bytes);

/* library_nccl_rate_GBps returns the rate of an infinitely large call by NCCL's
 * tables, from intra_GBps and net_GBps of system. */
double library_nccl_rate_GBps(const struct nccl_system *system,
			      enum dist__op_kind op,
			      enum nccl_algorithm algorithm,
			      enum nccl_protocol protocol);

/* library_nccl_tree_share returns the share of its rate that a tree reaches by
 * NCCL's table, in steps of doubled bytes. */
double library_nccl_tree_share(enum nccl_protocol protocol, double bytes);

/* library_nccl_net_us returns NCCL's latency of a hop between nodes; for a ring
 * of one rank a node, which hides none of it, that of a tree. */
double library_nccl_net_us(const struct nccl_system *system,
			   enum nccl_algorithm algorithm,
			   enum nccl_protocol protocol);

/* The sequential steps of a call: inside nodes and between them. */
struct nccl_steps {
	double intra, net;
};
struct nccl_steps library_nccl_steps_of(const struct nccl_system *system,
					enum dist__op_kind op,
					enum nccl_algorithm algorithm);

/* library_nccl_traffic returns the bytes that each rank of a ring sends for
 * each byte of the call. */
double library_nccl_traffic(const struct nccl_system *system,
			    enum dist__op_kind op);

/* library_nccl_busy_channels returns how many channels carry a call of a plan:
 * each has enough bytes for its threads (src/enqueue.cc). */
double library_nccl_busy_channels(const struct nccl_system *system,
				  const struct nccl_plan *plan, double bytes);

/* library_nccl_time fills the times of estimate for a plan. */
void library_nccl_time(const struct nccl_system *system,
		       const struct nccl_constants *constants,
		       enum dist__op_kind op, const struct nccl_plan *plan,
		       double bytes, struct library_estimate *estimate);

/* library_nccl_direct_time fills the times for messages between every two
 * ranks, and returns their protocol. */
enum nccl_protocol
library_nccl_direct_time(const struct nccl_system *system,
			 const struct nccl_constants *constants,
			 enum dist__op_kind op, double bytes,
			 struct library_estimate *estimate);

#endif
