/*
 * usual_profile.h - the library that GPUs are used with where nobody says
 * which.
 */
#ifndef LOCKSTEP_CLI_USUAL_PROFILE_H
#define LOCKSTEP_CLI_USUAL_PROFILE_H

#include "core/fidelity.h"

/* usual_profile returns the name of a profile for so many ranks on GPUs of that
 * kind; NULL: the kind has none (library_of_gpu), it cannot be read, or its
 * library is not known at the fidelity asked for. */
const char *usual_profile(const char *gpu, int ranks,
			  enum dist__fidelity asked);

#endif
