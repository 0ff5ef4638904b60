/*
 * agent.h - one launcher among those of a job: how it finds the others, and
 * what it exchanges with them.
 *
 * The agents' store is at an endpoint that all of them know. Who serves it
 * leads the job: it is node 0 of every round, and when it goes, the job ends.
 * Keys: arrivals (how many tickets are out), TICKET/report, orders, looks (a
 * counter: how often all were asked where their ranks are), and records:
 * TICKET/slot/RANK of a round that failed, TICKET/look/RANK in answer to a
 * look, each behind the number of that round or look. Who may write which is
 * the store's to say (service.h). A job of one node has no store, and its agent
 * leads itself. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_AGENT_H
#define LOCKSTEP_LAUNCH_AGENT_H

#include <sys/types.h>

#include "check/record.h"
#include "realbackend/launch/launcher.h"
#include "realbackend/launch/membership.h"

struct dist__signals;
struct dist__store;

struct dist__agent {
	const struct dist__job_spec *spec;
	struct dist__store *store; /* NULL: the job has one node */
	bool leads;
	pid_t store_process; /* the process that serves the store; 0: not ours
			      */
	int master_fd;       /* leader: keeps MASTER_PORT of a round for rank 0;
				-1: none yet */
	int ticket;          /* 0: the leader */
	int64_t interval_ns; /* between exchanges */
	int64_t next_ns;     /* of the next one; NEVER: none */
	struct dist__report report; /* the agent's own; beat is counted here */
	struct dist__orders orders; /* in force */
	struct dist__membership membership; /* the leader's */
};

/*
 * dist__agent_open finds the leader, or leads. Blocks until then, or until one
 * of *signals that ends the job arrives, whose number goes to *signal. *agent
 * may be closed afterwards in any case. Errors: RENDEZVOUS (nobody leads, port
 * taken, another job's store; message says which), NO_MEMORY, IO, ABORTED (a
 * signal).
 */
enum dist_error dist__agent_open(struct dist__agent *agent,
				 const struct dist__job_spec *spec,
				 const struct dist__signals *signals,
				 int *signal, struct dist_message *message);

/* dist__agent_close hangs up; the leader's store ends. */
void dist__agent_close(struct dist__agent *agent);

/* dist__agent_exchange reports, and gets the orders, or as leader the reports
 * of all. false: the store is gone. */
bool dist__agent_exchange(struct dist__agent *agent);

/* dist__agent_publish makes the leader's orders known. false: as above. */
bool dist__agent_publish(struct dist__agent *agent);

/* dist__agent_node returns the place of this agent among the nodes of the
 * orders; -1: none. */
int dist__agent_node(const struct dist__agent *agent);

/* Where records are left: "slot" or "look", and the number of the round or the
 * look; whose, for the leader to take. */
struct dist__shelf {
	const char *name;
	int64_t number;
	int ticket;
};

/* dist__agent_give_slots leaves the records of num_ranks ranks from first on
 * for the leader, on a shelf of this agent's. */
void dist__agent_give_slots(struct dist__agent *agent,
			    const struct dist__shelf *shelf,
			    const struct check_board *board, int first,
			    int num_ranks);

/* dist__agent_take_slots replaces those of rank first and the next ones in
 * board by what an agent left; one that is not there stays as it is. */
void dist__agent_take_slots(struct dist__agent *agent,
			    const struct dist__shelf *shelf,
			    struct check_board *board, int first,
			    int num_ranks);

#endif
