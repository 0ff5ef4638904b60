/*
 * child.h - work in a child process that returns its result over a pipe. The
 * simulation engine starts only once per process, so each prediction has its
 * own.
 */
#ifndef LOCKSTEP_CLI_CHILD_H
#define LOCKSTEP_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A running child. */
struct child {
	pid_t id;
	int pipe;
};

/*
 * child_start runs work(arg, pipe) in a child, which exits with the status that
 * work returns. child_finish reads what it writes to the file descriptor pipe.
 * The child is killed when this process ends first. Returns 0, or -1 (no
 * process, no pipe) after a line on stderr.
 */
int child_start(struct child *child, int (*work)(void *arg, int pipe),
		void *arg);

/*
 * child_finish reads up to size bytes from the child into data, stores their
 * number in *got, and waits for the child. Returns its exit status, or
 * DIST_EXIT_INTERNAL after a line on stderr if a signal ended it.
 */
int child_finish(struct child *child, void *data, size_t size, size_t *got);

/* child_is_one returns whether this process is such a child. */
bool child_is_one(void);

/* child_result is child_finish for a child that writes exactly size bytes or
 * fails; another number is INTERNAL, after a line on stderr. */
int child_result(struct child *child, void *data, size_t size);

#endif
