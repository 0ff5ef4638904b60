/*
 * leader.h - what the leader of a job does beside watching its own ranks: it
 * decides by the muster, opens the store of each round, judges a round that
 * failed by the records of all nodes, and puts the trace together.
 * Private to realbackend/tcp/.
 */
#ifndef LOCKSTEP_TCP_LEADER_H
#define LOCKSTEP_TCP_LEADER_H

#include "realbackend/tcp/agent.h"
#include "realbackend/tcp/outcome.h"

/*
 * dist__leader_turn looks at the reports and gives orders, to itself too: in
 * agent->orders. own: what became of the leader's ranks in the last round. With
 * a new RUN, *store_fd is the listener of the round's store. false: the agents'
 * store is gone.
 */
bool dist__leader_turn(struct dist__agent *agent,
		       const struct dist__outcome *own, int *store_fd);

/* dist__leader_end orders END. false: as above. */
bool dist__leader_end(struct dist__agent *agent, int status, const char *words);

/* dist__leader_gather puts the records that the other agents left on shelf onto
 * board; those of a node that is gone are lost. */
void dist__leader_gather(struct dist__agent *agent, const char *shelf,
			 struct check_board *board);

/* dist__leader_merge makes the job's trace, if it writes one, of the parts that
 * the ranks of the last round wrote. Returns status, or FAILED after a line on
 * stderr. */
int dist__leader_merge(const struct dist__agent *agent, int status);

#endif
