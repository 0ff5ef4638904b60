/*
 * wire.c - matching a send with its receive.
 *
 *	sender                            receiver
 *	isend: asks (tag, fingerprint) -> irecv of that tag takes the question
 *	launches ncclSend             <-  grants a number, launches ncclRecv
 *
 * The transport matches the question by peer and tag and compares the
 * fingerprints. A grant answers one question, by the number that the question
 * has among the sender's, and gives the two a number on the wire. Both ends
 * launch in the order of these, and each only what the other launches too.
 */
#include "realbackend/nccl/group.h"

#include <stdlib.h>
#include <string.h>

/* Steps of the two messages; seq is 0 as of every point-to-point message, and
 * in an answer the number of the question. */
enum { ASK, GRANT };

static struct dist__message message_of(const struct dist__task *task,
				       uint32_t step)
{
	return (struct dist__message){.peer = task->peer,
				      .tag = task->op->tag,
				      .step = step,
				      .fingerprint = task->op->fingerprint};
}

static struct dist__message grant_of(struct dist__task *task)
{
	struct dist__message m = message_of(task, GRANT);

	m.seq = task->question;
	m.data = &task->grant;
	m.bytes = sizeof task->grant;
	return m;
}

/* Puts task on the wire to or from its peer. */
static enum dist_error take_wire(struct dist__nccl_group *g,
				 struct dist__task *task)
{
	bool inbound = task->op->kind == DIST__RECV;
	struct dist__wire **place = &g->wires[2 * task->peer + inbound];

	if (!*place) {
		*place = calloc(1, sizeof **place);
		if (!*place)
			return DIST_ERR_NO_MEMORY;
		(*place)->communicator.device = g->device;
		(*place)->communicator.text = &g->text;
	}
	task->wire = *place;
	task->communicator = &task->wire->communicator;
	return DIST_OK;
}

enum dist_error dist__wire_ask(struct dist__nccl_group *g,
			       struct dist__task *task)
{
	struct dist__message ask;
	enum dist_error error;

	task->peer = task->op->peer;
	task->source = -1;
	ask = message_of(task, ASK);
	ask.data = &task->question;
	ask.bytes = sizeof task->question;
	if (task->op->kind == DIST__RECV) {
		ask.members = g->members;
		ask.source = &task->source;
		return dist__control_receive(&g->control, ask, &task->ask);
	}
	task->question = g->questions++;
	error = dist__control_receive(&g->control, grant_of(task),
				      &task->answer);
	return error ? error : dist__control_send(&g->control, ask, &task->ask);
}

static enum dist_error grant(struct dist__nccl_group *g,
			     struct dist__task *task)
{
	const struct dist__libraries *l = &g->device->libraries;
	struct dist__wire *wire = task->wire;
	enum dist_error error = DIST_OK;

	if (!wire->begun)
		error = dist__communicator_check(
			&wire->communicator, "ncclGetUniqueId",
			l->nccl.GetUniqueId(&wire->id));
	if (error)
		return error;
	task->grant.number = wire->granted++;
	task->grant.id = wire->id;
	return dist__control_send(&g->control, grant_of(task), &task->answer);
}

/* Makes the communicator of a wire at its first message. */
static enum dist_error begin(struct dist__task *task, int rank)
{
	struct dist__wire *wire = task->wire;

	if (wire->begun)
		return DIST_OK;
	wire->begun = true;
	return dist__communicator_start(&wire->communicator, &task->grant.id, 2,
					rank);
}

static enum dist_error look_as_sender(struct dist__nccl_group *g,
				      struct dist__task *task, bool *agreed)
{
	enum dist_error error = DIST_OK;

	*agreed = dist__control_ended(&g->control, &task->ask, &error);
	*agreed &= dist__control_ended(&g->control, &task->answer, &error);
	if (error || !*agreed)
		return error;
	error = take_wire(g, task);
	return error ? error : begin(task, 1);
}

static enum dist_error look_as_receiver(struct dist__nccl_group *g,
					struct dist__task *task, bool *agreed)
{
	enum dist_error error = DIST_OK;

	*agreed = false;
	if (!dist__control_ended(&g->control, &task->ask, &error))
		return DIST_OK;
	if (dist__op_is_any(task->op) && task->source >= 0) {
		task->peer = dist__group_rank(g->members, task->source);
		task->op->source = task->peer;
	}
	if (error)
		return error;
	if (!task->wire) {
		error = take_wire(g, task);
		if (!error)
			error = grant(g, task);
		if (!error)
			error = begin(task, 0);
	}
	/* The answer must be on its way before the task may end. */
	if (!error)
		*agreed =
			dist__control_ended(&g->control, &task->answer, &error);
	return error;
}

enum dist_error dist__wire_look(struct dist__nccl_group *g,
				struct dist__task *task, bool *agreed)
{
	return task->op->kind == DIST__RECV ? look_as_receiver(g, task, agreed)
					    : look_as_sender(g, task, agreed);
}
