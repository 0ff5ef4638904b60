/*
 * search.h - which runs are needed to see every way in which any-source
 * receives and messages can meet, and no way twice. Private to sim/explore/.
 *
 * Pure: it makes plans and reads logs, and knows nothing of simulations.
 *
 * A run goes on by itself as far as it can; messages that can meet only one
 * receive do so meanwhile. What any-source receives take is chosen when nothing
 * else can move, so that all who can send have sent (Vakkalanka, Gopalakrishnan
 * and Kirby, "Dynamic Verification of MPI Programs with Reductions in Presence
 * of Split Operations and Relaxed Orderings", CAV 2008). Choices for different
 * receives commute, so at each point it is enough to try all senders for one
 * receive, unless a run shows that another sender would have come had others
 * gone first: then they are tried too (Flanagan and Godefroid, "Dynamic
 * Partial-Order Reduction for Model Checking Software", POPL 2005). A choice
 * that was tried sleeps in what is tried after it, until a choice comes that
 * does not commute with it (Godefroid, "Partial-Order Methods for the
 * Verification of Concurrent Systems", LNCS 1032, 1996).
 */
#ifndef LOCKSTEP_SIM_EXPLORE_SEARCH_H
#define LOCKSTEP_SIM_EXPLORE_SEARCH_H

#include "sim/log.h"

struct dist__sim_node;

struct dist__sim_search {
	struct dist__sim_node *nodes; /* from the first step to the last */
	size_t count, space;
	struct dist__sim_option *asleep; /* after the last node */
	uint64_t runs;    /* learnt from, but for redundant ones */
	uint64_t states;  /* different moments when nothing could move */
	bool is_complete; /* nothing was left out so far */
};

/* dist__sim_search_init begins a search. */
void dist__sim_search_init(struct dist__sim_search *search);
void dist__sim_search_release(struct dist__sim_search *search);

/* dist__sim_search_learn takes in how a run by the last plan went, the first
 * one by an empty plan. False: no memory, or the run did other things where it
 * had the same choices as the one before; then the search is at an end. */
bool dist__sim_search_learn(struct dist__sim_search *search,
			    const struct dist__sim_log *log);

/* dist__sim_search_next makes the next plan, whose choices the caller releases;
 * the rest of *plan stays as it is. False: there is none, or no memory (the
 * search is not complete then). */
bool dist__sim_search_next(struct dist__sim_search *search,
			   struct dist__sim_plan *plan);

#endif
