/*
 * seat.h - a simulated rank that runs in a process of its own, and its requests
 * to the simulation. Shared by realbackend/seat/ (the rank's side) and
 * sim/seat/ (the simulation's side).
 *
 * A seat is memory that both processes map, for one request and its answer. The
 * rank writes a request and increments `asked`; the simulation answers and
 * stores that number in `answered`. Until the rank's next request its actor
 * stops the simulated clock: what the rank will do is unknown. Pointers of a
 * request are the rank's; the simulation reads and writes its memory with
 * process_vm_readv and _writev. The rank's records are in another shared file.
 */
#ifndef LOCKSTEP_CORE_SEAT_H
#define LOCKSTEP_CORE_SEAT_H

#include <sys/types.h>

#include "core/backend.h"

/* The path of the file of seats. A process's rank is in RANK. */
#define DIST__SEAT_VARIABLE "LOCKSTEP_SEAT"
#define DIST__SEAT_MAGIC    UINT64_C(0x6c6f636b73656174)
/* Bytes before the first seat, and bytes of a seat: whole pages. */
#define DIST__SEAT_HEAD  4096
#define DIST__SEAT_BYTES 4096
#define DIST__SEAT_FILE  256
/* Lanes of a rank. Their seats lie behind those of the ranks. */
#define DIST__SEAT_LANES 256
#define DIST__SEAT_TEXT  512

struct dist__seat_head {
	uint64_t magic;
	uint64_t layout; /* DIST__SEAT_LAYOUT of the process that made it */
	int32_t world_size;
	int32_t present;    /* ranks with a seat: all, or the first, for all */
	int32_t debug;      /* enum dist__debug */
	char records[64];   /* file of the board */
	int64_t records_at; /* offset of rank 0's slot in it */
	/* Exit status of the forking process if it has refused to fork the
	 * ranks and printed why; else 0. */
	_Atomic int32_t refused;
};

enum dist__seat_code {
	DIST__SEAT_ATTACH,       /* text: init method; address: one byte */
	DIST__SEAT_DETACH,       /* frees the transport */
	DIST__SEAT_BACKEND_NEW,  /* members; answer: object */
	DIST__SEAT_BACKEND_FREE, /* uses object, as do those below */
	DIST__SEAT_RUN,          /* op */
	DIST__SEAT_SUBMIT,       /* op; answer: work */
	DIST__SEAT_WAIT,         /* work, time_ns: deadline; answer: done, op */
	DIST__SEAT_TEST,         /* work; answer: done, op */
	DIST__SEAT_COMPUTE,      /* time_ns, text: label */
	DIST__SEAT_ABORT,
	DIST__SEAT_FAILURE, /* answer: text */
	DIST__SEAT_SLEEP,   /* time_ns; uses no object, nor do those below */

	/* The store that the ranks share: key, value; answer: number, done, or
	 * a value to fetch. */
	DIST__SEAT_STORE_SET,
	DIST__SEAT_STORE_ADD,
	DIST__SEAT_STORE_COMPARE,
	DIST__SEAT_STORE_DELETE,
	DIST__SEAT_STORE_COUNT,
	DIST__SEAT_STORE_LOOK,
	DIST__SEAT_STORE_WAIT,  /* time_ns: at most */
	DIST__SEAT_STORE_FETCH, /* copies the last value to address */

	/* What a thread of the rank asks of the transport beside its groups:
	 * messages, events, and lanes, whose threads have seats of their own
	 * (dist__seat_of_lane). */
	DIST__SEAT_SEND,       /* message; answer: work */
	DIST__SEAT_RECV,       /* message, members if from any; answer: work */
	DIST__SEAT_RECEIVED,   /* work, time_ns: deadline; answer: number, from
				  whom */
	DIST__SEAT_LOOK,       /* lets time pass */
	DIST__SEAT_BUSY,       /* time_ns, of the rank's device */
	DIST__SEAT_QUIT,       /* number: a group whose messages fail */
	DIST__SEAT_EVENT_NEW,  /* answer: object */
	DIST__SEAT_EVENT_WAIT, /* object, time_ns: deadline; done: gives up */
	DIST__SEAT_EVENT_SET,  /* object */
	DIST__SEAT_EVENT_FREE, /* object */
	DIST__SEAT_LANE_NEW,   /* answer: object, number of the lane */
	DIST__SEAT_LANE_ADD,   /* object, address: a job */
	DIST__SEAT_LANE_FREE,  /* object */
	DIST__SEAT_LANE_NEXT,  /* by the lane; answer: address, or done: none */
	DIST__SEAT_CODES
};

/* An operation. Pointers are the rank's; borrowed structs are copied here. */
struct dist__seat_op {
	struct dist__op op;
	bool has_sides, has_purpose;
	struct dist__sides sides;
	struct dist__purpose purpose;
	char purpose_name[32];
	char file[DIST__SEAT_FILE]; /* of the call; "": not known */
};

/* Bytes in the rank's memory. */
struct dist__seat_text {
	const void *at;
	size_t len;
};

struct dist__seat_slot {
	_Atomic uint32_t bell;     /* the simulation sleeps here, */
	_Atomic uint32_t dozes;    /* whether it sleeps */
	_Atomic uint32_t asked;    /* number of the last request */
	_Atomic uint32_t answered; /* the rank sleeps here */
	_Atomic uint32_t left;     /* the rank's process has ended, */
	_Atomic int32_t status;    /* with this waitpid() status */
	_Atomic int32_t pid;       /* of the process that asks */

	uint32_t code;            /* enum dist__seat_code */
	int32_t error;            /* answer: enum dist_error */
	uint32_t object;          /* a back end */
	uint32_t work;            /* an operation in flight */
	bool done;                /* answer */
	int64_t time_ns;          /* see enum dist__seat_code */
	int64_t charge_ns;        /* request: compute time since last answer */
	int64_t now_ns;           /* answer: the rank's clock */
	int32_t rank, world_size; /* ATTACH */
	struct dist__members members;   /* lists: in the rank's memory */
	char name[32], description[32]; /* the members' */
	char text[DIST__SEAT_TEXT];
	struct dist__seat_op op;
	struct dist__seat_text key, value, other; /* COMPARE: if value, other */
	void *address;
	int64_t number;               /* ADD: the amount, then the sum; COUNT */
	struct dist__message message; /* its data: in the rank's memory */
};

_Static_assert(sizeof(struct dist__seat_slot) <= DIST__SEAT_BYTES,
	       "seats lie so far apart");

#define DIST__SEAT_LAYOUT                                                      \
	(sizeof(struct dist__seat_head) * 65537 +                              \
	 sizeof(struct dist__seat_slot) * 4099 + sizeof(struct check_slot))

/* dist__seat_at returns the seat of rank; head is the start of the file. */
struct dist__seat_slot *dist__seat_at(struct dist__seat_head *head, int rank);

/* dist__seat_of_lane returns where in the file the seat of lane number `lane`
 * of rank lies, of `present` ranks; at their own number the file ends. */
int64_t dist__seat_of_lane(int present, int rank, int lane);

/* dist__seat_wake wakes a process that sleeps on word. dist__seat_sleep sleeps
 * on word while it is value, at most most_ms milliseconds. Returns false if
 * that time passed. */
void dist__seat_wake(_Atomic uint32_t *word);
bool dist__seat_sleep(_Atomic uint32_t *word, uint32_t value, int most_ms);

/* dist__seat_reap waits for all children of the caller, and stores the end of
 * those that are ranks in their seats. pids holds head->present ranks, 0 for
 * one that was not forked. Returns the waitpid() status of the last child that
 * is no rank, 0 if there was none. */
int dist__seat_reap(struct dist__seat_head *head, const pid_t *pids);

/* dist__seat_ring wakes the simulation if it sleeps at seat. */
void dist__seat_ring(struct dist__seat_slot *seat);

/* dist__seat_leave stores, once, that the process of a rank has ended with
 * status. */
void dist__seat_leave(struct dist__seat_slot *seat, int status);

#endif
