/*
 * agent.h - one launcher among those of a job: how it finds the others, and
 * what it exchanges with them.
 *
 * The agents' store is at an endpoint that all of them know. Who serves it
 * leads the job: it is node 0 of every round, and when it goes, the job ends.
 * Keys: run (the job's id), arrivals (a counter that gives the tickets out),
 * report/TICKET, orders, looks (a counter: how often all were asked where their
 * ranks are), and records: slot/ROUND/RANK of a round that failed, look/N/RANK
 * in answer to look N.
 * A job of one node has no store, and its agent leads itself.
 * Private to realbackend/tcp/.
 */
#ifndef LOCKSTEP_TCP_AGENT_H
#define LOCKSTEP_TCP_AGENT_H

#include <sys/types.h>

#include "check/record.h"
#include "realbackend/tcp/launcher.h"
#include "realbackend/tcp/muster.h"

struct dist__signals;
struct dist__store;

struct dist__agent {
	const struct dist__job_spec *spec;
	struct dist__store *store; /* NULL: the job has one node */
	bool leads;
	pid_t keeper; /* the process that serves the store; 0: not ours */
	int ticket;   /* 0: the leader */
	int64_t interval_ns;        /* between exchanges */
	int64_t next_ns;            /* of the next one; NEVER: none */
	struct dist__report report; /* the agent's own; beat is counted here */
	struct dist__orders orders; /* in force */
	struct dist__muster muster; /* the leader's */
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

/* dist__agent_give_slots leaves the records of num_ranks ranks from first on
 * for the leader, at the keys shelf/RANK. */
void dist__agent_give_slots(struct dist__agent *agent, const char *shelf,
			    const struct check_board *board, int first,
			    int num_ranks);

/* dist__agent_take_slots replaces those of rank first and the next ones in
 * board by what an agent left; one that is not there stays as it is. */
void dist__agent_take_slots(struct dist__agent *agent, const char *shelf,
			    struct check_board *board, int first,
			    int num_ranks);

#endif
