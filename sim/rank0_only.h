/*
 * rank0_only.h - results of collectives when rank 0 represents all ranks, with
 * the same inputs. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_RANK0_ONLY_H
#define LOCKSTEP_SIM_RANK0_ONLY_H

#include "core/op.h"

/* dist__sim_rank0_only_can returns whether the result of op is known. */
bool dist__sim_rank0_only_can(const struct dist__op *op);

/* dist__sim_rank0_only_do writes the known result of op on `rank` of a group of
 * `ranks`. The output of a scatter from another rank is not changed. Errors:
 * NO_MEMORY. */
enum dist_error dist__sim_rank0_only_do(const struct dist__op *op, int rank,
					int ranks);

#endif
