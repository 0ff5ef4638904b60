/*
 * nccl.h - NCCL: what it sees of a fabric, what it takes a call to cost, what
 * it chooses by that, and what the choice really costs. Private to
 * model/library/.
 *
 * NCCL rates each pair of algorithm and protocol by a latency and a bandwidth
 * of its own tables (src/graph/tuning.cc of github.com/NVIDIA/nccl) and takes
 * the least. Its rates are steady ones of machines that it knows; real times
 * have a network's own latency, a start, and pipelines to fill (nccl_time.c).
 *
 * Bytes are those of nccl-tests, the larger of a rank's input and output.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_NCCL_H
#define LOCKSTEP_MODEL_LIBRARY_NCCL_H

#include "model/library/model.h"

enum nccl_algorithm { NCCL_RING, NCCL_TREE, NCCL_NVLS, NCCL_NVLS_TREE };
#define NCCL_ALGORITHMS 4

enum nccl_protocol { NCCL_LL, NCCL_LL128, NCCL_SIMPLE };
#define NCCL_PROTOCOLS 3

/* Rows of its tables by compute capability; older GPUs count as Volta. */
enum nccl_generation { NCCL_VOLTA, NCCL_AMPERE, NCCL_HOPPER, NCCL_BLACKWELL };
#define NCCL_GENERATIONS 4

enum nccl_link { NCCL_NVLINK, NCCL_PCI, NCCL_NET };
#define NCCL_LINKS 3

/* What NCCL sees of a fabric. */
struct nccl_system {
	enum nccl_generation generation;
	enum nccl_link intra; /* NVLINK or PCI */
	int nodes, node_ranks, ranks;
	double intra_GBps; /* of all channels of a rank, by its rates */
	double net_GBps;   /* of all cards of a node; 0: one node */
	int channels;
	bool ll128; /* the GPUs can, and all links within a node are NVLink */
	bool nvls;  /* the switches reduce */
	double plugin_us;  /* latency that its network plugin tells it */
	bool simple_only;  /* which may also forbid the other protocols */
	bool sockets;      /* there is none: processors carry every byte */
	bool bounces;      /* cards reach no GPU: bytes go through the host */
	bool over_sockets; /* those inside a node do: NCCL lets no GPU reach
			    * into another behind another processor
			    * (ncclTopoCheckP2p() of src/graph/paths.cc) */
};

/* How it runs a call. */
struct nccl_plan {
	enum nccl_algorithm algorithm;
	enum nccl_protocol protocol;
	double predicted_us; /* by its own tables */
};

/*
 * What no table of NCCL's says, from a profile's constants. The first ones are
 * a version, a machine's or a network's; the others, of all machines alike, are
 * about what the tables leave out.
 */
struct nccl_constants {
	double minor;       /* version 2.minor */
	double launch_us;   /* every call, until a ring in LL sends; what other
			     * pairs need longer is NCCL's base latency */
	double process_us;  /* each further GPU of one process */
	double net_us;      /* every hop between nodes, beside NCCL's; in Simple
			     * twice */
	double intra_share; /* reached of the rates it has for a node's links */
	double net_share;   /* and of the cards */

	double socket_GBps; /* what the sockets of a node carry, at most */
	double spread;      /* of a network lost when many nodes double */
	double turn;        /* steps of a ring that are lost inside a node */
	double hopper_step; /* a step inside a node from Hopper on, of NCCL's */
	double ll128_step;  /* a step of LL128, of NCCL's */
	double tree_ll_step; /* one of a tree in LL between nodes, the same */
	double ring_step;    /* a step of a ring in LL whose ranks are all busy,
			      * of one that carries a single chunk */
	double channel_step; /* what each channel adds to a step in LL */
	double ampere_ll; /* of the rates that NCCL gives LL, in a ring, and */
	double ampere_ll128; /* LL128 on NVLinks of Ampere */
	double tree_fill;    /* of a tree in Simple, in hops between nodes */
	double nvls_share;   /* of the rates that NCCL gives the switches */
	double bounce_share; /* of cards whose bytes go through the host */
	double nvls_fill;    /* chunks until the switches are busy */
};

/* library_nccl_constants_of reads them. */
struct nccl_constants
library_nccl_constants_of(const struct dist__profile *profile,
			  const struct fabric *fabric);

/* library_nccl_constant_names are the legal ones, ended by NULL. */
extern const char *const library_nccl_constant_names[];

/* library_nccl_fitted are those that tables of all machines say. */
extern const struct library_constant library_nccl_fitted[];

/* library_nccl_freedoms are those that may be calibrated. */
extern const struct library_freedom library_nccl_freedoms[];

/* library_nccl_system_of looks at a fabric as NCCL does. */
struct nccl_system
library_nccl_system_of(const struct fabric *fabric, int ranks,
		       const struct nccl_constants *constants);

/* library_nccl_tuning_us returns what NCCL takes a call to cost by a pair; less
 * than 0: it has no such pair here. */
double library_nccl_tuning_us(const struct nccl_system *system,
			      enum dist__op_kind op,
			      enum nccl_algorithm algorithm,
			      enum nccl_protocol protocol, double bytes);

/* library_nccl_rate_GBps returns the bytes a second of a call, of size without
 * end, by its tables: of intra_GBps and net_GBps of system. */
double library_nccl_rate_GBps(const struct nccl_system *system,
			      enum dist__op_kind op,
			      enum nccl_algorithm algorithm,
			      enum nccl_protocol protocol);

/* library_nccl_tree_share returns what NCCL takes a tree to reach of its rate;
 * by steps, where the bytes double. */
double library_nccl_tree_share(enum nccl_protocol protocol, double bytes);

/* library_nccl_net_us returns its latency of a hop between nodes: of a ring of
 * single ranks, which hides none of it, a tree's. */
double library_nccl_net_us(const struct nccl_system *system,
			   enum nccl_algorithm algorithm,
			   enum nccl_protocol protocol);

/* The steps of a call, one after the other: inside nodes and between them. */
struct nccl_steps {
	double intra, net;
};
struct nccl_steps library_nccl_steps_of(const struct nccl_system *system,
					enum dist__op_kind op,
					enum nccl_algorithm algorithm);

/* library_nccl_traffic returns the bytes that each rank of a ring sends, of
 * each byte of the call. */
double library_nccl_traffic(const struct nccl_system *system,
			    enum dist__op_kind op);

/* library_nccl_time fills the times of estimate for a plan. */
void library_nccl_time(const struct nccl_system *system,
		       const struct nccl_constants *constants,
		       enum dist__op_kind op, const struct nccl_plan *plan,
		       double bytes, struct library_estimate *estimate);

/* library_nccl_direct_time fills them for messages between every two ranks. */
void library_nccl_direct_time(const struct nccl_system *system,
			      const struct nccl_constants *constants,
			      enum dist__op_kind op, double bytes,
			      struct library_estimate *estimate);

#endif
