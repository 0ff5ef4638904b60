/*
 * fold.h - fitting any world size to an algorithm for powers of two. Private
 * to coll/.
 *
 * Of p = size + extra ranks, size the largest power of two, the first 2 * extra
 * form pairs (0,1), (2,3), ... The odd one gives its vector to the even one and
 * sits out until it gets the result back. The other ranks are numbered 0 to
 * size - 1, in the order of their ranks, and run the algorithm. Where there is
 * a root, ranks count from it, so that it never sits out. With p = 5:
 *
 *	rank     0   1   2   3   4
 *	fold_in  0 <-1
 *	folded   0   .   1   2   3
 *	fold_out 0 ->1
 *
 * Two messages of the whole vector more, as in Thakur, Rabenseifner and Gropp,
 * "Optimization of Collective Communication Operations in MPICH", Int. J. of
 * High Performance Computing Applications 19(1), 2005.
 */
#ifndef LOCKSTEP_COLL_FOLD_H
#define LOCKSTEP_COLL_FOLD_H

#include "coll/pattern.h"

struct dist__fold {
	int size;
	int extra;
	int rank; /* this rank's folded number, -1 if it sits out */
	int root; /* the rank that is counted as 0 */
};

/* dist__fold_of returns how rank, counted from the root, takes part in a world
 * of world_size whose root is rank 0. */
struct dist__fold dist__fold_of(int rank, int world_size);

/* dist__fold_from returns how the caller takes part, counted from root. */
struct dist__fold dist__fold_from(const struct dist__coll *coll, int root);

/* dist__fold_first returns the first rank, counted from the root, that a number
 * stands for; the world size for number == size. */
int dist__fold_first(const struct dist__fold *fold, int number);

/* dist__fold_member returns the group rank of a folded number. */
int dist__fold_member(const struct dist__fold *fold, int number);

/* dist__fold_receives returns whether fold_in() brings this rank a vector,
 * for which scratch must have room. */
bool dist__fold_receives(const struct dist__fold *fold);

/*
 * dist__fold_in and dist__fold_out do the first and the last part, in
 * reductions; both are to be called on every rank. vector is the rank's own;
 * the odd rank's is reduced into the even rank's. result is what the odd rank
 * gets back, as it lies on either of the two. Errors: those of the transport.
 */
enum dist_error dist__fold_in(const struct dist__coll *coll,
			      const struct dist__fold *fold, uint32_t step,
			      struct dist__span vector, void *scratch);
enum dist_error dist__fold_out(const struct dist__coll *coll,
			       const struct dist__fold *fold, uint32_t step,
			       struct dist__span result);

/* dist__fold_in_cost_ns returns when, on p ranks, the folded ranks that receive
 * begin the algorithm (the others begin at 0); dist__fold_out_cost_ns what the
 * last part takes. Both are 0 when p is a power of two. */
double dist__fold_in_cost_ns(const struct dist__cost *cost, int p,
			     double bytes);
double dist__fold_out_cost_ns(const struct dist__cost *cost, int p,
			      double bytes);

#endif
