/*
 * remote.h - the record that a rank keeps of remote calls (lockstep/rpc.h): the
 * calls it serves and waits for, and the references it holds. Part of its slot
 * (record.h).
 *
 * A call is identified by the global rank of its caller and a number, 1 or
 * more, that no other call of that rank has. A call that leaves its value with
 * the callee has the value's number, so that a rank that waits by a reference
 * can name it. What is recorded of a call:
 *
 *	caller                      callee
 *	check_rpc_wait()            check_rpc_queue()  the request has come
 *	     |                      check_rpc_run()    a worker thread took it
 *	     |                      check_rpc_served() the reply is sent
 *	check_rpc_wait_end()
 *
 * A call that the callee has no record of is in flight, or answered: no rank is
 * blamed for it. So the callee records every request before a thread can take
 * it, and the end of every call before its reply is sent.
 *
 * A wait of the rank's own thread is also one of its calls (record.h): a wait
 * and its end are also check_issue(), check_wait(), check_end() and
 * check_resume().
 *
 * Several threads of a rank may call this: the caller locks the slot with the
 * lock of its rpc. A slot has room for one rpc at a time. Nothing here
 * allocates or fails; what finds no room counts as unknown.
 */
#ifndef LOCKSTEP_CHECK_REMOTE_H
#define LOCKSTEP_CHECK_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

struct check_slot;

/* Calls served or queued, waits, and references that a slot has room for. */
#define CHECK_SERVINGS   64
#define CHECK_WAITS      32
#define CHECK_REFERENCES 16
/* Bytes of the name of a worker or a function, with its zero; cut short. */
#define CHECK_RPC_NAME 40
/* The place of an entry that found no room. All functions ignore it. */
#define CHECK_NOWHERE UINT32_MAX

/* A line of the source; "" and 0 when not known. Of a path that is too long the
 * end is kept. */
struct check_site {
	char file[60];
	int32_t line;
};

/* The thread that waits: BY_OWN: the one that made the rpc; BY_OTHER: any other
 * of the program, or one that runs a function given to dist_rpc_then(); 0 or
 * more: one that serves the call with that place of check_rpc_queue(), where
 * CHECK_NOWHERE is BY_OTHER. */
enum { CHECK_BY_OTHER = -1, CHECK_BY_OWN = -2 };

enum check_rpc_state {
	CHECK_RPC_NONE,   /* no rpc here, so far */
	CHECK_RPC_JOINED, /* calls and serves */
	CHECK_RPC_ENDING, /* waits in a graceful shutdown, and serves */
	CHECK_RPC_ENDED   /* serves no more */
};

enum check_serving_state {
	CHECK_SERVING_NONE,   /* no call */
	CHECK_SERVING_QUEUED, /* waits for a worker thread */
	CHECK_SERVING_RUNNING /* its function runs, or waits in a call */
};

/* A call that the rank serves. */
struct check_serving {
	uint32_t state;   /* enum check_serving_state */
	uint32_t place;   /* returned by check_rpc_queue() */
	int32_t caller;   /* global rank */
	uint64_t call;    /* the caller's number of it */
	int64_t since_ns; /* it came, or its function began */
	char function[CHECK_RPC_NAME];
};

enum check_wait_state {
	CHECK_WAIT_NONE,
	CHECK_WAITS_STILL,
	CHECK_WAIT_FAILED /* with error; its thread has not called since */
};

/* A wait for a remote call. */
struct check_rpc_wait {
	uint32_t state; /* enum check_wait_state; set here */
	int32_t by;     /* CHECK_BY_*, or the place of a serving */
	int32_t worker; /* global rank that serves the call; -1: all of them, in
			   a graceful shutdown */
	int32_t caller; /* global rank of the caller: this rank, or the one that
			   created the reference, */
	uint64_t call;  /* and its number of the call; 0: unknown */
	uint32_t number; /* BY_OWN: of the rank's call; set here */
	int32_t error;   /* enum dist_error, once it failed */
	int64_t since_ns, ended_ns;
	int64_t timeout_ns; /* of the call; 0: unknown, or never */
	uint32_t gives_up;  /* 1: the program chose timeout_ns for the call */
	char op[16];        /* "rpc_sync", "wait", "to_here", ... */
	char function[CHECK_RPC_NAME]; /* "": unknown */
	struct check_site site;
};

enum check_reference_kind {
	CHECK_REFERENCE_NONE,
	CHECK_REFERENCE_HANDLE, /* a struct dist_rref of the rank */
	CHECK_REFERENCE_FORK,   /* a fork made here that no rank took yet */
	CHECK_REFERENCE_VALUE   /* a value here with references elsewhere */
};

struct check_reference {
	uint32_t kind;                 /* enum check_reference_kind */
	int32_t owner;                 /* global rank that has the value */
	char function[CHECK_RPC_NAME]; /* that made it; "": none */
	struct check_site site;        /* where it was made */
};

struct check_remote {
	uint32_t state;    /* enum check_rpc_state */
	uint32_t group_id; /* of the group whose ranks are the workers, */
	uint32_t leader;   /* and the global rank of its rank 0 */
	uint32_t limit;    /* num_worker_threads */
	char name[CHECK_RPC_NAME]; /* of this worker */
	/* Servings and waits without room that have not ended. */
	uint32_t servings_unknown, waits_unknown;
	uint32_t references_unknown; /* the same for references */
	uint32_t served;             /* number of calls served */
	uint32_t failed;             /* waits that ended with an error */
	uint32_t moves;              /* number of changes of this struct */
	struct check_serving servings[CHECK_SERVINGS];
	struct check_rpc_wait waits[CHECK_WAITS];
	struct check_reference references[CHECK_REFERENCES];
};

/* check_rpc_join records that the rank is now a worker called name, in the
 * group with that id and rank 0 leader. */
void check_rpc_join(struct check_slot *slot, uint32_t group_id, uint32_t leader,
		    uint32_t num_worker_threads, const char *name);

/* check_rpc_end records that the rank waits in a graceful shutdown (ENDING;
 * also record a wait for worker -1), or that it serves no more calls (ENDED).
 * References that it still holds stay: they are "left". */
void check_rpc_end(struct check_slot *slot, enum check_rpc_state state);

/* check_rpc_queue records a request that came, and returns its place. */
uint32_t check_rpc_queue(struct check_slot *slot, int32_t caller, uint64_t call,
			 const char *function, int64_t now_ns);

/* check_rpc_run records that a worker thread has taken it. */
void check_rpc_run(struct check_slot *slot, uint32_t place, int64_t now_ns);

/* check_rpc_served records that its function has returned, or that the call was
 * refused. */
void check_rpc_served(struct check_slot *slot, uint32_t place);

/* check_rpc_runs returns whether a function that the rank serves runs, and
 * waits for no remote call. */
bool check_rpc_runs(const struct check_slot *slot);

/* check_rpc_wait records that a thread blocks until check_rpc_wait_end(), and
 * returns the place of the wait. A thread has one wait at a time: an earlier
 * one is dropped. */
uint32_t check_rpc_wait(struct check_slot *slot,
			const struct check_rpc_wait *wait);

/* check_rpc_wait_end records the end of the wait at place, with an enum
 * dist_error: DIST_OK if only the function itself failed, which is the
 * program's affair. */
void check_rpc_wait_end(struct check_slot *slot, uint32_t place, int32_t error,
			int64_t now_ns);

/* check_rpc_hold records a reference and returns its place; check_rpc_release
 * records its end: freed, taken by another rank, or freed by all others. */
uint32_t check_rpc_hold(struct check_slot *slot,
			const struct check_reference *reference);
void check_rpc_release(struct check_slot *slot, uint32_t place);

#endif
