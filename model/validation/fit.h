/* fit.h - fits constants of a machine to its rows marked for calibration, for
 * all commands. */
#ifndef LOCKSTEP_MODEL_VALIDATION_FIT_H
#define LOCKSTEP_MODEL_VALIDATION_FIT_H

#include "coll/profile.h"
#include "model/library/calibrate.h"
#include "model/measured/collectives.h"
#include "model/measured/machine.h"

/* Which rows to use. Texts are borrowed. */
struct fit_key {
	const char *machine;   /* its name in rows */
	const char *library;   /* the same */
	const char *transport; /* between nodes; NULL: one node */
};

/*
 * fit_rows fits a machine's constants of profile's library to the smallest and
 * the largest row of key for calibration that the model can predict (the
 * smallest only if it has LIBRARY_SMALL_BYTES or less). Given constants
 * (is_given) are kept. Without such rows calibration->rows is 0; date is not
 * set. Errors: as library_calibrate.
 */
DIST_MUST_CHECK enum dist_error
fit_rows(const struct machine *machine, const struct dist__profile *profile,
	 const struct fit_key *key, const struct collectives *const *tables,
	 size_t num_tables, struct calibration *calibration,
	 struct dist_message *message);

/* fit_keep replaces machine's calibration of that library and transport, or
 * adds it. Errors: INVALID_ARGUMENT (message: too many). */
DIST_MUST_CHECK enum dist_error fit_keep(struct machine *machine,
					 const struct calibration *calibration,
					 struct dist_message *message);

#endif
