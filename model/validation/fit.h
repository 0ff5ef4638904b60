/* fit.h - constants of a machine from rows that were given away for it: the one
 * way by which any command calibrates. */
#ifndef LOCKSTEP_MODEL_VALIDATION_FIT_H
#define LOCKSTEP_MODEL_VALIDATION_FIT_H

#include "coll/profile.h"
#include "model/library/calibrate.h"
#include "model/measured/collectives.h"
#include "model/measured/machine.h"

/* Whose rows count. Texts are borrowed. */
struct fit_key {
	const char *machine;   /* as rows name it */
	const char *library;   /* the same */
	const char *transport; /* between nodes; NULL: there is one node */
};

/*
 * fit_rows fits a machine's constants of the library of profile, from the
 * smallest and the largest row for calibration of key in the tables that the
 * model has a word on (the smallest, if it is of LIBRARY_SMALL_BYTES or less).
 * What calibration gives (is_given) is kept. calibration->rows is 0 where there
 * are no such rows; date is not set. Errors: as library_calibrate.
 */
DIST_MUST_CHECK enum dist_error
fit_rows(const struct machine *machine, const struct dist__profile *profile,
	 const struct fit_key *key, const struct collectives *const *tables,
	 size_t num_tables, struct calibration *calibration,
	 struct dist_message *message);

/* fit_keep replaces machine's calibration of that library and transport, or
 * adds it. Errors: INVALID_ARGUMENT (message: there are too many). */
DIST_MUST_CHECK enum dist_error fit_keep(struct machine *machine,
					 const struct calibration *calibration,
					 struct dist_message *message);

#endif
