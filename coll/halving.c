#include "coll/halving.h"

#include <stdlib.h>

/* The first of the count chunks that belongs to number; the end of them for
 * number == size. */
static int first_chunk(const struct dist__fold *fold, int count, int number)
{
	return count == fold->size ? number : dist__fold_first(fold, number);
}

struct dist__span dist__halving_block(const struct dist__halving *h, int number,
				      int size)
{
	int count = h->vector.count, from = number & ~(size - 1);
	int begin = first_chunk(&h->fold, count, from);
	int end = first_chunk(&h->fold, count, from + size);

	return dist__span_parts(h->coll, &h->vector, begin, end - begin);
}

struct dist__span dist__halving_whole(const struct dist__halving *h)
{
	return dist__span_parts(h->coll, &h->vector, 0, h->vector.count);
}

static enum dist_error reduce_scatter(struct dist__halving *h, void *scratch)
{
	int number = h->fold.rank;

	for (int size = h->fold.size / 2; size > 0; size /= 2) {
		int partner = dist__fold_member(&h->fold, number ^ size);
		struct dist__span keep = dist__halving_block(h, number, size);
		struct dist__addition theirs = {keep, keep, scratch};
		enum dist_error error = dist__exchange_sum(
			h->coll, h->step++, partner,
			dist__halving_block(h, number ^ size, size), partner,
			&theirs);

		if (error)
			return error;
	}
	return DIST_OK;
}

/* The most that one message brings to a reduce-scatter: a folded vector, or the
 * longer half. */
static size_t scratch_bytes(const struct dist__halving *h)
{
	if (dist__fold_receives(&h->fold))
		return dist__halving_whole(h).bytes;
	if (h->fold.rank < 0 || h->fold.size == 1)
		return 0;
	return dist__halving_block(h, h->fold.rank, h->fold.size / 2).bytes;
}

enum dist_error dist__halving_scatter_sums(struct dist__halving *h)
{
	void *scratch = NULL;
	enum dist_error error =
		dist__sum_scratch_new(h->coll, scratch_bytes(h), &scratch);

	if (!error)
		error = dist__fold_in(h->coll, &h->fold, h->step,
				      dist__halving_whole(h), scratch);
	h->step++;
	if (!error && h->fold.rank >= 0)
		error = reduce_scatter(h, scratch);
	free(scratch);
	return error;
}

/* ---- cost -------------------------------------------------------------- */

struct dist__halving_model dist__halving_model_of(const struct dist__cost *cost,
						  int p, bool by_number,
						  size_t numel,
						  size_t element_bytes)
{
	struct dist__fold fold = dist__fold_of(0, p);
	int count = by_number ? fold.size : p;

	return (struct dist__halving_model){
		.cost = cost,
		.fold = fold,
		.chunks = dist__chunks_of(numel, count),
		.count = count,
		.element_bytes = element_bytes,
		.fold_in_ns = dist__fold_in_cost_ns(
			cost, p, (double)(numel * element_bytes)),
	};
}

double dist__halving_bytes(const struct dist__halving_model *m, int number,
			   int size)
{
	int from = number & ~(size - 1);
	int first = first_chunk(&m->fold, m->count, from);
	int last = first_chunk(&m->fold, m->count, from + size);
	size_t begin = dist__chunks_numel(&m->chunks, first);
	size_t end = dist__chunks_numel(&m->chunks, last);

	return (double)((end - begin) * m->element_bytes);
}

double dist__halving_arrival_ns(const struct dist__halving_model *m,
				double sender_ns, double ready_ns, int number,
				int size)
{
	double sent_ns = sender_ns + m->cost->overhead_ns;

	return (sent_ns > ready_ns ? sent_ns : ready_ns) + m->cost->alpha_ns +
	       dist__halving_bytes(m, number, size) * m->cost->beta_ns_per_byte;
}

double dist__halving_reduced_ns(const struct dist__halving_model *m, int number,
				int size)
{
	double mine_ns, other_ns, received_ns, sent_ns;

	if (size == m->fold.size)
		return number < m->fold.extra ? m->fold_in_ns : 0;
	mine_ns = dist__halving_reduced_ns(m, number, 2 * size);
	other_ns = dist__halving_reduced_ns(m, number ^ size, 2 * size);
	received_ns =
		dist__halving_arrival_ns(m, other_ns, mine_ns, number, size);
	sent_ns = dist__halving_arrival_ns(m, mine_ns, other_ns, number ^ size,
					   size);
	return (received_ns > sent_ns ? received_ns : sent_ns) +
	       dist__cost_reduce(m->cost, dist__halving_bytes(m, number, size));
}
