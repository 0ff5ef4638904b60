/* Which algorithm a size and a world get. */
#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>

#include "tests/conformance/cases/conformance.h"
#include "coll/algorithm.h"

static const char *selected(const struct dist__profile *profile, int world_size,
			    size_t bytes)
{
	const struct dist__layout layout = {.world_size = world_size,
					    .num_nodes = world_size};
	const struct dist__algorithm *algorithm =
		dist__select(profile, DIST__ALL_REDUCE, &layout, bytes);

	cr_assert(algorithm);
	return algorithm->name;
}

Test(select, built_in_goes_by_size_and_world)
{
	struct dist__profile profile;

	dist__profile_init(&profile);
	cr_assert_str_eq(selected(&profile, 8, 0), "recursive_doubling");
	cr_assert_str_eq(selected(&profile, 8, 32768), "recursive_doubling");
	cr_assert_str_eq(selected(&profile, 8, 32769), "halving_doubling");
	cr_assert_str_eq(selected(&profile, 8, 524288), "halving_doubling");
	cr_assert_str_eq(selected(&profile, 8, 524289), "ring");
	cr_assert_str_eq(selected(&profile, 9, 524289), "halving_doubling");
	cr_assert_str_eq(selected(&profile, 64, 4 << 20), "ring");
	cr_assert_str_eq(selected(&profile, 65, 4 << 20), "halving_doubling");
	cr_assert_str_eq(selected(&profile, 4096, SIZE_MAX), "ring");
	dist__profile_release(&profile);
}

static void expect(enum dist__op_kind op, int world_size, int num_nodes,
		   size_t bytes, const char *name)
{
	const struct dist__layout layout = {.world_size = world_size,
					    .num_nodes = num_nodes};

	cr_expect_str_eq(dist__select(NULL, op, &layout, bytes)->name, name,
			 "%s of %zu bytes, %d ranks on %d nodes",
			 dist__op_name(op), bytes, world_size, num_nodes);
}

Test(select, built_in_pipelines_what_is_long)
{
	expect(DIST__BROADCAST, 8, 8, 4096, "linear");
	expect(DIST__BROADCAST, 8, 8, 4097, "binomial");
	expect(DIST__BROADCAST, 9, 9, 1, "binomial");
	expect(DIST__BROADCAST, 8, 8, 262145, "double_tree");
	expect(DIST__BROADCAST, 2, 2, 1 << 30, "binomial");
	expect(DIST__BROADCAST, 8, 2, 4096, "linear");
	expect(DIST__BROADCAST, 8, 1, 1, "binomial");
	expect(DIST__BROADCAST, 8, 1, 4096, "binomial");
	expect(DIST__BROADCAST, 8, 1, 1 << 30, "binomial");
	expect(DIST__BROADCAST, 9, 1, 1 << 30, "double_tree");
	expect(DIST__REDUCE, 8, 8, 131072, "binomial");
	expect(DIST__REDUCE, 8, 8, 131073, "rabenseifner");
	expect(DIST__REDUCE, 8, 8, (1 << 20) + 1, "double_tree");
	expect(DIST__ALL_GATHER, 8, 8, (256 << 10) + 1, "ring");
	expect(DIST__ALL_GATHER, 9, 9, (256 << 10) + 1, "bruck");
	expect(DIST__ALL_GATHER, 64, 64, (512 << 10) + 1, "ring");
	expect(DIST__ALL_GATHER, 65, 65, (512 << 10) + 1, "bruck");
}

Test(select, built_in_copies_little_among_few)
{
	expect(DIST__ALL_GATHER, 2, 1, 1 << 30, "linear");
	expect(DIST__ALL_GATHER, 3, 3, 1, "linear");
	expect(DIST__ALL_GATHER, 4, 1, 256 << 10, "recursive_doubling");
	expect(DIST__ALL_GATHER, 4, 1, (256 << 10) + 1, "ring");
	expect(DIST__ALL_GATHER, 4, 2, 1, "bruck");
	expect(DIST__ALL_GATHER, 8, 1, 64 << 10, "recursive_doubling");
	expect(DIST__ALL_GATHER, 8, 1, (64 << 10) + 1, "bruck");
	expect(DIST__ALL_GATHER, 9, 1, 1, "bruck");
	expect(DIST__REDUCE_SCATTER, 2, 2, 1, "pairwise");
	expect(DIST__REDUCE_SCATTER, 3, 1, 64 << 10, "recursive_halving");
	expect(DIST__REDUCE_SCATTER, 3, 1, 1 << 30, "pairwise");
	expect(DIST__REDUCE_SCATTER, 4, 4, 1, "recursive_halving");
}

static void expect_in_memory(enum dist__op_kind op, int world_size,
			     size_t bytes, const char *name)
{
	const struct dist__layout layout = {
		.world_size = world_size, .num_nodes = 1, .in_memory = true};

	cr_expect_str_eq(dist__select(NULL, op, &layout, bytes)->name, name,
			 "%s of %zu bytes, %d ranks in one memory",
			 dist__op_name(op), bytes, world_size);
}

Test(select, built_in_sends_at_once_through_memory)
{
	expect_in_memory(DIST__ALL_GATHER, 8, 1, "linear");
	expect_in_memory(DIST__ALL_GATHER, 8, 1 << 30, "linear");
	expect_in_memory(DIST__ALL_GATHER, 9, 1, "bruck");
	expect_in_memory(DIST__ALL_TO_ALL, 3, (256 << 10) + 1, "pairwise");
	expect_in_memory(DIST__ALL_TO_ALL, 4, 4 << 20, "linear");
	expect_in_memory(DIST__ALL_TO_ALL, 8, (4 << 20) + 1, "pairwise");
	expect_in_memory(DIST__ALL_TO_ALL, 9, (256 << 10) + 1, "pairwise");
	expect_in_memory(DIST__BROADCAST, 2, 1 << 30, "binomial");
	expect_in_memory(DIST__BROADCAST, 3, 1, "linear");
	expect_in_memory(DIST__BROADCAST, 8, 1 << 30, "linear");
	expect_in_memory(DIST__BROADCAST, 9, 1, "binomial");
	expect_in_memory(DIST__GATHER, 8, 1, "linear");
	expect_in_memory(DIST__ALL_REDUCE, 2, 8, "recursive_doubling");
	expect_in_memory(DIST__ALL_REDUCE, 3, 8, "one_shot");
	expect_in_memory(DIST__ALL_REDUCE, 8, 4 << 10, "one_shot");
	expect_in_memory(DIST__ALL_REDUCE, 8, (4 << 10) + 1,
			 "recursive_doubling");
	expect_in_memory(DIST__ALL_REDUCE, 9, 8, "recursive_doubling");
	expect_in_memory(DIST__REDUCE_SCATTER, 2, 8, "pairwise");
	expect_in_memory(DIST__REDUCE_SCATTER, 3, 8, "one_shot");
	expect_in_memory(DIST__REDUCE_SCATTER, 8, 16 << 10, "one_shot");
	expect_in_memory(DIST__REDUCE_SCATTER, 8, (16 << 10) + 1,
			 "recursive_halving");
	expect_in_memory(DIST__GATHER, 9, 1, "binomial");
	expect_in_memory(DIST__SCATTER, 2, 1, "linear");
	expect_in_memory(DIST__SCATTER, 8, 1, "linear");
	expect_in_memory(DIST__SCATTER, 9, 1, "binomial");
	expect_in_memory(DIST__BARRIER, 2, 0, "dissemination");
	expect_in_memory(DIST__BARRIER, 3, 0, "one_shot");
	expect_in_memory(DIST__BARRIER, 8, 0, "one_shot");
	expect_in_memory(DIST__BARRIER, 9, 0, "dissemination");
}

Test(select, built_in_goes_by_nodes)
{
	expect(DIST__ALL_REDUCE, 64, 8, 32768, "recursive_doubling");
	expect(DIST__ALL_REDUCE, 64, 8, 32769, "hierarchical");
	expect(DIST__ALL_REDUCE, 64, 8, 32 << 20, "hierarchical");
	expect(DIST__ALL_REDUCE, 64, 8, (32 << 20) + 1, "ring");
	expect(DIST__ALL_REDUCE, 64, 1, 32769, "halving_doubling");
	expect(DIST__ALL_REDUCE, 64, 64, 32769, "halving_doubling");
	expect(DIST__ALL_REDUCE, 64, 33, 32769, "halving_doubling");
	expect(DIST__BARRIER, 64, 8, 0, "hierarchical");
	expect(DIST__BARRIER, 64, 64, 0, "dissemination");
}

Test(select, every_collective_gets_one_of_its_own)
{
	static const size_t sizes[] = {0, 1, 1 << 20, SIZE_MAX};
	struct dist__profile profile;

	dist__profile_init(&profile);
	for (int op = 0; op < DIST__OP_KINDS; op++)
		for (int i = 0; i < 4 * 31; i++) {
			const struct dist__layout layout = {
				.world_size = 1 << i / 4,
				.num_nodes = 1 << i / 8};
			const struct dist__algorithm *algorithm;

			if (dist__op_is_p2p((enum dist__op_kind)op))
				break;
			algorithm =
				dist__select(&profile, (enum dist__op_kind)op,
					     &layout, sizes[i % 4]);
			cr_assert(algorithm);
			cr_assert_eq((int)algorithm->op, op);
		}
	dist__profile_release(&profile);
}

Test(select, first_rule_of_the_profile_wins)
{
	const struct dist__algorithm *ring =
		dist__algorithm_find(DIST__ALL_REDUCE, "ring");
	const struct dist__algorithm *tree =
		dist__algorithm_find(DIST__ALL_REDUCE, "binomial_tree");
	struct dist__rule rules[] = {
		{4, 100, 1, 0, false, tree},
		{INT_MAX, 200, 1, 0, false, ring},
	};
	struct dist__profile profile = {.rules = rules, .num_rules = 2};
	const struct dist__layout four = {.world_size = 4, .num_nodes = 4};

	cr_assert_str_eq(selected(&profile, 4, 100), "binomial_tree");
	cr_assert_str_eq(selected(&profile, 5, 100), "ring");
	cr_assert_str_eq(selected(&profile, 4, 101), "ring");
	/* No rule: the built-in table. */
	cr_assert_str_eq(selected(&profile, 4, 201), "recursive_doubling");
	cr_assert_str_eq(dist__select(&profile, DIST__BARRIER, &four, 0)->name,
			 "dissemination");
}

Test(select, a_rule_may_ask_for_ranks_a_node)
{
	const struct dist__algorithm *tree =
		dist__algorithm_find(DIST__BARRIER, "binomial_tree");
	struct dist__rule rule = {INT_MAX, SIZE_MAX, 2, 0, false, tree};
	const struct dist__profile profile = {.rules = &rule, .num_rules = 1};
	static const struct {
		int world_size, num_nodes;
		bool wins;
	} cases[] = {{8, 8, false}, {8, 5, false}, {8, 4, true}, {9, 4, true},
		     {8, 2, true},  {8, 1, false}, {1, 1, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dist__layout layout = {
			.world_size = cases[i].world_size,
			.num_nodes = cases[i].num_nodes};

		cr_expect_eq(dist__select(&profile, DIST__BARRIER, &layout,
					  0) == tree,
			     cases[i].wins, "%d ranks on %d nodes",
			     layout.world_size, layout.num_nodes);
	}
}

Test(select, a_rule_may_ask_for_memory)
{
	const struct dist__algorithm *chain =
		dist__algorithm_find(DIST__BROADCAST, "chain");
	struct dist__rule rule = {INT_MAX, SIZE_MAX, 1, 1, true, chain};
	const struct dist__profile profile = {.rules = &rule, .num_rules = 1};
	struct dist__layout layout = {.world_size = 4, .num_nodes = 1};

	cr_expect_neq(dist__select(&profile, DIST__BROADCAST, &layout, 0),
		      chain);
	layout.in_memory = true;
	cr_expect_eq(dist__select(&profile, DIST__BROADCAST, &layout, 0),
		     chain);
}

/* The algorithm whose sums are those of another in more steps. */
static const char *in_steps(enum dist__op_kind op, const char *name)
{
	if (strcmp(name, "one_shot") != 0)
		return name;
	return op == DIST__ALL_REDUCE ? "recursive_doubling"
				      : "recursive_halving";
}

/* A sum of floats is the sum of one order. */
static void expect_one_order(enum dist__op_kind op, int world_size,
			     size_t bytes)
{
	struct dist__layout layout = {.world_size = world_size, .num_nodes = 1};
	const char *through_tcp = dist__select(NULL, op, &layout, bytes)->name;
	const char *through_memory;

	layout.in_memory = true;
	through_memory = dist__select(NULL, op, &layout, bytes)->name;
	cr_expect_str_eq(in_steps(op, through_memory), through_tcp,
			 "%s of %zu bytes on %d ranks", dist__op_name(op),
			 bytes, world_size);
}

Test(select, sums_go_the_same_way_through_memory)
{
	for (int op = 0; op < DIST__OP_KINDS; op++)
		for (int i = 0; i < 16 * 32; i++)
			if (dist__op_reduces((enum dist__op_kind)op))
				expect_one_order((enum dist__op_kind)op,
						 1 + i / 32,
						 (size_t)1 << i % 32);
}

Test(select, every_algorithm_is_found_by_its_name)
{
	const struct dist__algorithm *const *all = dist__algorithms();

	for (; *all; all++) {
		cr_assert_eq(dist__algorithm_find((*all)->op, (*all)->name),
			     *all);
		cr_assert((*all)->run && (*all)->cost_ns && (*all)->summary &&
			  (*all)->formula);
	}
	cr_assert_null(dist__algorithm_find(DIST__BROADCAST, "ring"));
	cr_assert_null(dist__algorithm_find(DIST__ALL_REDUCE, ""));
}

static bool is_tried(const struct dist__algorithm *algorithm)
{
	enum conformance_call call =
		conformance_call_find(dist__op_name(algorithm->op));
	const char *name;

	for (size_t n = 0; call < CONFORMANCE_CALLS; n++) {
		name = conformance_algorithm(call, n);
		if (!name || strcmp(name, algorithm->name) == 0)
			return name != NULL;
	}
	return false;
}

Test(select, every_algorithm_stands_in_the_conformance_table)
{
	const struct dist__algorithm *const *all = dist__algorithms();

	for (; *all; all++)
		cr_expect(is_tried(*all),
			  "%s %s: not in tests/conformance/cases/setups.c",
			  dist__op_name((*all)->op), (*all)->name);
}

static bool by_ranks(const struct dist__profile *profile, int world_size)
{
	const struct dist__layout layout = {.world_size = world_size,
					    .num_nodes = world_size};

	return dist__select_by_ranks(profile, DIST__ALL_TO_ALL, &layout);
}

/* Ranks that have different amounts to send must know when they may choose by
 * that. */
Test(select, by_ranks_alone)
{
	struct dist__rule rule = {
		.max_world_size = 128,
		.max_bytes = 4096,
		.algorithm = dist__algorithm_find(DIST__ALL_TO_ALL, "linear"),
	};
	struct dist__profile profile = {.rules = &rule, .num_rules = 1};

	cr_expect(!by_ranks(NULL, 64), "linear up to 256 KiB");
	cr_expect(by_ranks(NULL, 65), "always pairwise");
	cr_expect(!by_ranks(&profile, 128), "linear up to 4 KiB");
	cr_expect(by_ranks(&profile, 129), "out of the rule's limits");
	rule.algorithm = dist__algorithm_find(DIST__ALL_TO_ALL, "pairwise");
	cr_expect(by_ranks(&profile, 128), "pairwise by rule and without");
	rule.max_bytes = SIZE_MAX;
	cr_expect(by_ranks(&profile, 8), "pairwise by rule");
}
