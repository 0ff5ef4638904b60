/* Which algorithm a size and a world get. */
#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>

#include "core/algorithm.h"

static const char *selected(const struct dist__profile *profile, int world_size,
			    size_t bytes)
{
	const struct dist__algorithm *algorithm =
		dist__select(profile, DIST__ALL_REDUCE, world_size, bytes);

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
	cr_assert_str_eq(selected(&profile, 8, 262144), "halving_doubling");
	cr_assert_str_eq(selected(&profile, 8, 262145), "ring");
	cr_assert_str_eq(selected(&profile, 9, 262145), "halving_doubling");
	cr_assert_str_eq(selected(&profile, 64, 4 << 20), "ring");
	cr_assert_str_eq(selected(&profile, 65, 4 << 20), "halving_doubling");
	cr_assert_str_eq(selected(&profile, 4096, SIZE_MAX), "ring");
	dist__profile_release(&profile);
}

Test(select, every_collective_gets_one_of_its_own)
{
	static const size_t sizes[] = {0, 1, 1 << 20, SIZE_MAX};
	struct dist__profile profile;

	dist__profile_init(&profile);
	for (int op = 0; op < DIST__OP_KINDS; op++)
		for (int i = 0; i < 4 * 31; i++) {
			const struct dist__algorithm *algorithm;

			if (dist__op_is_p2p((enum dist__op_kind)op))
				break;
			algorithm =
				dist__select(&profile, (enum dist__op_kind)op,
					     1 << i / 4, sizes[i % 4]);
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
		{DIST__ALL_REDUCE, 4, 100, tree},
		{DIST__ALL_REDUCE, INT_MAX, 200, ring},
	};
	struct dist__profile profile = {.rules = rules, .num_rules = 2};

	cr_assert_str_eq(selected(&profile, 4, 100), "binomial_tree");
	cr_assert_str_eq(selected(&profile, 5, 100), "ring");
	cr_assert_str_eq(selected(&profile, 4, 101), "ring");
	/* No rule: the built-in table. */
	cr_assert_str_eq(selected(&profile, 4, 201), "recursive_doubling");
	cr_assert_str_eq(dist__select(&profile, DIST__BARRIER, 4, 0)->name,
			 "dissemination");
}

Test(select, every_algorithm_is_found_by_its_name)
{
	const struct dist__algorithm *const *all = dist__algorithms();

	for (; *all; all++) {
		cr_assert_eq(dist__algorithm_find((*all)->op, (*all)->name),
			     *all);
		cr_assert((*all)->run && (*all)->cost_ns && (*all)->summary);
	}
	cr_assert_null(dist__algorithm_find(DIST__BROADCAST, "ring"));
	cr_assert_null(dist__algorithm_find(DIST__ALL_REDUCE, ""));
}
