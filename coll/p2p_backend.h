/* p2p_backend.h - a back end of coll's algorithms over any transport. */
#ifndef LOCKSTEP_COLL_P2P_BACKEND_H
#define LOCKSTEP_COLL_P2P_BACKEND_H

#include "core/backend.h"

/* dist__p2p_backend_new is the backend_new of a world with a transport: it
 * makes a back end for members over place's transport. Algorithms follow
 * place's profile. All are borrowed. Errors: NO_MEMORY. */
enum dist_error dist__p2p_backend_new(const struct dist__place *place,
				      const struct dist__members *members,
				      struct dist__backend **backend,
				      struct dist_message *message);

#endif
