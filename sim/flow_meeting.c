/*
 * flow_meeting.c - where the ranks of a group meet for a flow, and what becomes
 * of those that wait when one does not come.
 */
#include "sim/flow.h"

#include <stdlib.h>

#include "base/array.h"
#include "sim/actor.h"
#include "sim/delay_injection.h"
#include "sim/forecast.h"
#include "sim/progress.h"

struct dist__sim_flows *dist__sim_flows_new(struct dist__sim_world *world)
{
	struct dist__sim_flows *flows = calloc(1, sizeof *flows);

	if (!flows)
		return NULL;
	if (world->fidelity == DIST__FIDELITY_FLOW)
		flows->ways = dist__sim_ways_new(world);
	if (flows->ways || world->fidelity != DIST__FIDELITY_FLOW)
		return flows;
	free(flows);
	return NULL;
}

void dist__sim_flows_free(struct dist__sim_flows *flows)
{
	if (!flows)
		return;
	dist__sim_fits_free(flows);
	dist__sim_ways_free(flows->ways);
	free(flows->lost);
	free(flows);
}

/* ---- finding --------------------------------------------------------------
 */

/* What the meeting of seat and rank would be like. */
static struct dist__flow_meeting key_of(const struct dist__sim_rank *rank,
					const struct dist__flow_seat *seat)
{
	const struct dist__members *members = seat->members;
	int parts = dist__sim_parts(rank->world, members);

	return (struct dist__flow_meeting){
		.world = rank->world,
		.flow = seat->flow,
		.joined = rank->joined,
		.group = members->group_id,
		.seq = seat->seq,
		.first = dist__global_rank(members, 0),
		.last = dist__global_rank(members, members->world_size - 1),
		.size = parts * members->world_size,
		.fingerprint = seat->fingerprint,
		.deserter = -1,
	};
}

/* The teams of a group that are in a flow at the same time differ in their
 * ends; and of the phases of one team, some ranks may be in the next, by
 * another algorithm. */
static bool same(const struct dist__flow_meeting *a,
		 const struct dist__flow_meeting *b)
{
	bool is_phase =
		a->fingerprint != b->fingerprint || a->flow.ops == b->flow.ops;

	return is_phase && a->joined == b->joined && a->group == b->group &&
	       a->seq == b->seq && a->first == b->first && a->last == b->last &&
	       a->size == b->size;
}

static struct dist__flow_meeting **list_of(struct dist__sim_flows *flows,
					   const struct dist__flow_meeting *key)
{
	return &flows->open[dist__sim_list(key->group, key->first,
					   key->seq * 31)];
}

static struct dist__flow_meeting *find(struct dist__sim_flows *flows,
				       const struct dist__flow_meeting *key)
{
	struct dist__flow_meeting *meeting = *list_of(flows, key);

	while (meeting && !same(meeting, key))
		meeting = meeting->next;
	return meeting;
}

static struct dist__flow_meeting *add(struct dist__sim_flows *flows,
				      const struct dist__flow_meeting *key,
				      const struct dist__members *members,
				      bool is_whole)
{
	struct dist__flow_meeting *meeting = calloc(
		1, sizeof *meeting + (size_t)key->size * sizeof key->guests[0]);

	if (!meeting)
		return NULL;
	*meeting = *key;
	if (!is_whole && dist__sim_steps_open(meeting, members)) {
		free(meeting);
		return NULL;
	}
	dist__sim_meeting_link(meeting, list_of(flows, key));
	flows->num_open++;
	return meeting;
}

/* ---- coming ----------------------------------------------------------------
 */

static bool is_lost(const struct dist__sim_flows *flows,
		    const struct dist__flow_meeting *key,
		    const struct dist__members *members)
{
	for (size_t i = 0; i < flows->num_lost; i++)
		if (flows->lost[i].joined == key->joined &&
		    flows->lost[i].group == key->group &&
		    dist__group_rank(members, flows->lost[i].rank) >= 0)
			return true;
	return false;
}

/* Ends a meeting that not all have come to; rank, if there is one, is why. */
static void call_off(struct dist__flow_meeting *meeting,
		     const struct dist__sim_rank *rank, enum dist_error error)
{
	dist__sim_meeting_unlink(meeting);
	for (int i = 0; i < meeting->size; i++) {
		struct dist__sim_guest *guest = &meeting->guests[i];
		bool own = rank && guest->rank == rank;

		dist__sim_flow_over(guest, own ? DIST_ERR_ABORTED : error);
	}
	free(meeting);
}

static void sit_down(struct dist__flow_meeting *meeting,
		     struct dist__sim_rank *rank, struct dist__flow_seat *seat)
{
	meeting->guests[seat->members->rank] = (struct dist__sim_guest){
		.seat = seat,
		.rank = rank,
		.time_s = dist__engine->now_s(),
		.last_pass_bytes = seat->last_pass_bytes,
	};
	seat->meeting = meeting;
	seat->waiter = NULL;
	seat->is_over = false;
	meeting->came++;
	if (meeting->gathering)
		dist__sim_gather(meeting, seat);
	else if (meeting->walkers)
		dist__sim_steps_begin(meeting, seat->members->rank);
	else if (meeting->came == meeting->size) {
		dist__sim_meeting_unlink(meeting);
		dist__sim_conduct(meeting);
	}
}

/* Whether a rank is still in a flow; one from which all have gone may be about
 * to end. */
static bool is_any_under_way(const struct dist__sim_flows *flows)
{
	for (struct dist__flow_meeting *m = flows->under_way; m; m = m->next)
		for (int i = 0; i < m->size; i++)
			if (m->guests[i].seat)
				return true;
	return false;
}

/* Rank 0 brings all. */
static void bring_all(struct dist__flow_meeting *meeting,
		      const struct dist__flow_seat *seat)
{
	for (int i = 0; i < meeting->size; i++)
		meeting->guests[i] = (struct dist__sim_guest){
			.rank = &meeting->world->ranks[dist__global_rank(
				seat->members, i)],
			.time_s = dist__engine->now_s(),
			.last_pass_bytes = seat->last_pass_bytes,
		};
	meeting->came = meeting->size - 1;
}

/* Whether each part of a rank is as long as those of a flow that all ranks know
 * the lengths of. */
static bool is_alike(const struct dist__flow *flow,
		     const struct dist__sides *sides)
{
	size_t numel = flow->numel / (size_t)flow->world_size;

	for (int i = 0; i < flow->world_size; i++)
		if (dist__part(&sides->in, i).numel != numel ||
		    dist__part(&sides->out, i).numel != numel)
			return false;
	return true;
}

/* Whether seat cannot be one of the meeting. Message by message ranks compare
 * their parts when a message starts. */
static bool differs(const struct dist__flow_meeting *meeting,
		    const struct dist__flow_seat *seat)
{
	if (meeting->fingerprint != seat->fingerprint)
		return true;
	return !meeting->walkers && seat->sides &&
	       !is_alike(&meeting->flow, seat->sides);
}

enum dist_error dist__sim_flow_join(struct dist__transport *t,
				    struct dist__flow_seat *seat)
{
	struct dist__sim_rank *rank = (struct dist__sim_rank *)t;
	struct dist__sim_flows *flows = rank->world->flows;
	struct dist__sim_actor *actor = dist__engine->self();
	struct dist__flow_meeting key, *meeting;
	enum dist_error error;
	bool is_whole;

	dist__sim_note_call(rank);
	dist__sim_delay_call(actor);
	dist__sim_pay(actor);
	key = key_of(rank, seat);
	error = dist__sim_state_of(rank, key.group);
	if (error)
		return error;
	if (rank->world->may_part && is_any_under_way(flows)) {
		dist__sim_part(rank->world);
		return rank->world->end_error;
	}
	meeting = find(flows, &key);
	is_whole =
		meeting ? !meeting->walkers
			: dist__sim_is_whole(rank, &seat->flow, seat->members);
	if (is_whole && is_lost(flows, &key, seat->members))
		return DIST_ERR_PEER_LOST;
	if (meeting && differs(meeting, seat)) {
		if (meeting->gathering)
			dist__sim_gather_settle(flows);
		if (meeting->walkers)
			dist__sim_steps_refuse(meeting, rank->rank);
		else
			call_off(meeting, NULL, DIST_ERR_MISMATCH);
		return DIST_ERR_MISMATCH;
	}
	if (!meeting) {
		meeting = add(flows, &key, seat->members, is_whole);
		if (!meeting)
			return DIST_ERR_NO_MEMORY;
		if (rank->world->may_part)
			bring_all(meeting, seat);
		if (is_whole)
			meeting->timing = dist__sim_timing_of(rank, &seat->flow,
							      seat->members);
		else if (flows->ways)
			dist__sim_gather_open(meeting, rank, seat);
	}
	if (!is_whole && flows->ways && !meeting->gathering)
		dist__sim_by_messages(t, &seat->flow, seat->members);
	sit_down(meeting, rank, seat);
	return DIST_OK;
}

/* ---- waiting, leaving -------------------------------------------------------
 */

/* Takes a guest out; others go on waiting for it, or will hear that it left. */
static void leave(struct dist__flow_meeting *meeting,
		  struct dist__sim_guest *guest)
{
	int number = guest->seat->members->rank;

	if (meeting->walkers)
		dist__sim_steps_leave(meeting, number);
	guest->seat->meeting = NULL;
	guest->seat = NULL;
	if (meeting->walkers)
		return;
	if (meeting->came == meeting->size) {
		meeting->deserter = guest->rank->rank;
	} else if (--meeting->came == 0) {
		dist__sim_meeting_unlink(meeting);
		free(meeting);
	}
}

static struct dist__sim_guest *guest_of(struct dist__flow_meeting *meeting,
					const struct dist__sim_rank *rank)
{
	for (int i = 0; i < meeting->size; i++)
		if (meeting->guests[i].seat && meeting->guests[i].rank == rank)
			return &meeting->guests[i];
	return NULL;
}

enum dist_error dist__sim_flow_wait(struct dist__transport *t,
				    struct dist__flow_seat *seat,
				    int64_t deadline_ns)
{
	struct dist__sim_rank *rank = (struct dist__sim_rank *)t;
	struct dist__sim_world *world = rank->world;
	struct dist__sim_actor *actor = dist__engine->self();
	enum dist_error error = DIST_OK;

	seat->waiter = &actor->gate;
	while (!seat->is_over && !error) {
		if (world->ended)
			error = world->end_error;
		else if (dist__sim_is_late(world, deadline_ns) &&
			 dist__sim_time_is_up(rank))
			error = DIST_ERR_TIMEOUT;
		else
			dist__sim_gate_wait(world, &actor->gate, deadline_ns);
	}
	dist__sim_watch_note(rank);
	/* Who is late itself, by the same deadline, did not lose the other. */
	if (seat->is_over && seat->error == DIST_ERR_PEER_LOST &&
	    dist__sim_is_late(world, deadline_ns))
		return DIST_ERR_TIMEOUT;
	if (seat->is_over)
		return seat->error;
	leave(seat->meeting, guest_of(seat->meeting, rank));
	return error;
}

/* ---- what stops a flow
 * -------------------------------------------------------- */

static bool has_member(const struct dist__flow_meeting *meeting, int rank)
{
	for (int i = 0; i < meeting->size; i++)
		if (meeting->guests[i].seat)
			return dist__group_rank(
				       meeting->guests[i].seat->members,
				       rank) >= 0;
	return false;
}

static bool is_of(const struct dist__flow_meeting *meeting,
		  const struct dist__sim_lost *lost)
{
	return !meeting->walkers &&
	       (!lost || (meeting->joined == lost->joined &&
			  meeting->group == lost->group &&
			  has_member(meeting, lost->rank)));
}

/* Returns a meeting that lost was to come to (NULL: any), and not all have. */
static struct dist__flow_meeting *any_open(const struct dist__sim_flows *flows,
					   const struct dist__sim_lost *lost)
{
	for (size_t i = 0; flows->num_open && i < DIST__SIM_TABLE; i++)
		for (struct dist__flow_meeting *m = flows->open[i]; m;
		     m = m->next)
			/* call_off() unlinks what it frees.
			 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
			if (is_of(m, lost))
				return m;
	return NULL;
}

void dist__sim_flows_abort(struct dist__sim_rank *rank, uint32_t group)
{
	const struct dist__sim_lost key = {rank->joined, group, rank->rank};
	struct dist__sim_flows *flows = rank->world->flows;
	struct dist__flow_meeting *meeting;

	if (!flows)
		return;
	dist__sim_gather_settle(flows);
	dist__sim_steps_lose(rank, &group);
	(void)dist__array_add(&flows->lost, &flows->num_lost, &key, sizeof key);
	for (meeting = flows->under_way; meeting; meeting = meeting->next)
		if (is_of(meeting, &key) && meeting->deserter < 0)
			meeting->deserter = rank->rank;
	while ((meeting = any_open(flows, &key)))
		call_off(meeting, rank, DIST_ERR_PEER_LOST);
}

/* Takes rank out of one flow; false: it is in none that waits for others. */
static bool take_out(struct dist__sim_flows *flows,
		     const struct dist__sim_rank *rank)
{
	for (size_t i = 0; flows->num_open && i < DIST__SIM_TABLE; i++)
		for (struct dist__flow_meeting *m = flows->open[i]; m;
		     m = m->next) {
			struct dist__sim_guest *guest = NULL;
			struct dist__sim_guest copy;

			if (!m->walkers)
				guest = guest_of(m, rank);
			if (!guest)
				continue;
			copy = *guest;
			leave(m, guest);
			dist__sim_flow_over(&copy, DIST_ERR_ABORTED);
			return true;
		}
	return false;
}

void dist__sim_flows_close(struct dist__sim_rank *rank)
{
	struct dist__sim_flows *flows = rank->world->flows;

	if (flows) {
		dist__sim_gather_settle(flows);
		dist__sim_steps_lose(rank, NULL);
	}
	while (flows && take_out(flows, rank))
		continue;
}

void dist__sim_flows_end(struct dist__sim_world *world, enum dist_error error)
{
	struct dist__flow_meeting *meeting;

	if (world->flows) {
		dist__sim_gather_settle(world->flows);
		dist__sim_steps_end(world, error);
	}
	while (world->flows && (meeting = any_open(world->flows, NULL)))
		call_off(meeting, NULL, error);
}
