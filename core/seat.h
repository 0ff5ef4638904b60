/*
 * seat.h - a simulated rank that is a process of its own, and how it asks the
 * simulation: what realbackend/seat/ (the rank's side) and sim/seat/ (the
 * simulation's) share.
 *
 * A seat is memory that both map: one request at a time, and its answer. The
 * rank writes a request and counts `asked` up; the simulation answers and
 * stores that number in `answered`. While a rank says nothing its actor does
 * not let the clock go on: what it will do next is not known. What a request
 * points at lies in the rank's memory, where the simulation reads and writes it
 * (process_vm_readv). The rank's records lie in a board that both map, too.
 */
#ifndef LOCKSTEP_CORE_SEAT_H
#define LOCKSTEP_CORE_SEAT_H

#include <sys/types.h>

#include "core/backend.h"

/* Where the seats are: a file that can be opened. The rank is RANK's. */
#define DIST__SEAT_VARIABLE "LOCKSTEP_SEAT"
#define DIST__SEAT_MAGIC    UINT64_C(0x6c6f636b73656174)
/* Bytes before the first seat, and of a seat: whole pages. */
#define DIST__SEAT_HEAD  4096
#define DIST__SEAT_BYTES 4096
#define DIST__SEAT_FILE  256
#define DIST__SEAT_TEXT  512

struct dist__seat_head {
	uint64_t magic;
	uint64_t layout; /* DIST__SEAT_LAYOUT of who made it */
	int32_t world_size;
	int32_t present;  /* ranks that have a seat: all, or 0 alone for all */
	int32_t debug;    /* enum dist__debug */
	char records[64]; /* file of the board */
	int64_t records_at; /* where in it the slot of rank 0 lies */
	/* Status of who was to fork the ranks and has refused to, in words of
	 * its own; 0: it has not. */
	_Atomic int32_t refused;
};

enum dist__seat_code {
	DIST__SEAT_ATTACH,       /* init; text: method; address: a byte */
	DIST__SEAT_DETACH,       /* free the transport */
	DIST__SEAT_BACKEND_NEW,  /* members; gives object */
	DIST__SEAT_BACKEND_FREE, /* of object, as all that follow */
	DIST__SEAT_RUN,          /* op */
	DIST__SEAT_SUBMIT,       /* op; gives work */
	DIST__SEAT_WAIT,         /* work, time_ns: deadline; gives done, op */
	DIST__SEAT_TEST,         /* work; gives done, op */
	DIST__SEAT_COMPUTE,      /* time_ns, text: label */
	DIST__SEAT_ABORT,
	DIST__SEAT_FAILURE, /* gives text */
	DIST__SEAT_SLEEP,   /* of no object, as what follows: time_ns */

	/* Of the store that the ranks share: key, value; gives number, done,
	 * or a value to be fetched. */
	DIST__SEAT_STORE_SET,
	DIST__SEAT_STORE_ADD,
	DIST__SEAT_STORE_COMPARE,
	DIST__SEAT_STORE_DELETE,
	DIST__SEAT_STORE_COUNT,
	DIST__SEAT_STORE_LOOK,
	DIST__SEAT_STORE_WAIT,  /* time_ns: the longest */
	DIST__SEAT_STORE_FETCH, /* the last value, to address */
	DIST__SEAT_CODES
};

/* An operation. Pointers are the rank's; what it borrows lies beside it. */
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
	_Atomic uint32_t dozes;    /* if it does */
	_Atomic uint32_t asked;    /* number of the last request */
	_Atomic uint32_t answered; /* the rank sleeps here */
	_Atomic uint32_t left;     /* the rank's process has ended, */
	_Atomic int32_t status;    /* as waitpid() says */
	_Atomic int32_t pid;       /* of the process that asks */

	uint32_t code;            /* enum dist__seat_code */
	int32_t error;            /* answer: enum dist_error */
	uint32_t object;          /* a back end */
	uint32_t work;            /* an operation in flight */
	bool done;                /* answer */
	int64_t time_ns;          /* see the codes */
	int64_t charge_ns;        /* request: computed since the last answer */
	int64_t now_ns;           /* answer: the rank's clock */
	int32_t rank, world_size; /* ATTACH */
	struct dist__members members;   /* ranks lie in the rank's memory */
	char name[32], description[32]; /* the members' */
	char text[DIST__SEAT_TEXT];
	struct dist__seat_op op;
	struct dist__seat_text key, value, other; /* COMPARE: value if other */
	void *address;
	int64_t number; /* ADD: the amount, then the sum; COUNT */
};

_Static_assert(sizeof(struct dist__seat_slot) <= DIST__SEAT_BYTES,
	       "seats lie so far apart");

#define DIST__SEAT_LAYOUT                                                      \
	(sizeof(struct dist__seat_head) * 65537 +                              \
	 sizeof(struct dist__seat_slot) * 4099 + sizeof(struct check_slot))

/* dist__seat_at returns the seat of rank, behind head. */
struct dist__seat_slot *dist__seat_at(struct dist__seat_head *head, int rank);

/* dist__seat_wake wakes who sleeps at word; dist__seat_sleep sleeps there while
 * it is value, for so many milliseconds at most. Returns false when these were
 * over. */
void dist__seat_wake(_Atomic uint32_t *word);
bool dist__seat_sleep(_Atomic uint32_t *word, uint32_t value, int most_ms);

/* dist__seat_reap waits for all child processes of the caller, and tells the
 * simulation of the end of those that are ranks: pids has present of them, 0
 * for one that never was. Returns the status of the last other one, as
 * waitpid() has it. */
int dist__seat_reap(struct dist__seat_head *head, const pid_t *pids);

/* dist__seat_ring wakes the simulation if it sleeps at seat. */
void dist__seat_ring(struct dist__seat_slot *seat);

/* dist__seat_leave says that the process of a rank has ended, unless that was
 * said before. */
void dist__seat_leave(struct dist__seat_slot *seat, int status);

#endif
