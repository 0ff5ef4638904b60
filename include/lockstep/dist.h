/*
 * dist.h - collective communication between the ranks of one job.
 *
 * Names and meanings are torch.distributed's. A rank program is written once
 * against this header and runs in any world: simulated hosts and links ("sim"),
 * real TCP ("tcp"), GPUs over NCCL ("nccl"), an MPI ("mpi"). There is no global
 * state: every call takes its group, because thousands of simulated ranks share
 * one process.
 *
 *	static int rank_main(void *arg)
 *	{
 *		struct dist_group *group;
 *		float x[2] = {1, 2};
 *
 *		if (dist_init_process_group(NULL, &group) ||
 *		    dist_all_reduce(group, dist_tensor(x, 2, DIST_FLOAT32),
 *				    DIST_SUM, NULL))
 *			return 1;
 *		return dist_destroy_process_group(group) != DIST_OK;
 *	}
 *	int main(void) { return dist_launch(NULL, rank_main, NULL); }
 *
 * Conventions of all calls:
 *
 * - Every fallible call returns enum dist_error: DIST_OK (0) or a negative
 *   code. dist_error_string() names a code, dist_error_message() explains the
 *   last failure of a group. A call that fails stores nothing through its
 *   output pointers.
 * - The argument work is torch's async_op. NULL: the call blocks until the
 *   operation is complete on this rank. Otherwise the call returns at once and
 *   *work is a handle that the caller waits for and frees (work.h).
 * - A tensor is a view: the caller owns the memory, which must stay valid and
 *   untouched until the operation is complete (the call returned, or a wait on
 *   its handle did).
 * - Operations of one group run in the order in which they were issued; all
 *   ranks must issue the same collectives in the same order.
 * - After an operation fails by timeout, mismatch, or a lost peer the group is
 *   poisoned: every later call on it returns DIST_ERR_ABORTED.
 * - Times are int64_t nanoseconds (_ns), sizes size_t bytes (_bytes), counts
 *   are elements (numel).
 * - A group and its work handles belong to one rank and one thread of it,
 *   unless dist_allow_threads() was called. What a signal handler calls while
 *   the rank is in another call is refused; in simulation, where ranks share
 *   global and static variables, so is a call on another rank's group, or on
 *   one that is destroyed: DIST_ERR_INVALID_ARGUMENT.
 * - A rank's number in the default group is its global rank. Calls use the
 *   ranks of their group: src, dst and places in a list are group ranks
 *   (torch's group_src and group_dst). Only calls that make groups take global
 *   ranks, and say so. dist_get_group_rank() and dist_get_global_rank()
 *   translate.
 *
 * "Any group error" below stands for: DIST_ERR_INVALID_ARGUMENT (a NULL group
 * or an argument outside its range), DIST_ERR_NO_MEMORY, DIST_ERR_TIMEOUT (the
 * deadline passed), DIST_ERR_MISMATCH (the ranks disagree about the
 * operation), DIST_ERR_PEER_LOST (another rank died or left),
 * DIST_ERR_DEADLOCK (simulation only: no rank can ever move),
 * DIST_ERR_ABORTED (the group failed earlier), DIST_ERR_IO (the network
 * failed). With the debug levels info and detail also DIST_ERR_HAZARD: before
 * the operation was complete on this rank, its memory was written, or given to
 * another operation, or (detail) read where the operation would still write.
 */
#ifndef LOCKSTEP_DIST_H
#define LOCKSTEP_DIST_H

#include "lockstep/p2p.h"
#include "lockstep/types.h"
#include "lockstep/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- starting and ending -------------------------------------------- */

/*
 * How to start the ranks of a job. A field that is zero (or a NULL pointer to
 * the struct) means: from the environment, else the default. A field that is
 * set wins over the environment. Strings are borrowed until dist_launch()
 * returns.
 */
struct dist_launch_options {
	const char *backend;   /* "sim", "tcp", "nccl", "mpi";
				* $LOCKSTEP_BACKEND; tcp */
	int world_size;        /* number of ranks; $WORLD_SIZE; 1 */
	const char *platform;  /* sim: name or XML file; $LOCKSTEP_PLATFORM */
	const char *links;     /* sim: "inter-bandwidth 100G, intra-latency x2":
				* overrides the platform's links between and
				* within nodes; $LOCKSTEP_LINKS; none */
	const char *profile;   /* name or YAML file; $LOCKSTEP_PROFILE */
	const char *algorithm; /* "all_reduce=ring,..."; $LOCKSTEP_ALGORITHM */
	const char *fidelity;  /* sim: "auto", "message", "flow" or "formula":
				* how finely collectives are simulated;
				* $LOCKSTEP_FIDELITY; auto: by world size */
	const char *engine;  /* sim: "auto", "own" or "simgrid": the engine that
			      * keeps the clock and shares the links;
			      * $LOCKSTEP_ENGINE; auto: own if it can run the
			      * platform */
	const char *p2p;     /* sim: "rendezvous", "buffered", "eager:BYTES":
			      * when a send is complete; $LOCKSTEP_P2P, the
			      * profile's */
	const char *debug;   /* "off", "info" or "detail": watch the memory
			      * of operations in flight; $LOCKSTEP_DEBUG; off */
	const char *trace;   /* file to write; $LOCKSTEP_TRACE; none */
	const char *replay;  /* sim: a replay token: repeat the run in which
			      * explore found it; $LOCKSTEP_REPLAY; none */
	const char *explore; /* sim: run with every order of messages, within
			      * bounds such as "max-runs=1000,max-seconds=60,
			      * skew=64,values" (each optional); ignored with
			      * replay; $LOCKSTEP_EXPLORE; none */
	int64_t timeout_ns;  /* $LOCKSTEP_TIMEOUT (s); 30 minutes, nccl 10 */
	bool prefix_output;  /* tcp: "[rank]: " before each line of output */
};

/*
 * dist_launch runs rank_main(arg) once per rank and returns the job's exit
 * status. Blocking.
 *
 * Simulated: every rank is an actor in this process. TCP: if RANK is in the
 * environment (a launcher started this process as one rank), that rank runs
 * here. Otherwise world_size processes are forked; when one dies, the others
 * are killed within two seconds. Simulated ranks share arg; forked ones have a
 * copy.
 *
 * A rank whose rank_main returns non-zero, or dies, fails the job. The verdict
 * (deadlock, timeout, rank lost, ...) and errors in options go to stderr.
 *
 * Returns one of enum dist_exit: OK; FAILED (with no verdict: a rank returned
 * non-zero, or output or trace could not be written); USAGE (unusable options);
 * MISMATCH, DEADLOCK, TIMEOUT, RANK_LOST, HAZARD, RACE, BUFFERING, LEFT,
 * RENDEZVOUS, INVALID (verdicts); SKIPPED (back end not available); INTERNAL.
 * In a process that a launcher started as one rank: what rank_main returned.
 */
DIST_MUST_CHECK int dist_launch(const struct dist_launch_options *options,
				int (*rank_main)(void *arg), void *arg);

/*
 * How one rank joins its job. A field that is zero (or a NULL pointer to the
 * struct) means: from the launcher and the environment. Strings are borrowed
 * during the call. message, if not NULL, receives a sentence about a failure.
 *
 * Rank and world size come from the fields if world_size > 0, else from the
 * init method if it ends in "?rank=R&world_size=W", else from RANK and
 * WORLD_SIZE. Ranks find each other by an init method, or by a store:
 *
 * env://	rank 0 serves a store at MASTER_ADDR:MASTER_PORT. The default.
 * tcp://host:port, tcp://[ipv6]:port
 *		rank 0 serves the store there.
 * file:///path	a file store (store.h) that all ranks can open; the last
 *		rank to leave removes it. A file of an earlier job is refused.
 *		Ranks find rank 0 by the name of its host.
 * .store	a store that all ranks share, borrowed until the group is
 *		destroyed. Then init_method is NULL and world_size is set. Keys
 *		that begin with "lockstep/" are Lockstep's. After a failed
 *		rendezvous the next one needs another store or prefix.
 *
 * In a simulation the fields are checked, and nothing is opened.
 *
 * With LOCKSTEP_SECRET in the environment, the store of rank 0 and the ranks
 * accept a connection only from a peer that proves to know the same secret.
 * What is sent after that is neither encrypted nor signed. An empty secret is
 * an invalid argument.
 */
struct dist_init_options {
	const char *backend;     /* NULL: the launcher's, $LOCKSTEP_BACKEND */
	const char *init_method; /* NULL: "env://" */
	int rank;
	int world_size;
	int64_t timeout_ns; /* of the rendezvous, and then of the group; 0: the
			       launcher's, else the back end's default */
	struct dist_message *message;
	struct dist_store *store; /* NULL: init_method */
};

/*
 * dist_init_process_group makes the default group, of all ranks of the job,
 * and stores it in *group; the caller owns it until
 * dist_destroy_process_group(). Blocks until every rank has joined (simulated
 * ranks have joined when they exist).
 *
 * Errors: DIST_ERR_INVALID_ARGUMENT (unknown back end or init method, a rank
 * outside the world, a malformed variable of the environment, a file that is no
 * store), DIST_ERR_UNAVAILABLE (the back end is not on this machine),
 * DIST_ERR_RENDEZVOUS (a rank did not come in time: the message names it; two
 * processes with one rank, or on one device; different world sizes; port in
 * use; a file of an earlier job; different secrets; too many open files),
 * DIST_ERR_NO_MEMORY, DIST_ERR_IO.
 */
DIST_MUST_CHECK enum dist_error
dist_init_process_group(const struct dist_init_options *options,
			struct dist_group **group);

/*
 * dist_destroy_process_group waits for operations in flight, and for calls of
 * other threads on the group, and frees it; the pointer is invalid afterwards,
 * also on failure. Destroying the default group destroys all groups of this
 * rank (their pointers become invalid, too) and disconnects from the peers.
 * Another group is destroyed alone: ranks do not wait for each other, and
 * groups made from it stay. group may be NULL. Free work handles before. Over
 * NCCL the default group waits until every rank destroys it, at most for its
 * timeout: the library requires that.
 *
 * Errors: DIST_ERR_INVALID_ARGUMENT (simulated: another rank's group, or
 * destroyed; nothing is done); the first error of an operation in flight (any
 * group error); DIST_ERR_MISMATCH (the default group, over TCP without our
 * launcher: others sent this rank their part of collectives that it never
 * called); DIST_ERR_IO, DIST_ERR_NO_MEMORY (this rank's part of the trace was
 * not written). An earlier failure of the group is not reported again.
 */
enum dist_error dist_destroy_process_group(struct dist_group *group);

/*
 * dist_abort poisons the group on this rank: operations in flight end with
 * DIST_ERR_ABORTED, peers see this rank as lost in it. Does not free the group;
 * other groups go on. group may be NULL. Cannot fail.
 */
void dist_abort(struct dist_group *group);

/* ---- groups of some of the ranks -------------------------------------- */

/*
 * A call that makes groups is a collective on its parent, most often the
 * default group. Every rank of the parent makes the call, member or not, with
 * the same arguments, and in the same order among its other collectives there;
 * otherwise DIST_ERR_MISMATCH or a deadlock names who called what and where.
 * The call blocks until every rank of the parent has entered it. With
 * members_only only the members call.
 *
 * A member gets its group in *sub and destroys it like any other. On a rank in
 * none of the lists *sub is NULL (torch: NON_GROUP_MEMBER). Calls refuse it
 * with DIST_ERR_INVALID_ARGUMENT; dist_get_rank() of it is -1, and
 * dist_destroy_process_group() accepts it.
 *
 * Groups may overlap, and have operations in flight at the same time. Each
 * fails alone, and nothing orders the calls of different groups: if one rank
 * waits in A before it calls on B, and another in B before A, no rank moves.
 */

/* A field that is zero (or a NULL pointer to the struct) means: the default.
 * The same on every rank of the parent, except timeout_ns. */
struct dist_group_options {
	const char *name;   /* in traces and verdicts, up to 23 bytes; copied.
			     * NULL: a number, as torch counts groups */
	int64_t timeout_ns; /* 0: the parent's; DIST_TIMEOUT_NEVER */
	/* Number the members as their list does (torch: sort_ranks=False), and
	 * not in the order of their global ranks. */
	bool keep_order;
	/* Only the members need to call, in one order; others get NULL at once
	 * (torch: use_local_synchronization=True). They agree by messages on
	 * the parent, with a tag above DIST_TAG_MAX. With different lists, or
	 * numbers, they get DIST_ERR_MISMATCH, or are in a deadlock. The
	 * default name is the group's id, "@" and its lowest global rank. */
	bool members_only;
	/* With members_only: torch's count of the groups that the rank asked
	 * for. Different groups of one number, but for groups of one rank, are
	 * a mismatch of the verdict. */
	uint32_t number;
};

/* One list of n ranks. */
struct dist_rank_list {
	const int *ranks;
	int n;
};

/*
 * dist_new_group makes a group of n global ranks of parent, none listed twice;
 * ranks NULL and n 0: all ranks of parent. Without options->keep_order the
 * lists of different ranks may differ in order. The list is borrowed during the
 * call.
 *
 * Errors: any group error of parent; DIST_ERR_INVALID_ARGUMENT also for a rank
 * outside parent or listed twice, an empty list, a name that is too long, a
 * negative timeout, or sub NULL: nothing is sent then.
 */
DIST_MUST_CHECK enum dist_error
dist_new_group(struct dist_group *parent, const int *ranks, int n,
	       const struct dist_group_options *options,
	       struct dist_group **sub);

/*
 * dist_new_subgroups_by_enumeration makes a group of each of num_lists lists of
 * global ranks, and gives each rank its own. Lists share no rank; a rank may be
 * in none. This is one collective; torch makes one for each list. Errors: as
 * dist_new_group; DIST_ERR_INVALID_ARGUMENT also for a rank in two lists, or no
 * list.
 */
DIST_MUST_CHECK enum dist_error dist_new_subgroups_by_enumeration(
	struct dist_group *parent, const struct dist_rank_list *lists,
	int num_lists, const struct dist_group_options *options,
	struct dist_group **sub);

/*
 * dist_new_subgroups cuts parent into groups of group_size consecutive ranks,
 * in their order, and gives each rank its own. group_size divides parent's
 * world size. Errors: as dist_new_group; DIST_ERR_INVALID_ARGUMENT also for a
 * group_size that does not divide.
 */
DIST_MUST_CHECK enum dist_error
dist_new_subgroups(struct dist_group *parent, int group_size,
		   const struct dist_group_options *options,
		   struct dist_group **sub);

/*
 * dist_split_group is dist_new_subgroups_by_enumeration with ranks of parent
 * instead of global ranks, and always with keep_order, like torch's
 * split_group. Errors: as dist_new_subgroups_by_enumeration.
 */
DIST_MUST_CHECK enum dist_error
dist_split_group(struct dist_group *parent, const struct dist_rank_list *lists,
		 int num_lists, const struct dist_group_options *options,
		 struct dist_group **sub);

/* dist_get_global_rank returns the global rank of rank group_rank of group; -1
 * for a rank outside the group, or a NULL group. */
int dist_get_global_rank(const struct dist_group *group, int group_rank);

/* dist_get_group_rank returns the rank in group of global_rank; -1 if it is not
 * in the group, or for a NULL group. */
int dist_get_group_rank(const struct dist_group *group, int global_rank);

/* dist_get_process_group_ranks stores the global ranks of group's members, by
 * group rank, in ranks, which has room for world size of them.
 * DIST_ERR_INVALID_ARGUMENT: group or ranks is NULL. */
DIST_MUST_CHECK enum dist_error
dist_get_process_group_ranks(const struct dist_group *group, int *ranks);

/* ---- asking ----------------------------------------------------------- */

/* dist_get_rank returns this rank's number in group, 0 to world size - 1; -1
 * for a NULL group. */
int dist_get_rank(const struct dist_group *group);

/* dist_get_world_size returns the number of ranks in group; -1 for NULL. */
int dist_get_world_size(const struct dist_group *group);

/* dist_is_available returns whether any back end can run on this machine. */
bool dist_is_available(void);

/* dist_is_initialized returns whether group is not NULL. torch keeps the
 * default group; here the program does: NULL before dist_init_process_group()
 * and after dist_destroy_process_group(). */
bool dist_is_initialized(const struct dist_group *group);

/* dist_set_timeout sets the timeout of operations that are issued on group from
 * now on: DIST_TIMEOUT_NEVER or a positive number. torch's _set_pg_timeout.
 * Errors: DIST_ERR_INVALID_ARGUMENT. */
DIST_MUST_CHECK enum dist_error dist_set_timeout(struct dist_group *group,
						 int64_t timeout_ns);

/* dist_get_backend returns the name of the group's back end ("sim", "tcp",
 * "nccl", "mpi"), a string that lives for ever; NULL for a NULL group. */
const char *dist_get_backend(const struct dist_group *group);

/* dist_is_backend_available returns whether the named back end (any case) can
 * run on this machine; false for an unknown name or NULL. */
bool dist_is_backend_available(const char *backend);

/* dist_error_string describes an error code, in a string that lives for ever;
 * "unknown error" for an unknown code. */
const char *dist_error_string(enum dist_error error);

/* dist_error_message returns a sentence about the last failure of a call on
 * group, "" if there was none; for NULL, why calls refuse a NULL group. Valid
 * until the next call on group. */
const char *dist_error_message(const struct dist_group *group);

/* dist_error_message_copy stores the same in *message: for programs in which
 * another thread may fail meanwhile (dist_allow_threads()). */
void dist_error_message_copy(struct dist_group *group,
			     struct dist_message *message);

/* dist_dtype_size returns the size of one element in bytes, 0 if unknown. */
size_t dist_dtype_size(enum dist_dtype dtype);

/* dist_dtype_name returns "float32" and so on, "?" if unknown. */
const char *dist_dtype_name(enum dist_dtype dtype);

/* dist_reduce_op_name returns "sum" and so on, "?" if unknown. */
const char *dist_reduce_op_name(enum dist_reduce_op op);

/* dist_tensor returns the view of numel elements of dtype at data. */
static inline struct dist_tensor dist_tensor(void *data, size_t numel,
					     enum dist_dtype dtype)
{
	struct dist_tensor tensor = {data, numel, dtype};

	return tensor;
}

/* ---- collectives ------------------------------------------------------ */

/*
 * dist_all_reduce combines tensor elementwise over all ranks, in place: on
 * completion every rank holds the same bytes. Same numel, dtype and op on
 * every rank. Errors: any group error (DIST_ERR_INVALID_ARGUMENT also for an
 * op that the dtype does not have); DIST_ERR_UNSUPPORTED (phantom in a real
 * world).
 */
DIST_MUST_CHECK enum dist_error dist_all_reduce(struct dist_group *group,
						struct dist_tensor tensor,
						enum dist_reduce_op op,
						struct dist_work **work);

/*
 * dist_reduce combines tensor elementwise over all ranks into rank dst's
 * tensor. The tensors of the other ranks hold partial results afterwards.
 * Same numel, dtype, op and dst on every rank. Errors: as dist_all_reduce;
 * DIST_ERR_INVALID_ARGUMENT also for dst outside the group.
 */
DIST_MUST_CHECK enum dist_error dist_reduce(struct dist_group *group,
					    struct dist_tensor tensor, int dst,
					    enum dist_reduce_op op,
					    struct dist_work **work);

/*
 * dist_broadcast copies rank src's tensor into every other rank's. Same numel,
 * dtype and src on every rank. Errors: as dist_all_reduce;
 * DIST_ERR_INVALID_ARGUMENT also for src outside the group.
 */
DIST_MUST_CHECK enum dist_error dist_broadcast(struct dist_group *group,
					       struct dist_tensor tensor,
					       int src,
					       struct dist_work **work);

/*
 * dist_barrier completes on a rank only after every rank has entered it.
 * Errors: any group error.
 */
DIST_MUST_CHECK enum dist_error dist_barrier(struct dist_group *group,
					     struct dist_work **work);

/*
 * dist_monitored_barrier is dist_barrier with its own deadline, and names the
 * ranks that did not come. Every rank reports to rank 0, which answers those
 * that came. timeout_ns (DIST_TIMEOUT_OF_GROUP, DIST_TIMEOUT_NEVER, or a
 * positive number) counts from the call of rank 0; the other ranks wait for its
 * answer twice as long, each from its own call. The group's message names the
 * first missing rank, or with wait_all_ranks all of them; a rank that gets no
 * answer names rank 0. (torch names them on rank 0 only.) Blocking; slow on
 * many ranks.
 *
 * Errors: any group error (DIST_ERR_TIMEOUT, DIST_ERR_PEER_LOST: ranks are
 * missing); DIST_ERR_INVALID_ARGUMENT also for a negative timeout.
 */
DIST_MUST_CHECK enum dist_error dist_monitored_barrier(struct dist_group *group,
						       int64_t timeout_ns,
						       bool wait_all_ranks);

/*
 * dist_monitored_barrier_missing stores the ranks that the last monitored
 * barrier of group found missing, rising, in ranks, which has room for room of
 * them (NULL, 0: none). Returns how many were missing: 0 after a barrier that
 * succeeded, and for a NULL group.
 */
int dist_monitored_barrier_missing(const struct dist_group *group, int *ranks,
				   int room);

/*
 * dist_make_premul_sum makes a reduce op for calls on this group and stores it
 * in *op. The op multiplies this rank's input by factor, rounds to the dtype,
 * and adds the products of all ranks. Ranks may have different factors and
 * different values of *op: they must only agree that it is such an op. It lasts
 * until dist_free_premul_sum(), or until the group is destroyed. Does not
 * communicate. Errors: DIST_ERR_INVALID_ARGUMENT (NULL group or op, a NaN),
 * DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error dist_make_premul_sum(struct dist_group *group,
						     double factor,
						     enum dist_reduce_op *op);

/*
 * dist_free_premul_sum frees op; operations in flight keep their factor.
 * Errors: DIST_ERR_INVALID_ARGUMENT (NULL group, or op was not made for it).
 */
enum dist_error dist_free_premul_sum(struct dist_group *group,
				     enum dist_reduce_op op);

/*
 * In the collectives below the input, the output or both have a part for each
 * rank. A call whose name ends in _single takes the parts one after the other
 * in one tensor. The others take a list: an array of world size tensors,
 * indexed by rank, of one dtype. Lists and splits are borrowed like the
 * tensors' memory, until the operation is complete. Inputs are not written.
 * Output and input do not overlap, except in place, where the call allows it:
 * the single tensor is the rank's own part of the other side. All tensors of a
 * call are phantoms, or none is.
 */

/*
 * dist_all_gather_single copies the in of every rank into out on every rank,
 * rank 0's first. out.numel is world size times in.numel; in may be the
 * rank's own part of out. Same numel and dtype on every rank. What torch before
 * 2.13 calls all_gather_into_tensor. Errors: as dist_all_reduce;
 * DIST_ERR_INVALID_ARGUMENT also for lengths that do not fit or an overlap.
 */
DIST_MUST_CHECK enum dist_error dist_all_gather_single(struct dist_group *group,
						       struct dist_tensor out,
						       struct dist_tensor in,
						       struct dist_work **work);

/*
 * dist_all_gather copies the in of rank r into out_list[r] on every rank, for
 * all r. The ranks' ins may differ in length: out_list[r].numel is that of rank
 * r's in, on every rank. in may be out_list[rank]. Same dtype on every rank.
 * Errors: as dist_all_gather_single; DIST_ERR_INVALID_ARGUMENT also for a NULL
 * out_list.
 */
DIST_MUST_CHECK enum dist_error
dist_all_gather(struct dist_group *group, const struct dist_tensor *out_list,
		struct dist_tensor in, struct dist_work **work);

/*
 * dist_reduce_scatter_single combines in elementwise over all ranks and leaves
 * part r of the result in rank r's out. in.numel is world size times out.numel;
 * out may be the rank's own part of in. Same numel, dtype and op on every rank.
 * What torch before 2.13 calls reduce_scatter_tensor. Errors: as
 * dist_all_gather_single.
 */
DIST_MUST_CHECK enum dist_error
dist_reduce_scatter_single(struct dist_group *group, struct dist_tensor out,
			   struct dist_tensor in, enum dist_reduce_op op,
			   struct dist_work **work);

/*
 * dist_reduce_scatter combines in_list[r] elementwise over all ranks into rank
 * r's out, for all r. The parts may differ in length: in_list[r].numel is that
 * of rank r's out, on every rank. out may be in_list[rank]. Same dtype and op
 * on every rank. Errors: as dist_all_gather.
 */
DIST_MUST_CHECK enum dist_error
dist_reduce_scatter(struct dist_group *group, struct dist_tensor out,
		    const struct dist_tensor *in_list, enum dist_reduce_op op,
		    struct dist_work **work);

/*
 * dist_all_to_all_single sends part r of in to rank r, for all r, and puts what
 * comes from rank r into part r of out. out_splits and in_splits each hold
 * world size lengths of parts, 0 allowed, which add up to the tensor's numel;
 * NULL: equal parts. in_splits[r] is rank r's out_splits[rank], else
 * DIST_ERR_MISMATCH. in and out do not overlap. Same dtype on every rank.
 * Errors: as dist_all_gather_single.
 */
DIST_MUST_CHECK enum dist_error
dist_all_to_all_single(struct dist_group *group, struct dist_tensor out,
		       struct dist_tensor in, const size_t *out_splits,
		       const size_t *in_splits, struct dist_work **work);

/*
 * dist_all_to_all sends in_list[r] to rank r and receives from it into
 * out_list[r], for all r. in_list[r].numel is rank r's out_list[rank].numel,
 * else DIST_ERR_MISMATCH; the parts may differ in length otherwise. The lists
 * do not overlap. Same dtype on every rank. Errors: as dist_all_gather.
 */
DIST_MUST_CHECK enum dist_error
dist_all_to_all(struct dist_group *group, const struct dist_tensor *out_list,
		const struct dist_tensor *in_list, struct dist_work **work);

/*
 * dist_gather copies the in of rank r into out_list[r] on rank dst, for all r.
 * out_list is NULL on the other ranks; on dst all its tensors are as long as
 * in, which may be out_list[dst]. Same numel, dtype and dst on every rank.
 * Errors: as dist_all_gather; DIST_ERR_INVALID_ARGUMENT also for dst outside
 * the group.
 */
DIST_MUST_CHECK enum dist_error dist_gather(struct dist_group *group,
					    struct dist_tensor in,
					    const struct dist_tensor *out_list,
					    int dst, struct dist_work **work);

/*
 * dist_scatter copies in_list[r] of rank src into the out of rank r, for all r.
 * in_list is NULL on the other ranks; on src all its tensors are as long as
 * out, which may be in_list[src]. Same numel, dtype and src on every rank.
 * Errors: as dist_gather, src for dst.
 */
DIST_MUST_CHECK enum dist_error dist_scatter(struct dist_group *group,
					     struct dist_tensor out,
					     const struct dist_tensor *in_list,
					     int src, struct dist_work **work);

/* ---- several tensors in one call --------------------------------------- */

/*
 * The coalesced calls do num operations as one, with one handle, like torch's
 * _coalescing_manager. Over TCP and shared memory the tensors travel together,
 * so that small ones pay the latency once. All tensors have one dtype; all are
 * phantoms, or none is. They must not overlap, which is not checked. Lists are
 * borrowed until the operation is complete. num is 1 or more; num and the
 * length of each tensor are the same on every rank, else DIST_ERR_MISMATCH.
 * Errors of all: as the call on one tensor; DIST_ERR_INVALID_ARGUMENT also for
 * a NULL list, num 0, tensors of different dtypes; DIST_ERR_NO_MEMORY.
 */

/* dist_all_reduce_coalesced is dist_all_reduce of each of num tensors. */
DIST_MUST_CHECK enum dist_error
dist_all_reduce_coalesced(struct dist_group *group,
			  const struct dist_tensor *tensors, size_t num,
			  enum dist_reduce_op op, struct dist_work **work);

/* dist_broadcast_coalesced is dist_broadcast of each of num tensors. */
DIST_MUST_CHECK enum dist_error
dist_broadcast_coalesced(struct dist_group *group,
			 const struct dist_tensor *tensors, size_t num, int src,
			 struct dist_work **work);

/* dist_all_gather_single_coalesced is dist_all_gather_single of out[i] and
 * in[i], for each of num: out[i].numel is world size times in[i].numel. */
DIST_MUST_CHECK enum dist_error dist_all_gather_single_coalesced(
	struct dist_group *group, const struct dist_tensor *out,
	const struct dist_tensor *in, size_t num, struct dist_work **work);

/* dist_reduce_scatter_single_coalesced is dist_reduce_scatter_single of out[i]
 * and in[i], for each of num: in[i].numel is world size times out[i].numel. */
DIST_MUST_CHECK enum dist_error dist_reduce_scatter_single_coalesced(
	struct dist_group *group, const struct dist_tensor *out,
	const struct dist_tensor *in, size_t num, enum dist_reduce_op op,
	struct dist_work **work);

/*
 * The calls of torch 1.x for a process with several devices: num tensors, one a
 * device, of one length and dtype; num is the same on every rank. Device i of
 * rank r counts as number r * num + i of world size * num; AVG divides by that.
 * (torch's text for all_gather_multigpu says r * world size + i, its code does
 * this.) Otherwise as the coalesced calls.
 *
 * Over NCCL device i is the machine's number LOCAL_RANK * num + i, modulo its
 * devices; tensors that lie elsewhere are copied there, and back. A rank of a
 * simulation that is a process of its own has one device:
 * DIST_ERR_UNSUPPORTED.
 */

/* dist_all_reduce_multigpu combines the tensors of all devices of all ranks;
 * each of them then holds the result. */
DIST_MUST_CHECK enum dist_error
dist_all_reduce_multigpu(struct dist_group *group,
			 const struct dist_tensor *tensors, size_t num,
			 enum dist_reduce_op op, struct dist_work **work);

/* dist_reduce_multigpu combines the tensors of all devices of all ranks into
 * tensors[dst_device] of rank dst; no other changes. Errors: also
 * DIST_ERR_INVALID_ARGUMENT for dst_device outside 0 to num - 1. */
DIST_MUST_CHECK enum dist_error
dist_reduce_multigpu(struct dist_group *group,
		     const struct dist_tensor *tensors, size_t num, int dst,
		     int dst_device, enum dist_reduce_op op,
		     struct dist_work **work);

/* dist_broadcast_multigpu copies tensors[src_device] of rank src into all
 * others, of that rank too. Errors: as dist_reduce_multigpu. */
DIST_MUST_CHECK enum dist_error
dist_broadcast_multigpu(struct dist_group *group,
			const struct dist_tensor *tensors, size_t num, int src,
			int src_device, struct dist_work **work);

/* dist_all_gather_multigpu copies in[i] of rank r into out_lists[d][r * num +
 * i] for every device d: num lists of world size * num tensors. */
DIST_MUST_CHECK enum dist_error dist_all_gather_multigpu(
	struct dist_group *group, const struct dist_tensor *const *out_lists,
	const struct dist_tensor *in, size_t num, struct dist_work **work);

/* dist_reduce_scatter_multigpu combines in_lists[d][r * num + i] of all devices
 * d of all ranks into out[i] of rank r: num lists, as of all_gather. */
DIST_MUST_CHECK enum dist_error dist_reduce_scatter_multigpu(
	struct dist_group *group, const struct dist_tensor *out,
	const struct dist_tensor *const *in_lists, size_t num,
	enum dist_reduce_op op, struct dist_work **work);

/* ---- the rank's clock ------------------------------------------------- */

/*
 * dist_now_ns returns the rank's clock: simulated time since the start of the
 * job, or CLOCK_MONOTONIC. -1 for a NULL group. Only differences count.
 */
int64_t dist_now_ns(struct dist_group *group);

/*
 * dist_compute lets duration_ns pass on the rank's device. In simulation the
 * clock advances. Over TCP the rank sleeps, as it would wait for an
 * accelerator; when a sleep takes too long, later ones are shorter, so that the
 * sum is right. Over NCCL a kernel keeps the GPU busy (a sleep where the CUDA
 * runtime is older than 12.8). Operations in flight go on meanwhile. label
 * names the span in the trace and is never freed (a literal); NULL: "compute".
 * Errors: DIST_ERR_INVALID_ARGUMENT (NULL group, negative duration).
 */
enum dist_error dist_compute(struct dist_group *group, int64_t duration_ns,
			     const char *label);

/* ---- source lines ----------------------------------------------------- */

/*
 * dist_at and dist_work_at note that the next call on the handle is at
 * file:line, and return the handle. The macros below put them around every
 * call, so that a verdict can name the caller's source line;
 * (dist_barrier)(group, NULL) calls without them. file must live as long as the
 * job. A NULL handle is returned as it is.
 */
struct dist_group *dist_at(struct dist_group *group, const char *file,
			   int line);
struct dist_work *dist_work_at(struct dist_work *work, const char *file,
			       int line);

/*
 * dist_at_from is dist_at for a library that knows two lines: the call's own,
 * and the line of the program that led there. Verdicts name both: "at
 * model.py:41, from train.py:12". No from_file, or one line twice: dist_at.
 */
struct dist_group *dist_at_from(struct dist_group *group, const char *file,
				int line, const char *from_file, int from_line);

/*
 * dist_label notes what the next call on group is for, as the library that
 * makes it calls it ("bucket 2 (fc.bias, fc.weight) of step 7"), and returns
 * group; a NULL group is returned as it is. Verdicts print it with the call.
 * text is copied, cut to 111 bytes; NULL: none.
 *
 * terms is a hash of what all ranks must agree on beyond the arguments of a
 * collective; 0: nothing. It tells apart tensors of one shape that must not be
 * reduced with each other: different terms are a DIST_ERR_MISMATCH. Either all
 * ranks give terms, or none does. Messages ignore them.
 *
 *	dist_all_reduce(dist_label(group, "layer 3", 3), t, DIST_AVG, NULL);
 */
struct dist_group *dist_label(struct dist_group *group, const char *text,
			      uint64_t terms);

/*
 * dist_refuse is for a library over this one that refuses a call of its own.
 * text is the call's name, a colon and the reason. It becomes the group's
 * message and, with the line that dist_at() noted, is recorded, so that the
 * verdict on a job that fails because of it names it. Returns
 * DIST_ERR_INVALID_ARGUMENT.
 */
enum dist_error dist_refuse(struct dist_group *group, const char *text);

#define DIST_HERE(group) dist_at((group), __FILE__, __LINE__)
#define dist_init_process_group(...)                                           \
	(DIST_CALL_HERE, (dist_init_process_group)(__VA_ARGS__))
#define dist_destroy_process_group(group)                                      \
	(DIST_CALL_HERE, (dist_destroy_process_group)(group))
#define dist_all_reduce(group, ...)                                            \
	(dist_all_reduce)(DIST_HERE(group), __VA_ARGS__)
#define dist_reduce(group, ...) (dist_reduce)(DIST_HERE(group), __VA_ARGS__)
#define dist_broadcast(group, ...)                                             \
	(dist_broadcast)(DIST_HERE(group), __VA_ARGS__)
#define dist_barrier(group, ...) (dist_barrier)(DIST_HERE(group), __VA_ARGS__)
#define dist_monitored_barrier(group, ...)                                     \
	(dist_monitored_barrier)(DIST_HERE(group), __VA_ARGS__)
#define dist_all_reduce_coalesced(group, ...)                                  \
	(dist_all_reduce_coalesced)(DIST_HERE(group), __VA_ARGS__)
#define dist_broadcast_coalesced(group, ...)                                   \
	(dist_broadcast_coalesced)(DIST_HERE(group), __VA_ARGS__)
#define dist_all_gather_single_coalesced(group, ...)                           \
	(dist_all_gather_single_coalesced)(DIST_HERE(group), __VA_ARGS__)
#define dist_reduce_scatter_single_coalesced(group, ...)                       \
	(dist_reduce_scatter_single_coalesced)(DIST_HERE(group), __VA_ARGS__)
#define dist_all_reduce_multigpu(group, ...)                                   \
	(dist_all_reduce_multigpu)(DIST_HERE(group), __VA_ARGS__)
#define dist_reduce_multigpu(group, ...)                                       \
	(dist_reduce_multigpu)(DIST_HERE(group), __VA_ARGS__)
#define dist_broadcast_multigpu(group, ...)                                    \
	(dist_broadcast_multigpu)(DIST_HERE(group), __VA_ARGS__)
#define dist_all_gather_multigpu(group, ...)                                   \
	(dist_all_gather_multigpu)(DIST_HERE(group), __VA_ARGS__)
#define dist_reduce_scatter_multigpu(group, ...)                               \
	(dist_reduce_scatter_multigpu)(DIST_HERE(group), __VA_ARGS__)
#define dist_make_premul_sum(group, ...)                                       \
	(dist_make_premul_sum)(DIST_HERE(group), __VA_ARGS__)
#define dist_all_gather_single(group, ...)                                     \
	(dist_all_gather_single)(DIST_HERE(group), __VA_ARGS__)
#define dist_all_gather(group, ...)                                            \
	(dist_all_gather)(DIST_HERE(group), __VA_ARGS__)
#define dist_reduce_scatter_single(group, ...)                                 \
	(dist_reduce_scatter_single)(DIST_HERE(group), __VA_ARGS__)
#define dist_reduce_scatter(group, ...)                                        \
	(dist_reduce_scatter)(DIST_HERE(group), __VA_ARGS__)
#define dist_all_to_all_single(group, ...)                                     \
	(dist_all_to_all_single)(DIST_HERE(group), __VA_ARGS__)
#define dist_all_to_all(group, ...)                                            \
	(dist_all_to_all)(DIST_HERE(group), __VA_ARGS__)
#define dist_gather(group, ...)  (dist_gather)(DIST_HERE(group), __VA_ARGS__)
#define dist_scatter(group, ...) (dist_scatter)(DIST_HERE(group), __VA_ARGS__)
#define dist_new_group(parent, ...)                                            \
	(dist_new_group)(DIST_HERE(parent), __VA_ARGS__)
#define dist_new_subgroups_by_enumeration(parent, ...)                         \
	(dist_new_subgroups_by_enumeration)(DIST_HERE(parent), __VA_ARGS__)
#define dist_new_subgroups(parent, ...)                                        \
	(dist_new_subgroups)(DIST_HERE(parent), __VA_ARGS__)
#define dist_split_group(parent, ...)                                          \
	(dist_split_group)(DIST_HERE(parent), __VA_ARGS__)
#define dist_work_wait(work, timeout_ns)                                       \
	(dist_work_wait)(dist_work_at((work), __FILE__, __LINE__), timeout_ns)

#ifdef __cplusplus
}
#endif

#endif
