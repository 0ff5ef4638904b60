/*
 * measure.h - for programs that time collectives, where they are simulated too.
 */
#ifndef LOCKSTEP_MEASURE_H
#define LOCKSTEP_MEASURE_H

#include "lockstep/dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * dist_untimed notes that the next call on group is for the measurement, and no
 * part of what is measured, and returns group; NULL passes through. A simulated
 * world lets no time pass for it and simulates no message: a barrier,
 * all_reduce or reduce, or a broadcast of a phantom, returns in the instant in
 * which the last rank comes, as does the agreement about a new group. Other
 * calls, and real worlds, are as ever. All ranks must note it, or none.
 *
 *	dist_barrier(dist_untimed(group), NULL);
 */
struct dist_group *dist_untimed(struct dist_group *group);

#ifdef __cplusplus
}
#endif

#endif
