/*
 * calibrated_model.h - what predictions for one machine, transport and library
 * stand on: the profile of the library, the description of the machine, and the
 * constants that this has of it, or that rows declared as calibration say.
 * Nothing else of any table is looked at.
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
	const char *transport; /* between nodes; NULL: there is one node */
	const char *links;     /* inside it; NULL: there are several */
	const char *library;
	const char *version; /* NULL: the profile's */
};

struct calibrated_model {
	struct calibrated_key key;    /* its texts stay where they are */
	struct machine machine;       /* with what was fitted here */
	struct dist__profile profile; /* owned */
	const struct calibration *calibration; /* machine's; NULL: none */

	/* Why nothing can be predicted here; "": it can. */
	struct dist_message refusal;
};

/* Where constants come from. */
enum calibrated_constants {
	CALIBRATED_STORED, /* the machine's file, else rows */
	CALIBRATED_ROWS,   /* rows, whatever the file says */
	CALIBRATED_NONE,   /* the library's profile alone */

	/* That profile as if no row of the machine had been seen; nor any of a
	 * network of the same kind. */
	CALIBRATED_WITHOUT_MACHINE,
	CALIBRATED_WITHOUT_FABRIC,

	/* That of WITHOUT_MACHINE, and the machine's rows for calibration. */
	CALIBRATED_BLIND_ROWS,
};

/* Bases are made when first asked for, from these tables. */
struct calibrated_models {
	const struct collectives *const *tables; /* borrowed */
	size_t num_tables;
	enum calibrated_constants constants;
	struct calibrated_model **all; /* owned */
	size_t num;

	/* Where profiles without a machine may be found already; borrowed,
	 * NULL: nowhere. */
	const struct calibrated_models *kin;
};

/* calibrated_models_init makes a set without models over tables, which must
 * stay. */
void calibrated_models_init(struct calibrated_models *models,
			    const struct collectives *const *tables,
			    size_t num_tables,
			    enum calibrated_constants constants);

/*
 * calibrated_models_get stores the model for key, which the set owns.
 * Errors: NO_MEMORY. What cannot be predicted, because machine or profile is
 * not known or cannot be read, has a refusal.
 */
DIST_MUST_CHECK enum dist_error
calibrated_models_get(struct calibrated_models *models,
		      const struct calibrated_key *key,
		      const struct calibrated_model **calibrated);

/* calibrated_models_release frees all. */
void calibrated_models_release(struct calibrated_models *models);

/* calibrated_profile_name returns the profile of a library: that of its
 * family. */
const char *calibrated_profile_name(const char *library);

/*
 * calibrated_estimate says what a call takes of call->ranks ranks on so many
 * nodes, as calibrated. Errors: INVALID_ARGUMENT (message: what is not known of
 * the machine, or not modelled).
 */
DIST_MUST_CHECK enum dist_error
calibrated_estimate(const struct calibrated_model *calibrated, int nodes,
		    const struct library_call *call,
		    struct library_estimate *estimate,
		    struct dist_message *message);

#endif
