/*
 * capability.h - the part of the API that a world supports. Calls are refused
 * by this table, and `lockstep list backends` prints it.
 */
#ifndef LOCKSTEP_CORE_CAPABILITY_H
#define LOCKSTEP_CORE_CAPABILITY_H

#include "core/backend.h"

/* What a call needs of the world besides messages. */
enum dist__need {
	DIST__NEEDS_NOTHING,
	DIST__NEEDS_DEVICES,  /* several devices of one rank */
	DIST__NEEDS_PHANTOMS, /* tensors without data */
	DIST__NEEDS_THREADS,  /* several threads of one rank */
	DIST__NEEDS_MESSAGES  /* p2p messages, beside collectives */
};

/* dist__world_has returns whether the world supports calls with this need. */
bool dist__world_has(const struct dist__world *world, enum dist__need need);

/* dist__world_reduces returns whether the world can reduce dtype by op: a legal
 * pair of dist.h that the world supports. Both must be values of their
 * enum. */
bool dist__world_reduces(const struct dist__world *world,
			 enum dist_reduce_op op, enum dist_dtype dtype);

/* A call of dist.h or rpc.h on a group, without "dist_", or a property of the
 * arguments of all of them. */
struct dist__capability {
	const char *name;
	enum dist__need need;
};

/* dist__capabilities returns the table, which ends with a NULL name. */
const struct dist__capability *dist__capabilities(void);

#endif
