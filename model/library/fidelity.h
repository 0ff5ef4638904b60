/*
 * fidelity.h - chooses the fidelity of a simulation.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_FIDELITY_H
#define LOCKSTEP_MODEL_LIBRARY_FIDELITY_H

#include "core/fidelity.h"
#include "coll/profile.h"

/*
 * library_fidelity stores in *fidelity, never AUTO, the fidelity that was asked
 * for or, with AUTO, the best one for that number of ranks that profile's
 * library has. Ranks that share cores are simulated at message. Errors:
 * INVALID_ARGUMENT (message: the profile's library is unknown, or its messages
 * are; or formula was asked for and ranks share cores).
 */
DIST_MUST_CHECK enum dist_error
library_fidelity(const struct dist__profile *profile, int ranks,
		 enum dist__fidelity asked, enum dist__fidelity *fidelity,
		 struct dist_message *message);

#endif
