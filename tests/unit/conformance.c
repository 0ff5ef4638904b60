/* What the conformance table makes of results that are wrong. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/cases/case.h"
#include "scenarios/element.h"

static const struct conformance_setup setup = {
	.backend = "sim",
	.world_size = 2,
	.calls = 1 << CONFORMANCE_ALL_REDUCE,
};

/* The first exact case of three elements or more. */
static int take_case(void *arg, const struct one_case *c)
{
	*(struct one_case *)arg = *c;
	return c->numel > 3 && c->exact;
}

/* Makes the result of a case, but for one element. */
static struct dist_tensor result(const struct one_case *c, size_t wrong)
{
	struct dist_tensor t = tensor_new(c, c->numel);

	case_reduced(c, 0, setup.world_size, t);
	if (wrong < t.numel)
		element_store(t.dtype, t.data, wrong,
			      element_load(t.dtype, t.data, wrong) + 1);
	return t;
}

static struct walk walker(struct conformance_outcome *outcome, int rank,
			  const struct one_case *c)
{
	return (struct walk){.setup = &setup,
			     .outcome = outcome,
			     .rank = rank,
			     .seat = rank,
			     .size = setup.world_size,
			     .c = c};
}

Test(conformance, one_wrong_element_is_found_and_named)
{
	struct conformance_outcome *outcome = conformance_outcome_new(&setup);
	struct case_values *values = case_values_new();
	struct dist_tensor right, wrong;
	struct walk good, bad;
	struct one_case c;
	char text[256];

	cr_assert(outcome && values);
	cr_assert(each_case(&setup, take_case, &c));
	c.values = values;
	good = walker(outcome, 0, &c);
	bad = walker(outcome, 1, &c);
	right = result(&c, SIZE_MAX);
	wrong = result(&c, 3);
	walk_reduced(&good, right, 0);
	walk_reduced(&bad, wrong, 0);
	cr_expect(!good.wrong && bad.wrong);
	cr_expect_neq(good.digest, bad.digest);
	walk_end(&good);
	cr_expect_eq(conformance_state(outcome, c.index, text, sizeof text),
		     CONFORMANCE_NOT_WALKED);
	walk_end(&bad);
	cr_expect_eq(conformance_state(outcome, c.index, text, sizeof text),
		     CONFORMANCE_WRONG);
	cr_expect(strstr(text, "rank 1: element 3: expected "), "%s", text);
	free(right.data);
	free(wrong.data);
	free(values);
	conformance_outcome_free(outcome);
}

Test(conformance, other_bytes_are_seen)
{
	struct conformance_outcome *a = conformance_outcome_new(&setup);
	struct conformance_outcome *b = conformance_outcome_new(&setup);
	struct one_case c;
	struct walk walk;

	cr_assert(a && b);
	cr_assert(each_case(&setup, take_case, &c));
	for (int i = 0; i < 4; i++) {
		walk = walker(i < 2 ? a : b, i % 2, &c);
		walk.digest = i == 3 ? 9 : 7;
		walk_end(&walk);
	}
	cr_expect(conformance_same(a, a, c.index));
	cr_expect(!conformance_same(a, b, c.index));
	conformance_outcome_free(a);
	conformance_outcome_free(b);
}
