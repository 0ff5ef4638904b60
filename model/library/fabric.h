/*
 * fabric.h - what joins the ranks of a group, in the few numbers that a model
 * of a collective library asks for. Made of a simulated platform
 * (sim/platform/platform.h) or of the description of a machine that others
 * measured (model/cluster/machine.h).
 *
 * Rates are bytes per second each way, 0 where they are not known; latencies
 * one way.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_FABRIC_H
#define LOCKSTEP_MODEL_LIBRARY_FABRIC_H

#include "model/library/calibration.h"

/* How the ranks of one node reach each other. */
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
	int node_ranks; /* of a node; where they differ, the most */
	char gpu[64];   /* kind, as "H100 80GB"; "": unknown, or processors */

	enum fabric_intra intra;
	double intra_Bps;        /* a rank, over all its links */
	double socket_Bps;       /* between the sockets that ranks of a node on
				  * PCIe are spread over; 0: it is one */
	double intra_latency_ns; /* between two ranks of a node */

	char transport[32]; /* "ib", "roce", "efa", "tcp", ...; "": unknown */
	int cards;          /* of a node, 1 or more if nodes > 1 */
	double card_Bps;
	int card_nodes; /* neighbours that share the cards; 0 or 1: none */
	double inter_latency_ns; /* between ranks of two nodes; 0: unknown */

	bool guessed; /* a rate is one that nobody knows: only calibrated
		       * constants make up for it */
	const struct calibration *calibrations; /* borrowed, of what the fabric
						 * is of */
	size_t num_calibrations;
};

/* fabric_way_Bps returns what the narrowest way between two ranks of a node
 * carries. */
static inline double fabric_way_Bps(const struct fabric *fabric)
{
	return fabric->socket_Bps > 0 && fabric->socket_Bps < fabric->intra_Bps
		       ? fabric->socket_Bps
		       : fabric->intra_Bps;
}

/* fabric_ranks returns the size of the group, full nodes assumed. */
static inline int fabric_ranks(const struct fabric *fabric)
{
	return fabric->nodes * fabric->node_ranks;
}

#endif
