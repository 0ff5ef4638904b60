/*
 * outputs.h - a verdict for machines: JSON, JUnit XML, SARIF, GitHub's
 * annotation lines. docs/verdicts.md describes each.
 */
#ifndef LOCKSTEP_CHECK_OUTPUTS_H
#define LOCKSTEP_CHECK_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "check/verdict.h"

/* Of the JSON that is written; raised when a field changes its meaning. */
#define CHECK_JSON_VERSION 1

/* Where to write what; NULL: nowhere. Strings are borrowed. */
struct check_outputs {
	const char *json, *junit, *sarif; /* paths */
	FILE *annotations;
	const char *name; /* of the program, for JUnit; NULL: "job" */
	const char *root; /* top of the checkout; NULL: looked for */
};

/* Runs of one job in which ranks and messages met in different ways. */
struct check_explored {
	const char *p2p;  /* when sends end; NULL: the end of a list */
	uint64_t runs;    /* by every match of receives from any source */
	uint64_t states;  /* in which they chose, or that they ended in */
	uint64_t skewed;  /* runs with delays, beside */
	uint64_t late;    /* of all, those that ran into a deadline */
	const char *left; /* why there may be other ways; NULL: no others */
};

struct check_simulated; /* simulated.h */

/* A job that has ended, and what is said of it. Borrowed. */
struct check_job {
	const struct check_board *board; /* NULL: there are no records */
	const struct check_facts *facts;
	const struct check_verdict *verdict;
	const char *world;  /* "sim", "tcp" */
	const char *replay; /* how to see it again; NULL: just run it */
	const struct check_explored *explored;   /* a list; NULL: this run */
	const struct check_simulated *simulated; /* NULL: it was not */
	const struct check_outputs *outputs;     /* NULL: the environment's */
};

/* check_outputs_asked returns what the environment asks for: LOCKSTEP_JSON,
 * LOCKSTEP_JUNIT and LOCKSTEP_SARIF name files, LOCKSTEP_ANNOTATE=github sends
 * annotation lines to stdout, LOCKSTEP_JOB is the program's name;
 * GITHUB_WORKSPACE or CI_PROJECT_DIR the top of the checkout. */
struct check_outputs check_outputs_asked(void);

/* check_conclude writes the report and the warnings to out, and the outputs
 * that are asked for, each file whole or not at all; which could not be
 * written, and why, it says in out, too. *culprit, unless culprit is NULL, is
 * the first rank on which the verdict turns; -1: none. Returns the exit status:
 * that of the verdict, but 2 if it is fine and could not be written. */
int check_conclude(FILE *out, const struct check_job *job, int *culprit);

#endif
