/*
 * alone.h - what a collective gives where rank 0 stands for all ranks, which
 * bring the same as it does. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_ALONE_H
#define LOCKSTEP_SIM_ALONE_H

#include "core/op.h"

/* dist__sim_alone_can returns whether the result of op can be told. */
bool dist__sim_alone_can(const struct dist__op *op);

/* dist__sim_alone_do writes the result of op, which can be told, among that
 * many ranks. Errors: NO_MEMORY. */
enum dist_error dist__sim_alone_do(const struct dist__op *op, int ranks);

#endif
