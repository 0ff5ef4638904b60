/*
 * match.c - matching a send with its receive.
 *
 *	sender                            receiver
 *	isend: asks (tag, fingerprint) -> irecv of that tag takes the question
 *	launches its send             <-  grants a number, launches its receive
 *
 * The transport matches the question by peer and tag and compares the
 * fingerprints. A grant answers one question, by the sender's number of it, and
 * gives both ends the library's number of the message: each end launches only
 * what the other launches, too.
 */
#include "realbackend/agree/group.h"

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

static struct dist__message grant_of(const struct dist__agreed *g,
				     struct dist__task *task)
{
	struct dist__message m = message_of(task, GRANT);

	m.seq = task->question;
	m.data = &task->grant;
	m.bytes = g->library->grant_bytes;
	return m;
}

enum dist_error dist__match_ask(struct dist__agreed *g, struct dist__task *task)
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
	error = dist__control_receive(&g->control, grant_of(g, task),
				      &task->answer);
	return error ? error : dist__control_send(&g->control, ask, &task->ask);
}

static enum dist_error granted(struct dist__agreed *g, struct dist__task *task)
{
	return g->library->granted ? g->library->granted(g, task) : DIST_OK;
}

static enum dist_error look_as_sender(struct dist__agreed *g,
				      struct dist__task *task, bool *agreed)
{
	enum dist_error error = DIST_OK;

	*agreed = dist__control_ended(&g->control, &task->ask, &error);
	*agreed &= dist__control_ended(&g->control, &task->answer, &error);
	return error || !*agreed ? error : granted(g, task);
}

static enum dist_error grant(struct dist__agreed *g, struct dist__task *task)
{
	enum dist_error error = g->library->grant(g, task);

	task->is_granted = true;
	if (!error)
		error = dist__control_send(&g->control, grant_of(g, task),
					   &task->answer);
	return error ? error : granted(g, task);
}

static enum dist_error look_as_receiver(struct dist__agreed *g,
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
	if (!error && !task->is_granted)
		error = grant(g, task);
	/* The answer must be on its way before the task may end. */
	if (!error)
		*agreed =
			dist__control_ended(&g->control, &task->answer, &error);
	return error;
}

enum dist_error dist__match_look(struct dist__agreed *g,
				 struct dist__task *task, bool *agreed)
{
	return task->op->kind == DIST__RECV ? look_as_receiver(g, task, agreed)
					    : look_as_sender(g, task, agreed);
}
