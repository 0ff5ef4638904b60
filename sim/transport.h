/*
 * transport.h - the transport of a simulated rank. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_TRANSPORT_H
#define LOCKSTEP_SIM_TRANSPORT_H

#include "sim/world.h"

extern const struct dist__transport_ops dist__sim_transport_ops;

/* dist__sim_close ends what a rank left in flight when its program returned:
 * messages fail, lanes finish their jobs. */
void dist__sim_close(struct dist__sim_rank *rank);

#endif
