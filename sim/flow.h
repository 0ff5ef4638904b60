/*
 * flow.h - collectives that are timed as a whole. Private to sim/.
 *
 * flow_fit.c decides which flows can be. The ranks of a group meet
 * (flow_meeting.c). When all have come, the timetable of the algorithm gives
 * the time at which each rank would end if nobody else used the links
 * (flow_timetable.c). At the same time one transfer with all its bytes runs on
 * the engine's links and shares them with other traffic (flow_ways.c). If that
 * transfer takes longer than it would alone, all ranks end later by the
 * difference (flow_conduct.c).
 */
#ifndef LOCKSTEP_SIM_FLOW_H
#define LOCKSTEP_SIM_FLOW_H

#include <stddef.h>

#include "base/hash.h"
#include "sim/world.h"

/* ---- flow_ways.c: the load of links --------------------------------- */

/* How messages share a link; the index is the engine's number of it. */
struct dist__sim_share {
	double Bps;
	double load; /* messages at the same time; -INFINITY: not shared */
};

/* What flows do with a link; the same index. */
struct dist__sim_cable {
	double Bps;
	bool is_shared;
	int calls;       /* calls on it that traffic.c carries */
	double shared_s; /* when one of several such calls last left it */
	double bytes;    /* of the whole flow */

	/* The only sender and receiver on it in the flow that was judged last,
	 * as rank + 1; 0: none, -1: several; and the number of that flow. */
	int senders, receivers;
	uint32_t judged;

	/* By senders [0] and by receivers [1]: what all of them can have on
	 * it at the same time by links of their own; of it, what the one that
	 * was looked at last can, and which that is. */
	struct dist__sim_asked {
		double all_Bps, last_Bps;
		int last;
	} asked[2];
};

/* Ways kept of a rank: more than the neighbours that it has in any ring, chain
 * and tree; who sends to all others is looked up again. */
#define DIST__SIM_KEPT 15

/* From one rank to another. */
struct dist__sim_way {
	bool is_kept;
	double latency_s;
	size_t count, back_count;
	uint32_t cables[]; /* there, then those of the way back that are
			      loaded too */
};

/* The ways from a rank that are kept, and where they lead. */
struct dist__sim_kept {
	int num, to[DIST__SIM_KEPT];
	struct dist__sim_way *ways[DIST__SIM_KEPT];
};

struct dist__sim_ways {
	struct dist__sim_world *world;
	struct dist__sim_share *shares; /* every message looks there */
	struct dist__sim_cable *cables;
	size_t num_cables;
	uint32_t judged; /* number of flows judged */
	uint32_t *used;  /* links with bytes */
	size_t num_used;
	struct dist__sim_kept *kept; /* by rank */
	double latency_factor, bandwidth_factor;
	double back_load; /* what a message loads its way back with */
};

/* dist__sim_ways_new returns the ways of world's platform; NULL: no memory, or
 * a network model in which bytes and latencies do not simply add up. */
struct dist__sim_ways *dist__sim_ways_new(struct dist__sim_world *world);
void dist__sim_ways_free(struct dist__sim_ways *ways);

/* dist__sim_way_find returns the way between two ranks, to be released; NULL:
 * no memory, or there is none (then the world has ended). */
struct dist__sim_way *dist__sim_way_find(struct dist__sim_ways *ways, int from,
					 int to);
void dist__sim_way_release(struct dist__sim_way *way);

/* dist__sim_way_load puts messages onto the links of way, or takes them off. */
void dist__sim_way_load(struct dist__sim_ways *ways,
			const struct dist__sim_way *way, double messages);

/* dist__sim_way_Bps returns the rate of a message on way at the current load.
 */
double dist__sim_way_Bps(const struct dist__sim_ways *ways,
			 const struct dist__sim_way *way);

/* dist__sim_way_carry notes that so many bytes of the flow go over way, and
 * dist__sim_ways_clear forgets what was noted. */
void dist__sim_way_carry(struct dist__sim_ways *ways,
			 const struct dist__sim_way *way, double bytes);
void dist__sim_ways_clear(struct dist__sim_ways *ways);

/* dist__sim_parts returns how many parts of a group, the members the first of
 * them, a flow of theirs is for: those for which rank 0 does it, else one. */
static inline int dist__sim_parts(const struct dist__sim_world *world,
				  const struct dist__members *members)
{
	return world->may_part && members->parts > 1 ? members->parts : 1;
}

/* ---- flow_timetable.c ------------------------------------------------ */

/* One rank in a meeting. */
struct dist__sim_guest {
	struct dist__flow_seat *seat; /* NULL: not come, or gone again */
	struct dist__sim_rank *rank;
	double time_s; /* when it came; after dist__sim_timetable_run(), when it
			  ends if the flow has the links to itself */
	size_t last_pass_bytes; /* the seat's */
};

/*
 * dist__sim_timetable_run computes when each guest of a meeting ends and what
 * the links carry; now_s is when the last guest came. Stores the longest
 * latency. Errors: NO_MEMORY; IO (the world has ended).
 */
enum dist_error dist__sim_timetable_run(struct dist__sim_ways *ways,
					struct dist__flow_meeting *meeting,
					double now_s, double *latency_s);

/* ---- flow_meeting.c, flow_conduct.c ---------------------------------- */

struct dist__flow_meeting {
	struct dist__flow_meeting *next, **link; /* what points to it */
	struct dist__sim_world *world;
	struct dist__flow flow; /* not open */
	uint32_t joined;        /* how often the ranks had attached */
	uint32_t group;
	uint32_t seq;
	int first, last; /* global ranks of the members' ends */
	int size, came;  /* guests */
	uint64_t fingerprint;
	int deserter; /* a rank that left when all had come; -1: none */
	struct dist__sim_timing **timing; /* of such flows; NULL: not kept */
	struct dist__sim_actor conductor;
	struct dist__sim_walker *walkers; /* by number: of steps.c; else NULL */
	int uses;                         /* then: what needs the meeting */
	struct dist__sim_gathering *gathering; /* those have not begun yet */
	struct dist__sim_guest guests[];       /* by number in the group; of
						  parts, one behind another */
};

#define DIST__SIM_TABLE 4096 /* lists of meetings, by hash */

/* dist__sim_list returns the number of the list for a group, known by its first
 * rank, and a key within the group. */
static inline size_t dist__sim_list(uint32_t group, int first, uint32_t key)
{
	uint64_t number = ((uint64_t)group << 32 | (uint32_t)first) + key;

	return (size_t)((number * DIST__HASH_FACTOR) >> 32) % DIST__SIM_TABLE;
}

struct dist__sim_flows {
	struct dist__sim_ways *ways; /* NULL: all go message by message */
	struct dist__flow_meeting
		*open[DIST__SIM_TABLE]; /* some have not come */
	size_t num_open;
	struct dist__flow_meeting *under_way;        /* all have come */
	struct dist__sim_fit *fits[DIST__SIM_TABLE]; /* what is known of them */
	struct dist__sim_fit *last_fit;              /* asked for; NULL: none */

	/* Ranks that have left a group by abort. Groups of one number share no
	 * rank. */
	struct dist__sim_lost {
		uint32_t joined, group;
		int rank;
	} * lost;
	size_t num_lost;

	/* Message by message: walkers to be notified that they have failed. */
	struct dist__sim_walker *first_out, *last_out;
	struct dist__sim_actor usher;
	bool has_usher;
	bool has_losses; /* a rank has left a group, or returned */
};

/* dist__sim_flows_new returns the state of a world's flows, which its fidelity
 * times as a whole or message by message; NULL: no memory, or the platform
 * allows no flows (see dist__sim_ways_new). */
struct dist__sim_flows *dist__sim_flows_new(struct dist__sim_world *world);
void dist__sim_flows_free(struct dist__sim_flows *flows);

/* The slots of the transport; see core/transport.h. */
bool dist__sim_has_flow(struct dist__transport *t,
			const struct dist__flow *flow,
			const struct dist__members *members);
void dist__sim_by_messages(struct dist__transport *t,
			   const struct dist__flow *flow,
			   const struct dist__members *members);
enum dist_error dist__sim_flow_join(struct dist__transport *t,
				    struct dist__flow_seat *seat);
enum dist_error dist__sim_flow_wait(struct dist__transport *t,
				    struct dist__flow_seat *seat,
				    int64_t deadline_ns);

/* dist__sim_is_whole returns whether a flow is timed as a whole, and not
 * message by message. */
bool dist__sim_is_whole(const struct dist__sim_rank *rank,
			const struct dist__flow *flow,
			const struct dist__members *members);

/* dist__sim_timing_of returns where flow_timetable.c keeps the times of flows
 * like this one whose ranks come at the same time; NULL: no memory. What is
 * kept there is freed with free(). */
struct dist__sim_timing **
dist__sim_timing_of(const struct dist__sim_rank *rank,
		    const struct dist__flow *flow,
		    const struct dist__members *members);

/* dist__sim_fits_free frees the results that dist__sim_has_flow keeps. */
void dist__sim_fits_free(struct dist__sim_flows *flows);

/* dist__sim_flow_over reports to guest, unless it has left, how it went. */
void dist__sim_flow_over(struct dist__sim_guest *guest, enum dist_error error);

/* dist__sim_conduct starts the flow of a meeting to which all have come: an
 * actor notifies the ranks when they end, then ends the meeting. */
void dist__sim_conduct(struct dist__flow_meeting *meeting);

/* dist__sim_meeting_link puts a meeting onto a list, and
 * dist__sim_meeting_unlink takes it out of those that are open. */
void dist__sim_meeting_link(struct dist__flow_meeting *meeting,
			    struct dist__flow_meeting **list);
void dist__sim_meeting_unlink(struct dist__flow_meeting *meeting);

/* dist__sim_flows_abort fails the flows of group, which rank has left. */
void dist__sim_flows_abort(struct dist__sim_rank *rank, uint32_t group);

/* dist__sim_flows_close takes rank, whose program has returned, out of the
 * flows that it waits for. */
void dist__sim_flows_close(struct dist__sim_rank *rank);

/* dist__sim_flows_end fails all flows for which a rank waits. */
void dist__sim_flows_end(struct dist__sim_world *world, enum dist_error error);

/* ---- steps.c --------------------------------------------------------- */

/* dist__sim_has_steps returns whether a flow can go message by message without
 * an actor for each rank. */
bool dist__sim_has_steps(const struct dist__sim_world *world,
			 const struct dist__flow *flow);

/* dist__sim_steps_open prepares a new meeting of the members for such a flow.
 * Errors: NO_MEMORY. */
enum dist_error dist__sim_steps_open(struct dist__flow_meeting *meeting,
				     const struct dist__members *members);

/* dist__sim_steps_begin starts the steps of a rank of the group, and
 * dist__sim_steps_leave stops them. */
void dist__sim_steps_begin(struct dist__flow_meeting *meeting, int number);
void dist__sim_steps_leave(struct dist__flow_meeting *meeting, int number);

/* dist__sim_steps_close undoes dist__sim_steps_open before a rank has begun.
 * dist__sim_steps_release drops one use of a meeting, and frees it with the
 * last. */
void dist__sim_steps_close(struct dist__flow_meeting *meeting);
void dist__sim_steps_release(struct dist__flow_meeting *meeting);

/* dist__sim_steps_refuse fails with MISMATCH the ranks that wait for rank,
 * which called another collective. */
void dist__sim_steps_refuse(struct dist__flow_meeting *meeting, int rank);

/* dist__sim_steps_lose fails the waits of rank, in group or (NULL) in all
 * groups, and in group also the waits of others for it. */
void dist__sim_steps_lose(struct dist__sim_rank *rank, const uint32_t *group);

/* dist__sim_steps_end fails all waits. */
void dist__sim_steps_end(struct dist__sim_world *world, enum dist_error error);

/* ---- flow_gather.c --------------------------------------------------- */

/* dist__sim_gather_open makes ranks that come to a new meeting wait for the end
 * of the instant, if the flow may yet be timed as a whole; rank, with its seat,
 * is the first of them. */
void dist__sim_gather_open(struct dist__flow_meeting *meeting,
			   const struct dist__sim_rank *rank,
			   const struct dist__flow_seat *seat);

/* dist__sim_gather adds a rank to a meeting that gathers; with the last one it
 * starts the flow, or settles. */
void dist__sim_gather(struct dist__flow_meeting *meeting,
		      const struct dist__flow_seat *seat);

/* dist__sim_gather_settle starts the ranks of all meetings that gather, message
 * by message. */
void dist__sim_gather_settle(struct dist__sim_flows *flows);

#endif
