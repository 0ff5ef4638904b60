/* conformity.h - the conformance table, walked by the command. */
#ifndef LOCKSTEP_CLI_CONFORMITY_H
#define LOCKSTEP_CLI_CONFORMITY_H

/* What is asked for; strings are borrowed, NULL: all there is. */
struct conformity {
	const char *backends;  /* "sim,tcp" */
	const char *worlds;    /* "2,4" */
	const char *calls;     /* "all_reduce,barrier" */
	const char *algorithm; /* "ring"; "auto": as the back end chooses */
	const char *platform;  /* sim: a name or a file */
	double timeout_s;      /* of a call; 0: two minutes */
};

/* conformity_check walks the table, prints a line for each case that fails
 * with what it takes to run it again (one for all that a rank that stopped did
 * not reach), and counts. Returns an exit status: OK,
 * FAILED, USAGE (words on stderr), SKIPPED (back end not available). */
int conformity_check(const struct conformity *request);

#endif
