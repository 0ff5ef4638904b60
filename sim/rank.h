/*
 * rank.h - the actors, ranks, ends of messages and channels of a simulation.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_RANK_H
#define LOCKSTEP_SIM_RANK_H

#include <setjmp.h>
#include <stdint.h>

#include "core/backend.h"
#include "sim/engine/engine.h"

struct dist__sim_world;

/* A queue of requests. */
struct dist__sim_queue {
	struct dist__request *first, *last;
};

/* An actor, as the engine returns it: a rank program or a worker of a lane. */
struct dist__sim_actor {
	struct dist__sim_rank *rank;
	struct dist__lane *lane;       /* NULL: the rank program itself */
	struct dist__engine_gate gate; /* where it waits for a message */
	double debt_s;     /* processor time used that has still to pass */
	size_t came_bytes; /* received last; 0: already reduced */
	double sum_bytes;  /* with these the reduction loads the core */
	bool holds;        /* its core is already taken for its next sends */
	uint64_t charged;  /* the last collective charged with call_s */
	double look_s;     /* time of the next unsuccessful test */
	uint32_t call, delays; /* the last delayed call, and how many were
				  delayed; delay_injection.c */
};

/* Groups that a rank may abort one by one; with more it aborts all. */
#define DIST__SIM_ABORTED 16

struct dist__sim_rank {
	struct dist__transport transport; /* first: its address is the rank's */
	struct dist__sim_world *world;
	int rank;
	double pace;     /* of its host: 0.8 computes 1/0.8 as long */
	int status;      /* what rank_main returned */
	int killed_by;   /* a signal that ended its process; 0: none did */
	bool attached;   /* holds a transport */
	bool closed;     /* its program has returned */
	uint32_t joined; /* how often it attached */
	uint32_t aborted[DIST__SIM_ABORTED];
	size_t num_aborted;
	jmp_buf *way_out;         /* for exit() in its program */
	uintptr_t stack_top;      /* above the program's frames */
	struct dist_group *group; /* core's: its default group */
	struct dist__sim_actor actor;
	struct dist__lane *lanes; /* not yet freed */
	size_t unanswered;        /* its requests in queues of channels */

	/* Messages to this rank that no receive has taken: those still under
	 * way, in the order sent, and those that have arrived, in that order.
	 * And receives without a message, in the order posted. */
	struct dist__sim_queue sent, arrived, receives;
	bool wrote;       /* it has posted a message or receive */
	uint32_t num_any; /* receives from any source that it has posted */
	struct dist__request *look; /* the operation whose test it awaits */
	bool awaits_key;            /* of a store, whose hash is: */
	uint64_t awaited;
	uint64_t polled;       /* hash of the key that it asked for last, */
	uint32_t polled_after; /* after so many calls, and how long: */
	int64_t polled_ns;
	uint32_t num_looks; /* tests so far; the last result was: */
	bool seen;
	struct dist__sim_rank *next_unsettled;
	bool unsettled; /* a queue of it changed in this instant */
};

/*
 * The messages of collectives of one group from one rank to another. Both ends
 * post them in the same order and match in that order. `queue` holds the
 * unmatched requests of one end.
 */
struct dist__sim_channel {
	uint32_t joined; /* how often the ranks had attached */
	uint32_t group;
	int src, dst;
	struct dist__engine_path path;
	struct dist__sim_queue queue;
};

/* A message of the program by a library that prices it, on links of its own;
 * zeros: by the links alone. */
struct dist__sim_send {
	double start_s;    /* until the first byte comes */
	double transfer_s; /* all bytes, at least */
	double load;       /* bytes on the links for each of its own */
};

/* One end of a message of a collective (then it has a channel) or of the
 * program: a send or a receive. */
struct dist__request {
	struct dist__request *next, *before; /* in a queue; or free */
	struct dist__sim_queue *queue;       /* which; NULL: none */
	struct dist__sim_rank *rank;
	struct dist__sim_channel *channel; /* NULL: the program's */
	struct dist__request *mate;        /* the other end, once matched */
	uint32_t group;
	struct dist__engine_end end; /* of a message in a channel */
	void *copy;                  /* of a send: the payload at isend */
	void *data; /* of a receive: the destination; NULL: phantom */
	size_t bytes;
	double load_bytes; /* by the profile's rates */
	double sum_bytes;  /* the same, if it is reduced */
	uint64_t fingerprint;
	uint32_t seq, step;
	enum dist_error error; /* known before the wait */
	bool in_use;
	bool is_send;
	bool gives_up; /* waiting for it is no deadlock */
	bool blocked;  /* an actor waits for the mate to come */
	bool consumed; /* wait() returned */

	/* The program's only; see message.c. */
	uint32_t joined; /* how often its rank had attached */
	int peer;        /* DIST_ANY_SOURCE: any */
	int tag;         /* 0 or more */
	uint32_t call;   /* its number in the records of its rank */
	uint32_t number; /* of a receive from any source, by rank */
	const struct dist__members *members; /* of a receive from any source */
	int *source;                    /* the same: the sender goes there */
	int64_t there_ns;               /* when it arrived */
	struct dist__sim_send send;     /* what the library takes for it */
	struct dist__engine_gate *gate; /* of the actor that waits; or NULL */
	bool eager;                     /* a buffered message */
	bool carried;                   /* an actor is moving it */
	bool there;                     /* it has arrived, or was never moved */
	bool done;                      /* wait() would return */
	bool denied;                    /* a test found it incomplete */
	bool over;                      /* only its owner still uses it */
};

#endif
