/* table_walk.c - the conformance table over a library's own algorithms. */
#include "tests/support/table_walk.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/conformance/cases/conformance.h"
#include "tests/support/turns.h"

struct look {
	const struct conformance_setup *setup;
	struct conformance_outcome *outcome;
	uint32_t cases;
};

static void look_at(void *arg, uint32_t index, enum conformance_call call,
		    const char *text)
{
	struct look *look = arg;
	char what[256] = "not walked";

	(void)call;
	look->cases++;
	cr_expect(conformance_state(look->outcome, index, what, sizeof what) ==
			  CONFORMANCE_RIGHT,
		  "world size %d: %s: %s", look->setup->world_size, text, what);
}

void table_walk(const char *backend, int world_size, const char *library)
{
	const struct conformance_filter filter = {.as_selected = true};
	struct conformance_setup setup = {
		.backend = backend,
		.world_size = world_size,
		.third = world_size > 5 ? conformance_third(world_size) : 0};
	struct look look = {.setup = &setup};

	turns_take(world_size);
	cr_assert(conformance_round(&filter, 0, &setup));
	look.outcome = conformance_outcome_new(&setup);
	cr_assert(look.outcome);
	cr_expect_eq(conformance_run(&setup, look.outcome), DIST_EXIT_OK);
	conformance_each(&setup, look_at, &look);
	cr_expect_gt(look.cases, 3000);
	fprintf(stderr, "%u cases: %s, world size %d\n", look.cases, library,
		world_size);
	conformance_outcome_free(look.outcome);
}
