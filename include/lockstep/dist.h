/*
 * dist.h - collective communication between the ranks of one job.
 *
 * The words are torch.distributed's. A rank program is written once against
 * this header and runs in any world: simulated hosts and links ("sim"), real
 * TCP ("tcp"). Nothing here is global: every call takes its group, because
 * thousands of simulated ranks share one process.
 *
 *	static int rank_main(void *arg)
 *	{
 *		struct dist_group *group;
 *		float x[2] = {1, 2};
 *
 *		if (dist_init_process_group(NULL, &group))
 *			return 1;
 *		dist_all_reduce(group, dist_tensor(x, 2, DIST_FLOAT32),
 *				DIST_SUM, NULL);
 *		return dist_destroy_process_group(group) != DIST_OK;
 *	}
 *	int main(void) { return dist_launch(NULL, rank_main, NULL); }
 *
 * Conventions, said once:
 *
 * - Every fallible call returns enum dist_error: DIST_OK (0) or a negative
 *   code. dist_error_string() gives the words for a code,
 *   dist_error_message() the sentence for the last failure of a group.
 *   A call that fails stores nothing through its output pointers.
 * - The argument named work stands where torch has async_op. NULL: the call
 *   blocks until the operation is complete on this rank. Otherwise the call
 *   returns at once and *work is a handle that the caller waits for and frees.
 * - A tensor is a view: the caller owns the memory, which must stay valid and
 *   untouched until the operation is complete (the call returned, or a wait on
 *   its handle did).
 * - Operations of one group run in the order in which they were issued; all
 *   ranks must issue the same collectives in the same order.
 * - After an operation fails by timeout, mismatch, or a lost peer the group is
 *   poisoned: every later call on it returns DIST_ERR_ABORTED.
 * - Times are int64_t nanoseconds (_ns), sizes size_t bytes (_bytes), counts
 *   are elements (numel).
 * - A group and its work handles belong to one rank and one thread of it.
 *
 * "Any group error" below stands for: DIST_ERR_INVALID_ARGUMENT (a NULL group
 * or an argument outside its range), DIST_ERR_NO_MEMORY, DIST_ERR_TIMEOUT (the
 * deadline passed), DIST_ERR_MISMATCH (the ranks disagree about the
 * operation), DIST_ERR_PEER_LOST (another rank died or left),
 * DIST_ERR_DEADLOCK (simulation only: no rank can ever move),
 * DIST_ERR_ABORTED (the group failed earlier), DIST_ERR_IO (the wire failed
 * below us).
 */
#ifndef LOCKSTEP_DIST_H
#define LOCKSTEP_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DIST_MUST_CHECK __attribute__((warn_unused_result))
#else
#define DIST_MUST_CHECK
#endif

/* One member of a job, as one rank sees it. Opaque. */
struct dist_group;
/* One operation in flight. Opaque. */
struct dist_work;

enum dist_error {
	DIST_OK = 0,
	DIST_ERR_INVALID_ARGUMENT = -1, /* argument outside its legal range */
	DIST_ERR_UNSUPPORTED = -2,      /* legal, but not in this world */
	DIST_ERR_UNAVAILABLE = -3, /* back end not present on this machine */
	DIST_ERR_NO_MEMORY = -4,   /* allocation failed */
	DIST_ERR_TIMEOUT = -5,     /* not complete at its deadline */
	DIST_ERR_MISMATCH = -6,    /* ranks disagree about one operation */
	DIST_ERR_DEADLOCK = -7,    /* simulation: no rank can ever move */
	DIST_ERR_PEER_LOST = -8,   /* a rank died, or left too early */
	DIST_ERR_ABORTED = -9,     /* the group failed earlier */
	DIST_ERR_RENDEZVOUS = -10, /* the ranks did not find each other */
	DIST_ERR_IO = -11          /* the system below refused */
};

/* What an element is: floats, integers, bool. All in the machine's byte order,
 * aligned as C aligns them. */
enum dist_dtype {
	DIST_FLOAT16,  /* IEEE 754 binary16: 11 bits of precision */
	DIST_BFLOAT16, /* the upper half of a float32: 8 bits */
	DIST_FLOAT32,
	DIST_FLOAT64,
	DIST_INT8,
	DIST_UINT8,
	DIST_INT32,
	DIST_INT64,
	DIST_BOOL /* one byte, 0 or 1 */
};

/* How many there are, for tables by dtype. */
#define DIST_NUM_DTYPES (DIST_BOOL + 1)

/*
 * How elements of different ranks combine, and on which dtypes:
 *
 * SUM, PRODUCT	all. Integers wrap around. Of bool: or, and.
 * AVG		all but bool: the sum, divided by the world size. Integers are
 *		truncated towards zero, as NCCL's; the sum may have wrapped.
 * MIN, MAX	all. Of a NaN: that NaN. Of bool: and, or.
 * BAND, BOR, BXOR
 *		integers, bit by bit; bool, as a truth value.
 *
 * Any other pair is DIST_ERR_INVALID_ARGUMENT, with the legal dtypes in the
 * group's message; nothing is sent and the group goes on.
 *
 * float16 and bfloat16 combine in float32, and every step rounds back to the
 * nearest, ties to even: a long sum loses what the type cannot hold. AVG
 * divides that sum in float32 and rounds once. A NaN that SUM, PRODUCT or AVG
 * gives in these types is always 0x7e00, or 0x7fc0.
 *
 * Bools are truth values, not the uint8 that gloo makes of them: any byte but 0
 * counts as true, and what two of them combine to is 0 or 1.
 *
 * The order of combining follows from the algorithm, the world size, the root
 * and numel alone. So all ranks of an all-reduce hold the same bytes, in every
 * run, simulated and over TCP; another algorithm may round floats otherwise.
 */
enum dist_reduce_op {
	DIST_SUM,
	DIST_AVG,
	DIST_PRODUCT,
	DIST_MIN,
	DIST_MAX,
	DIST_BAND,
	DIST_BOR,
	DIST_BXOR
};

/* How many there are, for tables by op. */
#define DIST_NUM_REDUCE_OPS (DIST_BXOR + 1)

/*
 * A view of numel elements at data; passed by value, owns nothing. data may be
 * NULL in simulation: a phantom, of which only the size travels. Every rank of
 * an operation then passes a phantom; real worlds answer DIST_ERR_UNSUPPORTED.
 * A tensor of numel 0 is legal anywhere, whatever data is.
 */
struct dist_tensor {
	void *data;
	size_t numel;
	enum dist_dtype dtype;
};

/* Words about a failure, filled in by the calls that take one. */
struct dist_message {
	char text[512];
};

/* Exit status of a job, as dist_launch() and the lockstep command give it. */
enum dist_exit {
	DIST_EXIT_OK = 0,
	DIST_EXIT_FAILED = 1,     /* a rank returned non-zero; compare failed */
	DIST_EXIT_USAGE = 2,      /* bad input */
	DIST_EXIT_INTERNAL = 3,   /* a defect of ours */
	DIST_EXIT_MISMATCH = 10,  /* ranks disagree about an operation */
	DIST_EXIT_DEADLOCK = 11,  /* no rank can ever move */
	DIST_EXIT_TIMEOUT = 12,   /* late */
	DIST_EXIT_RANK_LOST = 13, /* a rank was killed or crashed */
	DIST_EXIT_RENDEZVOUS = 18, /* the ranks did not find each other */
	DIST_EXIT_SKIPPED = 77 /* the world asked for is not on this machine */
};

/* The deadline of the group applies. */
#define DIST_TIMEOUT_OF_GROUP ((int64_t)0)
/* No deadline at all. */
#define DIST_TIMEOUT_NEVER INT64_MAX
/* What torch gives a process group: 30 minutes. */
#define DIST_TIMEOUT_DEFAULT ((int64_t)1800 * 1000000000)

/* ---- starting and ending -------------------------------------------- */

/*
 * How to start the ranks of a job. All-zero (or a NULL pointer) means: as the
 * environment says, else the default. A field that is set wins over the
 * environment. Strings are borrowed until dist_launch() returns.
 */
struct dist_launch_options {
	const char *backend;   /* "sim" or "tcp"; $LOCKSTEP_BACKEND; "tcp" */
	int world_size;        /* number of ranks; $WORLD_SIZE; 1 */
	const char *platform;  /* sim: SimGrid XML; $LOCKSTEP_PLATFORM */
	const char *profile;   /* library profile, YAML; $LOCKSTEP_PROFILE */
	const char *algorithm; /* "all_reduce=ring,..."; $LOCKSTEP_ALGORITHM */
	const char *trace;     /* trace to write; $LOCKSTEP_TRACE; none */
	int64_t timeout_ns;    /* $LOCKSTEP_TIMEOUT (seconds); 30 minutes */
	bool prefix_output;    /* tcp: "[rank]: " before each line of output */
};

/*
 * dist_launch runs rank_main(arg) once per rank and returns the job's exit
 * status. Blocking.
 *
 * Simulated: every rank is an actor in this process. TCP: when RANK is already
 * in the environment (a launcher started this process as one rank) it runs
 * that one rank here; otherwise it forks world_size local processes, and when
 * one dies kills the others within two seconds. arg is shared between
 * simulated ranks, copied by fork between real ones.
 *
 * A rank whose rank_main returns non-zero, or dies, fails the job. A verdict
 * on a failed job (deadlock, timeout, rank lost, ...) and words about unusable
 * options go to stderr.
 *
 * Returns one of enum dist_exit: OK; FAILED (a rank returned non-zero, with no
 * verdict); USAGE (unusable options); MISMATCH, DEADLOCK, TIMEOUT, RANK_LOST,
 * RENDEZVOUS (verdicts); SKIPPED (back end not available); INTERNAL. In a
 * process that a launcher started as one rank: what rank_main returned.
 */
DIST_MUST_CHECK int dist_launch(const struct dist_launch_options *options,
				int (*rank_main)(void *arg), void *arg);

/*
 * How one rank joins its job. All-zero (or a NULL pointer) means: as the
 * launcher and the environment say. With world_size > 0 the fields rank and
 * world_size count instead of RANK and WORLD_SIZE. Strings are borrowed during
 * the call. message, when not NULL, receives a sentence about a failure.
 */
struct dist_init_options {
	const char *backend;     /* NULL: the launcher's, $LOCKSTEP_BACKEND */
	const char *init_method; /* "env://" or NULL */
	int rank;
	int world_size;
	int64_t timeout_ns; /* 0: the launcher's, else 30 minutes */
	struct dist_message *message;
};

/*
 * dist_init_process_group makes the default group, of all ranks of the job,
 * and stores it in *group; the caller owns it until
 * dist_destroy_process_group(). Blocks until every rank has joined (simulated
 * ranks have joined when they exist).
 *
 * Errors: DIST_ERR_INVALID_ARGUMENT (unknown back end or init method, a rank
 * outside the world, a malformed variable of the environment),
 * DIST_ERR_UNAVAILABLE (the back end is not on this machine),
 * DIST_ERR_RENDEZVOUS (not every rank came in time, two ranks of one number,
 * different world sizes, port taken), DIST_ERR_NO_MEMORY, DIST_ERR_IO.
 */
DIST_MUST_CHECK enum dist_error
dist_init_process_group(const struct dist_init_options *options,
			struct dist_group **group);

/*
 * dist_destroy_process_group waits for the operations still in flight, says
 * goodbye to the peers and frees the group; the pointer is dead afterwards,
 * also on failure. group may be NULL. Work handles must be freed before.
 *
 * Errors: the first error of an operation still in flight, of the "any group
 * error" kind. An earlier failure of the group is not reported again.
 */
enum dist_error dist_destroy_process_group(struct dist_group *group);

/*
 * dist_abort poisons the group on this rank: operations in flight end with
 * DIST_ERR_ABORTED, peers see this rank as lost. Does not free the group.
 * group may be NULL. Cannot fail.
 */
void dist_abort(struct dist_group *group);

/* ---- asking ----------------------------------------------------------- */

/* dist_get_rank returns this rank's number in group, 0 to world size - 1; -1
 * for a NULL group. */
int dist_get_rank(const struct dist_group *group);

/* dist_get_world_size returns the number of ranks in group; -1 for NULL. */
int dist_get_world_size(const struct dist_group *group);

/* dist_get_backend returns the name of the group's back end ("sim", "tcp"), a
 * string that lives for ever; NULL for a NULL group. */
const char *dist_get_backend(const struct dist_group *group);

/* dist_is_backend_available returns whether the named back end (any case) can
 * run on this machine; false for an unknown name or NULL. */
bool dist_is_backend_available(const char *backend);

/* dist_error_string returns the words for an error code, a string that lives
 * for ever; "unknown error" for a number that is none. */
const char *dist_error_string(enum dist_error error);

/* dist_error_message returns a sentence about the last failure of a call on
 * group, "" if there was none or group is NULL. Valid until the next call on
 * group. */
const char *dist_error_message(const struct dist_group *group);

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
 * The collectives below have a part for each rank on one side or on both. A
 * call whose name ends in _single takes the parts one after the other in one
 * tensor, the others a list: an array of world size tensors, numbered by rank,
 * of one dtype. Lists and splits are borrowed like the tensors' memory, until
 * the operation is complete. Inputs are not written to. Output and input do not
 * overlap, except that what a rank has one of may be its own part of the other
 * side (in place), where the call says so. All tensors of a call are phantoms,
 * or none is.
 */

/*
 * dist_all_gather_single copies the in of every rank into out on every rank:
 * in's of rank 0 first. out.numel is world size times in.numel; in may be the
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
 * comes from rank r into part r of out. out_splits and in_splits are the
 * lengths of the parts, world size of them each, 0 allowed, of which the sum is
 * the tensor's numel; NULL: equal parts. in_splits[r] is rank r's
 * out_splits[rank], else DIST_ERR_MISMATCH. in and out do not overlap. Same
 * dtype on every rank. Errors: as dist_all_gather_single.
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

/* ---- point to point --------------------------------------------------- */

/*
 * dist_send sends tensor to rank dst and blocks until the memory may be used
 * again. It matches the dist_recv or dist_irecv of the same tag on dst; equal
 * tags match in the order in which they were sent. tag is 0 or more. A rank
 * cannot send to itself. Errors: any group error (DIST_ERR_INVALID_ARGUMENT
 * also for dst outside the group or oneself, or a negative tag);
 * DIST_ERR_UNSUPPORTED (phantom in a real world).
 */
DIST_MUST_CHECK enum dist_error dist_send(struct dist_group *group,
					  struct dist_tensor tensor, int dst,
					  int tag);

/*
 * dist_recv receives into tensor what rank src sent with tag, and blocks until
 * it is there. numel and dtype must be the sender's, else DIST_ERR_MISMATCH.
 * Errors: as dist_send.
 */
DIST_MUST_CHECK enum dist_error dist_recv(struct dist_group *group,
					  struct dist_tensor tensor, int src,
					  int tag);

/*
 * dist_isend is dist_send without the blocking: *work, which the caller waits
 * for and frees, is complete when the memory may be used again. work must not
 * be NULL. Errors: as dist_send; those of the transfer come from the wait.
 */
DIST_MUST_CHECK enum dist_error dist_isend(struct dist_group *group,
					   struct dist_tensor tensor, int dst,
					   int tag, struct dist_work **work);

/*
 * dist_irecv is dist_recv without the blocking: *work, which the caller waits
 * for and frees, is complete when the data is there. work must not be NULL.
 * Errors: as dist_recv; those of the transfer come from the wait.
 */
DIST_MUST_CHECK enum dist_error dist_irecv(struct dist_group *group,
					   struct dist_tensor tensor, int src,
					   int tag, struct dist_work **work);

/* ---- work handles ----------------------------------------------------- */

/*
 * dist_work_wait blocks until work is complete or timeout_ns from now have
 * passed (DIST_TIMEOUT_OF_GROUP, DIST_TIMEOUT_NEVER, or a positive number).
 * The handle stays valid; waiting again returns the same answer. A timeout
 * here aborts the group, because the operation still holds the caller's
 * memory. Errors: those of the operation; DIST_ERR_TIMEOUT;
 * DIST_ERR_INVALID_ARGUMENT (NULL work, negative timeout).
 */
DIST_MUST_CHECK enum dist_error dist_work_wait(struct dist_work *work,
					       int64_t timeout_ns);

/*
 * dist_work_is_completed returns whether work has ended, well or not, without
 * blocking; true for NULL. In simulation an unsuccessful look costs a little
 * simulated time, so that a loop around it cannot stop the clock.
 */
bool dist_work_is_completed(struct dist_work *work);

/*
 * dist_work_error returns how work ended: DIST_OK if it did well or has not
 * ended yet; DIST_ERR_INVALID_ARGUMENT for NULL.
 */
enum dist_error dist_work_error(const struct dist_work *work);

/*
 * dist_work_free frees the handle. Work still in flight goes on and its memory
 * must stay valid until the group is destroyed. work may be NULL.
 */
void dist_work_free(struct dist_work *work);

/* ---- the rank's clock ------------------------------------------------- */

/*
 * dist_now_ns returns the rank's clock: simulated time since the start of the
 * job, or CLOCK_MONOTONIC. -1 for a NULL group. Differences count, not values.
 */
int64_t dist_now_ns(struct dist_group *group);

/*
 * dist_compute lets duration_ns pass on the rank's device: simulated time in
 * simulation, otherwise a sleep, which leaves the processor to others as a
 * busy accelerator does; what a sleep runs over, later ones make up for, so
 * that the sum holds. Operations in flight go on meanwhile. label names the
 * span in the trace (borrowed for ever: a literal); NULL: "compute".
 * Errors: DIST_ERR_INVALID_ARGUMENT (NULL group, negative duration).
 */
enum dist_error dist_compute(struct dist_group *group, int64_t duration_ns,
			     const char *label);

/* ---- source lines ----------------------------------------------------- */

/*
 * dist_at and dist_work_at note that the next call on the handle stands at
 * file:line, and return the handle. The macros below put them around every
 * call, so that a verdict can name the caller's source line; call a function
 * as (dist_barrier)(group, NULL) to go without. file and function must live as
 * long as the job. NULL handles pass through.
 */
struct dist_group *dist_at(struct dist_group *group, const char *file,
			   int line);
struct dist_work *dist_work_at(struct dist_work *work, const char *file,
			       int line);

#define DIST_HERE(group) dist_at((group), __FILE__, __LINE__)
#define dist_all_reduce(group, ...)                                            \
	(dist_all_reduce)(DIST_HERE(group), __VA_ARGS__)
#define dist_reduce(group, ...) (dist_reduce)(DIST_HERE(group), __VA_ARGS__)
#define dist_broadcast(group, ...)                                             \
	(dist_broadcast)(DIST_HERE(group), __VA_ARGS__)
#define dist_barrier(group, ...) (dist_barrier)(DIST_HERE(group), __VA_ARGS__)
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
#define dist_send(group, ...)    (dist_send)(DIST_HERE(group), __VA_ARGS__)
#define dist_recv(group, ...)    (dist_recv)(DIST_HERE(group), __VA_ARGS__)
#define dist_isend(group, ...)   (dist_isend)(DIST_HERE(group), __VA_ARGS__)
#define dist_irecv(group, ...)   (dist_irecv)(DIST_HERE(group), __VA_ARGS__)
#define dist_work_wait(work, timeout_ns)                                       \
	(dist_work_wait)(dist_work_at((work), __FILE__, __LINE__), timeout_ns)

#ifdef __cplusplus
}
#endif

#endif
