/* The algorithms on the loop transport: results, cost formulas, failures. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/algorithm_cases.h"
#include "tests/support/leaks.h"
#include "tests/support/okay.h"
#include "tests/support/part_cases.h"
#include "tests/support/thin.h"

static void walk(int world_size)
{
	struct algorithm_outcome outcome = algorithm_cases_walk(world_size);

	cr_assert(outcome.cases > 100);
	cr_assert(outcome.failures == 0, "%u of %u cases failed; the first: %s",
		  outcome.failures, outcome.cases, outcome.first);
	outcome = part_cases_walk(world_size);
	cr_assert(outcome.cases > 100);
	cr_assert(outcome.failures == 0, "%u of %u cases failed; the first: %s",
		  outcome.failures, outcome.cases, outcome.first);
	cr_assert_not(leaks_found());
}

Test(coll, results_on_1_rank)
{
	walk(1);
}

Test(coll, results_on_2_ranks)
{
	walk(2);
}

Test(coll, results_on_3_ranks)
{
	walk(3);
}

Test(coll, results_on_4_ranks)
{
	walk(4);
}

Test(coll, results_on_5_ranks)
{
	walk(5);
}

Test(coll, results_on_7_ranks)
{
	walk(7);
}

Test(coll, results_on_8_ranks)
{
	walk(8);
}

Test(coll, results_on_12_ranks)
{
	walk(12);
}

Test(coll, results_on_16_ranks)
{
	walk(16);
}

/* ---- operands that do not commute -------------------------------------- */

enum { ODD_NUMEL = 21, ODD_WORLD = 12 };

/* Every rank has its own NaN, its own sign of zero, and its own fraction, whose
 * sums are rounded. */
struct odd_floats {
	struct algorithm_case c;
	uint32_t bits[ODD_WORLD][ODD_NUMEL];
};

static float odd_float(int rank, size_t i)
{
	uint32_t bits = i % 3 ? UINT32_C(0x7fc00000) + (uint32_t)(rank + 1) * 64
			      : ((uint32_t)rank + (uint32_t)i / 3) % 2 << 31;
	float odd;

	if (i % 3 == 1)
		return 1.0F / (float)((size_t)rank + i + 3);
	memcpy(&odd, &bits, sizeof odd);
	return odd;
}

static void reduce_odd_floats(struct dist__transport *transport, int loop_rank,
			      void *arg)
{
	struct odd_floats *odd = arg;
	struct algorithm_case c = odd->c;
	int rank = algorithm_cases_group_rank(loop_rank, c.world_size);
	float data[ODD_NUMEL], in[ODD_WORLD * ODD_NUMEL];
	const struct algorithm_memory memory = {data, in, NULL};

	for (size_t i = 0; i < ODD_WORLD * ODD_NUMEL; i++)
		in[i] = odd_float(rank, i);
	memcpy(data, in, sizeof data);
	algorithm_case_shape(&c, rank, ODD_NUMEL, DIST_FLOAT32, &memory);
	if (algorithm_case_run(&c, transport, rank))
		data[0] = 1;
	memcpy(odd->bits[rank], data, sizeof data);
}

Test(coll, odd_floats_are_the_same_everywhere)
{
	static const enum dist_reduce_op ops[] = {DIST_SUM, DIST_MIN, DIST_MAX};
	const struct dist__algorithm *const *all = dist__algorithms();
	struct odd_floats odd;

	for (; *all; all++)
		for (int i = 0; i < 3 * ODD_WORLD * ALGORITHM_LAYOUTS; i++) {
			struct loop_options options = {
				.world_size = 1 + i / 3 % ODD_WORLD};

			if ((*all)->op != DIST__ALL_REDUCE)
				break;
			odd.c = (struct algorithm_case){
				.algorithm = *all,
				.world_size = options.world_size,
				.reduce_op = ops[i % 3],
				.seq = (uint32_t)(i / 3 / ODD_WORLD)};
			loop_run(&options, reduce_odd_floats, &odd);
			for (int rank = 1; rank < options.world_size; rank++)
				cr_assert_arr_eq(
					odd.bits[rank], odd.bits[0],
					sizeof odd.bits[0],
					"%s, rank %d of %d, %s", (*all)->name,
					rank, options.world_size,
					dist_reduce_op_name(ops[i % 3]));
		}
}

/* Whether two results are the same. Which of two NaNs comes through may depend
 * on how many elements are added up at once: parts, or several of them. */
static bool same_float(enum dist__op_kind op, uint32_t a, uint32_t b)
{
	const uint32_t infinity = UINT32_C(0x7f800000);
	bool nan = (a & INT32_MAX) > infinity && (b & INT32_MAX) > infinity;

	return a == b || (op == DIST__REDUCE_SCATTER && nan);
}

/* Fails unless two algorithms give each of p ranks the same sums. */
static void expect_same_sums(enum dist__op_kind op, const char *one,
			     const char *other, int p)
{
	struct loop_options options = {.world_size = p};
	struct odd_floats a = {.c = {.algorithm = dist__algorithm_find(op, one),
				     .world_size = p,
				     .reduce_op = DIST_SUM}};
	struct odd_floats b = a;

	b.c.algorithm = dist__algorithm_find(op, other);
	loop_run(&options, reduce_odd_floats, &a);
	loop_run(&options, reduce_odd_floats, &b);
	for (int rank = 0; rank < p; rank++)
		for (int i = 0; i < ODD_NUMEL; i++)
			cr_assert(same_float(op, a.bits[rank][i],
					     b.bits[rank][i]),
				  "%s and %s, element %d of rank %d of %d", one,
				  other, i, rank, p);
}

/* What the hierarchical all-reduce does to floats that do not add up exactly is
 * what the algorithm does that it stands for: on nodes of one rank the flat
 * one. */
Test(coll, hierarchical_is_flat_on_nodes_of_one)
{
	for (int p = 1; p <= ODD_WORLD; p++) {
		const struct dist__layout layout = {.world_size = p,
						    .num_nodes = p};
		const struct dist__algorithm *flat =
			dist__select(NULL, DIST__ALL_REDUCE, &layout,
				     ODD_NUMEL * sizeof(float));

		expect_same_sums(DIST__ALL_REDUCE, "hierarchical", flat->name,
				 p);
	}
}

/* So that the same sum comes of ranks that share memory and of others. */
Test(coll, one_shot_adds_up_as_the_steps_do)
{
	for (int p = 1; p <= ODD_WORLD; p++) {
		expect_same_sums(DIST__ALL_REDUCE, "one_shot",
				 "recursive_doubling", p);
		expect_same_sums(DIST__REDUCE_SCATTER, "one_shot",
				 "recursive_halving", p);
	}
}

/* ---- cost -------------------------------------------------------------- */

/* Not more ranks than this in the cost tests. */
enum { COST_WORLD = 17 };

struct timing {
	struct algorithm_case c;
	size_t numel;
	enum dist_error ended[COST_WORLD];
};

static void run_phantom(struct dist__transport *transport, int loop_rank,
			void *arg)
{
	static const struct algorithm_memory phantom = {NULL, NULL, NULL};
	struct timing *timing = arg;
	struct algorithm_case c = timing->c;
	int rank = algorithm_cases_group_rank(loop_rank, c.world_size);

	algorithm_case_shape(&c, rank, timing->numel, DIST_FLOAT32, &phantom);
	timing->ended[rank] = algorithm_case_run(&c, transport, rank);
}

static struct loop_report time_of(const struct dist__algorithm *algorithm,
				  const struct dist__cost *cost, int world_size,
				  size_t numel)
{
	struct loop_options options = {.world_size = world_size, .clock = cost};
	struct timing timing = {.c = {.algorithm = algorithm,
				      .world_size = world_size,
				      .reduce_op = DIST_SUM,
				      .root = world_size / 3,
				      .segment_bytes = cost->segment_bytes},
				.numel = numel};
	struct loop_report report = loop_run(&options, run_phantom, &timing);

	for (int rank = 0; rank < world_size; rank++)
		okay(timing.ended[rank]);
	return report;
}

/* An algorithm that leaves it to the links to share themselves out, which they
 * do in the simulator (tests/model) but not on the loop; or that may choose
 * such a one for a phase. */
static bool shares_links(const struct dist__algorithm *algorithm)
{
	if (strcmp(algorithm->name, "hierarchical") == 0 ||
	    strcmp(algorithm->name, "one_shot") == 0)
		return true;
	return (algorithm->op == DIST__ALL_TO_ALL ||
		algorithm->op == DIST__ALL_GATHER ||
		algorithm->op == DIST__BROADCAST ||
		algorithm->op == DIST__MONITORED_BARRIER) &&
	       strcmp(algorithm->name, "linear") == 0;
}

static void check_cost(const struct dist__algorithm *algorithm,
		       const struct dist__cost *cost, int world_size,
		       size_t numel)
{
	struct loop_report report = time_of(algorithm, cost, world_size, numel);
	bool parts = algorithm->op >= DIST__ALL_GATHER;
	double formula = algorithm->cost_ns(
		cost, world_size, parts ? numel * (size_t)world_size : numel,
		4);

	cr_expect(fabs(report.ended_ns - formula) <= 1e-9 * formula,
		  "%s %s on %d ranks, numel %zu: formula %.6f, messages %.6f",
		  dist__op_name(algorithm->op), algorithm->name, world_size,
		  numel, formula, report.ended_ns);
	cr_expect(report.most_sends <= 1 && report.most_receives <= 1,
		  "%s: more than one message at once", algorithm->name);
}

Test(coll, cost_is_the_time_message_by_message)
{
	static const struct dist__cost costs[] = {
		{.overhead_ns = 0,
		 .alpha_ns = 1000,
		 .beta_ns_per_byte = 0.8,
		 .gamma_ns_per_byte = 0.3},
		{.overhead_ns = 3000,
		 .alpha_ns = 10,
		 .beta_ns_per_byte = 0.1,
		 .gamma_ns_per_byte = 2.5,
		 .segment_bytes = 65536},
		{.alpha_ns = 7},
		{.overhead_ns = 5, .segment_bytes = 300000},
		{.overhead_ns = 900,
		 .alpha_ns = 50,
		 .beta_ns_per_byte = 100,
		 .gamma_ns_per_byte = 40},
	};
	const struct dist__algorithm *const *all = dist__algorithms();

	for (; *all; all++)
		for (int p = 1; p <= COST_WORLD; p++)
			for (int i = p % thin_step(5);
			     i < (int)(sizeof costs / sizeof *costs);
			     i += thin_step(5)) {
				size_t n = (size_t)p;

				if (shares_links(*all))
					continue;
				check_cost(*all, &costs[i], p, 0);
				check_cost(*all, &costs[i], p, 1);
				check_cost(*all, &costs[i], p, n - 1);
				check_cost(*all, &costs[i], p, n);
				check_cost(*all, &costs[i], p, 3 * n - 1);
				check_cost(*all, &costs[i], p, 1000003);
			}
}

Test(coll, ring_sends_what_its_head_says)
{
	const struct dist__algorithm *ring =
		dist__algorithm_find(DIST__ALL_REDUCE, "ring");
	const struct dist__cost cost = {.alpha_ns = 1};

	for (size_t p = 2; p <= 9; p++) {
		struct loop_report report = time_of(ring, &cost, (int)p, 1000);

		/* Also empty chunks are sent. */
		cr_assert_eq(report.messages, 2 * p * (p - 1));
		cr_assert_eq(time_of(ring, &cost, (int)p, 1).messages,
			     2 * p * (p - 1));
		cr_assert_eq(report.bytes, 2 * (p - 1) * 4000);
	}
}

/* ---- failures ---------------------------------------------------------- */

enum { FAULT_WORLD = 6, FAULT_LAYOUTS = 3, FAULT_NUMEL = 50 };

struct fault {
	const struct dist__algorithm *algorithm;
	uint32_t layout;
	int absent; /* loop rank that does not take part; -1: none */
	enum dist_error ended[FAULT_WORLD]; /* by loop rank */
};

static void run_into_fault(struct dist__transport *transport, int loop_rank,
			   void *arg)
{
	struct fault *fault = arg;
	int rank = algorithm_cases_group_rank(loop_rank, FAULT_WORLD);
	double one[FAULT_NUMEL] = {0}, in[FAULT_WORLD * FAULT_NUMEL] = {0};
	double out[FAULT_WORLD * FAULT_NUMEL] = {0};
	const struct algorithm_memory memory = {one, in, out};
	struct algorithm_case c = {.algorithm = fault->algorithm,
				   .world_size = FAULT_WORLD,
				   .reduce_op = DIST_SUM,
				   .root = 1,
				   .seq = fault->layout};

	algorithm_case_shape(&c, rank, FAULT_NUMEL, DIST_FLOAT64, &memory);
	if (loop_rank == fault->absent)
		return;
	fault->ended[loop_rank] = algorithm_case_run(&c, transport, rank);
}

/* Lets every call of rank fail in turn; returns how many there are. */
static int fail_each_call(const struct dist__algorithm *algorithm,
			  uint32_t layout, int rank)
{
	struct loop_options options = {.world_size = FAULT_WORLD,
				       .fail_rank = rank};
	struct loop_report report;

	for (options.fail_call = 1;; options.fail_call++) {
		struct fault fault = {
			.algorithm = algorithm, .layout = layout, .absent = -1};

		report = loop_run(&options, run_into_fault, &fault);
		cr_assert_eq(report.left_over, 0, "%s: call %d of rank %d",
			     algorithm->name, options.fail_call, rank);
		if (!report.failed)
			return options.fail_call - 1;
		cr_assert_eq(fault.ended[rank], DIST_ERR_IO,
			     "%s: call %d of rank %d ended in %s",
			     algorithm->name, options.fail_call, rank,
			     dist_error_string(fault.ended[rank]));
		for (int i = 0; i < FAULT_WORLD; i++)
			cr_assert(i == rank || fault.ended[i] == DIST_OK ||
				  fault.ended[i] == DIST_ERR_PEER_LOST);
	}
}

Test(coll, every_failure_ends_cleanly)
{
	const struct dist__algorithm *const *all = dist__algorithms();

	for (; *all; all++)
		for (int i = 0; i < FAULT_WORLD * FAULT_LAYOUTS; i++)
			cr_assert(fail_each_call(*all,
						 (uint32_t)i % FAULT_LAYOUTS,
						 i / FAULT_LAYOUTS) >= 2);
	cr_assert_not(leaks_found());
}

Test(coll, an_absent_rank_leaves_nothing_behind)
{
	const struct dist__algorithm *const *all = dist__algorithms();
	struct loop_options options = {.world_size = FAULT_WORLD};

	for (; *all; all++)
		for (int k = 0; k < FAULT_WORLD * FAULT_LAYOUTS; k++) {
			int rank = k / FAULT_LAYOUTS;
			struct fault fault = {.algorithm = *all,
					      .layout = (uint32_t)k %
							FAULT_LAYOUTS,
					      .absent = rank};
			struct loop_report report =
				loop_run(&options, run_into_fault, &fault);
			int blocked = 0;

			cr_assert_eq(report.left_over, 0);
			for (int i = 0; i < FAULT_WORLD; i++)
				blocked += fault.ended[i] == DIST_ERR_DEADLOCK;
			cr_assert(blocked > 0, "%s without rank %d",
				  (*all)->name, rank);
		}
	cr_assert_not(leaks_found());
}

/* Steady steps of many ranks are not gone through one by one: each segment more
 * takes as long as it did where they were, as they are for the first two. */
Test(coll, steady_steps_are_left_out_without_a_trace)
{
	static const struct {
		enum dist__op_kind op;
		const char *name;
	} walked[] = {{DIST__ALL_REDUCE, "double_tree"},
		      {DIST__REDUCE, "double_tree"},
		      {DIST__BROADCAST, "double_tree"}};
	static const size_t segments[] = {60, 120, 1140};
	const struct dist__cost cost = {.overhead_ns = 700,
					.alpha_ns = 5000,
					.beta_ns_per_byte = 0.02,
					.gamma_ns_per_byte = 0.01,
					.segment_bytes = 4096};

	for (size_t i = 0; i < sizeof walked / sizeof walked[0]; i++)
		for (int p = 16384; p < 16386; p++) {
			const struct dist__algorithm *algorithm =
				dist__algorithm_find(walked[i].op,
						     walked[i].name);
			double ns[3];

			for (int j = 0; j < 3; j++)
				ns[j] = algorithm->cost_ns(
					&cost, p, segments[j] * 4096, 1);
			cr_expect_float_eq((ns[2] - ns[1]) / (ns[1] - ns[0]),
					   17, 1e-9, "%s of %d ranks",
					   walked[i].name, p);
		}
}
