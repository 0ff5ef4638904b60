/*
 * Fidelity formula against message, where a formula is exact: every algorithm
 * on a star, hierarchical ones also on nodes whose ranks share a link; ranks
 * that come late; collectives that overlap with computing.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algorithm.h"
#include "lockstep/dist.h"
#include "tests/support/simulate.h"
#include "tests/support/stopwatch.h"
#include "tests/support/thin.h"

#define STAR   "tests/support/star16.xml"
#define NODES  "tests/support/nodes4x4.xml"
#define COSTLY "tests/support/costly.yaml"
#define ERROR  1e-6
#define TICKS  2 /* ns: both ends of an interval are rounded */
#define MOST   1024

/* Returns how many simulations it stored. */
static size_t list(struct simulation *table)
{
	static const int worlds[] = {1, 2, 3, 5, 8, 16};
	size_t n = 0;

	for (const struct dist__algorithm *const *a = dist__algorithms(); *a;
	     a++) {
		bool nodes = strcmp((*a)->name, "hierarchical") == 0;

		for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
			n += simulate_both(&table[n], *a, STAR, COSTLY,
					   worlds[w]);
		for (int p = 8; nodes && p <= STOPWATCH_RANKS; p += 4)
			n += simulate_both(&table[n], *a, NODES, COSTLY, p);
	}
	return thin(table, n, sizeof *table);
}

ParameterizedTestParameters(formula, as_message)
{
	simulate_params(struct simulation, MOST, list);
}

/* Where the parts of a node's ranks differ by an element, the hierarchical
 * formula takes all of them for the longest; closed_form.c holds that. */
static bool is_exact(const struct simulation *s, size_t numel)
{
	return strcmp(s->platform, NODES) != 0 || numel % 4 == 0;
}

static double took_ns(const struct stopwatch *watch, int i)
{
	return (double)(watch->end_ns[i] - watch->start_ns[i]);
}

static void expect_same(const struct simulation *s,
			const struct stopwatch *message,
			const struct stopwatch *formula)
{
	for (int i = 0; i < STOPWATCH_SIZES; i++) {
		double want = took_ns(message, i), got = took_ns(formula, i);

		if (!is_exact(s, stopwatch_sizes[i]))
			continue;
		cr_expect(fabs(got - want) <= ERROR * want + TICKS,
			  "%s %s, %d ranks, %s, %s, %zu elements: message %.0f "
			  "ns, formula %.0f ns",
			  s->op, s->algorithm, s->world_size, s->platform,
			  s->profile ? s->profile : "no profile",
			  stopwatch_sizes[i], want, got);
	}
}

/* All simulations of an algorithm. */
ParameterizedTest(struct span *span, formula, as_message)
{
	static struct simulation table[MOST];
	struct stopwatch *watches = simulate_memory(2 * sizeof *watches);

	list(table);
	for (size_t i = span->first; i < span->first + span->num; i++) {
		const struct simulation *s = &table[i];

		memset(watches, 0, 2 * sizeof *watches);
		watches[0].kind = watches[1].kind = dist__op_from_name(s->op);
		if (simulate(s, "message", stopwatch_rank, &watches[0]) &&
		    simulate(s, "formula", stopwatch_rank, &watches[1]))
			expect_same(s, &watches[0], &watches[1]);
	}
}

/* ---- beside other things --------------------------------------------- */

#define CALLS 12

/* When rank 1's calls began to be waited for, and were over. */
struct overlap {
	int64_t over_ns[CALLS];
};

/* Asynchronous collectives, ranks that come late to some, computing meanwhile,
 * data in between, a message. */
static int overlap_rank(void *arg)
{
	struct overlap *overlap = arg;
	struct dist_work *works[CALLS];
	struct dist_group *group;
	float data[3] = {1, 2, 3}, word = 0;
	enum dist_error error = dist_init_process_group(NULL, &group);
	int rank = dist_get_rank(group), right;

	for (int i = 0; i < CALLS && !error; i++) {
		struct dist_tensor tensor =
			i % 5 == 3 ? dist_tensor(data, 3, DIST_FLOAT32)
				   : dist_tensor(NULL, (size_t)i * 5000,
						 DIST_FLOAT32);

		error = dist_compute(group, (rank * 7919 + i * 104729) % 60000,
				     NULL);
		if (!error)
			error = dist_all_reduce(group, tensor, DIST_MAX,
						&works[i]);
	}
	if (!error && rank == 0)
		error = dist_send(group, dist_tensor(&word, 1, DIST_FLOAT32), 1,
				  0);
	if (!error && rank == 1)
		error = dist_recv(group, dist_tensor(&word, 1, DIST_FLOAT32), 0,
				  0);
	for (int i = 0; i < CALLS && !error; i++) {
		error = dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		dist_work_free(works[i]);
		if (rank == 1)
			overlap->over_ns[i] = dist_now_ns(group);
	}
	if (!error)
		error = dist_barrier(group, NULL);
	right = data[0] == 1 && data[1] == 2 && data[2] == 3;
	return dist_destroy_process_group(group) || error || !right;
}

/* A collective of few ranks that come together begins and ends on all of them
 * at once, also message by message: pairs. */
Test(formula, beside_others_as_message)
{
	const struct simulation s = {"all_reduce", "recursive_doubling", STAR,
				     NULL, 2};
	struct overlap *overlaps = simulate_memory(2 * sizeof *overlaps);

	cr_assert(simulate(&s, "message", overlap_rank, &overlaps[0]));
	cr_assert(simulate(&s, "formula", overlap_rank, &overlaps[1]));
	for (int i = 0; i < CALLS; i++)
		cr_expect(llabs(overlaps[0].over_ns[i] -
				overlaps[1].over_ns[i]) <= CALLS,
			  "call %d: over at %lld ns by message, %lld by "
			  "formula",
			  i, (long long)overlaps[0].over_ns[i],
			  (long long)overlaps[1].over_ns[i]);
}
