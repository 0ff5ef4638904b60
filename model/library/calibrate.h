/*
 * calibrate.h - constants made to agree with measured times: what no data sheet
 * says, the start of a call and the share of a link's rate that messages reach,
 * is taken from two of them.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_CALIBRATE_H
#define LOCKSTEP_MODEL_LIBRARY_CALIBRATE_H

#include "model/library/library.h"

/* A call that was measured. */
struct library_sample {
	struct fabric fabric;
	struct library_call call;
	double time_ns;
};

/* A call of no more bytes tells how long it takes whatever the bytes. */
#define LIBRARY_SMALL_BYTES 4096

/*
 * library_calibrate moves the constants of calibration that the library of
 * profile lets be moved, each within its bounds: those of latency until small
 * takes what it took, those of rate until large does. One may be NULL: then
 * its constants stay. What is given stays, what did not move is not there.
 * Stores the library, the transport, the residual, and which constants are at
 * their bounds. Errors:
 * INVALID_ARGUMENT (message: a call that the library refuses).
 */
DIST_MUST_CHECK enum dist_error library_calibrate(
	const struct dist__profile *profile, const struct library_sample *small,
	const struct library_sample *large, struct calibration *calibration,
	struct dist_message *message);

#endif
