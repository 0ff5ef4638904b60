/*
 * child.h - work in a process of its own, its result brought back by a pipe.
 * The simulation engine starts once per process, so every prediction gets one.
 */
#ifndef LOCKSTEP_CLI_CHILD_H
#define LOCKSTEP_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A child under way. */
struct child {
	pid_t id;
	int pipe;
};

/*
 * child_start runs work(arg, pipe) in a child, which ends with the status that
 * work returns; what it writes to the file descriptor pipe, child_finish reads.
 * The child is killed when this process ends before it.
 * Returns 0, or -1 (no process, no pipe) after a line on stderr.
 */
int child_start(struct child *child, int (*work)(void *arg, int pipe),
		void *arg);

/*
 * child_finish reads up to size bytes of what the child writes into data, and
 * how many in *got, then waits for its end. Returns its exit status, or
 * DIST_EXIT_INTERNAL after a line on stderr when a signal ended it.
 */
int child_finish(struct child *child, void *data, size_t size, size_t *got);

/* child_is_one returns whether this process is such a child. */
bool child_is_one(void);

/* child_result is child_finish for a child that answers with size bytes, or
 * fails: one that ended well with others is INTERNAL, after a line. */
int child_result(struct child *child, void *data, size_t size);

/* child_write writes all of data to pipe; returns 0, or -1. */
int child_write(int pipe, const void *data, size_t size);

#endif
