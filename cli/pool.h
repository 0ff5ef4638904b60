/* pool.h - many pieces of work, each in a child process of its own, some at a
 * time. */
#ifndef LOCKSTEP_CLI_POOL_H
#define LOCKSTEP_CLI_POOL_H

#include <stddef.h>

/* The work; tasks are numbers that mean something to it. */
struct pool_work {
	/* In a child: does a task, writes what came out of it to the file
	 * descriptor pipe, and returns the child's exit status. */
	int (*run)(void *arg, size_t task, int pipe);

	/* Here, as each child ends: its exit status, and the size bytes that
	 * it wrote, behind which is a zero, and which end here. Returns OK, or
	 * the exit status with which all is to stop. */
	int (*done)(void *arg, size_t task, int status, const char *data,
		    size_t size);

	void *arg;
};

/*
 * pool_run does the num tasks of the list, begun in its order, `jobs` at a
 * time. Once done() stops it, or a process cannot be had, no task is begun
 * any more; those under way are waited for, and done() hears of them. Returns
 * OK, or the first other status of done(), or INTERNAL after a line on stderr.
 */
int pool_run(const struct pool_work *work, const size_t *tasks, size_t num,
	     int jobs);

/* pool_cores returns on how many cores this process may run, 1 or more. */
int pool_cores(void);

#endif
