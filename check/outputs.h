/*
 * outputs.h - a verdict in machine-readable forms: JSON, JUnit XML, SARIF,
 * GitHub's annotation lines. docs/verdicts.md describes each.
 */
#ifndef LOCKSTEP_CHECK_OUTPUTS_H
#define LOCKSTEP_CHECK_OUTPUTS_H

#include <stdio.h>

#include "check/verdict.h"

/* Of the JSON output; increased when a field changes its meaning. */
#define CHECK_JSON_VERSION 1

/* Where to write each form; NULL: not at all. Strings are borrowed. */
struct check_outputs {
	const char *json, *junit, *sarif; /* paths */
	FILE *annotations;
	const char *name; /* of the program, for JUnit; NULL: "job" */
	const char *root; /* top of the checkout; NULL: search for it */
};

/* Runs of one job with different matches of messages. */
struct check_explored {
	const char *p2p;  /* when sends end; NULL: the end of a list */
	uint64_t runs;    /* one for each match of receives from any source */
	uint64_t states;  /* at a choice, or at the end of a run */
	uint64_t skewed;  /* further runs, with delays */
	uint64_t late;    /* runs, of all, that reached a deadline */
	const char *left; /* why there may be other matches; NULL: none */
};

struct check_simulated; /* simulated.h */

/* A job that has ended, and its verdict. Borrowed. */
struct check_job {
	const struct check_board *board; /* NULL: there are no records */
	const struct check_facts *facts;
	const struct check_verdict *verdict;
	const char *world;  /* "sim", "tcp" */
	const char *replay; /* how to repeat the run; NULL: just run it */
	const struct check_explored *explored;   /* a list; NULL: one run */
	const struct check_simulated *simulated; /* NULL: a real job */
	const struct check_outputs *outputs;     /* NULL: the environment's */
};

/* check_outputs_asked returns the outputs that the environment sets:
 * LOCKSTEP_JSON, LOCKSTEP_JUNIT and LOCKSTEP_SARIF are paths,
 * LOCKSTEP_ANNOTATE=github prints annotation lines to stdout, LOCKSTEP_JOB is
 * the program's name; GITHUB_WORKSPACE or CI_PROJECT_DIR the checkout's top. */
struct check_outputs check_outputs_asked(void);

/* check_conclude writes the report and the warnings to out, and the outputs
 * that are set, each file completely or not at all. If one could not be
 * written, out says which, and why. *culprit, unless culprit is NULL, becomes
 * the first culprit; -1: none. Returns the exit status: that of the verdict; 2
 * if the verdict is fine and an output could not be written. */
int check_conclude(FILE *out, const struct check_job *job, int *culprit);

#endif
