/*
 * calibrated_model.h - the inputs of predictions for a machine, transport and
 * library: the profile of the library, the description of the machine, and its
 * constants, from its file or fitted to rows marked for calibration. Nothing
 * else of a table is used.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_CALIBRATED_MODEL_H
#define LOCKSTEP_MODEL_VALIDATION_CALIBRATED_MODEL_H

#include "coll/profile.h"
#include "model/library/library.h"
#include "model/measured/collectives.h"
#include "model/measured/machine.h"

/* Texts of a table. */
struct calibrated_key {
	const char *machine;
	const char *transport; /* between nodes; NULL: one node */
	const char *links;     /* inside a node; NULL: several nodes */
	const char *library;
	const char *version; /* NULL: the profile's */
};

struct calibrated_model {
	struct calibrated_key key;             /* its texts are borrowed */
	struct machine machine;                /* with constants fitted here */
	struct dist__profile profile;          /* owned */
	const struct calibration *calibration; /* machine's; NULL: none */

	/* Why nothing can be predicted; "": it can. */
	struct dist_message refusal;
};

/* Where constants come from. */
enum calibrated_constants {
	CALIBRATED_STORED, /* from the machine's file, else from rows */
	CALIBRATED_ROWS,   /* from rows, not from the file */
	CALIBRATED_NONE,   /* only the library's profile */

	/* The profile fitted without rows of the machine; also without rows of
	 * the same kind of network. */
	CALIBRATED_WITHOUT_MACHINE,
	CALIBRATED_WITHOUT_FABRIC,

	/* As WITHOUT_MACHINE, with the machine's rows for calibration. */
	CALIBRATED_BLIND_ROWS,
};

/* Models are made on first use, from these tables. */
struct calibrated_models {
	const struct collectives *const *tables; /* borrowed */
	size_t num_tables;
	enum calibrated_constants constants;
	struct calibrated_model **all; /* owned */
	size_t num;

	/* Other models that may have the fitted profiles already; borrowed, or
	 * NULL. */
	const struct calibrated_models *kin;
};

/* calibrated_models_init makes an empty set over tables, which are borrowed. */
void calibrated_models_init(struct calibrated_models *models,
			    const struct collectives *const *tables,
			    size_t num_tables,
			    enum calibrated_constants constants);

/*
 * calibrated_models_get stores the model for key, which the set owns. If
 * machine or profile is unknown or cannot be read, the model has a refusal.
 * Errors: NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
calibrated_models_get(struct calibrated_models *models,
		      const struct calibrated_key *key,
		      const struct calibrated_model **calibrated);

/* calibrated_models_release frees all models. */
void calibrated_models_release(struct calibrated_models *models);

/*
 * calibrated_estimate estimates a call of call->ranks ranks on so many nodes.
 * Errors: INVALID_ARGUMENT (message: what is not known of the machine, or not
 * modelled).
 */
DIST_MUST_CHECK enum dist_error
calibrated_estimate(const struct calibrated_model *calibrated, int nodes,
		    const struct library_call *call,
		    struct library_estimate *estimate,
		    struct dist_message *message);

#endif
