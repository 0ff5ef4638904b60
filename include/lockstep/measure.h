/*
 * measure.h - for programs that time collectives, and are simulated, too.
 */
#ifndef LOCKSTEP_MEASURE_H
#define LOCKSTEP_MEASURE_H

#include "lockstep/dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * dist_untimed notes that the next call on group serves the measurement and is
 * not measured, and returns group; a NULL group is returned as it is. In
 * simulation such a call takes no time and sends no messages: a barrier,
 * all_reduce, reduce, broadcast of a phantom, or the making of a group, returns
 * in the instant in which the last rank calls. Other calls, and real worlds,
 * are not changed. Either all ranks note it, or none does.
 *
 *	dist_barrier(dist_untimed(group), NULL);
 */
struct dist_group *dist_untimed(struct dist_group *group);

#ifdef __cplusplus
}
#endif

#endif
