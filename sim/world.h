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

#include <sys/types.h>

#include <simgrid/comm.h>
#include <simgrid/forward.h>
#include <simgrid/semaphore.h>

#include "check/verdict.h"
#include "core/backend.h"
#include "core/fidelity.h"
#include "sim/plan.h"
#include "sim/platform_state.h"
#include "sim/tally.h"

struct dist__sim_flows;
struct dist__sim_queues;
struct dist__sim_log;
struct dist__sim_meeting;
struct dist__sim_world;
struct dist__sim_rank;

/* A place where one actor waits until another opens it. */
struct dist__sim_gate {
	sg_sem_t sem; /* of who waits there; NULL: nobody does */
};

/* Requests in order. */
struct dist__sim_queue {
	struct dist__request *first, *last;
};

/* An actor, as SimGrid hands it back to us: a rank program or a worker. */
struct dist__sim_actor {
	struct dist__sim_rank *rank;
	struct dist__lane *lane;    /* NULL: the rank program itself */
	struct dist__sim_gate gate; /* where it waits for a letter */
	double debt_s;         /* processor time used but not yet let pass */
	size_t came_bytes;     /* of the last message; 0: it is added up */
	double sum_bytes;      /* that adding it up loads the core with */
	bool holds;            /* what it sends has been taken of its core */
	uint64_t charged;      /* the last collective that it was charged */
	double look_s;         /* what the next unsuccessful look costs */
	uint32_t call, delays; /* the last delayed, and their number; skew.c */
};

/* Groups that one rank may abort one by one; beyond, it aborts all. */
#define DIST__SIM_ABORTED 16

struct dist__sim_rank {
	struct dist__transport transport; /* first: a transport is its rank */
	struct dist__sim_world *world;
	int rank;
	double pace;     /* of its host: 0.8 computes for 1/0.8 of the time */
	int status;      /* what rank_main returned */
	bool attached;   /* holds a transport */
	bool closed;     /* its program has returned */
	uint32_t joined; /* how often it attached: parts the groups */
	uint32_t aborted[DIST__SIM_ABORTED];
	size_t num_aborted;
	struct dist_group *group; /* core's: its default group */
	struct dist__sim_actor actor;
	struct dist__lane *lanes; /* not yet freed */
	size_t unanswered;        /* its requests in queues of channels */

	/* Letters to this rank that no receive has taken: those that have not
	 * arrived, as sent; those that have, as they arrived. And the receives
	 * that no letter has come for, as posted. */
	struct dist__sim_queue sent, arrived, receives;
	bool wrote;       /* it has posted a letter or receive */
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
	size_t number;
	sg_mailbox_t mailbox;
	struct dist__sim_queue queue;
};

/* All channels: in the order made, and a hash index into that. */
struct dist__sim_channels {
	struct dist__sim_channel **all;
	size_t count, space;
	uint32_t *index;   /* number of the channel + 1; 0: free */
	size_t index_size; /* power of two, at least twice count */
};

/* One end of a message: of a collective, then it has a channel, or of the
 * program, a letter or the receive of one. */
struct dist__request {
	struct dist__request *next; /* in a queue; or free */
	struct dist__sim_rank *rank;
	struct dist__sim_channel *channel; /* NULL: the program's */
	struct dist__request *mate;        /* the other end, once they met */
	uint32_t group;
	sg_comm_t comm; /* NULL once SimGrid took it back */
	void *copy;     /* of a send: the payload at isend */
	void *data;     /* of a receive: where it goes; NULL: phantom */
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

	/* The program's only; see letter.c. */
	uint32_t joined; /* how often its rank had attached */
	int peer;        /* DIST_ANY_SOURCE: any */
	int tag;         /* 0 or more */
	uint32_t call;   /* number in the records of its rank */
	uint32_t number; /* of a receive from any: of those of its rank */
	const struct dist__members *members; /* of a receive from any */
	int *source;                 /* the same: where to tell the sender */
	int64_t there_ns;            /* when it arrived */
	struct dist__sim_gate *gate; /* somebody waits here; or NULL */
	bool eager;                  /* a letter that does not wait */
	bool carried;                /* an actor is moving it */
	bool there;                  /* and has done so, or need not */
	bool done;                   /* wait() would return */
	bool denied;                 /* and a look was told that it is not */
	bool over;                   /* nobody but its owner looks at it */
};

/* A copy, seen by who asks it. */
struct dist__sim_copy {
	pid_t pid; /* 0: none could be made, or it is gone */
	int ask, news;
};

struct dist__sim_slab;
struct dist__sim_reaper;
struct dist__sim_pair;

/* How far a run is with its choices; see choose.c. */
struct dist__sim_chooser {
	uint32_t steps;               /* messages chosen */
	uint32_t points;              /* where there was more than one */
	size_t next;                  /* of the plan's choices */
	struct dist__sim_pair *pairs; /* what there is to choose from */
	size_t num_pairs, space;
};

struct dist__sim_world {
	struct dist__platform *platform;
	struct dist__profile profile;
	enum dist__fidelity fidelity; /* never AUTO */
	struct dist__tally tally;     /* so far */
	double call_s;                /* of a call */
	double overhead_s;            /* of a send */
	double receive_s;             /* of a receive */
	double wait_s;                /* of a wait */
	double reduce_s_per_byte, copy_s_per_byte;
	double *cores_free_s; /* of each core, when; NULL: a core each */
	struct dist__recorder *recorder;
	struct check_board *board;
	struct check_board *late_board; /* at the first timeout; NULL: none */
	struct check_facts late_facts;
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
	bool is_copy;    /* this process tries what would be; see copy.c */
	int news;        /* then: where it tells of it */
	bool is_patient; /* and there are no deadlines; see forecast.c */
	int late_rank;   /* then: whose deadline it was */
	bool *awaited;   /* by rank: the late one waits for it still */

	struct dist__sim_channels channels;
	struct dist__sim_meeting *meetings;
	struct dist__sim_flows *flows;   /* NULL: message by message */
	struct dist__sim_queues *queues; /* NULL: messages share links */
	struct dist__sim_rank *unsettled;
	struct dist__sim_slab *slabs;
	struct dist__request *free_requests;
	struct dist__sim_reaper *reapers;
	char path[4096]; /* of the platform */
	char overhead_text[32], reduce_text[32], segment_text[32]; /* facts */
	char p2p_text[32], window_text[32], rates_text[64 * DIST__RATES + 64];
	char receive_text[32], cores_text[32], copy_text[32];
	char call_text[32], wait_text[32];
	char send_rate_text[32], receive_rate_text[32];
	void *sink; /* SimGrid writes payload pointers here; never read */
};

/* ---- world.c --------------------------------------------------------- */

/* dist__sim_run runs a world that is open, once in a process, and returns the
 * job's exit status. */
int dist__sim_run(struct dist__sim_world *world);

/* ---- cores.c --------------------------------------------------------- */

/* dist__sim_cores_open makes the cores of the profile. Errors: NO_MEMORY. */
enum dist_error dist__sim_cores_open(struct dist__sim_world *world);

/* dist__sim_core_take has the core of rank do so much more work, and returns
 * the time until that is done. */
double dist__sim_core_take(const struct dist__sim_rank *rank, double work_s);

/* dist__sim_core_idle_s returns how long the core of rank has had nothing to do
 * until now, since since_s at most. */
double dist__sim_core_idle_s(const struct dist__sim_rank *rank, double since_s);

/* dist__sim_core_is_shared returns whether the core of rank is others' too. */
bool dist__sim_core_is_shared(const struct dist__sim_rank *rank);

/* dist__sim_load_bytes returns with how many bytes m, of rank, loads links and
 * cores; dist__sim_sum_bytes to add it up the latter. */
double dist__sim_load_bytes(const struct dist__sim_rank *rank,
			    const struct dist__message *m);
double dist__sim_sum_bytes(const struct dist__sim_rank *rank,
			   const struct dist__message *m);

/* dist__sim_copy_bytes returns with how many bytes a copy of so many, of a call
 * of op (NULL: not known), loads the core of rank. */
double dist__sim_copy_bytes(const struct dist__sim_rank *rank,
			    const struct dist__op *op, size_t bytes);

/* dist__sim_copy_s returns what a message of that load takes of a core that
 * copies rate_Bps, the profile's send_Bps or receive_Bps. */
double dist__sim_copy_s(const struct dist__sim_world *world, double load_bytes,
			double rate_Bps);

/* ---- progress.c: what can move, and the end when nothing can -------- */

/* dist__sim_now_ns returns the clock; it stands still once the world ended. */
int64_t dist__sim_now_ns(const struct dist__sim_world *world);

/* dist__sim_is_late returns whether deadline_ns has come; never where there are
 * no deadlines. */
bool dist__sim_is_late(const struct dist__sim_world *world,
		       int64_t deadline_ns);

/* dist__sim_seconds_until returns the time until deadline_ns, 0 if passed. */
double dist__sim_seconds_until(const struct dist__sim_world *world,
			       int64_t deadline_ns);

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

/* ---- gate.c ---------------------------------------------------------- */

/* dist__sim_gate_wait waits until the gate opens, or deadline_ns passes, or the
 * world ends: the caller looks why. */
void dist__sim_gate_wait(struct dist__sim_world *world,
			 struct dist__sim_gate *gate, int64_t deadline_ns);

/* dist__sim_gate_open lets the one go on that waits there, if one does. */
void dist__sim_gate_open(struct dist__sim_world *world,
			 struct dist__sim_gate *gate);

/* ---- copy.c: a copy of the process that tries another rule ----------- */

enum dist__sim_event {
	DIST__SIM_NOTHING,
	DIST__SIM_CAME,  /* who was awaited; value is the rank */
	DIST__SIM_ENDED, /* all ranks did well; value is whether letters are
			    left that nobody received */
	DIST__SIM_STUCK, /* nothing can move; value is the verdict's kind */
	DIST__SIM_EVENTS
};

/* What a copy tells; the records follow when it is stuck. */
struct dist__sim_news {
	enum dist__sim_event what;
	int value;
	int64_t at_ns;
};

/* All that it told, by event; NOTHING: not that. */
struct dist__sim_future {
	struct dist__sim_news news[DIST__SIM_EVENTS];
	struct check_board *board; /* the caller's to free; NULL: none */
};

/* dist__sim_copy_make makes a copy of this instant that waits to be asked.
 * Returns true in the copy, once it is: go on there by the other rule. */
bool dist__sim_copy_make(struct dist__sim_world *world,
			 struct dist__sim_copy *copy);

/* dist__sim_copy_ask lets the copy go on to its end, and stores what it tells.
 * A copy that there is not tells nothing. */
void dist__sim_copy_ask(const struct dist__sim_world *world,
			struct dist__sim_copy *copy,
			struct dist__sim_future *future);

/* dist__sim_copy_drop ends a copy that need not be asked. */
void dist__sim_copy_drop(struct dist__sim_copy *copy);

/* dist__sim_tell tells who asked, in a copy. */
void dist__sim_tell(const struct dist__sim_world *world,
		    const struct dist__sim_news *news);

/* ---- seclude.c -------------------------------------------------------- */

/* dist__sim_seclude parts this process, a copy, from all memory and output that
 * others see, but for one file descriptor. False: it could not. */
bool dist__sim_seclude(int but);

/* ---- what_if.c: would it end if sends were buffered? ---------------- */

enum dist__sim_answer {
	DIST__SIM_STAYS,     /* no, or that is not known */
	DIST__SIM_WOULD_END, /* yes, and every message is received */
	DIST__SIM_IS_COPY    /* this is the copy that finds out: go on */
};

/* dist__sim_ask_buffered finds out, when nothing can move. In the copy the
 * caller is blocked as before, and others can move. */
enum dist__sim_answer dist__sim_ask_buffered(struct dist__sim_world *world);

/* dist__sim_any_letter returns whether there is one that nobody received. */
bool dist__sim_any_letter(const struct dist__sim_world *world);

/* ---- strict.c: would it end if sends were not buffered? -------------- */

/* dist__sim_note_buffered notes that a send is about not to wait; in the copy
 * that finds out, it will. */
void dist__sim_note_buffered(struct dist__sim_world *world);

/* dist__sim_warning returns what is to be said of a job that ended well, which
 * the caller frees; NULL: nothing. */
char *dist__sim_warning(struct dist__sim_world *world);

/* ---- forecast.c: what would it come to without deadlines? ------------ */

/* dist__sim_time_is_up notes that rank runs into its deadline, and returns
 * whether the call must end: not so in the copy that goes on without. */
bool dist__sim_time_is_up(struct dist__sim_rank *rank);

/* dist__sim_note_call notes that rank has made a call, which may be what others
 * waited for. */
void dist__sim_note_call(const struct dist__sim_rank *rank);

/* dist__sim_look_ahead adds to the facts of a timeout, the first, what would
 * have come of it; if that is a deadlock, it is the verdict, and the records
 * kept are those of it. */
void dist__sim_look_ahead(struct dist__sim_world *world,
			  struct check_facts *facts,
			  struct check_verdict *verdict);

/* ---- choose.c, skew.c, note.c: runs that follow a plan, and their log -- */

/* What is said of a token that asks for what this job cannot do. */
#define DIST__SIM_OTHER_JOB                                                    \
	"the replay token is of another job: expected the same program, "      \
	"platform and number of ranks"

/* dist__sim_follow lets the world run by plan, which is borrowed. False: its
 * rule for sends is none. */
bool dist__sim_follow(struct dist__sim_world *world,
		      const struct dist__sim_plan *plan);

/* dist__sim_choose lets a message meet an any-source receive soon, or a look be
 * told, if the plan is to choose and there is one; false: there is none. Called
 * when nothing can move, or only look at collectives; afterwards one can. */
bool dist__sim_choose(struct dist__sim_world *world);

/* dist__sim_chose_all returns whether all choices of the plan were made. */
bool dist__sim_chose_all(const struct dist__sim_world *world);

/* dist__sim_note_letter notes in the log which receives that took another
 * letter could have taken this one, which has just arrived. */
void dist__sim_note_letter(struct dist__sim_world *world,
			   const struct dist__request *letter);

/* dist__sim_note_look notes that what a rank finds depends on time. */
void dist__sim_note_look(struct dist__sim_world *world);

/* dist__sim_note_post notes that rank posts m. */
void dist__sim_note_post(const struct dist__sim_rank *rank,
			 const struct dist__message *m, bool is_send);

/* dist__sim_note_end notes how the run ends. */
void dist__sim_note_end(struct dist__sim_world *world,
			const struct check_verdict *verdict);

/* dist__sim_note_done notes in the log which looks at r, which is complete now,
 * were told no because it was not. */
void dist__sim_note_done(struct dist__sim_world *world,
			 const struct dist__request *r);

/* dist__sim_choosing returns whether receives from any source, and looks, wait
 * until nothing else can move. */
bool dist__sim_choosing(const struct dist__sim_world *world);

/* dist__sim_look lets the calling actor, a rank, wait to be told whether r, a
 * letter or receive, is complete; false also when the world has ended. */
bool dist__sim_look(struct dist__sim_actor *actor, struct dist__request *r);

/* dist__sim_looks_end tells all that look that the world has ended. */
void dist__sim_looks_end(struct dist__sim_world *world);

/* dist__sim_skew_call lets the calling actor, if it is a rank, owe the time by
 * which the plan delays its call, at the first message or job of that. */
void dist__sim_skew_call(struct dist__sim_actor *actor);

/* dist__sim_skew_look lets the time pass by which the plan delays a look. */
void dist__sim_skew_look(struct dist__sim_actor *actor);

/* ---- channel.c: finding channels, matching, letting requests fail --- */

/* dist__sim_channel_find returns the channel, made when missing; NULL: no
 * memory, or no route between the hosts (then the world has ended). */
struct dist__sim_channel *
dist__sim_channel_find(struct dist__sim_world *world,
		       const struct dist__sim_channel *key);

/* dist__sim_match lets request meet the first unanswered one of the other end,
 * or queues it. Ends that disagree both get DIST_ERR_MISMATCH. */
void dist__sim_match(struct dist__request *request);

/* dist__sim_unqueue takes request out of the queue of its channel, if it is
 * there. */
void dist__sim_unqueue(struct dist__request *request);

/* dist__sim_has_route returns whether there is a way from rank to rank; without
 * one it ends the world. */
bool dist__sim_has_route(struct dist__sim_world *world, int from, int to);

/* dist__sim_channel_fail gives error to the unanswered requests of channel and
 * wakes who is blocked on one. */
void dist__sim_channel_fail(struct dist__sim_world *world,
			    struct dist__sim_channel *channel,
			    enum dist_error error);

void dist__sim_channels_release(struct dist__sim_world *world);

/* ---- letter.c: messages of the program ------------------------------- */

/* dist__sim_letter_post sends or receives. request is filled in but for what is
 * the program's only; it is the letter office's until done. */
void dist__sim_letter_post(struct dist__request *request,
			   const struct dist__message *m);

/* dist__sim_letter_wait is wait() of the transport, for a letter or receive. */
enum dist_error dist__sim_letter_wait(struct dist__sim_actor *actor,
				      struct dist__request *request,
				      int64_t deadline_ns);

/* dist__sim_letter_come notes that what carried letter is done with it, well or
 * not. */
void dist__sim_letter_come(struct dist__request *letter, bool well);

/* dist__sim_letter_receive returns the receive that letter, which has arrived,
 * is for: the first that it fits; NULL: none. */
struct dist__request *
dist__sim_letter_receive(const struct dist__request *letter);

/* dist__sim_letter_take lets receive take letter, which has arrived, and the
 * letters behind it go to those that they are for now. */
void dist__sim_letter_take(struct dist__request *letter,
			   struct dist__request *receive);

/* dist__sim_letters_abort fails what belongs to rank and group, on its side and
 * on that of its peers. */
void dist__sim_letters_abort(struct dist__sim_rank *rank, uint32_t group);

/* dist__sim_letters_close fails what rank left behind; buffered letters go
 * their way. */
void dist__sim_letters_close(struct dist__sim_rank *rank);

/* dist__sim_letters_end fails everything, with error. */
void dist__sim_letters_end(struct dist__sim_world *world,
			   enum dist_error error);

/* ---- meeting.c: collectives without messages ------------------------- */

/* dist__sim_meetings_end tells all that wait in one that the world has ended.
 */
void dist__sim_meetings_end(struct dist__sim_world *world);

void dist__sim_meetings_release(struct dist__sim_world *world);

/* ---- request.c: their memory, and queues ----------------------------- */

/* dist__sim_request_new returns a zeroed request; NULL: no memory. */
struct dist__request *dist__sim_request_new(struct dist__sim_world *world);

/* dist__sim_request_free gives it back. */
void dist__sim_request_free(struct dist__sim_world *world,
			    struct dist__request *request);

/* dist__sim_request_consume gives up one end of a message of a collective: two
 * mates are freed together, when both were consumed. */
void dist__sim_request_consume(struct dist__sim_world *world,
			       struct dist__request *request);

void dist__sim_queue_append(struct dist__sim_queue *queue,
			    struct dist__request *request);

/* dist__sim_queue_remove takes request out; false: it was not in there. */
bool dist__sim_queue_remove(struct dist__sim_queue *queue,
			    struct dist__request *request);

/* dist__sim_requests_release frees all, after the simulation. */
void dist__sim_requests_release(struct dist__sim_world *world);

/* ---- transport.c, lane.c -------------------------------------------- */

extern const struct dist__transport_ops dist__sim_transport_ops;

/* dist__sim_pay lets the time pass that the calling actor owes. */
void dist__sim_pay(struct dist__sim_actor *actor);

/* dist__sim_state_of returns why nothing of group can pass at rank any more, or
 * OK. */
enum dist_error dist__sim_state_of(const struct dist__sim_rank *rank,
				   uint32_t group);

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
void dist__sim_lane_over(struct dist__lane *lane);
void dist__sim_lane_free(struct dist__lane *lane);

#endif
