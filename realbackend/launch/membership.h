/*
 * membership.h - which agents there are, and what the leader has them do: start
 * a round, stop it, start another, end. Pure: it is fed reports and the time.
 *
 * A round starts when enough agents wait: all that may come, or the least
 * number and nobody more within the last call. It stops when a rank fails, an
 * agent goes or falls silent, or one more comes and there is room. Then, once
 * nobody has processes left, it starts again with those who are there, as long
 * as restarts are left. A round with fewer or more agents than the one before
 * costs no restart. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_MEMBERSHIP_H
#define LOCKSTEP_LAUNCH_MEMBERSHIP_H

#include "realbackend/launch/orders.h"

struct dist__membership_rules {
	int min_nodes, max_nodes;
	int max_restarts;
	bool numbered;   /* agents know their node ranks; else any will do */
	int64_t join_ns; /* how long to wait for min_nodes */
	int64_t last_call_ns;  /* how long, from then on, for more */
	int64_t keep_alive_ns; /* whoever is silent for longer is gone */
};

struct dist__member {
	struct dist__report report; /* the last one */
	int64_t heard_ns;
	bool present; /* has reported, and is neither gone nor silent */
	bool gone;    /* for ever */
	int node;     /* in the round; -1: none */
};

enum dist__membership_phase {
	DIST__MEMBERSHIP_GATHERING,
	DIST__MEMBERSHIP_RUNNING,
	DIST__MEMBERSHIP_STOPPING,
	DIST__MEMBERSHIP_OVER
};

struct dist__membership {
	struct dist__membership_rules rules;
	struct dist__member *members; /* by ticket */
	int num_members;
	enum dist__membership_phase phase;
	int round;         /* last one started; -1: none */
	int num_nodes;     /* of it */
	int restarts;      /* that count against the most allowed */
	bool paid;         /* AGAIN: the restart to come counts already */
	int64_t since_ns;  /* GATHERING: its begin */
	int64_t quorum_ns; /* GATHERING: since when there are enough; 0: not */
};

/* What the leader has to do now. */
enum dist__membership_advice {
	DIST__MEMBERSHIP_KEEP,  /* nothing */
	DIST__MEMBERSHIP_STOP,  /* order WAIT */
	DIST__MEMBERSHIP_AGAIN, /* nothing yet: another round will start */
	DIST__MEMBERSHIP_START, /* order RUN, with these nodes */
	DIST__MEMBERSHIP_DONE,  /* order END: all went well */
	DIST__MEMBERSHIP_FAIL,  /* order END: the round failed for good */
	DIST__MEMBERSHIP_APART  /* order END: they did not find each other */
};

void dist__membership_init(struct dist__membership *membership,
			   const struct dist__membership_rules *rules,
			   int64_t now_ns);
void dist__membership_release(struct dist__membership *membership);

/* dist__membership_hear takes the last report of the agent with this ticket.
 * false: no memory. */
bool dist__membership_hear(struct dist__membership *membership, int ticket,
			   const struct dist__report *report, int64_t now_ns);

/* dist__membership_lose takes note that the agent with this ticket, which may
 * never have been heard, is gone for ever. false: no memory. */
bool dist__membership_lose(struct dist__membership *membership, int ticket);

/*
 * dist__membership_think returns what is to be done. With START it fills round,
 * num_nodes and nodes (which the caller frees) of *orders; with APART words:
 * who came and who did not.
 */
enum dist__membership_advice
dist__membership_think(struct dist__membership *membership, int64_t now_ns,
		       struct dist__orders *orders);

/* dist__membership_is_empty returns whether every agent but the leader's has
 * left or is silent. */
bool dist__membership_is_empty(struct dist__membership *membership,
			       int64_t now_ns);

/* dist__membership_culprit returns the ticket of the member of the last round
 * whose cause weighs most, or of one that is gone; -1: there is none. */
int dist__membership_culprit(const struct dist__membership *membership);

#endif
