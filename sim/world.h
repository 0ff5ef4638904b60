/*
 * world.h - one simulation: its ranks, their messages, and whether anything
 * can still move. Private to sim/.
 *
 * Every rank program is an actor of SimGrid; a lane adds a worker actor.
 * SimGrid runs one actor at a time and switches only inside its calls, so
 * nothing here needs a lock, and a run is the same every time.
 *
 * Seconds (double) are SimGrid's unit and exist only in this folder.
 */
#ifndef LOCKSTEP_SIM_WORLD_H
#define LOCKSTEP_SIM_WORLD_H

#include <simgrid/comm.h>
#include <simgrid/forward.h>

#include "check/verdict.h"
#include "core/backend.h"
#include "sim/platform_state.h"

struct dist__sim_world;
struct dist__sim_rank;

/* An actor, as SimGrid hands it back to us: a rank program or a worker. */
struct dist__sim_actor {
	struct dist__sim_rank *rank;
	struct dist__lane *lane; /* NULL: the rank program itself */
	double debt_s;           /* processor time used but not yet let pass */
	double look_s;           /* what the next unsuccessful look costs */
};

/* Groups that one rank may abort one by one; beyond, it aborts all. */
#define DIST__SIM_ABORTED 16

struct dist__sim_rank {
	struct dist__transport transport; /* first: a transport is its rank */
	struct dist__sim_world *world;
	int rank;
	int status;      /* what rank_main returned */
	bool attached;   /* holds a transport */
	bool closed;     /* its program has returned */
	uint32_t joined; /* how often it attached: parts the groups */
	uint32_t aborted[DIST__SIM_ABORTED];
	size_t num_aborted;
	struct dist__sim_actor actor;
	struct dist__lane *lanes; /* not yet freed */
};

/*
 * The messages from one rank to another that match in the order posted: those
 * of one group and tag; all collectives of a group share one channel, because
 * both ends post them in the same order. `first` to `last` are the requests
 * of one end that the other end has not answered.
 */
struct dist__sim_channel {
	uint32_t joined; /* how often the ranks had attached */
	uint32_t group;
	int src, dst;
	int tag;
	size_t number;
	sg_mailbox_t mailbox;
	struct dist__request *first, *last;
};

/* All channels: in the order made, and a hash index into that. */
struct dist__sim_channels {
	struct dist__sim_channel **all;
	size_t count, space;
	uint32_t *index;   /* number of the channel + 1; 0: free */
	size_t index_size; /* power of two, at least twice count */
};

/* One end of a message. Two ends that met are mates, and are freed together
 * when both were consumed. */
struct dist__request {
	struct dist__request *next; /* in the channel; or free */
	struct dist__sim_rank *rank;
	struct dist__sim_channel *channel;
	struct dist__request *mate;
	sg_comm_t comm; /* NULL once SimGrid took it back */
	void *copy;     /* of a send: the payload at isend */
	void *data;     /* of a receive: where it goes; NULL: phantom */
	size_t bytes;
	uint64_t fingerprint;
	uint32_t seq, step;
	enum dist_error error; /* known before the wait */
	bool in_use;
	bool is_send;
	bool blocked;  /* an actor waits for the mate to come */
	bool consumed; /* wait() returned */
};

struct dist__sim_slab;
struct dist__sim_reaper;

struct dist__sim_world {
	struct dist__platform *platform;
	struct dist__profile profile;
	double overhead_s; /* of a send */
	double reduce_s_per_byte;
	struct dist__recorder *recorder;
	struct check_board *board;
	struct check_board *late_board; /* at the first timeout; NULL: none */
	struct check_facts late_facts;
	int64_t timeout_ns;
	int world_size;
	struct dist__sim_rank *ranks;
	int (*rank_main)(void *arg);
	void *arg;

	int movable;    /* actors that do not wait for another to act */
	int unfinished; /* rank programs that have not returned */

	/* The end came early: by deadlock, or a fault found on the way. */
	bool ended;
	int64_t ended_ns;
	enum dist_error end_error; /* what every call returns from then on */
	int exit_status;

	struct dist__sim_channels channels;
	struct dist__sim_slab *slabs;
	struct dist__request *free_requests;
	struct dist__sim_reaper *reapers;
	char path[4096];                         /* of the platform */
	char overhead_text[32], reduce_text[32]; /* facts */
	void *sink; /* SimGrid writes payload pointers here; never read */
};

/* ---- progress.c: what can move, and the end when nothing can -------- */

/* dist__sim_now_ns returns the clock; it stands still once the world ended. */
int64_t dist__sim_now_ns(const struct dist__sim_world *world);

/* dist__sim_seconds_until returns the time until deadline_ns, 0 if passed. */
double dist__sim_seconds_until(int64_t deadline_ns);

/*
 * dist__sim_block notes that the calling actor is about to wait for an act of
 * another. If nothing can move after that, it ends the world with a verdict
 * and returns false: the caller must not wait, and is movable again.
 */
bool dist__sim_block(struct dist__sim_world *world);

/* dist__sim_unblock notes that a blocked actor can go on: called by whoever
 * answers it, at once, or by itself after a timeout. */
void dist__sim_unblock(struct dist__sim_world *world);

/* dist__sim_break ends the world for a fault of the input: message is printed
 * as one line, calls return DIST_ERR_IO from then on, the job exits with
 * DIST_EXIT_USAGE. */
void dist__sim_break(struct dist__sim_world *world, const char *message);

/* dist__sim_note_timeout keeps the records as they are when rank runs into its
 * deadline, if it is the first to do so: later they show the consequences. */
void dist__sim_note_timeout(struct dist__sim_rank *rank);

/* dist__sim_exit_status judges a world whose ranks have all returned, writes
 * the verdict if there is one, and returns the job's exit status. */
int dist__sim_exit_status(struct dist__sim_world *world);

/* ---- channel.c: finding channels, matching, letting requests fail --- */

/* dist__sim_channel_find returns the channel, made when missing; NULL: no
 * memory, or no route between the hosts (then the world has ended). */
struct dist__sim_channel *
dist__sim_channel_find(struct dist__sim_world *world,
		       const struct dist__sim_channel *key);

/* dist__sim_match lets request meet the first unanswered one of the other end,
 * or queues it. Ends that disagree both get DIST_ERR_MISMATCH. */
void dist__sim_match(struct dist__request *request);

/* dist__sim_unqueue takes an unanswered request out of its channel. */
void dist__sim_unqueue(struct dist__request *request);

/* dist__sim_channel_fail gives error to the unanswered requests of channel and
 * wakes who is blocked on one. */
void dist__sim_channel_fail(struct dist__sim_world *world,
			    struct dist__sim_channel *channel,
			    enum dist_error error);

void dist__sim_channels_release(struct dist__sim_world *world);

/* ---- request.c: their memory ---------------------------------------- */

/* dist__sim_request_new returns a zeroed request; NULL: no memory. */
struct dist__request *dist__sim_request_new(struct dist__sim_world *world);

/* dist__sim_request_consume gives up one end. */
void dist__sim_request_consume(struct dist__sim_world *world,
			       struct dist__request *request);

/* dist__sim_requests_release frees all, after the simulation. */
void dist__sim_requests_release(struct dist__sim_world *world);

/* ---- transport.c, lane.c -------------------------------------------- */

extern const struct dist__transport_ops dist__sim_transport_ops;

/* dist__sim_pay lets the time pass that the calling actor owes. */
void dist__sim_pay(struct dist__sim_actor *actor);

/* dist__sim_close ends what a rank left behind when its program returned:
 * messages in flight fail, lanes run dry. */
void dist__sim_close(struct dist__sim_rank *rank);

/* The lane slots of the transport; see core/transport.h. */
enum dist_error dist__sim_lane_new(struct dist__transport *t,
				   struct dist__lane **lane);
enum dist_error dist__sim_lane_submit(struct dist__lane *lane,
				      struct dist__job *job);
enum dist_error dist__sim_lane_wait(struct dist__lane *lane,
				    struct dist__op *op, int64_t deadline_ns);
void dist__sim_lane_notify(struct dist__lane *lane);
void dist__sim_lane_free(struct dist__lane *lane);

#endif
