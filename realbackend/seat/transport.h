/* transport.h - the transport of a rank that is a process: messages and events
 * of its threads, and lanes, which are threads. Private to realbackend/seat/.
 */
#ifndef LOCKSTEP_SEAT_TRANSPORT_H
#define LOCKSTEP_SEAT_TRANSPORT_H

#include "core/transport.h"

extern const struct dist__transport_ops dist__seat_transport_ops;

#endif
