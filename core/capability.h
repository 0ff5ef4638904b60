/*
 * capability.h - what of the API a world has. The calls refuse by these facts,
 * and lockstep list backends prints them.
 */
#ifndef LOCKSTEP_CORE_CAPABILITY_H
#define LOCKSTEP_CORE_CAPABILITY_H

#include "core/backend.h"

/* What a call asks of the world besides messages. */
enum dist__need {
	DIST__NEEDS_NOTHING,
	DIST__NEEDS_DEVICES,  /* several devices of one rank */
	DIST__NEEDS_PHANTOMS, /* tensors without data */
	DIST__NEEDS_THREADS,  /* several threads of one rank */
	DIST__NEEDS_MESSAGES  /* of its own, beside its collectives */
};

/* dist__world_has returns whether calls that need this are taken. */
bool dist__world_has(const struct dist__world *world, enum dist__need need);

/* dist__world_reduces returns whether elements of dtype combine by op there:
 * the legal pairs of dist.h, without those that the world has not. Both must
 * be values of their enum. */
bool dist__world_reduces(const struct dist__world *world,
			 enum dist_reduce_op op, enum dist_dtype dtype);

/* A call of dist.h or rpc.h that is made on a group, without "dist_", or what
 * can be given to them all. */
struct dist__capability {
	const char *name;
	enum dist__need need;
};

/* dist__capabilities returns the table of them, ended by a NULL name. */
const struct dist__capability *dist__capabilities(void);

#endif
