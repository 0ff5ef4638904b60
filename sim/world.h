/*
 * world.h - one simulation: all that is known of it. What can be done with a
 * part of that, says the header of the part. Private to sim/.
 *
 * Every rank program is an actor of the engine; a lane adds a worker actor.
 * The engine runs one actor at a time and switches only inside its calls, so
 * nothing here needs a lock, and a run is the same every time.
 *
 * Seconds (double) are the engine's unit and exist only in this folder.
 */
#ifndef LOCKSTEP_SIM_WORLD_H
#define LOCKSTEP_SIM_WORLD_H

#include <sys/types.h>

#include "check/verdict.h"
#include "coll/profile.h"
#include "core/fidelity.h"
#include "sim/plan.h"
#include "sim/platform/state.h"
#include "sim/rank.h"
#include "sim/tally.h"
#include "sim/watch_state.h"

struct dist__sim_flows;
struct dist__sim_queues;
struct dist__sim_log;
struct dist__sim_analytic;
struct dist__sim_slab;
struct dist__sim_pair;

/* All channels: in the order made, and a hash index into that. */
struct dist__sim_channels {
	struct dist__sim_channel **all;
	size_t count, space;
	uint32_t *index;   /* number of the channel + 1; 0: free */
	size_t index_size; /* power of two, at least twice count */
};

/* A copy, seen by who asks it. */
struct dist__sim_copy {
	pid_t pid; /* 0: none could be made, or it is gone */
	int ask, news;
};

/* How far a run is with its choices; see choose.c. */
struct dist__sim_chooser {
	uint32_t steps;               /* messages chosen */
	uint32_t points;              /* where there was more than one */
	size_t next;                  /* of the plan's choices */
	struct dist__sim_pair *pairs; /* what there is to choose from */
	size_t num_pairs, space;
};

/*
 * What becomes of the world as a whole. That stands above all that waits and
 * moves in it, which hands on to there.
 */
struct dist__sim_world_ops {
	/* Nothing can move. Returns whether something can now; else the world
	 * has ended, with a verdict. */
	bool (*stand_still)(struct dist__sim_world *world);

	/* Ends the world: every call returns error from now on. */
	void (*end)(struct dist__sim_world *world, enum dist_error error,
		    int exit_status);

	/* Ends rank, the calling actor, whose program has a status. */
	void (*finish)(struct dist__sim_rank *rank);

	/* Returns the rank that an actor, as the engine knows it, is a lane of;
	 * NULL: it is none. */
	struct dist__sim_rank *(*rank_of_lane)(struct dist__sim_world *world,
					       const void *actor);
};

#define DIST__SIM_MEETINGS 256 /* lists, by who meets */

struct dist__sim_world {
	const struct dist__sim_world_ops *ops;
	struct dist__platform *platform;
	struct dist__profile profile;
	enum dist__fidelity fidelity;  /* never AUTO */
	struct dist__tally tally;      /* so far */
	uint32_t warned[DIST__BY_NUM]; /* of which kinds of op, a bit each */
	double call_s;                 /* of a call */
	double overhead_s;             /* of a send */
	double receive_s;              /* of a receive */
	double wait_s;                 /* of a wait */
	double reduce_s_per_byte, copy_s_per_byte;
	double *cores_free_s; /* of each core, when; NULL: a core each */
	struct dist__recorder *recorder;
	struct check_board *board;
	struct check_board *late_board; /* at the first timeout; NULL: none */
	struct check_facts late_facts;
	bool shares_board; /* with who watches */
	int board_fd;      /* then */
	bool has_seats;    /* ranks are processes of their own: sim/seat/ */
	struct dist__sim_watch *watch;    /* whoever looks at it, */
	struct dist__sim_watch own_watch; /* or nobody does */
	uint64_t stack_bytes;             /* of every rank */
	int watch_fd;      /* of the memory that a launcher shares; -1: none */
	bool wants_strict; /* asked whether sends that wait would do, too */
	int64_t timeout_ns;
	enum dist__debug debug;
	int world_size;
	int present; /* ranks that run: all, or 0 alone, for all */
	struct dist__sim_rank *ranks;
	int *nodes; /* of every rank's place; NULL: each its own */
	int (*rank_main)(void *arg);
	void *arg;

	int movable;    /* actors that do not wait for another to act; and 1
			 * while ranks are unsettled */
	int unfinished; /* rank programs that have not returned */

	int looking; /* movable ones that only look whether work is complete */

	const struct dist__sim_plan *plan; /* NULL: nothing is prescribed */
	struct dist__sim_chooser chooser;
	struct dist__sim_log *log; /* of a run that is one of many; or NULL */
	const char *token;         /* of the plan; NULL: none */

	/* What other runs have shown; NULL: there were none. */
	const struct check_race *race;
	const struct check_explored *explored;

	/* The end came early: by deadlock, or a fault found on the way. */
	bool ended;
	int64_t ended_ns;
	enum dist_error end_error; /* what every call returns from then on */
	int exit_status;

	struct dist__sim_copy patience;   /* of the first timeout's instant */
	struct dist__sim_copy strictness; /* of the first buffered send's */
	bool has_buffered;
	bool has_processes; /* for ranks, which no copy of this one has */
	bool is_copy;       /* this process tries what would be; see copy.c */
	int news;           /* of a copy: the pipe on which it reports */
	bool is_patient;    /* and there are no deadlines; see forecast.c */
	bool is_loose;      /* and no send waits; see what_if.c */
	int late_rank;      /* then: whose deadline it was */
	bool *awaited;      /* by rank: the late one waits for it still */

	struct dist__sim_channels channels;
	struct dist__sim_analytic *meetings[DIST__SIM_MEETINGS];
	struct dist__sim_flows *flows;   /* NULL: message by message */
	struct dist__sim_queues *queues; /* NULL: messages share links */
	struct dist__sim_rank *unsettled;
	struct dist__sim_slab *slabs;
	struct dist__request *free_requests;
	char path[4096]; /* of the platform */
};

#endif
