/*
 * remote.h - what a rank writes down about remote calls (lockstep/rpc.h): which
 * it serves, which it waits for, and which references it holds. Part of its
 * slot (record.h).
 *
 * A call is known by the global rank of who made it and a number, 1 or more,
 * that no other call of that rank has; one that leaves its value with the
 * callee, by the value's, so that who waits for that by a reference can name
 * it. Where a rank knows of a call:
 *
 *	caller                      callee
 *	check_rpc_wait()            check_rpc_queue()  the request is here
 *	     |                      check_rpc_run()    a worker thread took it
 *	     |                      check_rpc_served() the reply is on its way
 *	check_rpc_wait_end()
 *
 * A call of which the callee knows nothing is under way, or answered: nobody
 * is accused for it. So the callee notes every request as it comes, before it
 * can be taken, and the end of every call before its reply is sent.
 *
 * What the rank's own thread waits for becomes one of its calls (record.h), so
 * a wait and its end are also check_issue(), check_wait(), check_end() and
 * check_resume().
 *
 * Several threads of a rank may come here: the caller guards a slot, with the
 * lock of its rpc. A slot has room for one rpc at a time. Nothing here
 * allocates or fails; what finds no room counts as unknown.
 */
#ifndef LOCKSTEP_CHECK_REMOTE_H
#define LOCKSTEP_CHECK_REMOTE_H

#include <stdint.h>

struct check_slot;

/* Calls served or queued, waits, and references that a slot has room for. */
#define CHECK_SERVINGS   64
#define CHECK_WAITS      32
#define CHECK_REFERENCES 16
/* Bytes of the name of a worker or a function, its end included; cut short. */
#define CHECK_RPC_NAME 40
/* The place of what found no room. All functions take it, and do nothing. */
#define CHECK_NOWHERE UINT32_MAX

/* Where a call stands in the source; "" and 0 when not known. A path too long
 * keeps its end. */
struct check_site {
	char file[60];
	int32_t line;
};

/* Whose thread waits: that which made the rpc; any other of the program, or one
 * that runs what dist_rpc_then() was given; or one that serves a call: 0 or
 * more, what check_rpc_queue() returned, of which CHECK_NOWHERE is "any other".
 */
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
	uint32_t place;   /* that check_rpc_queue() returned */
	int32_t caller;   /* global rank */
	uint64_t call;    /* the caller's number of it */
	int64_t since_ns; /* when it came, then when its function began */
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
	int32_t caller; /* global rank whose call it is: this, or who created
			   the reference, */
	uint64_t call;  /* and its number; 0: unknown */
	uint32_t number; /* BY_OWN: of the rank's call; set here */
	int32_t error;   /* enum dist_error, once it failed */
	int64_t since_ns, ended_ns;
	int64_t timeout_ns; /* of the call; 0: unknown, or never */
	uint32_t gives_up;  /* 1: the program chose that time for this call */
	char op[16];        /* "rpc_sync", "wait", "to_here", "shutdown", ... */
	char function[CHECK_RPC_NAME]; /* "": unknown */
	struct check_site site;
};

enum check_reference_kind {
	CHECK_REFERENCE_NONE,
	CHECK_REFERENCE_HANDLE, /* a struct dist_rref of the rank */
	CHECK_REFERENCE_FORK,   /* a fork made here that nobody took so far */
	CHECK_REFERENCE_VALUE   /* a value here that others refer to */
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
	/* Servings and waits that found no room, and are not over. */
	uint32_t servings_unknown, waits_unknown;
	uint32_t references_unknown; /* the same of references */
	uint32_t served;             /* calls, ever */
	uint32_t failed;             /* waits that ended with an error, ever */
	uint32_t moves;              /* changes of all this, ever */
	struct check_serving servings[CHECK_SERVINGS];
	struct check_rpc_wait waits[CHECK_WAITS];
	struct check_reference references[CHECK_REFERENCES];
};

/* check_rpc_join notes that the rank is a worker, named name, from now on: of
 * the group of that id, whose rank 0 is leader. */
void check_rpc_join(struct check_slot *slot, uint32_t group_id, uint32_t leader,
		    uint32_t num_worker_threads, const char *name);

/* check_rpc_end notes that the rank waits in a graceful shutdown (ENDING; as
 * well as a wait for worker -1), or serves no more (ENDED). Held references
 * stay: they are "left". */
void check_rpc_end(struct check_slot *slot, enum check_rpc_state state);

/* check_rpc_queue notes a request that has come, and returns its place. */
uint32_t check_rpc_queue(struct check_slot *slot, int32_t caller, uint64_t call,
			 const char *function, int64_t now_ns);

/* check_rpc_run notes that a worker thread has taken it. */
void check_rpc_run(struct check_slot *slot, uint32_t place, int64_t now_ns);

/* check_rpc_served notes that its function has returned, or that the call was
 * refused. */
void check_rpc_served(struct check_slot *slot, uint32_t place);

/* check_rpc_wait notes that a thread blocks until check_rpc_wait_end(), and
 * returns the place of the wait. A thread waits for one thing at a time: what
 * it waited for before is forgotten. */
uint32_t check_rpc_wait(struct check_slot *slot,
			const struct check_rpc_wait *wait);

/* check_rpc_wait_end notes that the wait at place is over, with an enum
 * dist_error. What the function itself failed with is for the program alone:
 * error is DIST_OK then. */
void check_rpc_wait_end(struct check_slot *slot, uint32_t place, int32_t error,
			int64_t now_ns);

/* check_rpc_hold notes a reference and returns its place; check_rpc_release
 * notes that it is gone: freed, taken by another, or freed by all others. */
uint32_t check_rpc_hold(struct check_slot *slot,
			const struct check_reference *reference);
void check_rpc_release(struct check_slot *slot, uint32_t place);

#endif
