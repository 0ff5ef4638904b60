/*
 * world.h - the state of one simulation. The header of each part declares what
 * can be done with it. Private to sim/.
 *
 * Every rank program is an actor of the engine; a lane adds a worker actor. The
 * engine runs one actor at a time and switches only inside its calls: so
 * nothing here needs a lock, and every run is the same.
 *
 * The engine's times are seconds (double); they are used only in this folder.
 */
#ifndef LOCKSTEP_SIM_WORLD_H
#define LOCKSTEP_SIM_WORLD_H

#include <sys/types.h>

#include "check/outputs.h"
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

/* All channels in the order in which they were made, with a hash index. */
struct dist__sim_channels {
	struct dist__sim_channel **all;
	size_t count, space;
	uint32_t *index;   /* number of the channel + 1; 0: free */
	size_t index_size; /* power of two, at least twice count */
};

/* A forked copy, as the original process sees it. */
struct dist__sim_copy {
	pid_t pid; /* 0: it could not be made, or has ended */
	int ask, news;
};

/* How many choices of a run are made; see choose.c. */
struct dist__sim_chooser {
	uint32_t steps;               /* messages chosen */
	uint32_t points;              /* steps with more than one option */
	size_t next;                  /* of the plan's choices */
	struct dist__sim_pair *pairs; /* the options */
	size_t num_pairs, space;
};

/*
 * Calls from lower files to higher ones about the world as a whole.
 */
struct dist__sim_world_ops {
	/* Called when nothing can move. Returns whether something can now; else
	 * the world has ended, with a verdict. */
	bool (*stand_still)(struct dist__sim_world *world);

	/* Ends the world: every call returns error from now on. */
	void (*end)(struct dist__sim_world *world, enum dist_error error,
		    int exit_status);

	/* Ends rank, the calling actor, whose program has returned a status. */
	void (*finish)(struct dist__sim_rank *rank);

	/* Returns the rank whose lane actor (of the engine) is; NULL: it is no
	 * lane. */
	struct dist__sim_rank *(*rank_of_lane)(struct dist__sim_world *world,
					       const void *actor);
};

#define DIST__SIM_MEETINGS 256 /* lists, by hash of the members */

struct dist__sim_world {
	const struct dist__sim_world_ops *ops;
	struct dist__platform *platform;
	struct dist__profile profile;
	enum dist__fidelity fidelity;  /* never AUTO */
	bool has_rounds;               /* of collectives that take time */
	struct dist__tally tally;      /* so far */
	uint32_t warned[DIST__BY_NUM]; /* by kind of op, a bit each */
	double call_s;                 /* of a call */
	double overhead_s;             /* of a send */
	double receive_s;              /* of a receive */
	double wait_s;                 /* of a wait */
	double reduce_s_per_byte, copy_s_per_byte;
	double *cores_free_s; /* when a core is free; NULL: one a rank */
	struct dist__recorder *recorder;
	bool owns_recorder; /* and writes the trace at the end */
	struct check_board *board;
	/* Asked for at the start: a rank may clear the environment. */
	struct check_outputs outputs;
	struct check_board *late_board; /* at the first timeout; NULL: none */
	struct check_facts late_facts;
	bool shares_board;                /* with the watching process */
	int board_fd;                     /* then */
	bool has_seats;                   /* ranks are processes: sim/seat/ */
	struct dist__sim_watch *watch;    /* shared with its watcher, or
					     own_watch */
	struct dist__sim_watch own_watch; /* used if no process watches */
	uint64_t stack_bytes;             /* of every rank */
	int watch_fd;      /* shared with the launcher; -1: none */
	bool wants_strict; /* asked whether sends could wait, too */
	int64_t timeout_ns;
	enum dist__debug debug;
	int world_size;
	int present; /* ranks that run: all, or the first, for all (stand_in.h)
		      */
	bool may_part; /* rank 0 runs for all unless they turn out to differ */
	struct dist__sim_rank *ranks;
	int *nodes; /* of every rank; NULL: each has its own */
	int (*rank_main)(void *arg);
	void *arg;

	int movable;    /* actors that do not wait for another; plus 1 while
			   ranks are unsettled */
	int unfinished; /* rank programs that have not returned */

	int looking; /* movable ones that only test completion */

	const struct dist__sim_plan *plan; /* NULL: no choices are given */
	struct dist__sim_chooser chooser;
	struct dist__sim_log *log; /* of a run of an exploration; or NULL */
	const char *token;         /* of the plan; NULL: none */

	/* What other runs have shown; NULL: there were no other runs. */
	const struct check_race *race;
	const struct check_explored *explored;

	/* The world ended before its ranks: deadlock, or another verdict. */
	bool ended;
	int64_t ended_ns;
	enum dist_error end_error; /* what every call returns from then on */
	int exit_status;

	struct dist__sim_copy patience;   /* made at the first timeout */
	struct dist__sim_copy strictness; /* made at the first buffered send */
	bool has_buffered;
	bool has_processes; /* of ranks; a forked copy has none */
	bool is_copy;       /* this process is a forked copy; see copy.c */
	int news;           /* of a copy: the pipe to report to */
	bool is_patient;    /* a copy without deadlines; see forecast.c */
	bool is_loose;      /* a copy in which no send waits; see ending.c */
	int late_rank;      /* in a patient copy: the rank that was late */
	bool *awaited;      /* by rank: the late rank still waits for it */

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
