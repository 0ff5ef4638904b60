#include "scenarios/call.h"

#include "base/array.h"
#include "scenarios/pattern.h"

static struct pattern pattern_of(const struct call *call)
{
	return (struct pattern){
		.reduces = call->op == DIST__ALL_REDUCE ||
			   call->op == DIST__REDUCE_SCATTER,
		.op = call->reduce,
		.dtype = call->in.dtype,
		.world_size = dist_get_world_size(call->lane->group),
	};
}

/* Elements number first on, so many of them. */
static struct dist_tensor slice(struct dist_tensor tensor, size_t first,
				size_t numel)
{
	if (tensor.data)
		tensor.data = (char *)tensor.data +
			      first * dist_dtype_size(tensor.dtype);
	tensor.numel = numel;
	return tensor;
}

struct dist_tensor call_part(struct dist_tensor tensor, int r, int parts)
{
	size_t numel = tensor.numel / (size_t)parts;

	return slice(tensor, (size_t)r * numel, numel);
}

static void fill(const struct call *call)
{
	struct pattern p = pattern_of(call);
	int r, rank = dist_get_rank(call->lane->group);
	size_t first = 0;

	if (call->op != DIST__ALL_TO_ALL) {
		pattern_fill(&p, call->in, rank, call->shift);
		return;
	}
	for (r = 0; r < p.world_size; first += call->in_parts[r], r++)
		pattern_fill(&p, slice(call->in, first, call->in_parts[r]),
			     rank, call->shift + r);
}

static double count_wrong(const struct call *call)
{
	struct pattern p = pattern_of(call);
	int r, num = p.world_size, rank = dist_get_rank(call->lane->group);
	size_t first = 0;
	double wrong = 0;

	switch (call->op) {
	case DIST__REDUCE_SCATTER:
		/* Its elements are those of a later part of the whole. */
		first = (size_t)rank * call->out.numel % 13;
		return (double)pattern_count_wrong(&p, call->out, 0,
						   call->shift + (int)first);
	case DIST__ALL_GATHER:
		for (r = 0; r < num; r++)
			wrong += (double)pattern_count_wrong(
				&p, call_part(call->out, r, num), r,
				call->shift);
		return wrong;
	case DIST__ALL_TO_ALL:
		for (r = 0; r < num; first += call->out_parts[r], r++)
			wrong += (double)pattern_count_wrong(
				&p, slice(call->out, first, call->out_parts[r]),
				r, call->shift + rank);
		return wrong;
	case DIST__SEND:
		return (double)pattern_count_wrong(
			&p, call->out, (rank + num - 1) % num, call->shift);
	default:
		return (double)pattern_count_wrong(&p, call->out, 0,
						   call->shift);
	}
}

/* One round of a ring: to the next rank and from the one before. */
static enum dist_error begin_round(struct training *t, struct call *call)
{
	struct dist_group *group = call->lane->group;
	int num = dist_get_world_size(group), rank = dist_get_rank(group);
	const struct dist_p2p_op ops[] = {
		{DIST_ISEND, call->in, (rank + 1) % num, 0},
		{DIST_IRECV, call->out, (rank + num - 1) % num, 0},
	};
	struct dist_work *works[2] = {NULL, NULL};
	enum dist_error error;

	(void)training_begin(t, &call->pending, WORKLOAD_SEND, NULL, call->in);
	call->received = call->pending;
	error = dist_batch_isend_irecv(group, ops, 2, works);
	call->pending.work = works[0];
	call->received.work = works[1];
	call->rounds--;
	return error;
}

enum dist_error call_begin(struct training *t, struct call *call)
{
	struct pending *p = &call->pending;
	struct lane *lane = call->lane;

	if (!lane)
		return DIST_OK;
	if (t->job->check && !call->is_kept)
		fill(call);
	if (call->label)
		(void)dist_label(lane->group, call->label, call->number);
	switch (call->op) {
	case DIST__ALL_REDUCE:
		return dist_all_reduce(training_begin(t, p, WORKLOAD_ALL_REDUCE,
						      lane, call->out),
				       call->out, call->reduce, &p->work);
	case DIST__ALL_GATHER:
		return dist_all_gather_single(
			training_begin(t, p, WORKLOAD_ALL_GATHER, lane,
				       call->out),
			call->out, call->in, &p->work);
	case DIST__REDUCE_SCATTER:
		return dist_reduce_scatter_single(
			training_begin(t, p, WORKLOAD_REDUCE_SCATTER, lane,
				       call->in),
			call->out, call->in, call->reduce, &p->work);
	case DIST__ALL_TO_ALL:
		return dist_all_to_all_single(
			training_begin(t, p, WORKLOAD_ALL_TO_ALL, lane,
				       call->in),
			call->out, call->in, call->out_parts, call->in_parts,
			&p->work);
	default:
		return begin_round(t, call);
	}
}

bool call_in_flight(const struct call *call)
{
	return call->pending.work || call->received.work;
}

/* Waits for what is in flight of a call. */
static enum dist_error wait_for(struct training *t, struct call *call)
{
	enum dist_error error;

	if (!call_in_flight(call))
		return DIST_OK;
	error = training_wait(t, &call->received);
	if (!error)
		error = training_wait(t, &call->pending);
	if (!error && t->job->check && !call->is_kept)
		t->wrong += count_wrong(call);
	return error;
}

enum dist_error call_round(struct training *t, struct call *call)
{
	enum dist_error error = wait_for(t, call);

	return error || call->rounds == 0 ? error : begin_round(t, call);
}

enum dist_error call_finish(struct training *t, struct call *call)
{
	enum dist_error error = DIST_OK;

	while (!error && call_in_flight(call))
		error = call_round(t, call);
	return error;
}

void call_release(struct call *call)
{
	dist_work_free(call->pending.work);
	dist_work_free(call->received.work);
}

enum dist_error call_keep(struct training *t, struct call *call)
{
	call->is_kept = true;
	return dist__array_add(&t->kept, &t->num_kept, &call, sizeof call)
		       ? DIST_OK
		       : DIST_ERR_NO_MEMORY;
}

void calls_fill(const struct training *t)
{
	for (size_t i = 0; i < t->num_kept; i++) {
		t->kept[i]->shift = (int)i + t->step;
		if (t->kept[i]->lane)
			fill(t->kept[i]);
	}
}

double calls_count_wrong(const struct training *t)
{
	double wrong = 0;

	for (size_t i = 0; i < t->num_kept; i++)
		if (t->kept[i]->lane)
			wrong += count_wrong(t->kept[i]);
	return wrong;
}

enum dist_error call_make(struct training *t, struct call *call)
{
	enum dist_error error = call_begin(t, call);

	return error ? error : call_finish(t, call);
}
