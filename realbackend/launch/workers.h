/* workers.h - the ranks of one node in one round: started, watched, ended
 * together. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_WORKERS_H
#define LOCKSTEP_LAUNCH_WORKERS_H

#include <poll.h>

#include "realbackend/launch/outcome.h"

enum dist__workers_phase {
	DIST__WORKERS_NONE, /* nothing started yet */
	DIST__WORKERS_RUNNING,
	DIST__WORKERS_SETTLING, /* a rank failed because another is gone: find
				   out which one */
	DIST__WORKERS_ENDING,   /* SIGTERM, or another signal, was sent */
	DIST__WORKERS_KILLING,  /* SIGKILL too */
	DIST__WORKERS_GONE      /* every process has ended */
};

/* Zeroed except plumbing.spec, streams and signals: no ranks. */
struct dist__workers {
	struct dist__plumbing plumbing; /* of the round */
	int world_size; /* of the records in plumbing.board_fd; 0: none */
	struct dist__child *children; /* spec->nproc */
	int started;
	enum dist__workers_phase phase;
	int64_t phase_ends_ns;
	/* By which settling has become longer: for want of a processor, and
	 * because a rank may still call or leave. */
	int64_t starved_ns, undecided_ns;
	bool stopped;                 /* ended by us, with no failure */
	int output_error;             /* errno: output was lost; 0: none */
	struct dist__outcome outcome; /* ENDING and later; GONE */
};

/* Called after each rank that is started, because starting many takes a while:
 * handles what comes meanwhile, and may end the ranks. */
struct dist__hearing {
	void (*hear)(void *arg);
	void *arg;
};

/*
 * dist__workers_start starts the ranks of a round; those of the round before
 * have ended. It owns store_fd from then on. Once the ranks are told to end, no
 * more are started. Returns OK, or INTERNAL after a line on stderr; then there
 * may still be ranks to wait for.
 */
int dist__workers_start(struct dist__workers *workers,
			const struct dist__seat *seat, int store_fd,
			const struct dist__hearing *hearing);

/* dist__workers_end ends the ranks: sends signal number to all, and SIGKILL
 * after a second. */
void dist__workers_end(struct dist__workers *workers, int number);

/* dist__workers_condemn ends ranks that have not failed, because of cause.
 */
void dist__workers_condemn(struct dist__workers *workers,
			   const struct check_cause *cause);

/* dist__workers_kill sends SIGKILL without that second. */
void dist__workers_kill(struct dist__workers *workers);

/* dist__workers_busy returns whether any process is left. */
bool dist__workers_busy(const struct dist__workers *workers);

/* dist__workers_polled returns the number of fds of dist__workers_poll. */
int dist__workers_polled(const struct dist__workers *workers);
void dist__workers_poll(const struct dist__workers *workers,
			struct pollfd *fds);

/* dist__workers_deadline returns the latest time of the next look. */
int64_t dist__workers_deadline(const struct dist__workers *workers);

/* dist__workers_look copies output (fds as polled, NULL: not polled), finds
 * ranks that have ended, and ends the others if one has failed. */
void dist__workers_look(struct dist__workers *workers,
			const struct pollfd *fds);

/* dist__workers_records returns the current records of all ranks, which the
 * caller frees; NULL: none, or no memory. */
struct check_board *dist__workers_records(const struct dist__workers *workers);

/* dist__workers_own_records does so of the ranks that the program started
 * itself (board.h). */
struct check_board *
dist__workers_own_records(const struct dist__workers *workers);

/* dist__workers_take examines the ranks as they are now. */
void dist__workers_take(const struct dist__workers *workers,
			struct dist__outcome *outcome);

/* dist__workers_release frees what is left of the last round. */
void dist__workers_release(struct dist__workers *workers);

#endif
