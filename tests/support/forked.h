/* forked.h - a job in a process of its own, with what it said. */
#ifndef LOCKSTEP_TESTS_SUPPORT_FORKED_H
#define LOCKSTEP_TESTS_SUPPORT_FORKED_H

struct forked {
	int status;      /* enum dist_exit; 128 and above: a signal */
	char text[8192]; /* what was said, cut short */
};

/* fork_run runs launch(job) in a process that may use 60 s of processors, and
 * stores what came of it. */
void fork_run(int (*launch)(const void *job), const void *job,
	      struct forked *forked);

#endif
