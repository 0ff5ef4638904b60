/* workers.h - the ranks of one node in one round: started, watched, ended
 * together. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_WORKERS_H
#define LOCKSTEP_LAUNCH_WORKERS_H

#include <poll.h>

#include "realbackend/launch/outcome.h"

enum dist__workers_phase {
	DIST__WORKERS_NONE, /* nothing started yet */
	DIST__WORKERS_RUNNING,
	DIST__WORKERS_SETTLING, /* a rank failed because another is gone: which
				   one? */
	DIST__WORKERS_ENDING,   /* SIGTERM, or another signal, has been sent */
	DIST__WORKERS_KILLING,  /* SIGKILL too */
	DIST__WORKERS_GONE      /* every process has ended */
};

/* Zeroed but for plumbing.spec, streams and signals: none. */
struct dist__workers {
	struct dist__plumbing plumbing; /* of the round */
	int world_size; /* of the records in plumbing.board_fd; 0: none */
	struct dist__child *children; /* spec->nproc */
	int started;
	enum dist__workers_phase phase;
	int64_t phase_ends_ns;
	bool stopped;                 /* told to end although none had failed */
	int output_error;             /* errno: output was lost; 0: none */
	struct dist__outcome outcome; /* ENDING and later; GONE */
};

/* Who hears what comes while ranks are started, which takes a while of many: it
 * is called after each, and may end them. */
struct dist__hearing {
	void (*hear)(void *arg);
	void *arg;
};

/*
 * dist__workers_start starts the ranks of a round; those of the round before
 * are gone. store_fd is the workers' from then on. Once they are ended, no more
 * are started. Returns OK, or INTERNAL after a line on stderr; then there may
 * be some to wait for all the same.
 */
int dist__workers_start(struct dist__workers *workers,
			const struct dist__seat *seat, int store_fd,
			const struct dist__hearing *hearing);

/* dist__workers_end has the ranks end: sends number to all, and SIGKILL after a
 * second. */
void dist__workers_end(struct dist__workers *workers, int number);

/* dist__workers_condemn has ranks end that none of them, but cause tells why.
 */
void dist__workers_condemn(struct dist__workers *workers,
			   const struct check_cause *cause);

/* dist__workers_kill does not wait for that second. */
void dist__workers_kill(struct dist__workers *workers);

/* dist__workers_busy returns whether there are processes. */
bool dist__workers_busy(const struct dist__workers *workers);

/* dist__workers_polled returns how many entries dist__workers_poll fills. */
int dist__workers_polled(const struct dist__workers *workers);
void dist__workers_poll(const struct dist__workers *workers,
			struct pollfd *fds);

/* dist__workers_deadline returns when to look again at the latest. */
int64_t dist__workers_deadline(const struct dist__workers *workers);

/* dist__workers_look passes output on (fds as polled, NULL: none was), notes
 * who has ended, and ends the rest when one has failed. */
void dist__workers_look(struct dist__workers *workers,
			const struct pollfd *fds);

/* dist__workers_records returns the records of all ranks as they are now, for
 * the caller to free; NULL: there are none, or no memory for them. */
struct check_board *dist__workers_records(const struct dist__workers *workers);

/* dist__workers_release frees what the last round has left. */
void dist__workers_release(struct dist__workers *workers);

#endif
