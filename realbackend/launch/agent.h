/*
 * agent.h - one launcher of a job: how it finds the others, and what it
 * exchanges with them.
 *
 * The agents' store is at an endpoint that all of them know. The agent that
 * serves it leads the job: it is node 0 of every round, and the job ends with
 * it. Keys: arrivals (number of tickets given), TICKET/report, orders, looks
 * (a count of status requests to all), and records: TICKET/slot/RANK of a
 * failed round, TICKET/look/RANK for a status request, each beginning with the
 * number of that round or request. The store decides who may write a key
 * (store_service.h). A job of one node has no store, and its agent leads
 * itself. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_AGENT_H
#define LOCKSTEP_LAUNCH_AGENT_H

#include <sys/types.h>

#include "check/record.h"
#include "realbackend/launch/job.h"
#include "realbackend/launch/membership.h"

struct dist__signals;
struct dist__store;

struct dist__agent {
	const struct dist__job_spec *spec;
	struct dist__store *store; /* NULL: the job has one node */
	bool leads;
	pid_t store_process; /* that serves the store; 0: another agent's
			      */
	int master_fd;       /* leader: keeps MASTER_PORT of a round for rank 0;
				-1: none yet */
	int trace_fd;        /* leader: holds the trace; -1: there is none */
	int ticket;          /* 0: the leader */
	int64_t interval_ns; /* between exchanges */
	int64_t next_ns;     /* of the next one; NEVER: none */
	struct dist__report report;         /* this agent's; counts beat */
	struct dist__orders orders;         /* in force */
	struct dist__membership membership; /* the leader's */
};

/*
 * dist__agent_open finds the leader, or leads. Blocks until then, or until a
 * signal of *signals that ends the job, whose number it stores in *signal.
 * *agent may be closed in any case. Errors: RENDEZVOUS (no agent leads, port in
 * use, another job's store; see message), NO_MEMORY, IO, ABORTED (a signal).
 */
enum dist_error dist__agent_open(struct dist__agent *agent,
				 const struct dist__job_spec *spec,
				 const struct dist__signals *signals,
				 int *signal, struct dist_message *message);

/* dist__agent_close disconnects; the leader's store ends. */
void dist__agent_close(struct dist__agent *agent);

/* dist__agent_exchange reports, and reads the orders, or as leader all reports.
 * false: the store is gone. */
bool dist__agent_exchange(struct dist__agent *agent);

/* dist__agent_publish publishes the leader's orders. false: as above. */
bool dist__agent_publish(struct dist__agent *agent);

/* dist__agent_node returns the index of this agent among the nodes of the
 * orders; -1: none. */
int dist__agent_node(const struct dist__agent *agent);

/* The key of records that an agent stores: name "slot", with the number of the
 * round, or "look", with that of the status request; ticket, of the agent, is
 * for the leader to read. */
struct dist__slot_key {
	const char *name;
	int64_t number;
	int ticket;
};

/* dist__agent_give_slots stores the records of num_ranks ranks from first on
 * for the leader. */
void dist__agent_give_slots(struct dist__agent *agent,
			    const struct dist__slot_key *where,
			    const struct check_board *board, int first,
			    int num_ranks);

/* dist__agent_take_slots replaces the records of num_ranks ranks from first on
 * in board by those that an agent stored; missing ones stay as they are. */
void dist__agent_take_slots(struct dist__agent *agent,
			    const struct dist__slot_key *where,
			    struct check_board *board, int first,
			    int num_ranks);

#endif
