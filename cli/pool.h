/* pool.h - many tasks, each in a child process, several at a time. */
#ifndef LOCKSTEP_CLI_POOL_H
#define LOCKSTEP_CLI_POOL_H

#include <stddef.h>

/* The work; tasks are numbers with a meaning for the caller. */
struct pool_work {
	/* In a child: does a task, writes the result to the file descriptor
	 * pipe, and returns the child's exit status. */
	int (*run)(void *arg, size_t task, int pipe);

	/* Called here when a child ends, with its exit status and the size
	 * bytes that it wrote, followed by a zero, valid during the call.
	 * Returns OK, or an exit status that stops all. */
	int (*done)(void *arg, size_t task, int status, const char *data,
		    size_t size);

	void *arg;
};

/*
 * pool_run starts num tasks in the order of the list, `jobs` at a time. When
 * done() stops it, or no process can be made, it starts no more tasks, but
 * waits for running ones and calls done() for them. Returns OK, or the first
 * other status of done(), or INTERNAL after a line on stderr.
 */
int pool_run(const struct pool_work *work, const size_t *tasks, size_t num,
	     int jobs);

/* pool_cores returns the number of cores that this process may use, 1 or more.
 */
int pool_cores(void);

#endif
