/* threaded.h - a rank of which one thread issues operations and another
 * completes them. */
#ifndef LOCKSTEP_TESTS_THREADED_H
#define LOCKSTEP_TESTS_THREADED_H

#include "lockstep/dist.h"

/* threaded_walk does so on group and on another of the same ranks, and returns
 * how much went wrong. */
int threaded_walk(struct dist_group *group);

/* threaded_rank is a rank program that walks; 0: nothing went wrong. arg is not
 * used. */
int threaded_rank(void *arg);

#endif
