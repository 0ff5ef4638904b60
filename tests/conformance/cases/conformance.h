/*
 * conformance.h - the one table of cases that every back end must pass, over
 * the public API and without a test framework.
 *
 * A case is one call: call x form (in one tensor or a list, in place or not,
 * of unequal parts) x dtype x reduce op x count x root x blocking or not. A
 * setup is one launch, back end x world size x algorithms, and the calls that
 * it walks. Every rank walks all cases of a setup, checks each result against
 * what arithmetic says, and leaves a digest of the bytes it got, by which two
 * back ends are held against each other bit for bit. No two cases of a table
 * are the same: a call that has fewer algorithms than another takes part in
 * fewer setups.
 */
#ifndef LOCKSTEP_CONFORMANCE_CONFORMANCE_H
#define LOCKSTEP_CONFORMANCE_CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/conformance/cases/grouping.h"

#define CONFORMANCE_MAX_WORLD 16

/* The calls, and the patterns of point-to-point calls. */
enum conformance_call {
	CONFORMANCE_ALL_REDUCE,
	CONFORMANCE_REDUCE,
	CONFORMANCE_BROADCAST,
	CONFORMANCE_BARRIER,
	CONFORMANCE_MONITORED_BARRIER,
	CONFORMANCE_ALL_GATHER,
	CONFORMANCE_REDUCE_SCATTER,
	CONFORMANCE_ALL_TO_ALL,
	CONFORMANCE_GATHER,
	CONFORMANCE_SCATTER,
	CONFORMANCE_ALL_PAIRS,  /* from every rank to every other */
	CONFORMANCE_NEIGHBOURS, /* isend and irecv around a ring */
	CONFORMANCE_BATCH,      /* both ways around, in one call */
	CONFORMANCE_TAGS,       /* three tags, received in reverse */
	CONFORMANCE_IN_ORDER,   /* one tag, received by name and from any */
	CONFORMANCE_ANY_SOURCE, /* from all others, in any order */
	CONFORMANCE_CALLS
};

/* conformance_call_name returns "all_reduce" and so on. */
const char *conformance_call_name(enum conformance_call call);

/* conformance_call_find returns the call of that name, or CONFORMANCE_CALLS. */
enum conformance_call conformance_call_find(const char *name);

/* The world sizes of the whole table, ended by 0. */
extern const int conformance_worlds[];

/* Which part of the table is asked for. All zero: the whole. */
struct conformance_filter {
	uint32_t calls;        /* 1 << enum conformance_call, ...; 0: all */
	const char *algorithm; /* "ring": calls that have it, with it alone */
	bool as_selected;      /* the back end's own choice of algorithms */
};

/* One launch. */
struct conformance_setup {
	const char *backend;
	const char *platform; /* for the simulator: a SimGrid XML file */
	const char *profile;  /* library profile, a file; or NULL */
	const char *p2p;      /* for the simulator: when a send ends; or NULL */
	int world_size;       /* 1 to CONFORMANCE_MAX_WORLD */
	int64_t timeout_ns;   /* of every call; 0: two minutes */
	enum conformance_grouping grouping; /* walked in these groups */
	uint32_t calls;                     /* that are walked */
	int third;                          /* of conformance_third(); 0: all */
	size_t round;                       /* of conformance_round() */
	char algorithms[256]; /* forced, as dist_launch() takes them; "" */
	const struct case_values *values; /* set by conformance_run() */
};

/* conformance_round sets the calls and algorithms of setup to those of round
 * n, 0 and up, in which every call of filter has its n-th algorithm. What no
 * algorithm has to do with, several tensors in a call and what is refused, is
 * walked in round 0 alone. Returns false once no call has so many. */
bool conformance_round(const struct conformance_filter *filter, size_t n,
		       struct conformance_setup *setup);

/* conformance_third returns a number for setup.third by which the n-th of
 * several setups walks the cases of a third of the pairs of dtype and
 * operation, those of the next two setups being other ones; and of the sum of
 * float32, which alone goes in every length. So each form, count and root is
 * walked in each setup, and each pair in one of three. */
int conformance_third(int n);

/* conformance_forces returns whether algorithms can be forced on backend: not
 * where a library brings its own. Such a back end takes part in round 0 alone,
 * without algorithms. */
bool conformance_forces(const char *backend);

/* conformance_algorithm returns the n-th algorithm of call that the table
 * forces, or NULL. */
const char *conformance_algorithm(enum conformance_call call, size_t n);

/* conformance_count returns the number of cases in setup. */
uint32_t conformance_count(const struct conformance_setup *setup);

/* conformance_each calls visit for every case of setup, numbered from 0, with
 * words that no other case of the setup has. */
void conformance_each(const struct conformance_setup *setup,
		      void (*visit)(void *arg, uint32_t index,
				    enum conformance_call call,
				    const char *text),
		      void *arg);

/* How the ranks fared, written by all of them. */
struct conformance_outcome;

/* conformance_outcome_new maps memory for an outcome of setup, shared with
 * processes forked from here. NULL: no memory. */
struct conformance_outcome *
conformance_outcome_new(const struct conformance_setup *setup);

/* conformance_trust lets bytes that were right in other, an outcome of the same
 * calls in as many ranks, count as right in outcome, which holds only others
 * against what must come. other must live as long. */
void conformance_trust(struct conformance_outcome *outcome,
		       const struct conformance_outcome *other);

/* conformance_outcome_free unmaps it; NULL allowed. */
void conformance_outcome_free(struct conformance_outcome *outcome);

/*
 * conformance_run launches the ranks of setup, in a child of its own because a
 * process has room for one simulation, and waits for them. Returns
 * dist_launch()'s exit status, or DIST_EXIT_INTERNAL when the child did not end
 * by itself.
 */
int conformance_run(const struct conformance_setup *setup,
		    struct conformance_outcome *outcome);

enum conformance_state {
	CONFORMANCE_NOT_WALKED, /* a rank stopped before it */
	CONFORMANCE_RIGHT,
	CONFORMANCE_WRONG
};

/* conformance_places returns how many cases outcome has room for: those of its
 * setup, or, in groups of some of the ranks, as many for each of two groups,
 * which may have fewer and whose ranks number them alike. */
uint32_t conformance_places(const struct conformance_outcome *outcome);

/*
 * conformance_state returns how case index went: WRONG when it did on some
 * rank, of which words (when not NULL) then says which and what; else
 * NOT_WALKED when some rank did not come so far.
 */
enum conformance_state
conformance_state(const struct conformance_outcome *outcome, uint32_t index,
		  char *text, size_t size);

/* conformance_walked returns how many cases rank, a global one, has walked in
 * all its groups. */
uint32_t conformance_walked(const struct conformance_outcome *outcome,
			    int rank);

/* conformance_same returns whether every rank got the same bytes of case index
 * in both outcomes, which are of setups that differ in the back end alone.
 * Fractions that a library combined in an order of its own, and operations that
 * it does not have, are passed over. */
bool conformance_same(const struct conformance_outcome *a,
		      const struct conformance_outcome *b, uint32_t index);

#endif
