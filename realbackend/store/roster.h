/*
 * roster.h - the ranks that have come to the rendezvous, and whether they make
 * a job. Pure: the store calls it and sends the answers. Private to
 * realbackend/store/.
 */
#ifndef LOCKSTEP_STORE_ROSTER_H
#define LOCKSTEP_STORE_ROSTER_H

#include <stdbool.h>

#include "check/record.h"
#include "realbackend/store/parcel.h"
#include "realbackend/wire/socket.h"

/* A larger world is taken as a mistake. */
#define DIST__ROSTER_MAX_WORLD (1 << 20)

struct dist__roster {
	int world_size;                          /* 0: no rank has come */
	int first;                               /* the rank that set it */
	int came;                                /* ranks present */
	char (*addresses)[DIST__ADDRESS_TEXT];   /* by rank, if it came */
	bool *here;                              /* by rank: has not left */
	bool complete;                           /* all were here at once */
	int turned_away;                         /* without the secret */
	struct check_rendezvous_failure failure; /* text "": none */
};

enum dist__roster_answer {
	DIST__ROSTER_WAIT,
	DIST__ROSTER_COMPLETE, /* this rank was the last missing one */
	DIST__ROSTER_FAILED,   /* for all ranks; see failure */
	DIST__ROSTER_REFUSED,  /* the job has begun without this rank */
	DIST__ROSTER_AGAIN     /* the earlier job is ending: try again */
};

void dist__roster_init(struct dist__roster *roster);
void dist__roster_release(struct dist__roster *roster);

/* dist__roster_join records that rank has come, with its address. */
enum dist__roster_answer dist__roster_join(struct dist__roster *roster,
					   int rank, int world_size,
					   const char *address);

/* dist__roster_leave records that rank, which had joined, disconnected. If the
 * roster is complete, its address is still sent to the other ranks. */
void dist__roster_leave(struct dist__roster *roster, int rank);

/* dist__roster_late fails the roster: "3 of 4 ranks came; missing: 2". */
void dist__roster_late(struct dist__roster *roster);

/* dist__roster_crowded fails the roster: there is no file descriptor for the
 * ranks that have not come. */
void dist__roster_crowded(struct dist__roster *roster);

/* dist__roster_write makes the answer for all ranks that came: token and the
 * addresses of all ranks in order, with code DIST_OK; or the failure, text and
 * ranks, with code DIST_ERR_RENDEZVOUS. The caller releases it. */
void dist__roster_write(const struct dist__roster *roster, const char *token,
			struct dist__parcel *parcel);

/* dist__roster_heed reads the ranks from an answer that is a failure.
 */
void dist__roster_heed(const struct dist__parcel *parcel,
		       struct check_rendezvous_failure *failure);

#endif
