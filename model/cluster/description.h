/*
 * description.h - the description of a cluster: `lockstep platform new` reads
 * it from its options and writes it as a SimGrid platform.
 *
 * Bandwidths are bytes per second each way, latencies seconds one way. Nodes
 * are numbered from 0 in the order in which they were described, and so are the
 * GPUs and network cards of a node.
 */
#ifndef LOCKSTEP_MODEL_CLUSTER_DESCRIPTION_H
#define LOCKSTEP_MODEL_CLUSTER_DESCRIPTION_H

#include <stdbool.h>
#include <stdio.h>

#include "lockstep/dist.h"

#define PLATFORM_GPUS      256   /* most of a node */
#define PLATFORM_NICS      256   /* most of a node */
#define PLATFORM_NODES     65536 /* most of a cluster */
#define PLATFORM_PORTS     128   /* most nodes under one switch */
#define PLATFORM_KINDS     16    /* most kinds of node in a cluster */
#define PLATFORM_CHANGES   64    /* most degraded links, and most slow nodes */
#define PLATFORM_MESH_GPUS 16    /* most GPUs with NVLinks between pairs */

/*
 * Default latencies. From GPU to GPU: a hop of the LL protocol in NCCL's cost
 * model (github.com/NVIDIA/nccl, src/graph/tuning.cc). From card to card: MPI's
 * latency of 4 bytes over 100 Gbit/s InfiniBand (OSU latency 5.7,
 * github.com/dexhunter/allreduce-experiments, 100g-latency.txt).
 */
#define PLATFORM_NVLINK_HOP_S 0.6e-6
#define PLATFORM_PCIE_HOP_S   1.0e-6
#define PLATFORM_IB_HOP_S     1.7e-6

struct calibration; /* model/library/calibration.h */

struct platform_wire {
	double bandwidth_Bps;
	double latency_s;
};

/* How the GPUs of a node are connected. */
enum platform_intra_kind {
	PLATFORM_ALONE,    /* one GPU */
	PLATFORM_NVSWITCH, /* each by one link to a non-blocking switch */
	PLATFORM_MESH,     /* by NVLinks between pairs */
	PLATFORM_PCIE,     /* through the host bridge of its socket */
};

struct platform_intra {
	enum platform_intra_kind kind;
	struct platform_wire gpu; /* of a GPU; MESH: of a single NVLink */
	bool reached; /* its rate is what a ring reaches, not what links have */

	/* MESH: NVLinks between two GPUs, 0 where there is none. */
	unsigned char links[PLATFORM_MESH_GPUS][PLATFORM_MESH_GPUS];

	int sockets;                 /* PCIE; GPUs in equal shares */
	struct platform_wire socket; /* PCIE: between two sockets */
};

/* The network cards of a node: each is a rail for its share of the GPUs; or
 * they are bonded to one link for all GPUs. */
struct platform_inter {
	char fabric[32]; /* "ib", "roce", "efa", "tcp", ...; "": no network */
	int nics;
	bool bonded;
	struct platform_wire nic;
	double pcie_Bps; /* from a GPU to its cards; 0: the rate of the cards */
	int card_nodes;  /* neighbouring nodes that share them; 0: not shared */
};

/* A kind of node. */
struct platform_nodes {
	int count;
	int gpus;
	char gpu[64]; /* kind, as "H100 80GB"; "": not stated */
	struct platform_intra intra;
	struct platform_inter inter;

	/* Calibrations of such nodes, valid as long as only their number
	 * changes; borrowed. */
	const struct calibration *calibrations;
	size_t num_calibrations;
	bool guessed; /* a rate was guessed */
};

enum platform_topology {
	PLATFORM_STAR,       /* one switch */
	PLATFORM_LEAF_SPINE, /* shape: leaves, spines */
	PLATFORM_FAT_TREE,   /* shape: nodes a leaf, leaves a pod, pods */
	PLATFORM_DRAGONFLY,  /* shape: groups, routers each, nodes each */
};

/* The switches between the nodes, and their links. */
struct platform_fabric {
	enum platform_topology topology;
	int shape[3];
	int levels;        /* FAT_TREE: numbers in shape, 2 or 3 */
	double taper;      /* FAT_TREE: bandwidth below a switch by above */
	double hop_s;      /* latency of a link between switches */
	double uplink_Bps; /* LEAF_SPINE: of a leaf to each spine */
	double local_Bps;  /* DRAGONFLY: between two routers of a group */
	double global_Bps; /* DRAGONFLY: between two groups */
};

/* A link with a fraction of its bandwidth, or a node at a fraction of its
 * speed. */
struct platform_change {
	char name[64];
	double factor;
};

struct platform_description {
	struct platform_nodes nodes[PLATFORM_KINDS];
	int kinds;
	bool any_nodes; /* the one or two nodes represent any number */
	bool queues;    /* links are first in, first out; else shared */
	struct platform_fabric fabric;
	struct platform_change degraded[PLATFORM_CHANGES];
	int num_degraded;
	struct platform_change slow[PLATFORM_CHANGES];
	int num_slow;
};

/* ---- reading options, one each --------------------------------------- */

/*
 * Each of these reads the value of the option in its name. Errors:
 * INVALID_ARGUMENT (message: what was expected, and the legal range).
 */
enum dist_error platform_read_intra(const char *text,
				    struct platform_intra *intra,
				    struct dist_message *message);
enum dist_error platform_read_inter(const char *text,
				    struct platform_inter *inter,
				    struct dist_message *message);
enum dist_error platform_read_topology(const char *text,
				       struct platform_fabric *fabric,
				       struct dist_message *message);

enum dist_error platform_read_queues(const char *text, bool *queues,
				     struct dist_message *message);

/* platform_read_change reads "NAME:FACTOR", the value of option, and appends it
 * to the *n changes. */
enum dist_error platform_read_change(const char *option, const char *text,
				     struct platform_change *changes, int *n,
				     struct dist_message *message);

/*
 * platform_read_nccl reads the file that NCCL wrote to NCCL_TOPO_DUMP_FILE: the
 * GPUs of a node, their links, and its cards (taken as InfiniBand: the file
 * does not say). node's count does not change. Errors: INVALID_ARGUMENT
 * (message: path, line and what was expected), NO_MEMORY.
 */
enum dist_error platform_read_nccl(const char *path,
				   struct platform_nodes *node,
				   struct dist_message *message);

/* platform_wire_latency_s returns the latency from card to card of a transport:
 * TCP's for names that begin with "tcp", InfiniBand's if nothing better is
 * known. */
double platform_wire_latency_s(const char *transport);

/* ---- the whole ------------------------------------------------------- */

/* platform_check checks options against each other: whether GPUs can reach each
 * other, cards divide among them, and the topology has room. Errors:
 * INVALID_ARGUMENT (message). */
enum dist_error platform_check(const struct platform_description *description,
			       struct dist_message *message);

/* platform_count_nodes returns the number of nodes. */
int platform_count_nodes(const struct platform_description *description);

/* platform_count_bundles returns the number of links that the cards of such a
 * node form: one for each GPU, fewer if GPUs share cards, one if they are
 * bonded. */
int platform_count_bundles(const struct platform_nodes *nodes);

/* platform_nodes_of returns the kind of node number `node`. */
const struct platform_nodes *
platform_nodes_of(const struct platform_description *description, int node);

/*
 * platform_write writes the platform file. Its head contains note, a text about
 * the machine and the sources of its numbers (NULL: a summary), and command,
 * the command line that makes it. Errors: INVALID_ARGUMENT (message: a change
 * names no link or node), IO.
 */
enum dist_error platform_write(const struct platform_description *description,
			       const char *note, const char *command, FILE *out,
			       struct dist_message *message);

#endif
