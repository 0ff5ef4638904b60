/*
 * bed.h - what the cases of remote calls stand on: a rank with its rpc and its
 * functions, and calls that expect to end well.
 *
 * A case is called after the one of torch's rpc_test that it stands for. It
 * runs on every rank of a job of its own, in simulation and over TCP.
 */
#ifndef LOCKSTEP_TESTS_RPC_BED_H
#define LOCKSTEP_TESTS_RPC_BED_H

#include <stdatomic.h>

#include "lockstep/rpc.h"

#define MS     ((int64_t)1000000)
#define SECOND (1000 * MS)

/* A rank at a case. Its functions have it as their context. */
struct bed {
	const char *name; /* of the case */
	struct dist_group *group;
	struct dist_rpc *rpc; /* NULL: the case has shut it down */
	int rank, world;
	atomic_bool failed;
	atomic_int served, serving, most_at_once;
	_Atomic(struct dist_rref *) kept; /* of keep_rref */
};

struct rpc_case {
	const char *name;
	void (*run)(struct bed *b);
	int world;                       /* 0: 4, as torch's */
	bool bare;                       /* it begins and ends rpc itself */
	int status;                      /* enum dist_exit of the job */
	const char *text;                /* in what is said; NULL: silence */
	bool ends_inside;                /* a function ends its process */
	struct dist_rpc_options options; /* unless it is bare */
};

/* The case of a function that is called as torch's. */
#define CASE(function) .name = "test_" #function, .run = (function)

/* The cases of the files of this folder; each ends with a NULL name. */
extern const struct rpc_case rpc_call_cases[], rpc_future_cases[],
	rpc_rref_cases[], rpc_life_cases[], rpc_error_cases[];

/* bed_launch runs the job of a case, and returns its enum dist_exit. */
int bed_launch(const struct rpc_case *c, const char *backend);

/* bed_functions stores the functions of functions.c, with b as their context,
 * in room for bed_num_functions. */
extern const int bed_num_functions;
void bed_functions(struct bed *b, struct dist_rpc_entry *entries);

/* ---- what is expected ------------------------------------------------- */

#define expect(b, what) bed_expect(b, what, #what, __FILE__, __LINE__)
bool bed_expect(struct bed *b, bool right, const char *what, const char *file,
		int line);

/* ok expects DIST_OK of a call, and fails_with an error whose words contain
 * words (NULL: whatever). Both return whether it was so. */
#define ok(b, call) bed_ok(b, call, #call, __FILE__, __LINE__)
bool bed_ok(struct bed *b, enum dist_error error, const char *what,
	    const char *file, int line);
#define fails_with(b, expected, words, call)                                   \
	bed_fails(b, expected, words, call, #call, __FILE__, __LINE__)
bool bed_fails(struct bed *b, enum dist_error expected, const char *words,
	       enum dist_error error, const char *what, const char *file,
	       int line);

/* ---- calls ------------------------------------------------------------- */

/* The worker that is n ranks further. */
static inline int next(const struct bed *b, int n)
{
	return (b->rank + n) % b->world;
}

/* A request whose argument is numbers. */
#define NUMBERS(...) ((const int64_t[]){__VA_ARGS__})
#define REQUEST(worker, name, ...)                                             \
	(&(struct dist_rpc_request){.to = (worker),                            \
				    .function = (name),                        \
				    .data = NUMBERS(__VA_ARGS__),              \
				    .bytes = sizeof NUMBERS(__VA_ARGS__)})

/* What functions that take references have as their argument, and what those
 * that give references reply. */
struct wire {
	struct dist_rref_fork forks[2];
	int64_t numbers[3];
};
#define WIRE(worker, name, message)                                            \
	(&(struct dist_rpc_request){.to = (worker),                            \
				    .function = (name),                        \
				    .data = (message),                         \
				    .bytes = sizeof(struct wire)})

enum mode { SYNC, ASYNC, REMOTE, MODES };

/* bed_call calls in a mode, expects it to end well, and returns the number that
 * came of it. */
int64_t bed_call(struct bed *b, enum mode mode,
		 const struct dist_rpc_request *request);

/* bed_remote and bed_async begin a call that is right. */
struct dist_rref *bed_remote(struct bed *b,
			     const struct dist_rpc_request *request);
struct dist_rpc_future *bed_async(struct bed *b,
				  const struct dist_rpc_request *request);

/* bed_here and bed_wait return the number that comes of it, and free it. */
int64_t bed_here(struct bed *b, struct dist_rref *rref);
int64_t bed_wait(struct bed *b, struct dist_rpc_future *future);

/* bed_new makes a reference to a number of this rank. */
struct dist_rref *bed_new(struct bed *b, int64_t number);
struct dist_rref_fork bed_fork(struct bed *b, struct dist_rref *rref);
struct dist_rref *bed_take(struct bed *b, const struct dist_rref_fork *fork);

/* bed_number returns the number that bytes are, or -1. */
int64_t bed_number(struct bed *b, struct dist_rpc_bytes bytes);

/* bed_begin makes b->rpc with all functions, before anybody calls; bed_end
 * shuts it down. */
bool bed_begin(struct bed *b, struct dist_rpc_options options);
void bed_end(struct bed *b, bool graceful);

#endif
