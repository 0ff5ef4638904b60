/*
 * leader.h - what the leader of a job does besides watching its own ranks: it
 * decides by the membership, opens the store of each round, judges a failed
 * round by the records of all nodes, and merges the trace.
 * Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_LEADER_H
#define LOCKSTEP_LAUNCH_LEADER_H

#include "realbackend/launch/agent.h"
#include "realbackend/launch/outcome.h"

/*
 * dist__leader_turn reads the reports and publishes orders, its own included,
 * in agent->orders. own: the outcome of the leader's ranks in the last round.
 * With a new RUN, *store_fd is the listener of the round's store. false: the
 * agents' store is gone.
 */
bool dist__leader_turn(struct dist__agent *agent,
		       const struct dist__outcome *own, int *store_fd);

/* dist__leader_end orders END: with status, because of the rank culprit (-1:
 * none); text explains it. false: as above. */
bool dist__leader_end(struct dist__agent *agent, int status, int culprit,
		      const char *text);

/* dist__leader_gather copies the records that the other agents stored under
 * that name and number to board; ranks of a lost node become lost. */
void dist__leader_gather(struct dist__agent *agent, const char *name,
			 int64_t number, struct check_board *board);

/* dist__leader_merge makes the job's trace, if it has one, from the parts that
 * the ranks of the last round wrote; signal: what ended the job, or 0. Returns
 * status, or FAILED after a line on stderr. */
int dist__leader_merge(const struct dist__agent *agent, int status, int signal);

#endif
