/*
 * verdict.h - makes one verdict and its report from the records of all ranks.
 *
 * Pure functions: the same board and facts give the same verdict and the same
 * bytes, whether the ranks were simulated or real.
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
	CHECK_HAZARD,     /* memory touched while an operation used it */
	CHECK_RACE,       /* not judged here, but where other matches are run */
	CHECK_BUFFERING,  /* a deadlock, except where sends are buffered */
	CHECK_LEFT,       /* all ended well, but something is left behind */
	CHECK_RENDEZVOUS, /* not judged here, but by the launcher */
	CHECK_INVALID,    /* a refused call led to one of these */
	CHECK_FAILED, /* by the launcher: a rank ended badly, no rank waited */
	CHECK_INTERRUPTED, /* by the launcher: a signal ended the job */
	CHECK_STATUS       /* no verdict: where the ranks are, on request */
};

/* What would have followed a timeout, from a simulation that went on without
 * deadlines. A time of 0 is not known. */
struct check_forecast {
	int rank;         /* the last that the call waited for */
	int64_t came_ns;  /* when that would have come */
	int64_t ended_ns; /* when every rank would have ended well, */
	int64_t stuck_ns; /* or when no rank could have moved any more */
};
struct check_race;

/* What the launcher or simulation knows and the board does not. */
struct check_facts {
	int64_t now_ns;     /* the job's clock at the verdict; -1: unknown */
	int64_t timeout_ns; /* deadline in force; 0: unknown */
	int nothing_moves;  /* it is proved that no rank can move */
	int lost_rank;      /* first rank that died; -1: none */
	char lost_how[128]; /* "killed by signal 9 (Killed)" */
	struct check_place lost_at;
	const char *advice; /* to the author of the lost rank; NULL: none */
	int64_t endless_ns; /* if lost_rank computes without end: real time
			       since any rank's last call; else 0 */
	struct check_forecast forecast; /* of a timeout at now_ns */
	int signal;  /* that ended the job, for its exit status; 0: none */
	bool defect; /* of ours: the simulation ended outside any rank, how
			says lost_how */
	const char *warning; /* that does not fail the job; NULL: none */
	bool wants_calls;    /* a job without any call gets a warning */
	const struct check_race *race; /* of CHECK_RACE; else NULL */
};

struct check_verdict {
	enum check_verdict_kind kind;
	int rank; /* the rank at fault: lost, late, refused, or in the minority;
		     or -1 */
};

/* One match of a race. Strings are borrowed. */
struct check_match {
	uint32_t sender;        /* whose message was received */
	struct check_call send; /* op "": not known */
	bool seen;              /* of a completion test: it was complete */
	const char *outcome;    /* "the job ends well" */
	const char *replay;     /* how to repeat it */
};

/* A receive from any source whose two matches lead to different ends, or a
 * completion test (look) whose two answers do. */
struct check_race {
	uint32_t rank;
	bool look;
	struct check_call call;       /* the receive, or the call asked about */
	struct check_match other;     /* of another run */
	struct check_match here;      /* of this run, */
	struct check_verdict outcome; /* which had this verdict */
};

/*
 * check_judge returns the first of these verdicts that board and facts show: a
 * buffer hazard; a rank killed (CHECK_RANK_LOST on the board); a mismatch; a
 * rank that gave up by itself (lost_rank) while another waits for it; a
 * deadlock (nothing moves, or a call failed and its rank waits in a cycle or
 * for a rank that has finished); a timeout; CHECK_FINE. Also CHECK_FINE without
 * memory. If a refused call led to it (a rank that gave up, a mismatch, a
 * wait), CHECK_INVALID. A deadlock counts as CHECK_MISMATCH if it goes back to
 * a call that a rank never made and that the others could do without
 * (missing_call.h).
 */
struct check_verdict check_judge(const struct check_board *board,
				 const struct check_facts *facts);

/* check_judge_end is check_judge() for a job in which every rank ended well. A
 * rank may have handled a failure, but ranks that disagreed, or spoilt their
 * memory, computed nonsense (CHECK_MISMATCH, CHECK_HAZARD). If no call failed,
 * the ranks of a group must have made the same calls (CHECK_MISMATCH: one is
 * missing), every message must have been received, and every operation waited
 * for (CHECK_LEFT).
 * A group that was not destroyed is no fault: a rank may just exit. */
struct check_verdict check_judge_end(const struct check_board *board,
				     const struct check_facts *facts);

/* check_judge_left returns CHECK_LEFT, and the rank, if a rank that ended well
 * left something behind; else CHECK_FINE. */
struct check_verdict check_judge_left(const struct check_board *board);

/* check_judge_interrupted is check_judge() for a job that a signal ended. Waits
 * might still have ended, so the verdict is a mismatch, a hazard, or
 * INTERRUPTED. board may be NULL. */
struct check_verdict check_judge_interrupted(const struct check_board *board,
					     const struct check_facts *facts);

/* check_hence returns the verdict that a CHECK_INVALID led to; CHECK_FINE: its
 * rank gave up, and no rank waited for it. */
struct check_verdict check_hence(const struct check_board *board,
				 const struct check_facts *facts);

/* check_buffering_warning returns a sentence about the waits on board, on which
 * nothing can move unless sends are buffered. The caller frees it; NULL: no
 * memory. */
char *check_buffering_warning(const struct check_board *board);

/* check_awaited sets awaited[r] for each rank r that the call of rank waits
 * for, and returns their number; 0 without memory. */
uint32_t check_awaited(const struct check_board *board, uint32_t rank,
		       bool *awaited);

/* check_is_certain returns whether the verdict holds even if all ranks ended
 * well, and follows from nothing else: they computed nonsense. */
static inline int check_is_certain(const struct check_verdict *verdict)
{
	return verdict->kind == CHECK_MISMATCH || verdict->kind == CHECK_HAZARD;
}

/* check_is_stuck returns whether no rank can move under the world's rules. */
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

/* check_verdict_rule returns a sentence about bad verdicts of this kind in
 * general. */
const char *check_verdict_rule(enum check_verdict_kind kind);

/* check_is_bad returns whether the verdict fails the job. */
static inline bool check_is_bad(const struct check_verdict *verdict)
{
	return check_exit_status(verdict) != 0;
}

#endif
