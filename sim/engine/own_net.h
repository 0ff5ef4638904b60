/*
 * own_net.h - transfers that share links, and the clock that they run on. No
 * actors, no matching. Private to sim/engine/.
 *
 * The model is CM02 of SimGrid, which the tests hold it to: a transfer pays the
 * latency of its route, then all transfers share what they cross by max-min,
 * each weighted with 1/latency (Casanova and Marchal, INRIA RR-4596, 2002; what
 * SimGrid 3.32 makes of it: src/surf/network_cm02.cpp and
 * src/kernel/lmm/maxmin.cpp). A shared link gives no more than its rate to all
 * together, any other (FATPIPE) no more than its rate to each. Events less than
 * OWN_INSTANT_S after the first one belong to its instant.
 *
 * Transfers that cross the same contended links with the same weight and cap
 * always have the same rate: they are a class, with one rate and one count of
 * bytes carried. Only classes are solved, and of those only what a change has
 * an effect on.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_NET_H
#define LOCKSTEP_SIM_ENGINE_OWN_NET_H

#include <math.h>
#include <stdbool.h>

#include "sim/engine/own_events.h"

#define OWN_INSTANT_S 1e-9 /* surf/precision of SimGrid */

/* own_instant_end returns the first time that is not of the instant now_s:
 * after some months a double knows no nanosecond. */
static inline double own_instant_end(double now_s)
{
	return fmax(now_s + OWN_INSTANT_S, nextafter(now_s, INFINITY));
}

struct own_flow;
struct own_class;

/* A link that a route crosses, and how often: each byte loads it so many times.
 */
struct own_part {
	uint32_t link;
	double times;
};

/* A route, each of its links once. */
struct own_route {
	double wait_s;  /* before the first byte */
	double penalty; /* transfers share in inverse proportion to it */
	uint32_t count;
	struct own_part parts[];
};

/* Who is on a link, or in it by classes: the part of which it is. */
struct own_use {
	void *of; /* struct own_flow or own_class */
	uint32_t part;
};

struct own_uses {
	struct own_use *all;
	uint32_t count, space;
	struct own_use few[2];
};

struct own_link {
	double Bps;
	bool is_shared, is_on;
	bool is_mixed; /* not shared, by transfers of different weights */
	bool is_dirty;
	/* Of the solver: what is solved again on it, and what the others leave
	 * it; then how far it is filled, and the level at which it was full. */
	uint32_t mark, num_free, unfixed;
	double room, free_load;
	double left, load, level;
	struct own_uses flows;
	struct own_uses classes;
};

/* Links of a route that need no memory of their own. */
#define OWN_FEW 8

enum own_state { OWN_WAITS, OWN_FLOWS, OWN_OVER };

struct own_flow {
	struct own_event event;  /* the end of its latency; alone, its end */
	struct own_class *class; /* NULL: it is alone */
	const struct own_route *route;
	void *owner;
	double cap; /* B/s; infinite: none */
	double penalty;
	double left;       /* bytes at since_s; in a class: what that has
			    * carried once it is through */
	double rate;       /* alone */
	double since_s;    /* likewise */
	uint32_t in_class; /* place in the heap of its class */
	enum own_state state;
	bool is_stale; /* its class may be another one now */
	bool failed;
	struct own_flow *next, *before; /* of all that are not over; or free */
	uint32_t *at; /* for each link its place in that one's list */
	uint32_t few[OWN_FEW];
};

struct own_net {
	double now_s;
	struct own_events events;
	struct own_link *links;
	uint32_t num_links;
	struct own_flow *flows; /* that are not over */
	struct own_flow *free_flows;
	uint32_t num_events; /* that there is room for */

	/* ---- classes */
	struct own_class **index;
	uint32_t index_size, num_classes;
	struct own_class *free_classes;

	/* ---- what is to be solved again */
	struct own_flow **stale;
	uint32_t num_stale, stale_space;
	uint32_t *dirty;
	uint32_t num_dirty;
	bool all_again; /* what is on dirty links, and all that it reaches */
	uint32_t stamp;
	uint32_t *reached; /* links of classes that are solved again */
	uint32_t num_reached;
	struct own_class *again, **last_again;     /* these, */
	struct own_class *stopped, **last_stopped; /* as they have stopped */
	struct own_entry *levels;                  /* heap of links by level */
	uint32_t num_levels, num_unfixed;
	uint64_t solved; /* classes, so far */

	/* A transfer is over, well unless flow->failed; it is freed when this
	 * returns. May start others, and end others. */
	void (*over)(struct own_net *net, struct own_flow *flow);
	/* A sleeper's time has come. */
	void (*awake)(struct own_net *net, struct own_event *event);
};

/* dist__own_net_new returns a net of links with nothing on them, Bps not set,
 * all on and shared; NULL: no memory. dist__own_net_free frees it. */
struct own_net *dist__own_net_new(uint32_t num_links);
void dist__own_net_free(struct own_net *net);

/* dist__own_net_start starts a transfer, which fails in this instant if a link
 * of the route is off; NULL: no memory. route is borrowed until it is over. */
struct own_flow *dist__own_net_start(struct own_net *net,
				     const struct own_route *route,
				     double bytes, double cap, void *owner);

/* dist__own_net_cancel ends a transfer, without a word. */
void dist__own_net_cancel(struct own_net *net, struct own_flow *flow);

/* dist__own_net_left returns the bytes that a transfer has still to carry. */
double dist__own_net_left(const struct own_net *net,
			  const struct own_flow *flow);

/* dist__own_net_sleep has awake() called for event, of kind OWN_SLEEPER, at
 * at_s, unless dist__own_net_unsleep is called before; false: no memory. */
bool dist__own_net_sleep(struct own_net *net, struct own_event *event,
			 double at_s);
void dist__own_net_unsleep(struct own_net *net, struct own_event *event);

/* dist__own_net_next solves what has changed, and returns when something
 * happens next; INFINITY: never. */
double dist__own_net_next(struct own_net *net);

/* dist__own_net_advance sets the clock, not beyond what dist__own_net_next has
 * said, and does what belongs to that instant. */
void dist__own_net_advance(struct own_net *net, double now_s);

/* dist__own_net_set_Bps changes what a link carries; dist__own_net_switch turns
 * it on, or off, and what crosses it fails. */
void dist__own_net_set_Bps(struct own_net *net, uint32_t link, double Bps);
void dist__own_net_switch(struct own_net *net, uint32_t link, bool is_on);

/* ---- own_class.c and own_share.c ----------------------------------------- */

/* A transfer, by what its class has carried once it is through. */
struct own_member {
	double at;
	struct own_flow *flow;
};

struct own_class_part {
	uint32_t link;
	uint32_t at; /* place in the list of that one */
	double times;
};

struct own_class {
	struct own_event event; /* the next end of a member */
	struct own_class *next; /* with the same hash; or free */
	uint64_t hash;
	double cap, weight; /* of each member */
	double rate, carried, since_s;
	struct own_member *members; /* heap */
	uint32_t count, space;
	const struct own_link *held_by; /* no more than its level; NULL: cap */
	uint32_t mark;                  /* of the solver, down to stopped */
	bool is_fixed;
	double next_rate;
	struct own_class *again, *stopped; /* the next of these */
	bool is_changed;
	uint32_t num_parts, part_space;
	struct own_class_part *parts;
	struct own_class_part few[OWN_FEW];
};

/* dist__own_uses_add puts a use at the end of a list; false: no memory. */
bool dist__own_uses_add(struct own_uses *uses, void *of, uint32_t part);
void dist__own_uses_free(struct own_uses *uses);

/* dist__own_class_of returns the class of a transfer that crosses those
 * contended links, and makes it if there is none; NULL: no memory. */
struct own_class *dist__own_class_of(struct own_net *net,
				     const struct own_flow *flow, double cap);

/* dist__own_class_join puts a transfer with so many bytes left into a class;
 * false: no memory. dist__own_class_leave takes it out. */
bool dist__own_class_join(struct own_net *net, struct own_class *class,
			  struct own_flow *flow, double left);
void dist__own_class_leave(struct own_net *net, struct own_flow *flow);

/* dist__own_class_carried returns what each member that was there from the
 * beginning has carried. */
double dist__own_class_carried(const struct own_net *net,
			       const struct own_class *class);
/* dist__own_class_forget lets an empty class go. */
void dist__own_class_forget(struct own_net *net, struct own_class *class);
void dist__own_classes_free(struct own_net *net);

/* dist__own_net_touch has what is on a link solved again. */
void dist__own_net_touch(struct own_net *net, uint32_t link);

/* own_is_contended returns whether what crosses link has less of it because of
 * others. */
static inline bool own_is_contended(const struct own_link *link)
{
	return (link->is_shared && link->flows.count > 1) || link->is_mixed;
}

/* dist__own_share gives each class that a change can have reached its rate. */
void dist__own_share(struct own_net *net);

#endif
