/*
 * basis.h - what predictions for one machine, transport and library stand on:
 * the description of the machine, the profile of the library, and the rows
 * that are declared as calibration. Nothing else of any table is looked at.
 */
#ifndef LOCKSTEP_VALIDATION_BASIS_H
#define LOCKSTEP_VALIDATION_BASIS_H

#include "core/profile.h"
#include "library/calibrate.h"
#include "library/library.h"
#include "measured/collectives.h"
#include "measured/machine.h"

/* Texts of a table. */
struct basis_key {
	const char *machine;
	const char *transport; /* between nodes; NULL: there is one node */
	const char *library;
	const char *version; /* NULL: the profile's */
};

struct basis {
	struct basis_key key; /* its texts stay where they are */
	struct machine machine;
	struct dist__profile profile; /* owned */

	/* What the calibration rows say. A library that has constants for it
	 * has had them moved, in profile, as calibration tells; the times of
	 * another one's model are multiplied by the scales. */
	size_t num_samples;
	struct library_calibration calibration;
	double fixed_scale;    /* start and latency */
	double transfer_scale; /* the bytes */

	/* Why nothing can be predicted here; "": it can. */
	struct dist_message refusal;
};

/* Bases are made when first asked for, from these tables. */
struct bases {
	const struct collectives *const *tables; /* borrowed */
	size_t num_tables;
	struct basis **all; /* owned */
	size_t num;
};

/* bases_init makes a set without bases over tables, which must stay. */
void bases_init(struct bases *bases, const struct collectives *const *tables,
		size_t num_tables);

/*
 * bases_get stores the basis for key, which the set owns. Errors: NO_MEMORY.
 * What cannot be predicted, because machine or profile is not known or cannot
 * be read, has a refusal.
 */
DIST_MUST_CHECK enum dist_error bases_get(struct bases *bases,
					  const struct basis_key *key,
					  const struct basis **basis);

/* bases_release frees all. */
void bases_release(struct bases *bases);

/* basis_fabric says what joins the ranks of a call on so many nodes; *guessed:
 * by a rate that nobody knows. Errors: as basis_estimate(). */
DIST_MUST_CHECK enum dist_error
basis_fabric(const struct basis *basis, int nodes,
	     const struct library_call *call, struct fabric *fabric,
	     bool *guessed, struct dist_message *message);

/*
 * basis_estimate says what a call takes of call->ranks ranks on so many nodes,
 * as calibrated. Errors: INVALID_ARGUMENT (message: what is not known of the
 * machine, or not modelled).
 */
DIST_MUST_CHECK enum dist_error
basis_estimate(const struct basis *basis, int nodes,
	       const struct library_call *call,
	       struct library_estimate *estimate, struct dist_message *message);

#endif
