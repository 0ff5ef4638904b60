/*
 * library.h - how a collective library behaves on a fabric: which algorithm and
 * protocol it picks for a call, and what that takes there when nothing else
 * uses the links. Arithmetic alone: no clock, no simulation, no files.
 *
 * A profile names the library (its key `library`) and states its constants; one
 * that names none is Lockstep's own: the algorithms of coll/ by the profile's
 * rules, each by its cost formula.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_LIBRARY_H
#define LOCKSTEP_MODEL_LIBRARY_LIBRARY_H

#include "coll/algorithm.h"
#include "model/library/fabric.h"

/*
 * library_of_gpu returns the profile of the library that GPUs of that kind are
 * used with where nobody says which: "nccl" for NVIDIA's, NULL for others, for
 * an unknown kind, and for none.
 */
const char *library_of_gpu(const char *gpu);

/* One collective of a group. */
struct library_call {
	enum dist__op_kind op;
	size_t numel; /* as dist__op_numel() */
	size_t element_bytes;
	int ranks;             /* of the group */
	int root;              /* rank of the group; of no use in others: 0 */
	const char *algorithm; /* forced; NULL: the library chooses */
	const char *protocol;  /* the same */
	bool host; /* its bytes are the processors', though ranks have GPUs */
	int process_ranks;   /* that one process launches, one after the other;
			      * 0: one */
	const char *version; /* of the library, "2.18.3"; NULL: as it was
			      * calibrated, else the profile's */
};

/* What its messages look like to the links, for a simulation of them: */
enum library_shape {
	LIBRARY_STEPS,  /* as `ours` sends them: run that, or its formula */
	LIBRARY_RING,   /* each rank to the next one of its node and to the rank
			 * of its place on the next node */
	LIBRARY_TREE,   /* inside a node as a ring; between nodes along a tree,
			 * up and down */
	LIBRARY_SWITCH, /* each rank to the switch of its node and back; between
			 * nodes as TREE */
	LIBRARY_P2P,    /* a message for each two ranks, or each and the root */
};

struct library_estimate {
	char algorithm[24]; /* "ring", "tree", "nvls", ... */
	char protocol[16];  /* "LL128", "eager", ...; "": there is no choice */
	int channels;       /* 0: no such thing */
	const struct dist__algorithm *ours; /* STEPS: never NULL */

	/* The time on links of one's own is the sum of: */
	double start_ns;    /* before the first byte: launch, agreement */
	double latency_ns;  /* all steps, whatever the bytes */
	double transfer_ns; /* the bytes */

	enum library_shape shape;
	double local_bytes;  /* RING, TREE, SWITCH: each rank inside its node */
	double remote_bytes; /* RING, TREE: each rank to another node */

	/* What these bytes reach at most of the fabric's rates, inside nodes
	 * and between them; 0: not known. The rest is lost to the protocol and
	 * to what else a rate leaves out. */
	double local_reach, remote_reach;
	bool by_rails; /* p2p: to another node from the GPU whose card is on the
			* receiver's rail, which gets it by NVLink */
};

/* library_name returns the name of the library that profile is of, "lockstep"
 * of our own; "" where it is unknown. */
const char *library_name(const struct dist__profile *profile);

/*
 * library_calibration returns what fabric knows of the library that profile
 * names: constants that go before the profile's; NULL: nothing.
 */
const struct calibration *
library_calibration(const struct dist__profile *profile,
		    const struct fabric *fabric);

/*
 * library_estimate answers for one call; a group of one rank has nothing to
 * transfer. Constants are those of library_calibration(), else profile's.
 * Errors: INVALID_ARGUMENT (message: a forced algorithm or protocol that the
 * library has not, with those it has; a rate that is not known).
 */
DIST_MUST_CHECK enum dist_error
library_estimate(const struct dist__profile *profile,
		 const struct fabric *fabric, const struct library_call *call,
		 struct library_estimate *estimate,
		 struct dist_message *message);

/*
 * A constant that no source states, so that tables of measured times must. It
 * is thought of before any of them as start, off by a factor of exp(spread), or
 * less, in two of three cases; a machine's own value is off that of all by one
 * of exp(machine).
 */
struct library_constant {
	const char *name;
	double start, spread;
	double least, most; /* what it can be */
	double machine;     /* 0: it is every machine's */
};

/* library_fitted returns the constants of the library that profile names, ended
 * by one without a name; NULL: it has none. */
const struct library_constant *
library_fitted(const struct dist__profile *profile);

/* library_constant_value returns what profile says of a constant; NAN: nothing,
 * it counts for nothing there. library_constant_set gives it a value. Errors:
 * NO_MEMORY. */
double library_constant_value(const struct dist__profile *profile,
			      const struct library_constant *constant);
DIST_MUST_CHECK enum dist_error
library_constant_set(struct dist__profile *profile,
		     const struct library_constant *constant, double value);

/* library_time_ns returns the time on links of one's own. */
static inline double library_time_ns(const struct library_estimate *estimate)
{
	return estimate->start_ns + estimate->latency_ns +
	       estimate->transfer_ns;
}

/* library_has_steps returns whether the library's collectives are made of steps
 * that can be simulated message by message; not of one that is unknown. */
bool library_has_steps(const struct dist__profile *profile);

/* library_has_transfers returns whether it is known what they put on links
 * (transfers.h): then they can share these, as flows. */
bool library_has_transfers(const struct dist__profile *profile);

/* library_check looks whether the library that profile names is known, and its
 * constants are that library's. Errors: INVALID_ARGUMENT (message). */
DIST_MUST_CHECK enum dist_error
library_check(const struct dist__profile *profile,
	      struct dist_message *message);

#endif
