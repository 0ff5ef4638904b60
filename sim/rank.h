/*
 * rank.h - who acts in a simulation and what is under way: actors, ranks,
 * the ends of messages, the channels of collectives. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_RANK_H
#define LOCKSTEP_SIM_RANK_H

#include <setjmp.h>
#include <stdint.h>

#include "core/backend.h"
#include "sim/engine/engine.h"

struct dist__sim_world;

/* Requests in order. */
struct dist__sim_queue {
	struct dist__request *first, *last;
};

/* An actor, as the engine hands it back: a rank program or a worker. */
struct dist__sim_actor {
	struct dist__sim_rank *rank;
	struct dist__lane *lane;       /* NULL: the rank program itself */
	struct dist__engine_gate gate; /* where it waits for a message */
	double debt_s;     /* processor time used that has yet to pass */
	size_t came_bytes; /* received last; 0: they are reduced already */
	double sum_bytes;  /* the load of the core when these are reduced */
	bool holds;        /* its core is taken for all that it sends next */
	uint64_t charged;  /* the last collective that call_s was added for */
	double look_s;     /* what the next unsuccessful look costs */
	uint32_t call, delays; /* the last delayed, and their number;
				  delay_injection.c */
};

/* Groups that one rank may abort one by one; beyond, it aborts all. */
#define DIST__SIM_ABORTED 16

struct dist__sim_rank {
	struct dist__transport transport; /* first: a transport is its rank */
	struct dist__sim_world *world;
	int rank;
	double pace;     /* of its host: 0.8 computes for 1/0.8 of the time */
	int status;      /* what rank_main returned */
	int killed_by;   /* a signal that ended its process; 0: none did */
	bool attached;   /* holds a transport */
	bool closed;     /* its program has returned */
	uint32_t joined; /* how often it attached: parts the groups */
	uint32_t aborted[DIST__SIM_ABORTED];
	size_t num_aborted;
	jmp_buf *way_out;         /* of its program, from exit() */
	uintptr_t stack_top;      /* above that program's */
	struct dist_group *group; /* core's: its default group */
	struct dist__sim_actor actor;
	struct dist__lane *lanes; /* not yet freed */
	size_t unanswered;        /* its requests in queues of channels */

	/* Messages to this rank that no receive has taken: those that have not
	 * arrived, as sent; those that have, as they arrived. And the receives
	 * that no message has come for, as posted. */
	struct dist__sim_queue sent, arrived, receives;
	bool wrote;       /* it has posted a message or receive */
	uint32_t num_any; /* receives from any source that it has posted */
	struct dist__request *look; /* it waits to be told whether it is done */
	uint32_t num_looks;         /* so far; told last was: */
	bool seen;
	struct dist__sim_rank *next_unsettled;
	bool unsettled; /* something came into one of them in this instant */
};

/*
 * The messages of the collectives of one group from one rank to another: both
 * ends post them in the same order, and they match in that order. `queue` holds
 * the requests of one end that the other end has not answered.
 */
struct dist__sim_channel {
	uint32_t joined; /* how often the ranks had attached */
	uint32_t group;
	int src, dst;
	struct dist__engine_path path;
	struct dist__sim_queue queue;
};

/* One end of a message: of a collective, then it has a channel, or of the
 * program, a message or the receive of one. */
struct dist__request {
	struct dist__request *next, *before; /* in a queue; or free */
	struct dist__sim_queue *queue;       /* which; NULL: none */
	struct dist__sim_rank *rank;
	struct dist__sim_channel *channel; /* NULL: the program's */
	struct dist__request *mate;        /* the other end, once they met */
	uint32_t group;
	struct dist__engine_end end; /* in a channel */
	void *copy;                  /* of a send: the payload at isend */
	void *data; /* of a receive: where it goes; NULL: phantom */
	size_t bytes;
	double load_bytes; /* by the profile's rates */
	double sum_bytes;  /* likewise, if it is added up */
	uint64_t fingerprint;
	uint32_t seq, step;
	enum dist_error error; /* known before the wait */
	bool in_use;
	bool is_send;
	bool gives_up; /* to wait for it is no deadlock */
	bool blocked;  /* an actor waits for the mate to come */
	bool consumed; /* wait() returned */

	/* The program's only; see message.c. */
	uint32_t joined; /* how often its rank had attached */
	int peer;        /* DIST_ANY_SOURCE: any */
	int tag;         /* 0 or more */
	uint32_t call;   /* number in the records of its rank */
	uint32_t number; /* of a receive from any: of those of its rank */
	const struct dist__members *members; /* of a receive from any */
	int *source;                    /* the same: where to tell the sender */
	int64_t there_ns;               /* when it arrived */
	struct dist__engine_gate *gate; /* somebody waits here; or NULL */
	bool eager;                     /* a message that does not wait */
	bool carried;                   /* an actor is moving it */
	bool there;                     /* and has done so, or need not */
	bool done;                      /* wait() would return */
	bool denied;                    /* and a look was told that it is not */
	bool over;                      /* nobody but its owner looks at it */
};

#endif
