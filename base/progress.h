/* progress.h - how far something long is, on a terminal. */
#ifndef LOCKSTEP_BASE_PROGRESS_H
#define LOCKSTEP_BASE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dist__progress {
	bool shown; /* stderr is a terminal: the rest counts */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t ended;
	bool over;
	char what[64];
	double done, all;
	int64_t start_ns, most_ns;
};

/*
 * dist__progress_begin says on stderr, once two seconds have passed, that what
 * is under way and how long it will take: all is the sum of its pieces, 0: not
 * known; most_ns the time after which it ends in any case, 0: not known. Shows
 * nothing unless stderr is a terminal. Nothing else may be written there until
 * dist__progress_end, which clears the line, but for errors.
 */
void dist__progress_begin(struct dist__progress *progress, const char *what,
			  double all, int64_t most_ns);

/* dist__progress_step adds a piece of that size to what is done, and says what
 * comes next; what NULL: the same. */
void dist__progress_step(struct dist__progress *progress, double piece,
			 const char *what);

void dist__progress_end(struct dist__progress *progress);

#endif
