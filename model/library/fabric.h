/*
 * fabric.h - the links between the ranks of a group, in the few numbers that a
 * model of a collective library needs. Made from a simulated platform
 * (sim/platform/platform.h) or from a measured machine
 * (model/cluster/machine.h).
 *
 * Rates are bytes per second each way, 0 if unknown; latencies are one way.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_FABRIC_H
#define LOCKSTEP_MODEL_LIBRARY_FABRIC_H

#include <string.h>

#include "model/library/calibration.h"
#include "model/library/transport.h"

/* How the ranks of one node are connected. */
enum fabric_intra {
	FABRIC_ALONE,    /* a node has one rank */
	FABRIC_NVSWITCH, /* GPUs, by NVLinks to switches */
	FABRIC_NVLINK,   /* GPUs, by NVLinks between pairs */
	FABRIC_PCIE,     /* GPUs, through their host bridges */
	FABRIC_HOST,     /* processors: shared memory, or loopback */
};

/* Between two sockets: one UPI link of 10.4 GT/s (Intel). */
#define FABRIC_SOCKET_BPS 20.8e9

struct fabric {
	int nodes;      /* 1 or more */
	int node_ranks; /* of a node; the largest number if they differ */
	char gpu[64];   /* kind, as "H100 80GB"; "": unknown, or processors */

	enum fabric_intra intra;
	double intra_Bps;        /* a rank, over all its links */
	double socket_Bps;       /* between the sockets of a node's ranks on
				    PCIe; 0: one socket */
	bool intra_reached;      /* intra_Bps is what a ring reaches of them */
	double intra_latency_ns; /* between two ranks of a node */

	char transport[32]; /* "ib", "roce", "efa", "tcp", ...; "": unknown */
	int cards;          /* of a node, 1 or more if nodes > 1 */
	double card_Bps;
	int card_nodes; /* nodes that share the cards; 0 or 1: not shared */
	double inter_latency_ns; /* between ranks of two nodes; 0: unknown */

	bool guessed; /* a rate was guessed: usable only with calibrated
			 constants */
	const struct calibration *calibrations; /* borrowed from the fabric's
						   source */
	size_t num_calibrations;
};

/* fabric_way_Bps returns the rate of the narrowest route between two ranks of a
 * node. */
static inline double fabric_way_Bps(const struct fabric *fabric)
{
	return fabric->socket_Bps > 0 && fabric->socket_Bps < fabric->intra_Bps
		       ? fabric->socket_Bps
		       : fabric->intra_Bps;
}

/* fabric_is_one returns whether all nodes are one to a library: joined by
 * switches of NVLink. */
static inline bool fabric_is_one(const struct fabric *fabric)
{
	return fabric->nodes == 1 || transport_is(fabric->transport, "nvlink");
}

/* fabric_ranks returns the size of the group, full nodes assumed. */
static inline int fabric_ranks(const struct fabric *fabric)
{
	return fabric->nodes * fabric->node_ranks;
}

#endif
