/* backend.h - the back end of a group, in the simulation. Private to
 * realbackend/seat/. */
#ifndef LOCKSTEP_SEAT_BACKEND_H
#define LOCKSTEP_SEAT_BACKEND_H

#include "core/backend.h"

/* dist__seat_backend_new is the world's backend_new. */
enum dist_error dist__seat_backend_new(const struct dist__place *place,
				       const struct dist__members *members,
				       struct dist__backend **backend,
				       struct dist_message *message);

#endif
