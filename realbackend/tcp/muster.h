/*
 * muster.h - which agents there are, and what the leader has them do: start a
 * round, stop it, start another, end. Pure: it is fed reports and the time.
 *
 * A round starts when enough agents wait: all that may come, or the least
 * number and nobody more within the last call. It stops when a rank fails, an
 * agent goes or falls silent, or one more comes and there is room. Then, once
 * nobody has processes left, it starts again with those who are there, as long
 * as restarts are left. A round with fewer or more agents than the one before
 * costs no restart. Private to realbackend/tcp/.
 */
#ifndef LOCKSTEP_TCP_MUSTER_H
#define LOCKSTEP_TCP_MUSTER_H

#include "realbackend/tcp/orders.h"

struct dist__muster_rules {
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
	int node;     /* in the round; -1: none */
};

enum dist__muster_phase {
	DIST__MUSTER_GATHERING,
	DIST__MUSTER_RUNNING,
	DIST__MUSTER_STOPPING,
	DIST__MUSTER_OVER
};

struct dist__muster {
	struct dist__muster_rules rules;
	struct dist__member *members; /* by ticket */
	int num_members;
	enum dist__muster_phase phase;
	int round;         /* last one started; -1: none */
	int num_nodes;     /* of it */
	int restarts;      /* that were paid for */
	bool paid;         /* AGAIN: this one was */
	int64_t since_ns;  /* GATHERING: its begin */
	int64_t quorum_ns; /* GATHERING: since when there are enough; 0: not */
};

/* What the leader has to do now. */
enum dist__muster_advice {
	DIST__MUSTER_KEEP,  /* nothing */
	DIST__MUSTER_STOP,  /* order WAIT */
	DIST__MUSTER_AGAIN, /* nothing yet: another round will start */
	DIST__MUSTER_START, /* order RUN, with these nodes */
	DIST__MUSTER_DONE,  /* order END: all went well */
	DIST__MUSTER_FAIL,  /* order END: the round failed for good */
	DIST__MUSTER_APART  /* order END: they did not find each other */
};

void dist__muster_init(struct dist__muster *muster,
		       const struct dist__muster_rules *rules, int64_t now_ns);
void dist__muster_release(struct dist__muster *muster);

/* dist__muster_hear takes the last report of the agent with this ticket.
 * false: no memory. */
bool dist__muster_hear(struct dist__muster *muster, int ticket,
		       const struct dist__report *report, int64_t now_ns);

/*
 * dist__muster_think returns what is to be done. With START it fills round,
 * num_nodes and nodes (which the caller frees) of *orders; with APART words:
 * who came and who did not.
 */
enum dist__muster_advice dist__muster_think(struct dist__muster *muster,
					    int64_t now_ns,
					    struct dist__orders *orders);

/* dist__muster_is_empty returns whether every agent but the leader's has left
 * or is silent. */
bool dist__muster_is_empty(struct dist__muster *muster, int64_t now_ns);

/* dist__muster_culprit returns the ticket of the member of the last round whose
 * cause weighs most, or of one that is gone; -1: there is none. */
int dist__muster_culprit(const struct dist__muster *muster);

#endif
