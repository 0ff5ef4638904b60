/* model.h - one library's model. Private to model/library/. */
#ifndef LOCKSTEP_MODEL_LIBRARY_MODEL_H
#define LOCKSTEP_MODEL_LIBRARY_MODEL_H

#include "model/library/library.h"

/* A constant that calibration may change, within physical bounds. */
struct library_freedom {
	const char *constant;
	double usual; /* if the profile does not state it; or: */
	double (*usual_of)(const struct dist__profile *profile,
			   const struct fabric *fabric); /* NULL: usual */
	double least, most;
	bool is_rate; /* fitted to large calls; else to small ones */
};

struct library_model {
	const char *name;              /* as in a profile's `library` */
	const char *const *constants;  /* legal names, ended by NULL */
	const char *const *algorithms; /* that may be forced; NULL: those of
					  coll/ */
	bool has_own_hops; /* a step between nodes takes what its constants say,
			      whatever the latency of links */
	bool is_of_gpus;   /* what joins ranks and nodes must be known */
	bool has_steps;    /* its estimates are LIBRARY_STEPS, */
	bool has_transfers; /* or have any other shape */
	bool has_exchanges; /* DIST__SEND: each rank sends to the next and
			       receives from the previous one, all at once */

	/* As library_fitted() has them; NULL: none. */
	const struct library_constant *fitted;

	/* The constants that calibration may change, ended by a name of NULL;
	 * NULL: library_any_freedoms. When a call takes too long, the first
	 * ones are changed first. */
	const struct library_freedom *freedoms;

	/* library_estimate(), for more than one rank. */
	enum dist_error (*estimate)(const struct dist__profile *profile,
				    const struct fabric *fabric,
				    const struct library_call *call,
				    struct library_estimate *estimate,
				    struct dist_message *message);
};

/* library_layout returns the placement of call's ranks on fabric. */
static inline struct dist__layout
library_layout(const struct dist__profile *profile, const struct fabric *fabric,
	       const struct library_call *call)
{
	return (struct dist__layout){.world_size = call->ranks,
				     .num_nodes = fabric->nodes,
				     .in_memory = fabric->nodes == 1 &&
						  profile->shares_memory};
}

extern const struct library_freedom library_any_freedoms[];

/* library_find returns the model of profile's library; NULL: unknown. */
const struct library_model *library_find(const struct dist__profile *profile);

/* Lockstep's own: the algorithms of coll/. */
extern const struct library_model library_own;

/* NVIDIA's, after NCCL's own cost model. */
extern const struct library_model library_nccl;

/* Libraries that exchange messages between processors. */
extern const struct library_model library_gloo;
extern const struct library_model library_openmpi;
extern const struct library_model library_mpich;

#endif
