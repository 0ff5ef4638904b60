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

/* usual_profile_on does so for the GPUs of a platform, a name or a file, at the
 * fidelity of that name (NULL: auto); NULL also: there is no such platform or
 * fidelity, which whoever opens them says. */
const char *usual_profile_on(const char *platform, int ranks,
			     const char *fidelity);

#endif
