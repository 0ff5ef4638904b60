/* conformity.h - runs the conformance table. */
#ifndef LOCKSTEP_CLI_CONFORMITY_H
#define LOCKSTEP_CLI_CONFORMITY_H

/* A request; strings are borrowed, NULL: all. */
struct conformity {
	const char *backends;  /* "sim,tcp" */
	const char *worlds;    /* "2,4" */
	const char *calls;     /* "all_reduce,barrier" */
	const char *algorithm; /* "ring"; "auto": as the back end chooses */
	const char *platform;  /* sim: a name or a file */
	double timeout_s;      /* of a call; 0: two minutes */
};

/* conformity_check runs the cases and prints a line for each that fails, with
 * the command that repeats it; cases that a stopped rank did not reach share a
 * line. Returns an exit status: OK, FAILED, USAGE (a message on stderr),
 * SKIPPED (back end not available). */
int conformity_check(const struct conformity *request);

#endif
