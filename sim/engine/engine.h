/*
 * engine.h - what a simulation runs on: actors, gates, transfers over links,
 * and a clock.
 *
 * sim/ calls nothing else while it runs. SimGrid is one implementation
 * (simgrid.cpp), our own engine the other (engine.c, own_*.c). One engine runs
 * in a process, and runs once.
 *
 * Time is in seconds since the start, sizes are in bytes, rates in B/s. Hosts
 * are numbers: the place in the array that dist__engine_start() got. Links are
 * the platform's (graph.h).
 *
 * An actor is a function with a stack of its own. One runs at a time, and goes
 * on until it waits; a call that does not wait may let other actors run, too.
 * What happens in one instant happens in an order that depends on nothing but
 * the calls before.
 */
#ifndef LOCKSTEP_SIM_ENGINE_ENGINE_H
#define LOCKSTEP_SIM_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where one actor waits until another opens it. */
struct dist__engine_gate {
	void *waiter; /* the engine's; NULL: nobody waits */
};

/* The way from one host to another, for transfers with two ends. Before the
 * first use all but the hosts is 0. */
struct dist__engine_path {
	uint32_t from, to;
	void *state; /* the engine's; NULL: not in use yet */
};

/* One end of a transfer, zeroed before it is used; it stays where it is. */
struct dist__engine_end {
	void *transfer; /* the engine's; NULL: there is none, or no more */
	struct dist__engine_end *next; /* in a list for fail() */
};

/* What a transfer carries over which links, all at one rate. */
struct dist__engine_transfer {
	uint32_t from, to;     /* hosts */
	const uint32_t *links; /* instead of those of the route; NULL: not.
				* One that stands there n times is loaded n
				* times. Read before start() returns. */
	size_t num_links;
	double latency_s; /* of these links, before the network's factor */
	double most_Bps;  /* whatever the links have left; 0: no limit */
	uint64_t bytes;
};

/* How a wait for a transfer ended. */
enum dist__engine_outcome {
	DIST__ENGINE_DONE,
	DIST__ENGINE_FAILED, /* a link or host on its way, or the other end */
	DIST__ENGINE_LATE    /* not yet, and nothing has happened to it */
};

struct dist__engine {
	/* ---- actors -------------------------------------------------------
	 */

	/* Starts an actor on host that calls body(arg), in this instant but not
	 * in this call; stack_bytes 0: as much as the engine thinks fit. Before
	 * run(), actors are started in the order of the calls. */
	void (*spawn)(uint32_t host, size_t stack_bytes,
		      void (*body)(void *arg), void *arg);

	/* Returns arg of the actor that runs; NULL: none does. */
	void *(*self)(void);

	/* The calling actor waits; not at all if seconds is 0 or less. */
	void (*sleep)(double seconds);

	/* Lets the other actors that can run in this instant run before the
	 * caller goes on. */
	void (*yield)(void);

	/* ---- the clock ----------------------------------------------------
	 */

	double (*now_s)(void);

	/* Runs until no actor is left, or none can ever go on. Calls
	 * advanced(arg), outside all actors, whenever the clock has gone on. */
	void (*run)(void (*advanced)(void *arg), void *arg);

	/* Has call(arg) called at that time, or, if that is now or past, at
	 * the end of this instant: when no actor can do anything more before
	 * the clock goes on. It runs outside all actors and must not wait, but
	 * may spawn, open and start; what comes of that happens in the same
	 * instant. */
	void (*at)(double time_s, void (*call)(void *arg), void *arg);

	/* ---- gates --------------------------------------------------------
	 */

	/* The calling actor waits at gate until it is opened (true), or for so
	 * many seconds (false). No other actor waits there. */
	bool (*wait_at)(struct dist__engine_gate *gate, double seconds);

	/* Resumes the actor that waits at gate; there must be one. */
	void (*open)(struct dist__engine_gate *gate);

	/* ---- transfers ----------------------------------------------------
	 *
	 * A transfer first pays the latency of its route, then carries its
	 * bytes at the rate that the sharing of the links leaves it.
	 */

	/* Makes path ready. */
	void (*open_path)(struct dist__engine_path *path);

	/*
	 * Posts one end of a transfer over path: the sending end, with its
	 * bytes, or the receiving end, where bytes are ignored. When both ends
	 * are posted the transfer starts, and both end together. The ends of a
	 * path meet in the order in which they are posted. The caller says
	 * which end this one meets: one that is posted, or that an actor which
	 * was resumed earlier is about to post; NULL: this end is the first.
	 */
	void (*post)(struct dist__engine_path *path, bool sends, uint64_t bytes,
		     struct dist__engine_end *end,
		     struct dist__engine_end *other);

	/* Starts a transfer with one end, to wait at. */
	void (*start)(const struct dist__engine_transfer *load,
		      struct dist__engine_end *end);

	/* Starts a transfer without an end, and has over(arg, well) called when
	 * it is through or has failed; that must not wait. If load's first host
	 * fails, over() need not be called. */
	void (*carry)(const struct dist__engine_transfer *load,
		      void (*over)(void *arg, bool well), void *arg);

	/* Sends so many bytes over path, without a receiver, and has over(arg,
	 * well) called, outside all actors, when they are there or have failed,
	 * unless end is cancelled before; that must not wait. NULL: the engine
	 * has no such transfers. */
	void (*pass)(struct dist__engine_path *path, uint64_t bytes,
		     struct dist__engine_end *end,
		     void (*over)(void *arg, bool well), void *arg);

	/* Fails the ends of path that no other has met, which all send or all
	 * receive: all of them, in any order. Who waits for one hears of it in
	 * this instant. */
	void (*fail)(struct dist__engine_path *path, bool sends,
		     struct dist__engine_end *ends);

	/* The calling actor waits until the transfer is over, or for so many
	 * seconds (less than 0: for ever). Unless LATE, end has none any
	 * more. */
	enum dist__engine_outcome (*wait)(struct dist__engine_end *end,
					  double seconds);

	/* Cancels end without waiting; a transfer under way fails at its other
	 * end. Returns whether it had ended well. After run() it only frees. */
	bool (*cancel)(struct dist__engine_end *end);

	/* Returns whether the transfer is over, well or not. */
	bool (*has_ended)(const struct dist__engine_end *end);

	/* Returns the bytes that it has still to carry. */
	double (*bytes_left)(const struct dist__engine_end *end);

	/* ---- links --------------------------------------------------------
	 */

	/* Returns a link. Transfers over a link that is off fail. */
	struct dist__graph_link (*link)(uint32_t link);
};

/* The engine that runs; NULL before dist__engine_start(). */
extern const struct dist__engine *dist__engine;

/* dist__engine_start makes the engine ready for the platform, which it borrows,
 * with these of its hosts, which it copies: our own, or, where that has read
 * the platform, SimGrid. False: no memory. */
bool dist__engine_start(bool own, struct dist__graph *graph,
			const uint32_t *hosts, size_t num);

/* dist__engine_obstacle returns what the own engine expects of a platform, read
 * from path, and does not find; NULL: it runs it. */
const char *dist__engine_obstacle(const struct dist__graph *graph,
				  const char *path);

/* dist__engine_simgrid is dist__engine_start() of SimGrid; it returns the
 * engine; NULL: no memory. */
const struct dist__engine *dist__engine_simgrid(const uint32_t *hosts,
						size_t num);

/* ---- the platform that dist__engine_start() got ------------------------ */

size_t dist__engine_num_links(void);

/* dist__engine_way stores the links of the route between two hosts, and its
 * latency (NULL allowed), as the platform states it. Returns how many there
 * are; 0: there is no route. No link is stored if there are more than `most`.
 */
size_t dist__engine_way(uint32_t from, uint32_t to, uint32_t *links,
			size_t most, double *latency_s);

#ifdef __cplusplus
}
#endif

#endif
