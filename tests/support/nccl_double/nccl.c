/*
 * nccl.c - an NCCL without GPUs: communicators between processes whose calls
 * really move what stands in the memory of the other double.
 *
 * It is as strict as the real one is and slower where that is lawful: a call on
 * a non-blocking communicator is always "in progress" until it is asked about,
 * and nothing is enqueued before; host memory given to a call is an illegal
 * address. Two ranks on one device are refused as the version does it: up to
 * 2.29 by those ranks alone, and always; from 2.30 on by all, unless the
 * environment has NCCL_MULTI_RANK_GPU_ENABLE=1.
 *
 * The environment of a process may hold DOUBLE_NCCL_VERSION, the version that
 * it finds (22809), and DOUBLE_FAIL=RANK:CALL:HOW. On the
 * process whose RANK that is, the communication call of that number (from 1)
 * fails: "return" (it returns an error), "async" (an error comes from behind
 * and it never ends), "hang" (it never ends), or does not: "late" (it ends long
 * after those of the others). With HOW "init" the communicator of that number
 * fails, with "join" it is never complete.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/reduce.h"
#include "scenarios/element.h"
#include "tests/support/nccl_double/cudart.h"
#include "tests/support/nccl_double/exchange.h"

#define EXPORT     __attribute__((visibility("default")))
#define MOST_CALLS 1024 /* of a group */
#define FIRST_OP   5
#define MOST_OPS   4
#define LATE       500 /* dozes */
#define MAGIC      0xcafebeefu
#define UNDEF      (-2147483647 - 1)

enum {
	SUCCESS,
	CUDA_ERROR,
	SYSTEM_ERROR,
	INTERNAL_ERROR,
	INVALID_ARGUMENT,
	INVALID_USAGE,
	REMOTE_ERROR,
	IN_PROGRESS
};

enum kind {
	ALL_REDUCE,
	REDUCE,
	BROADCAST,
	ALL_GATHER,
	REDUCE_SCATTER,
	SEND,
	RECV
};

struct call {
	enum kind kind;
	const void *in;
	void *out;
	size_t count;
	unsigned type, op;
	int peer;      /* or root */
	double factor; /* of an op that the communicator made; else 0 */
};

struct unique_id {
	char name[128];
};

struct config {
	size_t size;
	unsigned magic, version;
	int blocking;
};

struct ncclComm {
	struct exchange *exchange;
	int size, rank, device;
	bool blocking;
	bool joined, finalized;
	atomic_bool aborted, stuck; /* stuck: a call that never ends */
	atomic_int jobs;            /* enqueued, not ended */
	unsigned error;             /* from behind */
	struct launch *launch;      /* in progress: not enqueued yet */
	double factors[MOST_OPS];   /* of the ops that it made; 0: unused */
};

/* Calls that were made as one. */
struct launch {
	struct launch *next; /* of other communicators in the group */
	struct ncclComm *comm;
	struct CUstream_st *stream;
	bool hang, late;
	size_t num_calls;
	struct call calls[];
};

static __thread unsigned depth; /* of groups */
static __thread struct launch *open_launches;
static _Thread_local char last_error[160];

static atomic_int num_launches, num_comms;

/* ---- faults that were ordered ------------------------------------------ */

/* Whether number of this process is to fail, and how. */
static bool is_ordered(int number, const char *how)
{
	const char *order = getenv("DOUBLE_FAIL"), *me = getenv("RANK");
	int rank, nth;
	char word[16];

	return order && me &&
	       sscanf(order, "%d:%d:%15s", &rank, &nth, word) == 3 &&
	       rank == atoi(me) && nth == number && strcmp(word, how) == 0;
}

static unsigned fail(unsigned error, const char *text)
{
	snprintf(last_error, sizeof last_error, "%s", text);
	return error;
}

/* ---- asking ------------------------------------------------------------ */

static int version_found(void)
{
	const char *text = getenv("DOUBLE_NCCL_VERSION");

	return text && *text ? atoi(text) : 22809;
}

EXPORT unsigned ncclGetVersion(int *version)
{
	*version = version_found();
	return SUCCESS;
}

EXPORT const char *ncclGetErrorString(unsigned result)
{
	static const char *const text[] = {
		"no error",
		"unhandled cuda error",
		"unhandled system error",
		"internal error",
		"invalid argument",
		"invalid usage",
		"remote process exited or there was a network error",
		"NCCL operation in progress"};

	return result < sizeof text / sizeof *text ? text[result] : "?";
}

EXPORT const char *ncclGetLastError(struct ncclComm *comm)
{
	(void)comm;
	return last_error;
}

EXPORT unsigned ncclGetUniqueId(struct unique_id *id)
{
	static atomic_uint counter;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	memset(id, 0, sizeof *id);
	snprintf(id->name, sizeof id->name, "/lockstep-double-%ld-%u-%lld",
		 (long)getpid(), atomic_fetch_add(&counter, 1),
		 (long long)now.tv_nsec);
	return SUCCESS;
}

/* ---- communicators ----------------------------------------------------- */

EXPORT unsigned ncclCommInitRankConfig(struct ncclComm **comm, int size,
				       struct unique_id id, int rank,
				       struct config *config)
{
	int number = atomic_fetch_add(&num_comms, 1) + 1;
	struct ncclComm *fresh;

	if (config->magic != MAGIC || config->size < sizeof *config ||
	    rank < 0 || rank >= size || config->blocking == UNDEF)
		return fail(INVALID_ARGUMENT,
			    "bad arguments of a communicator");
	fresh = calloc(1, sizeof *fresh);
	fresh->size = size;
	fresh->rank = rank;
	fresh->device = double_device();
	fresh->exchange = exchange_join(id.name, size, rank, fresh->device);
	if (is_ordered(number, "init"))
		fresh->error = SYSTEM_ERROR;
	fresh->stuck = is_ordered(number, "join");
	*comm = fresh;
	return IN_PROGRESS;
}

static unsigned check_devices(struct ncclComm *comm)
{
	const char *allowed = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
	int other, rank = exchange_duplicate(comm->exchange, &other);
	bool is_new = version_found() >= 23000;

	if (rank < 0 || (is_new && allowed && atoi(allowed) == 1))
		return SUCCESS;
	if (is_new)
		return fail(INVALID_USAGE,
			    "Multiple Ranks are using the same GPU/Partition. "
			    "Set NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this "
			    "configuration.");
	if (comm->rank != rank && comm->rank != other)
		return IN_PROGRESS; /* for ever */
	snprintf(last_error, sizeof last_error,
		 "Duplicate GPU detected : rank %d and rank %d both on CUDA "
		 "device 1000",
		 comm->rank, comm->rank == rank ? other : rank);
	return INVALID_USAGE;
}

static void run_launch(void *arg);

EXPORT unsigned ncclCommGetAsyncError(struct ncclComm *comm, unsigned *result)
{
	struct launch *launch = comm->launch;

	*result = comm->error;
	if (comm->error)
		return SUCCESS;
	if (!comm->joined) {
		if (comm->stuck || !exchange_all_here(comm->exchange)) {
			*result = IN_PROGRESS;
			return SUCCESS;
		}
		*result = check_devices(comm);
		comm->joined = *result == SUCCESS;
		if (*result != IN_PROGRESS)
			comm->error = *result;
		return SUCCESS;
	}
	comm->launch = NULL;
	if (launch && cudaLaunchHostFunc(launch->stream, run_launch, launch))
		*result = comm->error = CUDA_ERROR;
	if (comm->finalized && atomic_load(&comm->jobs) > 0)
		*result = IN_PROGRESS;
	return SUCCESS;
}

EXPORT unsigned ncclCommFinalize(struct ncclComm *comm)
{
	if (comm->finalized || !comm->joined)
		return fail(INVALID_USAGE, "finalize out of order");
	comm->finalized = true;
	return IN_PROGRESS;
}

static void doze(void)
{
	struct timespec moment = {.tv_nsec = 200000};

	nanosleep(&moment, NULL);
}

static void comm_free(struct ncclComm *comm)
{
	while (atomic_load(&comm->jobs) > 0)
		doze();
	exchange_leave(comm->exchange);
	free(comm->launch);
	free(comm);
}

EXPORT unsigned ncclCommDestroy(struct ncclComm *comm)
{
	if (!comm->finalized)
		return fail(INVALID_USAGE, "destroy without finalize");
	comm_free(comm);
	return SUCCESS;
}

EXPORT unsigned ncclCommAbort(struct ncclComm *comm)
{
	atomic_store(&comm->aborted, true);
	if (comm->launch)
		atomic_fetch_sub(&comm->jobs, 1);
	comm_free(comm);
	return SUCCESS;
}

/* ---- on the stream ----------------------------------------------------- */

/* A call at work: its memory where it can be touched. */
struct working {
	const struct call *call;
	enum dist_dtype dtype;
	size_t bytes; /* of count elements */
	char *in, *out;
	char *scratch; /* what the others gave, by rank */
	char *scaled;  /* in, times the factor */
};

struct plan {
	struct ncclComm *comm;
	struct transfer *transfers;
	size_t count;
};

static enum dist_dtype dtype_of(unsigned type)
{
	switch (type) {
	case 0:
		return DIST_INT8;
	case 1:
		return DIST_UINT8;
	case 2:
		return DIST_INT32;
	case 3:
		return DIST_UINT32;
	case 4:
		return DIST_INT64;
	case 5:
		return DIST_UINT64;
	case 6:
		return DIST_FLOAT16;
	case 7:
		return DIST_FLOAT32;
	case 8:
		return DIST_FLOAT64;
	default:
		return DIST_BFLOAT16;
	}
}

static void add(struct plan *plan, bool out, int peer, char *data, size_t bytes)
{
	plan->transfers[plan->count++] = (struct transfer){
		.out = out, .peer = peer, .data = data, .bytes = bytes};
}

/* Room for the parts of all ranks, this one's included. */
static void gather_parts(struct plan *plan, struct working *w, char *own)
{
	struct ncclComm *comm = plan->comm;

	w->scratch = malloc((size_t)comm->size * w->bytes);
	for (int rank = 0; rank < comm->size; rank++) {
		char *place = w->scratch + (size_t)rank * w->bytes;

		if (rank == comm->rank)
			memcpy(place, own, w->bytes);
		else
			add(plan, false, rank, place, w->bytes);
	}
}

/* What goes in, times the factor. */
static void scale(const struct ncclComm *comm, struct working *w)
{
	bool scatters = w->call->kind == REDUCE_SCATTER;
	size_t parts = scatters ? (size_t)comm->size : 1;

	if (w->call->factor == 0 || !w->in)
		return;
	w->scaled = malloc(parts * w->bytes);
	memcpy(w->scaled, w->in, parts * w->bytes);
	dist__scale(w->dtype, w->scaled, parts * w->call->count,
		    w->call->factor);
	w->in = w->scaled;
}

/* One length to all, or another part to each. */
static void send_to_all(struct plan *plan, struct working *w, size_t stride)
{
	for (int rank = 0; rank < plan->comm->size; rank++)
		if (rank != plan->comm->rank)
			add(plan, true, rank, w->in + (size_t)rank * stride,
			    w->bytes);
}

static void plan_all_gather(struct plan *plan, struct working *w)
{
	struct ncclComm *comm = plan->comm;

	send_to_all(plan, w, 0);
	for (int rank = 0; rank < comm->size; rank++) {
		char *place = w->out + (size_t)rank * w->bytes;

		if (rank == comm->rank)
			memmove(place, w->in, w->bytes);
		else
			add(plan, false, rank, place, w->bytes);
	}
}

static void plan_broadcast(struct plan *plan, struct working *w)
{
	if (w->call->peer != plan->comm->rank) {
		add(plan, false, w->call->peer, w->out, w->bytes);
		return;
	}
	send_to_all(plan, w, 0);
	memmove(w->out, w->in, w->bytes);
}

static void plan_call(struct plan *plan, struct working *w)
{
	struct ncclComm *comm = plan->comm;

	switch (w->call->kind) {
	case ALL_REDUCE:
		send_to_all(plan, w, 0);
		gather_parts(plan, w, w->in);
		break;
	case REDUCE:
		if (w->call->peer == comm->rank)
			gather_parts(plan, w, w->in);
		else
			add(plan, true, w->call->peer, w->in, w->bytes);
		break;
	case BROADCAST:
		plan_broadcast(plan, w);
		break;
	case ALL_GATHER:
		plan_all_gather(plan, w);
		break;
	case REDUCE_SCATTER:
		send_to_all(plan, w, w->bytes);
		gather_parts(plan, w, w->in + (size_t)comm->rank * w->bytes);
		break;
	case SEND:
		add(plan, true, w->call->peer, w->in, w->bytes);
		break;
	case RECV:
		add(plan, false, w->call->peer, w->out, w->bytes);
		break;
	}
}

/* Combines what was gathered, in the order of the ranks. */
static void combine(const struct ncclComm *comm, struct working *w)
{
	static const enum dist_reduce_op ops[] = {DIST_SUM, DIST_PRODUCT,
						  DIST_MAX, DIST_MIN, DIST_AVG};
	enum dist_reduce_op op = ops[w->call->op];

	if (!w->scratch)
		return;
	for (int rank = 1; rank < comm->size; rank++)
		dist__reduce(w->dtype, op, w->scratch,
			     w->scratch + (size_t)rank * w->bytes,
			     w->call->count);
	if (op == DIST_AVG)
		dist__divide(w->dtype, w->scratch, w->call->count, comm->size);
	memcpy(w->out, w->scratch, w->bytes);
	free(w->scratch);
}

/* Finds the memory of a call; false: some of it is not the device's. */
static bool reach(const struct ncclComm *comm, struct working *w)
{
	const struct call *call = w->call;
	size_t parts = (size_t)comm->size;
	bool root = call->peer == comm->rank;
	bool reads = call->kind == BROADCAST ? root : call->kind != RECV;
	bool writes = call->kind == REDUCE ? root : call->kind != SEND;

	w->dtype = dtype_of(call->type);
	w->bytes = call->count * dist_dtype_size(w->dtype);
	if (reads)
		w->in = double_reach(comm->device, call->in,
				     call->kind == REDUCE_SCATTER
					     ? parts * w->bytes
					     : w->bytes);
	if (writes)
		w->out = double_reach(
			comm->device, call->out,
			call->kind == ALL_GATHER ? parts * w->bytes : w->bytes);
	return (w->in || !reads) && (w->out || !writes);
}

static void work(struct launch *launch)
{
	struct ncclComm *comm = launch->comm;
	size_t most = 2 * launch->num_calls * (size_t)comm->size;
	struct working *works = calloc(launch->num_calls, sizeof *works);
	struct plan plan = {.comm = comm};
	size_t ready = 0;

	plan.transfers = calloc(most, sizeof *plan.transfers);
	for (; ready < launch->num_calls; ready++) {
		works[ready].call = &launch->calls[ready];
		if (!reach(comm, &works[ready]))
			break;
		scale(comm, &works[ready]);
		plan_call(&plan, &works[ready]);
	}
	if (ready == launch->num_calls)
		exchange_run(comm->exchange, plan.transfers, plan.count,
			     &comm->aborted);
	for (size_t i = 0; i < ready; i++) {
		if (!atomic_load(&comm->aborted))
			combine(comm, &works[i]);
		else
			free(works[i].scratch);
		free(works[i].scaled);
	}
	free(plan.transfers);
	free(works);
}

static void run_launch(void *arg)
{
	struct launch *launch = arg;
	struct ncclComm *comm = launch->comm;

	while (launch->hang && !atomic_load(&comm->aborted))
		doze();
	if (!atomic_load(&comm->aborted))
		work(launch);
	for (int i = 0; launch->late && i < LATE && !comm->aborted; i++)
		doze();
	free(launch);
	atomic_fetch_sub(&comm->jobs, 1);
}

/* ---- reduce operations with a factor ----------------------------------- */

EXPORT unsigned ncclRedOpCreatePreMulSum(unsigned *op, void *factor,
					 unsigned type, unsigned residence,
					 struct ncclComm *comm)
{
	unsigned i = 0;

	while (i < MOST_OPS && comm->factors[i] != 0)
		i++;
	if (residence != 1 || comm->launch || i == MOST_OPS)
		return fail(INVALID_USAGE, "no room for an operation");
	comm->factors[i] = element_load(dtype_of(type), factor, 0);
	*op = FIRST_OP + i;
	return SUCCESS;
}

EXPORT unsigned ncclRedOpDestroy(unsigned op, struct ncclComm *comm)
{
	if (op < FIRST_OP || op >= FIRST_OP + MOST_OPS ||
	    comm->factors[op - FIRST_OP] == 0)
		return fail(INVALID_ARGUMENT, "no such operation");
	comm->factors[op - FIRST_OP] = 0;
	return SUCCESS;
}

/* ---- calls ------------------------------------------------------------- */

EXPORT unsigned ncclGroupStart(void)
{
	depth++;
	return SUCCESS;
}

static unsigned end_launch(struct launch *launch)
{
	struct ncclComm *comm = launch->comm;
	int number = atomic_fetch_add(&num_launches, 1) + 1;

	if (is_ordered(number, "return")) {
		free(launch);
		return fail(SYSTEM_ERROR, "a failure that was ordered");
	}
	if (is_ordered(number, "async")) {
		comm->error = REMOTE_ERROR;
		(void)fail(REMOTE_ERROR, "a failure that was ordered");
	}
	launch->hang = comm->error || is_ordered(number, "hang");
	launch->late = is_ordered(number, "late");
	atomic_fetch_add(&comm->jobs, 1);
	comm->launch = launch;
	return IN_PROGRESS;
}

EXPORT unsigned ncclGroupEnd(void)
{
	unsigned status = SUCCESS, end;
	struct launch *launch;

	if (depth == 0)
		return fail(INVALID_USAGE, "the end of no group");
	if (--depth > 0)
		return SUCCESS;
	while ((launch = open_launches) != NULL) {
		open_launches = launch->next;
		end = end_launch(launch);
		if (status == SUCCESS || end != IN_PROGRESS)
			status = end;
	}
	return status;
}

/* The calls on comm of the group that is open. */
static struct launch *launch_of(struct ncclComm *comm,
				struct CUstream_st *stream)
{
	struct launch *launch = open_launches;

	while (launch && launch->comm != comm)
		launch = launch->next;
	if (launch)
		return launch;
	launch = calloc(1, sizeof *launch + MOST_CALLS * sizeof(struct call));
	launch->comm = comm;
	launch->stream = stream;
	launch->next = open_launches;
	open_launches = launch;
	return launch;
}

static unsigned append(struct ncclComm *comm, struct CUstream_st *stream,
		       struct call call)
{
	struct launch *launch;

	if (double_stream_device(stream) != comm->device)
		return fail(INVALID_USAGE, "a stream of another device");
	if (!comm->joined || comm->launch || comm->finalized)
		return fail(INVALID_USAGE, "a call on a busy communicator");
	if (call.peer >= comm->size)
		return fail(INVALID_ARGUMENT, "no such rank");
	if (call.op >= FIRST_OP) {
		call.factor = comm->factors[call.op - FIRST_OP];
		call.op = 0;
	}
	launch = launch_of(comm, stream);
	if (launch->stream != stream || launch->num_calls == MOST_CALLS)
		return fail(INVALID_USAGE, "more than the double can do");
	launch->calls[launch->num_calls++] = call;
	return SUCCESS;
}

/* One call alone is a group of one. */
static unsigned enter(struct ncclComm *comm, struct CUstream_st *stream,
		      struct call call)
{
	unsigned status, end;

	(void)ncclGroupStart();
	status = append(comm, stream, call);
	end = ncclGroupEnd();
	return status ? status : end;
}

EXPORT unsigned ncclAllReduce(const void *in, void *out, size_t count,
			      unsigned type, unsigned op, struct ncclComm *comm,
			      struct CUstream_st *stream)
{
	return enter(
		comm, stream,
		(struct call){ALL_REDUCE, in, out, count, type, op, -1, 0});
}

/* NOLINTNEXTLINE(readability-function-size): as many as the real one */
EXPORT unsigned ncclReduce(const void *in, void *out, size_t count,
			   unsigned type, unsigned op, int root,
			   struct ncclComm *comm, struct CUstream_st *stream)
{
	return enter(comm, stream,
		     (struct call){REDUCE, in, out, count, type, op, root, 0});
}

EXPORT unsigned ncclBroadcast(const void *in, void *out, size_t count,
			      unsigned type, int root, struct ncclComm *comm,
			      struct CUstream_st *stream)
{
	return enter(
		comm, stream,
		(struct call){BROADCAST, in, out, count, type, 0, root, 0});
}

EXPORT unsigned ncclAllGather(const void *in, void *out, size_t count,
			      unsigned type, struct ncclComm *comm,
			      struct CUstream_st *stream)
{
	return enter(comm, stream,
		     (struct call){ALL_GATHER, in, out, count, type, 0, -1, 0});
}

EXPORT unsigned ncclReduceScatter(const void *in, void *out, size_t count,
				  unsigned type, unsigned op,
				  struct ncclComm *comm,
				  struct CUstream_st *stream)
{
	return enter(
		comm, stream,
		(struct call){REDUCE_SCATTER, in, out, count, type, op, -1, 0});
}

EXPORT unsigned ncclSend(const void *in, size_t count, unsigned type, int peer,
			 struct ncclComm *comm, struct CUstream_st *stream)
{
	return enter(comm, stream,
		     (struct call){SEND, in, NULL, count, type, 0, peer, 0});
}

EXPORT unsigned ncclRecv(void *out, size_t count, unsigned type, int peer,
			 struct ncclComm *comm, struct CUstream_st *stream)
{
	return enter(comm, stream,
		     (struct call){RECV, NULL, out, count, type, 0, peer, 0});
}
