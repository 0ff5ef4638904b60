/*
 * backend.h - a whole-collective back end for one group, and how a world gives
 * a rank its place.
 *
 * A world over a transport has its back ends made by coll; NCCL supplies its
 * own; the trace recorder wraps either and is a back end too.
 */
#ifndef LOCKSTEP_CORE_BACKEND_H
#define LOCKSTEP_CORE_BACKEND_H

#include "core/op.h"
#include "core/transport.h"

struct check_slot;
struct dist__profile;

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

	/* What the system below said when the group failed, "" if nothing.
	 * Caller: core, after a failure. NULL: it never says anything. */
	const char *(*failure_text)(struct dist__backend *b);

	/* Ends what is in flight, frees. */
	void (*free)(struct dist__backend *b);
};

/* One line of what a run stands on, for the head of its trace: "platform",
 * "network model", ... Strings live as long as the job. */
struct dist__fact {
	const char *key;
	const char *value;
};

/*
 * The group that a back end serves. Groups that share a rank have different
 * ids. Most groups are an arithmetic progression of global ranks, and need no
 * list: first, then one after every `skip` ranks left out. Zeros are the
 * default group.
 */
struct dist__members {
	uint32_t group_id;
	int rank;
	int world_size;
	int first; /* global rank of rank 0 */
	int skip;
	const int *ranks; /* global ranks; NULL: a progression */
	const int *nodes; /* the place's */
	/* The group's name, no other's in the job, and what the caller calls
	 * it; NULL: "0", the default group, and nothing. */
	const char *name;
	const char *description;
};

/* dist__global_rank returns the global rank of the group's rank, and -1, which
 * is none, for -1. */
static inline int dist__global_rank(const struct dist__members *members,
				    int rank)
{
	if (rank < 0)
		return rank;
	return members->ranks ? members->ranks[rank]
			      : members->first + rank * (members->skip + 1);
}

/* dist__node returns a number for the node that the group's rank sits on, which
 * all ranks there have in common, and no others. */
static inline int dist__node(const struct dist__members *members, int rank)
{
	int global = dist__global_rank(members, rank);

	return members->nodes ? members->nodes[global] : global;
}

/* dist__group_rank returns the rank in the group, -1: not in it. */
static inline int dist__group_rank(const struct dist__members *members,
				   int global_rank)
{
	for (int rank = 0; rank < members->world_size; rank++)
		if (dist__global_rank(members, rank) == global_rank)
			return rank;
	return -1;
}

/* A remote call on one of its two sides, once it is over there. */
struct dist__remote_span {
	int rank;             /* global: whose side this is; */
	int other;            /* of the other: the callee, or the caller */
	bool served;          /* this is the callee's */
	uint64_t call;        /* the caller's number of it */
	const char *op;       /* "rpc_sync", "remote", ...; lives on */
	const char *function; /* borrowed */
	int64_t issued_ns;    /* called; served: when the request came */
	int64_t started_ns;   /* the same; served: when its function began */
	int64_t ended_ns;     /* the reply came; the function returned */
	const char *file;     /* of the call; NULL: not known; lives on */
	int line;
	enum dist_error error;
};

/* Who listens to all that a rank calls: the recorder of its trace. */
struct dist__recorder {
	/* Returns a back end that passes everything on to inner (which it owns
	 * from now on) and records it as rank's. NULL: no memory, and inner is
	 * untouched. */
	struct dist__backend *(*wrap)(struct dist__recorder *recorder,
				      struct dist__backend *inner,
				      const struct dist__members *members);

	/* Records a remote call. Any thread. */
	void (*remote)(struct dist__recorder *recorder,
		       const struct dist__remote_span *span);

	/* Writes what was recorded and frees the recorder. Errors: IO,
	 * NO_MEMORY; message says what. */
	enum dist_error (*finish)(struct dist__recorder *recorder,
				  struct dist_message *message);
};

/* How closely calls are watched. */
enum dist__debug {
	DIST__DEBUG_OFF,
	DIST__DEBUG_INFO,  /* the memory of operations in flight:
			      core/buffer_check.h */
	DIST__DEBUG_DETAIL /* and who touches it: check/watch/guard.h */
};

#define DIST__DEBUG_LEVELS "off, info or detail"

/* dist__debug_parse reads a level; false: it is none. NULL is off. */
bool dist__debug_parse(enum dist__debug *level, const char *text);

/*
 * The place of one rank in its job: what attach() hands to core. The transport
 * belongs to core from then on; the rest outlives the rank.
 */
struct dist__place {
	int rank;
	int world_size;
	int64_t timeout_ns;
	enum dist__debug debug;
	struct dist__transport *transport;
	const struct dist__profile *profile;
	/* By global rank: the lowest global rank on the same node, which is a
	 * machine as far as messages inside it are cheaper. NULL: every rank
	 * has a node of its own. */
	const int *nodes;
	struct dist__recorder *recorder; /* NULL: no trace */
	struct check_slot *slot;         /* this rank's records; never NULL */
	bool watched; /* whoever started the rank reads them at the end */
};

/* Memory of the rank's device. Caller: core, the rank's thread, while a group
 * exists. Errors: NO_MEMORY, IO. */
struct dist__memory {
	enum dist_error (*alloc)(size_t bytes, void **memory);
	void (*free)(void *memory);

	/* In any direction; blocks until done. */
	enum dist_error (*copy)(void *to, const void *from, size_t bytes);
};

/* A world, as the one table of them lists it. */
struct dist__world {
	const char *name;
	const char *summary;

	/* Carries phantom tensors: sizes without bytes. */
	bool has_phantoms;

	/* Its ranks share one process; else each is a process, and the
	 * environment says which. */
	bool in_process;

	/* Returns the records of the calling rank, which need not be in a
	 * group; NULL: it never joined this world. No slot: never. */
	struct check_slot *(*records)(void);

	/* Returns where core keeps the calling rank's default group, which is
	 * NULL while it has none; NULL: the caller is no rank. No slot: ranks
	 * share no memory, and so no group. */
	struct dist_group **(*own)(void);

	/* Returns whether what the user has set for it is what it takes; if
	 * not, says what was expected. NULL: nothing is set. */
	bool (*is_set_well)(struct dist_message *why);

	/* Returns whether this machine can run it; if not, says why, else what
	 * of note was found ("": nothing). */
	bool (*is_available)(struct dist_message *why);

	/* Lets duration_ns pass on the clock of the calling rank, which waits
	 * for what another rank of this process will do by other means than a
	 * message. NULL where ranks are processes. Errors: DEADLOCK, or what
	 * else ended the world. */
	enum dist_error (*pause)(int64_t duration_ns);

	/* What a group waits unless somebody says otherwise. */
	int64_t default_timeout_ns;

	/* Readies this process, which is no rank, to start so many ranks on
	 * this machine: may set variables that they inherit; text says in a
	 * line what was done, "": nothing to say. Caller: who starts them,
	 * where the world is available. NULL: nothing. */
	void (*prepare)(int num_ranks, struct dist_message *text);

	/* Gives the calling rank its place; blocks for the rendezvous. options
	 * is never NULL and names the world, but may leave the place to its
	 * init method (core/init_method.h); message neither. Errors:
	 * dist_init_process_group's. */
	enum dist_error (*attach)(const struct dist_init_options *options,
				  struct dist__place *place,
				  struct dist_message *message);

	/* Writes the rank's records into a file, where one is asked for and
	 * nobody else does. Caller: core, when a group of the rank has failed,
	 * or the rank has finished. NULL: never. */
	void (*dump)(void);

	/* dist_launch() for this world: options complete, world_size > 0. */
	int (*launch)(const struct dist_launch_options *options,
		      int (*rank_main)(void *arg), void *arg);

	/*
	 * Makes the back end of a group over place's transport; blocks until
	 * every member has. place and members are borrowed. Errors:
	 * UNAVAILABLE (refused below, message says why), RENDEZVOUS (not all
	 * members came, or two of them have one device), NO_MEMORY.
	 */
	enum dist_error (*backend_new)(const struct dist__place *place,
				       const struct dist__members *members,
				       struct dist__backend **backend,
				       struct dist_message *message);

	/* Returns whether it can combine dtype by op. NULL: all that is legal.
	 */
	bool (*reduces)(enum dist_reduce_op op, enum dist_dtype dtype);

	/* A rank has one device: several cannot take part for it. */
	bool one_device;

	/* A rank has one thread: dist_allow_threads() is refused. */
	bool one_thread;

	/* NULL: the device's memory is the program's own. */
	const struct dist__memory *memory;
};

/* ---- which world the caller is in (here.c) ------------------------------ */

/* dist__world_enter notes that the ranks of this process are world's from now
 * on, NULL: no world's, and returns whose they were. Caller: a world, before
 * its first rank runs or as its rank joins. */
const struct dist__world *dist__world_enter(const struct dist__world *world);

/* dist__world_here returns the world that runs the caller as a rank beside
 * others inside this process, or NULL. */
const struct dist__world *dist__world_here(void);

/* dist__records_here returns the records of the calling rank; NULL: it never
 * joined. */
struct check_slot *dist__records_here(void);

/* dist__group_open lets the calling rank join world, and makes its default
 * group; options are complete. Errors: dist_init_process_group's, then message
 * may say why and there is no group. */
enum dist_error dist__group_open(const struct dist__world *world,
				 const struct dist_init_options *options,
				 struct dist_group **group,
				 struct dist_message *message);

#endif
