/*
 * physics.h - finds impossible predictions: more memory than the device has, or
 * computing faster than its peak (without a name: than that of any GPU).
 * Unknown limits are not checked.
 */
#ifndef LOCKSTEP_SCENARIOS_PHYSICS_H
#define LOCKSTEP_SCENARIOS_PHYSICS_H

#include "scenarios/workload.h"

struct physics {
	/* Bytes of parameters, gradients and optimizer state in float32 on the
	 * fullest rank: a lower bound of the memory of a step. */
	double memory_bytes;
	char impossible[384]; /* why it is impossible; "": it is possible */
};

/* physics_judge checks setup on world_size ranks, a world size that it allows.
 */
void physics_judge(const struct workload_setup *setup, int world_size,
		   struct physics *physics);

/* physics_describe writes the parts of memory_bytes: "parameters, gradients and
 * adam's state, float32". */
void physics_describe(const struct workload_setup *setup, char *text,
		      size_t size);

#endif
