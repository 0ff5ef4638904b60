/* refuse.h - saying in one line what was expected. */
#ifndef LOCKSTEP_BASE_REFUSE_H
#define LOCKSTEP_BASE_REFUSE_H

#include "lockstep/dist.h"

/* dist__refuse writes what was expected to message, without what a terminal
 * should not be shown, and returns INVALID_ARGUMENT. */
__attribute__((format(printf, 2, 3))) enum dist_error
dist__refuse(struct dist_message *message, const char *format, ...);

#endif
