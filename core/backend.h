/*
 * backend.h - a whole-collective back end for one group, and how a world gives
 * a rank its place.
 *
 * coll/p2p_backend.c makes a back end out of any transport; NCCL supplies its
 * own; the trace recorder wraps either and is a back end too.
 */
#ifndef LOCKSTEP_CORE_BACKEND_H
#define LOCKSTEP_CORE_BACKEND_H

#include "core/op.h"
#include "core/profile.h"
#include "core/transport.h"

struct check_slot;

struct dist__backend {
	const struct dist__backend_ops *ops;
};

struct dist__backend_ops {
	/*
	 * Does op to completion: blocks. Caller: core, the rank's thread; op
	 * lives until the call returns. Finishes op (dist__op_finish) with the
	 * same error that it returns. Errors: any group error.
	 */
	enum dist_error (*run)(struct dist__backend *b, struct dist__op *op);

	/*
	 * Starts op and returns at once. Caller: core, the rank's thread; op
	 * lives until it is done. Ops start in the order submitted. Errors:
	 * as run; on error op was not started and will not be finished.
	 */
	enum dist_error (*submit)(struct dist__backend *b, struct dist__op *op);

	/*
	 * Blocks until a submitted op is done or deadline_ns passes. Returns
	 * op->error once done. Errors: those of the op; TIMEOUT (op is not
	 * done); DEADLOCK.
	 */
	enum dist_error (*wait)(struct dist__backend *b, struct dist__op *op,
				int64_t deadline_ns);

	/* Returns whether a submitted op is done; makes progress. */
	bool (*test)(struct dist__backend *b, struct dist__op *op);

	/* The rank's clock. */
	int64_t (*now_ns)(struct dist__backend *b);

	/* dist_compute(). label is never NULL. Errors: ABORTED, DEADLOCK. */
	enum dist_error (*compute)(struct dist__backend *b, int64_t duration_ns,
				   const char *label);

	/* Ends everything in flight with ABORTED. Idempotent. */
	void (*abort)(struct dist__backend *b);

	/* Ends what is in flight, frees. */
	void (*free)(struct dist__backend *b);
};

/* One line of what a run stands on, for the head of its trace: "platform",
 * "network model", ... Strings live as long as the job. */
struct dist__fact {
	const char *key;
	const char *value;
};

/* The group that a back end serves. ranks == NULL: global rank = group rank. */
struct dist__members {
	uint32_t group_id;
	int rank;
	int world_size;
	const int *ranks;
};

static inline int dist__global_rank(const struct dist__members *members,
				    int rank)
{
	return members->ranks ? members->ranks[rank] : rank;
}

/*
 * The place of one rank in its job: what attach() hands to core. The transport
 * belongs to core from then on; the rest outlives the rank.
 */
struct dist__place {
	int rank;
	int world_size;
	int64_t timeout_ns;
	struct dist__transport *transport;
	const struct dist__profile *profile;
	struct dist__recorder *recorder; /* NULL: no trace */
	struct check_slot *slot;         /* this rank's records; never NULL */
};

/* A world, as the one table of back ends lists it (core/backends.c). */
struct dist__world {
	const char *name;
	const char *summary;

	/* Carries phantom tensors: sizes without bytes. */
	bool has_phantoms;

	/* Returns whether the caller is a rank that this world runs inside
	 * this process. NULL: its ranks are processes, the environment tells.
	 */
	bool (*is_here)(void);

	/* Returns whether this machine can run it; if not, says why. */
	bool (*is_available)(struct dist_message *why);

	/* Gives the calling rank its place; blocks for the rendezvous. options
	 * is never NULL; message neither. Errors: dist_init_process_group's. */
	enum dist_error (*attach)(const struct dist_init_options *options,
				  struct dist__place *place,
				  struct dist_message *message);

	/* dist_launch() for this world: options complete, world_size > 0. */
	int (*launch)(const struct dist_launch_options *options,
		      int (*rank_main)(void *arg), void *arg);
};

extern const struct dist__world dist__sim_world; /* sim/world.c */
extern const struct dist__world dist__tcp_world; /* realbackend/tcp/world.c */

/* dist__world_find returns the world named name in any case, or NULL. */
const struct dist__world *dist__world_find(const char *name);

/* dist__world_here returns the world that runs the caller as a rank inside
 * this process, or NULL. */
const struct dist__world *dist__world_here(void);

/* dist__worlds returns the table, ended by NULL. */
const struct dist__world *const *dist__worlds(void);

/* dist__p2p_backend_new makes a back end for members over transport, choosing
 * algorithms by profile (both borrowed). NULL: no memory. */
struct dist__backend *
dist__p2p_backend_new(struct dist__transport *transport,
		      const struct dist__members *members,
		      const struct dist__profile *profile);

/* ---- the trace recorder, seen from core and the worlds (trace/record.c) -- */

/*
 * dist__recorder_new makes a recorder that will write to path, with facts for
 * the head of the trace. part < 0: one recorder sees all ranks and path is the
 * whole trace. Otherwise it sees only rank `part` and writes
 * "<path>.rank<part>", to be merged by dist__recorder_merge().
 * NULL: no memory.
 */
struct dist__recorder *dist__recorder_new(const char *path, int part,
					  int world_size,
					  const struct dist__fact *facts,
					  size_t num_facts);

/* dist__recorder_wrap returns a back end that passes everything on to inner
 * (which it owns from now on) and records it as rank's. NULL: no memory, and
 * inner is untouched. */
struct dist__backend *dist__recorder_wrap(struct dist__recorder *recorder,
					  struct dist__backend *inner,
					  const struct dist__members *members);

/* dist__recorder_finish writes the file (temporary, then rename) and frees the
 * recorder. Errors: IO, NO_MEMORY; message says what. NULL allowed. */
enum dist_error dist__recorder_finish(struct dist__recorder *recorder,
				      struct dist_message *message);

/* dist__recorder_merge makes path of the parts that ranks 0 to world_size - 1
 * wrote (missing ones are passed over) and removes them. Errors: as finish. */
enum dist_error dist__recorder_merge(const char *path, int world_size,
				     struct dist_message *message);

#endif
