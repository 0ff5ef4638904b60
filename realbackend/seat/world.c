/*
 * world.c - the simulated world, for a rank that runs in its own process: all
 * of the simulation happens in the simulating process.
 */
#include "realbackend/seat/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/transport.h"
#include "realbackend/seat/backend.h"
#include "realbackend/seat/slot.h"

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

/* Core frees a transport; nobody here does anything else with it. */
static enum dist_error free_transport(struct dist__transport *t)
{
	struct dist__seat_slot *seat = dist__seat_begin();
	enum dist_error error = dist__seat_ask(seat, DIST__SEAT_DETACH);

	(void)t;
	dist__seat_end();
	(void)dist__world_enter(NULL);
	return error;
}

static const struct dist__transport_ops transport_ops = {
	.free = free_transport,
};

static enum dist_error attach(const struct dist_init_options *options,
			      struct dist__place *place,
			      struct dist_message *message)
{
	static struct dist__transport transport = {.ops = &transport_ops};
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
	.backend_new = dist__seat_backend_new,
	.one_device = true,
	.one_thread = true,
};
