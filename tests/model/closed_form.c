/*
 * Simulated time, message by message, against each algorithm's cost formula:
 * within 0.1 %, on a star without contention; and of the hierarchical ones also
 * on nodes whose ranks share a link.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/algorithm.h"
#include "lockstep/dist.h"
#include "tests/support/stopwatch.h"

#define STAR   "tests/support/star16.xml"        /* 1 GB/s, 2 links of 5 us */
#define QUEUES "tests/support/star16_queues.xml" /* the same, in order */
#define NODES  "tests/support/nodes4x4.xml"
#define COSTLY "tests/support/costly.yaml"
#define ERROR  1e-3

struct setup {
	char op[24], algorithm[32], profile[32];
	int world_size;
	bool nodes, queues;
};

static void expect_formula(const struct dist__algorithm *algorithm,
			   const struct stopwatch *watch,
			   const struct setup *setup)
{
	bool costly = setup->profile[0] != '\0';
	struct dist__cost cost = {
		.overhead_ns = costly ? 3000 : 0,
		.alpha_ns = 10000,
		.beta_ns_per_byte = 1,
		.gamma_ns_per_byte = costly ? 0.5 : 0,
		.segment_bytes = costly ? 40000 : 0,
		.node_ranks = setup->nodes ? 4 : 1,
		.node_alpha_ns = 2000,
		.node_beta_ns_per_byte = 0.1,
	};

	for (int i = 0; i < STOPWATCH_SIZES; i++) {
		bool parts = algorithm->op >= DIST__ALL_GATHER;
		size_t numel = stopwatch_sizes[i] *
			       (parts ? (size_t)setup->world_size : 1);
		double want =
			algorithm->cost_ns(&cost, setup->world_size, numel, 4);
		double got = (double)(watch->end_ns[i] - watch->start_ns[i]);

		cr_expect(
			fabs(got - want) <= ERROR * want,
			"%s %s%s%s%s, %d ranks, %zu elements: formula %.0f ns, "
			"simulated %.0f ns",
			setup->op, setup->algorithm, costly ? ", costly" : "",
			setup->nodes ? ", nodes" : "",
			setup->queues ? ", queues" : "", setup->world_size,
			stopwatch_sizes[i], want, got);
	}
}

static void add_setup(struct setup *setup,
		      const struct dist__algorithm *algorithm, int world_size,
		      bool nodes, bool costly)
{
	strcpy(setup->op, dist__op_name(algorithm->op));
	strcpy(setup->algorithm, algorithm->name);
	strcpy(setup->profile, costly ? COSTLY : "");
	setup->world_size = world_size;
	setup->nodes = nodes;
	setup->queues = false;
}

/* Without contention queues change nothing. Where each rank sends to all at
 * once, by rendezvous, messages go in the order in which their receivers meet
 * them, and those of several ranks meet on one's link. */
static void add_queues(struct setup *setups, size_t *n)
{
	size_t last = *n;

	for (size_t i = 0; i < last; i++) {
		bool meet = strcmp(setups[i].algorithm, "one_shot") == 0 ||
			    (strcmp(setups[i].algorithm, "linear") == 0 &&
			     (strcmp(setups[i].op, "all_gather") == 0 ||
			      strcmp(setups[i].op, "all_to_all") == 0));

		if (setups[i].nodes || meet || setups[i].world_size < 5 ||
		    setups[i].world_size > 8)
			continue;
		setups[*n] = setups[i];
		setups[(*n)++].queues = true;
	}
}

ParameterizedTestParameters(model, closed_form)
{
	static const int worlds[] = {1, 2, 3, 4, 5, 7, 8, 12, 16};
	static struct setup setups[1024];
	size_t n = 0;

	for (const struct dist__algorithm *const *a = dist__algorithms(); *a;
	     a++) {
		bool nodes = strcmp((*a)->name, "hierarchical") == 0;

		for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
			for (int costly = 0; costly < 2; costly++)
				add_setup(&setups[n++], *a, worlds[w], false,
					  costly);
		for (int p = 4; nodes && p <= STOPWATCH_RANKS; p += 4)
			for (int costly = 0; costly < 2; costly++)
				add_setup(&setups[n++], *a, p, true, costly);
	}
	add_queues(setups, &n);
	return cr_make_param_array(struct setup, setups, n);
}

ParameterizedTest(struct setup *setup, model, closed_form, .timeout = 60)
{
	char words[64];
	enum dist__op_kind kind = dist__op_from_name(setup->op);
	const struct dist__algorithm *algorithm =
		dist__algorithm_find(kind, setup->algorithm);
	struct stopwatch watch = {.kind = kind};
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = setup->nodes    ? NODES
			    : setup->queues ? QUEUES
					    : STAR,
		.profile = setup->profile[0] ? setup->profile : NULL,
		.world_size = setup->world_size,
		.algorithm = words,
	};

	cr_assert(algorithm);
	snprintf(words, sizeof words, "%s=%s", setup->op, setup->algorithm);
	cr_assert_eq(dist_launch(&options, stopwatch_rank, &watch), 0);
	expect_formula(algorithm, &watch, setup);
}
