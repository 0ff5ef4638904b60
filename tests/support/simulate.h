/*
 * simulate.h - simulations in processes of their own, many in one test. A
 * process has one simulation; most of them take less time than a process of
 * Criterion takes to start.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_SIMULATE_H
#define LOCKSTEP_TESTS_SUPPORT_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>

#include "coll/algorithm.h"

struct simulation {
	const char *op, *algorithm; /* NULL: the library's choice */
	const char *platform;
	const char *profile; /* a file, or NULL */
	int world_size;
};

/* Neighbours in a table of simulations, of one algorithm. */
struct span {
	size_t first, num;
};

/* simulate runs rank_main on every rank, all with shared as their argument.
 * Returns whether they ended well; where not, the test has failed and says
 * which simulation it was. */
bool simulate(const struct simulation *s, const char *fidelity,
	      int (*rank_main)(void *arg), void *shared);

/* launch_ranks is dist_launch() of a back end, on a platform where it is "sim".
 */
int launch_ranks(const char *backend, const char *platform, int world_size,
		 int (*rank_main)(void *arg), void *arg);

/* simulate_memory returns zeroed memory in which simulations leave what they
 * found. It is kept until the test ends. */
void *simulate_memory(size_t bytes);

/* simulate_both stores two simulations of the algorithm: without a profile, and
 * with this one. Returns 2. */
size_t simulate_both(struct simulation *both,
		     const struct dist__algorithm *algorithm,
		     const char *platform, const char *profile, int world_size);

/* simulate_spans parts n elements of `size` bytes, each of which begins with a
 * simulation, where the algorithm changes. Returns how many spans it stored. */
size_t simulate_spans(const void *elements, size_t n, size_t size,
		      struct span *spans);

/* simulate_params ends the function that stores what a parameterized test is
 * about: the spans of up to most elements of a type, which list stores. */
#define simulate_params(type, most, list)                                      \
	static type table[most];                                               \
	static struct span spans[most];                                        \
	size_t n = list(table);                                                \
                                                                               \
	return cr_make_param_array(                                            \
		struct span, spans,                                            \
		simulate_spans(table, n, sizeof *table, spans))

#endif
