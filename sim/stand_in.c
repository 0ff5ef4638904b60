/*
 * stand_in.c - who stands for whom, and results of collectives that follow from
 * what a few ranks bring.
 */
#include "sim/stand_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "core/reduce.h"

/* `each` tensors for each operation of a bundle; their memory is owned. */
struct dist__sim_brought {
	struct dist__sim_brought *next;
	int rank; /* in the group */
	size_t each, num;
	struct dist_tensor tensors[];
};

/* The result of one operation at a rank. */
struct result {
	const struct dist__op *op;
	const struct dist__sim_seats *seats;
	const struct dist__sim_brought *all;
	size_t n; /* of a bundle */
	struct dist_message *message;
};

int *dist__sim_stand_ins(const int *ranks, int n, int present, int *num_running,
			 int *lacks)
{
	int *list = malloc((size_t)n * sizeof *list);
	int *places = malloc((size_t)present * sizeof *places);

	*num_running = 0;
	*lacks = -1;
	for (int i = 0; places && i < present; i++)
		places[i] = -1;
	for (int i = 0; places && i < n; i++)
		if (ranks[i] < present) {
			places[ranks[i]] = i;
			++*num_running;
		}
	for (int i = 0; list && places && i < n && *lacks < 0; i++) {
		list[i] = places[ranks[i] % present];
		if (list[i] < 0)
			*lacks = ranks[i];
	}
	if (!places || *lacks >= 0) {
		free(list);
		list = NULL;
	}
	free(places);
	return list;
}

/* ---- what is brought ------------------------------------------------------
 */

static size_t bytes_of(struct dist_tensor t)
{
	return t.data ? t.numel * dist_dtype_size(t.dtype) : 0;
}

static size_t num_of(const struct dist__op *op)
{
	const struct dist__bundle *bundle = &dist__op_sides(op)->bundle;

	return bundle->kind ? bundle->num : 1;
}

/* The nth of the operations that op is. */
static struct dist__op nth_of(const struct dist__op *op, size_t n, int ranks,
			      struct dist__sides *sides)
{
	const struct dist__bundle *bundle = &dist__op_sides(op)->bundle;
	struct dist__op one = *op;

	one.sides = sides;
	*sides = *dist__op_sides(op);
	if (!bundle->kind)
		return one;
	*sides = (struct dist__sides){.in = {.count = 0}};
	one.tensor = bundle->in[n];
	if (bundle->out && op->kind == DIST__ALL_GATHER) {
		sides->out.count = ranks;
		sides->out.whole = bundle->out[n];
	} else if (bundle->out) {
		sides->in.count = ranks;
		sides->in.whole = bundle->in[n];
		one.tensor = bundle->out[n];
	}
	return one;
}

/* Whether there is neither data nor lengths that could differ. */
static bool is_plain(const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);

	return op->phantom && (op->kind != DIST__ALL_TO_ALL ||
			       (!sides->in.list && !sides->in.splits &&
				!sides->out.list && !sides->out.splits));
}

/* How many tensors the rank brings to one operation. */
static size_t brings(const struct dist__op *one, int self)
{
	switch (one->kind) {
	case DIST__REDUCE_SCATTER:
	case DIST__ALL_TO_ALL:
	case DIST__SCATTER:
		return (size_t)one->sides->in.count;
	case DIST__BROADCAST:
		return one->peer == self;
	case DIST__BARRIER:
		return 0;
	default:
		return 1;
	}
}

static enum dist_error copy_in(struct dist_tensor *to, struct dist_tensor from)
{
	*to = from;
	to->data = NULL;
	if (bytes_of(from) == 0)
		return DIST_OK;
	to->data = malloc(bytes_of(from));
	if (!to->data)
		return DIST_ERR_NO_MEMORY;
	memcpy(to->data, from.data, bytes_of(from));
	return DIST_OK;
}

enum dist_error dist__sim_bring(const struct dist__op *op,
				const struct dist__sim_seats *seats,
				struct dist__sim_brought **all)
{
	size_t num = is_plain(op) ? 0 : num_of(op), each = 0;
	struct dist__sim_brought *fresh;
	enum dist_error error = DIST_OK;
	struct dist__sides sides;
	struct dist__op one;

	if (num > 0) {
		one = nth_of(op, 0, seats->ranks, &sides);
		each = brings(&one, seats->self);
	}
	fresh = calloc(1,
		       sizeof *fresh + num * each * sizeof fresh->tensors[0]);
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	fresh->rank = seats->self;
	fresh->each = each;
	fresh->num = num * each;
	for (size_t i = 0; i < fresh->num && !error; i++) {
		one = nth_of(op, i / each, seats->ranks, &sides);
		error = copy_in(&fresh->tensors[i],
				sides.in.count > 0
					? dist__part(&sides.in, (int)(i % each))
					: one.tensor);
	}
	fresh->next = *all;
	*all = fresh;
	return error;
}

void dist__sim_brought_free(struct dist__sim_brought *all)
{
	struct dist__sim_brought *next;

	for (; all; all = next) {
		next = all->next;
		for (size_t i = 0; i < all->num; i++)
			free(all->tensors[i].data);
		free(all);
	}
}

/* ---- what results ----------------------------------------------------------
 */

/* Finds what `from` has brought as its part, which is to have as many elements
 * as `to`. Errors: MISMATCH. */
static enum dist_error find(const struct result *r, int from, int part,
			    struct dist_tensor to, struct dist_tensor *found)
{
	int stand_in = r->seats->stand_ins[from];
	const struct dist__sim_brought *b = r->all;
	const char *call = dist__op_called(r->op);
	size_t place;

	while (b && b->rank != stand_in)
		b = b->next;
	place = b ? r->n * b->each + (size_t)part : 0;
	if (!b || place >= b->num)
		return dist__refuse_as(
			r->message, DIST_ERR_MISMATCH,
			"%s: rank %d of the group brings data, and rank %d, "
			"which stands for it, brings none: expected ranks that "
			"do the same",
			call, from, stand_in);
	*found = b->tensors[place];
	if (found->numel == to.numel)
		return DIST_OK;
	return dist__refuse_as(r->message, DIST_ERR_MISMATCH,
			       "%s: rank %d of the group has room for %zu "
			       "elements of rank %d, for which rank %d stands "
			       "with %zu: expected ranks that do the same",
			       call, r->seats->self, to.numel, from, stand_in,
			       found->numel);
}

static enum dist_error copy_from(const struct result *r, int from, int part,
				 struct dist_tensor to)
{
	struct dist_tensor found = {.data = NULL};
	enum dist_error error = find(r, from, part, to, &found);

	if (!error && bytes_of(to) > 0 && found.data)
		memmove(to.data, found.data, bytes_of(to));
	return error;
}

/* Every part of out is what each rank has for this one. */
static enum dist_error spread(const struct result *r,
			      const struct dist__parts *out, int part)
{
	enum dist_error error = DIST_OK;

	for (int i = 0; i < out->count && !error; i++)
		error = copy_from(r, i, part, dist__part(out, i));
	return error;
}

/* Combines `times` of what data holds, doubling what is combined already;
 * scratch has room for it twice. */
static void multiply(const struct dist__op *op, struct dist_tensor t, int times,
		     char *scratch)
{
	size_t bytes = bytes_of(t);
	char *doubled = scratch, *copy = scratch + bytes;

	memcpy(doubled, t.data, bytes);
	for (int left = times - 1; left > 0; left /= 2) {
		if (left % 2)
			dist__reduce(t.dtype, op->reduce_op, t.data, doubled,
				     t.numel);
		memcpy(copy, doubled, bytes);
		dist__reduce(t.dtype, op->reduce_op, doubled, copy, t.numel);
	}
}

/* Combines all ranks' part; room has place for to three times. */
static enum dist_error combine(const struct result *r, int part,
			       struct dist_tensor to, char *room)
{
	const struct dist__sim_seats *seats = r->seats;
	struct dist_tensor term = to, found = {.data = NULL};
	int times = 0, terms = 0;
	enum dist_error error;

	term.data = room;
	for (int i = 0; i < seats->ranks; i++) {
		if (seats->stand_ins[i] != i)
			continue;
		error = find(r, i, part, to, &found);
		if (error || !found.data)
			return error;
		memcpy(room, found.data, bytes_of(to));
		times = 0;
		for (int j = 0; j < seats->ranks; j++)
			times += seats->stand_ins[j] == i;
		/* The average of equals is any of them. */
		if (r->op->reduce_op != DIST_AVG || times < seats->ranks)
			multiply(r->op, term, times, room + bytes_of(to));
		if (terms++ == 0)
			memcpy(to.data, room, bytes_of(to));
		else
			dist__reduce(to.dtype, r->op->reduce_op, to.data, room,
				     to.numel);
	}
	if (r->op->reduce_op == DIST_AVG && times < seats->ranks)
		dist__divide(to.dtype, to.data, to.numel, seats->ranks);
	return DIST_OK;
}

static enum dist_error combine_all(const struct result *r, int part,
				   struct dist_tensor to)
{
	enum dist_error error;
	char *room;

	if (bytes_of(to) == 0)
		return DIST_OK;
	room = malloc(3 * bytes_of(to));
	if (!room)
		return DIST_ERR_NO_MEMORY;
	error = combine(r, part, to, room);
	free(room);
	return error;
}

static enum dist_error take_one(const struct result *r,
				const struct dist__op *one)
{
	int self = r->seats->self;

	switch (one->kind) {
	case DIST__ALL_REDUCE:
		return combine_all(r, 0, one->tensor);
	case DIST__REDUCE:
		return one->peer == self ? combine_all(r, 0, one->tensor)
					 : DIST_OK;
	case DIST__REDUCE_SCATTER:
		return combine_all(r, self, one->tensor);
	case DIST__ALL_GATHER:
	case DIST__GATHER:
		return spread(r, &one->sides->out, 0);
	case DIST__ALL_TO_ALL:
		return spread(r, &one->sides->out, self);
	case DIST__SCATTER:
	case DIST__BROADCAST:
		/* Whose root does not run has no data, unless nobody has. */
		return bytes_of(one->tensor) == 0
			       ? DIST_OK
			       : copy_from(r, one->peer,
					   one->kind == DIST__SCATTER ? self
								      : 0,
					   one->tensor);
	default:
		return DIST_OK;
	}
}

enum dist_error dist__sim_take(const struct dist__op *op,
			       const struct dist__sim_seats *seats,
			       const struct dist__sim_brought *all,
			       struct dist_message *message)
{
	size_t num = is_plain(op) ? 0 : num_of(op);
	enum dist_error error = DIST_OK;
	struct dist__sides sides;

	for (size_t n = 0; n < num && !error; n++) {
		struct dist__op one = nth_of(op, n, seats->ranks, &sides);

		error = take_one(&(struct result){.op = op,
						  .seats = seats,
						  .all = all,
						  .n = n,
						  .message = message},
				 &one);
	}
	return error;
}
