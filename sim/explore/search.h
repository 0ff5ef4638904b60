/*
 * search.h - finds the runs that show every matching of any-source receives
 * with messages, each once. Private to sim/explore/.
 *
 * It makes plans and reads logs, and does not depend on the simulator.
 *
 * A run goes on by itself as long as it can; messages that only one receive can
 * take are matched meanwhile. What an any-source receive takes is chosen when
 * nothing else can move, so that every rank that can send has sent (Vakkalanka,
 * Gopalakrishnan and Kirby, "Dynamic Verification of MPI Programs with
 * Reductions in Presence of Split Operations and Relaxed Orderings", CAV 2008).
 * Choices for different receives commute, so at each point it is enough to try
 * all senders for one receive. If a run shows that in another order another
 * sender would have been possible, that order is tried, too (Flanagan and
 * Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software",
 * POPL 2005). A choice that was tried is not tried again in the runs after it
 * (it sleeps), until a choice that does not commute with it (Godefroid,
 * "Partial-Order Methods for the Verification of Concurrent Systems", LNCS
 * 1032, 1996).
 */
#ifndef LOCKSTEP_SIM_EXPLORE_SEARCH_H
#define LOCKSTEP_SIM_EXPLORE_SEARCH_H

#include "sim/log.h"

struct dist__sim_node;

struct dist__sim_search {
	struct dist__sim_node *nodes; /* from the first step to the last */
	size_t count, space;
	struct dist__sim_option *asleep; /* after the last node */
	uint64_t runs;    /* runs learnt from, without redundant ones */
	uint64_t states;  /* distinct states in which nothing could move */
	bool is_complete; /* nothing was left out until now */
};

/* dist__sim_search_init begins a search. */
void dist__sim_search_init(struct dist__sim_search *search);
void dist__sim_search_release(struct dist__sim_search *search);

/* dist__sim_search_learn reads the log of a run by the last plan (the first
 * run: by an empty plan). Returns false, and the search ends, without memory or
 * if the program did something else after the same choices as in the run
 * before. */
bool dist__sim_search_learn(struct dist__sim_search *search,
			    const struct dist__sim_log *log);

/* dist__sim_search_next stores the choices of the next plan in *plan, which the
 * caller releases; other fields do not change. Returns false if there is no
 * next plan, or no memory (then is_complete is false). */
bool dist__sim_search_next(struct dist__sim_search *search,
			   struct dist__sim_plan *plan);

#endif
