/*
 * physics.h - what of a prediction no device can do: hold more than its memory,
 * compute faster than its peak, or where it has no name, than that of any GPU.
 * What else is not known of the device is not judged.
 */
#ifndef LOCKSTEP_SCENARIOS_PHYSICS_H
#define LOCKSTEP_SCENARIOS_PHYSICS_H

#include "scenarios/workload.h"

struct physics {
	/* Of the parameters, their gradients and the optimizer's state alone,
	 * in float32 and on the rank that holds most: a lower bound of what a
	 * step needs. */
	double memory_bytes;
	char impossible[384]; /* why it cannot be, in words; "": it can */
};

/* physics_judge judges setup on world_size ranks, which it fits. */
void physics_judge(const struct workload_setup *setup, int world_size,
		   struct physics *physics);

/* physics_describe writes what memory_bytes counts, "parameters, gradients and
 * adam's state, float32". */
void physics_describe(const struct workload_setup *setup, char *text,
		      size_t size);

#endif
