/*
 * backend.h - the back end that runs a group's operations; a world, and the
 * place that it gives to a rank.
 *
 * coll makes the back ends of a world that has a transport; NCCL and MPI have
 * their own. The trace recorder wraps any of them and is a back end, too.
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
	 * Runs op to completion: blocks. Caller: core, the rank's thread; op
	 * lives until the call returns. Finishes op (dist__op_finish) with the
	 * same error that it returns. Errors: any group error.
	 */
	enum dist_error (*run)(struct dist__backend *b, struct dist__op *op);

	/*
	 * Starts op and returns at once. Caller: core, the rank's thread; op
	 * lives until it is done. Ops start in the order submitted. Errors: as
	 * run; after an error op was not started and will not be finished.
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

	/* Returns the library's message about the group's failure, "" if none.
	 * Caller: core, after a failure. NULL: there never is one. */
	const char *(*failure_text)(struct dist__backend *b);

	/* Ends what is in flight, then frees b. */
	void (*free)(struct dist__backend *b);
};

/* A setting or input of a run, for the head of its trace: "platform", "network
 * model", ... Strings live as long as the job. */
struct dist__fact {
	const char *key;
	const char *value;
};

/*
 * The members of the group that a back end serves. Groups that share a rank
 * have different ids. The global ranks of most groups are an arithmetic
 * progression and need no list: first, and then each rank after `skip` that are
 * left out. All zero except world_size and rank: the default group.
 */
struct dist__members {
	uint32_t group_id;
	int rank;
	int world_size;
	int first; /* global rank of rank 0 */
	int skip;
	const int *ranks; /* global ranks; NULL: a progression */
	/* More than 1: so many parts of a group, of which this is the first,
	 * do the same; their ranks lie behind each other in ranks. */
	int parts;
	const int *nodes; /* the place's */
	/* The group's name, unique in the job, and the caller's description
	 * of it. NULL: "0" (the default group), and none. */
	const char *name;
	const char *description;
};

/* dist__global_rank returns the global rank of a rank of the group; -1 for
 * -1. */
static inline int dist__global_rank(const struct dist__members *members,
				    int rank)
{
	if (rank < 0)
		return rank;
	return members->ranks ? members->ranks[rank]
			      : members->first + rank * (members->skip + 1);
}

/* dist__node returns a number for the node of a rank of the group: the same for
 * all ranks on the node, and different for all others. */
static inline int dist__node(const struct dist__members *members, int rank)
{
	int global = dist__global_rank(members, rank);

	return members->nodes ? members->nodes[global] : global;
}

/* dist__group_rank returns the rank in the group; -1: not a member. */
static inline int dist__group_rank(const struct dist__members *members,
				   int global_rank)
{
	for (int rank = 0; rank < members->world_size; rank++)
		if (dist__global_rank(members, rank) == global_rank)
			return rank;
	return -1;
}

/* One side, the caller's or the callee's, of a remote call that has ended. */
struct dist__remote_span {
	int rank;             /* global rank of this side */
	int other;            /* global rank of the other side */
	bool served;          /* this is the callee's side */
	uint64_t call;        /* the caller's number of the call */
	const char *op;       /* "rpc_sync", "remote", ...; static */
	const char *function; /* borrowed */
	int64_t issued_ns;    /* caller: the call; callee: request received */
	int64_t started_ns;   /* caller: the call; callee: function entered */
	int64_t ended_ns;     /* caller: reply received; callee: returned */
	const char *file;     /* of the call; NULL: not known; static */
	int line;
	enum dist_error error;
};

/* Records all calls of a rank, for its trace. */
struct dist__recorder {
	/* Returns a back end that records each call and passes it to inner.
	 * The new back end owns inner. members: of the rank's group. NULL: no
	 * memory, and inner is unchanged. */
	struct dist__backend *(*wrap)(struct dist__recorder *recorder,
				      struct dist__backend *inner,
				      const struct dist__members *members);

	/* Records a remote call. Any thread. */
	void (*remote)(struct dist__recorder *recorder,
		       const struct dist__remote_span *span);

	/* Writes the recorded calls and frees the recorder. Errors: IO,
	 * NO_MEMORY; message explains them. */
	enum dist_error (*finish)(struct dist__recorder *recorder,
				  struct dist_message *message);
};

/* How much memory of operations is checked. */
enum dist__debug {
	DIST__DEBUG_OFF,
	DIST__DEBUG_INFO,  /* writes to memory of operations in flight:
			      core/buffer_check.h */
	DIST__DEBUG_DETAIL /* reads, too, and where: check/watch/guard.h */
};

#define DIST__DEBUG_LEVELS "off, info or detail"

/* dist__debug_parse reads a level, NULL as off; false: text is no level. */
bool dist__debug_parse(enum dist__debug *level, const char *text);

/*
 * The place of one rank in its job, which attach() gives to core. core owns the
 * transport from then on; everything else outlives the rank.
 */
struct dist__place {
	int rank;
	int world_size;
	int num_running; /* ranks from here on are stood for by those before; 0:
			    all run */
	int64_t timeout_ns;
	enum dist__debug debug;
	struct dist__transport *transport;
	const struct dist__profile *profile;
	/* By global rank: the lowest global rank on the same node. Ranks of a
	 * node send each other messages at a lower cost. NULL: each rank has
	 * its own node. */
	const int *nodes;
	struct dist__recorder *recorder; /* NULL: no trace */
	struct check_slot *slot;         /* this rank's records; never NULL */
	bool watched; /* the launcher reads the records at the end */
};

/* Memory of the rank's device. Caller: core, the rank's thread, while a group
 * exists. Errors: NO_MEMORY, IO. */
struct dist__memory {
	enum dist_error (*alloc)(size_t bytes, void **memory);
	void (*free)(void *memory);

	/* In any direction; blocks until done. */
	enum dist_error (*copy)(void *to, const void *from, size_t bytes);
};

/* A world, an entry of the table in worlds/worlds.c. */
struct dist__world {
	const char *name;
	const char *summary;

	/* Carries phantom tensors: sizes without bytes. */
	bool has_phantoms;

	/* Its ranks share one process; else each rank is a process and takes
	 * its number from the environment. */
	bool in_process;

	/* Returns the records of the calling rank, also outside any group;
	 * NULL: it never joined this world. A NULL slot: there are none. */
	struct check_slot *(*records)(void);

	/* Returns where core stores the calling rank's default group (NULL
	 * while it has none). NULL: the caller is no rank. A NULL slot: ranks
	 * share no memory, so no rank can use another's group. */
	struct dist_group **(*own)(void);

	/* Checks the environment variables of this world; if one is wrong,
	 * returns false, and why says what was expected. NULL: has none. */
	bool (*is_set_well)(struct dist_message *why);

	/* Returns whether this machine can run the world. why: the reason if
	 * not, else a note about what was found ("": none). */
	bool (*is_available)(struct dist_message *why);

	/* Lets duration_ns pass on the clock of the calling rank, while it
	 * waits for another rank of this process without a message. NULL where
	 * ranks are processes. Errors: DEADLOCK, or the error that ended the
	 * world. */
	enum dist_error (*pause)(int64_t duration_ns);

	/* Blocks the calling rank until another calls has_stored() for that
	 * hash of a key of a store. gives_up: the program chose duration_ns.
	 * NULL where ranks are processes, as is has_stored. Errors: TIMEOUT; as
	 * pause. */
	enum dist_error (*await_key)(uint64_t key, int64_t duration_ns,
				     bool gives_up);
	void (*has_stored)(uint64_t key);

	/* The calling rank has asked for the key of that hash again, and made
	 * no other call since; nothing was new. A little time passes. NULL
	 * where ranks are processes.
	 * Errors: TIMEOUT, it has asked for as long as a store's calls may
	 * wait; as pause. */
	enum dist_error (*ask_again)(uint64_t key);

	/* The timeout of groups that have set none. */
	int64_t default_timeout_ns;

	/* Prepares this process, which is no rank, to start num_ranks on this
	 * machine: may set environment variables for them. text: one line on
	 * what was done, "": none. Caller: the launcher, after is_available.
	 * NULL: nothing to prepare. */
	void (*prepare)(int num_ranks, struct dist_message *text);

	/* Gives the calling rank its place; blocks for the rendezvous. options
	 * and message are never NULL; options names the world, but may leave
	 * the place to its init method (core/init_method.h). Errors: those of
	 * dist_init_process_group. */
	enum dist_error (*attach)(const struct dist_init_options *options,
				  struct dist__place *place,
				  struct dist_message *message);

	/* Writes the rank's records into a file, if the user asked for one and
	 * no launcher writes it. Caller: core, when a group of the rank failed
	 * or the rank has finished. NULL: never. */
	void (*dump)(void);

	/* dist_launch() in this world: options complete, world_size > 0. */
	int (*launch)(const struct dist_launch_options *options,
		      int (*rank_main)(void *arg), void *arg);

	/*
	 * Makes the back end of a group over place's transport; blocks until
	 * every member has called it. place and members are borrowed. Errors:
	 * UNAVAILABLE (the library refused, see message), RENDEZVOUS (a member
	 * did not come, or two have the same device), NO_MEMORY.
	 */
	enum dist_error (*backend_new)(const struct dist__place *place,
				       const struct dist__members *members,
				       struct dist__backend **backend,
				       struct dist_message *message);

	/* Returns whether the world can reduce dtype by op. NULL: it can
	 * reduce all legal pairs. */
	bool (*reduces)(enum dist_reduce_op op, enum dist_dtype dtype);

	/* A rank has one device; operations on several are refused. */
	bool one_device;

	/* A rank has one thread: dist_allow_threads() is refused. */
	bool one_thread;

	/* NULL: the device's memory is the program's own. */
	const struct dist__memory *memory;
};

/* ---- which world the caller is in (here.c) ------------------------------ */

/* dist__world_enter stores the world that the ranks of this process belong to
 * (NULL: none), and returns the one before. Caller: a world, before its first
 * rank runs or when its rank joins. */
const struct dist__world *dist__world_enter(const struct dist__world *world);

/* dist__is_copied returns whether the program has made this process by fork()
 * from one that was in a world then: it may not call in the rank's place.
 * dist__copy_joins says that this copy is of our making, or joins by itself. */
bool dist__is_copied(void);
void dist__copy_joins(void);

/* dist__world_here returns the world if its ranks share this process; else
 * NULL. */
const struct dist__world *dist__world_here(void);

/* dist__records_here returns the records of the calling rank; NULL: it never
 * joined. */
struct check_slot *dist__records_here(void);

/* dist__records_miss notes there that the caller cannot reach rank any more,
 * which has not said goodbye; the first such rank is kept. */
void dist__records_miss(int rank);

/* dist__record_refusal records there that the call `name` at site, which is on
 * no group of the rank, was refused. */
void dist__record_refusal(const char *name, enum dist_error error,
			  const char *reason, struct dist__site site);

/* dist__call_site_take returns the source line of dist_call_at() and clears it.
 */
struct dist__site dist__call_site_take(void);

/* dist__records_own is dist__records_here() for who takes no lock: NULL also if
 * the caller is not the thread that joined, or shares them with others since
 * dist__records_share(). */
struct check_slot *dist__records_own(void);
void dist__records_share(void);

/* dist__group_open joins the calling rank to world and makes its default group;
 * options are complete. Errors: those of dist_init_process_group; then there is
 * no group, and message may say why. */
enum dist_error dist__group_open(const struct dist__world *world,
				 const struct dist_init_options *options,
				 struct dist_group **group,
				 struct dist_message *message);

#endif
