/*
 * library.h - models of collective libraries on a fabric: the algorithm and
 * protocol that a library picks for a call, and their time without other
 * traffic. Only arithmetic: no clock, no simulation, no files.
 *
 * A profile names the library (key `library`) and states its constants. A
 * profile without a name is Lockstep's own: the algorithms of coll/, chosen by
 * the profile's rules, each with its cost formula.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_LIBRARY_H
#define LOCKSTEP_MODEL_LIBRARY_LIBRARY_H

#include "coll/algorithm.h"
#include "model/library/fabric.h"

/*
 * library_of_gpu returns the default profile for GPUs of that kind: "nccl" for
 * NVIDIA's and AMD's, NULL for others, for an unknown kind, and for none.
 */
const char *library_of_gpu(const char *gpu);

/* library_is_stand_in returns whether NCCL stands for the library of such GPUs,
 * AMD's RCCL, which is made from it; nothing of that was measured. */
bool library_is_stand_in(const char *gpu);

/* One collective of a group. */
struct library_call {
	enum dist__op_kind op;
	size_t numel; /* as dist__op_numel() */
	size_t element_bytes;
	int ranks;             /* of the group */
	int root;              /* rank of the group; 0 in calls without a root
				*/
	const char *algorithm; /* forced; NULL: the library chooses */
	const char *protocol;  /* the same */
	bool host; /* its bytes are in the memory of processors, though ranks
		      have GPUs */
	int process_ranks; /* ranks ranks that one process launches, one after
			      the other; 0: one */
	bool by_torch; /* PyTorch calls, and the GPU has nothing else to do */
	const char *version; /* of the library, "2.18.3"; NULL: the calibrated
				one, else the profile's */
};

/* The pattern of its messages, for a simulation of them: */
enum library_shape {
	LIBRARY_STEPS,  /* those of `ours`: run that, or its formula */
	LIBRARY_RING,   /* each rank to the next one of its node, and to the
			   rank of the same place on the next node */
	LIBRARY_TREE,   /* a ring inside a node; between nodes up and down a
			   tree */
	LIBRARY_SWITCH, /* each rank to the switch of its node and back; between
			 * nodes as TREE */
	LIBRARY_P2P,    /* a message between each two ranks, or between each and
			   the root */
};

struct library_estimate {
	char algorithm[24]; /* "ring", "tree", "nvls", ... */
	char protocol[16];  /* "LL128", "eager", ...; "": only one */
	int channels;       /* 0: it has no channels */
	const struct dist__algorithm *ours; /* STEPS: never NULL */

	/* The time without other traffic is the sum of: */
	double start_ns;    /* before the first byte: launch, handshake */
	double latency_ns;  /* all steps, whatever the bytes */
	double transfer_ns; /* the bytes */

	enum library_shape shape;
	double local_bytes;  /* RING, TREE, SWITCH: each rank inside its node */
	double remote_bytes; /* RING, TREE: each rank to another node */

	/* The share of the fabric's rates that these bytes can reach, inside
	 * nodes and between them; 0: not known. The rest is protocol and other
	 * overhead. */
	double local_reach, remote_reach;
	bool by_rails; /* p2p (PXN): data for another node goes by NVLink to the
			  GPU whose card is on the receiver's rail, and is sent
			  from there */
};

/* library_name returns the name of profile's library; "lockstep" for our own;
 * "" if it is unknown. */
const char *library_name(const struct dist__profile *profile);

/*
 * library_calibration returns fabric's calibration of profile's library, whose
 * constants replace the profile's; NULL: none.
 */
const struct calibration *
library_calibration(const struct dist__profile *profile,
		    const struct fabric *fabric);

/* library_calibration_say writes how the calibration was made
 * (library_calibration_describe), or that there is none, and returns it. */
const struct calibration *
library_calibration_say(const struct dist__profile *profile,
			const struct fabric *fabric, char *text, size_t size);

/*
 * library_estimate estimates one call; a group of one rank transfers nothing.
 * Constants come from library_calibration(), else from profile. Errors:
 * INVALID_ARGUMENT (message: the library does not have the forced algorithm or
 * protocol, and those that it has; an unknown rate).
 */
DIST_MUST_CHECK enum dist_error
library_estimate(const struct dist__profile *profile,
		 const struct fabric *fabric, const struct library_call *call,
		 struct library_estimate *estimate,
		 struct dist_message *message);

/*
 * A constant that no source states, fitted to tables of measured times. Prior:
 * start, within a factor of exp(spread) in two of three cases. A machine's own
 * value is within a factor of exp(machine) of that of all machines.
 */
struct library_constant {
	const char *name;
	double start, spread;
	double least, most; /* physical bounds */
	double machine;     /* 0: the same on every machine */
};

/* library_fitted returns the fitted constants of profile's library; the last
 * has no name. NULL: it has none. */
const struct library_constant *
library_fitted(const struct dist__profile *profile);

/* library_constant_value returns the value of a constant in profile; NAN: it is
 * not stated, and not used. library_constant_set sets it. Errors: NO_MEMORY. */
double library_constant_value(const struct dist__profile *profile,
			      const struct library_constant *constant);
DIST_MUST_CHECK enum dist_error
library_constant_set(struct dist__profile *profile,
		     const struct library_constant *constant, double value);

/* library_time_ns returns the time without other traffic. */
static inline double library_time_ns(const struct library_estimate *estimate)
{
	return estimate->start_ns + estimate->latency_ns +
	       estimate->transfer_ns;
}

/* library_has_steps returns whether the library's collectives are steps that
 * can be simulated message by message; false for an unknown library. */
bool library_has_steps(const struct dist__profile *profile);

/* library_has_transfers returns whether the transfers of its collectives are
 * known (transfers.h): then they can be simulated as flows. */
bool library_has_transfers(const struct dist__profile *profile);

/* library_check_fabric refuses a fabric on which profile's library would have
 * to guess: NCCL, where it is not stated what joins the GPUs of a node, or the
 * nodes. Errors: INVALID_ARGUMENT (message). */
DIST_MUST_CHECK enum dist_error
library_check_fabric(const struct dist__profile *profile,
		     const struct fabric *fabric, struct dist_message *message);

/* library_force has profile use algorithms by name, "ring" (for all_reduce) or
 * "all_reduce=ring,broadcast=binomial", of those that its library has. Errors:
 * those of dist__profile_force. */
DIST_MUST_CHECK enum dist_error library_force(struct dist__profile *profile,
					      const char *words,
					      struct dist_message *message);

/* library_check_latency refuses to change the latency of links between nodes or
 * within them if profile's library has a time of its own for a step there.
 * Errors: INVALID_ARGUMENT (message). */
DIST_MUST_CHECK enum dist_error
library_check_latency(const struct dist__profile *profile, bool inter,
		      bool intra, struct dist_message *message);

/* library_check checks that profile's library is known and has its constants.
 * Errors: INVALID_ARGUMENT (message). */
DIST_MUST_CHECK enum dist_error
library_check(const struct dist__profile *profile,
	      struct dist_message *message);

#endif
