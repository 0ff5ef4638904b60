/*
 * rank0_only.h - what a collective gives where rank 0 stands for all ranks,
 * which bring the same as it does. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_RANK0_ONLY_H
#define LOCKSTEP_SIM_RANK0_ONLY_H

#include "core/op.h"

/* dist__sim_rank0_only_can returns whether the result of op can be told. */
bool dist__sim_rank0_only_can(const struct dist__op *op);

/* dist__sim_rank0_only_do writes the result of op, which can be told, at rank
 * of a group of that many. What a scatter from another rank brings is left as
 * it is. Errors: NO_MEMORY. */
enum dist_error dist__sim_rank0_only_do(const struct dist__op *op, int rank,
					int ranks);

#endif
