/*
 * fidelity.h - which fidelity a simulation of so many ranks gets.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_FIDELITY_H
#define LOCKSTEP_MODEL_LIBRARY_FIDELITY_H

#include "core/fidelity.h"
#include "coll/profile.h"

/*
 * library_fidelity stores what `ranks` ranks get in *fidelity, never AUTO: what
 * was asked for, or with AUTO what their number affords and profile's library
 * has; ranks that share cores go message by message. Errors: INVALID_ARGUMENT
 * (message: the profile's library is unknown, or its messages are; or a formula
 * was asked for where ranks share cores).
 */
DIST_MUST_CHECK enum dist_error
library_fidelity(const struct dist__profile *profile, int ranks,
		 enum dist__fidelity asked, enum dist__fidelity *fidelity,
		 struct dist_message *message);

#endif
