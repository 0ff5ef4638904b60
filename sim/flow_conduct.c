/*
 * flow_conduct.c - a flow from when the last rank has come until all are
 * through.
 *
 * What its messages put on the links flows as a few transfers, each over many
 * links at one rate, as all messages go on at the pace of the slowest; and in
 * slices with pauses between them, because between messages there is latency,
 * in which others have the links. As much later as the bytes are there than
 * they would be if the flow were alone, the ranks are through: also those that
 * are far from the link in question, and also if that is not the slowest one.
 */
#include "sim/flow.h"

#include <math.h>
#include <stdlib.h>

#include "sim/progress.h"

/* SimGrid takes instants closer than this for one: surf/precision. */
#define INSTANT_S 1e-9

/* A link that carries so much less than the busiest one is left out. */
#define MOST_UNEVEN 64

/* Links of one transfer: SimGrid looks through all of them to add one. */
#define MOST_LINKS 128

/* Slices are so short that what is put off by one is no more than this part of
 * the whole; but there are not more than so many. */
#define SLICE       0.02
#define MOST_SLICES 24

/* One transfer. */
struct part {
	struct dist__engine_end end;
	double alone_s; /* what it takes on links of its own */
	double late_s;  /* by how much more it took, once it is over */
	bool is_over;
	size_t num_links;
	uint32_t links[MOST_LINKS];
};

/* Times are those of a flow that is alone, from its start on. */
struct course {
	struct dist__sim_ways *ways;
	double start_s;   /* the clock at the start */
	double delay_s;   /* by slices that are over */
	double latency_s; /* of a slice, before its first byte */
	double alone_s;   /* of a slice, its slowest part */
	double unit;      /* bytes on a link that stands in its part once */
	double slice_s;   /* from a slice to the next */
	int slices, begun;
	bool flows; /* the slice begun last is not over */
	struct part *parts;
	size_t num_parts;
};

/* ---- what flows -----------------------------------------------------------
 */

static bool counts(const struct dist__sim_cable *cable)
{
	return cable->is_shared && cable->bytes > 0;
}

/* What is a whole number of times on the links, as nearly as can be: as much as
 * is on the one with the least, and on the busiest one a whole number of times
 * exactly. */
static double find_unit(const struct dist__sim_ways *ways)
{
	double least = INFINITY, most = 0, busy_s = 0;

	for (size_t i = 0; i < ways->num_used; i++) {
		const struct dist__sim_cable *cable =
			&ways->cables[ways->used[i]];

		if (!counts(cable))
			continue;
		least = fmin(least, cable->bytes);
		if (cable->bytes / cable->Bps > busy_s) {
			busy_s = cable->bytes / cable->Bps;
			most = cable->bytes;
		}
	}
	if (most <= 0)
		return 0;
	return most / fmin(fmax(1, round(most / least)), MOST_UNEVEN);
}

/* Puts a link into the last part, or a new one, as often as it is loaded. */
static void add_link(struct course *course, const struct dist__sim_cable *cable)
{
	double times = fmin(round(cable->bytes / course->unit), MOST_UNEVEN);
	double Bps = cable->Bps * course->ways->bandwidth_factor;
	struct part *part = &course->parts[course->num_parts];

	if (times < 1)
		return;
	if (course->num_parts == 0 ||
	    part[-1].num_links + (size_t)times > MOST_LINKS)
		course->num_parts++;
	else
		part--;
	part->alone_s = fmax(part->alone_s, times * course->unit / Bps);
	course->alone_s = fmax(course->alone_s, part->alone_s);
	for (int i = 0; i < (int)times; i++)
		part->links[part->num_links++] =
			(uint32_t)(cable - course->ways->cables);
}

/* Divides what the links carry among transfers. Without memory nothing flows.
 */
static void divide(struct course *course)
{
	struct dist__sim_ways *ways = course->ways;
	/* A part is closed when it has so many links at least. */
	const size_t least = MOST_LINKS - MOST_UNEVEN;
	size_t times = 0;

	course->unit = fmax(1, round(find_unit(ways)));
	for (size_t i = 0; i < ways->num_used; i++)
		times += (size_t)fmin(MOST_UNEVEN,
				      round(ways->cables[ways->used[i]].bytes /
					    course->unit));
	course->parts = calloc(1 + times / least, sizeof course->parts[0]);
	for (size_t i = 0; i < ways->num_used && course->parts; i++)
		if (counts(&ways->cables[ways->used[i]]))
			add_link(course, &ways->cables[ways->used[i]]);
}

/* Cuts the whole, which takes end_s, into slices. */
static void cut(struct course *course, double end_s)
{
	double pause_s = end_s - course->alone_s;
	double most = fmin(course->alone_s, pause_s) / (SLICE * end_s);

	most = fmin(most, pause_s / course->latency_s);
	most = fmin(most, course->unit);
	course->slices = (int)fmax(1, fmin(MOST_SLICES, floor(most)));
	course->slice_s = end_s / course->slices;
	course->unit = round(course->unit / course->slices);
	course->alone_s /= course->slices;
	for (size_t i = 0; i < course->num_parts; i++)
		course->parts[i].alone_s /= course->slices;
}

/* ---- slices ----------------------------------------------------------------
 */

static double slice_begin_s(const struct course *course, int slice)
{
	return slice * course->slice_s;
}

static void begin_slice(struct course *course)
{
	double latency_s = course->latency_s / course->ways->latency_factor;

	for (size_t i = 0; i < course->num_parts; i++) {
		struct part *part = &course->parts[i];

		part->is_over = false;
		dist__engine->start(
			&(struct dist__engine_transfer){
				.links = part->links,
				.num_links = part->num_links,
				.latency_s = latency_s,
				.bytes = (uint64_t)course->unit,
			},
			&part->end);
	}
	course->begun++;
	course->flows = course->num_parts > 0;
}

/* The time that has passed since the first byte of the slice that flows, less
 * what was late before. */
static double since_s(const struct course *course)
{
	return dist__engine->now_s() - course->start_s - course->delay_s -
	       slice_begin_s(course, course->begun - 1) - course->latency_s;
}

/* By how much more than alone a part takes if nobody disturbs it any more. */
static double late_s(const struct course *course, const struct part *part)
{
	double left;

	if (part->is_over)
		return part->late_s;
	left = dist__engine->bytes_left(&part->end) / course->unit;
	return fmax(0, since_s(course) - (1 - left) * part->alone_s);
}

/* The same for all; a part that has time to spare may use that up. */
static double delay_s(const struct course *course)
{
	double slice_s = 0;

	for (size_t i = 0; i < course->num_parts && course->flows; i++) {
		const struct part *part = &course->parts[i];

		slice_s = fmax(slice_s, late_s(course, part) + part->alone_s -
						course->alone_s);
	}
	return course->delay_s + slice_s;
}

static void end_slice(struct course *course)
{
	for (size_t i = 0; i < course->num_parts; i++) {
		struct part *part = &course->parts[i];

		(void)dist__engine->wait(&part->end, -1);
		part->late_s = fmax(0, since_s(course) - part->alone_s);
		part->is_over = true;
	}
	course->delay_s = delay_s(course);
	course->flows = false;
}

static double left_s(const struct course *course, double time_s)
{
	return course->start_s + time_s + delay_s(course) -
	       dist__engine->now_s();
}

/* Sleeps until it is time_s, however late that is. */
static void sleep_until(const struct course *course, double time_s)
{
	double wait_s = left_s(course, time_s);

	while (wait_s >= INSTANT_S) {
		dist__engine->sleep(wait_s);
		wait_s = left_s(course, time_s);
	}
}

/* When the slice that flows ends, or else the next begins; never: infinity. */
static double next_turn_s(const struct course *course)
{
	if (course->flows)
		return slice_begin_s(course, course->begun - 1) +
		       course->latency_s + course->alone_s;
	return course->begun < course->slices
		       ? slice_begin_s(course, course->begun)
		       : INFINITY;
}

static void wait_for(struct course *course, double time_s)
{
	while (next_turn_s(course) <= time_s + INSTANT_S) {
		if (course->flows) {
			end_slice(course);
		} else {
			sleep_until(course, next_turn_s(course));
			begin_slice(course);
		}
	}
	sleep_until(course, time_s);
}

/* ---- the conductor ----------------------------------------------------------
 */

static enum dist_error state_of(const struct dist__flow_meeting *meeting,
				const struct dist__sim_guest *guest)
{
	if (meeting->world->ended)
		return meeting->world->end_error;
	if (meeting->deserter < 0)
		return DIST_OK;
	return guest->rank->rank == meeting->deserter ? DIST_ERR_ABORTED
						      : DIST_ERR_PEER_LOST;
}

static int by_time(const void *a, const void *b)
{
	const struct dist__sim_guest *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return x->rank->rank - y->rank->rank;
}

static void unlink_meeting(struct dist__flow_meeting *meeting)
{
	*meeting->link = meeting->next;
	if (meeting->next)
		meeting->next->link = meeting->link;
}

void dist__sim_meeting_link(struct dist__flow_meeting *meeting,
			    struct dist__flow_meeting **list)
{
	meeting->next = *list;
	meeting->link = list;
	if (*list)
		(*list)->link = &meeting->next;
	*list = meeting;
}

void dist__sim_meeting_unlink(struct dist__flow_meeting *meeting)
{
	unlink_meeting(meeting);
	meeting->world->flows->num_open--;
}

void dist__sim_flow_over(struct dist__sim_guest *guest, enum dist_error error)
{
	struct dist__flow_seat *seat = guest->seat;

	if (!seat)
		return;
	guest->seat = NULL;
	seat->meeting = NULL;
	seat->error = error;
	seat->is_over = true;
	if (seat->over)
		seat->over(seat, error);
	else if (seat->waiter)
		dist__sim_gate_open(guest->rank->world, seat->waiter);
}

static void take_course(struct dist__flow_meeting *meeting)
{
	int p = meeting->size;
	struct dist__sim_guest *guests = meeting->guests;
	struct course course = {.ways = meeting->world->flows->ways,
				.start_s = dist__engine->now_s()};
	enum dist_error error = dist__sim_timetable_run(
		course.ways, meeting, course.start_s, &course.latency_s);

	if (!error && !meeting->world->may_part)
		divide(&course);
	dist__sim_ways_clear(course.ways);
	qsort(guests, (size_t)p, sizeof guests[0], by_time);
	if (!error)
		cut(&course, guests[p - 1].time_s);
	for (int i = 0; i < p; i++) {
		if (!error)
			wait_for(&course, guests[i].time_s);
		dist__sim_flow_over(&guests[i],
				    error ? error
					  : state_of(meeting, &guests[i]));
	}
	if (course.flows)
		end_slice(&course);
	free(course.parts);
}

static void conduct(void *arg)
{
	struct dist__flow_meeting *meeting =
		(struct dist__flow_meeting *)((char *)arg -
					      offsetof(
						      struct dist__flow_meeting,
						      conductor));
	struct dist__sim_world *world = meeting->world;

	take_course(meeting);
	unlink_meeting(meeting);
	free(meeting);
	(void)dist__sim_block(world);
}

void dist__sim_conduct(struct dist__flow_meeting *meeting)
{
	struct dist__sim_world *world = meeting->world;
	struct dist__sim_rank *rank = meeting->guests[0].rank;

	dist__sim_meeting_link(meeting, &world->flows->under_way);
	world->tally.flows +=
		(uint64_t)(meeting->size / meeting->flow.world_size);
	meeting->conductor = (struct dist__sim_actor){.rank = rank};
	dist__sim_unblock(world);
	dist__engine->spawn(dist__platform_seat(world->platform, rank->rank), 0,
			    conduct, &meeting->conductor);
}
