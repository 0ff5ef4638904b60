/*
 * verdict.h - from the records of all ranks to one verdict and its report.
 *
 * Pure: same board and facts in, same verdict and same bytes out, whether the
 * ranks were simulated or real.
 */
#ifndef LOCKSTEP_CHECK_VERDICT_H
#define LOCKSTEP_CHECK_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "check/record.h"

enum check_verdict_kind {
	CHECK_FINE,
	CHECK_MISMATCH,
	CHECK_DEADLOCK,
	CHECK_TIMEOUT,
	CHECK_LOST,
	CHECK_HAZARD,     /* memory touched while an operation held it */
	CHECK_RACE,       /* not judged here, but by who tried other matches */
	CHECK_BUFFERING,  /* a deadlock, but not where sends are buffered */
	CHECK_LEFT,       /* all ended well, but something is left behind */
	CHECK_RENDEZVOUS, /* nor this, but by who started the ranks */
	CHECK_INVALID,    /* a call was refused, and that led to one of these */
	CHECK_FAILED, /* nor this: a rank ended badly, nobody waited for it */
	CHECK_INTERRUPTED, /* nor this: a signal ended the job */
	CHECK_STATUS /* no verdict: where the ranks are, because one asked */
};

/* What would have come of a timeout, found out by a simulation that went on
 * without deadlines. A time that is 0 is not known. */
struct check_forecast {
	int rank;         /* the last that the call waited for, */
	int64_t came_ns;  /* and when it would have come */
	int64_t ended_ns; /* when every rank would have ended well */
	int64_t stuck_ns; /* or no rank could have moved any more */
};
struct check_race;

/* Where a rank was in the program when it ended, or was ended. */
struct check_place {
	struct check_site site; /* file "": not known */
	char function[40];      /* "": not known */
};

/* What the world around the ranks knows and the board does not. */
struct check_facts {
	int64_t now_ns;     /* the job's clock at the verdict; -1: unknown */
	int64_t timeout_ns; /* deadline in force; 0: unknown */
	int nothing_moves;  /* proved that no rank can move */
	int lost_rank;      /* first rank that died; -1: none */
	char lost_how[64];  /* "killed by signal 9 (Killed)" */
	struct check_place lost_at;
	const char *advice; /* for who wrote the lost rank; NULL: none */
	int64_t endless_ns; /* lost_rank computes: real time since any rank
			       called something; 0: it is not that */
	struct check_forecast forecast; /* of a timeout at now_ns */
	int signal; /* that ended the job, by which it exits; 0: none */
	const char *warning; /* not held against the job; NULL: none */
	const struct check_race *race; /* CHECK_RACE: it; else NULL */
};

struct check_verdict {
	enum check_verdict_kind kind;
	int rank; /* the rank it turns on: lost, late, refused or odd one out;
		     or -1 */
};

/* One way in which a race may go. Strings are borrowed. */
struct check_match {
	uint32_t sender;        /* whose message was received */
	struct check_call send; /* op "": not known */
	bool seen;              /* of a look: it was complete */
	const char *outcome;    /* what it led to: "the job ends well" */
	const char *replay;     /* how to see that again */
};

/* A receive from any source of which two matches lead to different ends; or a
 * look whether a message is complete, of which the two answers do. */
struct check_race {
	uint32_t rank;
	bool look;
	struct check_call call; /* the receive, or what was looked at; or "" */
	struct check_match other;     /* of another run */
	struct check_match here;      /* of this one, */
	struct check_verdict outcome; /* on which this is the verdict */
};

/*
 * check_judge looks at the board and the facts and returns the verdict, first
 * of: a buffer hazard on the board; a rank killed (CHECK_RANK_LOST on the
 * board); a mismatch; a rank that gave up by itself (lost_rank) while another
 * waits for it; a deadlock (nothing moves, or a call failed and its rank waits
 * in a cycle or for a rank that has finished); a timeout; CHECK_FINE when
 * nothing is wrong. Memory runs out: CHECK_FINE. But what a refused call led to
 * (a rank that gave up, a mismatch, a wait) is CHECK_INVALID.
 */
struct check_verdict check_judge(const struct check_board *board,
				 const struct check_facts *facts);

/* check_judge_end is check_judge() for a job of which every rank ended well.
 * Ranks that dealt with a failure did well, but ranks that disagreed, or spoilt
 * their memory, computed nonsense (CHECK_MISMATCH, CHECK_HAZARD); where no call
 * failed, the ranks of a group should have made the same calls (CHECK_MISMATCH:
 * one is missing); and what was sent should be received, and what was begun be
 * waited for (CHECK_LEFT).
 * A group that nobody destroyed is no fault: a rank may just exit. */
struct check_verdict check_judge_end(const struct check_board *board,
				     const struct check_facts *facts);

/* check_judge_left returns CHECK_LEFT, with the rank, if something was left
 * behind by a rank that ended well; else CHECK_FINE. */
struct check_verdict check_judge_left(const struct check_board *board);

/* check_judge_interrupted is check_judge() for a job that a signal ended: what
 * waits might still have moved, so it is a mismatch, a hazard, or INTERRUPTED.
 * board may be NULL. */
struct check_verdict check_judge_interrupted(const struct check_board *board,
					     const struct check_facts *facts);

/* check_hence judges without that what a CHECK_INVALID led to; CHECK_FINE: its
 * rank gave up, and nobody waited for it. */
struct check_verdict check_hence(const struct check_board *board,
				 const struct check_facts *facts);

/* check_buffering_warning returns the waits on board, on which nothing can move
 * but buffered sends would, as a sentence, which the caller frees; NULL: no
 * memory. */
char *check_buffering_warning(const struct check_board *board);

/* check_awaited marks, by rank, those that the call of rank waits for, and
 * returns how many they are; without memory none. */
uint32_t check_awaited(const struct check_board *board, uint32_t rank,
		       bool *awaited);

/* check_is_certain returns whether the verdict stands although all ranks ended
 * well, and is no consequence of anything: they computed nonsense. */
static inline int check_is_certain(const struct check_verdict *verdict)
{
	return verdict->kind == CHECK_MISMATCH || verdict->kind == CHECK_HAZARD;
}

/* check_is_stuck returns whether no rank can move, by the rules of the world.
 */
static inline int check_is_stuck(const struct check_verdict *verdict)
{
	return verdict->kind == CHECK_DEADLOCK ||
	       verdict->kind == CHECK_BUFFERING;
}

/* check_verdict_name returns "fine", "mismatch", "deadlock", "timeout", "lost",
 * "hazard", "race", "buffering", "left", "rendezvous", "invalid", "failed",
 * "interrupted" or "status". */
const char *check_verdict_name(enum check_verdict_kind kind);

/* check_exit_status returns the command's exit status for the verdict: 0, 1,
 * 10 to 19. */
int check_exit_status(const struct check_verdict *verdict);

/* check_verdict_rule returns what a bad verdict says, in a sentence that holds
 * of all of its kind. */
const char *check_verdict_rule(enum check_verdict_kind kind);

/* check_is_bad returns whether the verdict is one that fails the job. */
static inline bool check_is_bad(const struct check_verdict *verdict)
{
	return check_exit_status(verdict) != 0;
}

#endif
