/*
 * membership.h - which agents there are, and what the leader orders: start a
 * round, stop it, start another, end. Pure: takes only reports and the time.
 *
 * A round starts when enough agents wait: the maximum, or the minimum and no
 * other came during the last call. It stops when a rank fails, an agent leaves
 * or falls silent, or another comes and there is room. When no agent has
 * processes left, it starts again with the agents present, as long as restarts
 * are left. A round with fewer or more agents than the one before costs no
 * restart. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_MEMBERSHIP_H
#define LOCKSTEP_LAUNCH_MEMBERSHIP_H

#include "realbackend/launch/orders.h"

struct dist__membership_rules {
	int min_nodes, max_nodes;
	int max_restarts;
	bool numbered;        /* agents know their node ranks; else any order */
	int64_t join_ns;      /* how long to wait for min_nodes */
	int64_t last_call_ns; /* how long, after that, to wait for more */
	int64_t keep_alive_ns; /* an agent silent for longer is gone */
};

struct dist__member {
	struct dist__report report; /* the last one */
	int64_t heard_ns;           /* time of the last report */
	bool present; /* has reported, and is neither gone nor silent */
	bool gone;    /* and will not come back */
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
	int num_nodes;     /* of that round */
	int restarts;      /* that count against max_restarts */
	bool paid;         /* AGAIN: the next restart is counted already */
	int64_t since_ns;  /* GATHERING: its begin */
	int64_t quorum_ns; /* GATHERING: when there were enough; 0: not yet */
};

/* What the leader has to do now. */
enum dist__membership_advice {
	DIST__MEMBERSHIP_KEEP,  /* nothing */
	DIST__MEMBERSHIP_STOP,  /* order WAIT */
	DIST__MEMBERSHIP_AGAIN, /* nothing yet: another round will start */
	DIST__MEMBERSHIP_START, /* order RUN, with these nodes */
	DIST__MEMBERSHIP_DONE,  /* order END: all went well */
	DIST__MEMBERSHIP_FAIL,  /* order END: the round failed for good */
	DIST__MEMBERSHIP_APART  /* order END: too few agents came */
};

void dist__membership_init(struct dist__membership *membership,
			   const struct dist__membership_rules *rules,
			   int64_t now_ns);
void dist__membership_release(struct dist__membership *membership);

/* dist__membership_hear stores the last report of the agent with this ticket.
 * false: no memory. */
bool dist__membership_hear(struct dist__membership *membership, int ticket,
			   const struct dist__report *report, int64_t now_ns);

/* dist__membership_lose records that the agent with this ticket, which may
 * never have reported, is gone for ever. false: no memory. */
bool dist__membership_lose(struct dist__membership *membership, int ticket);

/*
 * dist__membership_think returns what to do. With START it fills round,
 * num_nodes and nodes (which the caller frees) of *orders; with APART text:
 * which agents came and which did not.
 */
enum dist__membership_advice
dist__membership_think(struct dist__membership *membership, int64_t now_ns,
		       struct dist__orders *orders);

/* dist__membership_is_empty returns whether all agents except the leader's have
 * left or are silent. */
bool dist__membership_is_empty(struct dist__membership *membership,
			       int64_t now_ns);

/* dist__membership_culprit returns the ticket of the member of the last round
 * whose cause has most weight, or that is gone; -1: there is none. */
int dist__membership_culprit(const struct dist__membership *membership);

#endif
