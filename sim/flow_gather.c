/*
 * flow_gather.c - an all-to-all whose ranks know their own parts only, and may
 * all have parts of one length.
 *
 * Then it could be timed as a whole, but no rank knows that of the others. Who
 * comes in the instant of the first one waits for the end of that: if all have
 * come by then, with parts of one length, they are a flow like any other. Else
 * each begins message by message, still in the instant in which it came.
 */
#include "sim/flow.h"

#include <stdlib.h>

#include "sim/progress.h"

struct dist__sim_gathering {
	struct dist__sim_world *world;
	struct dist__flow_meeting *meeting; /* NULL: it is settled */
	size_t numel;                       /* of each part */
};

/* Returns the elements of each part of a rank without data; 0: they differ, or
 * there are none. */
static size_t one_length(const struct dist__flow_seat *seat)
{
	const struct dist__sides *sides = seat->sides;
	size_t numel;

	if (!sides || sides->in.list || sides->in.whole.data || sides->out.list)
		return 0;
	numel = dist__part_numel(&sides->in, 0);
	for (int i = 0; i < seat->flow.world_size; i++)
		if (dist__part_numel(&sides->in, i) != numel ||
		    dist__part_numel(&sides->out, i) != numel)
			return 0;
	return numel;
}

/* What a flow is if all parts have so many elements. */
static struct dist__flow even_flow(const struct dist__flow_seat *seat,
				   size_t numel)
{
	struct dist__flow flow = seat->flow;

	flow.numel = numel * (size_t)flow.world_size;
	flow.is_own = false;
	return flow;
}

static void settle(struct dist__flow_meeting *meeting)
{
	struct dist__sim_guest *guests = meeting->guests;

	meeting->gathering->meeting = NULL;
	meeting->gathering = NULL;
	for (int i = 0; i < meeting->size; i++) {
		if (!guests[i].seat)
			continue;
		dist__sim_by_messages(&guests[i].rank->transport,
				      &guests[i].seat->flow,
				      guests[i].seat->members);
		dist__sim_steps_begin(meeting, i);
	}
	dist__sim_steps_release(meeting);
}

void dist__sim_gather_settle(struct dist__sim_flows *flows)
{
	struct dist__flow_meeting *meeting, *next;

	for (size_t i = 0; flows->num_open && i < DIST__SIM_TABLE; i++)
		for (meeting = flows->open[i]; meeting; meeting = next) {
			next = meeting->next;
			if (meeting->gathering)
				settle(meeting);
		}
}

static void end_instant(void *arg)
{
	struct dist__sim_gathering *gathering = arg;
	struct dist__sim_world *world = gathering->world;

	if (gathering->meeting)
		settle(gathering->meeting);
	free(gathering);
	(void)dist__sim_block(world);
}

void dist__sim_gather_open(struct dist__flow_meeting *meeting,
			   const struct dist__sim_rank *rank,
			   const struct dist__flow_seat *seat)
{
	size_t numel = seat->flow.is_own ? one_length(seat) : 0;
	struct dist__flow flow = even_flow(seat, numel);

	if (numel == 0 || !dist__sim_is_whole(rank, &flow, seat->members))
		return;
	meeting->gathering = malloc(sizeof *meeting->gathering);
	if (!meeting->gathering)
		return;
	*meeting->gathering =
		(struct dist__sim_gathering){rank->world, meeting, numel};
	meeting->uses++;
	dist__sim_unblock(rank->world);
	dist__engine->at(dist__engine->now_s(), end_instant,
			 meeting->gathering);
}

static bool all_are_there(const struct dist__flow_meeting *meeting)
{
	for (int i = 0; i < meeting->size; i++)
		if (!meeting->guests[i].seat)
			return false;
	return true;
}

void dist__sim_gather(struct dist__flow_meeting *meeting,
		      const struct dist__flow_seat *seat)
{
	struct dist__sim_gathering *gathering = meeting->gathering;

	if (one_length(seat) != gathering->numel) {
		settle(meeting);
		return;
	}
	if (meeting->came < meeting->size || !all_are_there(meeting))
		return;
	dist__sim_steps_close(meeting);
	meeting->flow = even_flow(seat, gathering->numel);
	meeting->timing = dist__sim_timing_of(meeting->guests[0].rank,
					      &meeting->flow, seat->members);
	gathering->meeting = NULL;
	meeting->gathering = NULL;
	dist__sim_meeting_unlink(meeting);
	dist__sim_conduct(meeting);
}
