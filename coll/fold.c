#include "coll/fold.h"

struct dist__fold dist__fold_of(int rank, int world_size)
{
	struct dist__fold fold = {.size = 1, .rank = -1};

	while (fold.size <= world_size / 2)
		fold.size *= 2;
	fold.extra = world_size - fold.size;
	if (rank >= 2 * fold.extra)
		fold.rank = rank - fold.extra;
	else if (rank % 2 == 0)
		fold.rank = rank / 2;
	return fold;
}

struct dist__fold dist__fold_from(const struct dist__coll *coll, int root)
{
	int p = coll->world_size;
	struct dist__fold fold = dist__fold_of((coll->rank - root + p) % p, p);

	fold.root = root;
	return fold;
}

int dist__fold_first(const struct dist__fold *fold, int number)
{
	return number < fold->extra ? 2 * number : number + fold->extra;
}

int dist__fold_member(const struct dist__fold *fold, int number)
{
	return (dist__fold_first(fold, number) + fold->root) %
	       (fold->size + fold->extra);
}

/* The other one of the pair. */
static int partner(const struct dist__coll *coll, const struct dist__fold *fold)
{
	int p = coll->world_size;

	return (coll->rank + (fold->rank < 0 ? p - 1 : 1)) % p;
}

bool dist__fold_receives(const struct dist__fold *fold)
{
	return fold->rank >= 0 && fold->rank < fold->extra;
}

enum dist_error dist__fold_in(const struct dist__coll *coll,
			      const struct dist__fold *fold, uint32_t step,
			      struct dist__span vector, void *scratch)
{
	struct dist__addition theirs = {vector, vector, scratch};

	if (fold->rank < 0)
		return dist__send(coll, step, partner(coll, fold), vector);
	if (!dist__fold_receives(fold))
		return DIST_OK;
	return dist__recv_sum(coll, step, partner(coll, fold), &theirs);
}

enum dist_error dist__fold_out(const struct dist__coll *coll,
			       const struct dist__fold *fold, uint32_t step,
			       struct dist__span result)
{
	if (fold->rank < 0)
		return dist__recv(coll, step, partner(coll, fold), result);
	if (dist__fold_receives(fold))
		return dist__send(coll, step, partner(coll, fold), result);
	return DIST_OK;
}

double dist__fold_in_cost_ns(const struct dist__cost *cost, int p, double bytes)
{
	if (dist__fold_of(0, p).extra == 0)
		return 0;
	return dist__cost_message(cost, bytes) + dist__cost_reduce(cost, bytes);
}

double dist__fold_out_cost_ns(const struct dist__cost *cost, int p,
			      double bytes)
{
	return dist__fold_of(0, p).extra ? dist__cost_message(cost, bytes) : 0;
}
