/*
 * calibrate.h - fits constants to two measured times: the start of a call, and
 * the share of a link's rate that messages reach, which no data sheet states.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_CALIBRATE_H
#define LOCKSTEP_MODEL_LIBRARY_CALIBRATE_H

#include "model/library/library.h"

/* A measured call. */
struct library_sample {
	struct fabric fabric;
	struct library_call call;
	double time_ns;
};

/* The time of a call of at most so many bytes is independent of bytes. */
#define LIBRARY_SMALL_BYTES 4096

/*
 * library_calibrate fits the free constants of profile's library within their
 * bounds: those of latency until small takes its measured time, those of rate
 * until large does. small or large may be NULL: then its constants stay. Given
 * constants stay; constants that did not change are left out. Stores the
 * library, the transport, the residual, and which constants are at their
 * bounds. Errors: INVALID_ARGUMENT (message: the library refuses a call).
 */
DIST_MUST_CHECK enum dist_error library_calibrate(
	const struct dist__profile *profile, const struct library_sample *small,
	const struct library_sample *large, struct calibration *calibration,
	struct dist_message *message);

#endif
