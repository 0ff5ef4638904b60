/*
 * world.c - the simulated world, for a rank that runs in its own process: all
 * of the simulation happens in the simulating process.
 */
#include "realbackend/seat/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "realbackend/seat/slot.h"
#include "realbackend/seat/transport.h"

/* ---- a group: its functions are requests --------------------------------- */

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

static enum dist_error backend_new(const struct dist__place *place,
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

/* ---- the world ----------------------------------------------------------- */

bool dist__seat_is_here(void)
{
	const char *seats = getenv(DIST__SEAT_VARIABLE);

	return seats && *seats;
}

static bool is_available(struct dist_message *why)
{
	why->text[0] = '\0';
	return true;
}

static enum dist_error attach(const struct dist_init_options *options,
			      struct dist__place *place,
			      struct dist_message *message)
{
	static struct dist__transport transport = {
		.ops = &dist__seat_transport_ops};
	struct dist__seat_slot *seat;
	enum dist_error error = dist__seat_open(message);

	if (error)
		return error;
	seat = dist__seat_begin();
	/* Passes on what the options say of the rank's place. */
	seat->address = seat;
	seat->rank = options->rank;
	seat->world_size = options->world_size;
	seat->time_ns = options->timeout_ns;
	snprintf(seat->text, sizeof seat->text, "%s",
		 options->init_method ? options->init_method : "");
	error = dist__seat_ask(seat, DIST__SEAT_ATTACH);
	memcpy(message->text, seat->text, sizeof message->text);
	*place = (struct dist__place){
		.rank = seat->rank,
		.world_size = seat->world_size,
		.num_running = dist__seat_running(),
		.timeout_ns = seat->time_ns,
		.debug = dist__seat_debug(),
		.transport = &transport,
		.slot = dist__seat_records(),
	};
	dist__seat_end();
	if (!error)
		(void)dist__world_enter(&dist__seat_world);
	return error;
}

/* This process is one rank: whoever started it did the launching. */
static int launch(const struct dist_launch_options *options,
		  int (*rank_main)(void *arg), void *arg)
{
	(void)options;
	return rank_main(arg);
}

const struct dist__world dist__seat_world = {
	.name = "sim",
	.summary = "a rank of a simulation, in a process of its own",
	.has_phantoms = true,
	.records = dist__seat_records,
	.is_available = is_available,
	.default_timeout_ns = DIST_TIMEOUT_DEFAULT,
	.attach = attach,
	.launch = launch,
	.backend_new = backend_new,
	.one_device = true,
	.one_thread = true,
};
