#include "realbackend/agree/control.h"

#include <stdlib.h>

/* ---- messages ---------------------------------------------------------- */

static void address(const struct dist__control *control,
		    struct dist__message *m)
{
	m->peer = dist__global_rank(control->members, m->peer);
	m->group = control->members->group_id;
}

enum dist_error dist__control_send(const struct dist__control *control,
				   struct dist__message m,
				   struct dist__request **request)
{
	address(control, &m);
	return control->transport->ops->isend(control->transport, &m, request);
}

enum dist_error dist__control_receive(const struct dist__control *control,
				      struct dist__message m,
				      struct dist__request **request)
{
	address(control, &m);
	return control->transport->ops->irecv(control->transport, &m, request);
}

bool dist__control_ended(const struct dist__control *control,
			 struct dist__request **request, enum dist_error *error)
{
	struct dist__transport *t = control->transport;
	enum dist_error end;

	if (!*request)
		return true;
	if (!t->ops->test(t, *request))
		return false;
	end = t->ops->wait(t, *request, DIST_TIMEOUT_NEVER);
	*request = NULL;
	if (!*error)
		*error = end;
	return true;
}

void dist__control_drop(const struct dist__control *control,
			struct dist__request **request)
{
	struct dist__transport *t = control->transport;

	if (*request)
		(void)t->ops->wait(t, *request, 0);
	*request = NULL;
}

/* ---- lengths of parts -------------------------------------------------- */

/* What this rank and one other tell each other. */
struct exchange {
	uint64_t sent, expected, got;
	struct dist__request *send, *receive;
};

struct dist__lengths {
	int count;
	struct exchange with[]; /* by rank */
};

enum dist_error dist__agreement_lengths(struct dist__agreement *a,
					const struct dist__parts *in,
					const struct dist__parts *out)
{
	const struct dist__members *members = a->control->members;
	int size = members->world_size;
	struct dist__message m = {.tag = -1,
				  .seq = a->seq,
				  .step = DIST__STEP_LENGTHS,
				  .fingerprint = a->fingerprint,
				  .bytes = sizeof(uint64_t)};
	enum dist_error error = DIST_OK;

	a->lengths = calloc(1, sizeof *a->lengths +
				       (size_t)size * sizeof(struct exchange));
	if (!a->lengths)
		return DIST_ERR_NO_MEMORY;
	a->lengths->count = size;
	for (m.peer = 0; m.peer < size && !error; m.peer++) {
		struct exchange *x = &a->lengths->with[m.peer];

		if (m.peer == members->rank)
			continue;
		x->sent = dist__part(in, m.peer).numel;
		x->expected = dist__part(out, m.peer).numel;
		m.data = &x->sent;
		error = dist__control_send(a->control, m, &x->send);
		m.data = &x->got;
		if (!error)
			error = dist__control_receive(a->control, m,
						      &x->receive);
	}
	return error;
}

static enum dist_error look_at_lengths(struct dist__agreement *a, bool *agreed)
{
	enum dist_error error = DIST_OK;

	*agreed = true;
	for (int rank = 0; rank < a->lengths->count && !error; rank++) {
		struct exchange *x = &a->lengths->with[rank];

		*agreed &= dist__control_ended(a->control, &x->send, &error);
		*agreed &= dist__control_ended(a->control, &x->receive, &error);
		if (!error && !x->receive && x->got != x->expected)
			error = DIST_ERR_MISMATCH;
	}
	return error;
}

static void lengths_free(struct dist__agreement *a)
{
	for (int rank = 0; a->lengths && rank < a->lengths->count; rank++) {
		struct exchange *x = &a->lengths->with[rank];

		dist__control_drop(a->control, &x->send);
		dist__control_drop(a->control, &x->receive);
	}
	free(a->lengths);
	a->lengths = NULL;
}

/* ---- rounds ------------------------------------------------------------ */

void dist__agreement_start(struct dist__agreement *a,
			   const struct dist__control *control, uint32_t seq,
			   uint32_t step, uint64_t fingerprint)
{
	*a = (struct dist__agreement){.control = control,
				      .seq = seq,
				      .step = step,
				      .fingerprint = fingerprint,
				      .distance = 0,
				      .heard = 1};
}

static enum dist_error start_round(struct dist__agreement *a)
{
	int size = a->control->members->world_size;
	int rank = a->control->members->rank;
	struct dist__message m = {.peer = (rank + a->distance) % size,
				  .tag = -1,
				  .seq = a->seq,
				  .step = a->step,
				  .fingerprint = a->fingerprint,
				  .data = &a->vote,
				  .bytes = sizeof a->vote};
	enum dist_error error = dist__control_send(a->control, m, &a->send);

	m.data = &a->heard;
	m.peer = (rank + size - a->distance) % size;
	return error ? error
		     : dist__control_receive(a->control, m, &a->receive);
}

enum dist_error dist__agreement_look(struct dist__agreement *a, bool *agreed)
{
	int size = a->control->members->world_size;
	enum dist_error error = DIST_OK;
	bool ended = true;

	*agreed = false;
	if (a->lengths) {
		error = look_at_lengths(a, &ended);
		if (error || !ended)
			return error;
		lengths_free(a);
	}
	while (a->distance < size) {
		ended = dist__control_ended(a->control, &a->send, &error);
		ended &= dist__control_ended(a->control, &a->receive, &error);
		if (error || !ended)
			return error;
		a->vote &= a->heard;
		a->step += a->distance > 0;
		a->distance = a->distance > 0 ? 2 * a->distance : 1;
		if (a->distance < size)
			error = start_round(a);
		if (error)
			return error;
	}
	*agreed = true;
	return DIST_OK;
}

void dist__agreement_leave(struct dist__agreement *a)
{
	lengths_free(a);
	dist__control_drop(a->control, &a->send);
	dist__control_drop(a->control, &a->receive);
}
