/* progress.h - the progress of long work, on a terminal. */
#ifndef LOCKSTEP_BASE_PROGRESS_H
#define LOCKSTEP_BASE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct dist__progress {
	bool shown; /* stderr is a terminal: the fields below are used */
	pthread_t thread;
	pthread_mutex_t lock; /* guards the fields below */
	pthread_cond_t ended;
	bool over;
	char what[64];
	double done, all;
	int64_t start_ns, most_ns;
};

/*
 * dist__progress_begin prints a line to stderr, after two seconds, that `what`
 * is running and how long it will take. all: the sum of its pieces; 0: unknown.
 * most_ns: the time after which it ends in any case; 0: unknown. Prints nothing
 * if stderr is no terminal. Until dist__progress_end, which clears the line,
 * nothing except errors may be written to stderr.
 */
void dist__progress_begin(struct dist__progress *progress, const char *what,
			  double all, int64_t most_ns);

/* dist__progress_step adds a piece to what is done, and states what comes next;
 * what NULL: the same. */
void dist__progress_step(struct dist__progress *progress, double piece,
			 const char *what);

void dist__progress_end(struct dist__progress *progress);

#endif
