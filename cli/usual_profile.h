/*
 * usual_profile.h - the default library of GPUs.
 */
#ifndef LOCKSTEP_CLI_USUAL_PROFILE_H
#define LOCKSTEP_CLI_USUAL_PROFILE_H

#include "core/fidelity.h"

/* usual_profile returns the name of the default profile for so many ranks on
 * GPUs of that kind; NULL: the kind has none (library_of_gpu), it cannot be
 * read, or its library is not modelled at the fidelity asked for. */
const char *usual_profile(const char *gpu, int ranks,
			  enum dist__fidelity asked);

/* usual_profile_on does so for the GPUs of a simulated platform; each text is
 * an option's (NULL: not given, its variable counts). It returns profile if
 * that or algorithm is given, or no platform, and NULL also if there is no such
 * platform or fidelity; opening them reports that. */
const char *usual_profile_on(const char *platform, const char *profile,
			     const char *algorithm, const char *fidelity,
			     int ranks);

#endif
