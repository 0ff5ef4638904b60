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

/* usual_profile_on does so for the GPUs of a platform, a name or a file, at the
 * named fidelity (NULL: auto). It returns NULL also if there is no such
 * platform or fidelity; opening them reports that. */
const char *usual_profile_on(const char *platform, int ranks,
			     const char *fidelity);

#endif
