/* backend.c - the back end of a group: its functions are requests to the
 * simulation. */
#include "realbackend/seat/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "realbackend/seat/slot.h"

struct seat_backend {
	struct dist__backend base;
	uint32_t object; /* the simulation's number for it */
	char failure[DIST__SEAT_TEXT];
};

static struct seat_backend *of(struct dist__backend *b)
{
	return (struct seat_backend *)b;
}

static struct dist__seat_slot *begin(struct dist__backend *b)
{
	struct dist__seat_slot *seat = dist__seat_begin();

	seat->object = of(b)->object;
	return seat;
}

/* ---- operations --------------------------------------------------------- */

/* A long path keeps its end. */
static void put_file(char *to, const char *file)
{
	size_t len = file ? strlen(file) : 0;

	if (len >= DIST__SEAT_FILE)
		file += len - (DIST__SEAT_FILE - 1);
	strcpy(to, file ? file : "");
}

static void put_op(struct dist__seat_slot *seat, const struct dist__op *op)
{
	struct dist__seat_op *to = &seat->op;

	to->op = *op;
	put_file(to->file, op->site.file);
	to->has_sides = op->sides != NULL;
	if (op->sides)
		to->sides = *op->sides;
	to->has_purpose = op->purpose != NULL;
	if (op->purpose) {
		to->purpose = *op->purpose;
		snprintf(to->purpose_name, sizeof to->purpose_name, "%s",
			 op->purpose->name);
	}
}

/* The simulation says that op is done. */
static void finish(const struct dist__seat_slot *seat, struct dist__op *op,
		   enum dist_error error)
{
	const struct dist__op *answer = &seat->op.op;

	op->source = answer->source;
	op->started_ns = answer->started_ns;
	dist__op_finish(op, error, answer->ended_ns);
}

static enum dist_error run(struct dist__backend *b, struct dist__op *op)
{
	struct dist__seat_slot *seat = begin(b);
	enum dist_error error;

	put_op(seat, op);
	seat->op.op.ended_ns = dist__seat_now_ns();
	error = dist__seat_ask(seat, DIST__SEAT_RUN);
	finish(seat, op, error);
	dist__seat_end();
	return error;
}

static enum dist_error submit(struct dist__backend *b, struct dist__op *op)
{
	struct dist__seat_slot *seat = begin(b);
	enum dist_error error;

	put_op(seat, op);
	error = dist__seat_ask(seat, DIST__SEAT_SUBMIT);
	/* A number that the other process knows; never followed here.
	 * NOLINTNEXTLINE(performance-no-int-to-ptr) */
	op->private = (void *)(uintptr_t)seat->work;
	dist__seat_end();
	return error;
}

/* Asks about op, which was submitted and is not known to be done. */
static enum dist_error look(struct dist__backend *b, struct dist__op *op,
			    enum dist__seat_code code, int64_t deadline_ns)
{
	struct dist__seat_slot *seat;
	enum dist_error error;

	if (dist__op_is_done(op))
		return op->error;
	seat = begin(b);
	seat->work = (uint32_t)(uintptr_t)op->private;
	seat->time_ns = deadline_ns;
	error = dist__seat_ask(seat, code);
	if (seat->done)
		finish(seat, op, seat->op.op.error);
	dist__seat_end();
	return error;
}

static enum dist_error wait_for(struct dist__backend *b, struct dist__op *op,
				int64_t deadline_ns)
{
	return look(b, op, DIST__SEAT_WAIT, deadline_ns);
}

static bool test(struct dist__backend *b, struct dist__op *op)
{
	(void)look(b, op, DIST__SEAT_TEST, 0);
	return dist__op_is_done(op);
}

/* ---- the rest ----------------------------------------------------------- */

static int64_t now_ns(struct dist__backend *b)
{
	(void)b;
	return dist__seat_now_ns();
}

static enum dist_error compute(struct dist__backend *b, int64_t duration_ns,
			       const char *label)
{
	struct dist__seat_slot *seat = begin(b);
	enum dist_error error;

	seat->time_ns = duration_ns;
	snprintf(seat->text, sizeof seat->text, "%s", label);
	error = dist__seat_ask(seat, DIST__SEAT_COMPUTE);
	dist__seat_end();
	return error;
}

static void abort_group(struct dist__backend *b)
{
	struct dist__seat_slot *seat = begin(b);

	(void)dist__seat_ask(seat, DIST__SEAT_ABORT);
	dist__seat_end();
}

static const char *failure_text(struct dist__backend *b)
{
	struct dist__seat_slot *seat = begin(b);

	(void)dist__seat_ask(seat, DIST__SEAT_FAILURE);
	memcpy(of(b)->failure, seat->text, sizeof of(b)->failure);
	dist__seat_end();
	return of(b)->failure;
}

static void free_backend(struct dist__backend *b)
{
	struct dist__seat_slot *seat = begin(b);

	(void)dist__seat_ask(seat, DIST__SEAT_BACKEND_FREE);
	dist__seat_end();
	free(b);
}

static const struct dist__backend_ops ops = {
	.run = run,
	.submit = submit,
	.wait = wait_for,
	.test = test,
	.now_ns = now_ns,
	.compute = compute,
	.abort = abort_group,
	.failure_text = failure_text,
	.free = free_backend,
};

enum dist_error dist__seat_backend_new(const struct dist__place *place,
				       const struct dist__members *members,
				       struct dist__backend **backend,
				       struct dist_message *message)
{
	struct seat_backend *fresh = calloc(1, sizeof *fresh);
	struct dist__seat_slot *seat;
	enum dist_error error;

	(void)place;
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	fresh->base.ops = &ops;
	seat = dist__seat_begin();
	seat->members = *members;
	snprintf(seat->name, sizeof seat->name, "%s",
		 members->name ? members->name : "");
	snprintf(seat->description, sizeof seat->description, "%s",
		 members->description ? members->description : "");
	error = dist__seat_ask(seat, DIST__SEAT_BACKEND_NEW);
	fresh->object = seat->object;
	memcpy(message->text, seat->text, sizeof message->text);
	dist__seat_end();
	if (error)
		free(fresh);
	else
		*backend = &fresh->base;
	return error;
}
