/*
 * calibrate.h - a profile made to agree with measured times: what no data sheet
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

/* What became of a constant of the profile. */
struct library_move {
	const char *constant;
	double from, to;
};

#define LIBRARY_MOST_MOVES 8

struct library_calibration {
	struct library_move moves[LIBRARY_MOST_MOVES];
	size_t num_moves;

	/* |predicted / measured - 1| of the two samples, the worse. */
	double residual;
};

/* library_is_free returns whether the library that profile names has constants
 * that may be moved. */
bool library_is_free(const struct dist__profile *profile);

/* A call of no more bytes tells how long it takes whatever the bytes. */
#define LIBRARY_SMALL_BYTES 4096

/*
 * library_calibrate moves the constants of profile that its library lets be
 * moved, each within its legal range: those of latency until small, a call of
 * LIBRARY_SMALL_BYTES or less, takes what it took, those of rate until large
 * does. Either may be NULL: then its constants stay. Errors: INVALID_ARGUMENT
 * (message: no such constants, or a call that the library refuses), NO_MEMORY;
 * then constants of profile may have
 * moved.
 */
DIST_MUST_CHECK enum dist_error library_calibrate(
	struct dist__profile *profile, const struct library_sample *small,
	const struct library_sample *large,
	struct library_calibration *calibration, struct dist_message *message);

#endif
