/*
 * Simulated time, message by message, against each algorithm's cost formula:
 * within 0.1 %, on a star without contention; and of the hierarchical ones also
 * on nodes whose ranks share a link.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <string.h>

#include "coll/algorithm.h"
#include "tests/support/simulate.h"
#include "tests/support/stopwatch.h"

#define STAR   "tests/support/star16.xml"        /* 1 GB/s, 2 links of 5 us */
#define QUEUES "tests/support/star16_queues.xml" /* the same, in order */
#define NODES  "tests/support/nodes4x4.xml"
#define COSTLY "tests/support/costly.yaml"
#define ERROR  1e-3
#define MOST   1024

static void expect_formula(const struct simulation *s,
			   const struct dist__algorithm *algorithm,
			   const struct stopwatch *watch)
{
	bool costly = s->profile != NULL;
	struct dist__cost cost = {
		.overhead_ns = costly ? 3000 : 0,
		.alpha_ns = 10000,
		.beta_ns_per_byte = 1,
		.gamma_ns_per_byte = costly ? 0.5 : 0,
		.segment_bytes = costly ? 40000 : 0,
		.node_ranks = strcmp(s->platform, NODES) == 0 ? 4 : 1,
		.node_alpha_ns = 2000,
		.node_beta_ns_per_byte = 0.1,
	};

	for (int i = 0; i < STOPWATCH_SIZES; i++) {
		bool parts = algorithm->op >= DIST__ALL_GATHER;
		size_t numel = stopwatch_sizes[i] *
			       (parts ? (size_t)s->world_size : 1);
		double want =
			algorithm->cost_ns(&cost, s->world_size, numel, 4);
		double got = (double)(watch->end_ns[i] - watch->start_ns[i]);

		cr_expect(fabs(got - want) <= ERROR * want,
			  "%s %s, %d ranks, %s, %s, %zu elements: formula %.0f "
			  "ns, simulated %.0f ns",
			  s->op, s->algorithm, s->world_size, s->platform,
			  costly ? s->profile : "no profile",
			  stopwatch_sizes[i], want, got);
	}
}

/* Without contention queues change nothing. Where each rank sends to all at
 * once, by rendezvous, messages go in the order in which their receivers meet
 * them, and those of several ranks meet on one's link. */
static bool is_free_of_queues(const struct dist__algorithm *algorithm,
			      int world_size)
{
	bool meet = strcmp(algorithm->name, "one_shot") == 0 ||
		    (strcmp(algorithm->name, "linear") == 0 &&
		     (algorithm->op == DIST__ALL_GATHER ||
		      algorithm->op == DIST__ALL_TO_ALL));

	return !meet && world_size >= 5 && world_size <= 8;
}

/* Returns how many simulations it stored. */
static size_t list(struct simulation *table)
{
	static const int worlds[] = {1, 2, 3, 4, 5, 7, 8, 12, 16};
	size_t n = 0;

	for (const struct dist__algorithm *const *a = dist__algorithms(); *a;
	     a++) {
		bool nodes = strcmp((*a)->name, "hierarchical") == 0;

		for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) {
			n += simulate_both(&table[n], *a, STAR, COSTLY,
					   worlds[w]);
			if (is_free_of_queues(*a, worlds[w]))
				n += simulate_both(&table[n], *a, QUEUES,
						   COSTLY, worlds[w]);
		}
		for (int p = 4; nodes && p <= STOPWATCH_RANKS; p += 4)
			n += simulate_both(&table[n], *a, NODES, COSTLY, p);
	}
	return n;
}

ParameterizedTestParameters(model, closed_form)
{
	simulate_params(struct simulation, MOST, list);
}

/* All simulations of an algorithm. */
ParameterizedTest(struct span *span, model, closed_form)
{
	static struct simulation table[MOST];
	struct stopwatch *watch = simulate_memory(sizeof *watch);

	list(table);
	for (size_t i = span->first; i < span->first + span->num; i++) {
		const struct simulation *s = &table[i];
		enum dist__op_kind kind = dist__op_from_name(s->op);

		*watch = (struct stopwatch){.kind = kind};
		if (simulate(s, "message", stopwatch_rank, watch))
			expect_formula(s,
				       dist__algorithm_find(kind, s->algorithm),
				       watch);
	}
}
