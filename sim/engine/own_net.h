/*
 * own_net.h - transfers that share links, and the clock that they run on. It
 * knows neither actors nor who sends to whom. Private to sim/engine/.
 *
 * The model is SimGrid's CM02, and the tests compare it with SimGrid. A
 * transfer waits for the latency of its route. After that it shares the links
 * of the route with other transfers, by max-min fairness with the weight
 * 1/latency (Casanova and Marchal, INRIA RR-4596, 2002; in SimGrid 3.32,
 * src/surf/network_cm02.cpp and src/kernel/lmm/maxmin.cpp). A shared link
 * limits the sum of the rates of its transfers; any other link (FATPIPE) limits
 * the rate of each. (SimGrid stops all of such a link as soon as one has its
 * rate, which is less than max-min where weights differ.) Events less than
 * OWN_INSTANT_S after the first of them happen in the same instant.
 *
 * Transfers with the same contended links, weight and cap always have the same
 * rate. They form a class, which has one rate and one count of bytes carried.
 * The solver computes the rates of classes, and after a change only of those
 * that the change can affect.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_NET_H
#define LOCKSTEP_SIM_ENGINE_OWN_NET_H

#include <math.h>
#include <stdalign.h>
#include <stdbool.h>

#include "sim/engine/own_events.h"

#define OWN_INSTANT_S 1e-9 /* surf/precision of SimGrid */

/* own_instant_end returns the first time after the instant that begins at
 * now_s. After some months of simulated time a double cannot tell nanoseconds
 * apart; then it is the next double. */
static inline double own_instant_end(double now_s)
{
	return fmax(now_s + OWN_INSTANT_S, nextafter(now_s, INFINITY));
}

struct own_flow;
struct own_class;

/* A link of a route. */
struct own_part {
	uint32_t link;
	double times; /* bytes on the link for each byte of the transfer */
};

/* A route; it lists each of its links once. */
struct own_route {
	double wait_s;  /* latency: before the first byte */
	double penalty; /* 1 / weight of its transfers */
	uint32_t count;
	struct own_part parts[];
};

/* A transfer, or a class, that crosses a link. */
struct own_use {
	void *of;      /* struct own_flow or own_class */
	uint32_t part; /* which of its parts is the link */
};

struct own_uses {
	struct own_use *all;
	uint32_t count, space;
	struct own_use few[2];
};

/* What every transfer looks at fills one line of the cache. */
struct own_link {
	alignas(64) double Bps;
	bool is_shared, is_on;
	bool is_dirty; /* in net->dirty */
	struct own_uses flows;

	struct own_uses classes;

	/* The solver's. "Free" are the classes whose rates are computed again;
	 * a free class is "fixed" once it has its new rate. */
	uint32_t mark;     /* == net->stamp: the fields below are valid */
	uint32_t num_free; /* free classes */
	uint32_t unfixed;  /* free classes that are not fixed yet */
	double room;       /* B/s that the other classes leave */
	double free_load;  /* weights of the free classes' transfers */
	double left;       /* of room, after the fixed ones */
	double load;       /* of free_load, without the fixed ones */
	double level;      /* rate / weight at which it was full */
};

/* Links of a route that need no memory of their own. */
#define OWN_FEW 8

enum own_state { OWN_WAITS, OWN_FLOWS, OWN_OVER };

struct own_flow {
	struct own_event event;  /* the end of its latency; without a class
				  * then its own end */
	struct own_class *class; /* NULL: it has no contended link */
	const struct own_route *route;
	void *owner;
	double cap; /* B/s; infinite: none */
	double penalty;
	double left; /* bytes left at since_s; in a class: the value of
		      * class->carried at which it ends */
	double rate; /* without a class, since since_s */
	double since_s;
	uint32_t in_class; /* place in the heap of its class */
	enum own_state state;
	bool is_stale; /* in net->stale: it may have to change its class */
	bool failed;
	struct own_flow *next, *before; /* in net->flows; or free */
	uint32_t *at; /* for each part its place in the link's list */
	uint32_t few[OWN_FEW];
};

struct own_net {
	double now_s;
	struct own_events events;
	struct own_link *links;
	uint32_t num_links;
	struct own_flow *flows; /* that are not over */
	struct own_flow *free_flows;
	uint32_t num_events; /* for which events has room */

	/* ---- classes */
	struct own_class **index;
	uint32_t index_size, num_classes;
	struct own_class *free_classes;

	/* ---- changes since the rates were computed */
	struct own_flow **stale;
	uint32_t num_stale;
	size_t stale_space;
	uint32_t *dirty; /* links on which something changed */
	uint32_t num_dirty;
	bool all_again; /* free: all classes that dirty links lead to */

	/* ---- the solver's */
	uint32_t stamp;    /* of this computation */
	uint32_t *reached; /* links of free classes */
	uint32_t num_reached;
	struct own_class *again, **last_again;     /* free classes */
	struct own_class *stopped, **last_stopped; /* in the order fixed */
	struct own_entry *levels;                  /* heap of links by level */
	uint32_t num_levels, num_unfixed;

	/* Called when a transfer is over; flow->failed: it failed. It may start
	 * and cancel transfers. flow is freed when it returns. */
	void (*over)(struct own_net *net, struct own_flow *flow);
	/* Called when the time of an event of kind OWN_SLEEPER has come. */
	void (*awake)(struct own_net *net, struct own_event *event);
};

/* dist__own_net_new returns a net of links without transfers, all on and
 * shared; the caller sets their Bps. NULL: no memory. dist__own_net_free frees
 * it. */
struct own_net *dist__own_net_new(uint32_t num_links);
void dist__own_net_free(struct own_net *net);

/* dist__own_net_start starts a transfer; if a link of the route is off, it
 * fails in this instant. route must stay until the transfer is over. NULL: no
 * memory.
 */
struct own_flow *dist__own_net_start(struct own_net *net,
				     const struct own_route *route,
				     double bytes, double cap, void *owner);

/* dist__own_net_cancel ends a transfer, without calling over(). */
void dist__own_net_cancel(struct own_net *net, struct own_flow *flow);

/* dist__own_net_left returns the bytes that a transfer still has to carry. */
double dist__own_net_left(const struct own_net *net,
			  const struct own_flow *flow);

/* dist__own_net_sleep makes the net call awake() for event, of kind
 * OWN_SLEEPER, at at_s; false: no memory. dist__own_net_unsleep takes that
 * back. */
bool dist__own_net_sleep(struct own_net *net, struct own_event *event,
			 double at_s);
void dist__own_net_unsleep(struct own_net *net, struct own_event *event);

/* dist__own_net_next computes the rates that have changed, and returns the time
 * of the next event; INFINITY: there is none. */
double dist__own_net_next(struct own_net *net);

/* dist__own_net_advance sets the clock to now_s, at most the result of
 * dist__own_net_next, and handles the events of that instant. */
void dist__own_net_advance(struct own_net *net, double now_s);

/* ---- own_class.c and own_share.c ----------------------------------------- */

/* A transfer in a class. */
struct own_member {
	double at; /* the value of class->carried at which it ends */
	struct own_flow *flow;
};

struct own_class_part {
	uint32_t link;
	uint32_t at; /* place in the link's list */
	double times;
};

struct own_class {
	struct own_event event; /* the end of the next member */
	struct own_class *next; /* with the same hash; or free */
	uint64_t hash;
	double cap, weight; /* of each member */
	double rate;        /* of each member, since since_s */
	double carried;     /* bytes at since_s, since there was a member */
	double since_s;
	struct own_member *members; /* heap by at */
	uint32_t count, space;
	const struct own_link *held_by; /* the full link that sets its rate;
					 * NULL: its cap does */
	bool is_changed;                /* a member has come or gone */

	/* The solver's. */
	uint32_t mark; /* == net->stamp: it is free */
	bool is_fixed;
	double next_rate;                  /* once it is fixed */
	struct own_class *again, *stopped; /* the next in net's lists */

	uint32_t num_parts, part_space;
	struct own_class_part *parts;
	struct own_class_part few[OWN_FEW];
};

/* dist__own_uses_add appends a use to a list; false: no memory. */
bool dist__own_uses_add(struct own_uses *uses, void *of, uint32_t part);
void dist__own_uses_free(struct own_uses *uses);

/* dist__own_class_of returns the class for flow, whose rate is at most cap
 * (B/s), and makes it if there is none; NULL: no memory. */
struct own_class *dist__own_class_of(struct own_net *net,
				     const struct own_flow *flow, double cap);

/* dist__own_class_join puts a transfer with `left` bytes left into a class;
 * false: no memory. dist__own_class_leave takes it out. */
bool dist__own_class_join(struct own_net *net, struct own_class *class,
			  struct own_flow *flow, double left);
void dist__own_class_leave(struct own_net *net, struct own_flow *flow);

/* dist__own_class_carried returns the bytes that a member that was there from
 * the beginning has carried by now. */
double dist__own_class_carried(const struct own_net *net,
			       const struct own_class *class);
/* dist__own_class_forget takes an empty class out of the index and frees it. */
void dist__own_class_forget(struct own_net *net, struct own_class *class);
void dist__own_classes_free(struct own_net *net);

/* own_is_contended returns whether transfers on link reduce each other's rates.
 */
static inline bool own_is_contended(const struct own_link *link)
{
	return link->is_shared && link->flows.count > 1;
}

/* dist__own_share computes the rates of all classes that the changes can
 * affect.
 */
void dist__own_share(struct own_net *net);

#endif
