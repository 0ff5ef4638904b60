/* model.h - one library's model. Private to model/library/. */
#ifndef LOCKSTEP_MODEL_LIBRARY_MODEL_H
#define LOCKSTEP_MODEL_LIBRARY_MODEL_H

#include "model/library/library.h"

/* A constant that measured times may move, within what physics allows. */
struct library_freedom {
	const char *constant;
	double usual; /* where a profile does not state it; or: */
	double (*usual_of)(const struct dist__profile *profile,
			   const struct fabric *fabric); /* NULL: usual */
	double least, most;
	bool is_rate; /* what large calls reach; else what small ones take */
};

struct library_model {
	const char *name;             /* as a profile's `library` says */
	const char *const *constants; /* names it knows, ended by NULL */
	bool has_steps;               /* its estimates are LIBRARY_STEPS, */
	bool has_transfers;           /* or have any other shape */

	/* As library_fitted() has them; NULL: none. */
	const struct library_constant *fitted;

	/* Those of them that are free, ended by a name of NULL; NULL:
	 * library_any_freedoms. Where a call takes too long the first ones are
	 * moved first. */
	const struct library_freedom *freedoms;

	/* library_estimate(), for more than one rank. */
	enum dist_error (*estimate)(const struct dist__profile *profile,
				    const struct fabric *fabric,
				    const struct library_call *call,
				    struct library_estimate *estimate,
				    struct dist_message *message);
};

/* library_layout returns how the ranks of call lie on fabric. */
struct dist__layout library_layout(const struct dist__profile *profile,
				   const struct fabric *fabric,
				   const struct library_call *call);

extern const struct library_freedom library_any_freedoms[];

/* library_find returns the model that profile names; NULL: it is not known. */
const struct library_model *library_find(const struct dist__profile *profile);

/* Lockstep's own: the algorithms of coll/. */
extern const struct library_model library_own;

/* NVIDIA's, after the cost model that it has of itself. */
extern const struct library_model library_nccl;

/* Those that exchange messages between processors. */
extern const struct library_model library_gloo;
extern const struct library_model library_openmpi;
extern const struct library_model library_mpich;

#endif
