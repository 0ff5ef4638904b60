/*
 * machine.h - the description of a measured machine, from which a platform can
 * be made. Read from YAML.
 *
 *	title: AWS p5.48xlarge
 *	source: github.com/aws-samples/...; NVLink: ...
 *	gpu: H100 80GB
 *	gpus_per_node: 8
 *	intra: {kind: nvswitch, link: NVLink 4, links: 18, link_GBps: 25}
 *	networks:
 *	  - {transport: efa, cards: 32, card_Gbps: 100}
 *	calibrations:
 *	  - library: nccl
 *	    transport: efa		# left out: one node
 *	    version: 2.27.7		# left out: not stated
 *	    date: 2026-01-31
 *	    rows: 2
 *	    from: nccl-aws-p5-2x8
 *	    residual: 0.001		# of the worst of these rows
 *	    checked: 64			# rows of the library there
 *	    error: 0.064		# of these the median
 *	    at_bound: launch_us		# left out: none is
 *	    constants: {launch_us: 2, net_us: 23}	# fitted
 *	    given: {spread: 0.1}	# before the fit, by hand
 *
 * Calibrations come last, and are written by lockstep calibrate. A field that
 * is left out is not known. Without intra the links between GPUs are not known,
 * or there are no GPUs.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_MACHINE_H
#define LOCKSTEP_MODEL_MEASURED_MACHINE_H

#include "lockstep/dist.h"
#include "model/library/calibration.h"

/* The links between the GPUs of a node. */
enum machine_intra {
	MACHINE_UNKNOWN,
	MACHINE_NVSWITCH, /* links of each GPU to switches */
	MACHINE_MESH,     /* links between every two GPUs */
	MACHINE_PAIRS,    /* links between listed pairs */
	MACHINE_PCIE,     /* links of each GPU to its socket */
};

/* Links between two GPUs of a node, numbered from 0; a < b. */
struct machine_pair {
	size_t a, b;
	int links;
};

/* A network to other nodes: the cards of a node and their transport. */
struct machine_network {
	char transport[32]; /* as in the tables: "ib", "roce", "tcp", ... */
	int cards;          /* of a node; 0: not known */
	double card_Gbps;   /* 10^9 bits a second, each way; 0: not known */
	double latency_us;  /* half a round trip of MPI between processors of
			       two nodes, a few bytes; 0: not known */
	int card_nodes;     /* nodes that share them; 0: not shared */
	char topology[64];  /* of the switches; "": not known */
};

#define MACHINE_MOST_PAIRS    32
#define MACHINE_MOST_NETWORKS 4

struct machine {
	char title[128];
	char source[512];
	char note[256];
	int nodes; /* the most that were measured together; 0: not known */
	char gpu[64];
	size_t gpus_per_node;
	enum machine_intra intra;
	char link[32];      /* the kind of link: "NVLink 3" */
	int links;          /* of a GPU, or of each pair in a mesh */
	double link_GBps;   /* of one link, 10^9 bytes a second, each way */
	int sockets;        /* of a node; 0: not known */
	double socket_GBps; /* between two of them, all links, 10^9 bytes a
			       second, each way; 0: not known */
	struct machine_pair pairs[MACHINE_MOST_PAIRS];
	size_t num_pairs;
	struct machine_network networks[MACHINE_MOST_NETWORKS];
	size_t num_networks;
	struct calibration calibrations[CALIBRATIONS];
	size_t num_calibrations;
};

/*
 * machine_load reads the description at path. On failure *machine is zero and
 * message says "file:line: what was expected". Errors:
 * DIST_ERR_INVALID_ARGUMENT, DIST_ERR_IO, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error machine_load(struct machine *machine,
					     const char *path,
					     struct dist_message *message);

/* machine_find loads that of a name of lockstep list machines, or of a path.
 * Errors: also those of dist__data_find. */
DIST_MUST_CHECK enum dist_error machine_find(struct machine *machine,
					     const char *name,
					     struct dist_message *message);

/*
 * machine_write copies the description at path to new_path, which may be the
 * same, with the calibrations of machine instead of its own. Errors: IO,
 * NO_MEMORY, with message.
 */
DIST_MUST_CHECK enum dist_error machine_write(const struct machine *machine,
					      const char *path,
					      const char *new_path,
					      struct dist_message *message);

/* machine_has_gpu returns whether the machine's GPUs may be what the driver
 * calls said: "NVIDIA H100 80GB HBM3". */
bool machine_has_gpu(const struct machine *machine, const char *said);

/* machine_network_find returns the network of that transport; NULL: none. */
const struct machine_network *
machine_network_find(const struct machine *machine, const char *transport);

#endif
