/*
 * fold.h - fits any world size to an algorithm for powers of two. Private to
 * coll/.
 *
 * p = size + extra ranks, where size is the largest power of two. The first
 * 2 * extra ranks form pairs (0,1), (2,3), ... The odd rank gives its vector to
 * the even one and waits until it gets the result back. The other ranks are
 * numbered 0 to size - 1, in the order of their ranks, and run the algorithm.
 * If there is a root, ranks count from it, so it never sits out. With p = 5:
 *
 *	rank     0   1   2   3   4
 *	fold_in  0 <-1
 *	folded   0   .   1   2   3
 *	fold_out 0 ->1
 *
 * This costs two more messages of the whole vector. Thakur, Rabenseifner and
 * Gropp, "Optimization of Collective Communication Operations in MPICH", Int.
 * J. of High Performance Computing Applications 19(1), 2005.
 */
#ifndef LOCKSTEP_COLL_FOLD_H
#define LOCKSTEP_COLL_FOLD_H

#include "coll/pattern.h"

struct dist__fold {
	int size;
	int extra;
	int rank; /* this rank's folded number, -1 if it sits out */
	int root; /* the rank that counts as 0 */
};

/* dist__fold_of returns the fold of rank, counted from the root, in a world of
 * world_size whose root is rank 0. */
struct dist__fold dist__fold_of(int rank, int world_size);

/* dist__fold_from returns the fold of the caller; ranks count from root. */
struct dist__fold dist__fold_from(const struct dist__coll *coll, int root);

/* dist__fold_first returns the first rank, counted from the root, of a folded
 * number; the world size for number == size. */
int dist__fold_first(const struct dist__fold *fold, int number);

/* dist__fold_member returns the group rank of a folded number. */
int dist__fold_member(const struct dist__fold *fold, int number);

/* dist__fold_receives returns whether this rank receives a vector in fold_in(),
 * and needs scratch memory for it. */
bool dist__fold_receives(const struct dist__fold *fold);

/*
 * dist__fold_in and dist__fold_out are the first and the last part of a
 * reduction; every rank calls both. fold_in reduces the odd rank's vector into
 * the even rank's. fold_out copies result, the same span on both ranks, from
 * the even rank to the odd one. Errors: those of the transport.
 */
enum dist_error dist__fold_in(const struct dist__coll *coll,
			      const struct dist__fold *fold, uint32_t step,
			      struct dist__span vector, void *scratch);
enum dist_error dist__fold_out(const struct dist__coll *coll,
			       const struct dist__fold *fold, uint32_t step,
			       struct dist__span result);

/* dist__fold_in_cost_ns returns the time at which, on p ranks, the folded ranks
 * that receive begin the algorithm (the others begin at 0);
 * dist__fold_out_cost_ns the duration of fold_out. 0 if p is a power of two. */
double dist__fold_in_cost_ns(const struct dist__cost *cost, int p,
			     double bytes);
double dist__fold_out_cost_ns(const struct dist__cost *cost, int p,
			      double bytes);

#endif
